/** What the room reports: log lines, and the revisions that it made. */
import type { RevisionRow } from '../store/tables/plans.ts';

/** The log of the room: faults and publications; a pino logger has this shape. */
export interface PublisherLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

/** A revision with its times. */
export interface PublishedRevision {
  readonly revision: RevisionRow;
  /** Milliseconds from the oldest covered write to the commit of the revision. */
  readonly sinceWriteMs: number;
  /** Milliseconds reading, compiling, testing and committing took. */
  readonly tookMs: number;
}
