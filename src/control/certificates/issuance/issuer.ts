/**
 * Obtains and renews certificates, regularly: requests them for names that no certificate covers, asks for renewal windows,
 * and runs what is due. Several processes share the work by claims. A name that fails does not delay the others: it has a
 * time of its own for the next attempt, and accounts have turns.
 */
import { randomInt, X509Certificate } from 'node:crypto';
import type { LookupFunction } from 'node:net';
import type { Agent } from 'undici';
import { pause, retryMs, withDeadline } from '../../../base/platform/tasks.ts';
import { isStoreFault } from '../../../base/storage/fault.ts';
import type { ServerAddress } from '../../dns/server-address.ts';
import type { OrderAllowance } from '../../store/repositories/issuance.ts';
import type { ClaimedOrder } from '../../store/tables/certificates.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import type { RecordRow } from '../../store/tables/rules.ts';
import { SecretsKeyFault } from '../key-ring.ts';
import {
  ALLOWANCE_MS,
  CA_AWAY_RETRY,
  CHALLENGE_MS,
  CLAIM_MS,
  ISSUER_POLL_MS,
  LIMITED_IN_ROW,
  LONGEST_PAUSE_MS,
  ORDER_MS,
  ORDERS_AT_ONCE,
  SWEEP_MS,
} from '../limits.ts';
import { type Authority, type AuthorityOptions, createAuthority, readCertificateId } from './authority.ts';
import { CaFault, createCaConnections, withCa } from './ca-transport.ts';
import { type NameFacts, nameFacts, whyNotOrderable } from './names.ts';
import { askWindows } from './renewal.ts';
import { createSurvey, hasZone, type NameSurvey } from './request.ts';
import {
  createAccountShares,
  OrderFault,
  type OrderOutcome,
  type OrderTools,
  runOrder,
} from './run-order.ts';
import {
  type EndedOrder,
  storeFailed,
  storeIssued,
  storeRefused,
  storeUnneeded,
  storeWait,
} from './settle.ts';
import { createSolver } from './solver.ts';

/** Writes lines about certificates. */
export interface IssuerLog {
  info(fields: object, message: string): void;
  warn(fields: object, message: string): void;
}

export interface IssuerOptions extends AuthorityOptions {
  /** The name servers that answer from our zones; `null`: this server serves no zones. */
  readonly nameservers: readonly ServerAddress[] | null;
  /** Orders in three hours, at most. */
  readonly orders: number;
  readonly log: IssuerLog;
  /** Resolves the name of the CA. */
  readonly lookup: LookupFunction;
  /** Receives each certificate and each failure, for metrics. */
  readonly onOutcome?: (outcome: 'issued' | 'refused' | 'failed') => void;
  /** Milliseconds for tokens to reach the nodes; for tests. */
  readonly nodesMs?: number;
}

/** Obtains certificates. */
export interface Issuer {
  start(): void;
  /** Ends the requests to the CA; resolves once nothing runs. What was under way is continued after the next start. */
  stop(): Promise<void>;
  /** One pass: resolves once nothing is due that can be claimed. Never rejects. */
  pass(): Promise<void>;
}

interface State extends IssuerOptions {
  readonly authority: Authority;
  readonly tools: OrderTools;
  readonly survey: NameSurvey;
  readonly stopping: AbortController;
  readonly connections: Agent;
  readonly underWay: Map<number, ClaimedOrder>;
  /** Aborts when a certificate was requested, or another process has changed one. */
  woken: AbortController;
  /** Requests in a row that the CA did not answer, and answers in a row that named a rate limit. */
  faults: number;
  limited: number;
  /** No order begins before this. */
  awayUntil: number;
  /** No renewal window is asked for before this. */
  askAgainAt: number;
  /** When left-over challenges were removed. */
  sweptAt: number;
}

