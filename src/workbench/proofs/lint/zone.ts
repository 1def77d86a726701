/** The hosts that a domain serves, and which of them a rule's scope and host filter admit. */
import { normalizeName } from '../../../base/addresses/host.ts';
import type { DnsRecord, Rule, RuleSet } from '../../../rules/model/types.ts';
import { admitsHost, hostExcludes, hostIncludes } from './filters.ts';
import { globCovers, globMatches, globsOverlap } from './glob.ts';

/** A proxied record as the hosts it serves: one host, or for `*.b` every host below `b` without a nearer record. */
export interface Served {
  readonly record: DnsRecord;
  /** Absolute and lower case; for a wildcard, the name after `*.`. */
  readonly name: string;
  readonly wildcard: boolean;
}

/** The hosts of a domain. */
export interface Zone {
  readonly domain: string;
  readonly served: readonly Served[];
}

/** Collects the proxied records of a rule set. */
export function readZone({ domain, records }: RuleSet): Zone {
  const served = records
    .filter((record) => record.proxied)
    .flatMap((record) => readServed(record, domain.name));
  return { domain: domain.name, served };
}

/** The served host of one record; none for a malformed name. */
function readServed(record: DnsRecord, domain: string): readonly Served[] {
  const written = record.name === '' ? '@' : record.name;
  const wildcard = written === '*' || written.startsWith('*.');
  const rest = wildcard ? written.slice(2) : written;
  const name = rest === '@' || rest === '' ? domain : absolute(rest, domain);
  return name === null ? [] : [{ record, name, wildcard }];
}

/** The absolute form of a record name; record names are stored relative or absolute (semantics §2). */
function absolute(name: string, domain: string): string | null {
  const canonical = normalizeName(name);
  if (canonical === null) return null;
  return canonical === domain || canonical.endsWith(`.${domain}`) ? canonical : `${canonical}.${domain}`;
}

/** Whether a record of the zone serves this host. */
export function serves(zone: Zone, host: string): boolean {
  return zone.served.some(({ name, wildcard }) => (wildcard ? host.endsWith(`.${name}`) : host === name));
}

/** The served hosts in a rule's record scope; all of them for a zone-wide rule. */
export function inScope(zone: Zone, rule: Rule): readonly Served[] {
  if (rule.record_ids.length === 0) return zone.served;
  return zone.served.filter(({ record }) => rule.record_ids.includes(record.id));
}

/**
 * Whether the rule's host filter may admit a request to this name. The hosts of a wildcard name cannot be
 * enumerated, so a regex counts as admitting one.
 */
export function mayAdmit(rule: Rule, { name, wildcard }: Served): boolean {
  if (!wildcard) return admitsHost(rule, name);
  const below = ['', `.${name}`];
  const excluded = hostExcludes(rule).some(({ glob }) => glob !== null && globCovers(glob, below));
  if (excluded) return false;
  const includes = hostIncludes(rule);
  if (includes.length === 0) return true;
  return includes.some(({ glob, regex }) => regex || (glob !== null && globsOverlap(glob, below)));
}

/** Whether `wide` applies to every host that `narrow` applies to, as far as the filters prove it. */
export function coversHostsOf(zone: Zone, wide: Rule, narrow: Rule): boolean {
  const same = HOST_FIELDS.every((field) => JSON.stringify(wide[field]) === JSON.stringify(narrow[field]));
  if (same) return true;
  const scoped = inScope(zone, wide);
  return inScope(zone, narrow)
    .filter((served) => mayAdmit(narrow, served))
    .every((served) => scoped.includes(served) && admitsAll(wide, served));
}

/** The fields that decide which hosts a rule applies to. */
const HOST_FIELDS = [
  'record_ids',
  'host_match_type',
  'host_pattern',
  'host_includes',
  'host_excludes',
] as const satisfies readonly (keyof Rule)[];

/** Whether the rule's host filter provably admits every host of a served name. */
function admitsAll(rule: Rule, { name, wildcard }: Served): boolean {
  if (!wildcard) return admitsHost(rule, name);
  if (hostExcludes(rule).length > 0) return false;
  const includes = hostIncludes(rule);
  const below = ['', `.${name}`];
  return includes.length === 0 || includes.some(({ glob }) => glob !== null && globCovers(glob, below));
}

/** Whether a wildcard entry can match a host of the domain. */
export function overlapsDomain(zone: Zone, glob: readonly string[]): boolean {
  return globMatches(glob, zone.domain) || globsOverlap(glob, ['', `.${zone.domain}`]);
}
