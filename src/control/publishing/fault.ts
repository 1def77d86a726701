/** The fault of a publication that cannot be made, without a customer's mistake: thrown, logged, tried again later. */
import type { PUBLISH_FAULT_CODES } from '../../base/diagnostics/codes/faults.ts';

/** What failed; `base/diagnostics/codes/faults.ts` has the meanings. */
export type PublishFaultCode = keyof typeof PUBLISH_FAULT_CODES;

export class PublishFault extends Error {
  readonly code: PublishFaultCode;

  constructor(code: PublishFaultCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'PublishFault';
    this.code = code;
  }
}
