/** Reads one criterion of an ACL, such as `path_beg -i /admin` or `req.hdr(host),lower -f hosts.lst`, as a condition over requests. */
import { readAddresses, uniteAddresses } from '../addresses.ts';
import { valueFact } from '../facts.ts';
import type { ImportedCondition } from '../filter.ts';
import { changed } from './changed-request.ts';
import { anyOf, type HaproxyImport, noneOf, unknown, type Walk } from './context.ts';
import { hostCondition } from './host-names.ts';
import { parseSample, type SampleCall, VARIABLE } from './parse-haproxy.ts';
import {
  MAP,
  type MatchKind,
  mapLines,
  type Patterns,
  patternLines,
  textTests,
  valueCondition,
} from './patterns.ts';

/** What a condition is read with. */
export interface HaproxyContext {
  readonly state: HaproxyImport;
  readonly walk: Walk;
  /** Whether the line refuses requests: what is not exactly the same text is not taken for it. */
  readonly isGuard: boolean;
  readonly differences: string[];
}

/** A criterion: what is fetched, and what it is compared with. */
export interface Criterion {
  readonly text: string;
  readonly calls: readonly [SampleCall, ...SampleCall[]];
  readonly match: string | null;
  readonly ignoreCase: boolean;
  readonly values: readonly string[];
}

const NO_FILTER = 'has no equivalent: no rule has such a condition';

/** Suffixes of the names of ACL criteria. */
const SUFFIX = /^(path|base|url|urlp|url_param|hdr|req\.hdr|cook|req\.cook)_(beg|end|sub|dir|dom|reg|len)$/;

/** Reads the words of a criterion; a text is the reason why it cannot be read. */
export function readCriterionWords(state: HaproxyImport, words: readonly string[]): Criterion | string {
  const [expression = '', ...rest] = words;
  const calls = parseSample(expression);
  if (calls === null) return 'has a form that is not read';
  const values: string[] = [];
  const [fetch, ...converters] = calls;
  const suffixed = SUFFIX.exec(fetch.name);
  let match: string | null = suffixed?.[2] ?? null;
  let ignoreCase = false;
  let [at, isMap] = [0, false];
  for (; rest[at]?.startsWith('-') === true; at++) {
    const flag = rest[at]!;
    if (flag === '--') {
      at++;
      break;
    }
    if (flag === '-i') ignoreCase = true;
    else if (flag === '-m') match = rest[++at] ?? null;
    else if (flag === '-M') isMap = true;
    else if (flag === '-u') at++;
    else if (flag === '-f') {
      const lines = patternLines(state, rest[++at] ?? '');
      if (typeof lines === 'string') return `compares with a file that is not read (${lines})`;
      values.push(...lines.map((line) => (isMap ? line.split(/[ \t]/, 1)[0]! : line)));
    } else if (flag !== '-n') return `has the flag \`${flag}\`, which is not read`;
  }
  values.push(...rest.slice(at));
  const named = { ...fetch, name: suffixed?.[1] ?? fetch.name };
  return { text: words.join(' '), calls: [named, ...converters], match, ignoreCase, values };
}

/** Reads a criterion as a condition. */
export function readCriterion(context: HaproxyContext, words: readonly string[]): ImportedCondition {
  const text = words.join(' ').replaceAll(VARIABLE, '');
  if (words.some((word) => word.includes(VARIABLE))) return unknown(text, 'has an environment variable');
  const read = readCriterionWords(context.state, words);
  return typeof read === 'string' ? unknown(text, read) : conditionOf(context, read);
}

/** The condition of a criterion. */
export function conditionOf(context: HaproxyContext, criterion: Criterion): ImportedCondition {
  const { calls, text, values, match } = criterion;
  const [{ name, args }, ...converters] = calls;
  if (match === 'found' && converters.at(-1)?.name.startsWith('map') === true)
    return keysCondition(context, criterion);
  switch (name) {
    case 'always_true':
    case 'TRUE':
    case 'wait_end':
    case 'req.proto_http':
    case 'req_proto_http':
      return { kind: 'constant', value: true };
    case 'always_false':
      return { kind: 'constant', value: false };
    case 'ssl_fc':
      return booleanOf(criterion, {
        kind: 'fact',
        fact: { member: 'schemes', values: ['https'], negated: false },
      });
    case 'src':
      return converters.length === 0 ? addressesOf(criterion) : unknown(text, NO_FILTER);
    case 'method':
      if (values.length === 0 || (match !== null && match !== 'str')) return unknown(text, NO_FILTER);
      return { kind: 'fact', fact: { member: 'methods', values, negated: false } };
    case 'dst_port':
      return anyOf(values.map((port) => portOf(criterion, port)));
    case 'var':
      return variableOf(context, criterion);
    case 'req.hdr_cnt':
    case 'hdr_cnt':
    case 'req.cook_cnt':
    case 'cook_cnt':
      return countOf(context, criterion);
    case 'req.hdr_val':
    case 'hdr_val':
      if (args[0]?.toLowerCase() !== 'content-length' || values.join(' ') !== 'gt 0')
        return unknown(text, NO_FILTER);
      return {
        kind: 'fact',
        fact: valueFact('headers', 'content-length', { op: 'regex', values: ['[1-9]'] }),
      };
    default:
      return textCondition(context, criterion);
  }
}

