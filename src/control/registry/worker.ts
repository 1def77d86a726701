/**
 * Fetches the keys of token issuers that are due, as feeds of lists are fetched: special addresses are refused after each resolution,
 * and redirects lead to https alone.
 */
import type { LookupFunction } from 'node:net';
import type { SpecialJudge } from '../../base/addresses/special-addresses.ts';
import { type FetchedKind, fetchInTime } from '../lists/feed/fetch-feed.ts';
import { createFetchWorker, type FetchSignals, type FetchWorker } from '../lists/feed/fetch-worker.ts';
import { FETCH_MS } from '../lists/feed/limits.ts';
import { fetchedKeysOf, tokenIssuerOf } from '../publishing/plan-registry.ts';
import type { Store } from '../store/store.ts';
import type { ClaimedIssuer } from '../store/tables/registry.ts';
import { MAX_KEY_SET_OCTETS } from './limits.ts';
import { settleKeys } from './settle-keys.ts';

/** What a worker is created with. */
export interface KeyWorkerOptions {
  readonly store: Store;
  readonly special: SpecialJudge;
  /** Resolves names that an account has chosen. */
  readonly lookupFor: (account: number) => LookupFunction;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: { info(fields: object, message: string): void; warn(fields: object, message: string): void };
  /** CAs to trust, in PEM; absent: those of Node. */
  readonly ca?: string;
  /** Milliseconds between two looks. Default: as of feeds. */
  readonly pollMs?: number;
  /** Milliseconds of one fetch. Default: `FETCH_MS`. */
  readonly fetchMs?: number;
}

/** What is asked for. */
const KEY_SETS: FetchedKind = {
  agent: 'edgeplan-keys',
  accept: 'application/jwk-set+json, application/json',
  most: MAX_KEY_SET_OCTETS,
};

/** Creates a worker. */
export function createKeyWorker(options: KeyWorkerOptions): FetchWorker {
  const { store, clock, log, pollMs } = options;
  return createFetchWorker<ClaimedIssuer>({
    ...{ clock, log, subject: 'keys of token issuers' },
    ...(pollMs === undefined ? {} : { pollMs }),
    isDue: (now) => store.latest.issuerFetches.isDue(now),
    claim: (claiming) => store.write((tx) => tx.issuerFetches.claim(claiming)),
    attempt: (claimed, signals) => attempt(options, claimed, signals),
  });
}

/** Fetches the keys of one issuer and stores what follows. @throws StoreFault */
async function attempt(
  { store, clock, log, special, lookupFor, ca, fetchMs = FETCH_MS }: KeyWorkerOptions,
  claimed: ClaimedIssuer,
  { ending, stopping }: FetchSignals,
): Promise<void> {
  const row = await store.latest.tokenIssuers.byId(claimed.issuer_id);
  const state = row === null ? null : fetchedKeysOf(row);
  if (row === null || state === null) return;
  const { jwks_url: url } = tokenIssuerOf(row);
  const { etag, last_modified } = state;
  const question = {
    ...KEY_SETS,
    url: url!,
    header: null,
    ...(etag === undefined ? {} : { etag }),
    ...(last_modified === undefined ? {} : { last_modified }),
  };
  const tools = { special, lookup: lookupFor(claimed.account_id), ...(ca === undefined ? {} : { ca }) };
  const fetched = await fetchInTime(question, tools, { ms: fetchMs, signal: ending });
  if (stopping.aborted && fetched.kind === 'failed') {
    await store.write((tx) => tx.issuerFetches.end(claimed, clock()));
    return;
  }
  const settled = await settleKeys(store, { claimed, row, fetched, now: clock() });
  const fields = { domain_id: row.domain_id, token_issuer: row.name, account_id: claimed.account_id };
  if (settled === 'applied') log.info(fields, 'keys of a token issuer fetched');
  if (settled === 'failed')
    log.warn(fields, 'keys of a token issuer not fetched; those before stay in force');
}
