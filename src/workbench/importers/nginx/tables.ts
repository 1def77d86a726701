/**
 * The values of a `map` or a `geo` as conditions. In: the tables of a configuration. Out: the values in the order in which they are
 * decided, each with the condition of the requests that have it unless one before it holds.
 */
import { normalizeName } from '../../../base/addresses/host.ts';
import { MAX_CONDITION_VALUES } from '../../../base/vocabulary/limits.ts';
import type { AddressSet } from '../addresses.ts';
import type { ImportedFact } from '../facts.ts';
import { type ImportedCondition, MAX_CASELESS_KEYS } from '../filter.ts';
import { endsWithText, equalsText } from '../text-test.ts';
import { addressTable, isByAddress, mapValue, nameOf } from './address-tables.ts';
import { entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { HOST_VARIABLES, isRequestVariable, noFilter, PATH_VARIABLES, variableTest } from './variables.ts';

/** One value, for the requests that meet its condition and none before it. */
interface TableStep {
  readonly condition: ImportedCondition;
  readonly value: string;
  /** No request meets the condition of another such step. */
  readonly isApart?: true;
}

/** The values of a variable. */
export interface ValueTable {
  readonly steps: readonly TableStep[];
  /** Of the requests that meet no condition. */
  readonly fallback: string;
}

/** Words in a `map` that are no values of its source. */
export const MAP_WORDS = ['default', 'hostnames', 'include', 'volatile'];

/** The table of a variable of `map` or `geo`; a text is the reason why it cannot be read. */
export function tableOf(state: NginxImport, name: string, seen: readonly string[] = []): ValueTable | string {
  if (isByAddress(state, name)) {
    const table = addressTable(state, name);
    if (typeof table === 'string') return table;
    const stepOf = ([value, addresses]: [string, AddressSet]): TableStep => ({
      value,
      condition: { kind: 'ip', addresses },
      isApart: true,
    });
    return { steps: [...table].map(stepOf), fallback: '' };
  }
  const map = state.maps.get(name);
  if (map === undefined || seen.includes(name)) return noFilter(name);
  const source = nameOf(map.args[0] ?? '');
  if (source === '') return `\`$${name}\` is of \`${map.args[0]}\`, which no rule compares`;
  if (!isRequestVariable(state, source)) {
    const inner = tableOf(state, source, [...seen, name]);
    return typeof inner === 'string' ? `${inner}, the source of \`$${name}\`` : mapped(inner, map, name);
  }
  return readMap(state, source, { map, name });
}

/** A table whose values another `map` replaces. */
function mapped(inner: ValueTable, { block }: NginxDirective, name: string): ValueTable | string {
  const replace = (value: string): string | null =>
    value.includes('$') ? null : mapValue(block ?? [], value);
  const fallback = replace(inner.fallback);
  const steps: TableStep[] = [];
  for (const step of inner.steps) {
    const own = replace(step.value);
    if (own === null) return `\`$${name}\` has entries that rules cannot read`;
    steps.push({ ...step, value: own });
  }
  return fallback === null ? `\`$${name}\` has entries that rules cannot read` : { steps, fallback };
}

/** The steps of a `map` over a text of the request: exact keys, names with `*.`, the longest first, regexes in their order. */
function readMap(
  state: NginxImport,
  source: string,
  { map, name }: { readonly map: NginxDirective; readonly name: string },
): ValueTable | string {
  const entries = map.block ?? [];
  const unread = entries.find((one) => one.unread !== undefined);
  if (unread !== undefined) return `a file of \`$${name}\` was not read`;
  const keys = entries.filter((one) => !MAP_WORDS.includes(one.name));
  const hasNames = HOST_VARIABLES.includes(source) && entries.some((one) => one.name === 'hostnames');
  const isPattern = (key: string): boolean => hasNames && /^\*?\./.test(key);
  const exact = keys.filter((one) => !one.name.startsWith('~') && !isPattern(one.name));
  if (PATH_VARIABLES.includes(source) && exact.length > MAX_CASELESS_KEYS)
    return `\`$${name}\` has more than ${MAX_CASELESS_KEYS} paths, which nginx compares without case`;
  const patterns = keys
    .filter((one) => isPattern(one.name))
    .sort((one, other) => other.name.length - one.name.length);
  const steps: TableStep[] = [];
  for (const [value, own] of grouped(exact)) {
    const conditions: ImportedCondition[] = [];
    for (const key of own) {
      const condition = keyTest(state, source, key);
      if (typeof condition === 'string') return `${condition}, in \`$${name}\``;
      conditions.push(condition);
    }
    steps.push({ condition: anyOf(conditions), value, isApart: true });
  }
  for (const { name: key, args } of patterns) {
    const end = endsWithText(key.replace(/^\*/, '').toLowerCase());
    const tests = key.startsWith('.') ? [end, equalsText(key.slice(1).toLowerCase())] : [end];
    steps.push({ condition: { kind: 'host', tests }, value: args[0] ?? '' });
  }
  for (const { name: key, args } of keys.filter((one) => one.name.startsWith('~'))) {
    const condition = keyTest(state, source, key);
    if (typeof condition === 'string') return `${condition}, in \`$${name}\``;
    steps.push({ condition, value: args[0] ?? '' });
  }
  return { steps, fallback: entries.find((one) => one.name === 'default')?.args[0] ?? '' };
}

/** Keys by their value: no request has two exact ones. */
function grouped(entries: readonly NginxDirective[]): ReadonlyMap<string, readonly string[]> {
  const groups = new Map<string, string[]>();
  // Of equal keys the first counts.
  for (const { name, args } of entries)
    groups.set(args[0] ?? '', [...(groups.get(args[0] ?? '') ?? []), name]);
  return groups;
}

/** The condition of one key; exact keys are compared without case. */
function keyTest(state: NginxImport, source: string, key: string): ImportedCondition | string {
  if (!key.startsWith('~') && HOST_VARIABLES.includes(source)) {
    const host = normalizeName(key.replace(/^\\/, ''));
    return host === null ? `\`${key}\` is no host name` : { kind: 'host', tests: [equalsText(host)] };
  }
  const ignoreCase = !key.startsWith('~') || key.startsWith('~*');
  const operand = key.startsWith('~') ? key.slice(key[1] === '*' ? 2 : 1) : key.replace(/^\\/, '');
  const comparison = {
    kind: key.startsWith('~') ? 'regex' : 'equals',
    operand,
    ignoreCase,
    isKey: true,
  } as const;
  const test = variableTest(state, source, { comparison, negated: false });
  if (typeof test === 'string') return test;
  return test.wider === undefined ? test.condition : `\`${key}\` is no list of methods`;
}

/** The condition of the requests for which a variable has one of the values that are accepted. */
export function conditionWhere(
  { steps: written, fallback }: ValueTable,
  accepts: (value: string) => boolean,
): ImportedCondition {
  const apart = written.filter(({ isApart }) => isApart === true);
  const steps = [
    ...apart.filter(({ value }) => accepts(value)),
    ...apart.filter(({ value }) => !accepts(value)),
    ...written.filter(({ isApart }) => isApart !== true),
  ];
  let rest: ImportedCondition = { kind: 'constant', value: accepts(fallback) };
  let run: ImportedCondition[] = [];
  for (let index = steps.length - 1; index >= 0; index--) {
    const { condition, value } = steps[index]!;
    run.unshift(condition);
    const isAccepted = accepts(value);
    if (index > 0 && accepts(steps[index - 1]!.value) === isAccepted) continue;
    const one = anyOf(run);
    run = [];
    // What the rest decides alike needs no test.
    if (rest.kind === 'constant' && rest.value === isAccepted) continue;
    if (rest.kind === 'constant') rest = isAccepted ? one : { kind: 'not', of: one };
    else
      rest = isAccepted
        ? { kind: 'any', of: [one, rest] }
        : { kind: 'all', of: [{ kind: 'not', of: one }, rest] };
  }
  return rest;
}

/** One of the conditions holds; tests of one text that compare alike become one. */
export function anyOf(conditions: readonly ImportedCondition[]): ImportedCondition {
  const joined: ImportedCondition[] = [];
  for (const condition of conditions.flatMap((one) => (one.kind === 'any' ? one.of : [one]))) {
    const at = joined.findIndex((one) => joinedPair(one, condition) !== null);
    if (at < 0) joined.push(condition);
    else joined[at] = joinedPair(joined[at]!, condition)!;
  }
  return joined.length === 1 ? joined[0]! : { kind: 'any', of: joined };
}

function joinedPair(one: ImportedCondition, other: ImportedCondition): ImportedCondition | null {
  if (one.kind === 'host' && other.kind === 'host')
    return { kind: 'host', tests: [...one.tests, ...other.tests] };
  if (one.kind === 'path' && other.kind === 'path')
    return { kind: 'path', tests: [...one.tests, ...other.tests] };
  if (one.kind === 'country' && other.kind === 'country')
    return { kind: 'country', codes: [...new Set([...one.codes, ...other.codes])] };
  if (one.kind !== 'fact' || other.kind !== 'fact') return null;
  const fact = joinedFacts(one.fact, other.fact);
  return fact === null ? null : { kind: 'fact', fact };
}

/** The test that one of two holds; `null`: no test states it. */
function joinedFacts(one: ImportedFact, other: ImportedFact): ImportedFact | null {
  if ('values' in one && 'values' in other) {
    if (one.member !== other.member || one.negated || other.negated) return null;
    return { ...one, values: [...new Set([...one.values, ...other.values])] };
  }
  if (!('condition' in one && 'condition' in other) || one.member !== other.member) return null;
  const { values, ...compared } = one.condition;
  const { values: others, ...same } = other.condition;
  if (compared.op.startsWith('not_') || values.length === 0) return null;
  if (compared.name !== same.name || compared.op !== same.op || compared.ignore_case !== same.ignore_case)
    return null;
  const all = [...new Set([...values, ...others])];
  return all.length > MAX_CONDITION_VALUES ? null : { ...one, condition: { ...one.condition, values: all } };
}

/** Marks the tables of a variable as carried over. */
export function useTables(state: NginxImport, name: string, seen: readonly string[] = []): void {
  const geo = state.geos.get(name);
  const map = state.maps.get(name);
  const table = geo ?? map;
  if (table === undefined || seen.includes(name)) return;
  entryOf(state, table);
  if (geo === undefined) useTables(state, nameOf(map!.args[0] ?? ''), [...seen, name]);
}
