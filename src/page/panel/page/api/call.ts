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

/** A key in use. */
interface KeyInUse {
  readonly key: string;
  /** Called when the server does not accept the key. */
  readonly refused: () => void;
  /** Aborted when the key is out of use: a call that waits is not sent by another key. */
  readonly end: AbortController;
}

let inUse: KeyInUse | null = null;

/** Sets the key of later calls, and ends the waits of earlier ones; `null`: no more calls. */
export function useKey(next: Pick<KeyInUse, 'key' | 'refused'> | null): void {
  inUse?.end.abort(new CallFault(401, 'you are signed out'));
  inUse = next && { ...next, end: new AbortController() };
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
  const mine = inUse;
  if (mine === null) throw new CallFault(401, 'you are signed out');
  for (let sent = 1; ; sent++) {
    const response = await sendOnce(path, call, mine);
    if (response.ok) return response;
    const seconds = Number(response.headers.get('retry-after') ?? 0);
    const waits = isRepeatable(response, path, call) && seconds > 0 && seconds <= LONGEST_WAIT_SEC;
    if (!waits || sent > MOST_WAITS) throw await faultOf(response, mine);
    const why =
      response.status === 429 ? 'The key has used up its requests of this minute' : 'The server is busy';
    const signals = [mine.end.signal, ...(call.signal === undefined ? [] : [call.signal])];
    await pause({ why, until: performance.now() + seconds * 1_000 }, AbortSignal.any(signals));
  }
}

/** Whether a refused call may be sent again. A 503 for a write may come after the change: a repetition could make it twice. */
function isRepeatable({ status }: Response, path: string, { method = 'GET' }: ApiCall): boolean {
  const changesNothing = method === 'GET' || path.includes('validate_only=true');
  return status === 429 || (status === 503 && changesNothing);
}

async function sendOnce(path: string, call: ApiCall, { key }: KeyInUse): Promise<Response> {
  const { method = 'GET', body, ifMatch, signal } = call;
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

/** The fault of a refusal; a refused key ends its session, not that of a later key. */
async function faultOf(response: Response, mine: KeyInUse): Promise<CallFault> {
  const { status } = response;
  if (status === 401 && mine === inUse) mine.refused();
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

/** A call that waits. */
interface CallWait {
  readonly why: string;
  /** When it is sent again: milliseconds of `performance.now()`. */
  readonly until: number;
}

/** The calls that wait now. */
const waits = new Set<CallWait>();

/** Waits, and shows how long. @throws the reason of the signal, once it is aborted */
async function pause(wait: CallWait, signal: AbortSignal): Promise<void> {
  signal.throwIfAborted();
  waits.add(wait);
  showWaits();
  const ticks = setInterval(showWaits, 1_000);
  try {
    await new Promise<void>((resolve, reject) => {
      const timer = setTimeout(resolve, wait.until - performance.now());
      signal.addEventListener('abort', () => {
        clearTimeout(timer);
        reject(signal.reason as Error);
      });
    });
  } finally {
    clearInterval(ticks);
    waits.delete(wait);
    showWaits();
  }
}

/** Shows the wait that ends first. */
function showWaits(): void {
  const [first] = [...waits].sort((a, b) => a.until - b.until);
  const left = first === undefined ? 0 : Math.max(1, Math.ceil((first.until - performance.now()) / 1_000));
  setApi({ waiting: first === undefined ? null : { why: first.why, seconds: left } });
}
