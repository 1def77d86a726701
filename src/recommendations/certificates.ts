/**
 * Certificates of the domain: proxied names that none covers, and those that expire. In: the stored certificates and
 * records. Out: one recommendation for all uncovered names, one for each certificate that expires and is not renewed. A domain without a stored
 * certificate gets none: its nodes may have their own (`--certificates`, `--acme`), of which nothing is stored.
 */
import { timeText } from '../base/time-text.ts';
import { uncoveredNames } from '../model/covered-names.ts';
import { CERTIFICATE_MS, MAX_NAMES_SHOWN } from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import type { StoredFacts } from './stored-facts.ts';

/** The family. */
export function certificates(facts: StoredFacts): readonly DraftRecommendation[] {
  const { now, domain, records } = facts;
  const issued = facts.certificates.filter(({ not_after }) => not_after > 0);
  const known = issued.map(({ id, names_json, not_after, renew_at, error }) => ({
    id,
    expiresAt: not_after,
    names: JSON.parse(names_json) as readonly string[],
    renews: renew_at !== null && error === '',
  }));
  if (known.length === 0) return [];
  const valid = known.filter(({ expiresAt }) => expiresAt > now);
  const uncovered = uncoveredNames(records, {
    domain: domain.name,
    covered: valid.flatMap(({ names }) => names),
  });
  return [
    ...(uncovered.length === 0 ? [] : [describeUncovered(uncovered, valid.length)]),
    ...known.flatMap((one) => (one.renews ? [] : (judgeExpiry(one, { now, valid }) ?? []))),
  ];
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
