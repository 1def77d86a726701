/** Whether a rule matches a request: scope, host, path, and what its type adds (semantics §2, §3, §5). */
import { RE2JS } from 're2js';
import type { PathFilter, Rule, RuleCommon } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import { normaliseHostEntry } from './host.ts';
import { covers } from './ip.ts';
import { percentDecode } from './text.ts';

type Test = (text: string) => boolean;

/** Literal pieces with any run of characters between each two. */
function matchPieces(pieces: readonly string[], text: string): boolean {
  const first = pieces[0]!;
  const last = pieces.at(-1)!;
  if (pieces.length === 1) return text === first;
  if (!text.startsWith(first) || !text.endsWith(last) || text.length < first.length + last.length)
    return false;
  const end = text.length - last.length;
  let at = first.length;
  for (const piece of pieces.slice(1, -1)) {
    const found = text.indexOf(piece, at);
    if (found < 0 || found + piece.length > end) return false;
    at = found + piece.length;
  }
  return true;
}

const compiled = new Map<string, RE2JS>();

/** The compiled path regex: unanchored, case counts, `.` matches newlines. */
export function pathRegex(pattern: string, flags: number = RE2JS.DOTALL): RE2JS {
  const key = `${flags}:${pattern}`;
  const known = compiled.get(key) ?? RE2JS.compile(pattern, flags);
  compiled.set(key, known);
  return known;
}

function hostTest(type: string, entry: string): Test {
  if (type === 'regex') {
    const regex = pathRegex(entry, RE2JS.DOTALL | RE2JS.CASE_INSENSITIVE);
    return (host) => regex.matcher(host).find();
  }
  const normal = normaliseHostEntry(entry);
  if (type === 'exact') return (host) => host === normal;
  const pieces = normal.split('*');
  return (host) => matchPieces(pieces, host);
}

function pathTest(type: string, entry: string): Test {
  if (type === 'regex') {
    const regex = pathRegex(entry);
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

function hostMatches(rule: RuleCommon, host: string): boolean {
  const matches = (entry: string) => entryTest('host', rule.host_match_type, entry)(host);
  const includes = rule.host_pattern === '' ? rule.host_includes : [rule.host_pattern, ...rule.host_includes];
  return (includes.length === 0 || includes.some(matches)) && !rule.host_excludes.some(matches);
}

/** The forms of the path an entry may match: the path itself and, where it has one, its twin. */
export function pathForms(facts: Facts): readonly string[] {
  return facts.twin === null ? [facts.path] : [facts.path, facts.twin];
}

function pathMatches(rule: Rule & PathFilter, facts: Facts): boolean {
  const forms = pathForms(facts);
  const test = (entry: string) => entryTest('path', rule.path_match_type, entry);
  const either = (entry: string) => forms.some(test(entry));
  const both = (entry: string) => forms.every(test(entry));
  const [included, excluded] = rule.type === 'cache' ? [both, either] : [either, both];
  return (
    (rule.path_includes.length === 0 || rule.path_includes.some(included)) &&
    !rule.path_excludes.some(excluded)
  );
}

function fingerprintListed(entries: readonly string[], value: string | null): boolean {
  if (entries.length === 0) return true;
  if (value === null) return false;
  return entries.some((entry) =>
    entry.endsWith('*') ? value.startsWith(entry.slice(0, -1)) : value === entry,
  );
}

function typeMatches(rule: Rule, facts: Facts): boolean {
  const { ip, country, bot } = facts;
  switch (rule.type) {
    case 'drop': {
      const countryListed = country !== null && rule.countries.includes(country);
      const ipListed = ip !== null && rule.ips.some((entry) => covers(entry, ip));
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
    default:
      return true;
  }
}

/** Whether an enabled rule is in scope and all its filters hold. */
export function ruleMatches(rule: Rule, facts: Facts): boolean {
  return (
    rule.enabled &&
    (rule.record_ids.length === 0 || facts.records.some((record) => rule.record_ids.includes(record.id))) &&
    hostMatches(rule, facts.host) &&
    (!('path_includes' in rule) || pathMatches(rule, facts)) &&
    typeMatches(rule, facts)
  );
}
