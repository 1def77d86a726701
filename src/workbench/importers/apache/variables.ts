/**
 * Tests of variables of Apache httpd as conditions: `RewriteCond`, `SetEnvIf` and expressions ask for them. The host and the
 * scheme take few values, all of which are known, so that a test of them is computed.
 */
import { COUNTRIES } from '../../../base/addresses/countries.ts';
import type { ValueMember } from '../../../base/vocabulary/vocabulary.ts';
import { readAddresses, uniteAddresses } from '../addresses.ts';
import { valueFact } from '../facts.ts';
import type { ImportedCondition } from '../filter.ts';
import { equalsText } from '../text-test.ts';
import {
  type ApacheImport,
  allOf,
  anyOf,
  EVERY,
  NEVER,
  notOf,
  type TestedVariable,
  unknownTest,
} from './context.ts';
import { literalTests, matchText, pathTests, type TextMatcher } from './patterns.ts';
import { testQuery } from './query.ts';

/** A host and a scheme, for which variables of them are known. */
export interface KnownWorld {
  readonly host: string;
  readonly scheme: 'http' | 'https';
}

const HOSTS = ['HTTP_HOST', 'SERVER_NAME', 'HTTP:HOST'];
const ADDRESSES = [
  'REMOTE_ADDR',
  'REMOTE_HOST_ADDR',
  'HTTP:CF-CONNECTING-IP',
  'HTTP:X-FORWARDED-FOR',
  'HTTP_X_FORWARDED_FOR',
  'HTTP:X-REAL-IP',
];
const COUNTRY_NAMES = [
  'ENV:GEOIP_COUNTRY_CODE',
  'GEOIP_COUNTRY_CODE',
  'ENV:MM_COUNTRY_CODE',
  'MM_COUNTRY_CODE',
  'HTTP:CF-IPCOUNTRY',
];
/** Methods that servers know: the values of a test of the method by a regex. */
const METHODS = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'TRACK'],
  ...['PROPFIND', 'PROPPATCH', 'MKCOL', 'COPY', 'MOVE', 'LOCK', 'UNLOCK'],
];

/** The value of a variable in a world; `null`: it does not follow from host and scheme. */
export function knownValue(written: string, { host, scheme }: KnownWorld): string | null {
  const name = written.toUpperCase();
  const isSecure = scheme === 'https';
  if (HOSTS.includes(name)) return host;
  switch (name) {
    case 'HTTPS':
    case 'HTTP:X-FORWARDED-SSL':
      return isSecure ? 'on' : 'off';
    case 'ENV:HTTPS':
      return isSecure ? 'on' : '';
    case 'REQUEST_SCHEME':
    case 'HTTP:X-FORWARDED-PROTO':
    case 'HTTP_X_FORWARDED_PROTO':
      return scheme;
    case 'SERVER_PORT':
    case 'HTTP:X-FORWARDED-PORT':
      return isSecure ? '443' : '80';
    case 'HTTP:CF-VISITOR':
      return `{"scheme":"${scheme}"}`;
    // Set in the requests that Apache sends to itself, which the edge does not see.
    case 'ENV:REDIRECT_STATUS':
    case 'REDIRECT_STATUS':
      return '';
    case 'IS_SUBREQ':
      return 'false';
    default:
      return null;
  }
}

/** A text with `%{…}` in a world; `null`: it has variables that are not known. */
export function knownText(written: string, world: KnownWorld): string | null {
  let isKnown = true;
  const text = written.replace(/%\{([^}]*)\}/g, (_, name: string) => {
    const value = knownValue(name, world);
    if (value === null) isKnown = false;
    return value ?? '';
  });
  return isKnown && !/%\d/.test(written) ? text : null;
}

/** All hosts and schemes of an import. */
export function worldsOf({ hosts }: Pick<ApacheImport, 'hosts'>): readonly KnownWorld[] {
  return hosts.flatMap((host) => (['http', 'https'] as const).map((scheme) => ({ host, scheme })));
}

/** The requests of some of the worlds. */
export function inWorlds(
  { hosts }: Pick<ApacheImport, 'hosts'>,
  holds: (world: KnownWorld) => boolean,
): ImportedCondition {
  const parts = new Map<string, string[]>();
  for (const host of hosts) {
    const schemes = (['http', 'https'] as const).filter((scheme) => holds({ host, scheme }));
    if (schemes.length > 0) parts.set(schemes.join(), [...(parts.get(schemes.join()) ?? []), host]);
  }
  return anyOf(
    [...parts].map(([schemes, own]) =>
      allOf([
        own.length === hosts.length ? EVERY : { kind: 'host', tests: own.map(equalsText) },
        schemes.includes(',') ? EVERY : schemeIs(schemes),
      ]),
    ),
  );
}

