/** Evaluates every check of one rule, also after one that fails, and describes each result; `explain` reports them. */
import { formatIp } from '../../base/addresses/ip.ts';
import { BOT_KINDS, RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import { ADDRESSES, FILTER, FLAG, NONE, SLOT } from '../plan/layout.ts';
import { botOf, type Facts, ipOf, OTHER_BOT } from './facts.ts';
import { sourceOf, textsAt } from './loaded.ts';
import {
  addressEntry,
  fingerprintEntry,
  hostEntry,
  inScope,
  isCountryListed,
  pathEntry,
} from './predicates.ts';
import { type Context, slotWord } from './run.ts';
import type { CheckName, CheckTrace, ReasonCode } from './trace.ts';

/** A check's result, with the reason that it gives a rule for being skipped. */
export interface JudgedCheck extends CheckTrace {
  readonly failure: ReasonCode;
  /** The rule has this filter. Without one everything passes the check. */
  readonly filters: boolean;
}

const WITH_PATH: readonly RuleType[] = [
  'drop',
  'rate_limit',
  'waf',
  'redirect',
  'captcha',
  'rewrite',
  'cache',
  'origin_route',
  'error_page',
];

/** The checks of the rule in `slot`, in the order of CHECKS. */
export function checksOf(context: Context, slot: number): readonly JudgedCheck[] {
  const flags = slotWord(context, slot, SLOT.flags);
  const type = RULE_TYPES[flags & FLAG.type]!;
  const checks: JudgedCheck[] = [];
  if ((flags & FLAG.enabled) === 0) checks.push(judged('enabled', false, 'the rule is disabled', 'disabled'));
  checks.push(scopeCheck(context, slot), hostCheck(context, slot));
  if (WITH_PATH.includes(type)) checks.push(pathCheck(context, slot));
  if (type === 'drop') checks.push(countryCheck(context, slot), addressCheck(context, slot));
  if (type === 'bot_route') checks.push(kindCheck(context, slot), ...verifiedCheck(context, slot));
  if (type === 'fingerprint') checks.push(...fingerprintChecks(context, slot));
  return checks;
}

/** The result of a filter that the rule has. `pass` is `null` if the request lacks the fact it needs. */
function judged(
  check: CheckName,
  pass: boolean | null,
  text: string,
  failure: ReasonCode,
  entry?: string,
): JudgedCheck {
  return { check, pass, text, failure, filters: true, ...(entry === undefined ? {} : { entry }) };
}

/** A filter the rule does not have: everything passes it. */
function unfiltered(check: CheckName, text: string, failure: ReasonCode, entry?: string): JudgedCheck {
  return { ...judged(check, true, text, failure, entry), filters: false };
}

/** Entries that are printed of a list; the count of the others follows. */
const SHOWN = 4;

/** Characters of a value that a step of the trace repeats: a trace has a step for every rule. */
const SHOWN_CHARACTERS = 256;

/** A text, or its beginning and its length. */
function shortText(text: string): string {
  return text.length <= SHOWN_CHARACTERS
    ? text
    : `${text.slice(0, SHOWN_CHARACTERS)}… (${text.length} characters)`;
}

/** A list as it is printed: `[a, b, c, d, 12 more]`. */
export function listText(entries: readonly string[]): string {
  const shown = entries.slice(0, SHOWN).map(shortText);
  if (entries.length > SHOWN) shown.push(`${entries.length - SHOWN} more`);
  return `[${shown.join(', ')}]`;
}

/** The check of the records that the rule is scoped to. */
function scopeCheck(context: Context, slot: number): JudgedCheck {
  const scope = slotWord(context, slot, SLOT.scope);
  if (scope === NONE) return unfiltered('scope', 'every proxied record', 'out_of_scope');
  const { host } = context.facts;
  return inScope(context.loaded, scope, context.facts)
    ? judged('scope', true, `a record of ${host} is in record_ids`, 'out_of_scope', 'record_ids')
    : judged('scope', false, `no record of ${host} is in record_ids`, 'out_of_scope', 'record_ids');
}

/** The include and exclude lists of a host or path filter, as offsets in `words`. */
interface PatternLists {
  readonly includes: readonly string[];
  readonly excludes: readonly string[];
  readonly from: number;
  readonly middle: number;
  readonly end: number;
}

/** The lists of the filter at `offset`. */
function listsAt(context: Context, offset: number): PatternLists {
  const { words } = context.loaded.plan;
  const from = offset + FILTER.patterns;
  const middle = from + words[offset + FILTER.includes]!;
  const end = middle + words[offset + FILTER.excludes]!;
  const sources = [...words.subarray(from, end)].map((pattern) => sourceOf(context.loaded, pattern));
  const count = middle - from;
  return { includes: sources.slice(0, count), excludes: sources.slice(count), from, middle, end };
}

/** The check of the host filter. */
function hostCheck(context: Context, slot: number): JudgedCheck {
  const { host } = context.facts;
  const offset = slotWord(context, slot, SLOT.host);
  if (offset === NONE) return unfiltered('host', 'no host filter', 'host_not_included');
  const lists = listsAt(context, offset);
  const excluded = hostEntry(context.loaded, lists.middle, lists.end, host);
  if (excluded >= 0) {
    const text = `host ${host} is carved out by host_excludes [${lists.excludes[excluded]}]`;
    return judged('host', false, text, 'host_excluded', `host_excludes[${excluded}]`);
  }
  if (lists.includes.length === 0)
    return judged('host', true, 'no host_includes, and not excluded', 'host_not_included');
  const patternLast = (slotWord(context, slot, SLOT.flags) & FLAG.hostPattern) !== 0;
  const name = (entry: number): string =>
    patternLast && entry === lists.includes.length - 1 ? 'host_pattern' : `host_includes[${entry}]`;
  const included = hostEntry(context.loaded, lists.from, lists.middle, host);
  if (included >= 0) {
    return judged(
      'host',
      true,
      `${host} matches ${lists.includes[included]}`,
      'host_not_included',
      name(included),
    );
  }
  const text = `host ${host} is not in host_includes ${listText(lists.includes)}`;
  return judged('host', false, text, 'host_not_included', name(0));
}

/** The check of the path filter, over both forms of a path with `;params`. */
function pathCheck(context: Context, slot: number): JudgedCheck {
  const { facts, loaded } = context;
  const offset = slotWord(context, slot, SLOT.path);
  if (offset === NONE)
    return unfiltered('path', `${shortText(facts.path)} matches /*`, 'path_not_included', 'path_includes[0]');
  const lists = listsAt(context, offset);
  const both = (slotWord(context, slot, SLOT.flags) & FLAG.bothForms) !== 0;
  const excluded = pathEntry(loaded, { from: lists.middle, to: lists.end }, facts, !both);
  if (excluded >= 0) {
    const text = `path ${shortText(facts.path)} is carved out by path_excludes [${shortText(lists.excludes[excluded]!)}]`;
    return judged('path', false, text, 'path_excluded', `path_excludes[${excluded}]`);
  }
  if (lists.includes.length === 0) return unfiltered('path', 'every path', 'path_not_included');
  const included = pathEntry(loaded, { from: lists.from, to: lists.middle }, facts, both);
  if (included >= 0) {
    const text = `${shortText(facts.path)} matches ${shortText(lists.includes[included]!)}`;
    return judged('path', true, text, 'path_not_included', `path_includes[${included}]`);
  }
  const text = `path ${shortText(facts.path)} is not in path_includes ${listText(lists.includes)}`;
  return judged('path', false, text, 'path_not_included', 'path_includes[0]');
}

/** ISO 3166-1 alpha-2 code of a country number (26 × first letter + second letter). */
export function countryCode(number: number): string {
  return String.fromCharCode(65 + Math.floor(number / 26), 65 + (number % 26));
}

/** The check of the country filter; unknown countries fail it in either mode. */
function countryCheck(context: Context, slot: number): JudgedCheck {
  const { facts, loaded } = context;
  const { words } = loaded.plan;
  const offset = slotWord(context, slot, SLOT.countries);
  if (offset === NONE) return unfiltered('country', 'no country filter', 'country_not_listed');
  const codes = [...words.subarray(offset + 1, offset + 1 + words[offset]!)];
  const listed = listText(codes.map(countryCode));
  const excludes = (slotWord(context, slot, SLOT.flags) & FLAG.excludeCountries) !== 0;
  if (facts.country < 0) {
    if (excludes)
      return judged('country', true, `the country is unknown, so not among ${listed}`, 'country_unknown');
    return judged(
      'country',
      null,
      'the country is unknown, so it is never listed',
      'country_unknown',
      'countries[0]',
    );
  }
  const code = countryCode(facts.country);
  const place = codes.indexOf(facts.country);
  const entry = place < 0 && excludes ? undefined : `countries[${Math.max(0, place)}]`;
  const isListed = isCountryListed(loaded, offset, facts.country);
  const text = `country ${code} is ${isListed ? 'in' : 'not in'} countries ${listed}`;
  return judged(
    'country',
    isListed !== excludes,
    text,
    excludes ? 'country_listed' : 'country_not_listed',
    entry,
  );
}

/** One interval of a rule as the customer would write it. */
function entryTexts(words: Uint32Array, offset: number): readonly string[] {
  const n4 = words[offset + ADDRESSES.n4]!;
  const n6 = words[offset + ADDRESSES.n6]!;
  const four = offset + ADDRESSES.entries;
  const six = four + n4 * 3;
  const texts: string[] = [];
  for (let entry = 0; entry < n4; entry++) {
    const range = [words.subarray(four + entry * 2), words.subarray(four + entry * 2 + 1)] as const;
    texts[words[four + n4 * 2 + entry]!] = rangeText(4, range[0], range[1]);
  }
  for (let entry = 0; entry < n6; entry++) {
    const at = six + entry * 8;
    texts[words[six + n6 * 8 + entry]!] = rangeText(
      6,
      words.subarray(at, at + 4),
      words.subarray(at + 4, at + 8),
    );
  }
  return texts;
}

/** An address, a prefix if the interval is one, or `<first>-<last>`. */
function rangeText(family: 4 | 6, first: Uint32Array, last: Uint32Array): string {
  const width = family === 4 ? 1 : 4;
  let common = 0;
  let exact = true;
  for (let word = 0; word < width; word++) {
    const difference = (first[word]! ^ last[word]!) >>> 0;
    const same = Math.clz32(difference);
    if (common === word * 32) {
      common += same;
      const tail = same === 32 ? 0 : 0xffffffff >>> same;
      exact &&= (first[word]! & tail) >>> 0 === 0 && (last[word]! & tail) >>> 0 === tail;
    } else exact &&= first[word] === 0 && last[word] === 0xffffffff;
  }
  const start = formatIp(family, first);
  if (common === width * 32) return start;
  return exact ? `${start}/${common}` : `${start}-${formatIp(family, last)}`;
}

/** The check of the address filter; unknown addresses fail it in either mode. */
function addressCheck(context: Context, slot: number): JudgedCheck {
  const { facts, loaded } = context;
  const { words } = loaded.plan;
  const offset = slotWord(context, slot, SLOT.addresses);
  if (offset === NONE) return unfiltered('ip', 'no ip filter', 'ip_not_listed');
  const listed = entryTexts(words, offset);
  const excludes = (slotWord(context, slot, SLOT.flags) & FLAG.excludeAddresses) !== 0;
  const family = ipOf(facts);
  if (family === 0) {
    if (excludes)
      return judged(
        'ip',
        true,
        `the address is unknown, so outside the allowlist ${listText(listed)}`,
        'ip_unknown',
      );
    return judged('ip', null, 'the address is unknown, so it is never listed', 'ip_unknown', 'ips[0]');
  }
  const address = formatIp(family as 4 | 6, facts.ipWords);
  const entry = addressEntry(words, offset, facts);
  const name = entry < 0 ? undefined : `ips[${entry}]`;
  if (excludes) {
    const inside = `${address} is in the allowlist entry ${listed[entry]}`;
    const outside = `${address} is outside the allowlist ${listText(listed)}`;
    return judged('ip', entry < 0, entry < 0 ? outside : inside, 'ip_listed', name);
  }
  const text =
    entry < 0 ? `${address} is not in ips ${listText(listed)}` : `${address} is in ${listed[entry]}`;
  return judged('ip', entry >= 0, text, 'ip_not_listed', name ?? 'ips[0]');
}

/** A bot kind as it is printed. */
export function botText(context: Context): string | null {
  const { facts } = context;
  const kind = botOf(facts);
  if (kind < 0) return null;
  if (kind < OTHER_BOT) return BOT_KINDS[kind]!;
  const given: unknown = facts.request.bot;
  return typeof given === 'object' && given !== null && 'kind' in given ? String(given.kind) : null;
}

/** The check of the bot kinds. */
function kindCheck(context: Context, slot: number): JudgedCheck {
  const { words } = context.loaded.plan;
  const offset = slotWord(context, slot, SLOT.kinds);
  const kinds = [...words.subarray(offset + 2, offset + 2 + words[offset + 1]!)];
  const listed = listText(kinds.map((kind) => (kind === OTHER_BOT ? '*' : BOT_KINDS[kind]!)));
  const kind = botOf(context.facts);
  if (kind < 0) {
    const why =
      botSource(context.facts) === 'given' ? 'the visitor is not a bot' : 'the user agent names no known bot';
    return judged('kind', false, why, 'bot_not_classified', 'bot_kinds[0]');
  }
  const place = kinds.findIndex((listedKind) => listedKind === kind || listedKind === OTHER_BOT);
  const name = botText(context);
  if (place < 0)
    return judged(
      'kind',
      false,
      `bot ${name} is not in bot_kinds ${listed}`,
      'bot_not_listed',
      'bot_kinds[0]',
    );
  return judged(
    'kind',
    true,
    `bot ${name} is in bot_kinds ${listed}`,
    'bot_not_listed',
    `bot_kinds[${place}]`,
  );
}

/** Whether the bot's kind is classified from the User-Agent or given by the embedder. */
export function botSource(facts: Facts): 'user-agent' | 'given' {
  return facts.request.bot === undefined ? 'user-agent' : 'given';
}

/** The check of `require_verified`; absent if the rule does not require it. */
function verifiedCheck(context: Context, slot: number): readonly JudgedCheck[] {
  if ((slotWord(context, slot, SLOT.flags) & FLAG.requireVerified) === 0) return [];
  const name = botText(context);
  if (name === null)
    return [judged('verified', false, 'no bot, so nothing is verified', 'bot_not_classified')];
  const { botVerified } = context.facts;
  const text = botVerified
    ? `bot ${name} is verified`
    : `bot ${name} is only declared in the user agent; the rule needs a verified bot`;
  return [judged('verified', botVerified, text, 'bot_unverified')];
}

/** The checks of the JA4 and JA4H lists, for those that the rule has. */
function fingerprintChecks(context: Context, slot: number): readonly JudgedCheck[] {
  const { words } = context.loaded.plan;
  const first = slotWord(context, slot, SLOT.kinds);
  const second = first + 1 + words[first]!;
  const { ja4, ja4h } = context.facts;
  return [
    ...fingerprintCheck(context, first, { name: 'ja4', field: 'match_ja4', given: ja4 }),
    ...fingerprintCheck(context, second, { name: 'ja4h', field: 'match_ja4h', given: ja4h }),
  ];
}

/** A fingerprint of the request, and the field of rules that lists its kind. */
interface GivenFingerprint {
  readonly name: 'ja4' | 'ja4h';
  readonly field: 'match_ja4' | 'match_ja4h';
  readonly given: string | null;
}

function fingerprintCheck(
  context: Context,
  offset: number,
  { name, field, given }: GivenFingerprint,
): readonly JudgedCheck[] {
  const listed = textsAt(context.loaded, offset);
  if (listed.length === 0) return [];
  const label = name.toUpperCase();
  if (given === null)
    return [
      judged(name, null, `no ${label} was given, so nothing to compare`, 'missing_input', `${field}[0]`),
    ];
  const entry = fingerprintEntry(context.loaded, offset, given);
  if (entry < 0) {
    const text = `${label} ${given} is not in ${field} ${listText(listed)}`;
    return [judged(name, false, text, 'fingerprint_not_listed', `${field}[0]`)];
  }
  const text = `${label} ${given} matches ${listed[entry]}`;
  return [judged(name, true, text, 'fingerprint_not_listed', `${field}[${entry}]`)];
}
