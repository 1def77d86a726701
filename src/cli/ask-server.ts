/** Asks a running server over its API, for commands that change what is published. */
import { Option } from 'commander';
import { CommandFault, EXIT, usageFault } from './exit.ts';

export interface ServerOptions {
  readonly server: string;
  readonly key?: string | undefined;
}

export function serverOption(): Option {
  return new Option('-s, --server <url>', "the server's address")
    .default('http://127.0.0.1:8787')
    .env('EDGEPLAN_SERVER');
}

export function keyOption(): Option {
  return new Option('-k, --key <key>', 'an API key; better kept in the environment').env('EDGEPLAN_KEY');
}

export interface Question {
  readonly method: 'GET' | 'POST';
  /** From the server's root on, percent-encoded. */
  readonly path: string;
}

export interface Answered {
  readonly body: unknown;
  readonly headers: Headers;
}

/** The server's answer. Throws a fault with the server's own sentence when it refused, and 4 as exit code. */
export async function askServer({ server, key }: ServerOptions, question: Question): Promise<Answered> {
  if (key === undefined || key === '') {
    throw usageFault('no API key was given', 'make one with edgeplan key create and set EDGEPLAN_KEY');
  }
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) {
    throw usageFault(`\`${server}\` is not the address of a server`, 'write it like http://127.0.0.1:8787');
  }
  // Relative, so that a server behind a path of a proxy is found.
  const url = new URL(question.path.slice(1), server.endsWith('/') ? server : `${server}/`);
  const response = await send(url, { method: question.method, headers: { authorization: `Bearer ${key}` } });
  const text = await response.text();
  const body = parse(text);
  if (response.ok) return { body, headers: response.headers };
  const error = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : text;
  throw new CommandFault(EXIT.server, `the server answered ${response.status}: ${error.slice(0, 500)}`);
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    const why = (cause as { cause?: { code?: string } }).cause?.code ?? (cause as Error).message;
    throw new CommandFault(EXIT.server, `the server at \`${url.origin}\` cannot be reached: ${why}`, {
      remedy: 'is edgeplan serve running? --server or EDGEPLAN_SERVER says where',
      cause,
    });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
