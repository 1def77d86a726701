/** A fault of the store: the database or its environment failed. Thrown, typed by `code`, with its `cause`. */

/**
 * - `conflict` something unique exists already; `subject` is `<table>.<column>`, such as `domains.name`
 * - `missing` a row refers to one that is not there, for example a domain deleted a moment ago
 * - `text` a text holds NUL or a lone surrogate, which not every database can store; nothing was sent
 * - `contended` other writers conflicted at every attempt, or the work took too long; nothing was written
 * - `unavailable` the database cannot be reached or was lost on the way; see `undone`
 * - `full` the disk has no room left; nothing was written
 * - `in_use` another server has locked the data folder
 * - `unreadable` not a database of ours, or a damaged one
 * - `too_new` the database was written by a later version
 * - `closed` the store, or the transaction, is over
 */
export type StoreFaultCode =
  | 'conflict'
  | 'missing'
  | 'text'
  | 'contended'
  | 'unavailable'
  | 'full'
  | 'in_use'
  | 'unreadable'
  | 'too_new'
  | 'closed';

/** Details of a fault. */
export interface StoreFaultOptions {
  readonly cause?: unknown;
  readonly subject?: string;
  readonly undone?: boolean;
}

/** What the store room throws; its message names no values of rows. */
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
