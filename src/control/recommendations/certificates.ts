/**
 * Certificates of the domain: proxied names that none covers, and those that expire. In: the stored certificates and
 * records. Out: one recommendation for all uncovered names, one for each certificate that expires and is not renewed.
 *
 * A domain without a certificate is named if TLS is expected to end at its nodes: its zone is ours, so that its proxied names
 * lead to them, it is active, and no request came over TLS. Else its nodes have their own (`--certificates`, `--acme`), or TLS
 * ends in front of them, of which nothing is stored. Where the DNS is elsewhere, it is once it has had a certificate.
 * Names of an order of the last day are left out: it is under way.
 */
import { timeText } from '../../base/text/time.ts';
import { isNameCovered, uncoveredNames } from '../../rules/model/record-name.ts';
import { CERTIFICATE_MS, MAX_NAMES_SHOWN, ORDER_MS } from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import type { StoredFacts } from './stored-facts.ts';

/** The family. */
export function certificates(facts: StoredFacts): readonly DraftRecommendation[] {
  const { now } = facts;
  const known = facts.certificates.filter(isIssued).map(({ id, names_json, not_after, renew_at, error }) => ({
    id,
    expiresAt: not_after,
    names: namesOf(names_json),
    renews: renew_at !== null && error === '',
  }));
  const valid = known.filter(({ expiresAt }) => expiresAt > now);
  const expiring = known.flatMap((one) => (one.renews ? [] : (judgeExpiry(one, { now, valid }) ?? [])));
  return [...judgeCoverage(facts, valid), ...expiring];
}

/** Whether nothing stored says how the names of a domain have TLS, and whether they should have it from here. */
export function lacksCertificates(facts: Pick<StoredFacts, 'certificates' | 'dnsMode'>): boolean {
  return facts.dnsMode === 'managed' && !facts.certificates.some(isIssued);
}

function isIssued({ status, not_after }: StoredFacts['certificates'][number]): boolean {
  return status === 'active' && not_after > 0;
}

function namesOf(json: string): readonly string[] {
  return JSON.parse(json) as readonly string[];
}

/** The uncovered names; empty: each is covered, or TLS is not expected. */
function judgeCoverage(
  facts: StoredFacts,
  valid: readonly KnownCertificate[],
): readonly DraftRecommendation[] {
  const { now, domain, records, overTls } = facts;
  const hasHad = facts.certificates.some(isIssued);
  const isExpected = hasHad || (lacksCertificates(facts) && domain.status === 'active' && !overTls);
  if (!isExpected) return [];
  const ordered = facts.certificates.filter(
    ({ status, error, created_at }) => status === 'pending' && error === '' && created_at > now - ORDER_MS,
  );
  const underWay = new Set(ordered.flatMap(({ names_json }) => namesOf(names_json)));
  const covered = valid.flatMap(({ names }) => names);
  const uncovered = uncoveredNames(records, { domain: domain.name, covered }).filter(
    (name) => !isNameCovered(name, underWay),
  );
  if (uncovered.length === 0) return [];
  return [hasHad ? describeUncovered(uncovered, valid.length) : describeBare(uncovered)];
}

/** No name of the domain has HTTPS. */
function describeBare(uncovered: readonly string[]): DraftRecommendation {
  const [first] = uncovered;
  const more = uncovered.length === 1 ? '' : ` and ${uncovered.length - 1} more proxied names`;
  return {
    kind: 'uncovered_names',
    subject: 'domain',
    severity: 'warning',
    message: `the domain has no certificate, and no request came over TLS: browsers get no HTTPS at \`${first}\`${more}; have one issued or upload one, unless the nodes have their own (\`--certificates\`, \`--acme\`) or TLS ends in front of them`,
    evidence: { names: uncovered.slice(0, MAX_NAMES_SHOWN), of: uncovered.length, certificates: 0 },
    change: null,
  };
}

function describeUncovered(uncovered: readonly string[], valid: number): DraftRecommendation {
  const [first] = uncovered;
  const more = uncovered.length === 1 ? '' : ` and ${uncovered.length - 1} more proxied names`;
  return {
    kind: 'uncovered_names',
    subject: 'domain',
    severity: 'warning',
    message: `no valid certificate covers \`${first}\`${more}, so browsers refuse HTTPS there; issue or upload one, or start nodes with \`--acme\``,
    evidence: { names: uncovered.slice(0, MAX_NAMES_SHOWN), of: uncovered.length, certificates: valid },
    change: null,
  };
}

interface KnownCertificate {
  readonly id: number;
  /** Milliseconds since the epoch. */
  readonly expiresAt: number;
  readonly names: readonly string[];
}

/** `null`: it is valid for long, or a certificate with all of its names is valid for longer. */
function judgeExpiry(
  certificate: KnownCertificate,
  { now, valid }: { readonly now: number; readonly valid: readonly KnownCertificate[] },
): DraftRecommendation | null {
  const { id, expiresAt, names } = certificate;
  if (expiresAt > now + CERTIFICATE_MS) return null;
  const later = valid.filter((other) => other.expiresAt > now + CERTIFICATE_MS);
  if (later.some((other) => names.every((name) => other.names.includes(name)))) return null;
  const isOver = expiresAt <= now;
  const [first = ''] = names;
  const more = names.length <= 1 ? '' : ` and ${names.length - 1} more names`;
  return {
    kind: 'expiring_certificate',
    subject: `certificate/${id}`,
    severity: isOver ? 'error' : 'warning',
    message: `the certificate of \`${first}\`${more} ${isOver ? 'has expired' : 'expires'} on ${timeText(expiresAt).slice(0, 10)}; renew it, or upload another one`,
    evidence: { certificate: id, names: names.slice(0, MAX_NAMES_SHOWN), expires_at: timeText(expiresAt) },
    change: null,
  };
}
