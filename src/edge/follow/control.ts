/** What a node asks its control plane for, over connections kept open. Every answer is bounded in size and time. */
import { Pool } from 'undici';
import { ANSWER_MS, MAX_ANSWER_OCTETS, MAX_MANIFEST_OCTETS, MAX_PLAN_OCTETS } from './limits.ts';
import { said } from './log.ts';

/**
 * - `away` no connection, no answer in time, or one of a server in trouble: try again later
 * - `token` the node's token is refused
 * - `missing` there is no such thing
 * - `answer` an answer that makes no sense, or is too long
 */
export type ControlFaultCode = 'away' | 'token' | 'missing' | 'answer';

export class ControlFault extends Error {
  readonly code: ControlFaultCode;

  constructor(code: ControlFaultCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ControlFault';
    this.code = code;
  }
}

/** Who the node is, and whom it should believe. */
export interface Self {
  readonly id: number;
  readonly name: string;
  /** SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
  /** What clearance cookies are signed with, base64. */
  readonly clearance: string;
}

/** Every call throws ControlFault. */
export interface Control {
  self(): Promise<Self>;
  /** The text of the manifest's page above `since`; waits up to `waitSec` seconds for there to be anything. */
  page(since: number, waitSec: number): Promise<string>;
  /** A sealed plan's octets, unchecked. */
  plan(digest: string): Promise<Uint8Array>;
  report(body: object): Promise<void>;
  /** The feed above `since`, to be read until it ends; `signal` ends it. */
  feed(since: number, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Ends every call under way. */
  close(): Promise<void>;
}

export interface ControlOptions {
  /** `http://` or `https://`, perhaps with a path that everything lies below. */
  readonly url: string;
  readonly token: string;
}

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  /** Octets of the answer at most. */
  readonly limit: number;
  /** Milliseconds until it must be there whole. */
  readonly within: number;
}

export function createControl({ url, token }: ControlOptions): Control {
  const { origin, pathname } = new URL(url);
  const base = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  // One connection for the feed, one for polls and reports, the others for plans.
  const pool = new Pool(origin, { connections: 12, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });
  const authorization = `Bearer ${token}`;

  /** A request's answer, once its status is known to be good. */
  async function open(path: string, asked: Pick<Asked, 'method' | 'body'>, signal: AbortSignal) {
    const { method = 'GET', body = null } = asked;
    const headers = { authorization, ...(body === null ? {} : { 'content-type': 'application/json' }) };
    const answer = await pool.request({ path: `${base}${path}`, method, body, headers, signal });
    if (answer.statusCode === 200) return answer.body;
    // Its status says what it is worth, however long the page of a proxy in trouble.
    const text = (await readStart(answer.body, MAX_ANSWER_OCTETS)).toString('utf8');
    throw statusFault(answer.statusCode, { path, text });
  }

  async function ask(path: string, asked: Asked): Promise<Buffer> {
    const patience = new AbortController();
    const timer = setTimeout(() => patience.abort(), asked.within);
    try {
      return await readWhole(await open(path, asked, patience.signal), asked.limit);
    } catch (error) {
      if (!patience.signal.aborted) throw asFault(error);
      throw new ControlFault('away', `no whole answer to ${path} within ${asked.within} ms`);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async self() {
      return readSelf(await ask('/nodes/self', { limit: MAX_ANSWER_OCTETS, within: ANSWER_MS }));
    },
    async page(since, waitSec) {
      const within = ANSWER_MS + waitSec * 1_000;
      const path = `/nodes/manifest?since=${since}&wait=${waitSec}`;
      return (await ask(path, { limit: MAX_MANIFEST_OCTETS, within })).toString('utf8');
    },
    plan: (digest) => ask(`/nodes/plans/${digest}`, { limit: MAX_PLAN_OCTETS, within: ANSWER_MS }),
    async report(body) {
      const sent = { method: 'POST', body: JSON.stringify(body) } as const;
      const told = await ask('/nodes/reports', { ...sent, limit: MAX_ANSWER_OCTETS, within: ANSWER_MS });
      if (isJson(told)) return;
      throw new ControlFault('away', 'a report was answered by something else than the control plane');
    },
    async feed(since, signal) {
      try {
        return await open(`/nodes/feed?since=${since}`, {}, signal);
      } catch (error) {
        throw asFault(error);
      }
    },
    close: () => pool.destroy(),
  };
}

async function readWhole(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop early cuts the connection.
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new ControlFault('answer', `the answer is longer than ${limit} octets`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** The beginning of an answer; what follows is left. */
async function readStart(body: AsyncIterable<Uint8Array>, limit: number): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    size += chunk.length;
    if (size >= limit) break;
  }
  return Buffer.concat(chunks, size);
}

function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}

function statusFault(status: number, { path, text }: { path: string; text: string }): ControlFault {
  const told = `${path.split('?', 1)[0]} was answered with ${status}: ${text.slice(0, 200)}`;
  if (status === 401 || status === 403) {
    return new ControlFault(
      'token',
      'the control plane refuses this node token; make one with edgeplan node-token create',
    );
  }
  if (status === 404) return new ControlFault('missing', told);
  return new ControlFault(status >= 500 || status === 429 || status === 408 ? 'away' : 'answer', told);
}

function asFault(error: unknown): ControlFault {
  if (error instanceof ControlFault) return error;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const reason = typeof code === 'string' ? code : typeof cause?.code === 'string' ? cause.code : said(error);
  return new ControlFault('away', `the control plane cannot be reached: ${reason}`, { cause: error });
}

function readSelf(bytes: Buffer): Self {
  try {
    const { id, name, public_key, clearance } = JSON.parse(bytes.toString('utf8'));
    const texts = [name, public_key, clearance].every((text) => typeof text === 'string' && text !== '');
    if (texts && Number.isSafeInteger(id)) return { id, name, publicKey: public_key, clearance };
  } catch (cause) {
    throw new ControlFault('answer', 'the control plane does not say in JSON who this node is', { cause });
  }
  throw new ControlFault('answer', 'the control plane does not say who this node is');
}
