/** Failures of DNS queries. A fault is never an answer: callers must not treat it as "no such record". */
import type { DNS_FAULT_CODES } from '../../base/diagnostics/codes/faults.ts';

/** What failed; `base/diagnostics/codes/faults.ts` has the meanings. */
export type DnsFaultCode = keyof typeof DNS_FAULT_CODES;

/** Thrown for every failed query, with the error below it as its `cause`. */
export class DnsFault extends Error {
  readonly code: DnsFaultCode;

  constructor(code: DnsFaultCode, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = 'DnsFault';
    this.code = code;
  }
}
