/**
 * Group commit. SQLite has one writer, and a commit waits about a millisecond for the disk, so writes that come
 * meanwhile share the next one: each runs inside a savepoint of one transaction, one after the other, and all are
 * answered when it has committed. A write that fails is undone alone. No write waits for others to join: as soon as the queue
 * is empty, the group commits.
 */
import { StoreFault } from '../../../../base/storage/fault.ts';
import type { WriteOptions, WriteTransaction } from '../../store.ts';
import type { StoreChange } from '../statement.ts';
import { runWork } from '../transaction.ts';
import type { Channel } from './channel.ts';

/** Writes of one group: enough to make the disk's share small, few enough that the first does not wait long. */
const GROUP_WRITES = 200;
/** Milliseconds after which no more writes join a group. */
const GROUP_MS = 20;

/** The writing half of a store. */
export interface SqliteWriter {
  write<T>(work: (tx: WriteTransaction) => Promise<T>, options?: WriteOptions): Promise<T>;
  /** Resolves when nothing is being written. Later writes throw `closed`. */
  close(): Promise<void>;
}

/** One write of the queue. */
interface Job {
  /** Runs it inside the open savepoint; returns how to settle the caller's promise once the group has committed. */
  run(): Promise<Outcome>;
  /** The whole group was lost. */
  fail(error: unknown): void;
}

/** How one write of a group ended. */
interface Outcome {
  /** False: undo it. */
  readonly keep: boolean;
  /** What it threw, if it failed. */
  readonly error?: unknown;
  readonly tell: () => void;
  readonly changes: Iterable<StoreChange>;
}

/** A writer over a channel. `emit` is called once per kind of change, after the commit. */
export function createWriter(channel: Channel, emit: (change: StoreChange) => void): SqliteWriter {
  const queue: Job[] = [];
  let pumping: Promise<void> | null = null;
  let closed = false;

  async function pump(): Promise<void> {
    while (queue.length > 0) await commitGroup(channel, queue, emit);
    pumping = null;
  }

  return {
    write(work, options = {}) {
      if (closed) return Promise.reject(new StoreFault('closed', 'the store is closed'));
      return new Promise((resolve, reject) => {
        queue.push(job(channel, work, { resolve, reject, discard: options.discard === true }));
        pumping ??= pump();
      });
    },
    async close() {
      closed = true;
      while (pumping !== null) await pumping;
    },
  };
}

/** What one write consists of. */
interface JobOptions<T> {
  readonly resolve: (result: T) => void;
  readonly reject: (error: unknown) => void;
  readonly discard: boolean;
}

/** The queue entry of one write, which settles its caller's promise. */
function job<T>(
  channel: Channel,
  work: (tx: WriteTransaction) => Promise<T>,
  { resolve, reject, discard }: JobOptions<T>,
): Job {
  const connection = {
    database: 'sqlite',
    locking: false,
    run: (sql: string, values: Parameters<Channel['send']>[1]) => channel.send(sql, values),
  } as const;
  return {
    fail: reject,
    async run() {
      try {
        const { result, changes } = await runWork(connection, work);
        return { keep: !discard, tell: () => resolve(result), changes: discard ? [] : changes };
      } catch (error) {
        return { keep: false, error, tell: () => reject(error), changes: [] };
      }
    },
  };
}

/** Runs waiting writes in one transaction, commits it, and settles the promise of each. */
async function commitGroup(
  channel: Channel,
  queue: Job[],
  emit: (change: StoreChange) => void,
): Promise<void> {
  const members: Job[] = [];
  try {
    const outcomes = await runGroup(channel, queue, members);
    for (const outcome of outcomes) outcome.tell();
    for (const change of new Set(outcomes.flatMap((outcome) => [...outcome.changes]))) emit(change);
  } catch (error) {
    // A group that could not begin fails its first write, or the queue would never empty.
    if (members.length === 0) members.push(queue.shift()!);
    for (const member of members) member.fail(error);
  }
}

/** Adds to `members` each write that it has begun. Throws when the whole transaction was lost. */
async function runGroup(channel: Channel, queue: Job[], members: Job[]): Promise<readonly Outcome[]> {
  const outcomes: Outcome[] = [];
  const started = performance.now();
  // PERF: sent in one message with the first member's statements. If it fails, they have run in a transaction of their savepoint's
  // own, which is undone before anything could commit it.
  const begun = channel.send('BEGIN IMMEDIATE');
  ignore(begun);
  while (queue.length > 0 && members.length < GROUP_WRITES && performance.now() - started < GROUP_MS) {
    const next = queue.shift()!;
    members.push(next);
    // Sent without waiting: these are sent with the statements that follow, and cannot fail while the transaction is open.
    ignore(channel.send('SAVEPOINT member'));
    const outcome = await next.run();
    await held(channel, begun);
    outcomes.push(outcome);
    if (!outcome.keep) await undoMember(channel, outcome.error);
    ignore(channel.send('RELEASE SAVEPOINT member'));
  }
  await channel.send('COMMIT');
  return outcomes;
}

/** Throws when the group has no transaction; none is open then. */
async function held(channel: Channel, begun: Promise<unknown>): Promise<void> {
  try {
    await begun;
  } catch (error) {
    ignore(channel.send('ROLLBACK'));
    throw error;
  }
}

/**
 * Undoes the running member alone. SQLite gives up the whole transaction after some faults, a full disk among them;
 * then there is nothing left to go back to, no further member must run, and all share the fault.
 */
async function undoMember(channel: Channel, fault: unknown): Promise<void> {
  try {
    await channel.send('ROLLBACK TO SAVEPOINT member');
  } catch (error) {
    ignore(channel.send('ROLLBACK'));
    throw fault ?? error;
  }
}

/** Its failure is that of the transaction, which a later statement reports. */
function ignore(sent: Promise<unknown>): void {
  sent.catch(() => undefined);
}
