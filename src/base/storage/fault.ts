/** A fault of the store: the database or its environment failed. Thrown, typed by `code`, with its `cause`. */
import type { STORE_FAULT_CODES } from '../diagnostics/codes/faults.ts';

/** What failed; `base/diagnostics/codes/faults.ts` has the meanings. */
export type StoreFaultCode = keyof typeof STORE_FAULT_CODES;

/** Details of a fault. */
export interface StoreFaultOptions {
  readonly cause?: unknown;
  readonly subject?: string;
  readonly undone?: boolean;
}

/** What a store throws; its message names no values of rows. */
export class StoreFault extends Error {
  readonly code: StoreFaultCode;
  /** What was in conflict, `<table>.<column>`; empty otherwise. */
  readonly subject: string;
  /** False only if the database was lost while it was committing: the write may or may not have happened. */
  readonly undone: boolean;

  constructor(code: StoreFaultCode, message: string, options: StoreFaultOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'StoreFault';
    this.code = code;
    this.subject = options.subject ?? '';
    this.undone = options.undone ?? true;
  }
}

/** Whether `error` is a fault of the store with that code, and, if given, about that subject. */
export function isStoreFault(error: unknown, code: StoreFaultCode, subject?: string): error is StoreFault {
  return (
    error instanceof StoreFault && error.code === code && (subject === undefined || error.subject === subject)
  );
}
