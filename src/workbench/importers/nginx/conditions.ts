/** Reads the conditions of `if` and the tables of `map` and `geo` as far as rules can express them. */
import { normalizeName } from '../../../base/addresses/host.ts';
import {
  type AddressSet,
  ALL_ADDRESSES,
  addressEntries,
  isEmptySet,
  NO_ADDRESSES,
  readAddresses,
  subtractAddresses,
  uniteAddresses,
} from '../addresses.ts';
import { addressFilter, EVERY_REQUEST, type ImportedFilter, MAX_CASELESS_KEYS } from '../filter.ts';
import { endsWithText, equalsText, passes, regexText, type TextTest, withoutCase } from '../text-test.ts';
import { entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { pathRegex } from './regions.ts';

/** One case in which a condition holds. */
export interface NginxCase {
  readonly filter: ImportedFilter;
  /** Variables with the values they have in this case. */
  readonly bindings: ReadonlyMap<string, string>;
  /** How the case differs. */
  readonly differences?: string;
}

/** Variables whose values rules can test. */
const HOST_VARIABLES = ['host', 'http_host'];
const PATH_VARIABLES = ['uri', 'document_uri'];

/** The cases in which an `if` holds, in order; a text is the reason why they cannot be written. */
export function casesOfIf(
  state: NginxImport,
  { args }: NginxDirective,
  bindings: ReadonlyMap<string, string | null> = new Map(),
): readonly NginxCase[] | string {
  const text = args
    .join(' ')
    .replace(/^\(\s*/, '')
    .replace(/\s*\)$/, '');
  const [, name, operator, operand = ''] =
    /^\$\{?([A-Za-z0-9_]+)\}?(?:\s*(!=|=|!~\*|!~|~\*|~)\s*(.*))?$/s.exec(text) ?? [];
  if (name === undefined) return `\`${text}\` has no equivalent in a filter`;
  const bound = bindings.get(name);
  if (bound === null) return `\`$${name}\` depends on the request here`;
  if (bound !== undefined && !bound.includes('$')) return constantCase(bound, operator, operand);
  if (bound !== undefined) return `\`$${name}\` has other variables, which no rule compares`;
  if (isByAddress(state, name)) return casesOfTable(state, name, { operator, operand });
  if (operator === undefined) return state.maps.has(name) ? casesOfMap(state, name) : noFilter(name);
  const filter = testOf(name, operator, operand);
  return typeof filter === 'string' ? filter : [{ filter, bindings: new Map() }];
}

/** The case of a comparison with a variable that the address decides. */
function casesOfTable(
  state: NginxImport,
  name: string,
  { operator, operand }: { readonly operator: string | undefined; readonly operand: string },
): readonly NginxCase[] | string {
  const table = addressTable(state, name);
  if (typeof table === 'string') return table;
  const met: AddressSet[] = [];
  for (const [value, addresses] of table) {
    const cases = constantCase(value, operator, operand);
    if (typeof cases === 'string') return cases;
    if (cases.length > 0) met.push(addresses);
  }
  if (met.length === table.size) return [{ filter: EVERY_REQUEST, bindings: new Map() }];
  if (met.length === 0) return [];
  return [{ filter: { ...EVERY_REQUEST, ...addressFilter(uniteAddresses(met)) }, bindings: new Map() }];
}

/** The cases of a comparison whose value is known: every request, or none. */
function constantCase(
  value: string,
  operator: string | undefined,
  operand: string,
): readonly NginxCase[] | string {
  const every: readonly NginxCase[] = [{ filter: EVERY_REQUEST, bindings: new Map() }];
  if (operator === undefined) return value !== '' && value !== '0' ? every : [];
  const isNegated = operator.startsWith('!');
  const ignoreCase = operator.endsWith('*');
  if (operator === '=' || operator === '!=') return (value === operand) !== isNegated ? every : [];
  const test = regexText(operand);
  if (typeof test === 'string') return test;
  return passes(ignoreCase ? withoutCase(test) : test, value) !== isNegated ? every : [];
}

function noFilter(name: string): string {
  return `no rule has a filter on \`$${name}\``;
}

/** The filter of one comparison. */
function testOf(name: string, operator: string, operand: string): ImportedFilter | string {
  const isNegated = operator.startsWith('!');
  if (name === 'remote_addr' && (operator === '=' || operator === '!=')) {
    const addresses = readAddresses(operand);
    if (addresses === null) return `\`${operand}\` is no address`;
    return { ...EVERY_REQUEST, [isNegated ? 'ipExcludes' : 'ipIncludes']: addresses };
  }
  const isHost = HOST_VARIABLES.includes(name);
  if (!isHost && !PATH_VARIABLES.includes(name)) return noFilter(name);
  const test = comparison(operator.replace('!', ''), operand, isHost);
  if (typeof test === 'string') return test;
  const field = `${isHost ? 'host' : 'path'}${isNegated ? 'Excludes' : 'Includes'}`;
  return { ...EVERY_REQUEST, [field]: [test] };
}

function comparison(operator: string, operand: string, isHost: boolean): TextTest | string {
  if (operator === '=') return equalsText(isHost ? operand.toLowerCase() : operand);
  if (isHost) {
    const test = regexText(operand);
    return typeof test === 'string' ? test : (literalHost(operand) ?? withoutCase(test));
  }
  const reason = regexText(operand);
  return pathRegex(operand, operator === '~*') ?? String(reason);
}

/** A host regex that is a literal: `^www\.example\.com$`. */
function literalHost(source: string): TextTest | null {
  const body = /^\^((?:[a-z0-9-]|\\\.)+)\$$/i.exec(source)?.[1];
  return body === undefined ? null : equalsText(body.replaceAll('\\', '').toLowerCase());
}

/** Words in a `map` that are no values of its source. */
const MAP_WORDS = ['default', 'hostnames', 'include', 'volatile'];

/** The cases in which a variable of a `map` is neither empty nor `0`. */
export function casesOfMap(state: NginxImport, name: string): readonly NginxCase[] | string {
  const map = state.maps.get(name)!;
  const source = (map.args[0] ?? '').replace(/[${}]/g, '');
  const isHost = HOST_VARIABLES.includes(source);
  if (!isHost && !PATH_VARIABLES.includes(source)) return `${noFilter(source)}, the source of \`$${name}\``;
  const entries = map.block ?? [];
  const isTrue = (value: string): boolean => value !== '' && value !== '0';
  const fallback = entries.find((one) => one.name === 'default')?.args[0] ?? '';
  if (isTrue(fallback))
    return `\`$${name}\` is set for every ${isHost ? 'host' : 'path'} (\`default ${fallback}\`)`;
  const cases: NginxCase[] = [];
  const hasNames = entries.some((one) => one.name === 'hostnames');
  // Exact values win over regexes, whatever their order.
  const literal = entries.filter((one) => !one.name.startsWith('~') && !MAP_WORDS.includes(one.name));
  const regexes = entries.filter((one) => one.name.startsWith('~'));
  // Each text without case is a regex, of which a domain has room for a few dozen.
  const hasMany = !isHost && literal.length > MAX_CASELESS_KEYS;
  const differences = hasMany ? `paths of \`$${name}\` are compared with case; nginx ignores it` : undefined;
  for (const entry of [...literal, ...regexes]) {
    const value = entry.args[0] ?? '';
    if (!isTrue(value)) return `\`${entry.name}\` of \`$${name}\` is an exception, which has no equivalent`;
    const isExact = hasMany && !entry.name.startsWith('~');
    const test = isExact ? equalsText(entry.name.replace(/^\\/, '')) : mapTest(entry.name, isHost, hasNames);
    if (typeof test === 'string') return test;
    const filter = { ...EVERY_REQUEST, [isHost ? 'hostIncludes' : 'pathIncludes']: [test] };
    cases.push({
      filter,
      bindings: new Map([[name, value]]),
      ...(differences === undefined ? {} : { differences }),
    });
  }
  return cases;
}

/** The test of one entry; literal values are compared without case. */
function mapTest(key: string, isHost: boolean, hasNames: boolean): TextTest | string {
  if (key.startsWith('~')) {
    const source = key.slice(key[1] === '*' ? 2 : 1);
    const test = isHost ? comparison('~', source, true) : pathRegex(source, key[1] === '*');
    return test ?? `\`${key}\` is not in RE2 syntax`;
  }
  const text = key.startsWith('\\') ? key.slice(1) : key;
  if (isHost && hasNames && text.startsWith('*.')) return endsWithText(text.slice(1).toLowerCase());
  if (isHost) {
    const host = normalizeName(text);
    return host === null ? `\`${text}\` is no host name` : equalsText(host);
  }
  // Paths without letters have no case.
  return /[a-z]/i.test(text) ? withoutCase(equalsText(text)) : equalsText(text);
}

// Variables that the visitor's address alone decides: `geo`, and `map` over one of them or over the address. In: the tables of a configuration.
// Out: the addresses for which such a variable has each of its values.

/** The addresses of each value; together they are all addresses. */
export type AddressTable = ReadonlyMap<string, AddressSet>;

/** The name of the variable that a text is; empty: it is another text. */
function nameOf(text: string): string {
  return /^\$(?:(\w+)|\{(\w+)\})$/.exec(text)?.slice(1).join('') ?? '';
}

/** Whether a variable is one of `geo`, or of a `map` that ends in one or in the address. */
function isByAddress(state: NginxImport, name: string, seen: readonly string[] = []): boolean {
  if (state.geos.has(name) || (name === 'remote_addr' && seen.length > 0)) return true;
  const map = state.maps.get(name);
  if (map === undefined || seen.includes(name)) return false;
  return isByAddress(state, nameOf(map.args[0] ?? ''), [...seen, name]);
}

/** The table of a variable that `isByAddress`; a text is the reason why it cannot be read. */
function addressTable(state: NginxImport, name: string): AddressTable | string {
  const geo = state.geos.get(name);
  if (geo !== undefined) return readGeo(geo, name);
  const map = state.maps.get(name)!;
  const from = nameOf(map.args[0] ?? '');
  if (from === 'remote_addr') return readAddressMap(map, name);
  const source = addressTable(state, from);
  if (typeof source === 'string') return source;
  const parts: [string, AddressSet][] = [];
  for (const [value, addresses] of source) {
    const mapped = mapValue(map.block ?? [], value);
    if (mapped === null) return `\`$${name}\` has entries that rules cannot read`;
    parts.push([mapped, addresses]);
  }
  return united(parts);
}

/** Marks the tables of a variable as carried over. */
export function useTables(state: NginxImport, name: string): void {
  const geo = state.geos.get(name);
  const map = state.maps.get(name);
  const table = geo ?? map;
  if (table !== undefined) entryOf(state, table);
  if (geo === undefined && map !== undefined && isByAddress(state, name))
    useTables(state, nameOf(map.args[0] ?? ''));
}

/** Sets of one value joined. */
function united(parts: readonly (readonly [string, AddressSet])[]): AddressTable {
  const sets = new Map<string, AddressSet[]>();
  for (const [value, addresses] of parts) {
    const known = sets.get(value);
    if (known === undefined) sets.set(value, [addresses]);
    else known.push(addresses);
  }
  return new Map([...sets].map(([value, all]) => [value, uniteAddresses(all)]));
}

/** Reads a `geo`: the longest prefix of an address decides, whatever the order; of equal ones the last. */
function readGeo({ args, block }: NginxDirective, name: string): AddressTable | string {
  if (args.length > 1 && nameOf(args[0]!) !== 'remote_addr') return `no rule has a filter on \`${args[0]}\``;
  const byLength = new Map<number, Map<string, { readonly value: string; readonly addresses: AddressSet }>>();
  let fallback = '';
  const isRanges = block?.some((one) => one.name === 'ranges') === true;
  for (const { name: key, args: values, unread } of block ?? []) {
    const [value = ''] = values;
    if (key === 'ranges') continue;
    if (unread !== undefined) return `a file of \`$${name}\` was not read`;
    if (key === 'default') {
      fallback = value;
      continue;
    }
    const addresses = readAddresses(key);
    if (addresses === null) return `\`${key}\` of \`$${name}\` has no equivalent`;
    const length = isRanges ? 0 : Number(/\/(\d+)$/.exec(key)?.[1] ?? (addresses.v4.length > 0 ? 32 : 128));
    const own = byLength.get(length) ?? new Map();
    own.set(addressKey(addresses), { value, addresses });
    byLength.set(length, own);
  }
  const parts: [string, AddressSet][] = [];
  let decided = NO_ADDRESSES;
  for (const [, own] of [...byLength].sort(([one], [other]) => other - one)) {
    const entries = [...own.values()];
    if (isRanges && overlap(entries.map(({ addresses }) => addresses)))
      return `ranges of \`$${name}\` overlap, which has no equivalent`;
    for (const [value, set] of united(entries.map((one) => [one.value, one.addresses])))
      parts.push([value, subtractAddresses(set, decided)]);
    decided = uniteAddresses([decided, ...entries.map(({ addresses }) => addresses)]);
  }
  parts.push([fallback, subtractAddresses(ALL_ADDRESSES, decided)]);
  return united(parts.filter(([, set]) => !isEmptySet(set)));
}

/** Reads a `map` over the address, which it compares as text. */
function readAddressMap({ block }: NginxDirective, name: string): AddressTable | string {
  const parts: [string, AddressSet][] = [];
  let fallback = '';
  for (const { name: key, args, unread } of block ?? []) {
    const [value = ''] = args;
    const addresses = readAddresses(key);
    if (key === 'default') fallback = value;
    else if (unread !== undefined || addresses === null || value.includes('$'))
      return `\`${key}\` of \`$${name}\` has no equivalent`;
    else if (addressEntries(addresses)[0] === key.toLowerCase() && /^[\da-f.:]+$/i.test(key))
      parts.push([value, addresses]);
  }
  if (fallback.includes('$')) return `\`${fallback}\` of \`$${name}\` has no equivalent`;
  const decided = uniteAddresses(parts.map(([, addresses]) => addresses));
  return united([...parts, [fallback, subtractAddresses(ALL_ADDRESSES, decided)]]);
}

/** One interval as text. */
function addressKey({ v4, v6 }: AddressSet): string {
  return [...v4, ...v6].map(({ first, last }) => `${v4.length} ${first} ${last}`).join();
}

/** Whether two of the sets, each one interval, have an address in common. */
function overlap(sets: readonly AddressSet[]): boolean {
  return (['v4', 'v6'] as const).some((family) => {
    const ranges = sets.flatMap((one) => one[family]);
    ranges.sort((one, other) => (one.first < other.first ? -1 : 1));
    return ranges.some((range, index) => index > 0 && range.first <= ranges[index - 1]!.last);
  });
}

/** The value that a `map` has for a value of its source; `null`: an entry cannot be read, or names a variable. */
function mapValue(entries: readonly NginxDirective[], value: string): string | null {
  let found: string | undefined;
  const wanted = value.toLowerCase();
  for (const { name, args, unread } of entries) {
    if (unread !== undefined || name === 'hostnames') return null;
    if (name.startsWith('~') || ['default', 'volatile'].includes(name)) continue;
    if (found === undefined && name.replace(/^\\/, '').toLowerCase() === wanted) found = args[0] ?? '';
  }
  for (const { name, args } of entries) {
    if (found !== undefined || !name.startsWith('~')) continue;
    const ignoreCase = name[1] === '*';
    const test = regexText(name.slice(ignoreCase ? 2 : 1));
    if (typeof test === 'string') return null;
    if (passes(ignoreCase ? withoutCase(test) : test, value)) found = args[0] ?? '';
  }
  found ??= entries.find(({ name }) => name === 'default')?.args[0] ?? '';
  return found.includes('$') ? null : found;
}
