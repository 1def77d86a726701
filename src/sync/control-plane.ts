/** What a node asks its control plane for, over connections kept open. Every answer is bounded in size and time. */
import { randomBytes } from 'node:crypto';
import { Pool } from 'undici';
import { SELF_FORMAT, type SignedSelf } from '../plan/manifest.ts';
import { ANSWER_MS, MAX_ANSWER_OCTETS, MAX_MANIFEST_OCTETS, MAX_PLAN_OCTETS } from './limits.ts';
import { errorMessage } from './log.ts';
import { groupsIn } from './trust.ts';

/**
 * - `away` no connection, no answer in time, or one of a server in trouble: try again later
 * - `token` the node's token is refused
 * - `missing` there is no such thing
 * - `answer` an answer that makes no sense, or is too long
 */
export type ControlFaultCode = 'away' | 'token' | 'missing' | 'answer';

export class ControlPlaneFault extends Error {
  readonly code: ControlFaultCode;

  constructor(code: ControlFaultCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ControlPlaneFault';
    this.code = code;
  }
}

/** How far the feed was read. */
export interface ReadUpTo {
  readonly position: number;
  readonly epoch: number;
}

/** Every call throws ControlPlaneFault. */
export interface ControlPlaneClient {
  /** Who the node is, and whom it should believe; for this call and no earlier one, its signature unchecked. */
  self(): Promise<SignedSelf>;
  /** The text of the manifest's page above `since`; waits up to `waitSec` seconds for there to be anything. */
  page(since: number, waitSec: number): Promise<string>;
  /** A sealed plan's octets, unchecked. */
  plan(digest: string): Promise<Uint8Array>;
  report(body: object): Promise<void>;
  /** The feed above a position, to be read until it ends; `signal` ends it. */
  feed(from: ReadUpTo, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Ends every call under way. */
  close(): Promise<void>;
}

export interface ControlOptions {
  /** `http://` or `https://`, perhaps with a path that everything lies below. */
  readonly url: string;
  /** The node's token; called for each request, so that it may change while the node runs. */
  readonly token: () => string;
}

interface Asked {
  readonly method?: 'GET' | 'POST';
  readonly body?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Octets of the answer at most. */
  readonly limit: number;
  /** Milliseconds until it must be there whole. */
  readonly within: number;
}

export function createControl({ url, token }: ControlOptions): ControlPlaneClient {
  const { origin, pathname } = new URL(url);
  const base = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  // One connection for the feed, one for polls and reports, the others for plans.
  const pool = new Pool(origin, { connections: 12, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 });

  /** A request's answer, once its status is known to be good. */
  async function open(path: string, asked: Pick<Asked, 'method' | 'body' | 'headers'>, signal: AbortSignal) {
    const { method = 'GET', body = null } = asked;
    const type = body === null ? {} : { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${token()}`, ...type, ...asked.headers };
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
      throw new ControlPlaneFault('away', `no whole answer to ${path} within ${asked.within} ms`);
    } finally {
      clearTimeout(timer);
    }
  }

  return {
    async self() {
      const nonce = randomBytes(32).toString('base64url');
      const answer = await ask(`/nodes/self?nonce=${nonce}`, { limit: MAX_ANSWER_OCTETS, within: ANSWER_MS });
      return readSelf(answer, nonce);
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
      throw new ControlPlaneFault('away', 'a report was answered by something else than the control plane');
    },
    async feed({ position, epoch }, signal) {
      const headers = { 'edgeplan-epoch': String(epoch) };
      try {
        return await open(`/nodes/feed?since=${position}`, { headers }, signal);
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
    if (size > limit) throw new ControlPlaneFault('answer', `the answer is longer than ${limit} octets`);
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

function statusFault(status: number, { path, text }: { path: string; text: string }): ControlPlaneFault {
  const told = `${path.split('?', 1)[0]} was answered with ${status}: ${text.slice(0, 200)}`;
  if (status === 401 || status === 403) {
    return new ControlPlaneFault(
      'token',
      'the control plane refuses this node token; make one with edgeplan node-token create or rotate',
    );
  }
  if (status === 404) return new ControlPlaneFault('missing', told);
  return new ControlPlaneFault(status >= 500 || status === 429 || status === 408 ? 'away' : 'answer', told);
}

function asFault(error: unknown): ControlPlaneFault {
  if (error instanceof ControlPlaneFault) return error;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const reason =
    typeof code === 'string' ? code : typeof cause?.code === 'string' ? cause.code : errorMessage(error);
  return new ControlPlaneFault('away', `the control plane cannot be reached: ${reason}`, { cause: error });
}

function readSelf(bytes: Buffer, nonce: string): SignedSelf {
  let self: SignedSelf;
  try {
    self = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new ControlPlaneFault('answer', 'the control plane does not say in JSON who this node is', {
      cause,
    });
  }
  const { id, name, public_key, clearance } = self;
  const texts = [name, public_key, clearance].every((text) => typeof text === 'string' && text !== '');
  if (!texts || !Number.isSafeInteger(id)) {
    throw new ControlPlaneFault('answer', 'the control plane does not say who this node is');
  }
  if (self.format !== SELF_FORMAT || typeof self.signature !== 'string') {
    const remedy = 'upgrade the server before its nodes';
    throw new ControlPlaneFault('answer', `the control plane does not sign who this node is; ${remedy}`);
  }
  if (groupsIn(self) === null) {
    throw new ControlPlaneFault('answer', 'the control plane does not say in which groups this node is');
  }
  if (self.nonce === nonce) return self;
  throw new ControlPlaneFault('answer', 'the control plane answers an earlier question about this node');
}