function schemeIs(scheme: string): ImportedCondition {
  return { kind: 'fact', fact: { member: 'schemes', values: [scheme], negated: false } };
}

/** Whether a text passes. */
export function matchesText(matcher: TextMatcher, text: string): boolean {
  if (matcher.kind === 'regex') return matchText(matcher.pattern, text) !== null;
  return matcher.ignoreCase ? text.toLowerCase() === matcher.text.toLowerCase() : text === matcher.text;
}

/** The condition that the text of a test, with `%{…}`, passes. */
export function testText(state: ApacheImport, written: string, matcher: TextMatcher): TestedVariable {
  const worlds = worldsOf(state);
  if (worlds.every((world) => knownText(written, world) !== null)) {
    const forwarded = /%\{HTTP[:_](?:X-FORWARDED-|X_FORWARDED_|CF-VISITOR)/i.test(written)
      ? [`\`${written}\` is read as what the edge sends: the scheme of the visitor`]
      : [];
    return tested(
      inWorlds(state, (world) => matchesText(matcher, knownText(written, world)!)),
      forwarded,
    );
  }
  const [, name] = /^%\{([^}]+)\}$/.exec(written) ?? [];
  if (name === undefined) return tested(unknownTest(written, 'has several parts, which no filter has'));
  return testVariable(state, name, matcher);
}

function tested(
  condition: ImportedCondition,
  differences: readonly string[] = [],
  isWide = false,
): TestedVariable {
  return { condition, differences, isWide };
}

/** The condition that a variable passes a test. */
export function testVariable(state: ApacheImport, written: string, matcher: TextMatcher): TestedVariable {
  const name = written.toUpperCase();
  if (COUNTRY_NAMES.includes(name)) return tested(testCountry(written, matcher));
  if (ADDRESSES.includes(name)) {
    const difference = `\`${written}\` is read as the address of the visitor`;
    return tested(testAddress(written, matcher), name === 'REMOTE_ADDR' ? [] : [difference]);
  }
  if (name.startsWith('ENV:') || state.environment.has(written))
    return tested(testEnvironment(state, written.replace(/^env:/i, ''), matcher));
  if (['REQUEST_URI', 'DOCUMENT_URI', 'SCRIPT_NAME'].includes(name)) return tested(testPath(matcher));
  if (['REQUEST_FILENAME', 'SCRIPT_FILENAME'].includes(name)) return testFilename(written, matcher);
  if (name === 'REQUEST_METHOD') return tested(testMethod(matcher));
  if (name === 'QUERY_STRING') return testQuery(matcher);
  const header = headerOf(name);
  if (header !== null) return tested(testHeader('headers', header, matcher));
  return tested(unknownTest(`%{${written}}`, 'has no filter'));
}

/** The header of a variable. */
function headerOf(name: string): string | null {
  const [, own] = /^(?:HTTP|REQ|REQ_NOVARY):(.+)$/.exec(name) ?? [];
  if (own !== undefined) return own.trim().toLowerCase();
  const known = [
    'USER_AGENT',
    'REFERER',
    'COOKIE',
    'ACCEPT',
    'ACCEPT_LANGUAGE',
    'ORIGIN',
    'X_REQUESTED_WITH',
  ];
  const [, short] = /^HTTP_(.+)$/.exec(name) ?? [];
  return short !== undefined && known.includes(short) ? short.toLowerCase().replaceAll('_', '-') : null;
}

/** The condition that a header passes a test; one that is absent is the empty text. */
export function testHeader(member: ValueMember, header: string, matcher: TextMatcher): ImportedCondition {
  const absent: ImportedCondition = { kind: 'fact', fact: valueFact(member, header, { op: 'absent' }) };
  const value = valueTest(member, header, matcher);
  if (value === null) return notOf(absent);
  return matchesText(matcher, '') ? anyOf([absent, value]) : value;
}

function valueTest(member: ValueMember, name: string, matcher: TextMatcher): ImportedCondition | null {
  const fact = (
    op: 'equals' | 'prefix' | 'suffix' | 'contains' | 'regex',
    values: readonly string[],
    ignoreCase: boolean,
  ) => ({ kind: 'fact', fact: valueFact(member, name, { op, values, ignoreCase }) }) as const;
  if (matcher.kind === 'equals') return fact('equals', [matcher.text], matcher.ignoreCase);
  const { source, except, ignoreCase } = matcher.pattern;
  // At least one character: any value that is not empty.
  if (except === null && /^\^?\(?\.\+?\)?\$?$/.test(source) && !/^\^\.\$$/.test(source))
    return allOf([
      { kind: 'fact', fact: valueFact(member, name, { op: 'present' }) },
      { kind: 'fact', fact: valueFact(member, name, { op: 'not_equals', values: [''] }) },
    ]);
  const one = (text: string): ImportedCondition => {
    const literal = literalTests(text);
    if (literal === null || literal.texts.length > 50) return fact('regex', [text], ignoreCase);
    return fact(literal.op, literal.texts, ignoreCase);
  };
  return except === null ? one(source) : allOf([one(source), notOf(one(except))]);
}

