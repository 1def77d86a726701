/** The DNS failed us: thrown, typed by `code`, with its `cause` kept. Never to be taken for an answer. */

/**
 * - `timeout` nothing came back in time
 * - `network` the address cannot be reached, or closed the connection
 * - `malformed` what came back is no DNS answer
 * - `unanswered` no server gave an answer that counts
 * - `disagreement` two servers of one zone say different things
 * - `bad_resolver` a configured resolver is not an address
 * - `cancelled` the caller gave up
 */
export type DnsFaultCode =
  | 'timeout'
  | 'network'
  | 'malformed'
  | 'unanswered'
  | 'disagreement'
  | 'bad_resolver'
  | 'cancelled';

export class DnsFault extends Error {
  readonly code: DnsFaultCode;

  constructor(code: DnsFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DnsFault';
    this.code = code;
  }
}
