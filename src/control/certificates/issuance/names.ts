/** Names of obtained certificates: which are usual for a domain, which may be requested, which are still needed. Pure. */
import { normalizeName } from '../../../base/addresses/host.ts';
import { absoluteName, isNameCovered } from '../../../rules/model/record-name.ts';
import type { RecordRow } from '../../store/tables/rules.ts';
import { MAX_ORDER_NAMES } from '../limits.ts';

/** What the names of a domain follow from. */
export interface NameFacts {
  /** Canonical. */
  readonly domain: string;
  /** Absolute names with a proxied record; wildcards as `*.example.com`. */
  readonly proxied: ReadonlySet<string>;
  readonly records: readonly Pick<RecordRow, 'name' | 'type'>[];
  /** Whether name servers answer for the domain from our zones: a wildcard is proved in the zone alone (RFC 8555 §8.4). */
  readonly zone: boolean;
}

/** Labels that a certificate may have (CA/Browser Forum, Baseline Requirements §7.1.4.2.1): letters, digits, hyphens. */
const LABEL = /^[a-z0-9](?:[a-z0-9-]*[a-z0-9])?$/;

/** The facts of stored records. */
export function nameFacts(
  domain: string,
  records: readonly Pick<RecordRow, 'name' | 'type' | 'proxied'>[],
  zone: boolean,
): NameFacts {
  const names = records.flatMap(({ name, proxied }) => (proxied ? (absoluteName(name, domain) ?? []) : []));
  return { domain, proxied: new Set(names), records, zone };
}

/**
 * The names of a certificate that covers `uncovered`: the domain itself, and for names below it the wildcard of their level
 * where the zone is ours, so that a further name needs no further certificate. At most `MAX_ORDER_NAMES`.
 */
export function usualNames(uncovered: readonly string[], facts: NameFacts): readonly string[] {
  const { domain, zone } = facts;
  const names = new Set<string>();
  for (const name of uncovered) {
    const isWide = zone && name !== domain && delegationOf(wildcardOf(name), facts) === null;
    const wanted = isWide ? wildcardOf(name) : name;
    if (isCertifiable(wanted) && (zone || !wanted.startsWith('*.'))) names.add(wanted);
  }
  return inOrder(names).slice(0, MAX_ORDER_NAMES);
}

/** Why no certificate can be obtained for a name, as a sentence; `null`: it can. */
export function whyNotOrderable(name: string, facts: NameFacts): string | null {
  const { domain, zone } = facts;
  const bare = name.startsWith('*.') ? name.slice(2) : name;
  if (normalizeName(bare) !== bare || !isCertifiable(name))
    return `\`${name}\` is no host name that a certificate may have`;
  if (bare !== domain && !bare.endsWith(`.${domain}`)) return `\`${name}\` is not a name of ${domain}`;
  if (name !== bare && !zone)
    return `\`${name}\`: a wildcard is proved in the zone, which this server does not serve for ${domain}`;
  const away = name === bare ? null : delegationOf(name, facts);
  if (away !== null) return `\`${name}\` ${away}`;
  return isNeeded(name, facts) ? null : `\`${name}\` has no proxied record, so no node answers for it`;
}

/** Whether some proxied name is served with a certificate for `name`. */
export function isNeeded(name: string, { domain, proxied }: NameFacts): boolean {
  if (!name.startsWith('*.')) return proxied.has(name) || isNameCovered(name, proxied);
  if (name === `*.${domain}`) return true;
  return [...proxied].some((one) => one === name || wildcardOf(one) === name);
}

/**
 * Where the TXT record that proves a name would be away from our zone, as the rest of a sentence; `null`: it is in the zone. A
 * CNAME at its name, or a delegation of it or of a name above, is the customer's choice of another place.
 */
export function delegationOf(
  name: string,
  { domain, records }: Pick<NameFacts, 'domain' | 'records'>,
): string | null {
  const owner = challengeOwner(name);
  for (const { name: stored, type } of records) {
    if (type !== 'CNAME' && type !== 'NS') continue;
    const at = absoluteName(stored, domain);
    if (at === null || at === domain) continue;
    if (at === owner || (type === 'NS' && owner.endsWith(`.${at}`)))
      return `is proved by ${owner}, which the ${type} record of ${at} leads elsewhere`;
  }
  return null;
}

/** The name of the TXT record that proves a name (RFC 8555 §8.4). */
export function challengeOwner(name: string): string {
  return `_acme-challenge.${name.startsWith('*.') ? name.slice(2) : name}`;
}

/** Names in the order of orders and answers: shorter ones first, so the domain itself leads. */
export function inOrder(names: Iterable<string>): readonly string[] {
  return [...names].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
}

/** `*.example.com` for `www.example.com`, and for itself. */
function wildcardOf(name: string): string {
  return `*${name.slice(name.indexOf('.'))}`;
}

function isCertifiable(name: string): boolean {
  const labels = (name.startsWith('*.') ? name.slice(2) : name).split('.');
  return labels.length > 1 && labels.every((label) => LABEL.test(label));
}
