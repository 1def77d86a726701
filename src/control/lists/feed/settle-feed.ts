/**
 * What follows a fetch, in one transaction: the entries are replaced and the domains that the rules of the list reach are published, or
 * the last good content stays and the people of the list are notified; the state says which.
 */
import { timeText } from '../../../base/text/time.ts';
import { notify } from '../../notices/notify.ts';
import type { ReachedDomain } from '../../store/repositories/list-uses.ts';
import type { Store, WriteTransaction } from '../../store/store.ts';
import { SERVICE } from '../../store/tables/accounts.ts';
import type { ClaimedFeed, ListRow } from '../../store/tables/lists.ts';
import { judgeSize } from '../judge-size.ts';
import {
  FAILURES_NOTICED,
  LONGEST_WAIT_MS,
  MAX_DOUBLINGS,
  MAX_REASON_CHARACTERS,
  SHRINK_FROM,
  SPREAD,
} from './limits.ts';
import type { ReadFeedBody } from './read-feed.ts';
import { type FeedError, type FeedSettings, type ListFeedState, settingsOf, stateOf } from './settings.ts';

/** What a fetch has found. */
export type FeedOutcome =
  | { readonly kind: 'same' }
  | { readonly kind: 'failed'; readonly code: FeedError; readonly reason: string }
  | ({ readonly kind: 'content'; readonly read: Extract<ReadFeedBody, { packed: unknown }> } & Pick<
      ListFeedState,
      'etag' | 'last_modified'
    >);

/** A fetch that has ended. */
export interface EndedFetch {
  readonly claimed: ClaimedFeed;
  /** The row before the fetch. */
  readonly row: ListRow;
  readonly outcome: FeedOutcome;
  readonly now: number;
}

/** How a fetch was settled; `void`: the list or its feed has changed meanwhile. */
export type SettledFetch = 'applied' | 'same' | 'refused' | 'void';

/** New content that the list must not have; the transaction that would have stored it is undone. */
class FeedRefused extends Error {
  readonly code: FeedError;
  constructor(code: FeedError, reason: string) {
    super(reason);
    this.name = 'FeedRefused';
    this.code = code;
  }
}

/** The outcome of content that was read. */
export function outcomeOf(
  { etag, last_modified }: Pick<ListFeedState, 'etag' | 'last_modified'>,
  read: ReadFeedBody,
): FeedOutcome {
  if ('reason' in read) return { kind: 'failed', ...read };
  return {
    kind: 'content',
    read,
    ...(etag === undefined ? {} : { etag }),
    ...(last_modified === undefined ? {} : { last_modified }),
  };
}

/** Stores what follows. @throws StoreFault */
export async function settleFeed(store: Store, ended: EndedFetch): Promise<SettledFetch> {
  try {
    return await store.write((tx) => settle(tx, ended));
  } catch (error) {
    if (!(error instanceof FeedRefused)) throw error;
    const outcome = { kind: 'failed', code: error.code, reason: error.message } as const;
    return store.write((tx) => settle(tx, { ...ended, outcome }));
  }
}

/** @throws FeedRefused */
async function settle(
  tx: WriteTransaction,
  { claimed, row, now, ...ended }: EndedFetch,
): Promise<SettledFetch> {
  // The domains first, as writes of rules lock them before the lists that they name.
  const reached = await tx.lists.reached(row);
  const current = await tx.lists.get(row, row.name);
  if (current === null || current.id !== row.id || current.feed === null || current.feed !== row.feed)
    return 'void';
  const [settings, before] = [settingsOf(current.feed), stateOf(current.feed_state!)];
  const outcome = ended.outcome.kind === 'same' && before.digest === undefined ? UNASKED : ended.outcome;
  if (outcome.kind === 'failed') {
    const state = failedState(before, outcome, { settings, now });
    if (!(await endFetch(tx, claimed, state))) return 'void';
    if (state.noticed !== before.noticed)
      await notifyRefused(tx, { list: current, settings, ...outcome, now });
    return 'refused';
  }
  const isNew = outcome.kind === 'content' && outcome.read.digest !== before.digest;
  const state = goodState(before, outcome, { settings, now });
  if (!(await endFetch(tx, claimed, state))) return 'void';
  if (!isNew) return 'same';
  const { read } = outcome;
  const reason = before.accept_shrink === true ? null : shrinkReason(current.entries, read.count);
  if (reason !== null) throw new FeedRefused('shrunk', reason);
  const after = (await tx.lists.replaceEntries(current.id, read.packed, now))!;
  const problem = await judgeSize(tx, after, current);
  if (problem !== null) throw new FeedRefused('over_limits', problem);
  await record(tx, { before: current, after, reached, now });
  return 'applied';
}

