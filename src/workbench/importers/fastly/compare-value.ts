/** Comparisons of VCL on headers, cookies, query parameters, the method, the scheme, the network and the fingerprint. */
import type { ValueComparison, ValueMember } from '../../../base/vocabulary/vocabulary.ts';
import type { ImportedFact } from '../facts.ts';
import type { ImportedCondition } from '../filter.ts';
import { presentValue, valueCondition } from '../value-test.ts';

/** What statements are read with. */
export interface ValueReading {
  /** Names of headers, in lower case, that the service changes before its conditions read them. */
  readonly changed: ReadonlySet<string>;
  readonly differences: string[];
  /** The opposite of the comparison is meant. */
  readonly isNegated: boolean;
}

/** A text of the request that is compared. */
export interface ComparedText {
  readonly member: ValueMember;
  readonly name: string;
  readonly ignoreCase: boolean;
}

/** The header or cookie of a variable; `null`: it is another variable. */
export function subjectOf(variable: string): ComparedText | null {
  const [, header, cookie] = /^req\.http\.([\w-]+)(?::([\w.-]+))?$/i.exec(variable) ?? [];
  if (header === undefined) return null;
  if (cookie === undefined) return { member: 'headers', name: header.toLowerCase(), ignoreCase: false };
  return header.toLowerCase() === 'cookie' ? { member: 'cookies', name: cookie, ignoreCase: false } : null;
}

/** The subject of a call such as `subfield(req.http.Cookie, "sid", ";")`; `null`: the function has no equivalent. */
export function subjectOfCall(name: string, args: readonly string[]): ComparedText | null {
  const [first = '', second, third] = args;
  const text = second?.startsWith('"') === true ? second.slice(1) : null;
  if (name === 'std.tolower' && args.length === 1) {
    const inner = subjectOf(first);
    return inner === null ? null : { ...inner, ignoreCase: true };
  }
  if (name === 'querystring.get' && args.length === 2 && first === 'req.url' && text !== null)
    return { member: 'query', name: text, ignoreCase: false };
  const isCookie = name === 'subfield' && first.toLowerCase() === 'req.http.cookie' && third === '";';
  return isCookie && text !== null ? { member: 'cookies', name: text, ignoreCase: false } : null;
}

/** Headers that Fastly writes itself. */
const OF_FASTLY = /^(?:fastly-|x-forwarded-|x-varnish|via$|cdn-loop)/;
/** Headers of which a request has one line. */
const SINGLE = ['user-agent', 'referer', 'authorization', 'content-type', 'origin'];

/** A comparison of a subject; without an operator, whether it has a value. */
export interface SubjectComparison {
  /** `==` or `~`; another operator has no equivalent. */
  readonly operator: string | null;
  readonly text: string;
}

/** The condition of a comparison; a text is the reason why it has none. */
export function subjectCondition(
  subject: ComparedText,
  { operator, text }: SubjectComparison,
  reading: ValueReading,
): ImportedCondition | string {
  const { member, name } = subject;
  const header = member === 'cookies' ? 'cookie' : name;
  if (member !== 'query' && reading.changed.has(header)) return 'is a header that the service changes itself';
  if (member === 'headers' && OF_FASTLY.test(name)) return 'is a header of Fastly itself';
  if (operator === null) return presence(subject, reading);
  if (operator !== '==' && operator !== '~')
    return `has no equivalent: texts have no operator \`${operator}\``;
  const test = operator === '==' ? { comparison: 'equals' as const, text, ignoreCase: false } : testOf(text);
  if (subject.ignoreCase && (test.comparison === 'regex' || text !== text.toLowerCase()))
    return 'has no equivalent: its letters are compared after a conversion';
  if (member === 'query') {
    if (test.comparison === 'regex' || /[%+&]|[^\u0021-\u007e]/.test(test.text))
      return 'has no equivalent: Fastly compares query parameters as they are sent, conditions decoded';
    reading.differences.push(DECODED);
  }
  if (!SINGLE.includes(header) && header !== 'cookie')
    reading.differences.push(
      `of several values of \`${name}\` any counts at the edge, and at Fastly the first`,
    );
  return valueCondition({
    member,
    name,
    comparison: test.comparison,
    texts: [test.text],
    ignoreCase: subject.ignoreCase || test.ignoreCase,
    // An empty text: what holds for more requests where the comparison refuses, and for fewer where its opposite does.
    absentIsEmpty: operator === '~' || (test.text === '' && !reading.isNegated),
  });
}

