/**
 * Translates `limit_req`. In: the key of its zone, which may be a `map` that gives some requests no key. Out: a rate_limit rule for each
 * way in which requests have a key.
 */
import { MAX_RATE_PARTS } from '../../../base/vocabulary/limits.ts';
import { addRule, type DraftEntry, markDifference, markMissing } from '../draft.ts';
import {
  bothFilters,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
  ruleFields,
} from '../filter.ts';
import type { AccessScope } from './access.ts';
import { nameOf } from './address-tables.ts';
import { shortened } from './conditions.ts';
import { differ, entryOf, type NginxImport, noteFilters } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { conditionWhere, tableOf, useTables } from './tables.ts';
import { valuePieces } from './targets.ts';
import { differencesOf, readingDifferences } from './value-tests.ts';
import {
  HOST_VARIABLES,
  isCountry,
  noFilter,
  PATH_VARIABLES,
  textOfVariable,
  variableTest,
} from './variables.ts';

/** One way in which requests have a key. */
interface LimitKey {
  readonly parts: readonly string[];
  /** The requests that are counted by it. */
  readonly filters: readonly ImportedFilter[];
  readonly differences: readonly string[];
}

/** Adds the rate_limit rules of one `limit_req` for each scope. */
export function emitLimit(
  state: NginxImport,
  directive: NginxDirective,
  scopes: readonly AccessScope[],
  status: number,
): void {
  const entry = entryOf(state, directive);
  const zone = state.zones.get(optionOf(directive, 'zone') ?? '');
  if (zone === undefined) {
    markMissing(entry, `no \`limit_req_zone\` has the name \`${optionOf(directive, 'zone') ?? ''}\``);
    return;
  }
  const zoneEntry = entryOf(state, zone);
  const keys = keysOf(state, zone.args[0] ?? '');
  if (typeof keys === 'string') {
    markMissing(zoneEntry, keys);
    markMissing(entry, keys);
    return;
  }
  const [, amount = '', unit = ''] = /^(\d+)r\/([sm])$/.exec(optionOf(zone, 'rate') ?? '') ?? [];
  const burst = Number(optionOf(directive, 'burst') ?? 0);
  const limit = { limit: Number(amount), window_sec: unit === 'm' ? 60 : 1, burst };
  for (const { filter } of scopes) {
    for (const key of keys) if (!addLimits(state, entry, { filter, key, limit })) return;
  }
  const per = unit === 'm' ? 'minute' : 'second';
  markDifference(
    entry,
    `nginx lets ${burst + 1} requests through at once and then one each 1/${amount} ${per} (leaky bucket); the rule lets ${Number(amount) + burst} through in any ${limit.window_sec} s (sliding window)`,
  );
  if (burst > 0 && !directive.args.includes('nodelay'))
    markDifference(entry, 'nginx delays requests of the burst; the edge lets them through at once');
  if (status !== 429) markDifference(entry, `the edge answers 429; nginx answers ${status}`);
  if (scopes.length > 1)
    markDifference(entry, 'nginx counts all its locations together; each rule counts on its own');
  if (scopes.some(({ earlier }) => earlier.length > 0))
    markDifference(entry, 'requests that are redirected count too');
  for (const { differences } of keys) differ(entry, differences);
}

function optionOf({ args }: NginxDirective, name: string): string | undefined {
  return args.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
}

/** Adds the rules of one key in one scope; whether all were added. */
function addLimits(
  state: NginxImport,
  entry: DraftEntry,
  { filter, key, limit }: { readonly filter: ImportedFilter; readonly key: LimitKey; readonly limit: object },
): boolean {
  for (const own of key.filters) {
    const both = bothFilters(filter, own);
    if (both === null) continue;
    if (typeof both === 'string') {
      markMissing(entry, both);
      return false;
    }
    noteFilters(state, [both]);
    const parts = key.parts.join() === 'ip' ? {} : { key_parts: key.parts };
    if (!addRule(state.draft, entry, 'rate_limit', { ...ruleFields(both), ...limit, ...parts })) return false;
  }
  return true;
}