/** A server says that nothing has changed, and was not asked. */
const UNASKED: FeedOutcome = {
  kind: 'failed',
  code: 'unreachable',
  reason: 'the server answered 304 to a request without conditions',
};

/** Why the new entries are too few; `null`: they are not. */
function shrinkReason(present: number, given: number): string | null {
  const most = present >= SHRINK_FROM ? Math.ceil(present / 2) : Math.min(present, 1);
  if (given >= most) return null;
  return `${given} entries in place of ${present}, ${given === 0 ? 'none at all' : 'fewer than half'}`;
}

interface Next {
  readonly settings: FeedSettings;
  readonly now: number;
}

/** When the next fetch is: later with each failure. */
function nextAt(failures: number, { settings, now }: Next): number {
  const every = settings.every_min * 60_000;
  const doubled = every * 2 ** Math.min(Math.max(0, failures - 1), MAX_DOUBLINGS);
  const wait = Math.max(every, Math.min(doubled, LONGEST_WAIT_MS));
  return Math.round(now + wait * (1 + SPREAD * Math.random()));
}

function goodState(
  before: ListFeedState,
  outcome: Exclude<FeedOutcome, { kind: 'failed' }>,
  next: Next,
): ListFeedState {
  const { etag, last_modified, digest } =
    outcome.kind === 'same' ? before : { ...outcome, digest: outcome.read.digest };
  return {
    attempted_at: next.now,
    succeeded_at: next.now,
    next_at: nextAt(0, next),
    failures: 0,
    ...(etag === undefined ? {} : { etag }),
    ...(last_modified === undefined ? {} : { last_modified }),
    ...(digest === undefined ? {} : { digest }),
  };
}

function failedState(
  before: ListFeedState,
  { code, reason }: Extract<FeedOutcome, { kind: 'failed' }>,
  next: Next,
): ListFeedState {
  const failures = before.failures + 1;
  // An outage passes by itself; content that is refused does not.
  const isNoticed = code !== 'unreachable' || failures >= FAILURES_NOTICED;
  return {
    ...before,
    attempted_at: next.now,
    next_at: nextAt(failures, next),
    failures,
    error: { code, reason: reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed(), at: next.now },
    ...(isNoticed ? { noticed: code } : {}),
  };
}

function endFetch(tx: WriteTransaction, claimed: ClaimedFeed, state: ListFeedState): Promise<boolean> {
  const { list_id, claim } = claimed;
  return tx.listFeeds.end({ list_id, claim }, { feed_state: JSON.stringify(state), due_at: state.next_at });
}

interface Refused extends Next {
  readonly list: ListRow;
  readonly code: FeedError;
  readonly reason: string;
}

async function notifyRefused(
  tx: WriteTransaction,
  { list, settings, code, reason, now }: Refused,
): Promise<void> {
  const domain = list.domain_id === null ? null : await tx.domains.get(list.domain_id);
  const data = {
    list: list.name,
    host: new URL(settings.url).host,
    code,
    reason: reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed(),
    entry_count: list.entries,
  };
  const whose = list.account_id === null ? {} : { account_id: list.account_id };
  await notify(tx, { kind: 'list.refused', data, domain, ...whose, now });
}

interface Applied {
  readonly before: ListRow;
  readonly after: ListRow;
  readonly reached: readonly ReachedDomain[];
  readonly now: number;
}

/** Audits the change, that of an account's list at each domain that it reaches, and publishes it there. */
async function record(tx: WriteTransaction, { before, after, reached, now }: Applied): Promise<void> {
  const own = after.domain_id === null ? null : await tx.domains.get(after.domain_id);
  const domains = own === null ? reached : [own];
  const entry = {
    ...SERVICE,
    at: now,
    action: 'list.replace',
    subject: `list/${after.name}`,
    before_json: JSON.stringify(auditedFields(before)),
    after_json: JSON.stringify(auditedFields(after)),
  };
  await tx.audit.append(...domains.map(({ id, name }) => ({ ...entry, domain_id: id, domain: name })));
  await tx.outbox.appendLists(reached, {
    ...SERVICE,
    at: now,
    reason: `list \`@${after.name}\` read from its feed`,
  });
}

function auditedFields({ name, kind, entries, octets, version, updated_at }: ListRow): object {
  return { name, kind, entry_count: entries, octets, version, updated_at: timeText(updated_at) };
}
