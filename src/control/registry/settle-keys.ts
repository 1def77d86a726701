/**
 * What follows a fetch of keys, in one transaction: the keys in force are replaced and the registry of the domain is published, or the
 * last good ones stay, and an outage is notified of once; the state says which.
 */
import { timeText } from '../../base/text/time.ts';
import type { FetchedFeed } from '../lists/feed/fetch-feed.ts';
import { notify } from '../notices/notify.ts';
import { type FetchedKeys, fetchedKeysOf, tokenIssuerOf } from '../publishing/plan-registry.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import { SERVICE } from '../store/tables/accounts.ts';
import type { ClaimedIssuer, TokenIssuerRow } from '../store/tables/registry.ts';
import {
  FAILURES_NOTICED,
  LONGEST_MS,
  MAX_REASON_CHARACTERS,
  OUTAGE_NOTICED_MS,
  SHORTEST_MS,
  SPREAD,
  USUAL_MS,
} from './limits.ts';
import { readKeys } from './read-keys.ts';

/** A fetch that has ended. */
export interface EndedKeyFetch {
  readonly claimed: ClaimedIssuer;
  /** The row before the fetch. */
  readonly row: TokenIssuerRow;
  readonly fetched: FetchedFeed;
  readonly now: number;
}

/** How it was settled; `void`: the issuer has changed meanwhile. */
export type SettledKeys = 'applied' | 'same' | 'failed' | 'void';

/** Stores what follows. @throws StoreFault */
export function settleKeys(store: Pick<Store, 'write'>, ended: EndedKeyFetch): Promise<SettledKeys> {
  return store.write((tx) => settle(tx, ended));
}

async function settle(
  tx: WriteTransaction,
  { claimed, row, fetched, now }: EndedKeyFetch,
): Promise<SettledKeys> {
  // Locks the domain, as writes of its registry do.
  const current = (await tx.tokenIssuers.list(row.domain_id)).find(({ id }) => id === row.id);
  const before = current === undefined ? null : fetchedKeysOf(current);
  if (current === undefined || before === null || current.body !== row.body) return 'void';
  const after = noticedState(stateAfter(before, fetched, { row, now }), current, now);
  if (!(await tx.issuerFetches.end(claimed, after.next_at))) return 'void';
  const changed = JSON.stringify(after.keys) !== JSON.stringify(before.keys);
  await tx.tokenIssuers.setKeys(current, { keys_state: JSON.stringify(after), changed });
  if (changed) await record(tx, { current, before, after, now });
  if (after.noticed === true && before.noticed !== true) await notifyFailed(tx, { current, after, now });
  if (after.error !== undefined) return 'failed';
  return changed ? 'applied' : 'same';
}

interface Fetched {
  readonly row: TokenIssuerRow;
  readonly now: number;
}

function stateAfter(before: FetchedKeys, fetched: FetchedFeed, { row, now }: Fetched): FetchedKeys {
  if (fetched.kind === 'failed') return failedState(before, fetched.reason, now);
  const next_at = nextAt(freshMs(fetched.caching), now);
  if (fetched.kind === 'same') {
    if (before.fetched_at === null)
      return failedState(before, 'the server answered 304 to a request without conditions', now);
    const { error: _, noticed: _noticed, ...state } = before;
    return { ...state, fetched_at: now, next_at, failures: 0 };
  }
  const read = readKeys(fetched.octets, tokenIssuerOf(row).algorithms);
  if ('reason' in read) return failedState(before, read.reason, now);
  const { etag, last_modified } = fetched;
  return {
    ...read,
    fetched_at: now,
    next_at,
    failures: 0,
    ...(etag === undefined ? {} : { etag }),
    ...(last_modified === undefined ? {} : { last_modified }),
  };
}

/** The keys in force stay; fetches become rarer with each failure. */
function failedState(before: FetchedKeys, reason: string, now: number): FetchedKeys {
  const failures = before.failures + 1;
  const wait = Math.min(SHORTEST_MS * 2 ** Math.min(failures - 1, 10), USUAL_MS);
  const error = { reason: reason.slice(0, MAX_REASON_CHARACTERS).toWellFormed(), at: now };
  return { ...before, failures, next_at: nextAt(wait, now), error };
}

/** The state with the mark of an outage that is notified of: several failures, and no good fetch for a while. */
function noticedState(
  state: FetchedKeys,
  { updated_at }: Pick<TokenIssuerRow, 'updated_at'>,
  now: number,
): FetchedKeys {
  const since = state.fetched_at ?? updated_at;
  const isNoticed = state.failures >= FAILURES_NOTICED && now - since > OUTAGE_NOTICED_MS;
  return isNoticed ? { ...state, noticed: true } : state;
}

function nextAt(wait: number, now: number): number {
  return Math.round(now + wait * (1 + SPREAD * Math.random()));
}

/** Milliseconds for which an answer is fresh by its `Cache-Control` (RFC 9111 §5.2.2), within the bounds. */
export function freshMs(caching: string | null): number {
  if (caching === null) return USUAL_MS;
  const directives = caching
    .toLowerCase()
    .split(',')
    .map((directive) => directive.trim());
  if (directives.some((directive) => directive === 'no-store' || directive.startsWith('no-cache')))
    return SHORTEST_MS;
  const age = directives.find((directive) => directive.startsWith('max-age='))?.slice('max-age='.length);
  if (age === undefined || !/^"?\d{1,10}"?$/.test(age)) return USUAL_MS;
  return Math.min(LONGEST_MS, Math.max(SHORTEST_MS, Number(age.replaceAll('"', '')) * 1_000));
}

interface Applied {
  readonly current: TokenIssuerRow;
  readonly before: FetchedKeys;
  readonly after: FetchedKeys;
  readonly now: number;
}

/** Audits other keys, and publishes the registry that has them. */
async function record(tx: WriteTransaction, { current, before, after, now }: Applied): Promise<void> {
  const domain = await tx.domains.get(current.domain_id);
  if (domain === null) return;
  const kids = ({ keys }: FetchedKeys): string =>
    JSON.stringify({ name: current.name, kids: keys.map(({ kid = null }) => kid) });
  await tx.audit.append({
    ...SERVICE,
    domain_id: domain.id,
    domain: domain.name,
    at: now,
    action: 'token_issuer.keys',
    subject: `token_issuer/${current.id}`,
    before_json: kids(before),
    after_json: kids(after),
  });
  const reason = `keys of token issuer \`${current.name}\` fetched`;
  await tx.outbox.appendLists([{ id: domain.id, name: domain.name }], { ...SERVICE, at: now, reason });
}

/** Notifies the people of the domain of an outage. */
async function notifyFailed(
  tx: WriteTransaction,
  { current, after, now }: Omit<Applied, 'before'>,
): Promise<void> {
  const domain = await tx.domains.get(current.domain_id);
  if (domain === null) return;
  const { fetched_at, failures, keys, error } = after;
  const data = {
    token_issuer: current.name,
    host: new URL(tokenIssuerOf(current).jwks_url!).host,
    reason: error?.reason ?? '',
    failures,
    fetched_at: fetched_at === null ? null : timeText(fetched_at),
    key_count: keys.length,
  };
  await notify(tx, { kind: 'token_issuer.failed', data, domain, now });
}
