/** Writes what an order has come to: the certificate with its key, or the failure and the time of the next attempt. */
import { retryMs } from '../../../base/platform/tasks.ts';
import { notify } from '../../notices/notify.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { SERVICE } from '../../store/tables/accounts.ts';
import type { CertificateRow, ClaimedOrder } from '../../store/tables/certificates.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import type { UsableCertificate } from '../judge.ts';
import { type KeyRing, sealKey } from '../key-ring.ts';
import {
  FAILED_RETRY,
  LONGEST_PAUSE_MS,
  MAX_OBTAINED,
  MAX_ORDER_NAMES,
  MAX_REASON_CHARACTERS,
  NOTIFIED_AT,
  REFUSED_RETRY,
} from '../limits.ts';
import { renewSet } from '../make-set.ts';
import { showCertificate, stateAt } from '../shapes.ts';
import { inOrder } from './names.ts';
import { renewalTime } from './renewal.ts';
import { insertWanted } from './request.ts';

/** An order whose work has ended. */
export interface EndedOrder {
  readonly order: ClaimedOrder;
  /** The names that were ordered. */
  readonly names: readonly string[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The rows of an ended order; `null`: domain or certificate were removed meanwhile. */
interface Rows {
  readonly domain: DomainRow;
  readonly row: CertificateRow;
  readonly all: readonly CertificateRow[];
}

/** INVARIANT: the domain is locked before its orders, as in requests, or two transactions could wait for each other. */
async function rowsOf(tx: WriteTransaction, { order }: EndedOrder): Promise<Rows | null> {
  const domain = await tx.domains.get(order.domain_id);
  const all = domain === null ? [] : await tx.certificates.list(domain.id);
  const row = all.find(({ id }) => id === order.certificate_id);
  return domain === null || row === undefined ? null : { domain, row, all };
}

/** Stores a certificate, and gives it to nodes. False: the claim has passed on. @throws StoreFault, SecretsKeyFault */
export async function storeIssued(
  tx: WriteTransaction,
  ended: EndedOrder,
  { certificate, ring }: { readonly certificate: UsableCertificate; readonly ring: KeyRing },
): Promise<boolean> {
  const rows = await rowsOf(tx, ended);
  if (rows === null) return false;
  const { order, now } = ended;
  const { domain, row } = rows;
  const { chainPem, keyPem, names, issuer, key_type, sha256, not_before, not_after } = certificate;
  const due_at = renewalTime({ not_before, not_after }, Math.random());
  const next = { names_json: JSON.stringify(ended.names), due_at, failures: 0, continues: false };
  if (!(await tx.issuance.end(order, next))) return false;
  const filled = {
    ...{ id: row.id, domain_id: domain.id, names_json: JSON.stringify(names) },
    ...{ issuer, key_type, sha256, not_before, not_after, renew_at: due_at },
    ...{ chain: chainPem, sealed_key: sealKey(keyPem, { domain_id: domain.id, sha256 }, ring.current()) },
  };
  await tx.certificates.issue(filled);
  const { chain: _chain, sealed_key: _key, ...head } = filled;
  const after: CertificateRow = { ...row, ...head, status: 'active', error: '', noticed: '' };
  const action = row.status === 'active' ? 'certificate.renew' : 'certificate.issue';
  await audit(tx, { domain, before: row, after, action, now });
  const data = { names: [...names], issuer, not_after: new Date(not_after).toISOString() };
  await notify(tx, { kind: 'certificate.issued', data, domain, now });
  await renewSet(tx, domain, { ring, now });
  return true;
}

/**
 * Divides an order whose CA refused some names: the others are ordered at once without them, and the refused ones later, on
 * their own. A certificate in force goes on to cover the refused names, so there the others get a new one. False: the claim
 * has passed on. @throws StoreFault
 */
export async function storeRefused(
  tx: WriteTransaction,
  ended: EndedOrder,
  reasons: ReadonlyMap<string, string>,
): Promise<boolean> {
  const refused = ended.names.filter((name) => reasons.has(name));
  const others = ended.names.filter((name) => !reasons.has(name));
  const reason = summary(refused, reasons);
  const rows = await rowsOf(tx, ended);
  if (rows === null) return false;
  const { row, domain } = rows;
  const failing = { ...rows, reason, status: 'failed', retry: REFUSED_RETRY } as const;
  if (refused.length === 0 || others.length === 0) return fail(tx, ended, failing);
  if (stateAt(row, ended.now) === 'active') {
    const isPlace = (await tx.issuance.list(domain.id)).length < MAX_OBTAINED;
    if (!(await fail(tx, isPlace ? { ...ended, names: refused } : ended, failing))) return false;
    if (isPlace)
      await insertWanted(tx, { domainId: domain.id, names: others, refused: null, now: ended.now });
    return true;
  }
  const place = await placeAside(tx, ended, { ...rows, refused });
  if (place === null) return fail(tx, ended, failing);
  const names_json = JSON.stringify(others);
  const next = { names_json, due_at: ended.now, failures: 0, continues: false };
  if (!(await tx.issuance.end(ended.order, next))) return false;
  if (row.status !== 'active')
    await tx.certificates.setNames({ id: row.id, domain_id: domain.id, names_json });
  await putAside(tx, ended, { domain, place, reason });
  return true;
}

/** A failure of an order as a whole. */
export interface OrderFailure {
  readonly reason: string;
  /** The CA was away, slow or broken: the order under way is continued, and the certificate goes on to be pending. */
  readonly transient: boolean;
  /** Milliseconds after which the CA wants the next attempt; `null`: it names none. */
  readonly retryAfterMs: number | null;
}

/** Stores a failure. False: the claim has passed on. @throws StoreFault */
export async function storeFailed(
  tx: WriteTransaction,
  ended: EndedOrder,
  { reason, transient, retryAfterMs }: OrderFailure,
): Promise<boolean> {
  const rows = await rowsOf(tx, ended);
  if (rows === null) return false;
  const status = transient ? 'pending' : 'failed';
  const retry = transient ? FAILED_RETRY : REFUSED_RETRY;
  const atLeast = Math.min(retryAfterMs ?? 0, LONGEST_PAUSE_MS);
  return fail(tx, ended, { ...rows, reason, status, retry, atLeast, continues: transient });
}

/** Lets an order wait, without a failure. @throws StoreFault */
export async function storeWait(
  tx: WriteTransaction,
  { order }: EndedOrder,
  until: number,
): Promise<boolean> {
  const { names_json, failures } = order;
  return tx.issuance.end(order, { names_json, failures, due_at: until, continues: true });
}

/** Ends the renewal of a certificate whose names need none, and removes one that was not issued. @throws StoreFault */
export async function storeUnneeded(tx: WriteTransaction, ended: EndedOrder): Promise<void> {
  const rows = await rowsOf(tx, ended);
  if (rows === null) return;
  const { domain, row } = rows;
  const { id } = row;
  if (row.status === 'active') {
    await tx.issuance.drop(id);
    await tx.certificates.setRenewal({ id, domain_id: domain.id, renew_at: null });
    return;
  }
  await tx.certificates.remove(domain.id, id);
  await audit(tx, { domain, before: row, after: null, action: 'certificate.delete', now: ended.now });
}

interface Failing extends Rows {
  readonly reason: string;
  readonly status: 'pending' | 'failed';
  readonly retry: { readonly first: number; readonly last: number };
  readonly atLeast?: number;
  readonly continues?: boolean;
}

async function fail(
  tx: WriteTransaction,
  { order, names, now }: EndedOrder,
  { domain, row, reason, status, retry, atLeast = 0, continues = false }: Failing,
): Promise<boolean> {
  const failures = order.failures + 1;
  const due_at = Math.round(now + Math.max(atLeast, retryMs(order.failures, retry)));
  const next = { names_json: JSON.stringify(names), due_at, failures, continues };
  if (!(await tx.issuance.end(order, next))) return false;
  // One in force goes on to be served; the error says why it is not renewed.
  const state = row.status === 'active' ? row.status : status;
  await tx.certificates.setState({ id: row.id, domain_id: domain.id, status: state, error: reason });
  if (row.status === 'active')
    await tx.certificates.setRenewal({ id: row.id, domain_id: domain.id, renew_at: due_at });
  if (failures !== NOTIFIED_AT || status === 'pending') return true;
  const data = { names: [...names], error: reason, next_try_at: new Date(due_at).toISOString() };
  await notify(tx, { kind: 'certificate.failed', data, domain, now });
  return true;
}

/** Where refused names go. */
interface PlaceAside {
  /** The failed certificate of the domain that takes them; `null`: a new one. */
  readonly id: number | null;
  /** All names that it then has. */
  readonly names: readonly string[];
}

/** The place of refused names; `null`: the domain has none. */
async function placeAside(
  tx: WriteTransaction,
  { order }: EndedOrder,
  { domain, all, refused }: Rows & { readonly refused: readonly string[] },
): Promise<PlaceAside | null> {
  const orders = new Map((await tx.issuance.list(domain.id)).map((one) => [one.certificate_id, one]));
  const failed = all.find(
    ({ id, status }) => status === 'failed' && id !== order.certificate_id && orders.has(id),
  );
  const before = failed === undefined ? [] : (JSON.parse(orders.get(failed.id)!.names_json) as string[]);
  const names = inOrder(new Set([...before, ...refused]));
  if (failed !== undefined && names.length <= MAX_ORDER_NAMES) return { id: failed.id, names };
  return orders.size < MAX_OBTAINED ? { id: null, names: inOrder(refused) } : null;
}

interface Aside {
  readonly domain: DomainRow;
  readonly place: PlaceAside;
  readonly reason: string;
}

async function putAside(
  tx: WriteTransaction,
  { now }: EndedOrder,
  { domain, place, reason }: Aside,
): Promise<void> {
  const { id, names } = place;
  if (id === null) {
    await insertWanted(tx, { domainId: domain.id, names, refused: reason, now });
    return;
  }
  const names_json = JSON.stringify(names);
  await tx.certificates.setNames({ id, domain_id: domain.id, names_json });
  await tx.certificates.setState({ id, domain_id: domain.id, status: 'failed', error: reason });
  await tx.issuance.setNames(id, names_json);
}

/** The reasons of names as one line. */
function summary(refused: readonly string[], reasons: ReadonlyMap<string, string>): string {
  const [first, ...rest] = refused;
  if (first === undefined) return [...reasons.values()][0] ?? 'the CA gives no reason';
  const more = rest.length === 0 ? '' : ` (and ${rest.length} more)`;
  const line = `${first}: ${reasons.get(first)}${more}`;
  return line.length <= MAX_REASON_CHARACTERS ? line : `${line.slice(0, MAX_REASON_CHARACTERS - 1)}…`;
}

interface Audited {
  readonly domain: DomainRow;
  readonly before: CertificateRow;
  readonly after: CertificateRow | null;
  readonly action: string;
  readonly now: number;
}

async function audit(tx: WriteTransaction, { domain, before, after, action, now }: Audited): Promise<void> {
  await tx.audit.append({
    ...SERVICE,
    ...{ domain_id: domain.id, domain: domain.name, at: now, action },
    subject: `certificate/${before.id}`,
    before_json: JSON.stringify(showCertificate(before, now)),
    after_json: after === null ? null : JSON.stringify(showCertificate(after, now)),
  });
}
