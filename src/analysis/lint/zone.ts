/** The hosts a domain serves, and those of them a rule gets to see. */
import { normalizeName } from '../../base/host.ts';
import type { DnsRecord, Rule, RuleSet } from '../../model/types.ts';
import { admitsHost, hostExcludes, hostIncludes } from './filters.ts';
import { globCovers, globMatches, globsOverlap } from './glob.ts';

/** The name of a proxied record: one host, or (`*.b`) every host below a name that has no record nearer. */
export interface Served {
  readonly record: DnsRecord;
  /** Absolute and lower case; under `wildcard` the name behind `*.`. */
  readonly name: string;
  readonly wildcard: boolean;
}

export interface Zone {
  readonly domain: string;
  readonly served: readonly Served[];
}

/** The proxied records of a rule set as the hosts they serve. */
export function readZone({ domain, records }: RuleSet): Zone {
  const served = records
    .filter((record) => record.proxied)
    .flatMap((record) => readServed(record, domain.name));
  return { domain: domain.name, served };
}

function readServed(record: DnsRecord, domain: string): readonly Served[] {
  const written = record.name === '' ? '@' : record.name;
  const wildcard = written === '*' || written.startsWith('*.');
  const rest = wildcard ? written.slice(2) : written;
  const name = rest === '@' || rest === '' ? domain : absolute(rest, domain);
  return name === null ? [] : [{ record, name, wildcard }];
}

/** Record names are stored relative or absolute (semantics §2). */
function absolute(name: string, domain: string): string | null {
  const canonical = normalizeName(name);
  if (canonical === null) return null;
  return canonical === domain || canonical.endsWith(`.${domain}`) ? canonical : `${canonical}.${domain}`;
}

/** Whether some host of the zone has this name. */
export function serves(zone: Zone, host: string): boolean {
  return zone.served.some(({ name, wildcard }) => (wildcard ? host.endsWith(`.${name}`) : host === name));
}

/** The served names a rule's record scope leaves: all of them when it is zone-wide. */
export function inScope(zone: Zone, rule: Rule): readonly Served[] {
  if (rule.record_ids.length === 0) return zone.served;
  return zone.served.filter(({ record }) => rule.record_ids.includes(record.id));
}

/**
 * Whether the rule's host filter may let a request to this name through. A wildcard name stands for hosts nobody can
 * list, so a regex is given the benefit of the doubt.
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

/** Whether every host `narrow` may see is also seen by `wide`, as far as that can be told from the filters. */
export function seesHostsOf(zone: Zone, wide: Rule, narrow: Rule): boolean {
  const same = HOST_FIELDS.every((field) => JSON.stringify(wide[field]) === JSON.stringify(narrow[field]));
  if (same) return true;
  const scoped = inScope(zone, wide);
  return inScope(zone, narrow)
    .filter((served) => mayAdmit(narrow, served))
    .every((served) => scoped.includes(served) && admitsAll(wide, served));
}

const HOST_FIELDS = [
  'record_ids',
  'host_match_type',
  'host_pattern',
  'host_includes',
  'host_excludes',
] as const satisfies readonly (keyof Rule)[];

function admitsAll(rule: Rule, { name, wildcard }: Served): boolean {
  if (!wildcard) return admitsHost(rule, name);
  if (hostExcludes(rule).length > 0) return false;
  const includes = hostIncludes(rule);
  const below = ['', `.${name}`];
  return includes.length === 0 || includes.some(({ glob }) => glob !== null && globCovers(glob, below));
}

/** Whether a wildcard entry can match any name of the domain at all. */
export function overlapsDomain(zone: Zone, glob: readonly string[]): boolean {
  return globMatches(glob, zone.domain) || globsOverlap(glob, ['', `.${zone.domain}`]);
}
