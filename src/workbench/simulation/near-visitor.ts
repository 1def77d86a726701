/**
 * Visitors that a rule admits. In: a rule, whose type and whose conditions may both read the visitor's address, country, autonomous
 * system, bot and fingerprints. Out: for each such fact values that its lists admit, nearest first.
 */
import { compareIp, formatIp, type IpInterval, parseIp, parseIpEntry } from '../../base/addresses/ip.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import type { Rule } from '../../rules/model/types.ts';
import { botFlag, type Proposal, type VisitorFlags } from './near-request.ts';

/** The number of proposals for one fact. */
const FEW = 4;

/** Facts of visitors that rules filter by. */
export type VisitorFact = keyof VisitorFlags;

/** The bot of the request; `null`: none. */
export type GivenBot = { readonly kind: string; readonly verified: boolean } | null;

/** Visitors that differ in one fact and that all lists of the rule about it admit. */
export function visitorChoices(rule: Rule, fact: VisitorFact, bot: GivenBot): readonly Proposal[] {
  return valuesOf(rule, fact, bot)
    .slice(0, FEW)
    .map((value) => ({ visitor: { [fact]: value } }));
}

function valuesOf(rule: Rule, fact: VisitorFact, bot: GivenBot): readonly string[] {
  const { conditions = {} } = rule;
  switch (fact) {
    case 'ip':
      return addressesOf(listsOf(ownAddresses(rule), conditions.ips));
    case 'country':
      return plainValues(COUNTRIES, listsOf(ownCountries(rule), conditions.countries));
    case 'asn':
      return plainValues(SYSTEMS, listsOf({}, conditions.asns));
    case 'ja4':
      return fingerprintsOf(listsOf('match_ja4' in rule ? included(rule.match_ja4) : {}, conditions.ja4));
    case 'ja4h':
      return fingerprintsOf(listsOf('match_ja4h' in rule ? included(rule.match_ja4h) : {}, undefined));
    case 'bot':
      return botsOf(rule, bot);
    default:
      return fact satisfies never;
  }
}

/** Entries of which one must hold, and of which none may. */
interface Inclusion {
  readonly includes?: readonly (string | number)[] | undefined;
  readonly excludes?: readonly (string | number)[] | undefined;
}

/** All lists about one fact. */
interface FactLists {
  readonly includes: readonly (readonly string[])[];
  readonly excludes: readonly string[];
}

function listsOf(own: Inclusion, conditions: Inclusion | undefined): FactLists {
  const both = [own, conditions ?? {}];
  return {
    includes: both.flatMap(({ includes }) => (includes === undefined ? [] : [includes.map(String)])),
    excludes: both.flatMap(({ excludes = [] }) => excludes.map(String)),
  };
}

/** A list without which its type admits every value. */
function included(entries: readonly string[]): Inclusion {
  return entries.length === 0 ? {} : { includes: entries };
}

function ownAddresses(rule: Rule): Inclusion {
  if (!('ips' in rule) || rule.ips.length === 0) return {};
  return rule.ip_match_type === 'include' ? { includes: rule.ips } : { excludes: rule.ips };
}

function ownCountries(rule: Rule): Inclusion {
  if (!('countries' in rule) || rule.countries.length === 0) return {};
  return rule.country_match_type === 'include' ? { includes: rule.countries } : { excludes: rule.countries };
}

/** Countries for lists that only exclude. */
const COUNTRIES = ['US', 'DE', 'JP', 'BR', 'ZA'] as const;
/** Autonomous systems for documentation (RFC 5398), for lists that only exclude. */
const SYSTEMS = ['64496', '64497', '64498', '64499'] as const;
/** Addresses of the documentation blocks (RFC 5737, RFC 3849), for lists that only exclude. */
const ELSEWHERE = ['203.0.113.7', '198.51.100.7', '2001:db8::7'] as const;
/** A fingerprint of a browser, for lists that only exclude. */
const FINGERPRINTS = [
  't13d1516h2_8daaf6152771_b186095e22b6',
  't13d3112h2_e8f1e7e78f70_b26ce05bbdd6',
] as const;

function isSame(value: string, entry: string): boolean {
  return value === entry;
}

/** Whether a value is in each list that must have it and in none that must not, as `holds` compares. */
function isAdmitted(
  value: string,
  { includes, excludes }: FactLists,
  holds: (value: string, entry: string) => boolean,
): boolean {
  return (
    includes.every((list) => list.some((entry) => holds(value, entry))) &&
    !excludes.some((entry) => holds(value, entry))
  );
}

/** The listed values that all lists admit; of `others` if none must be listed. */
function plainValues(others: readonly string[], lists: FactLists): readonly string[] {
  const values = lists.includes.length === 0 ? others : lists.includes.flat();
  return [...new Set(values)].filter((value) => isAdmitted(value, lists, isSame));
}

/** Fingerprints without the star of a prefix. */
function fingerprintsOf(lists: FactLists): readonly string[] {
  const { includes } = lists;
  const values =
    includes.length === 0 ? FINGERPRINTS : includes.flat().map((entry) => entry.replace(/\*$/, ''));
  const holds = (value: string, entry: string): boolean =>
    entry.endsWith('*') ? value.startsWith(entry.slice(0, -1)) : value === entry;
  return [...new Set(values)].filter((value) => isAdmitted(value, lists, holds));
}

/** The ends of the listed intervals; else addresses of nobody. */
function addressesOf(lists: FactLists): readonly string[] {
  const ends = lists.includes.flat().flatMap((entry) => {
    const interval = parseIpEntry(entry);
    return interval.ok ? endsOf(interval) : [];
  });
  const values = lists.includes.length === 0 ? ELSEWHERE : ends;
  return [...new Set(values)].filter((value) => isAdmitted(value, lists, isWithin));
}

function endsOf({ family, first, last }: IpInterval): readonly string[] {
  return [formatIp(family, first), formatIp(family, last)];
}

/** Whether an address is in an address, prefix or range. */
function isWithin(address: string, entry: string): boolean {
  const words = new Uint32Array(4);
  const family = parseIp(address, words);
  const interval = parseIpEntry(entry);
  if (!interval.ok || interval.family !== family) return false;
  const value = words.subarray(0, family === 4 ? 1 : 4);
  return compareIp(interval.first, value) <= 0 && compareIp(value, interval.last) <= 0;
}

/** Bots as `--bot` states them: the request's own first, then no bot, then the listed kinds and the others. */
function botsOf(rule: Rule, bot: GivenBot): readonly string[] {
  const { bot_kinds, verified_bot } = rule.conditions ?? {};
  const isBotRule = 'bot_kinds' in rule;
  const isVerified = verified_bot === true || (isBotRule && rule.require_verified);
  if (isVerified && verified_bot === false) return [];
  const lists = listsOf(isBotRule ? { includes: rule.bot_kinds } : {}, bot_kinds);
  const listed = lists.includes.flat().filter((kind) => kind !== '*');
  const kinds = [...(bot === null ? [] : [bot.kind]), ...listed, ...BOT_KINDS];
  const admitted = [...new Set(kinds)]
    .filter((kind) => isAdmitted(kind, lists, (value, entry) => entry === '*' || value === entry))
    .map((kind) => botFlag({ kind, verified: isVerified }));
  const mayBeNone = lists.includes.length === 0 && !isBotRule && !isVerified;
  const [own = '', ...others] = admitted;
  const isOwn = bot !== null && own.startsWith(bot.kind);
  return !mayBeNone ? admitted : isOwn ? [own, botFlag(null), ...others] : [botFlag(null), ...admitted];
}
