/**
 * The log store: entries of decisions that nodes ship, stored by day. In: batches of JSON lines, which are checked here, and
 * searches. Out: pages of entries, newest first. `open-logs.ts` chooses the implementation and the thread that it runs in.
 */
import type { ReadTransaction } from '../store/store.ts';

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
  /** `gone` aborts once nobody waits for the page: a search that waits then is dropped, and its reason is thrown. */
  find(query: LogQuery, gone?: AbortSignal): Promise<LogPage>;
  /** One decision by its id; `null`: it is not stored. */
  get(wanted: LogKey): Promise<StoredLogEntry | null>;
  /** Removes days that are over, and the oldest beyond the bound of all days; resolves to their number. */
  prune(now: number): Promise<number>;
  close(): Promise<void>;
}

// A fault of the log store, and the refusal of a batch that cannot be right.

/** `busy`: too many calls wait; `full`: no room; `absent`: entries are not stored here; `unavailable`: the database fails. */
export type LogFaultCode = 'busy' | 'full' | 'absent' | 'unavailable';

/** The log store cannot do what was asked; its message is a sentence for operators and clients. */
export class LogFault extends Error {
  readonly code: LogFaultCode;

  constructor(code: LogFaultCode, message: string, options: { readonly cause?: unknown } = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'LogFault';
    this.code = code;
  }
}

/** A batch that cannot be right; the message names the entry and what is wrong. Nothing of the batch is stored. */
export class LogRefusal extends Error {
  /** 413: it is too large; 400 else. */
  readonly status: 400 | 413;

  constructor(message: string, status: 400 | 413 = 400) {
    super(message);
    this.name = 'LogRefusal';
    this.status = status;
  }
}

// Pages of entries as JSON text, and their cursors. PERF: the lines of a page may have 2 MiB, which nothing here parses.

/** Entries as JSON text with the names of their nodes. */
export async function entryTexts(
  { nodes }: Pick<ReadTransaction, 'nodes'>,
  entries: readonly StoredLogEntry[],
): Promise<readonly string[]> {
  const names = new Map<number, string | null>();
  for (const { nodeId } of entries) {
    if (!names.has(nodeId)) names.set(nodeId, (await nodes.get(nodeId))?.name ?? null);
  }
  return entries.map(
    ({ line, nodeId }) => `${line.slice(0, -1)},"node":${JSON.stringify(names.get(nodeId) ?? null)}}`,
  );
}

/** A page as JSON text. */
export async function pageText(
  tx: Pick<ReadTransaction, 'nodes'>,
  { entries, next, complete }: LogPage,
): Promise<string> {
  const texts = (await entryTexts(tx, entries)).join(',');
  const cursor = JSON.stringify(next === null ? null : cursorOf(next));
  return `{"entries":[${texts}],"next":${cursor},"complete":${complete}}`;
}

/** A place as a cursor: opaque to clients. */
function cursorOf({ at, id }: LogPlace): string {
  return Buffer.from(`${at} ${id}`).toString('base64url');
}

/** The place of a cursor; `null`: the text is no cursor. */
export function placeOf(cursor: string): LogPlace | null {
  const text = Buffer.from(cursor, 'base64url').toString('latin1');
  const [, at, id] = /^(\d{1,15}) ([0-9a-f-]{36})$/.exec(text) ?? [];
  return at === undefined || id === undefined ? null : { at: Number(at), id };
}
