/**
 * The headers rules of a server. In: the requests of its locations with the blocks around them. Out: a rule for each set of
 * requests with the same changes; a name that changes twice is in two of them, which act in their order.
 */

import { MAX_HEADER_NAMES } from '../../../base/vocabulary/limits.ts';
import type { HeaderSide } from '../../../base/vocabulary/vocabulary.ts';
import { type DraftEntry, markMissing, markNeedless, shareRule, tryRule } from '../draft.ts';
import type { ImportedFact } from '../facts.ts';
import { bothFilters, EVERY_REQUEST, type ImportedFilter, ruleFields } from '../filter.ts';
import type { TextTest } from '../text-test.ts';
import { testOfIf } from './conditions.ts';
import { differ, entryOf, HEADER_DIRECTIVES, type NginxImport } from './context.ts';
import { type HeaderBlocks, headerChanges, type NginxHeaderChange } from './header-directives.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { withoutAll } from './targets.ts';

/** Requests with the blocks that are around them. */
export interface HeaderScope extends HeaderBlocks {
  readonly filter: ImportedFilter;
  /** The blocks around `proxy_pass`, the innermost first; `null`: no origin that is carried over answers. */
  readonly passing: HeaderBlocks['blocks'] | null;
  /** What its paths have beyond nginx's. */
  readonly differences: readonly string[];
}

/** Requests of one side of a server with their changes. */
interface ChangedScope {
  readonly filter: ImportedFilter;
  readonly changes: readonly NginxHeaderChange[];
  readonly differences: readonly string[];
}

/** What the scopes are of. */
export interface HeaderServer {
  /** All its requests. */
  readonly whole: ImportedFilter;
  /** nginx answers plain http with another server. */
  readonly isTlsAlone: boolean;
}

/** Adds the headers rules of a server, whose requests the scopes are together. */
export function emitHeaders(
  state: NginxImport,
  scopes: readonly HeaderScope[],
  { whole, isTlsAlone }: HeaderServer,
): void {
  // Answers of the edge itself have nothing to hide.
  const hides = scopes.some(({ passing }) => passing !== null);
  const answered = scopes
    .flatMap((scope) => dividedByIfs(state, scope))
    .map(({ filter, passing, ...scope }) => {
      const inner = { ...scope, blocks: passing ?? scope.blocks };
      return {
        filter: narrowed(filter, isTlsAlone),
        changes: [
          ...(hides ? headerChanges(state, inner, 'hidden') : []),
          ...headerChanges(state, scope, 'response'),
        ],
        differences: scope.differences,
      };
    });
  emitSide(state, 'response', { whole: narrowed(whole, isTlsAlone), scopes: answered });
  const passed = scopes.flatMap(({ passing, filter, ...scope }) => {
    if (passing === null) return [];
    return [
      { filter, differences: [], changes: headerChanges(state, { ...scope, blocks: passing }, 'request') },
    ];
  });
  emitSide(state, 'request', { whole, scopes: passed });
  for (const one of scopes.flatMap(({ blocks, passing }) => [...blocks, ...(passing ?? [])]).flat()) {
    if (HEADER_DIRECTIVES.includes(one.name) && !state.entries.has(one))
      markNeedless(entryOf(state, one), 'the blocks inside have headers of their own, or no origin answers');
  }
}

/** The filter with https alone, where plain http is answered by another server. */
function narrowed(filter: ImportedFilter, isTlsAlone: boolean): ImportedFilter {
  if (!isTlsAlone) return filter;
  const https: ImportedFact = { member: 'schemes', values: ['https'], negated: false };
  const both = bothFilters(filter, { ...EVERY_REQUEST, facts: [https] });
  return both === null || typeof both === 'string' ? filter : both;
}

/** The scope in parts: one for each case of an `if` with headers of its own, and the rest. Of several the last counts. */
function dividedByIfs(state: NginxImport, scope: HeaderScope): readonly HeaderScope[] {
  const [block = [], ...outer] = scope.blocks;
  const parts: HeaderScope[] = [];
  const taken: ImportedFilter[] = [];
  for (const directive of [...block].reverse()) {
    const own = directive.block?.filter(({ name }) => HEADER_DIRECTIVES.includes(name)) ?? [];
    if (directive.name !== 'if' || own.length === 0) continue;
    const test = testOfIf(state, directive, scope.bindings);
    const lost = typeof test === 'string' ? [test] : [...test.differences];
    for (const { filter, bindings } of typeof test === 'string' || lost.length > 0 ? [] : test.cases) {
      const both = bothFilters(scope.filter, filter);
      const left = both === null || typeof both === 'string' ? both : withoutAll(both, taken);
      if (typeof left === 'string') lost.push(left);
      if (left === null || typeof left === 'string') continue;
      taken.push(filter);
      const known = new Map([...scope.bindings, ...bindings]);
      parts.push({ ...scope, filter: left, blocks: [directive.block!, block, ...outer], bindings: known });
    }
    for (const one of own) for (const why of lost) markMissing(entryOf(state, one), why);
  }
  const rest = withoutAll(scope.filter, taken);
  if (rest === null) return parts;
  if (typeof rest !== 'string') return [{ ...scope, filter: rest }, ...parts];
  for (const one of block.filter(({ name }) => HEADER_DIRECTIVES.includes(name)))
    markMissing(entryOf(state, one), `beside an \`if\` with headers: ${rest}`);
  return parts;
}

/** The requests of one side of a server, in whole and in scopes. */
interface SideScopes {
  readonly whole: ImportedFilter;
  readonly scopes: readonly ChangedScope[];
}

