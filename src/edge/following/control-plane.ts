/**
 * The HTTP client of a node for its control plane (`/nodes/…` of the management API), over persistent connections. Every
 * response is bounded in size and time.
 */
import { randomBytes } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import type { LookupFunction } from 'node:net';
import { Pool } from 'undici';
import type { CONTROL_FAULT_CODES } from '../../base/diagnostics/codes/faults.ts';
import { MAX_SEALED_LIST } from '../../base/vocabulary/limits.ts';
import type { CacheReport } from '../../engine/plan/cache-report.ts';
import { SELF_FORMAT, type SignedSelf } from '../../engine/plan/manifest.ts';
import {
  ANSWER_MS,
  MAX_ANSWER_OCTETS,
  MAX_BOX_OCTETS,
  MAX_MANIFEST_OCTETS,
  MAX_PLAN_OCTETS,
  MAX_PURGES_ANSWER_OCTETS,
} from './limits.ts';
import { errorMessage } from './log.ts';
import { groupsIn } from './trust.ts';

/** What failed; `base/diagnostics/codes/faults.ts` has the meanings. */
export type ControlFaultCode = keyof typeof CONTROL_FAULT_CODES;

interface FaultOptions {
  readonly cause?: unknown;
  readonly status?: number;
  readonly isRefusal?: boolean;
}

/** A request to the control plane failed. */
export class ControlPlaneFault extends Error {
  readonly code: ControlFaultCode;
  /** The status of the response; `null`: none arrived, or it is not what failed. */
  readonly status: number | null;
  /** The control plane itself has refused what was sent (400); a proxy's 400 is not JSON. */
  readonly isRefusal: boolean;

  constructor(code: ControlFaultCode, message: string, options: FaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'ControlPlaneFault';
    this.code = code;
    this.status = options.status ?? null;
    this.isRefusal = options.isRefusal ?? false;
  }
}

/** A point of the manifest's history. */
export interface ReadUpTo {
  readonly position: number;
  readonly epoch: number;
}

/** The certificates of a domain as the control plane sends them, unchecked. */
export interface SentSet {
  /** The digest of the set in the box; `null`: the answer names none. */
  readonly digest: string | null;
  /** Sealed for this node (`base/platform/cryptography.ts`). */
  readonly box: Uint8Array;
}

