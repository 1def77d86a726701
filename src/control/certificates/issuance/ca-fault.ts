/** What a CA answers instead of what was requested: problem documents (RFC 7807 with the types of RFC 8555 §6.7). */
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_REASON_CHARACTERS } from './limits.ts';

const PREFIX = 'urn:ietf:params:acme:error:';

/** What is known of a fault besides its message. */
type Facts = Pick<CaFault, 'type' | 'status' | 'retryAfterMs' | 'names'>;

/** A refused or failed request to a CA. */
export class CaFault extends Error {
  /** The type without its prefix, such as `rateLimited`; `network`: no answer came; `answer`: one without a type. */
  readonly type: string;
  /** The status; 0: no answer came. */
  readonly status: number;
  /** Milliseconds after which the CA wants the next attempt; `null`: it names none. */
  readonly retryAfterMs: number | null;
  /** The reasons by name that a problem of several names has (RFC 8555 §6.7.1). */
  readonly names: ReadonlyMap<string, string>;

  constructor(message: string, facts: Facts, cause?: unknown) {
    super(message, { cause });
    this.name = 'CaFault';
    this.type = facts.type;
    this.status = facts.status;
    this.retryAfterMs = facts.retryAfterMs;
    this.names = facts.names;
  }

  /** Whether the same request may succeed later without a change on our side: the CA is away, slow or broken. */
  get isTransient(): boolean {
    return this.status === 0 || this.status >= 500 || this.type === 'badNonce';
  }

  get isRateLimit(): boolean {
    return this.type === 'rateLimited' || this.status === 429;
  }
}

/** The fault of a request without an answer. */
export function networkFault(what: string, cause: unknown): CaFault {
  const facts = { type: 'network', status: 0, retryAfterMs: null, names: new Map<string, string>() };
  return new CaFault(`the CA cannot be reached: ${what}`, facts, cause);
}

/** The answer to a request, as far as a fault needs it. */
export interface CaAnswer {
  readonly status: number;
  readonly retryAfter: string | null;
  /** JSON, if it is. */
  readonly body: unknown;
}

/** The fault of an answer with a status of 400 or above. `now`: milliseconds since the epoch. */
export function answerFault({ status, retryAfter, body }: CaAnswer, now: number): CaFault {
  const problem = isObject(body) ? body : {};
  const names = new Map<string, string>();
  for (const one of Array.isArray(problem['subproblems']) ? problem['subproblems'] : []) {
    const name = nameOf(one);
    if (name !== null) names.set(name, reasonText(one) ?? `the CA answered ${status}`);
  }
  const facts = { type: typeText(problem), status, retryAfterMs: parseRetryAfter(retryAfter, now), names };
  return new CaFault(reasonText(problem) ?? `the CA answered ${status}`, facts);
}

/** The reason of a problem document, cut; `null`: it has none. */
export function reasonText(problem: unknown): string | null {
  if (!isObject(problem)) return null;
  const { detail } = problem;
  if (typeof detail !== 'string' || detail.trim() === '') return null;
  const line = detail.replaceAll(/[\p{Cc}\p{Cs}]+/gu, ' ').trim();
  return line.length <= MAX_REASON_CHARACTERS ? line : `${line.slice(0, MAX_REASON_CHARACTERS - 1)}…`;
}

function typeText(problem: Readonly<Record<string, unknown>>): string {
  const { type } = problem;
  return typeof type === 'string' && type.startsWith(PREFIX) ? type.slice(PREFIX.length) : 'answer';
}

function nameOf(problem: unknown): string | null {
  if (!isObject(problem) || !isObject(problem['identifier'])) return null;
  const { value } = problem['identifier'];
  return typeof value === 'string' ? value.toLowerCase() : null;
}

/** `Retry-After` in seconds or as a date (RFC 9110 §10.2.3), in milliseconds from now. */
export function parseRetryAfter(text: string | null, now: number): number | null {
  if (text === null || text.trim() === '') return null;
  if (/^\s*[0-9]{1,9}\s*$/.test(text)) return Number(text) * 1_000;
  const at = Date.parse(text);
  return Number.isNaN(at) ? null : Math.max(0, at - now);
}
