/** Refusals: every error answer of the API. Handlers and checks throw them, and `control/api/answer.ts` sends them. */

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
  /** Of a client that has gone; nginx logs the same. Nobody receives it. */
  | 499
  | 503
  | 504;

/** Fields of the body of an error answer besides `error`. */
export interface RefusalFields {
  /** The name of the quota that is used up. */
  readonly quota?: string;
}

/** An error answer: status, message, extra headers and fields. */
export class Refusal extends Error {
  readonly status: RefusalStatus;
  readonly headers: Readonly<Record<string, string>>;
  readonly fields: RefusalFields;

  /** `message` becomes the `error` of the answer: lower case, no full stop, safe to show to the client. */
  constructor(
    status: RefusalStatus,
    message: string,
    headers: Readonly<Record<string, string>> = {},
    fields: RefusalFields = {},
  ) {
    super(message);
    this.name = 'Refusal';
    this.status = status;
    this.headers = headers;
    this.fields = fields;
  }
}

// Messages that the API document prescribes
/** @param given whether the request has a key at all */
export const invalidKey = (given: boolean): Refusal => unauthorized('invalid API key', given);
/** A read-only key was used for a write. */
export const readOnlyKey = (): Refusal => new Refusal(403, 'read-only API key');
/** The object does not exist, or the caller may not see it: the two must look alike. */
export const notFound = (): Refusal => new Refusal(404, 'not found');

/**
 * A 401. Its message is the same whatever is wrong with a key; the challenge only distinguishes a request without a key
 * (RFC 6750 §3).
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

/** A 409: the request is valid, but not in the current state of the object. */
export function conflict(reason: string): Refusal {
  return new Refusal(409, reason);
}