/** Adds the rules of one side. */
function emitSide(state: NginxImport, side: HeaderSide, all: SideScopes): void {
  const { scopes } = all;
  const groups = new Map<string, ChangedScope[]>();
  for (const scope of scopes) {
    const key = JSON.stringify(scope.changes, (_, value) =>
      typeof value === 'bigint' ? `${value}n` : value,
    );
    groups.set(key, [...(groups.get(key) ?? []), scope]);
  }
  for (const members of groups.values()) {
    const { changes } = members[0]!;
    const filters = unitedFilters(side, members, all);
    for (const filter of filters) emitChanges(state, { side, filter }, changes);
    for (const { directive } of changes)
      differ(
        entryOf(state, directive),
        members.flatMap(({ differences }) => differences),
      );
  }
}

/**
 * The filters of scopes of one server: that of the whole without the others, and those of scopes whose paths others leave to them;
 * where no such filter is exact, that of each.
 */
function unitedFilters(
  side: HeaderSide,
  members: readonly ChangedScope[],
  { whole, scopes }: SideScopes,
): readonly ImportedFilter[] {
  const each = members.map(({ filter }) => filter);
  if (members.length === 1 && scopes.length > 1) return each;
  const apart = scopes.filter((one) => !members.includes(one));
  const textOf = (test: TextTest): string => JSON.stringify(test);
  for (const { filter } of apart) {
    if (filter.pathIncludes === null || filter.facts.length > whole.facts.length) return each;
    const known = new Set(apart.flatMap((one) => one.filter.pathIncludes ?? []).map(textOf));
    for (const left of filter.pathExcludes) {
      if (known.has(textOf(left))) continue;
      const owner = members.find((one) =>
        one.filter.pathIncludes?.some((test) => textOf(test) === textOf(left)),
      );
      // What no scope has is not forwarded.
      if (owner === undefined && side === 'request') continue;
      if (owner === undefined) return each;
      // The loop goes on with it.
      apart.push(owner);
      known.add(textOf(left));
    }
  }
  const pathExcludes = [...whole.pathExcludes, ...apart.flatMap(({ filter }) => filter.pathIncludes ?? [])];
  return [
    { ...whole, pathExcludes },
    ...apart.filter((one) => members.includes(one)).map(({ filter }) => filter),
  ];
}

/** Where changes are made. */
interface ChangePlace {
  readonly side: HeaderSide;
  readonly filter: ImportedFilter;
}

/** Adds the rules of changes: those of all requests first, then those of cases. */
function emitChanges(
  state: NginxImport,
  { side, filter }: ChangePlace,
  changes: readonly NginxHeaderChange[],
): void {
  const cases = new Map<ImportedFilter | undefined, NginxHeaderChange[]>([[undefined, []]]);
  for (const change of changes) cases.set(change.within, [...(cases.get(change.within) ?? []), change]);
  for (const [within, own] of cases) {
    const both = within === undefined ? filter : bothFilters(filter, within);
    if (both === null) continue;
    if (typeof both === 'string') for (const one of own) markMissing(entryOf(state, one.directive), both);
    else for (const rule of rulesOf(own)) emitRule(state, { side, filter: both }, rule);
  }
}

/** Changes in rules: each has a name once. */
function rulesOf(changes: readonly NginxHeaderChange[]): readonly (readonly NginxHeaderChange[])[] {
  const rules: NginxHeaderChange[][] = [];
  const byName = new Map<string, NginxHeaderChange[]>();
  for (const change of changes) {
    const lower = change.name.toLowerCase();
    byName.set(lower, joined(byName.get(lower) ?? [], change));
  }
  for (const own of byName.values()) {
    let at = 0;
    for (const change of own) {
      while ((rules[at]?.length ?? 0) >= MAX_HEADER_NAMES) at++;
      const rule = rules[at] ?? [];
      rule.push(change);
      rules[at++] = rule;
    }
  }
  return rules;
}

/** The changes of one name with one more: what it replaces is left out, and a removal before an addition is a replacement. */
function joined(before: readonly NginxHeaderChange[], change: NginxHeaderChange): NginxHeaderChange[] {
  const last = before.at(-1);
  if (change.op !== 'add') return [{ ...change, also: [...before.flatMap(directivesOf)] }];
  if (last?.op !== 'remove') return [...before, change];
  return [{ ...change, op: 'set', also: directivesOf(last) }];
}

/** The directives that a change is of. */
function directivesOf({ directive, also = [] }: NginxHeaderChange): readonly NginxDirective[] {
  return [directive, ...also];
}

/** Adds one rule. */
function emitRule(
  state: NginxImport,
  { side, filter }: ChangePlace,
  changes: readonly NginxHeaderChange[],
): void {
  const entries = new Map<DraftEntry, string[]>();
  for (const change of changes) {
    for (const directive of directivesOf(change)) {
      const entry = entryOf(state, directive);
      entries.set(entry, [...(entries.get(entry) ?? []), ...change.differences]);
    }
  }
  // The comment of the rule is that of the entry with most to say.
  const [first, ...others] = [...entries.keys()].sort(
    (one, other) => entries.get(other)!.length - entries.get(one)!.length,
  );
  const named = (op: string): readonly NginxHeaderChange[] => changes.filter((change) => change.op === op);
  const valued = (op: string): object =>
    named(op).length === 0
      ? {}
      : { [op]: Object.fromEntries(named(op).map(({ name, value }) => [name, value])) };
  const removed = named('remove').map(({ name }) => name);
  const message = {
    ...valued('set'),
    ...valued('add'),
    ...(removed.length === 0 ? {} : { remove: removed }),
  };
  const reason = tryRule(state.draft, first!, 'headers', { ...ruleFields(filter), [side]: message });
  for (const [entry, differences] of entries) {
    if (reason === null) differ(entry, differences);
    else markMissing(entry, reason);
  }
  if (reason === null) shareRule(state.draft, others);
}
