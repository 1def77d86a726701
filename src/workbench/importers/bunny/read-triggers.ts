/** Translates the triggers of a bunny.net edge rule to a condition over the filters of rules. */
import type { ValueComparison } from '../../../base/vocabulary/vocabulary.ts';
import { type AddressSet, readAddresses, uniteAddresses } from '../addresses.ts';
import type { ImportedCondition } from '../filter.ts';
import { numberAt, objectsAt, type SourceFields, textAt, textsAt } from '../json-source.ts';
import {
  containsText,
  endsWithText,
  equalsText,
  type TextTest,
  wildcardText,
  withoutCase,
} from '../text-test.ts';
import { presentValue, valueCondition } from '../value-test.ts';

/** A condition, and how it differs. */
export interface ReadTriggers {
  readonly condition: ImportedCondition;
  readonly differences: readonly string[];
}

/** Types of triggers by their number in the API. */
const TRIGGERS = [
  'Url',
  'RequestHeader',
  'ResponseHeader',
  'UrlExtension',
  'CountryCode',
  'RemoteIP',
  'UrlQueryString',
  'RandomChance',
  'StatusCode',
  'RequestMethod',
  'CookieValue',
  'CountryStateCode',
];
const MATCHING = ['MatchAny', 'MatchAll', 'MatchNone'];

/** Reads the triggers of a rule; without any it acts on every request. `exempts`: the rule takes requests out of a guard. */
export function readTriggers(
  rule: SourceFields,
  { hosts, exempts = false }: { readonly hosts: readonly string[]; readonly exempts?: boolean },
): ReadTriggers {
  const differences: string[] = [];
  const joins = nameAt(rule, 'TriggerMatchingType', MATCHING);
  const triggers = objectsAt(rule, 'Triggers').map((trigger) => {
    const type = nameAt(trigger, 'Type', TRIGGERS);
    const matching = nameAt(trigger, 'PatternMatchingType', MATCHING);
    const isNegated = (joins === 'MatchNone') !== (matching === 'MatchNone');
    const isException = isNegated !== exempts;
    const name = textAt(trigger, 'Parameter1');
    const patterns = textsAt(trigger, 'PatternMatches').map((pattern) =>
      patternCondition(type, pattern, { hosts, differences, name, isException }),
    );
    return joined(matching, patterns);
  });
  if (triggers.length === 0) return { condition: { kind: 'constant', value: true }, differences };
  return { condition: joined(joins, triggers), differences: [...new Set(differences)] };
}

/** A value of an enumeration, which the API answers as a number or as a name. */
export function nameAt(from: SourceFields, field: string, names: readonly string[]): string {
  const number = numberAt(from, field);
  if (number !== null) return names[number] ?? `type ${number}`;
  const text = from[field];
  return typeof text === 'string' ? text : (names[0] ?? '');
}

function joined(matching: string, of: readonly ImportedCondition[]): ImportedCondition {
  if (matching === 'MatchAll') return { kind: 'all', of };
  if (matching === 'MatchNone') return { kind: 'not', of: { kind: 'any', of } };
  if (matching === 'MatchAny') return { kind: 'any', of };
  return { kind: 'unknown', text: matching, reason: 'is no known way to join conditions' };
}

/** What patterns are read with. */
interface PatternContext {
  readonly hosts: readonly string[];
  readonly differences: string[];
  /** The name of the header or cookie of the trigger. */
  readonly name: string;
  /** The rule refuses fewer requests where the pattern matches. */
  readonly isException: boolean;
}

function patternCondition(type: string, pattern: string, context: PatternContext): ImportedCondition {
  const text = `${type} ${pattern}`;
  if (pattern.startsWith('pattern:'))
    return { kind: 'unknown', text, reason: 'is a Lua pattern, which has no equivalent' };
  switch (type) {
    case 'Url':
      return urlCondition(pattern, context);
    case 'UrlExtension': {
      const name = pattern.replace(/^\./, '');
      if (!/^[\w-]+$/.test(name)) return { kind: 'unknown', text, reason: 'is an unusual extension' };
      return { kind: 'path', tests: [withoutCase(endsWithText(`.${name}`))] };
    }
    case 'CountryCode':
      if (!/^[A-Za-z]{2}$/.test(pattern))
        return { kind: 'unknown', text, reason: 'is no country of ISO 3166-1' };
      return { kind: 'country', codes: [pattern.toUpperCase()] };
    case 'RemoteIP':
      return addressCondition(pattern, text);
    case 'RequestMethod':
      if (!/^[A-Za-z]+$/.test(pattern)) return { kind: 'unknown', text, reason: 'is no method' };
      return {
        kind: 'fact',
        fact: { member: 'methods', values: [pattern.toUpperCase()], negated: false },
      };
    case 'RequestHeader':
    case 'CookieValue':
      return namedCondition(type, pattern, context);
    case 'UrlQueryString':
      return { kind: 'unknown', text, reason: 'has no equivalent: it is about the whole query' };
    default:
      return { kind: 'unknown', text, reason: 'has no equivalent: no rule has such a filter' };
  }
}

