/** Whether a rule matches a request: scope, host, path, what its type adds, conditions (semantics §2, §3, §5, §12). */
import type { PathFilter, Rule, RuleCommon } from '../../src/rules/model/types.ts';
import { conditionsHold, type Tagged } from './conditions.ts';
import type { Facts } from './facts.ts';
import { baseMatches } from './gateways.ts';
import { normaliseHostEntry } from './host.ts';
import { covers } from './ip.ts';
import { compiledRegex, isFingerprint, matchPieces } from './patterns.ts';
import { redirectEntry } from './rewrite.ts';
import { percentDecode } from './text.ts';

type Test = (text: string) => boolean;

function hostTest(type: string, entry: string): Test {
  if (type === 'regex') {
    const regex = compiledRegex(entry, { ignoreCase: true });
    return (host) => regex.matcher(host).find();
  }
  const normal = normaliseHostEntry(entry);
  if (type === 'exact') return (host) => host === normal;
  const pieces = normal.split('*');
  return (host) => matchPieces(pieces, host);
}

function pathTest(type: string, entry: string): Test {
  if (type === 'regex') {
    const regex = compiledRegex(entry, { ignoreCase: false });
    return (path) => regex.matcher(path).find();
  }
  const pieces = entry.split('*').map(percentDecode);
  return (path) => matchPieces(pieces, path);
}

/** Compiled entries by subject and match type. */
const tests = { host: new Map<string, Map<string, Test>>(), path: new Map<string, Map<string, Test>>() };

export function entryTest(subject: 'host' | 'path', type: string, entry: string): Test {
  const ofType = tests[subject].get(type) ?? new Map<string, Test>();
  tests[subject].set(type, ofType);
  const known = ofType.get(entry) ?? (subject === 'host' ? hostTest(type, entry) : pathTest(type, entry));
  ofType.set(entry, known);
  return known;
}

/** The entries of the list that an entry names (semantics §13); the entry itself if it names none. */
export function listed(entry: string, { lists }: Pick<Facts, 'lists'>): readonly string[] {
  return entry.startsWith('@') ? (lists.get(entry) ?? []) : [entry];
}

function hostMatches(rule: RuleCommon, facts: Facts): boolean {
  const { host } = facts;
  const matches = (entry: string) => {
    if (rule.host_match_type === 'regex' || !entry.startsWith('@'))
      return entryTest('host', rule.host_match_type, entry)(host);
    return listed(entry, facts).some((one) => entryTest('host', 'wildcard', one)(host));
  };
  const includes = rule.host_pattern === '' ? rule.host_includes : [rule.host_pattern, ...rule.host_includes];
  return (includes.length === 0 || includes.some(matches)) && !rule.host_excludes.some(matches);
}

/** The forms of the path an entry may match: the path itself and, where it has one, its twin. */
export function pathForms(facts: Facts): readonly string[] {
  return facts.twin === null ? [facts.path] : [facts.path, facts.twin];
}

function pathMatches(rule: Rule & PathFilter, facts: Facts): boolean {
  if (rule.type === 'redirect' && rule.targets !== undefined && redirectEntry(rule, facts) === null)
    return false;
  const forms = pathForms(facts);
  const test = (entry: string) => {
    if (rule.path_match_type === 'regex' || !entry.startsWith('@'))
      return entryTest('path', rule.path_match_type, entry);
    return (form: string) => listed(entry, facts).some((one) => entryTest('path', 'wildcard', one)(form));
  };
  const either = (entry: string) => forms.some(test(entry));
  const both = (entry: string) => forms.every(test(entry));
  const [included, excluded] = rule.type === 'cache' ? [both, either] : [either, both];
  return (
    (rule.path_includes.length === 0 || rule.path_includes.some(included)) &&
    !rule.path_excludes.some(excluded)
  );
}

function fingerprintListed(entries: readonly string[], value: string | null): boolean {
  return entries.length === 0 || entries.some((entry) => isFingerprint(entry, value));
}

function typeMatches(rule: Rule, facts: Facts): boolean {
  const { ip, country, bot } = facts;
  switch (rule.type) {
    case 'drop': {
      const countries = rule.countries.flatMap((entry) => listed(entry, facts));
      const countryListed = country !== null && countries.includes(country);
      const ipListed =
        ip !== null && rule.ips.some((entry) => listed(entry, facts).some((one) => covers(one, ip)));
      return (
        (rule.countries.length === 0 || countryListed === (rule.country_match_type === 'include')) &&
        (rule.ips.length === 0 || ipListed === (rule.ip_match_type === 'include'))
      );
    }
    case 'fingerprint':
      return fingerprintListed(rule.match_ja4, facts.ja4) && fingerprintListed(rule.match_ja4h, facts.ja4h);
    case 'bot_route':
      return (
        bot !== null &&
        rule.bot_kinds.some((kind) => kind === '*' || kind === bot.kind) &&
        (bot.verified || !rule.require_verified)
      );
    case 'gateway':
      return baseMatches(rule, facts);
    default:
      return true;
  }
}

/** Whether an enabled rule is in scope and all its filters and conditions hold; `tagged` answers for its tags. */
export function ruleMatches(rule: Rule, facts: Facts, tagged: Tagged): boolean {
  return (
    rule.enabled &&
    (rule.record_ids.length === 0 || facts.records.some((record) => rule.record_ids.includes(record.id))) &&
    hostMatches(rule, facts) &&
    (!('path_includes' in rule) || pathMatches(rule, facts)) &&
    typeMatches(rule, facts) &&
    conditionsHold(rule.conditions, facts, tagged)
  );
}