/** The node's requests. Every method throws ControlPlaneFault. */
export interface ControlPlaneClient {
  /** The node's identity and the control plane's key, as an answer to this call's nonce; the signature is unchecked. */
  self(): Promise<SignedSelf>;
  /** The text of the manifest page above `since`; the server waits up to `waitSec` seconds for a change. */
  page(since: number, waitSec: number): Promise<string>;
  /** A sealed plan's octets, unchecked. */
  plan(digest: string): Promise<Uint8Array>;
  /** A sealed list's octets, unchecked. */
  list(digest: string): Promise<Uint8Array>;
  /** The certificates of a domain, sealed for the key of the options. */
  certificates(domain: string): Promise<SentSet>;
  /** The text of a domain's purges above a position, unchecked. */
  purges(domain: string, since: number): Promise<string>;
  /** Sends reports of plans. */
  report(body: object): Promise<void>;
  /** Sends a report of what a cache has stored. */
  reportCache(report: CacheReport): Promise<void>;
  /** Sends a batch of traffic counts (`engine/counts/layout.ts`). */
  traffic(batch: Uint8Array, coding: { readonly isGzipped: boolean }): Promise<void>;
  /** Ships a batch of log entries, JSON lines in gzip. */
  shipLogs(batch: Uint8Array): Promise<void>;
  /** Opens the feed above a position; `signal` closes it. */
  feed(from: ReadUpTo, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>;
  /** Aborts running requests and closes all connections. */
  close(): Promise<void>;
}

export interface ControlOptions {
  /** `http://` or `https://`, with an optional path as the prefix of all requests. */
  readonly url: string;
  /** The node's token; called for each request, so that a rotated token is used at once. */
  readonly token: () => string;
  /** This node's public key for sealed boxes, 32 octets in base64; absent: it receives no certificates. */
  readonly boxKey?: string;
  /** Resolves the control plane's name. Default: `getaddrinfo`. */
  readonly lookup?: LookupFunction;
}

/** The header with the node's public key, and the one with the digest of a set. */
const BOX_KEY_HEADER = 'edgeplan-box-key';
const DIGEST_HEADER = 'edgeplan-digest';

interface ControlRequest {
  readonly method?: 'GET' | 'POST';
  readonly body?: string | Uint8Array;
  readonly headers?: Readonly<Record<string, string>>;
  /** Most octets of the response. */
  readonly limit: number;
  /** Milliseconds for the whole response. */
  readonly within: number;
}

interface WholeAnswer {
  readonly headers: IncomingHttpHeaders;
  readonly octets: Buffer;
}

export function createControl({ url, token, boxKey, lookup }: ControlOptions): ControlPlaneClient {
  const { origin, pathname } = new URL(url);
  const withKey = boxKey === undefined ? {} : { headers: { [BOX_KEY_HEADER]: boxKey } };
  const base = pathname.endsWith('/') ? pathname.slice(0, -1) : pathname;
  // One connection for the feed, one for polls and reports, the others for plans.
  const pool = new Pool(origin, {
    ...{ connections: 12, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 },
    ...(lookup === undefined ? {} : { connect: { lookup } }),
  });

  /** Sends a body and checks that the control plane itself has answered. */
  async function post(path: string, sent: Pick<ControlRequest, 'body' | 'headers'>): Promise<void> {
    const request = { ...sent, method: 'POST', limit: MAX_ANSWER_OCTETS, within: ANSWER_MS } as const;
    if (isJson((await fetchWhole(path, request)).toString('utf8'))) return;
    throw new ControlPlaneFault('away', 'a report was answered by something else than the control plane');
  }

  /** A response with status 200. */
  async function open(
    path: string,
    request: Pick<ControlRequest, 'method' | 'body' | 'headers'>,
    signal: AbortSignal,
  ) {
    const { method = 'GET', body = null } = request;
    const type = body === null ? {} : { 'content-type': 'application/json' };
    const headers = { authorization: `Bearer ${token()}`, ...type, ...request.headers };
    const answer = await pool.request({ path: `${base}${path}`, method, body, headers, signal });
    if (answer.statusCode === 200) return answer;
    // Only the start: the error page of a proxy may be of any length.
    const text = (await readStart(answer.body, MAX_ANSWER_OCTETS)).toString('utf8');
    throw statusFault(answer.statusCode, { path, text });
  }

  async function fetchAnswer(path: string, request: ControlRequest): Promise<WholeAnswer> {
    const deadline = new AbortController();
    const timer = setTimeout(() => deadline.abort(), request.within);
    try {
      const { headers, body } = await open(path, request, deadline.signal);
      return { headers, octets: await readWhole(body, request.limit) };
    } catch (error) {
      if (!deadline.signal.aborted) throw asFault(error);
      throw new ControlPlaneFault('away', `no whole answer to ${path} within ${request.within} ms`);
    } finally {
      clearTimeout(timer);
    }
  }

  async function fetchWhole(path: string, request: ControlRequest): Promise<Buffer> {
    return (await fetchAnswer(path, request)).octets;
  }

  return {
    async self() {
      const nonce = randomBytes(32).toString('base64url');
      const answer = await fetchWhole(`/nodes/self?nonce=${nonce}`, {
        ...withKey,
        limit: MAX_ANSWER_OCTETS,
        within: ANSWER_MS,
      });
      return readSelf(answer, nonce);
    },
    async page(since, waitSec) {
      const within = ANSWER_MS + waitSec * 1_000;
      const path = `/nodes/manifest?since=${since}&wait=${waitSec}`;
      return (await fetchWhole(path, { limit: MAX_MANIFEST_OCTETS, within })).toString('utf8');
    },
    plan: (digest) => fetchWhole(`/nodes/plans/${digest}`, { limit: MAX_PLAN_OCTETS, within: ANSWER_MS }),
    list: (digest) => fetchWhole(`/nodes/lists/${digest}`, { limit: MAX_SEALED_LIST, within: ANSWER_MS }),
    async certificates(domain) {
      const request = { ...withKey, limit: MAX_BOX_OCTETS, within: ANSWER_MS };
      const { headers, octets } = await fetchAnswer(`/nodes/certificates/${domain}`, request);
      const digest = headers[DIGEST_HEADER];
      return { digest: typeof digest === 'string' ? digest : null, box: octets };
    },
    async purges(domain, since) {
      const path = `/nodes/purges/${encodeURIComponent(domain)}?since=${since}`;
      return (await fetchWhole(path, { limit: MAX_PURGES_ANSWER_OCTETS, within: ANSWER_MS })).toString(
        'utf8',
      );
    },
    report: (body) => post('/nodes/reports', { body: JSON.stringify(body) }),
    reportCache: (report) => post('/nodes/cache', { body: JSON.stringify(report) }),
    traffic: (batch, { isGzipped }) =>
      post('/nodes/traffic', {
        body: batch,
        headers: {
          'content-type': 'application/octet-stream',
          ...(isGzipped ? { 'content-encoding': 'gzip' } : {}),
        },
      }),
    shipLogs: (batch) =>
      post('/nodes/logs', {
        body: batch,
        headers: { 'content-type': 'application/x-ndjson', 'content-encoding': 'gzip' },
      }),
    async feed({ position, epoch }, signal) {
      const headers = { 'edgeplan-epoch': String(epoch), 'edgeplan-push': 'octets' };
      try {
        return (await open(`/nodes/feed?since=${position}`, { headers }, signal)).body;
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
  // Leaving the loop early closes the connection.
  for await (const chunk of body) {
    size += chunk.length;
    if (size > limit) throw new ControlPlaneFault('answer', `the answer is longer than ${limit} octets`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

/** At least `limit` octets of a body, or all of it; the rest is not read. */
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

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The fault of a response with another status than 200. */
function statusFault(status: number, { path, text }: { path: string; text: string }): ControlPlaneFault {
  const sentence = `${path.split('?', 1)[0]} was answered with ${status}: ${text.slice(0, 200).replace(/\s+/g, ' ').trim()}`;
  if (status === 401 || status === 403) {
    return new ControlPlaneFault(
      'token',
      'the control plane refuses this node token; make one with edgeplan node-token create or rotate',
      { status },
    );
  }
  if (status === 404) return new ControlPlaneFault('missing', sentence, { status });
  const isAway = status >= 500 || status === 429 || status === 408;
  const isRefusal = status === 400 && isJson(text);
  return new ControlPlaneFault(isAway ? 'away' : 'answer', sentence, { status, isRefusal });
}

/** A connection error as a fault, with the system's code as the reason. */
function asFault(error: unknown): ControlPlaneFault {
  if (error instanceof ControlPlaneFault) return error;
  const { code, cause } = error as { readonly code?: unknown; readonly cause?: { readonly code?: unknown } };
  const reason =
    typeof code === 'string' ? code : typeof cause?.code === 'string' ? cause.code : errorMessage(error);
  return new ControlPlaneFault('away', `the control plane cannot be reached: ${reason}`, { cause: error });
}

/** Checks the fields and the nonce of an identity; `trust.ts` checks its signature. */
function readSelf(bytes: Buffer, nonce: string): SignedSelf {
  let self: SignedSelf;
  try {
    self = JSON.parse(bytes.toString('utf8'));
  } catch (cause) {
    throw new ControlPlaneFault('answer', "the control plane's answer about this node is not JSON", {
      cause,
    });
  }
  const { id, name, public_key, clearance } = self;
  const texts = [name, public_key, clearance].every((text) => typeof text === 'string' && text !== '');
  if (!texts || !Number.isSafeInteger(id)) {
    throw new ControlPlaneFault(
      'answer',
      "the control plane's answer about this node lacks its id, name, key or secret",
    );
  }
  if (self.format !== SELF_FORMAT || typeof self.signature !== 'string') {
    const remedy = 'upgrade the server before its nodes';
    throw new ControlPlaneFault('answer', `the control plane does not sign who this node is; ${remedy}`);
  }
  if (groupsIn(self) === null) {
    throw new ControlPlaneFault(
      'answer',
      "the control plane's answer about this node has no groups that can be read",
    );
  }
  if (self.nonce === nonce) return self;
  throw new ControlPlaneFault('answer', 'the control plane answers an earlier question about this node');
}
