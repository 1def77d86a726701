/**
 * Origins that are reachable around the edge. In: stored records and rules. Out: a recommendation for each record that is
 * not proxied and whose data is the address, or the name, of an origin: of a proxied record, or of a rule. Names of the zone
 * are followed to their addresses. No name is resolved, so an origin behind a name outside the zone is not found.
 *
 * To proxy the record is proposed only where it serves nothing but visitors as far as the zone says: no MX, SRV or NS record,
 * no origin and no other name needs it, and its name is not one of other services.
 */
import { normalizeName } from '../../base/addresses/host.ts';
import { formatIp, parseIp } from '../../base/addresses/ip.ts';
import { PROXIABLE_TYPES, recordKind } from '../../base/vocabulary/record-types.ts';
import { absoluteName } from '../../rules/model/record-name.ts';
import { originsOfRule } from '../../rules/model/rule.ts';
import type { DnsRecord } from '../../rules/model/types.ts';
import { MAX_ALIASES, MAX_NAMES_SHOWN } from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import { ruleName, type StoredFacts } from './stored-facts.ts';

/** First labels of hosts that people reach by other protocols than HTTP, without digits at their end. */
const OTHER_SERVICES: ReadonlySet<string> = new Set(
  'mail smtp imap pop mx relay ftp sftp ssh vpn ns dns ldap rdp sql db git'.split(' '),
);

/** The family. */
export function exposedOrigins({ domain, records, rules }: StoredFacts): readonly DraftRecommendation[] {
  const origins = originsOf({ domain, records, rules });
  const needs = needsOf({ records, rules });
  return records.flatMap((record) => {
    if (record.proxied || !PROXIABLE_TYPES.includes(record.type)) return [];
    const names = origins.get(canonical(record.destination));
    const name = absoluteName(record.name, domain.name);
    return names === undefined || name === null ? [] : [describe(record, { name, names, needs })];
  });
}

/** The part of the facts that is read here. */
type Zone = Pick<StoredFacts, 'domain' | 'records' | 'rules'>;

/** Addresses in one spelling, names in lower case and ASCII. */
function canonical(destination: string): string {
  const words = new Uint32Array(4);
  const family = parseIp(destination, words);
  return family === 0 ? (normalizeName(destination) ?? destination) : formatIp(family, words);
}

/** The proxied names, or rules, by the address or name of their origin. */
function originsOf({ domain, records, rules }: Zone): ReadonlyMap<string, readonly string[]> {
  const origins = new Map<string, string[]>();
  const zone = plainRecords({ domain, records });
  const add = (destination: string, name: string): void => {
    for (const key of followed(canonical(destination), zone)) {
      const names = origins.get(key) ?? [];
      if (!names.includes(name)) names.push(name);
      origins.set(key, names);
    }
  };
  for (const { name, proxied, destination } of records) {
    if (proxied) add(destination, absoluteName(name, domain.name) ?? name);
  }
  for (const { rule } of rules) {
    if (rule.enabled)
      for (const { address } of originsOfRule(rule.type, rule)) add(address, `rule ${ruleName(rule)}`);
  }
  return origins;
}

/** The data of records that are not proxied, by absolute name. */
function plainRecords({ domain, records }: Omit<Zone, 'rules'>): ReadonlyMap<string, readonly string[]> {
  const zone = new Map<string, string[]>();
  for (const { name, type, proxied, destination } of records) {
    const absolute = proxied || !PROXIABLE_TYPES.includes(type) ? null : absoluteName(name, domain.name);
    if (absolute !== null) zone.set(absolute, [...(zone.get(absolute) ?? []), canonical(destination)]);
  }
  return zone;
}

/** A destination, and what the names of the zone lead to from there: names, and addresses at last. */
function followed(destination: string, zone: ReadonlyMap<string, readonly string[]>): ReadonlySet<string> {
  const found = new Set([destination]);
  let last: readonly string[] = [destination];
  for (let aliases = 0; aliases < MAX_ALIASES && last.length > 0; aliases++) {
    last = last.flatMap((name) => zone.get(name) ?? []).filter((next) => !found.has(next));
    for (const next of last) found.add(next);
  }
  return found;
}

/** What needs a name of the zone as it is: records and origins, by that name. */
function needsOf({ records, rules }: Omit<Zone, 'domain'>): ReadonlyMap<string, readonly string[]> {
  const needs = new Map<string, string[]>();
  const add = (target: string, by: string): void => {
    const name = normalizeName(target);
    if (name !== null) needs.set(name, [...(needs.get(name) ?? []), by]);
  };
  for (const { name, type, proxied, destination } of records) {
    if (recordKind(type).namesServer === true)
      add(destination.split(' ').at(-1) ?? '', `${type} ${name}${proxied ? ', proxied' : ''}`);
  }
  for (const { rule } of rules)
    for (const { address } of originsOfRule(rule.type, rule)) add(address, `rule ${ruleName(rule)}`);
  return needs;
}

interface Exposure {
  /** Absolute. */
  readonly name: string;
  readonly names: readonly string[];
  readonly needs: ReadonlyMap<string, readonly string[]>;
}

function describe(record: DnsRecord, { name, names, needs }: Exposure): DraftRecommendation {
  const neededBy = needs.get(name) ?? [];
  const isForVisitors = neededBy.length === 0 && !isOtherService(name);
  const why = neededBy.length > 0 ? `, which ${neededBy[0]} needs,` : '';
  const remedy = isForVisitors
    ? 'proxy it, or remove it if nobody needs it'
    : 'move what needs it to another address, or let the origin accept connections of the edge alone';
  const shown = `${record.type} \`${record.destination}\``;
  return {
    kind: 'exposed_origin',
    subject: `record/${record.id}`,
    // What the origin accepts is not stored: where nothing can be proposed, it may be right as it is.
    severity: isForVisitors ? 'warning' : 'info',
    message: `the public record \`${record.name}\` (${shown})${why} leads past the edge to the origin of \`${names[0]}\`; ${remedy}`,
    evidence: {
      record: record.id,
      name: record.name,
      type: record.type,
      destination: record.destination,
      proxied_names: names.slice(0, MAX_NAMES_SHOWN),
      needed_by: neededBy.slice(0, MAX_NAMES_SHOWN),
    },
    change: isForVisitors
      ? {
          summary: `proxies the record ${record.name} ${record.type}`,
          records: [{ ...record, proxied: true }],
        }
      : null,
  };
}

/** Whether a name is one of a host for mail, files or the like: `mail`, `ns1`. */
function isOtherService(name: string): boolean {
  const [label = ''] = name.split('.');
  let end = label.length;
  while (end > 0 && label[end - 1]! >= '0' && label[end - 1]! <= '9') end--;
  return OTHER_SERVICES.has(label.slice(0, end)) || label.startsWith('_');
}
