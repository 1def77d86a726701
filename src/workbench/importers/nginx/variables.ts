/**
 * What a variable of nginx is as a test of the request. In: the name of the variable and a comparison. Out: the condition of the
 * requests for which it holds, or the reason why no rule can state it.
 */
import { COUNTRIES } from '../../../base/addresses/countries.ts';
import { ORIGIN_SCHEMES } from '../../../base/vocabulary/vocabulary.ts';
import { readAddresses, uniteAddresses } from '../addresses.ts';
import type { ImportedCondition } from '../filter.ts';
import { equalsText, passes, regexText, type TextTest, withoutCase } from '../text-test.ts';
import type { NginxImport } from './context.ts';
import { pathRegex } from './regions.ts';
import {
  literalAlternatives,
  type NginxComparison,
  type RequestText,
  valueCondition,
} from './value-tests.ts';

/** Variables whose values are those of the host or of the path. */
export const HOST_VARIABLES = ['host', 'http_host'];
export const PATH_VARIABLES = ['uri', 'document_uri'];

/** Methods with a name of their own in nginx, and those that caches know: all that clients are known to send. */
const METHODS = [
  ...['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'CONNECT', 'OPTIONS', 'TRACE', 'PATCH', 'PURGE'],
  ...['MKCOL', 'COPY', 'MOVE', 'PROPFIND', 'PROPPATCH', 'LOCK', 'UNLOCK'],
];

/** The condition of a comparison. */
export interface VariableTest {
  readonly condition: ImportedCondition;
  /** It holds for some requests for which the comparison does not; the sentence says which. */
  readonly wider?: string;
}

/** Whether a variable is the text of a method, scheme, country, header, parameter or cookie, or of the host, path or address. */
export function isRequestVariable(state: NginxImport, name: string): boolean {
  const known = ['request_method', 'scheme', 'remote_addr', ...HOST_VARIABLES, ...PATH_VARIABLES];
  return known.includes(name) || isCountry(state, name) || textOfVariable(state, name) !== null;
}

/** The test of a comparison with a variable; a text is the reason why no rule can state it. */
export function variableTest(
  state: NginxImport,
  name: string,
  { comparison, negated }: { readonly comparison: NginxComparison; readonly negated: boolean },
): VariableTest | string {
  if (name === 'request_method') return methodTest(comparison, negated);
  const condition = positiveTest(state, name, comparison);
  if (typeof condition === 'string') return condition;
  return { condition: negated ? { kind: 'not', of: condition } : condition };
}

function positiveTest(
  state: NginxImport,
  name: string,
  comparison: NginxComparison,
): ImportedCondition | string {
  if (HOST_VARIABLES.includes(name)) return hostTest(comparison);
  if (PATH_VARIABLES.includes(name)) return pathTest(comparison);
  if (name === 'remote_addr') return addressTest(comparison);
  if (name === 'scheme') {
    const values = matching(ORIGIN_SCHEMES, comparison);
    if (typeof values === 'string') return values;
    return listed(values, ORIGIN_SCHEMES.length, (of) => ({
      kind: 'fact',
      fact: { member: 'schemes', values: of, negated: false },
    }));
  }
  if (isCountry(state, name)) return countryTest(comparison);
  if (/^http_x_forwarded_proto$/.test(name)) return 'the edge sets `X-Forwarded-Proto` on its own';
  const text = textOfVariable(state, name);
  return text === null ? noFilter(name) : valueCondition(text, comparison);
}

/** Why a variable has no test. */
export function noFilter(name: string): string {
  return `no rule has a filter on \`$${name}\``;
}

/** The condition of a list of values out of all there are. */
function listed(
  values: readonly string[],
  all: number,
  condition: (values: readonly string[]) => ImportedCondition,
): ImportedCondition {
  if (values.length === 0 || values.length === all) return { kind: 'constant', value: values.length > 0 };
  return condition(values);
}

/** The values that compare; a text is the reason why the operand cannot be read. */
function matching(
  values: readonly string[],
  { kind, operand, ignoreCase }: NginxComparison,
): readonly string[] | string {
  if (kind === 'set') return values.filter((value) => value !== '' && value !== '0');
  const folded = (text: string): string => (ignoreCase ? text.toLowerCase() : text);
  if (kind === 'equals') return values.filter((value) => folded(value) === folded(operand));
  const test = regexText(operand);
  if (typeof test === 'string') return test;
  return values.filter((value) => passes(ignoreCase ? withoutCase(test) : test, value));
}

function hostTest({ kind, operand }: NginxComparison): ImportedCondition | string {
  if (kind === 'set') return { kind: 'constant', value: true };
  const test = kind === 'equals' ? equalsText(operand.toLowerCase()) : hostRegex(operand);
  return typeof test === 'string' ? test : { kind: 'host', tests: [test] };
}

/** The test of a regex over the host, which nginx has in lower case. */
export function hostRegex(source: string): TextTest | string {
  const test = regexText(source);
  if (typeof test === 'string') return test;
  // A literal, such as `^www\.example\.com$`, needs no regex.
  const body = /^\^((?:[a-z0-9-]|\\\.)+)\$$/i.exec(source)?.[1];
  return body === undefined ? withoutCase(test) : equalsText(body.replaceAll('\\', '').toLowerCase());
}

function pathTest({ kind, operand, ignoreCase }: NginxComparison): ImportedCondition | string {
  if (kind === 'set') return { kind: 'constant', value: true };
  if (kind === 'equals') {
    // Paths without letters have no case.
    const test = equalsText(operand);
    return { kind: 'path', tests: [ignoreCase && /[a-z]/i.test(operand) ? withoutCase(test) : test] };
  }
  const reason = regexText(operand);
  const test = pathRegex(operand, ignoreCase);
  return test === null ? `\`${operand}\`: ${String(reason)}` : { kind: 'path', tests: [test] };
}

function addressTest({ kind, operand, ignoreCase }: NginxComparison): ImportedCondition | string {
  if (kind === 'set') return { kind: 'constant', value: true };
  if (kind === 'equals') {
    const addresses = readAddresses(operand);
    // nginx compares texts, so that a prefix equals no address.
    if (addresses === null || operand.includes('/')) return `\`${operand}\` is no address`;
    return { kind: 'ip', addresses };
  }
  const source = ignoreCase ? operand.toLowerCase() : operand;
  const prefixes = addressPrefixes(source);
  if (prefixes === null) return `\`${operand}\` is no regex of whole parts of addresses`;
  return { kind: 'ip', addresses: uniteAddresses(prefixes.map((one) => readAddresses(one)!)) };
}

/** The prefixes of a regex such as `^192\.168\.` or `^(10\.|127\.0\.0\.1$)`; `null`: another form. */
function addressPrefixes(source: string): readonly string[] | null {
  const [, grouped, single] = /^\^(?:\(([^()]*)\)|([^()|]*))$/.exec(source) ?? [];
  if (grouped === undefined && single === undefined) return null;
  const prefixes: string[] = [];
  for (const part of (grouped ?? single!).split('|')) {
    const [, body, end] = /^((?:\d{1,3}\\\.){1,3}(?:\d{1,3}(?=\$))?)(\$?)$/.exec(part) ?? [];
    if (body === undefined) return null;
    const numbers = body.split('\\.').filter((one) => one !== '');
    if ((numbers.length === 4) !== (end === '$')) return null;
    const zeros = Array.from({ length: 4 - numbers.length }, () => '0');
    const prefix = `${[...numbers, ...zeros].join('.')}/${numbers.length * 8}`;
    if (readAddresses(prefix) === null) return null;
    prefixes.push(prefix);
  }
  return prefixes;
}

/** Methods are texts of which a regex decides the known ones; of others it decides what it names literally. */
function methodTest(comparison: NginxComparison, negated: boolean): VariableTest | string {
  const { kind, operand, ignoreCase } = comparison;
  const exactly = (values: readonly string[], opposite: boolean): VariableTest => ({
    condition: { kind: 'fact', fact: { member: 'methods', values, negated: opposite } },
  });
  if (kind === 'set' || (kind === 'equals' && operand === ''))
    return { condition: { kind: 'constant', value: (kind === 'set') !== negated } };
  // nginx refuses a method with small letters.
  if (kind === 'equals') return exactly([ignoreCase ? operand.toUpperCase() : operand], negated);
  const named = /^\^.*\$$/.test(operand) ? literalAlternatives(operand.slice(1, -1), true) : null;
  if (named !== null && !named.includes(''))
    return exactly(ignoreCase ? named.map((one) => one.toUpperCase()) : named, negated);
  const found = matching(METHODS, comparison);
  if (typeof found === 'string') return found;
  const others = METHODS.filter((method) => found.includes(method) === negated);
  if (others.length === 0) return { condition: { kind: 'constant', value: true }, wider: OTHER_METHODS };
  return { ...exactly(others, true), wider: OTHER_METHODS };
}

const OTHER_METHODS = 'the rule holds for methods that neither nginx nor caches know, whatever the regex';

/** Whether a variable is the country of the visitor's address; `geoip2` names its variables itself. */
export function isCountry(state: NginxImport, name: string): boolean {
  if (!/^geoip2?_(?:\w+_)?country_(?:iso_)?code$/.test(name)) return false;
  const defined = state.http.filter((one) => one.name === 'geoip2').flatMap(({ block }) => block ?? []);
  const own = defined.find((one) => one.name === `$${name}`);
  return (
    own === undefined || own.args.filter((one) => one !== 'source=$remote_addr').join() === 'country,iso_code'
  );
}

function countryTest(comparison: NginxComparison): ImportedCondition | string {
  const all = [...COUNTRIES];
  const found = matching(all, comparison);
  const unknown = comparison.isKey === true && comparison.kind === 'regex' ? [] : matching([''], comparison);
  if (typeof found === 'string' || typeof unknown === 'string') return String(found);
  const isLiteral = comparison.kind === 'equals' && comparison.operand !== '';
  if (isLiteral && found.length === 0) return `\`${comparison.operand}\` is no country`;
  // nginx has the empty text for an unknown country, which a rule has in no list.
  if (unknown.length === 0)
    return found.length === 0 ? { kind: 'constant', value: false } : { kind: 'country', codes: found };
  const others = all.filter((code) => !found.includes(code));
  if (others.length === 0) return { kind: 'constant', value: true };
  return { kind: 'not', of: { kind: 'country', codes: others } };
}

/** The header, parameter or cookie that a variable is; `null`: it is something else. */
export function textOfVariable(state: NginxImport, name: string): RequestText | null {
  const [, kind, written] = /^(http|arg|cookie)_(\w+)$/.exec(name) ?? [];
  if (name === 'content_type' || name === 'content_length')
    return { member: 'headers', name: name.replace('_', '-') };
  if (kind === undefined) return null;
  if (kind === 'arg') return { member: 'query', name: written! };
  if (kind === 'cookie') return { member: 'cookies', name: written! };
  // With underscores in headers two names are one variable.
  if (HOST_VARIABLES.includes(name) || (state.hasUnderscores && written!.includes('_'))) return null;
  return { member: 'headers', name: written!.replaceAll('_', '-').toLowerCase() };
}
