/**
 * The log store: entries of decisions that nodes ship, stored by day. In: batches of JSON lines, which are checked here, and
 * searches. Out: pages of entries, newest first. `open-logs.ts` chooses the implementation and the thread that it runs in.
 */

/** The actions that a search can name: those of decisions, those of shadow decisions, failures, counted lines, gaps. */
export const LOG_ACTIONS = [
  'forward',
  'block',
  'challenge',
  'redirect',
  'respond',
  'refuse',
  'would-forward',
  'would-block',
  'would-challenge',
  'would-redirect',
  'would-respond',
  'would-refuse',
  'fault',
  'counted',
  'gap',
] as const;
export type LogAction = (typeof LOG_ACTIONS)[number];

/** A domain whose entries a node may send. */
export interface OwnDomain {
  readonly name: string;
  readonly id: number;
  /** Milliseconds since the epoch: older entries are of an earlier domain of this name, and are not stored. */
  readonly since: number;
}

/** What a node sends at once. */
export interface LogBatch {
  readonly nodeId: number;
  /** JSON lines, the first of which lists the domains. */
  readonly bytes: Uint8Array;
  /** The listed domains that exist and that the node serves; entries of others are not stored. */
  readonly domains: readonly OwnDomain[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** What became of a batch. */
export interface Appended {
  /** Entries that are stored now and were not before. */
  readonly stored: number;
  /** Entries that were stored already: the batch was sent before. */
  readonly repeated: number;
  /** Entries beyond the bound of their domain and day, and those of no domain. */
  readonly dropped: number;
}

/** A place between two entries in their order, which is the time and then the id. */
export interface LogPlace {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly id: string;
}

/** A decision to read. */
export interface LogKey {
  readonly domainId: number;
  readonly id: string;
  /** Milliseconds since the epoch: an older entry is of an earlier domain with this id, which a restored backup gave again. */
  readonly since: number;
}

/** A search; every filter that is present must hold. */
export interface LogQuery {
  readonly domainId: number;
  /** The id of the account that searches: its searches run one after another. */
  readonly account: number;
  /** Milliseconds since the epoch, the first included and the last not. */
  readonly from: number;
  readonly to: number;
  /** Only entries before this place, that is older ones; `null`: from the newest on. */
  readonly before: LogPlace | null;
  /** Entries, at most. */
  readonly limit: number;
  readonly action: LogAction | null;
  /** `<type>/<id>` of a rule that matched, or that settled the decision or its shadow. */
  readonly rule: string | null;
  /** An address, prefix or range, as rules have it, of the visitor; of a counted line, one that overlaps with its network. */
  readonly ip: string | null;
  /** The start of a path, or with `*` a pattern of the whole path. */
  readonly path: string | null;
  /** Finds neither counted lines nor gaps; absent: all entries. */
  readonly onlyDecisions?: boolean;
}

/** An entry as JSON text, and the node that sent it. */
export interface StoredLogEntry {
  readonly nodeId: number;
  readonly line: string;
}

/** A part of what a search finds, newest first. */
export interface LogPage {
  readonly entries: readonly StoredLogEntry[];
  /** Where the search goes on; `null`: there is nothing more in its time. */
  readonly next: LogPlace | null;
  /** `false`: the search ended at a bound of its cost, not of its page. */
  readonly complete: boolean;
}

/** The entries of all domains. Every method throws LogFault. */
export interface LogStore {
  /**
   * Stores a batch: it is on the disk when this resolves. An entry that is stored already is not stored again.
   * @throws LogRefusal when an entry cannot be right; nothing is stored then
   */
  append(batch: LogBatch): Promise<Appended>;
  find(query: LogQuery): Promise<LogPage>;
  /** One decision by its id; `null`: it is not stored. */
  get(wanted: LogKey): Promise<StoredLogEntry | null>;
  /** Removes days that are over, and the oldest beyond the bound of all days; resolves to their number. */
  prune(now: number): Promise<number>;
  close(): Promise<void>;
}