/** The condition that a path passes a test. */
export function testPath(matcher: TextMatcher): ImportedCondition {
  if (matcher.kind === 'equals') {
    if (!matcher.ignoreCase) return { kind: 'path', tests: [equalsText(matcher.text)] };
    return testPath({
      kind: 'regex',
      pattern: {
        source: `^${matcher.text.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&')}$`,
        except: null,
        ignoreCase: true,
      },
    });
  }
  const { source, except, ignoreCase } = matcher.pattern;
  if (except === null && matchesEvery(source)) return EVERY;
  const matched: ImportedCondition = { kind: 'path', tests: pathTests(source, ignoreCase) };
  if (except === null) return matched;
  return allOf([matched, notOf({ kind: 'path', tests: pathTests(except, ignoreCase) })]);
}

/** Whether a regex matches every path, which starts with a slash. */
export function matchesEvery(source: string): boolean {
  return /^(?:\^?\/?|\^?\/?\(?\.\*\??\)?\$?|\^?\(?\/?\.\*\)?\$?)$/.test(source);
}

/** The path of the file: its end is that of the request. */
function testFilename(name: string, matcher: TextMatcher): TestedVariable {
  if (matcher.kind === 'regex' && !matcher.pattern.source.includes('^') && matcher.pattern.except === null)
    return tested(testPath(matcher), [`\`${name}\` is read as the path of the request`]);
  return tested(unknownTest(`%{${name}}`, 'is a path on the disk of the server'));
}

function testMethod(matcher: TextMatcher): ImportedCondition {
  const literal =
    matcher.kind === 'equals' ? [matcher.text] : (literalTests(matcher.pattern.source)?.texts ?? []);
  const values = [...new Set([...METHODS, ...literal])].filter((method) => matchesText(matcher, method));
  if (values.length === 0) return NEVER;
  // A test of most of the methods is written by those that it leaves out.
  return { kind: 'fact', fact: { member: 'methods', values: values.slice(0, 20), negated: false } };
}

function testAddress(name: string, matcher: TextMatcher): ImportedCondition {
  const literal =
    matcher.kind === 'equals'
      ? ({ op: 'equals', texts: [matcher.text] } as const)
      : literalTests(matcher.pattern.source);
  const sets =
    literal === null || literal.op === 'suffix' || literal.op === 'contains'
      ? [null]
      : literal.texts.map((text) => (literal.op === 'equals' ? readAddresses(text) : networkOf(text)));
  const known = sets.filter((set) => set !== null);
  if (known.length < sets.length)
    return unknownTest(`%{${name}}`, 'is compared with a pattern that is no list of addresses');
  return { kind: 'ip', addresses: uniteAddresses(known) };
}

/** The network of addresses that start with a text of whole parts, such as `192.168.`. */
function networkOf(text: string) {
  const [, dotted] = /^((?:\d{1,3}\.){1,3})$/.exec(text) ?? [];
  if (dotted === undefined) return /^(?:\d{1,3}\.){3}\d{3}$/.test(text) ? readAddresses(text) : null;
  const parts = dotted.slice(0, -1).split('.');
  return readAddresses(`${[...parts, '0', '0', '0'].slice(0, 4).join('.')}/${parts.length * 8}`);
}

function testCountry(name: string, matcher: TextMatcher): ImportedCondition {
  const texts =
    matcher.kind === 'equals' ? [matcher.text] : (literalTests(matcher.pattern.source)?.texts ?? []);
  const codes = texts.map((text) => text.toUpperCase());
  if (codes.length === 0 || !codes.every((code) => COUNTRIES.has(code)))
    return unknownTest(`%{${name}}`, 'is compared with a pattern that is no list of countries');
  return { kind: 'country', codes };
}

/** The condition that a variable of the environment passes a test. */
export function testEnvironment(
  { environment }: ApacheImport,
  name: string,
  matcher: TextMatcher | null,
): ImportedCondition {
  const values = environment.get(name) ?? [];
  const passes = (value: string | null): boolean =>
    matcher === null ? value !== null : matchesText(matcher, value ?? '');
  // The last directive that matched gives the value.
  let rest = passes(null) ? EVERY : NEVER;
  for (const { value, condition } of values) {
    if (passes(value)) rest = anyOf([condition, rest]);
    else rest = allOf([notOf(condition), rest]);
  }
  return rest;
}