/** The keys of a zone; a text is the reason why rules cannot count by it. */
function keysOf(state: NginxImport, written: string): readonly LimitKey[] | string {
  const name = nameOf(written);
  if (!state.maps.has(name) && !state.geos.has(name)) {
    const key = keyOf(state, written, { kind: 'constant', value: true });
    return typeof key === 'string' ? key : [key];
  }
  const table = tableOf(state, name);
  if (typeof table === 'string') return table;
  useTables(state, name);
  const keys: LimitKey[] = [];
  for (const value of new Set([...table.steps.map((step) => step.value), table.fallback])) {
    // nginx does not count requests with an empty key.
    if (value === '') continue;
    const key = keyOf(
      state,
      value,
      conditionWhere(table, (one) => one === value),
    );
    if (typeof key === 'string') return `${key}, a value of \`$${name}\``;
    if (key.filters.length > 0) keys.push(key);
  }
  return keys;
}

/** The key of a text with variables, for the requests that meet a condition. */
function keyOf(state: NginxImport, written: string, condition: ImportedCondition): LimitKey | string {
  const parts: string[] = [];
  const differences: string[] = [];
  const filled: ImportedCondition[] = [];
  const pieces = valuePieces(written, new Map());
  let isFilled = pieces.some(({ kind }) => kind === 'text');
  for (const piece of pieces) {
    if (piece.kind === 'text') continue;
    const part = partOf(state, piece.name);
    if (part === null) return `requests are not counted by \`$${piece.name}\`: ${noFilter(piece.name)}`;
    if (part.part === null)
      differences.push(`\`$${piece.name}\` is no part of the key: its values count together`);
    else if (!parts.includes(part.part)) parts.push(part.part);
    if (part.difference !== undefined) differences.push(part.difference);
    if (part.filled === null) isFilled = true;
    else filled.push(part.filled);
  }
  if (parts.length === 0) return `\`${written}\` is one count for all requests, which no rule has`;
  if (parts.length > MAX_RATE_PARTS) return `\`${written}\` has more than ${MAX_RATE_PARTS} parts`;
  const counted: ImportedCondition = isFilled
    ? condition
    : { kind: 'all', of: [condition, { kind: 'any', of: apart(filled) }] };
  const filters = filtersOf(counted);
  if (!filters.ok) return filters.reason;
  const read = filters.filters.flatMap(({ facts }) => facts);
  return {
    parts,
    filters: filters.filters.map(shortened),
    differences: [...differences, ...differencesOf(read)],
  };
}

/** Alternatives of which no two hold for one request, so that no request counts twice. */
function apart(conditions: readonly ImportedCondition[]): readonly ImportedCondition[] {
  return conditions.map((one, index) => ({
    kind: 'all',
    of: [...conditions.slice(0, index).map((of) => ({ kind: 'not', of }) as const), one],
  }));
}

/** What a variable is in a key. */
interface KeyPart {
  /** `null`: a key of rules has no such part. */
  readonly part: string | null;
  /** The requests for which it is not empty; `null`: it never is. */
  readonly filled: ImportedCondition | null;
  readonly difference?: string;
}

/** The part of a variable; `null`: it is of something that rules do not know. */
function partOf(state: NginxImport, name: string): KeyPart | null {
  if (name === 'binary_remote_addr' || name === 'remote_addr') return { part: 'ip', filled: null };
  if (PATH_VARIABLES.includes(name)) return { part: 'path', filled: null };
  if (name === 'request_uri')
    return {
      part: 'path',
      filled: null,
      difference: 'the query is no part of the key: paths with any query count together',
    };
  if ([...HOST_VARIABLES, 'server_name', 'scheme', 'request_method'].includes(name))
    return { part: null, filled: null };
  const text = textOfVariable(state, name);
  const country = isCountry(state, name) ? 'country' : null;
  if (text === null && country === null) return null;
  const comparison = { kind: 'equals', operand: '', ignoreCase: false } as const;
  const test = variableTest(state, name, { comparison, negated: true });
  if (typeof test === 'string') return null;
  if (text === null) return { part: country, filled: test.condition };
  const source = { headers: 'header', cookies: 'cookie', query: 'query' }[text.member];
  const [difference] = readingDifferences(text);
  return {
    part: `${source}:${text.name}`,
    filled: test.condition,
    ...(difference === undefined ? {} : { difference }),
  };
}
