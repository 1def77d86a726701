/**
 * Fetches the feeds that are due: claims as many as it has places, one of each account, and stores what follows. Several processes may
 * run one worker each on the same store: a claim has a lease, so one process fetches a feed, and after a crash another one does.
 */
import type { LookupFunction } from 'node:net';
import type { SpecialJudge } from '../../../base/addresses/special-addresses.ts';
import { withDeadline } from '../../../base/platform/tasks.ts';
import { isStoreFault, StoreFault } from '../../../base/storage/fault.ts';
import { type KeyRing, SecretsKeyFault } from '../../certificates/key-ring.ts';
import type { Store } from '../../store/store.ts';
import type { ClaimedFeed, ListRow } from '../../store/tables/lists.ts';
import { type FetchedFeed, fetchFeed } from './fetch-feed.ts';
import { CLAIM_MS, FETCH_MS, FETCHES_AT_ONCE, POLL_MS, PROMPT_MS, SLOW_FETCHES } from './limits.ts';
import type { FeedBody, ReadFeedBody } from './read-feed.ts';
import { openHeader } from './sealed-header.ts';
import { settingsOf, stateOf } from './settings.ts';
import { type FeedOutcome, outcomeOf, settleFeed } from './settle-feed.ts';

/** What a worker is created with. */
export interface FeedWorkerOptions {
  readonly store: Store;
  /** Reads a body, in a thread. Rejects where no thread is free for the account. */
  readonly read: (account: number, body: FeedBody) => Promise<ReadFeedBody>;
  readonly special: SpecialJudge;
  /** Resolves names that an account has chosen. */
  readonly lookupFor: (account: number) => LookupFunction;
  /** The secrets keys, which headers are encrypted with; `null`: the server has none. */
  readonly ring: KeyRing | null;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** Milliseconds between two looks. Default: `POLL_MS`. */
  readonly pollMs?: number;
  /** Milliseconds of one fetch. Default: `FETCH_MS`. */
  readonly fetchMs?: number;
}

/** The worker of one process. */
export interface FeedWorker {
  start(): void;
  /** Claims nothing further, and ends the fetches under way; they are due again at once. */
  stop(): Promise<void>;
}

interface State extends FeedWorkerOptions {
  readonly stopping: AbortController;
  /** Fetches under way by account, the oldest first. */
  readonly running: Map<number, Fetch>;
  /** The look under way; `null`: none. */
  looking: Promise<void> | null;
  timer: NodeJS.Timeout | null;
}

/** One fetch under way. */
interface Fetch {
  /** It has taken longer than `PROMPT_MS`. */
  isSlow: boolean;
  readonly ending: AbortController;
  readonly work: Promise<void>;
}

/** Creates a worker. */
export function createFeedWorker(options: FeedWorkerOptions): FeedWorker {
  const state: State = {
    ...options,
    stopping: new AbortController(),
    running: new Map(),
    looking: null,
    timer: null,
  };
  return {
    start: () => schedule(state, 0),
    async stop() {
      state.stopping.abort();
      if (state.timer !== null) clearTimeout(state.timer);
      await state.looking;
      for (const { ending } of state.running.values()) ending.abort();
      await Promise.all([...state.running.values()].map(({ work }) => work));
    },
  };
}

/** Looks for feeds that are due in `afterMs`, in place of a look that is scheduled. */
function schedule(state: State, afterMs: number): void {
  if (state.stopping.signal.aborted) return;
  if (state.timer !== null) clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.looking ??= look(state).finally(() => {
      state.looking = null;
      // Spread, so that several processes do not look at the same moment.
      schedule(state, (state.pollMs ?? POLL_MS) * (0.75 + Math.random() / 2));
    });
  }, afterMs);
}

/** Claims what is due, as far as there are places. Never rejects. */
async function look(state: State): Promise<void> {
  const { store, clock, running } = state;
  try {
    const limit = FETCHES_AT_ONCE - [...running.values()].filter(({ isSlow }) => !isSlow).length;
    if (limit <= 0 || !(await store.latest.listFeeds.isDue(clock()))) return;
    const now = clock();
    const claim = Math.floor(Math.random() * (2 ** 47 - 1)) + 1;
    const ask = { now, until: now + CLAIM_MS, claim, limit, busy: [...running.keys()] };
    for (const claimed of await store.write((tx) => tx.listFeeds.claim(ask))) begin(state, claimed);
  } catch (error) {
    reportStore(state, error);
  }
}

