/**
 * Variables that the visitor's address alone decides: `geo`, and `map` over one of them or over the address. In: the tables of a
 * configuration. Out: the addresses for which such a variable has each of its values.
 */
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
import { passes, regexText, withoutCase } from '../text-test.ts';
import type { NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';

/** The addresses of each value; together they are all addresses. */
export type AddressTable = ReadonlyMap<string, AddressSet>;

/** The name of the variable that a text is; empty: it is another text. */
export function nameOf(text: string): string {
  return /^\$(?:(\w+)|\{(\w+)\})$/.exec(text)?.slice(1).join('') ?? '';
}

/** Whether a variable is one of `geo`, or of a `map` that ends in one or in the address. */
export function isByAddress(state: NginxImport, name: string, seen: readonly string[] = []): boolean {
  if (state.geos.has(name) || (name === 'remote_addr' && seen.length > 0)) return true;
  const map = state.maps.get(name);
  if (map === undefined || seen.includes(name)) return false;
  return isByAddress(state, nameOf(map.args[0] ?? ''), [...seen, name]);
}

/** The table of a variable that `isByAddress`; a text is the reason why it cannot be read. */
export function addressTable(state: NginxImport, name: string): AddressTable | string {
  const geo = state.geos.get(name);
  if (geo !== undefined) return readGeo(geo, name);
  const map = state.maps.get(name)!;
  const from = nameOf(map.args[0] ?? '');
  if (from === 'remote_addr') return readAddressMap(map, name);
  const source = addressTable(state, from);
  if (typeof source === 'string') return source;
  const parts: [string, AddressSet][] = [];
  for (const [value, addresses] of source) {
    const mapped = value.includes('$') ? null : mapValue(map.block ?? [], value);
    if (mapped === null) return `\`$${name}\` has entries that rules cannot read`;
    parts.push([mapped, addresses]);
  }
  return united(parts);
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
    else if (unread !== undefined || addresses === null)
      return `\`${key}\` of \`$${name}\` has no equivalent`;
    else if (addressEntries(addresses)[0] === key.toLowerCase() && /^[\da-f.:]+$/i.test(key))
      parts.push([value, addresses]);
  }
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

/** The value that a `map` has for a value of its source; `null`: an entry cannot be read. */
export function mapValue(entries: readonly NginxDirective[], value: string): string | null {
  let found: string | undefined;
  const wanted = value.toLowerCase();
  for (const { name, args, unread } of entries) {
    if (unread !== undefined || name === 'hostnames') return null;
    if (name.startsWith('~') || ['default', 'volatile'].includes(name)) continue;
    if (found === undefined && name.replace(/^\\/, '').toLowerCase() === wanted) found = args[0] ?? '';
  }
  for (const { name, args } of entries) {
    // nginx tries no regex on the empty text.
    if (found !== undefined || value === '' || !name.startsWith('~')) continue;
    const ignoreCase = name[1] === '*';
    const test = regexText(name.slice(ignoreCase ? 2 : 1));
    if (typeof test === 'string') return null;
    if (passes(ignoreCase ? withoutCase(test) : test, value)) found = args[0] ?? '';
  }
  return found ?? entries.find(({ name }) => name === 'default')?.args[0] ?? '';
}
