/** What an inspection of a store returns. */

/** What is found in a database. */
export interface StoreReport {
  /** The version of its tables; 0: it has none yet. */
  readonly version: number;
  /** The version that this edgeplan makes. */
  readonly known: number;
  /** Settings of the database that its operator should know about. */
  readonly warnings: readonly string[];
  /** The clock of the database's server, milliseconds since the epoch; `null`: it is this machine's. */
  readonly clock: number | null;
}
