/**
 * One order at the CA, from its beginning or from where an ended process left it (RFC 8555 §7.1.6): its address and its
 * encrypted key are stored before anything is proved, so that a certificate is not ordered twice. In: a claimed order. Out:
 * the certificate, or why it was not issued. Only the order's address is stored, and challenges while they last.
 */
import { X509Certificate } from 'node:crypto';
import acme from 'acme-client';
import { backoffMs, pause } from '../../../base/platform/tasks.ts';
import type { OrderAllowance } from '../../store/repositories/issuance.ts';
import type { Store } from '../../store/store.ts';
import type { ClaimedOrder } from '../../store/tables/certificates.ts';
import { judgeUpload, type UsableCertificate } from '../judge.ts';
import type { KeyRing } from '../key-ring.ts';
import { FIRST_POLL_MS, LAST_POLL_MS, MAX_COUNTED_ACCOUNTS, USUAL_SHARE } from '../limits.ts';
import type { Authority } from './authority.ts';
import { CaFault, reasonText } from './ca-transport.ts';
import { challengeOwner, inOrder } from './names.ts';
import { openOrderKey, sealOrderKey } from './sealed-keys.ts';
import type { ChallengePlace, PlacedChallenge, Solver } from './solver.ts';

/** What orders are run with. */
export interface OrderTools {
  readonly store: Store;
  readonly ring: KeyRing;
  readonly authority: Authority;
  readonly solver: Solver;
  readonly directory: string;
  readonly allowance: OrderAllowance;
  readonly shares: AccountShares;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** An order to run. */
export interface OrderTask {
  readonly order: ClaimedOrder;
  /** Whose domain it is for. */
  readonly account: number;
  readonly place: ChallengePlace;
  readonly names: readonly string[];
  /** The identifier of the certificate that is renewed (RFC 9773 §5); `null`: none is. */
  readonly replaces: string | null;
  /** Ends the work. */
  readonly signal: AbortSignal;
}

/** What an order has come to. */
export type OrderOutcome =
  | { readonly kind: 'issued'; readonly certificate: UsableCertificate }
  /** The CA issues nothing for these names: the reasons. */
  | { readonly kind: 'refused'; readonly names: ReadonlyMap<string, string> }
  /** The account has no order left before a time. */
  | { readonly kind: 'waits'; readonly until: number }
  /** Another process works on the order, or it was removed. */
  | { readonly kind: 'passed' };

/** The order failed as a whole: at the CA, or here. */
export class OrderFault extends Error {
  /** Whether the same order may succeed when it is continued. */
  readonly isTransient: boolean;
  constructor(message: string, isTransient = false) {
    super(message);
    this.isTransient = isTransient;
    this.name = 'OrderFault';
  }
}

/** An order as the CA answers it. */
type CaOrder = acme.Order;

/** An order with its private key, PEM. */
interface OpenOrder {
  readonly order: CaOrder;
  readonly key: string;
}

/** Runs an order. @throws CaFault, OrderFault, StoreFault, SecretsKeyFault */
export async function runOrder(tools: OrderTools, task: OrderTask): Promise<OrderOutcome> {
  const client = await tools.authority.client();
  const opened = (await resume(client, tools, task)) ?? (await begin(client, tools, task));
  if ('kind' in opened) return opened;
  const { key } = opened;
  let { order } = opened;
  if (order.status === 'pending') {
    const refused = await prove(client, order, { tools, task });
    if (refused.size > 0) return { kind: 'refused', names: refused };
    order = await client.getOrder(order);
  }
  const chain = await complete(client, { order, key }, task.signal);
  const { usable, diagnostics } = judgeUpload(
    { certificate: chain, key },
    { domain: task.place.domain.name, now: Date.parse(new X509Certificate(chain).validFrom) },
  );
  if (usable !== null) return { kind: 'issued', certificate: usable };
  const wrong = diagnostics.find(({ severity }) => severity === 'error');
  throw new OrderFault(`the CA issued a certificate that cannot be used: ${wrong?.message}`);
}

/** The order under way; `null`: none is, or the CA or the secrets key does not have it any more. */
async function resume(
  client: acme.Client,
  { ring, clock }: OrderTools,
  { order: { url, sealed_key, ...ids } }: OrderTask,
): Promise<OpenOrder | null> {
  if (url === null || sealed_key === null) return null;
  const key = openOrderKey({ ...ids, sealed_key }, ring);
  if (key === null) return null;
  try {
    const order = await client.getOrder({ url } as CaOrder);
    const isOver = order.status === 'invalid' || Date.parse(order.expires ?? '') <= clock();
    // A valid order has its certificate also after it has expired.
    return isOver && order.status !== 'valid' ? null : { order, key };
  } catch (error) {
    if (error instanceof CaFault && !error.isTransient && !error.isRateLimit) return null;
    throw error;
  }
}

async function begin(
  client: acme.Client,
  { store, ring, directory, allowance, shares, clock }: OrderTools,
  { order: { certificate_id, domain_id, claim }, account, names, replaces }: OrderTask,
): Promise<OpenOrder | OrderOutcome> {
  const spending = { ...allowance, now: clock(), reserved: shares.reservedFor(account) };
  const until = await store.write((tx) => tx.issuance.spend(directory, spending));
  if (until !== null) return { kind: 'waits', until };
  shares.ordered(account);
  const key = (await acme.crypto.createPrivateEcdsaKey()).toString();
  const order = await createOrder(client, names, replaces);
  if (order instanceof Map) return { kind: 'refused', names: order };
  const sealed_key = sealOrderKey({ certificate_id, domain_id }, key, ring);
  const isOurs = await store.write((tx) =>
    tx.issuance.begin({ certificate_id, claim }, { url: order.url, sealed_key }),
  );
  return isOurs ? { order, key } : { kind: 'passed' };
}

/** The new order; the reasons by name where the CA refuses names. @throws CaFault */
async function createOrder(
  client: acme.Client,
  names: readonly string[],
  replaces: string | null,
): Promise<CaOrder | Map<string, string>> {
  const identifiers = names.map((value) => ({ type: 'dns', value }));
  try {
    // The library sends further fields as they are.
    const fields = { identifiers, ...(replaces === null ? {} : { replaces }) };
    return await client.createOrder(fields);
  } catch (error) {
    if (!(error instanceof CaFault) || error.isTransient || error.isRateLimit) throw error;
    const refused = new Map(names.flatMap((name) => refusal(name, error)));
    if (refused.size > 0) return refused;
    // The CA has another order that replaces the certificate, or does not know it (RFC 9773 §5).
    if (replaces !== null) return createOrder(client, names, null);
    if (names.length === 1 && NAME_TYPES.has(error.type)) return new Map([[names[0]!, error.message]]);
    throw error;
  }
}

/** Types of problems that concern the names of an order (RFC 8555 §6.7). */
const NAME_TYPES: ReadonlySet<string> = new Set([
  'rejectedIdentifier',
  'unsupportedIdentifier',
  'caa',
  'dns',
]);

function refusal(name: string, { names }: CaFault): readonly (readonly [string, string])[] {
  const reason = names.get(name) ?? names.get(name.replace(/^\*\./, ''));
  return reason === undefined ? [] : [[name, reason]];
}

interface Proving {
  readonly tools: OrderTools;
  readonly task: OrderTask;
}

/** Proves the names of an order. Out: the reasons by name of those that cannot be proved. */
async function prove(
  client: acme.Client,
  order: CaOrder,
  { tools: { solver }, task: { place, signal } }: Proving,
): Promise<ReadonlyMap<string, string>> {
  const refused = new Map<string, string>();
  const authorizations = (await client.getAuthorizations(order)).filter((one) => {
    if (one.status === 'invalid') refused.set(nameOf(one), failureOf(one));
    return one.status === 'pending';
  });
  const open: { readonly challenge: PlacedChallenge; readonly theirs: CaChallenge; readonly url: string }[] =
    [];
  for (const authorization of authorizations) {
    const name = nameOf(authorization);
    const type = solver.choose(name, place);
    const theirs = authorization.challenges.find((one) => one.type === type);
    if (typeof type !== 'string') refused.set(name, type.reason);
    else if (theirs === undefined) refused.set(name, `the CA offers no ${type} challenge for it`);
    else {
      const answer = await client.getChallengeKeyAuthorization(theirs);
      const challenge = { type, name, token: theirs.token, answer };
      open.push({ challenge, theirs, url: authorization.url });
    }
  }
  const challenges = open.map(({ challenge }) => challenge);
  try {
    for (const [name, reason] of await solver.place(place, challenges, signal)) refused.set(name, reason);
    signal.throwIfAborted();
    const owners = new Set(challenges.map(({ name }) => challengeOwner(name)));
    await Promise.all(
      [...owners].map(async (owner) => {
        for (const { challenge, theirs, url } of open) {
          const { name } = challenge;
          if (challengeOwner(name) !== owner || refused.has(name)) continue;
          await client.completeChallenge(theirs);
          const reason = await awaitAuthorization(client, url, signal);
          if (reason === null) continue;
          // CAs count failures by name without `*.`: the wildcard would fail for the same reason and count again.
          for (const one of challenges) if (challengeOwner(one.name) === owner) refused.set(one.name, reason);
        }
      }),
    );
  } finally {
    await solver.remove(place, challenges);
  }
  return refused;
}

type CaChallenge = acme.Authorization['challenges'][number];

/** The name that an authorization is for; wildcards as `*.example.com`. */
function nameOf({ identifier, wildcard }: acme.Authorization): string {
  return wildcard === true ? `*.${identifier.value}` : identifier.value;
}

/** Why an authorization has failed. */
function failureOf({ challenges }: acme.Authorization): string {
  const errors = challenges.map((one) => reasonText((one as { readonly error?: unknown }).error));
  return errors.find((text) => text !== null) ?? 'the CA could not prove it and gives no reason';
}

/** Polls an authorization. Out: why it failed; `null`: it is valid. */
async function awaitAuthorization(
  client: acme.Client,
  url: string,
  signal: AbortSignal,
): Promise<string | null> {
  for (let polls = 0; ; polls += 1) {
    const [one] = await client.getAuthorizations({ authorizations: [url] } as unknown as CaOrder);
    if (one!.status === 'valid') return null;
    if (one!.status !== 'pending') return failureOf(one!);
    await waitToPoll(polls, signal);
  }
}

/** Sends the certificate's request and waits for the certificate. Out: its chain, PEM. */
async function complete(
  client: acme.Client,
  { order: begun, key }: OpenOrder,
  signal: AbortSignal,
): Promise<string> {
  let order = begun;
  let isSent = false;
  for (let polls = 0; ; polls += 1) {
    if (order.status === 'valid') return client.getCertificate(order);
    if (order.status === 'invalid') {
      const { error } = order as { readonly error?: unknown };
      throw new OrderFault(reasonText(error) ?? 'the CA ended the order and gives no reason');
    }
    if (order.status === 'ready' && !isSent) {
      // CAs answer identifiers in any order, and issue names in the order of the request.
      const altNames = [...inOrder(order.identifiers.map(({ value }) => value))];
      const [, csr] = await acme.crypto.createCsr({ altNames }, key);
      isSent = true;
      order = await client.finalizeOrder(order, csr);
      continue;
    }
    await waitToPoll(polls, signal);
    order = await client.getOrder(order);
  }
}

/** @throws the signal's reason when it aborts */
async function waitToPoll(polls: number, signal: AbortSignal): Promise<void> {
  await pause(backoffMs(polls, { first: FIRST_POLL_MS, last: LAST_POLL_MS }), signal);
  signal.throwIfAborted();
}

// How much of the allowance of orders is left to others: an account that has ordered much lately gets nothing of the last
// half. So a customer with many names, or one who requests again and again, delays nobody else. Counted in each process.

/** The orders of accounts. */
interface AccountShares {
  /** Orders of the allowance that an account leaves to others. */
  reservedFor(account: number): number;
  /** Counts an order. */
  ordered(account: number): void;
}

export function createAccountShares({ everyMs, burst }: OrderAllowance, clock: () => number): AccountShares {
  /** As the allowance itself: when the orders of an account would be made good, one in each `everyMs`. */
  const spentUntil = new Map<number, number>();
  return {
    reservedFor(account) {
      const orders = ((spentUntil.get(account) ?? 0) - clock()) / everyMs;
      return orders > burst * USUAL_SHARE ? Math.floor(burst / 2) : 0;
    },
    ordered(account) {
      const now = clock();
      const before = Math.min(spentUntil.get(account) ?? 0, now + burst * everyMs);
      // Moved to the end: those that ordered longest ago are forgotten first.
      spentUntil.delete(account);
      spentUntil.set(account, Math.max(before, now) + everyMs);
      const [oldest] = spentUntil.keys();
      if (spentUntil.size > MAX_COUNTED_ACCOUNTS && oldest !== undefined) spentUntil.delete(oldest);
    },
  };
}
