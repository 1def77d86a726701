/**
 * Requests for certificates, by a customer or for names that no certificate covers: each makes an order that is due. The
 * survey finds such names.
 */
import { pause, retryMs } from '../../../base/platform/tasks.ts';
import { isNameCovered, uncoveredNames } from '../../../rules/model/record-name.ts';
import type { ReadTransaction, Store, WriteTransaction } from '../../store/store.ts';
import type { CertificateRow } from '../../store/tables/certificates.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import {
  ENTRIES_AT_ONCE,
  HASTY_FAILURES,
  HASTY_MS,
  MAX_CERTIFICATES,
  MAX_OBTAINED,
  MAX_ORDER_NAMES,
  REFUSED_RETRY,
  REISSUE_MS,
  SURVEY_MS,
  SURVEY_REST_MS,
  UPLOAD_END_MS,
} from '../limits.ts';
import { stateAt } from '../shapes.ts';
import { inOrder, type NameFacts, nameFacts, usualNames, whyNotOrderable } from './names.ts';

/** A request of a customer. */
export interface CertificateRequest {
  readonly domain: Pick<DomainRow, 'id' | 'name' | 'dns_mode'>;
  /** `null`: those that no certificate covers. */
  readonly names: readonly string[] | null;
  /** Whether this server serves zones. */
  readonly zones: boolean;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The requested certificate, or why there is nothing to obtain. */
export type RequestOutcome =
  | { readonly ok: true; readonly row: CertificateRow }
  | { readonly ok: false; readonly kind: 'names' | 'state'; readonly reason: string };

/** The names of an obtained certificate: those of its order. */
interface Obtained {
  readonly row: CertificateRow;
  readonly names: readonly string[];
  readonly failures: number;
}

interface Situation {
  readonly facts: NameFacts;
  readonly rows: readonly CertificateRow[];
  readonly obtained: readonly Obtained[];
  /** Proxied names that no certificate in force covers, or only one that ends soon without a renewal. */
  readonly uncovered: readonly string[];
}

/** Makes an order, or one that waits due. @throws StoreFault */
export async function requestCertificate(
  tx: WriteTransaction,
  request: CertificateRequest,
): Promise<RequestOutcome> {
  const situation = await situationOf(tx, request);
  const { facts, obtained, uncovered } = situation;
  if (request.names === null) {
    const open = withoutOrdered(uncovered, obtained);
    const names = usualNames(open, facts);
    if (names.length > 0) return insert(tx, situation, { ...request, names });
    const waiting = obtained.find((one) => one.names.some((name) => coversAny(name, uncovered)));
    if (waiting !== undefined) return hasten(tx, waiting, request.now);
    const reason =
      uncovered.length === 0
        ? 'no proxied name is without a certificate'
        : `no certificate can be obtained for ${uncovered.slice(0, 3).join(', ')}: a wildcard needs a zone of this server, and a name has letters, digits and hyphens`;
    return { ok: false, kind: 'state', reason };
  }
  const names = inOrder(new Set(request.names.map((name) => name.toLowerCase())));
  if (names.length > MAX_ORDER_NAMES)
    return { ok: false, kind: 'names', reason: `a certificate has at most ${MAX_ORDER_NAMES} names` };
  for (const name of names) {
    const reason = whyNotOrderable(name, facts);
    if (reason !== null) return { ok: false, kind: 'names', reason };
  }
  const same = obtained.find((one) => one.names.join() === names.join());
  return same === undefined ? insert(tx, situation, { ...request, names }) : hasten(tx, same, request.now);
}

/** Makes an order for names that no certificate covers and no order has; `null`: each has one. @throws StoreFault */
async function requestUncovered(
  tx: WriteTransaction,
  request: Omit<CertificateRequest, 'names'>,
): Promise<CertificateRow | null> {
  const situation = await situationOf(tx, request);
  const names = usualNames(withoutOrdered(situation.uncovered, situation.obtained), situation.facts);
  if (names.length === 0) return null;
  const outcome = await insert(tx, situation, { ...request, names });
  return outcome.ok ? outcome.row : null;
}

/** Whether `requestUncovered` would make an order: for a read that precedes a write. @throws StoreFault */
async function hasUncovered(
  tx: ReadTransaction,
  request: Omit<CertificateRequest, 'names'>,
): Promise<boolean> {
  const { facts, obtained, uncovered } = await situationOf(tx, request);
  return usualNames(withoutOrdered(uncovered, obtained), facts).length > 0;
}

/**
 * Whether the zone of a domain is one that this server answers challenges in. A managed domain may be published before its
 * zone is made: then the zone follows within seconds.
 */
export async function hasZone(
  tx: ReadTransaction,
  { id, name, dns_mode }: CertificateRequest['domain'],
): Promise<boolean> {
  if (dns_mode !== 'managed') return false;
  const zone = await tx.zones.head(name);
  return zone === null || zone.domain_id === id;
}

async function situationOf(
  tx: ReadTransaction,
  { domain, zones, now }: Omit<CertificateRequest, 'names'>,
): Promise<Situation> {
  const rows = await tx.certificates.list(domain.id);
  const records = await tx.records.list(domain.id);
  const facts = nameFacts(domain.name, records, zones && (await hasZone(tx, domain)));
  const orders = new Map((await tx.issuance.list(domain.id)).map((one) => [one.certificate_id, one]));
  const obtained = rows.flatMap((row): Obtained[] => {
    const order = orders.get(row.id);
    return order === undefined
      ? []
      : [{ row, names: JSON.parse(order.names_json) as string[], failures: order.failures }];
  });
  const covered = rows.flatMap((row) =>
    isLasting(row, { now, renews: orders.has(row.id) }) ? (JSON.parse(row.names_json) as string[]) : [],
  );
  const uncovered = uncoveredNames(records, { domain: domain.name, covered });
  return { facts, rows, obtained, uncovered };
}

/**
 * Whether the names of a certificate need no order. Those of an uploaded one are ordered before it ends, and those of an
 * obtained one that is not renewed any more at once.
 */
function isLasting(
  row: CertificateRow,
  { now, renews }: { readonly now: number; readonly renews: boolean },
): boolean {
  if (row.source === 'acme') return renews && stateAt(row, now) === 'active';
  return stateAt(row, now + UPLOAD_END_MS) === 'active';
}

/** The names that no order has either. */
function withoutOrdered(uncovered: readonly string[], obtained: readonly Obtained[]): readonly string[] {
  const ordered = new Set(obtained.flatMap(({ names }) => names));
  return uncovered.filter((name) => !isNameCovered(name, ordered));
}

function coversAny(name: string, uncovered: readonly string[]): boolean {
  const covered = new Set([name]);
  return uncovered.some((one) => isNameCovered(one, covered));
}

async function insert(
  tx: WriteTransaction,
  { rows, obtained }: Situation,
  { domain, names, now }: CertificateRequest & { readonly names: readonly string[] },
): Promise<RequestOutcome> {
  if (obtained.length >= MAX_OBTAINED || rows.length >= MAX_CERTIFICATES) {
    const most = obtained.length >= MAX_OBTAINED ? `${MAX_OBTAINED} obtained` : `${MAX_CERTIFICATES}`;
    return {
      ok: false,
      kind: 'state',
      reason: `a domain has at most ${most} certificates; delete one first`,
    };
  }
  const row = await insertWanted(tx, { domainId: domain.id, names, refused: null, now });
  return { ok: true, row };
}

/** Makes an order due at once, as far as CAs accept repeated attempts. */
async function hasten(
  tx: WriteTransaction,
  { row, failures }: Obtained,
  now: number,
): Promise<RequestOutcome> {
  if (row.status === 'active' && row.not_before > now - REISSUE_MS) {
    const reason = `certificate ${row.id} for these names was issued within a day; CAs limit duplicates`;
    return { ok: false, kind: 'state', reason };
  }
  await tx.issuance.hasten(row.id, failures < HASTY_FAILURES ? now : now + HASTY_MS);
  return { ok: true, row };
}

// Finds domains with proxied names that no certificate covers. It follows the manifest: every change of records is published
// at a new position, so the work grows with changes and not with domains. Now and then it begins again, since certificates
// expire without a change.

export interface NameSurveyOptions {
  readonly store: Store;
  /** Whether this server serves zones. */
  readonly zones: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Finds uncovered names. */
export interface NameSurvey {
  /** Reads what has changed and makes orders; resolves with how many. @throws StoreFault */
  run(): Promise<number>;
}

export function createSurvey({ store, zones, clock }: NameSurveyOptions): NameSurvey {
  let position = 0;
  let begun = Number.NEGATIVE_INFINITY;

  /** Whether an order was made. */
  async function look(domainId: number): Promise<boolean> {
    const now = clock();
    const isOpen = await store.read(async (tx) => {
      const domain = await tx.domains.get(domainId);
      return domain !== null && isServed(domain) && (await hasUncovered(tx, { domain, zones, now }));
    });
    if (!isOpen) return false;
    return store.write(async (tx) => {
      const domain = await tx.domains.get(domainId);
      if (domain === null || !isServed(domain)) return false;
      return (await requestUncovered(tx, { domain, zones, now })) !== null;
    });
  }

  return {
    async run() {
      const now = clock();
      if (now - begun >= SURVEY_MS || now < begun) {
        position = 0;
        begun = now;
      }
      for (let made = 0; ; await pause(SURVEY_REST_MS)) {
        const entries = await store.latest.plans.changedSince(position, ENTRIES_AT_ONCE);
        for (const { domain_id, digest, position: through } of entries) {
          if (digest !== null && (await look(domain_id))) made += 1;
          position = through;
        }
        if (entries.length < ENTRIES_AT_ONCE) return made;
      }
    },
  };
}

function isServed({ status, suspended }: { readonly status: string; readonly suspended: boolean }): boolean {
  return status === 'active' && !suspended;
}

/** What is to be obtained. */
export interface WantedCertificate {
  readonly domainId: number;
  readonly names: readonly string[];
  /** Why the CA has refused the names before; `null`: it has not, and the order is due at once. */
  readonly refused: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Inserts both. @throws StoreFault */
export async function insertWanted(
  tx: WriteTransaction,
  { domainId, names, refused, now }: WantedCertificate,
): Promise<CertificateRow> {
  const names_json = JSON.stringify(names);
  const row = await tx.certificates.insert({
    ...{ domain_id: domainId, source: 'acme', names_json, created_at: now, noticed: '' },
    ...{ status: refused === null ? 'pending' : 'failed', error: refused ?? '' },
    ...{ issuer: '', key_type: '', sha256: '', not_before: 0, not_after: 0, renew_at: null },
    ...{ chain: null, sealed_key: null },
  });
  const due_at = refused === null ? now : Math.round(now + retryMs(0, REFUSED_RETRY));
  const failures = refused === null ? 0 : 1;
  await tx.issuance.insert({
    certificate_id: row.id,
    ...{ domain_id: domainId, names_json, due_at, failures },
  });
  return row;
}
