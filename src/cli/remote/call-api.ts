/** Asks a running server over its API, for commands that read or change what it holds. */
import { setTimeout as wait } from 'node:timers/promises';
import { Option } from 'commander';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { note } from '../output.ts';

export interface ServerAccess {
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

export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** From the server's root on, percent-encoded. */
  readonly path: string;
  /** JSON, or a text of the content type named beside it. */
  readonly body?: unknown;
  readonly type?: string;
  /** Goes through only while the object still has this ETag. */
  readonly ifMatch?: string;
}

export interface ApiResponse {
  readonly body: unknown;
  readonly headers: Headers;
}

/** The server said no. */
export class ServerRefusal extends CommandFault {
  readonly status: number;
  /** The server's own sentence. */
  readonly sentence: string;

  constructor(status: number, sentence: string) {
    const remedy =
      status === 401 ? 'the key is what --key or EDGEPLAN_KEY says; edgeplan key create makes one' : null;
    // What a command names is not there: the answer is "no", and the server is well.
    super(
      status === 404 ? EXIT.no : EXIT.server,
      `the server answered ${status}: ${sentence}`,
      remedy === null ? {} : { remedy },
    );
    this.status = status;
    this.sentence = sentence;
  }
}

/** Characters of a refusal that are told. */
const SENTENCE_CHARACTERS = 500;
/** Seconds a command waits when its key has used up its requests: the server counts over one minute. */
const LONGEST_WAIT_SEC = 60;

/**
 * The server's answer. Waits where the key's requests of this minute are used up. Throws a fault with the server's own
 * sentence when it refused; the exit code is 1 where it knows no such thing, else 4.
 */
export async function callApi({ server, key }: ServerAccess, question: ApiRequest): Promise<ApiResponse> {
  if (key === undefined || key === '') {
    throw usageFault('no API key was given', 'make one with edgeplan key create and set EDGEPLAN_KEY');
  }
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) {
    throw usageFault(`\`${server}\` is not the address of a server`, 'write it like http://127.0.0.1:8787');
  }
  // Relative, so that a server behind a path of a proxy is found.
  const url = new URL(question.path.slice(1), server.endsWith('/') ? server : `${server}/`);
  const response = await sendWithRetries(url, requestOf(question, key));
  const text = await response.text();
  const body = parse(text);
  if (response.ok) return { body, headers: response.headers };
  const error = typeof body === 'object' && body !== null && 'error' in body ? String(body.error) : text;
  throw new ServerRefusal(response.status, error.slice(0, SENTENCE_CHARACTERS));
}

function requestOf({ method, body, type, ifMatch }: ApiRequest, key: string): RequestInit {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (ifMatch !== undefined) headers['if-match'] = ifMatch;
  if (body === undefined) return { method, headers };
  headers['content-type'] = type ?? 'application/json';
  return { method, headers, body: type === undefined ? JSON.stringify(body) : String(body) };
}

/** A request that was over the key's budget was not looked at, so it can be made again. */
async function sendWithRetries(url: URL, init: RequestInit): Promise<Response> {
  for (;;) {
    const response = await send(url, init);
    const seconds = Number(response.headers.get('retry-after'));
    if (response.status !== 429 || !(seconds > 0 && seconds <= LONGEST_WAIT_SEC)) return response;
    await response.body?.cancel();
    note(`edgeplan: the key has used up its requests of this minute; going on in ${seconds} s`);
    await wait(seconds * 1_000);
  }
}

async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    const why = (cause as { cause?: { code?: string } }).cause?.code ?? (cause as Error).message;
    const said =
      why === 'ECONNREFUSED'
        ? `nothing listens at \`${url.origin}\``
        : `the server at \`${url.origin}\` cannot be reached: ${why}`;
    const remedy = 'edgeplan serve starts a server; --server or EDGEPLAN_SERVER says where one is';
    throw new CommandFault(EXIT.server, said, { remedy, cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
