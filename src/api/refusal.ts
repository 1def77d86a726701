/** What the API answers when it will not do something. Thrown anywhere below a route, written out in one place. */

/** The statuses a refusal can have. */
export type RefusalStatus =
  | 400
  | 401
  | 403
  | 404
  | 405
  | 408
  | 409
  | 412
  | 413
  | 414
  | 415
  | 429
  | 431
  | 503
  | 504;

export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly headers: Readonly<Record<string, string>>;

  /** `message` becomes the answer's `error`: lower case, no full stop, safe to show to whoever asked. */
  constructor(status: RefusalStatus, message: string, headers: Readonly<Record<string, string>> = {}) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
  }
}

// Worded by the API document
export const invalidKey = (given: boolean): Refusal => unauthorized('invalid API key', given);
export const readOnlyKey = (): Refusal => new Refusal(403, 'read-only API key');
export const notFound = (): Refusal => new Refusal(404, 'not found');

/**
 * A 401. Its sentence is one and the same for whatever is wrong with a key; the challenge tells only whether one was
 * given at all (RFC 6750 §3).
 */
export function unauthorized(reason: string, given: boolean): Refusal {
  return new Refusal(401, reason, { 'www-authenticate': given ? 'Bearer error="invalid_token"' : 'Bearer' });
}

/** `retryAfter` in whole seconds. */
export function overBudget(retryAfter: number): Refusal {
  return new Refusal(429, 'rate limit exceeded', { 'retry-after': String(retryAfter) });
}

/** A 403 with its reason. */
export function forbidden(reason: string): Refusal {
  return new Refusal(403, reason);
}

/** The body is wrong: `<field path>: <what is wrong>`, several joined by `; ` (semantics §6). */
export function badRequest(reason: string): Refusal {
  return new Refusal(400, reason);
}

/** The request is fine and the state of things is not. */
export function conflict(reason: string): Refusal {
  return new Refusal(409, reason);
}
