/**
 * Reads the condition of an `if`. In: its words and the variables that are known there. Out: the requests that meet it as filters of
 * rules, and those that do not; where rules read a request otherwise than nginx, how, and what a guard refuses instead.
 */
import type { ImportedFact } from '../facts.ts';
import {
  addressFilter,
  EVERY_REQUEST,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
  MAX_ALTERNATIVES,
  MAX_CASELESS_KEYS,
} from '../filter.ts';
import { equalsText, passes, regexText, withoutCase } from '../text-test.ts';
import { nameOf } from './address-tables.ts';
import type { NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { conditionWhere, MAP_WORDS, tableOf, type ValueTable } from './tables.ts';
import { type Bindings, valuePieces } from './targets.ts';
import {
  complementOf,
  differencesOf,
  isAboutEmpty,
  isPositive,
  type NginxComparison,
} from './value-tests.ts';
import { HOST_VARIABLES, isRequestVariable, PATH_VARIABLES, variableTest } from './variables.ts';

/** One case in which a condition holds. */
export interface NginxCase {
  readonly filter: ImportedFilter;
  /** Variables with the values they have in this case. */
  readonly bindings: ReadonlyMap<string, string>;
}

/** The condition of an `if`. */
export interface NginxTest {
  /** The cases in which it holds, in order. */
  readonly cases: readonly NginxCase[];
  /** The requests that meet no case; `null`: they are those that no case has. */
  readonly rest: readonly ImportedFilter[] | null;
  /** How the cases differ from those of nginx; none: they are the same. */
  readonly differences: readonly string[];
  /** At least the requests for which it holds in nginx; a text is the reason why no filters have them. */
  readonly guards: readonly ImportedFilter[] | string;
}

/** A comparison as an `if` writes it. */
interface WrittenComparison {
  readonly comparison: NginxComparison;
  readonly negated: boolean;
}

/** The test of an `if`; a text is the reason why rules cannot state it. */
export function testOfIf(
  state: NginxImport,
  directive: NginxDirective,
  bindings: Bindings = new Map(),
): NginxTest | string {
  const words = wordsOf(directive);
  const [variable = '', operator, written = ''] = words;
  const name = nameOf(variable);
  if (name === '' || words.length > 3) return `\`${words.join(' ')}\` has no equivalent in a filter`;
  const operand = operandOf(written, operator, bindings);
  if (operand === null) return `\`${written}\` depends on the request, and a rule compares with a text`;
  const compared = comparisonOf(operator, operand);
  if (compared === null) return `\`${words.join(' ')}\` has no equivalent in a filter`;
  const bound = bindings.get(name);
  if (bound === null) return `\`$${name}\` depends on the request here`;
  if (bound === undefined) return testOfVariable(state, name, { ...compared, directive });
  const other = nameOf(bound);
  if (other !== '') return testOfVariable(state, other, { ...compared, directive });
  if (bound.includes('$')) return `\`$${name}\` has other variables, which no rule compares`;
  const holds = constantHolds(bound, compared);
  return typeof holds === 'string' ? holds : exactTest({ kind: 'constant', value: holds });
}

/** The words of a condition without its parentheses. */
function wordsOf({ args }: NginxDirective): readonly string[] {
  const words = [...args];
  if (words[0]?.startsWith('(') === true) words[0] = words[0].slice(1);
  if (words[0] === '') words.shift();
  const last = words.at(-1) ?? '';
  if (last.endsWith(')')) words[words.length - 1] = last.slice(0, -1);
  // Of `= "")` the empty text and the parenthesis are one word, of `= "" )` two.
  if (words.at(-1) === '' && words.length !== 3) words.pop();
  return words;
}

/** The text with which a variable is compared; `null`: it depends on the request. A regex has no variables. */
function operandOf(written: string, operator: string | undefined, bindings: Bindings): string | null {
  if (operator !== '=' && operator !== '!=') return written;
  const pieces = valuePieces(written, bindings);
  if (!pieces.every(({ kind }) => kind === 'text')) return null;
  return pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('');
}

function comparisonOf(operator: string | undefined, operand: string): WrittenComparison | null {
  if (operator === undefined)
    return { comparison: { kind: 'set', operand: '', ignoreCase: false }, negated: false };
  const [, not, kind] = /^(!?)(=|~\*?)$/.exec(operator) ?? [];
  if (kind === undefined) return null;
  const ignoreCase = kind === '~*';
  return {
    comparison: { kind: kind === '=' ? 'equals' : 'regex', operand, ignoreCase },
    negated: not === '!',
  };
}

/** Whether a comparison with a known value holds; a text is the reason why its regex cannot be read. */
function constantHolds(
  value: string,
  { comparison: { kind, operand, ignoreCase }, negated }: WrittenComparison,
): boolean | string {
  if (kind === 'set') return value !== '' && value !== '0';
  if (kind === 'equals') return (value === operand) !== negated;
  const test = regexText(operand);
  if (typeof test === 'string') return test;
  return passes(ignoreCase ? withoutCase(test) : test, value) !== negated;
}

function testOfVariable(
  state: NginxImport,
  name: string,
  compared: WrittenComparison & { readonly directive: NginxDirective },
): NginxTest | string {
  if (isRequestVariable(state, name) || !(state.maps.has(name) || state.geos.has(name))) {
    const test = variableTest(state, name, compared);
    if (typeof test === 'string') return test;
    const exact = exactTest(test.condition);
    if (typeof exact === 'string' || test.wider === undefined) return exact;
    return { ...exact, rest: null, differences: [test.wider] };
  }
  const paths = compared.comparison.kind === 'set' ? pathCases(state, name) : null;
  if (paths !== null) return paths;
  const table = tableOf(state, name);
  if (typeof table === 'string') return table;
  return tableTest(table, name, compared);
}

/** The test of a condition. */
function exactTest(condition: ImportedCondition): NginxTest | string {
  const met = filtersOf(condition);
  const others = filtersOf({ kind: 'not', of: condition });
  if (!met.ok) return met.reason;
  const cases = met.filters.map((filter) => ({
    filter: shortened(filter),
    bindings: new Map<string, string>(),
  }));
  const facts = met.filters.flatMap((filter) => filter.facts);
  return {
    cases,
    rest: others.ok ? others.filters.map(shortened) : null,
    differences: differencesOf(facts),
    guards: guardFilters(cases.map(({ filter }) => filter)),
  };
}

/** The filter with its addresses in the shorter of both forms. */
export function shortened(filter: ImportedFilter): ImportedFilter {
  return filter.ipIncludes === null ? filter : { ...filter, ...addressFilter(filter.ipIncludes) };
}

/** The test of a comparison with the variable of a table: a case for each value, where the body names the variable. */
function tableTest(
  table: ValueTable,
  name: string,
  { directive, ...compared }: WrittenComparison & { readonly directive: NginxDirective },
): NginxTest | string {
  const accepted = new Set<string>();
  for (const value of [...table.steps.map((step) => step.value), table.fallback]) {
    const holds = valueHolds(value, compared);
    if (typeof holds === 'string') return `${holds}, a value of \`$${name}\``;
    if (holds) accepted.add(value);
  }
  const whole = exactTest(conditionWhere(table, (value) => accepted.has(value)));
  if (typeof whole === 'string' || !namesVariable(directive.block ?? [], name)) return whole;
  const cases: NginxCase[] = [];
  for (const value of accepted) {
    const own = filtersOf(conditionWhere(table, (one) => one === value));
    if (!own.ok) return own.reason;
    for (const filter of own.filters)
      cases.push({ filter: shortened(filter), bindings: new Map([[name, value]]) });
  }
  return { ...whole, cases };
}

/** Whether a value of a table is one for which the comparison holds. With variables it is not empty if it has other text too. */
function valueHolds(value: string, compared: WrittenComparison): boolean | string {
  if (!value.includes('$')) return constantHolds(value, compared);
  const isFilled = valuePieces(value, new Map()).some((piece) => piece.kind === 'text');
  return compared.comparison.kind === 'set' && isFilled ? true : `\`${value}\` depends on the request`;
}

/** Whether directives use a variable. */
function namesVariable(block: readonly NginxDirective[], name: string): boolean {
  const used = block.flatMap(({ args }) => args.flatMap((arg) => valuePieces(arg, new Map())));
  return used.some((piece) => piece.kind === 'variable' && piece.name === name);
}

/**
 * A `map` over hosts or paths in which every key has a value that is neither empty nor `0`: a case for each key, in order, so that a
 * list of hundreds of redirects needs no exceptions. `null`: another form.
 */
function pathCases(state: NginxImport, name: string): NginxTest | string | null {
  const map = state.maps.get(name);
  const source = nameOf(map?.args[0] ?? '');
  const isHost = HOST_VARIABLES.includes(source);
  if (map === undefined || !(isHost || PATH_VARIABLES.includes(source))) return null;
  const entries = map.block ?? [];
  const keys = entries.filter((one) => !MAP_WORDS.includes(one.name));
  const isTrue = ({ args: [value = ''] }: NginxDirective): boolean => value !== '' && value !== '0';
  const fallback = entries.find((one) => one.name === 'default');
  const isPlain = keys.every((one) => isTrue(one) && one.unread === undefined);
  if (
    !isPlain ||
    (fallback !== undefined && isTrue(fallback)) ||
    entries.some((one) => one.unread !== undefined)
  )
    return null;
  const literal = keys.filter((one) => !one.name.startsWith('~'));
  // Each text without case is a regex, of which a domain has room for a few dozen.
  const hasMany = !isHost && literal.length > MAX_CASELESS_KEYS;
  const cases: NginxCase[] = [];
  for (const key of [...literal, ...keys.filter((one) => one.name.startsWith('~'))]) {
    const value = key.args[0] ?? '';
    const bindings = new Map([[name, value]]);
    if (hasMany && !key.name.startsWith('~')) {
      const tests = [equalsText(key.name.replace(/^\\/, ''))];
      cases.push({ filter: { ...EVERY_REQUEST, pathIncludes: tests }, bindings });
      continue;
    }
    const one = tableOf(withMap(state, name, { ...map, block: [...entries.filter(isWord), key] }), name);
    if (typeof one === 'string') return one;
    const own = filtersOf(conditionWhere(one, (text) => text === value));
    if (!own.ok) return own.reason;
    for (const filter of own.filters) cases.push({ filter, bindings });
  }
  const difference = `paths of \`$${name}\` are compared with case; nginx ignores it`;
  return {
    cases,
    rest: null,
    differences: hasMany ? [difference] : [],
    guards: hasMany ? difference : cases.map(({ filter }) => filter),
  };
}

function isWord({ name }: NginxDirective): boolean {
  return name === 'hostnames';
}

/** The configuration with another `map` of a name. */
function withMap(state: NginxImport, name: string, map: NginxDirective): NginxImport {
  return { ...state, maps: new Map(state.maps).set(name, map) };
}

/**
 * Filters that each request passes for which the condition holds in nginx. Of a parameter or a cookie that a name decides twice, in
 * another case or encoded, a rule may miss the value that nginx reads: it refuses where one value of the name is another than the
 * one that is let in, and a text that must be present refuses nobody who writes its name otherwise.
 */
function guardFilters(filters: readonly ImportedFilter[]): readonly ImportedFilter[] | string {
  const guards: ImportedFilter[] = [];
  for (const filter of filters) {
    let own: readonly (readonly ImportedFact[])[] = [[]];
    for (const fact of filter.facts) {
      const ways = guardFacts(fact, filter.facts);
      if (typeof ways === 'string') return ways;
      own = own.flatMap((facts) => ways.map((way) => [...facts, way]));
    }
    for (const facts of own) guards.push({ ...filter, facts });
    if (guards.length > MAX_ALTERNATIVES)
      return `the condition has more than ${MAX_ALTERNATIVES} alternatives`;
  }
  return guards;
}

/** The tests of which a request passes one at least where it passes the given one in nginx. */
function guardFacts(fact: ImportedFact, all: readonly ImportedFact[]): readonly ImportedFact[] | string {
  if (!('condition' in fact)) return [fact];
  const { member, condition } = fact;
  const isHeader = member === 'headers';
  if (isHeader && (isPositive(condition) || isAboutEmpty(condition))) return [fact];
  // An exception from what a header must be for a refusal: who sends both can send the exception alone.
  if (isHeader && all.some((other) => asksFor(other, condition.name))) return [fact];
  if (!isPositive(condition)) {
    const complement = complementOf(fact);
    if (complement !== null) return [fact, complement];
    if (isHeader || condition.op === 'absent') return [fact];
    return `another value of \`${condition.name}\` beside one that is let in would pass`;
  }
  const variable = `$${member === 'query' ? 'arg' : 'cookie'}_${condition.name}`;
  return `\`${variable}\`: nginx ignores the case of the name, so that \`${condition.name.toUpperCase()}\` would pass a rule`;
}

/** Whether a test asks for a header. */
function asksFor(fact: ImportedFact, name: string): boolean {
  return fact.member === 'headers' && fact.condition.name === name && isPositive(fact.condition);
}