/** Whether a map has a key for the request. */
function keysCondition(context: HaproxyContext, criterion: Criterion): ImportedCondition {
  const [fetch, ...converters] = criterion.calls;
  const map = converters.at(-1)!;
  const kind = MAP.exec(map.name);
  const lines = mapLines(context.state, map.args[0] ?? '');
  if (kind === null || typeof lines === 'string')
    return unknown(
      criterion.text,
      `is a map that is not read (${typeof lines === 'string' ? lines : map.name})`,
    );
  const calls: Criterion['calls'] = [fetch, ...converters.slice(0, -1)];
  return conditionOf(context, {
    ...criterion,
    calls,
    match: kind[1] ?? 'str',
    values: lines.map(({ key }) => key),
  });
}

/** A test of a boolean, which values, `-m bool` and the converter `not` may turn round. */
function booleanOf({ calls, values, text }: Criterion, holds: ImportedCondition): ImportedCondition {
  const [, ...converters] = calls;
  if (converters.some(({ name }) => name !== 'not' && name !== 'bool')) return unknown(text, NO_FILTER);
  const turned = converters.filter(({ name }) => name === 'not').length % 2 === 1;
  const isTrue = (value: string): boolean => ['1', 'true', 'yes', 'on'].includes(value);
  const own = turned ? noneOf([holds])[0]! : holds;
  if (values.length === 0 || values.every(isTrue)) return own;
  return values.some(isTrue) ? { kind: 'constant', value: true } : noneOf([own])[0]!;
}

function addressesOf({ values, text, match }: Criterion): ImportedCondition {
  if (match !== null && match !== 'ip') return unknown(text, NO_FILTER);
  const sets = values.map(readAddresses);
  const named = values.filter((_, index) => sets[index] === null);
  if (named.length > 0 || values.length === 0)
    return unknown(text, `has \`${named[0] ?? ''}\`, which is no address`);
  return { kind: 'ip', addresses: uniteAddresses(sets.filter((set) => set !== null)) };
}

/** The port of the listener: 443 is that of https, 80 that of http, and the edge has no other. */
function portOf({ text }: Criterion, port: string): ImportedCondition {
  if (!/^\d+$/.test(port)) return unknown(text, NO_FILTER);
  const scheme = port === '443' ? 'https' : port === '80' ? 'http' : null;
  if (scheme === null) return { kind: 'constant', value: false };
  return { kind: 'fact', fact: { member: 'schemes', values: [scheme], negated: false } };
}

/** A count that is compared with 0: present or absent. */
function countOf(context: HaproxyContext, criterion: Criterion): ImportedCondition {
  const [{ name, args }] = criterion.calls;
  const compared = criterion.values.join(' ');
  const isPresent = ['gt 0', 'ge 1'].includes(compared);
  if (!isPresent && !['0', 'eq 0', 'lt 1', 'le 0'].includes(compared))
    return unknown(criterion.text, NO_FILTER);
  const fetch = { name: name.replace('_cnt', ''), args };
  const found = textCondition(context, { ...criterion, calls: [fetch], match: 'found', values: [] });
  return isPresent ? found : noneOf([found])[0]!;
}

/** A test of a variable that the lines before have set. */
function variableOf(context: HaproxyContext, criterion: Criterion): ImportedCondition {
  const [{ args }, ...converters] = criterion.calls;
  const variable = context.walk.variables.get(args[0] ?? '');
  const reason = 'is a variable that the lines before do not set in a way that is read';
  if (variable === undefined) return unknown(criterion.text, reason);
  if (variable.sample !== null) {
    const calls = parseSample(variable.sample);
    if (calls === null || calls[0].name === 'var') return unknown(criterion.text, reason);
    const walk = { ...context.walk, changes: variable.changes };
    return conditionOf({ ...context, walk }, { ...criterion, calls: [...calls, ...converters] });
  }
  if (criterion.match !== 'bool' && criterion.match !== 'found') return unknown(criterion.text, reason);
  return booleanOf({ ...criterion, values: [] }, anyOf(variable.set));
}

/** What a criterion compares as text. */
type Subject =
  | { readonly kind: 'path' | 'url' | 'host' }
  | { readonly kind: 'query' | 'cookies'; readonly name: string }
  | { readonly kind: 'headers'; readonly name: string; readonly hasParts: boolean };