export function createIssuer(options: IssuerOptions): Issuer {
  const state = stateOf(options);
  const { stopping, store } = state;
  let running: Promise<void> = Promise.resolve();
  let unlisten = (): void => undefined;
  const loop = async (): Promise<void> => {
    while (!stopping.signal.aborted) {
      state.woken = new AbortController();
      await passOnce(state);
      // At another moment in each process, so that one of them finds the work and the others find it done.
      await pause(ISSUER_POLL_MS * (0.75 + Math.random() / 2), stopping.signal, state.woken.signal);
    }
  };
  return {
    start() {
      unlisten = store.listen((change) => {
        if (change === 'certificates') state.woken.abort();
      });
      running = loop();
    },
    async stop() {
      stopping.abort();
      unlisten();
      await running;
      await state.connections.destroy();
    },
    pass: () => passOnce(state),
  };
}

function stateOf(options: IssuerOptions): State {
  const { store, ring, clock, directory, nameservers, orders, nodesMs } = options;
  const authority = createAuthority(options);
  const zones = nameservers !== null;
  const solver = createSolver({
    ...{ store, clock, nameservers: nameservers ?? [] },
    ...(nodesMs === undefined ? {} : { nodesMs }),
  });
  const allowance = allowanceOf(orders);
  const shares = createAccountShares(allowance, clock);
  return {
    ...options,
    authority,
    tools: { store, ring, authority, solver, directory, allowance, shares, clock },
    survey: createSurvey({ store, zones, clock }),
    stopping: new AbortController(),
    connections: createCaConnections(options.lookup),
    underWay: new Map(),
    woken: new AbortController(),
    ...{ faults: 0, limited: 0, awayUntil: 0, askAgainAt: 0, sweptAt: Number.NEGATIVE_INFINITY },
  };
}

/** Half of the orders at once and the others evenly over the time, so that no window of that length has more. */
function allowanceOf(orders: number): OrderAllowance {
  const burst = Math.max(1, Math.floor(orders / 2));
  const everyMs = Math.ceil(ALLOWANCE_MS / Math.max(1, orders - burst));
  return { everyMs, burst, longestPauseMs: LONGEST_PAUSE_MS };
}

async function passOnce(state: State): Promise<void> {
  const { survey, clock, log, stopping, connections } = state;
  const scope = { signal: stopping.signal, clock, dispatcher: connections };
  try {
    await sweep(state);
    await survey.run();
    if (isAway(state)) return;
    await withCa(scope, () => askAll(state));
    await withCa(scope, () => runDue(state));
  } catch (error) {
    if (isStoreFault(error, 'closed') || stopping.signal.aborted) return;
    if (error instanceof CaFault) noteFault(state, error);
    log.warn({ err: error }, 'certificates are not obtained now; will retry');
  }
}

/** A later end was noted when this clock was ahead. */
function isAway({ awayUntil, clock }: State): boolean {
  const now = clock();
  return now < awayUntil && awayUntil <= now + CA_AWAY_RETRY.last;
}

/**
 * Asks for renewal windows. Certificates are renewed without them as well, so a fault here delays the next questions and no
 * order. @throws StoreFault
 */
async function askAll(state: State): Promise<void> {
  const { clock, log, stopping } = state;
  const now = clock();
  if (now < state.askAgainAt && state.askAgainAt <= now + CA_AWAY_RETRY.last) return;
  try {
    await askWindows(state);
  } catch (error) {
    if (!(error instanceof CaFault) || stopping.signal.aborted) throw error;
    state.askAgainAt = clock() + CA_AWAY_RETRY.last;
    log.warn({ err: error }, 'renewal windows are not answered now; certificates are renewed as planned');
  }
}

/** Removes challenges that an ended process has left in zones. @throws StoreFault */
async function sweep(state: State): Promise<void> {
  const now = state.clock();
  if (now >= state.sweptAt && now - state.sweptAt < SWEEP_MS) return;
  state.sweptAt = now;
  await state.store.write((tx) => tx.zones.removeOldChallenges(now - CHALLENGE_MS));
}

