/**
 * Calls of the management API on the server that served the page. In: a request. Out: its answer, or an `CallFault` with the server's
 * sentence. The key stays in this module's memory: it is in no storage, no URL and no message.
 */
import { setApi } from './state.ts';

/** Why a call has no answer. */
export class CallFault extends Error {
  /** The status; 0: the server does not answer. */
  readonly status: number;

  constructor(status: number, message: string) {
    super(message);
    this.name = 'CallFault';
    this.status = status;
  }
}

/** One request. */
export interface ApiCall {
  readonly method?: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';
  readonly body?: unknown;
  /** `If-Match`: the write is refused with 412 if the object has changed since. */
  readonly ifMatch?: string;
  readonly signal?: AbortSignal;
}

/** An answer with its head. */
export interface ApiAnswer<Body> {
  readonly body: Body;
  readonly headers: Headers;
}

/** Seconds that a call waits at most when the server asks for patience; longer ones are an error. */
const LONGEST_WAIT_SEC = 90;
/** Times that a call is sent again. */
const MOST_WAITS = 3;

let key: string | null = null;
let whenRefused: (() => void) | null = null;

/** Sets the key of later calls; `null`: no more calls. @param refused called when the server does not accept the key any more */
export function useKey(next: string | null, refused: (() => void) | null): void {
  key = next;
  whenRefused = refused;
}

/** JSON of a GET or a write. @throws CallFault */
export async function callJson<Body>(path: string, call: ApiCall = {}): Promise<ApiAnswer<Body>> {
  const response = await send(path, call);
  return { body: (await response.json()) as Body, headers: response.headers };
}

/** A text. @throws CallFault */
export async function callText(path: string): Promise<ApiAnswer<string>> {
  const response = await send(path, {});
  return { body: await response.text(), headers: response.headers };
}

/** Octets. @throws CallFault */
export async function callOctets(path: string): Promise<ApiAnswer<Uint8Array>> {
  const response = await send(path, {});
  return { body: new Uint8Array(await response.arrayBuffer()), headers: response.headers };
}

/** Every page of a list. @throws CallFault */
export async function callPages<Item>(path: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (let next: string | null = path; next !== null; ) {
    const page: ApiAnswer<readonly Item[]> = await callJson(next);
    items.push(...page.body);
    next = nextOf(page.headers);
  }
  return items;
}

/** The path of the next page in `Link` (RFC 8288); `null`: this is the last. */
export function nextOf(headers: Headers): string | null {
  const link = headers.get('link') ?? '';
  const end = link.indexOf('>; rel="next"');
  return link.startsWith('<') && end > 0 ? link.slice(1, end) : null;
}

/** Sends a request, and again after the wait that a 429 or 503 asks for. @throws CallFault */
async function send(path: string, call: ApiCall): Promise<Response> {
  for (let sent = 1; ; sent++) {
    const response = await sendOnce(path, call);
    const { status } = response;
    if (response.ok) return response;
    const seconds = Number(response.headers.get('retry-after') ?? 0);
    const waits = (status === 429 || status === 503) && seconds > 0 && seconds <= LONGEST_WAIT_SEC;
    if (!waits || sent > MOST_WAITS) throw await faultOf(response);
    await pause(seconds, status);
  }
}

async function sendOnce(path: string, call: ApiCall): Promise<Response> {
  const { method = 'GET', body, ifMatch, signal } = call;
  if (key === null) throw new CallFault(401, 'you are signed out');
  const headers = new Headers({ authorization: `Bearer ${key}` });
  if (body !== undefined) headers.set('content-type', 'application/json');
  if (ifMatch !== undefined) headers.set('if-match', ifMatch);
  try {
    return await fetch(`..${path}`, {
      method,
      headers,
      body: body === undefined ? null : JSON.stringify(body),
      signal: signal ?? null,
      cache: 'no-store',
      credentials: 'omit',
      redirect: 'error',
    });
  } catch (cause) {
    if (signal?.aborted === true) throw cause;
    throw new CallFault(0, 'the server does not answer');
  }
}

/** The fault of a refusal; a refused key ends the session. */
async function faultOf(response: Response): Promise<CallFault> {
  const { status } = response;
  if (status === 401) whenRefused?.();
  const text = await response.text();
  return new CallFault(status, sentenceOf(text) ?? `the server answers ${status}`);
}

/** The sentence of an answer; `null`: it is not of the API's form. */
function sentenceOf(text: string): string | null {
  try {
    const { error } = JSON.parse(text) as { readonly error?: unknown };
    return typeof error === 'string' ? error : null;
  } catch {
    // An answer of a proxy in front of the API.
    return null;
  }
}

/** Waits, and shows how long. */
async function pause(seconds: number, status: number): Promise<void> {
  const why = status === 429 ? 'The key has used up its requests of this minute' : 'The server is busy';
  for (let left = seconds; left > 0; left--) {
    setApi({ waiting: `${why}; trying again in ${left} s.` });
    await new Promise((resolve) => setTimeout(resolve, 1_000));
  }
  setApi({ waiting: null });
}