const DECODED = 'the edge compares query parameters decoded, and Fastly as they are sent';

/** Whether there is a value; an empty one counts where that refuses more requests. */
function presence({ member, name }: ComparedText, reading: ValueReading): ImportedCondition | string {
  if (member === 'query') reading.differences.push(DECODED);
  const present = presentValue(member, name);
  if (typeof present === 'string' || !reading.isNegated) return present;
  const empty = valueCondition({ member, name, comparison: 'equals', texts: [''] });
  return typeof empty === 'string' ? empty : { kind: 'all', of: [present, { kind: 'not', of: empty }] };
}

/** A regex, as a comparison with literal text where it is one. */
function testOf(source: string): {
  readonly comparison: ValueComparison;
  readonly text: string;
  readonly ignoreCase: boolean;
} {
  const [, flag, start, body, end] =
    /^(\(\?i\))?(\^?)((?:[\w/~@:,;=&! %<>"'-]|\\[./()?+*[\]-])+)(\$?)$/.exec(source) ?? [];
  if (body === undefined) return { comparison: 'regex', text: source, ignoreCase: false };
  const comparison =
    start === '^' ? (end === '$' ? 'equals' : 'prefix') : end === '$' ? 'suffix' : 'contains';
  return { comparison, text: body.replaceAll('\\', ''), ignoreCase: flag !== undefined };
}

/** A comparison of another variable with a text or a number. */
export interface VariableComparison {
  readonly name: string;
  readonly operator: string;
  readonly text: string;
}

/** The condition of a variable that is a fact of the request; `null`: it is another. A text is the reason why it has none. */
export function factCondition({
  name,
  operator,
  text,
}: VariableComparison): ImportedCondition | string | null {
  const isEqual = operator === '==';
  const listed = isEqual ? [text] : operator === '~' ? alternativesOf(text) : null;
  switch (name) {
    case 'req.method':
    case 'req.request':
      return listed === null || listed.some((one) => !/^[A-Za-z]+$/.test(one))
        ? 'has no equivalent: conditions compare whole methods'
        : fact({ member: 'methods', values: listed, negated: false });
    case 'req.protocol':
      return isEqual && (text === 'http' || text === 'https')
        ? fact({ member: 'schemes', values: [text], negated: false })
        : 'has no equivalent: conditions compare whole schemes';
    case 'client.as.number':
      return isEqual && /^[1-9]\d{0,9}$/.test(text)
        ? fact({ member: 'asns', values: [text], negated: false })
        : 'has no equivalent: conditions compare whole numbers of networks';
    case 'client.geo.country_code':
    case 'geoip.country_code':
      return listed === null || listed.some((one) => !/^[A-Z]{2}$/.test(one))
        ? 'has no equivalent in a filter'
        : { kind: 'country', codes: listed };
    case 'tls.client.ja4':
      return fingerprint(operator, text);
    default:
      return null;
  }
}

function fact(one: ImportedFact): ImportedCondition {
  return { kind: 'fact', fact: one };
}

/** The texts of `^(GET|HEAD)$`; `null`: it is another regex. */
function alternativesOf(source: string): readonly string[] | null {
  const [, inner] = /^\^(?:\((?:\?:)?([A-Za-z|]+)\)|[A-Za-z]+)\$$/.exec(source) ?? [];
  const single = /^\^([A-Za-z]+)\$$/.exec(source)?.[1];
  const texts = (inner ?? single)?.split('|');
  return texts === undefined || texts.includes('') ? null : texts;
}

function fingerprint(operator: string, text: string): ImportedCondition | string {
  const start = operator === '~' ? /^\^([0-9a-z_]+)$/.exec(text)?.[1] : undefined;
  const value =
    operator === '==' && /^[0-9a-z_]+$/.test(text) ? text : start === undefined ? null : `${start}*`;
  return value === null
    ? 'has no equivalent: rules compare whole fingerprints, or their start'
    : fact({ member: 'ja4', values: [value], negated: false });
}