/** Claims and runs orders until none is due. New domains and requests are found also while a slow order runs. */
async function runDue(state: State): Promise<void> {
  const { stopping, underWay, survey } = state;
  const renewing = setInterval(() => renewClaims(state), CLAIM_MS / 3);
  const running = new Set<Promise<void>>();
  try {
    while (!stopping.signal.aborted) {
      state.woken = new AbortController();
      const claimed = isAway(state) ? [] : await claim(state);
      for (const order of claimed) {
        underWay.set(order.certificate_id, order);
        const run = work(state, order).finally(() => {
          underWay.delete(order.certificate_id);
          running.delete(run);
        });
        running.add(run);
      }
      if (claimed.length > 0) continue;
      if (running.size === 0) return;
      const { woken } = state;
      await Promise.race([...running, pause(ISSUER_POLL_MS, stopping.signal, woken.signal)]);
      // Ends the timer.
      woken.abort();
      await survey.run();
    }
  } finally {
    await Promise.all(running);
    clearInterval(renewing);
  }
}

/** The places of an account are at most half of those that are free, so that a few accounts never have them all. */
async function claim({ store, clock, underWay }: State): Promise<readonly ClaimedOrder[]> {
  const free = ORDERS_AT_ONCE - underWay.size;
  if (free <= 0) return [];
  const now = clock();
  const perAccount = Math.max(1, Math.floor(free / 2));
  const claiming = { now, until: now + CLAIM_MS, claim: randomInt(1, 2 ** 47), limit: free, perAccount };
  return store.write((tx) => tx.issuance.claim(claiming));
}

function renewClaims({ store, underWay, clock, log }: State): void {
  store
    .write((tx) => tx.issuance.renew([...underWay.values()], clock() + CLAIM_MS))
    .catch((error: unknown) => {
      if (!isStoreFault(error, 'closed')) log.warn({ err: error }, 'claims of certificates not renewed');
    });
}

/** Works on a claimed order. Never rejects: what cannot be stored is claimed again when the claim lapses. */
async function work(state: State, order: ClaimedOrder): Promise<void> {
  const { store, log, stopping, clock } = state;
  try {
    const prepared = await prepare(state, order);
    if (prepared === null) return;
    await settle(state, prepared, await attempt(state, prepared));
  } catch (error) {
    if (isStoreFault(error, 'closed')) return;
    if (stopping.signal.aborted) {
      const ended = { order, names: [], now: clock() };
      // Without this the claim lapses by itself.
      await store.write((tx) => storeWait(tx, ended, order.due_at)).catch(() => undefined);
      return;
    }
    const known = error instanceof SecretsKeyFault ? { code: error.code } : {};
    log.warn(
      { certificate: order.certificate_id, ...known, err: error },
      'a certificate is not obtained now',
    );
  }
}

/** An order with what it needs. */
interface Prepared extends Omit<EndedOrder, 'now'> {
  readonly domain: Pick<DomainRow, 'id' | 'name' | 'user_id'>;
  readonly records: readonly RecordRow[];
  readonly facts: NameFacts;
  readonly replaces: string | null;
}

/** `null`: the order has nothing to do. Names that no node serves any more are left out. */
async function prepare(state: State, order: ClaimedOrder): Promise<Prepared | null> {
  const { store, nameservers, clock } = state;
  const found = await store.read(async (tx) => {
    const domain = await tx.domains.get(order.domain_id);
    if (domain === null) return null;
    const records = await tx.records.list(domain.id);
    const zone = nameservers !== null && (await hasZone(tx, domain));
    const rows = await tx.certificates.onFile(domain.id);
    return { domain, records, zone, row: rows.find(({ id }) => id === order.certificate_id) };
  });
  if (found === null || found.row === undefined) return null;
  const { domain, records, zone, row } = found;
  const facts = nameFacts(domain.name, records, zone);
  const all = JSON.parse(order.names_json) as string[];
  const names = all.filter((name) => whyNotOrderable(name, facts) === null);
  if (names.length === 0) {
    await store.write((tx) => storeUnneeded(tx, { order, names: all, now: clock() }));
    return null;
  }
  // An order under way has its own names: with others it would begin again.
  const isSame = names.length === all.length;
  const next = isSame ? order : { ...order, url: null, sealed_key: null };
  const replaces = row.chain === null ? null : readCertificateId(new X509Certificate(row.chain));
  return { order: next, names, domain, records, facts, replaces };
}

