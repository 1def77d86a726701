/** Failures of DNS queries. A fault is never an answer: callers must not treat it as "no such record". */

/**
 * - `timeout` no reply came in time
 * - `network` the address cannot be reached, or closed the connection
 * - `malformed` the reply is not a DNS message, or answers another question
 * - `unanswered` no server gave a usable answer
 * - `disagreement` two servers of one zone gave different answers
 * - `bad_resolver` a configured resolver is not an address
 * - `cancelled` the caller aborted the query
 */
export type DnsFaultCode =
  | 'timeout'
  | 'network'
  | 'malformed'
  | 'unanswered'
  | 'disagreement'
  | 'bad_resolver'
  | 'cancelled';

/** Thrown for every failed query, with the error below it as its `cause`. */
export class DnsFault extends Error {
  readonly code: DnsFaultCode;

  constructor(code: DnsFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DnsFault';
    this.code = code;
  }
}