/** Begins one fetch; the next look follows it at once, since its account may have more. */
function begin(state: State, claimed: ClaimedFeed): void {
  const { running } = state;
  const ending = new AbortController();
  const lookNow = (): void => {
    if (state.looking === null) schedule(state, 0);
  };
  const slow = setTimeout(() => {
    one.isSlow = true;
    const others = [...running.values()].filter(({ isSlow }) => isSlow);
    if (others.length > SLOW_FETCHES) others[0]!.ending.abort();
    lookNow();
  }, PROMPT_MS);
  const work = attempt(state, claimed, ending.signal)
    .catch((error: unknown) => reportStore(state, error))
    .finally(() => {
      clearTimeout(slow);
      running.delete(claimed.account_id);
      lookNow();
    });
  const one: Fetch = { isSlow: false, ending, work };
  running.set(claimed.account_id, one);
}

/** A fault of the store: the claim lapses, and the feed is fetched again. */
function reportStore({ log }: State, error: unknown): void {
  if (!isStoreFault(error, 'closed'))
    log.warn({ err: error }, 'feeds of lists: the store failed; will retry');
}

/** Fetches one feed and stores what follows. @throws StoreFault */
async function attempt(state: State, claimed: ClaimedFeed, ending: AbortSignal): Promise<void> {
  const { store, clock, stopping, log } = state;
  const row = await store.latest.lists.byId(claimed.list_id);
  if (row === null || row.feed === null) return;
  const outcome = await outcomeFor(state, { claimed, row, ending });
  if (stopping.signal.aborted && outcome.kind === 'failed') {
    const { list_id, claim } = claimed;
    await store.write((tx) =>
      tx.listFeeds.end({ list_id, claim }, { feed_state: row.feed_state!, due_at: clock() }),
    );
    return;
  }
  const settled = await settleFeed(store, { claimed, row, outcome, now: clock() });
  const fields = { list: row.id, name: row.name, account_id: claimed.account_id };
  if (settled === 'applied') log.info(fields, 'list read from its feed');
  else if (settled === 'refused' && outcome.kind === 'failed')
    log.warn({ ...fields, code: outcome.code, reason: outcome.reason }, 'the feed of a list changed nothing');
  else if (settled === 'refused') log.warn(fields, 'the feed of a list was refused');
}

interface Attempt {
  readonly claimed: ClaimedFeed;
  readonly row: ListRow;
  readonly ending: AbortSignal;
}

/** Fetches and reads. @throws StoreFault */
async function outcomeFor(state: State, { claimed, row, ending }: Attempt): Promise<FeedOutcome> {
  const { special, lookupFor, fetchMs = FETCH_MS } = state;
  const { url, format, path, auth_header } = settingsOf(row.feed!);
  const { etag, last_modified, accept_shrink } = stateOf(row.feed_state!);
  const header = auth_header ? headerOf(state, claimed, url) : null;
  if (auth_header && header === null)
    return unreachable(
      'the header cannot be decrypted, since the server has another secrets key; write it again',
    );
  const known =
    accept_shrink === true ? {} : { ...(etag && { etag }), ...(last_modified && { last_modified }) };
  const tools = { special, lookup: lookupFor(claimed.account_id) };
  const fetched = await withDeadline(fetchMs, ending, (signal) =>
    orLate(fetchFeed({ url, header, ...known }, tools, signal), signal),
  );
  if (fetched.kind !== 'content') return fetched;
  const body = { octets: fetched.octets, format, of: row.kind, ...(path === undefined ? {} : { path }) };
  try {
    return outcomeOf(fetched, await state.read(claimed.account_id, body));
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    return unreachable(`the content could not be read: ${(error as Error).message}`);
  }
}

function unreachable(reason: string): FeedOutcome {
  return { kind: 'failed', code: 'unreachable', reason };
}

/** The header of a feed; `null`: it cannot be decrypted. */
function headerOf({ ring, log }: State, { list_id, sealed_header }: ClaimedFeed, url: string): string | null {
  if (ring === null || sealed_header === null) return null;
  try {
    return openHeader(sealed_header, { list: list_id, url }, ring);
  } catch (error) {
    if (!(error instanceof SecretsKeyFault)) throw error;
    log.warn({ err: error }, 'feeds of lists: the secrets key cannot be used');
    return null;
  }
}

/** What was fetched, or a lack of time: what a fetch waits for may not notice its signal. */
function orLate(fetching: Promise<FetchedFeed>, signal: AbortSignal): Promise<FetchedFeed> {
  const late = new Promise<FetchedFeed>((resolve) => {
    const end = (): void => resolve({ kind: 'failed', code: 'unreachable', reason: 'no answer in time' });
    signal.addEventListener('abort', end, { once: true });
  });
  return Promise.race([fetching, late]);
}