/** A pattern of the value of a header or a cookie, in which `*` is any text. */
function namedCondition(
  type: 'RequestHeader' | 'CookieValue',
  pattern: string,
  { name, differences, isException }: PatternContext,
): ImportedCondition {
  const member = type === 'RequestHeader' ? 'headers' : 'cookies';
  const text = `${type} ${name} ${pattern}`;
  if (pattern === '') return { kind: 'unknown', text, reason: 'is empty' };
  const isAny = /^\*+$/.test(pattern);
  // The documentation does not say whether case counts: a refusal ignores it, and an exception does not.
  const ignoreCase = !isException && /[a-z]/i.test(pattern);
  const condition = isAny
    ? presentValue(member, name)
    : valueCondition({ member, name, ...patternOf(pattern), ignoreCase });
  if (typeof condition === 'string') return { kind: 'unknown', text, reason: condition };
  if (/[a-z]/i.test(pattern))
    differences.push(
      `the edge compares \`${name}\` ${ignoreCase ? 'without' : 'with'} regard to case, of which the documentation of bunny.net says nothing`,
    );
  return condition;
}

/** A pattern as a comparison. */
function patternOf(pattern: string): {
  readonly comparison: ValueComparison;
  readonly texts: readonly string[];
} {
  return { comparison: pattern.includes('*') ? 'wildcard' : 'equals', texts: [pattern] };
}

/** An address, a prefix, or IPv4 octets with a star at the end. */
function addressCondition(pattern: string, text: string): ImportedCondition {
  const octets = /^((?:\d{1,3}\.){1,3})\*$/.exec(pattern)?.[1]?.split('.').slice(0, -1);
  const entry =
    octets === undefined
      ? pattern
      : `${[...octets, '0', '0', '0'].slice(0, 4).join('.')}/${octets.length * 8}`;
  const set: AddressSet | null = readAddresses(entry);
  if (set === null) return { kind: 'unknown', text, reason: 'is no address' };
  return { kind: 'ip', addresses: uniteAddresses([set]) };
}

/** A pattern of the URL without its query, in which `*` is any text. */
function urlCondition(pattern: string, { hosts }: PatternContext): ImportedCondition {
  const text = `Url ${pattern}`;
  if (/[?%\\]|%?\{\{?/.test(pattern))
    return { kind: 'unknown', text, reason: 'is about the query, an escape or a variable' };
  if (pattern === '*') return { kind: 'constant', value: true };
  if (pattern.startsWith('/')) return { kind: 'path', tests: [wildcardText(pattern)] };
  const [, scheme, host, path] = /^(https?|\*):\/\/([^/]+)(\/.*)?$/.exec(pattern) ?? [];
  if (host !== undefined) {
    if (host.includes('*') && host !== '*' && !host.startsWith('*.'))
      return { kind: 'unknown', text, reason: 'has a star inside the host' };
    const hostTests: readonly TextTest[] = [
      host.includes('*') ? wildcardText(host.toLowerCase()) : equalsText(host.toLowerCase()),
    ];
    const paths: ImportedCondition = { kind: 'path', tests: [wildcardText(path ?? '/')] };
    const of: ImportedCondition[] = [paths];
    if (host !== '*') of.unshift({ kind: 'host', tests: hostTests });
    if (scheme !== '*')
      of.unshift({ kind: 'fact', fact: { member: 'schemes', values: [scheme!], negated: false } });
    return of.length === 1 ? paths : { kind: 'all', of };
  }
  return looseUrl(pattern, text, hosts);
}

/** A pattern that begins with a star: what follows it is in the path, unless it could be in a host. */
function looseUrl(pattern: string, text: string, hosts: readonly string[]): ImportedCondition {
  const body = pattern.replace(/^\*/, '');
  if (body === pattern) return { kind: 'unknown', text, reason: 'begins with neither `/`, `*` nor a scheme' };
  const [first = ''] = body.split('*');
  const urls = hosts.flatMap((host) => [`https://${host}/`, `http://${host}/`]);
  const inHost = first === '' || urls.some((url) => overlaps(url, first));
  if (inHost || hosts.length === 0)
    return { kind: 'unknown', text, reason: 'may match the host as well as the path' };
  if (body === `${first}*`) return { kind: 'path', tests: [containsText(first)] };
  return { kind: 'path', tests: [wildcardText(`*${body}`)] };
}

/** Whether a text can begin inside the scheme and host of a URL; one that begins with the slash of the path does not. */
function overlaps(url: string, text: string): boolean {
  for (let at = 0; at < url.length - 1; at++) {
    const rest = url.slice(at);
    if (rest.startsWith(text) || text.startsWith(rest)) return true;
  }
  return false;
}