function attempt(state: State, prepared: Prepared): Promise<OrderOutcome | CaFault | OrderFault> {
  return withDeadline(ORDER_MS, state.stopping.signal, (signal) => attemptWithin(state, prepared, signal));
}

async function attemptWithin(
  state: State,
  { order, names, domain, records, facts, replaces: renewed }: Prepared,
  signal: AbortSignal,
): Promise<OrderOutcome | CaFault | OrderFault> {
  const place = { domain, records, zone: facts.zone };
  try {
    const replaces = (await state.authority.hasWindows()) ? renewed : null;
    const outcome = await runOrder(state.tools, {
      ...{ order, place, names, replaces, signal },
      account: domain.user_id,
    });
    state.faults = 0;
    state.limited = 0;
    return outcome;
  } catch (error) {
    if (state.stopping.signal.aborted) throw error;
    if (signal.aborted) return new OrderFault(`the CA did not finish within ${ORDER_MS / 1_000} s`, true);
    if (!(error instanceof CaFault) && !(error instanceof OrderFault)) throw error;
    return error;
  }
}

async function settle(
  state: State,
  { order, names, domain }: Prepared,
  outcome: OrderOutcome | CaFault | OrderFault,
): Promise<void> {
  const { store, ring, clock, log, onOutcome } = state;
  const ended: EndedOrder = { order, names, now: clock() };
  const fields = { domain: domain.name, certificate: order.certificate_id, names };
  if (outcome instanceof Error) {
    if (outcome instanceof CaFault) noteFault(state, outcome);
    const isFault = outcome instanceof CaFault;
    const transient = outcome.isTransient || (isFault && outcome.isRateLimit);
    const retryAfterMs = isFault ? outcome.retryAfterMs : null;
    const failure = { reason: outcome.message, transient, retryAfterMs };
    await store.write((tx) => storeFailed(tx, ended, failure));
    log.warn({ ...fields, err: outcome }, 'a certificate was not obtained');
    onOutcome?.('failed');
    return;
  }
  switch (outcome.kind) {
    case 'issued': {
      const { certificate } = outcome;
      const isStored = await store.write((tx) => storeIssued(tx, ended, { certificate, ring }));
      if (!isStored) return;
      log.info({ ...fields, not_after: new Date(certificate.not_after) }, 'a certificate was obtained');
      onOutcome?.('issued');
      return;
    }
    case 'refused':
      await store.write((tx) => storeRefused(tx, ended, outcome.names));
      log.warn({ ...fields, refused: Object.fromEntries(outcome.names) }, 'the CA has refused names');
      onOutcome?.('refused');
      return;
    case 'waits':
      await store.write((tx) => storeWait(tx, ended, outcome.until));
      return;
    case 'passed':
      return;
    default:
      outcome satisfies never;
  }
}

/** What a fault says of the CA as a whole: it is away, or the account has reached a limit. */
function noteFault(state: State, fault: CaFault): void {
  const { authority, store, directory, clock, log } = state;
  if (fault.type === 'accountDoesNotExist') authority.forget();
  if (fault.isTransient) {
    state.awayUntil = clock() + retryMs(state.faults, CA_AWAY_RETRY);
    state.faults += 1;
  }
  if (!fault.isRateLimit) return;
  state.limited += 1;
  if (state.limited < LIMITED_IN_ROW) return;
  const until = clock() + Math.min(fault.retryAfterMs ?? CA_AWAY_RETRY.last, LONGEST_PAUSE_MS);
  log.warn({ until: new Date(until), err: fault }, 'the CA limits this account: orders wait');
  store
    .write((tx) => tx.issuance.pause(directory, until))
    .catch((error: unknown) => log.warn({ err: error }, 'the pause of the account was not stored'));
}
