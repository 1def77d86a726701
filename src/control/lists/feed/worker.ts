/** Fetches the feeds of lists that are due (`fetch-worker.ts`), reads what they have, and stores what follows. */
import type { LookupFunction } from 'node:net';
import type { SpecialJudge } from '../../../base/addresses/special-addresses.ts';
import { StoreFault } from '../../../base/storage/fault.ts';
import { type KeyRing, SecretsKeyFault } from '../../certificates/key-ring.ts';
import type { Store } from '../../store/store.ts';
import type { ClaimedFeed, ListRow } from '../../store/tables/lists.ts';
import { type FetchedKind, fetchInTime } from './fetch-feed.ts';
import { createFetchWorker, type FetchSignals, type FetchWorker } from './fetch-worker.ts';
import { FETCH_MS, MAX_FEED_OCTETS } from './limits.ts';
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

/** What is asked for. */
const FEEDS: FetchedKind = { agent: 'edgeplan-lists', accept: '*/*', most: MAX_FEED_OCTETS };

/** Creates a worker. */
export function createFeedWorker(options: FeedWorkerOptions): FetchWorker {
  const { store, clock, log, pollMs } = options;
  return createFetchWorker<ClaimedFeed>({
    ...{ clock, log, subject: 'feeds of lists' },
    ...(pollMs === undefined ? {} : { pollMs }),
    isDue: (now) => store.latest.listFeeds.isDue(now),
    claim: (claiming) => store.write((tx) => tx.listFeeds.claim(claiming)),
    attempt: (claimed, signals) => attempt(options, claimed, signals),
  });
}

/** Fetches one feed and stores what follows. @throws StoreFault */
async function attempt(
  options: FeedWorkerOptions,
  claimed: ClaimedFeed,
  { ending, stopping }: FetchSignals,
): Promise<void> {
  const { store, clock, log } = options;
  const row = await store.latest.lists.byId(claimed.list_id);
  if (row === null || row.feed === null) return;
  const outcome = await outcomeFor(options, { claimed, row, ending });
  if (stopping.aborted && outcome.kind === 'failed') {
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
async function outcomeFor(
  options: FeedWorkerOptions,
  { claimed, row, ending }: Attempt,
): Promise<FeedOutcome> {
  const { special, lookupFor, fetchMs = FETCH_MS } = options;
  const { url, format, path, auth_header } = settingsOf(row.feed!);
  const { etag, last_modified, accept_shrink } = stateOf(row.feed_state!);
  const header = auth_header ? headerOf(options, claimed, url) : null;
  if (auth_header && header === null)
    return unreachable(
      'the header cannot be decrypted, since the server has another secrets key; write it again',
    );
  const known =
    accept_shrink === true ? {} : { ...(etag && { etag }), ...(last_modified && { last_modified }) };
  const tools = { special, lookup: lookupFor(claimed.account_id) };
  const question = { ...FEEDS, url, header, ...known };
  const fetched = await fetchInTime(question, tools, { ms: fetchMs, signal: ending });
  if (fetched.kind !== 'content') return fetched;
  const body = { octets: fetched.octets, format, of: row.kind, ...(path === undefined ? {} : { path }) };
  try {
    return outcomeOf(fetched, await options.read(claimed.account_id, body));
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    return unreachable(`the content could not be read: ${(error as Error).message}`);
  }
}

function unreachable(reason: string): FeedOutcome {
  return { kind: 'failed', code: 'unreachable', reason };
}

/** The header of a feed; `null`: it cannot be decrypted. */
function headerOf(
  { ring, log }: FeedWorkerOptions,
  { list_id, sealed_header }: ClaimedFeed,
  url: string,
): string | null {
  if (ring === null || sealed_header === null) return null;
  try {
    return openHeader(sealed_header, { list: list_id, url }, ring);
  } catch (error) {
    if (!(error instanceof SecretsKeyFault)) throw error;
    log.warn({ err: error }, 'feeds of lists: the secrets key cannot be used');
    return null;
  }
}
