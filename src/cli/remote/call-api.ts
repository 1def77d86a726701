/** Calls the API of a running server, for commands that read or change its data. */
import { setTimeout as wait } from 'node:timers/promises';
import { Option } from 'commander';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { note } from '../output.ts';

/** The server and the key of a command. */
export interface ServerAccess {
  /** The address of the API. */
  readonly server: string;
  /** An API key; absent: none was given. */
  readonly key?: string | undefined;
}

/** `--server`. */
export function serverOption(): Option {
  return new Option('-s, --server <url>', "the server's address")
    .default('http://127.0.0.1:8787')
    .env('EDGEPLAN_SERVER');
}

/** `--key`. */
export function keyOption(): Option {
  return new Option('-k, --key <key>', 'an API key; safer in the environment').env('EDGEPLAN_KEY');
}

/** A request to the API. */
export interface ApiRequest {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE';
  /** The path from the server's root, percent-encoded. */
  readonly path: string;
  /** The body: JSON, or text when `type` is given. */
  readonly body?: unknown;
  /** The content type of a text body. */
  readonly type?: string;
  /** The ETag that the object must have; otherwise the API answers 412. */
  readonly ifMatch?: string;
}

/** A successful response. */
export interface ApiResponse {
  /** Parsed JSON; `undefined` for an empty body. */
  readonly body: unknown;
  readonly headers: Headers;
}

/** A refusal of the server. */
export class ServerRefusal extends CommandFault {
  readonly status: number;
  /** The server's message. */
  readonly sentence: string;

  constructor(status: number, sentence: string) {
    const remedy =
      status === 401 ? 'the key comes from --key or EDGEPLAN_KEY; edgeplan key create makes one' : null;
    // A 404 means that the named object does not exist; the server itself works, so the exit code is 1.
    super(
      status === 404 ? EXIT.no : EXIT.server,
      `the server answered ${status}: ${sentence}`,
      remedy === null ? {} : { remedy },
    );
    this.status = status;
    this.sentence = sentence;
  }
}

/** Whether the next attempt may succeed: the server could not be reached, or failed. */
export function isTransient(error: unknown): boolean {
  if (error instanceof ServerRefusal) return error.status >= 500;
  return error instanceof CommandFault && error.cause !== undefined;
}

/** The fault for a server whose response has not the form of the API's: another program listens there. */
function notTheApi({ origin }: URL, status: number): CommandFault {
  return new CommandFault(
    EXIT.server,
    `\`${origin}\` is not an edgeplan API: its answer ${status} has no JSON`,
    {
      remedy: 'edgeplan serve prints the address of its API; --server or EDGEPLAN_SERVER sets it',
    },
  );
}

/** Characters of a refusal that are printed. */
const SENTENCE_CHARACTERS = 500;
/** The longest wait in seconds when the key has used up its requests: the server counts per minute. */
const LONGEST_WAIT_SEC = 60;

/**
 * Sends a request and returns the response. Waits when the key has used up its requests of this minute. Throws a
 * fault with the server's message for a refusal; its exit code is 1 for a 404, else 4. A response that is not of the
 * API's form is a fault with exit code 4.
 */
export async function callApi({ server, key }: ServerAccess, request: ApiRequest): Promise<ApiResponse> {
  if (key === undefined || key === '') {
    throw usageFault('no API key was given', 'make one with edgeplan key create and set EDGEPLAN_KEY');
  }
  if (!/^https?:\/\//.test(server) || !URL.canParse(server)) {
    throw usageFault(`\`${server}\` is not the address of a server`, 'write it like http://127.0.0.1:8787');
  }
  // Relative, so that a server behind a path of a proxy is found.
  const url = new URL(request.path.slice(1), server.endsWith('/') ? server : `${server}/`);
  const response = await sendWithRetries(url, requestOf(request, key));
  const text = await response.text();
  const body = parse(text);
  const { ok, status, headers } = response;
  if (ok && (body !== undefined || text === '')) return { body, headers };
  const isRefusal = !ok && typeof body === 'object' && body !== null && 'error' in body;
  // A 5xx may be of a proxy in front of the API.
  if (!isRefusal && status < 500) throw notTheApi(url, status);
  throw new ServerRefusal(status, (isRefusal ? String(body.error) : text).slice(0, SENTENCE_CHARACTERS));
}

/** The request for `fetch`. */
function requestOf({ method, body, type, ifMatch }: ApiRequest, key: string): RequestInit {
  const headers: Record<string, string> = { authorization: `Bearer ${key}` };
  if (ifMatch !== undefined) headers['if-match'] = ifMatch;
  if (body === undefined) return { method, headers };
  headers['content-type'] = type ?? 'application/json';
  return { method, headers, body: type === undefined ? JSON.stringify(body) : String(body) };
}

/** Sends a request, and again after a 429: the server has not processed a request over the key's budget. */
async function sendWithRetries(url: URL, init: RequestInit): Promise<Response> {
  for (;;) {
    const response = await send(url, init);
    const seconds = Number(response.headers.get('retry-after'));
    if (response.status !== 429 || !(seconds > 0 && seconds <= LONGEST_WAIT_SEC)) return response;
    await response.body?.cancel();
    note(`edgeplan: the key has used up its requests of this minute; retrying in ${seconds} s`);
    await wait(seconds * 1_000);
  }
}

/** Sends a request once. @throws CommandFault with exit code 4 when the server cannot be reached */
async function send(url: URL, init: RequestInit): Promise<Response> {
  try {
    return await fetch(url, init);
  } catch (cause) {
    const why = (cause as { cause?: { code?: string } }).cause?.code ?? (cause as Error).message;
    const message =
      why === 'ECONNREFUSED'
        ? `nothing listens at \`${url.origin}\``
        : `the server at \`${url.origin}\` cannot be reached: ${why}`;
    const remedy = 'edgeplan serve starts a server; --server or EDGEPLAN_SERVER sets its address';
    throw new CommandFault(EXIT.server, message, { remedy, cause });
  }
}

/** The value of JSON; `undefined` when the text is not JSON. */
function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** Which list is read. */
interface Pages {
  /** The path of the first page, with its query. */
  readonly path: string;
  /** Entries, at most. */
  readonly most: number;
}

/** The first entries of a list. */
interface ListedPages {
  readonly entries: readonly unknown[];
  /** The list has more entries. */
  readonly more: boolean;
}

/** Reads a list. Follows `Link` (RFC 8288 §3.3) on this server only. */
export async function callPages(access: ServerAccess, { path, most }: Pages): Promise<ListedPages> {
  const entries: unknown[] = [];
  let next: string | null = path;
  while (next !== null && entries.length < most) {
    const { body, headers } = await callApi(access, { method: 'GET', path: next });
    entries.push(...(body as readonly unknown[]));
    // A path, so that the key is sent to no other server.
    next = /^<(\/[^>]*)>; rel="next"$/.exec(headers.get('link') ?? '')?.[1] ?? null;
  }
  return { entries: entries.slice(0, most), more: next !== null || entries.length > most };
}
