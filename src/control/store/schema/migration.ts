/** One step from older tables to newer ones. */

/** A step: `sqlite.ts` and `postgres.ts` list them. */
export interface Migration {
  /** Counts from 1 without gaps. */
  readonly version: number;
  /** Statements run in one transaction. */
  readonly ddl: string;
}
