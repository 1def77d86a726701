/** The fault of a publication that cannot be made, without a customer's mistake: thrown, logged, tried again later. */

/**
 * - `stored_rows` rows in the store no longer read as a rule set: a bug of ours or a damaged store
 * - `compile` the compiler refused what the model had accepted
 * - `self_test` the compiled plan did not open, or did not run
 * - `blob` the store's sealed plan is missing or does not match its digest
 * - `thread` the thread that makes large plans was lost, or is not to be had
 * - `contended` another publisher was first at every attempt
 */
export type PublishFaultCode = 'stored_rows' | 'compile' | 'self_test' | 'blob' | 'thread' | 'contended';

export class PublishFault extends Error {
  readonly code: PublishFaultCode;

  constructor(code: PublishFaultCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PublishFault';
    this.code = code;
  }
}