function subjectOf({ name, args }: SampleCall): Subject | null {
  const [first = ''] = args;
  switch (name) {
    case 'path':
    case 'url':
      return { kind: name };
    case 'pathq':
      return { kind: 'url' };
    case 'hdr':
    case 'req.hdr':
    case 'reqhdr':
    case 'fhdr':
    case 'req.fhdr': {
      if (first === '' || (args.length > 1 && args[1] !== '1' && args[1] !== '-1')) return null;
      const header = first.toLowerCase();
      if (header === 'host') return { kind: 'host' };
      return { kind: 'headers', name: header, hasParts: !name.endsWith('fhdr') };
    }
    case 'ssl_fc_sni':
    case 'req.ssl_sni':
    case 'req_ssl_sni':
      return { kind: 'host' };
    case 'urlp':
    case 'url_param':
      return first === '' || args.length > 1 ? null : { kind: 'query', name: first };
    case 'cook':
    case 'req.cook':
      return first === '' ? null : { kind: 'cookies', name: first };
    default:
      return null;
  }
}

const MATCHES: readonly string[] = ['str', 'beg', 'end', 'sub', 'dir', 'dom', 'reg', 'found'];

/** A comparison of a text. */
function textCondition(context: HaproxyContext, criterion: Criterion): ImportedCondition {
  const { calls, text, match } = criterion;
  const [fetch, ...converters] = calls;
  const subject = subjectOf(fetch);
  const cased = subject === null ? null : applyConverters(criterion, converters, subject);
  const kind = match ?? 'str';
  if (subject === null || cased === null || !MATCHES.includes(kind)) return unknown(text, NO_FILTER);
  if (cased.patterns.length === 0 && kind !== 'found') return { kind: 'constant', value: false };
  const compared: Patterns = { ...cased, match: kind as MatchKind };
  switch (subject.kind) {
    case 'path':
    case 'url':
      return pathCondition(context, { text, compared: pathPatterns(subject.kind, compared) });
    case 'host': {
      if (fetch.name.includes('sni')) {
        if (context.isGuard) return unknown(text, 'is the name in the TLS handshake, which no rule has');
        context.differences.push('HAProxy compares the name in the TLS handshake, the rule the host');
      }
      return changed(
        context.walk,
        { text, target: 'host' },
        hostCondition(context.state, { text, compared }),
      );
    }
    case 'headers': {
      const place = { member: 'headers', name: subject.name, hasParts: subject.hasParts } as const;
      const condition = valueCondition(place, compared);
      if (typeof condition === 'string') return unknown(text, condition);
      return changed(context.walk, { text, target: subject.name, compared }, condition);
    }
    default: {
      const place = { member: subject.kind, name: subject.name, hasParts: false };
      const condition = valueCondition(place, compared);
      return typeof condition === 'string' ? unknown(text, condition) : condition;
    }
  }
}

/** The patterns as they are compared with what was fetched, without its converters; `null`: they have no equivalent. */
function applyConverters(
  { values, ignoreCase }: Criterion,
  converters: readonly SampleCall[],
  { kind }: Subject,
): Omit<Patterns, 'match'> | null {
  let patterns = values;
  let isCaseless = ignoreCase;
  for (const { name, args } of converters) {
    const isPort = kind === 'host' && (name === 'field' || name === 'word') && args.join() === '1,:';
    if (isPort || (kind === 'host' && name === 'host_only') || (kind === 'path' && name === 'url_dec'))
      continue;
    if (name !== 'lower' && name !== 'upper') return null;
    // A pattern with letters of the other case equals no text.
    patterns = patterns.filter(
      (one) => one === (name === 'lower' ? one.toLowerCase() : one.toUpperCase()) || ignoreCase,
    );
    isCaseless = true;
  }
  return { patterns, ignoreCase: isCaseless };
}

/** Patterns of a whole URL that are those of its path; `null`: the query decides too. */
function pathPatterns(kind: 'path' | 'url', compared: Patterns): Patterns | null {
  const { match, patterns } = compared;
  if (kind === 'path') return match === 'dom' ? null : compared;
  if (match === 'found') return compared;
  const isPath =
    match === 'beg'
      ? (one: string) => one.startsWith('/') && !one.includes('?')
      : match === 'reg'
        ? isPathRegex
        : () => false;
  return patterns.every(isPath) ? compared : null;
}

/** Whether a regex over the URL matches inside the path alone: it begins with the path, and all of it is literal text and groups. */
function isPathRegex(source: string): boolean {
  return /^\^\/(?:[\w/~@:,;=&!' -]|\\[./_-]|[()|])*$/.test(source);
}

function pathCondition(
  context: HaproxyContext,
  { text, compared }: { readonly text: string; readonly compared: Patterns | null },
): ImportedCondition {
  if (compared === null) return unknown(text, 'compares the query as well as the path');
  const tests = textTests(compared);
  if (typeof tests === 'string') return unknown(text, `has no equivalent: ${tests}`);
  return changed(context.walk, { text, target: 'path', compared }, { kind: 'path', tests });
}
