/**
 * The keys that rules are filed under (`filing.ts`): their prefixes, the share of requests that is taken to carry each, and
 * the options of filters that only some types have: countries, addresses, bot kinds, fingerprints.
 */
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { type AddressRange, addressRange } from './filters.ts';

/**
 * Prefixes of keys, one per index. The text that follows is the literal; of values after the number of the source, `c` or
 * `i` for its tree, and a NUL; of lists the name.
 */
export const KEY = {
  pathExact: 'p=',
  pathPrefix: 'p^',
  pathSuffix: 'p$',
  pathInner: 'p~',
  hostExact: 'h=',
  hostSuffix: 'h$',
  country: 'c:',
  bot: 'b:',
  ja4Exact: 'j=',
  ja4Prefix: 'j^',
  ja4hExact: 'J=',
  ja4hPrefix: 'J^',
  valueExact: 'v=',
  valuePrefix: 'v^',
  listed: 'l:',
} as const;

/** A key with the share of requests that are taken to carry it. */
export interface FilingKey {
  readonly key: string;
  readonly share: number;
  /** The interval of an address key, which is filed by interval; `null`: filed under `key`. */
  readonly range: AddressRange | null;
}

/** For each entry of a filter the keys it could be filed under; every entry needs one. */
export type FilingOption = readonly (readonly FilingKey[])[];

/** Shares of requests, rough estimates between 0 and 1: here of one whole path or fingerprint. */
export const EXACT_SHARE = 0.001;
/** Of a literal within a path, by its length: 1, 2, 3, 4 and more characters. */
export const INNER_SHARES = [0.5, 0.1, 0.03, 0.005] as const;
/** Of a literal at the start of a path, by its length. */
export const PREFIX_SHARES = [0.3, 0.2, 0.1, 0.02] as const;
/** Of a literal at the end of a path, by its length. */
export const SUFFIX_SHARES = [0.3, 0.1, 0.03, 0.01] as const;
/** Of one host. */
export const HOST_SHARE = 0.2;
/** Of one country, one bot kind, and the least of an address range (one address). */
const COUNTRY_SHARE = 0.02;
const BOT_SHARE = 0.01;
const ADDRESS_SHARE = 0.0001;

/** Of a list, whatever its entries are: they change without the plan. */
const LIST_SHARE = 0.05;

/** The key of an entry that names a list; `null`: it names none. */
export function listKey(entry: string): FilingKey | null {
  return entry.startsWith('@') ? key(KEY.listed + entry.slice(1), LIST_SHARE) : null;
}

/** The share of a literal, which falls with its length; the last entry is of all longer ones. */
export function byLength(shares: readonly number[], literal: string): number {
  return shares[Math.min(literal.length, shares.length) - 1]!;
}

/** A key of an index over literals. */
export function key(text: string, share: number): FilingKey {
  return { key: text, share, range: null };
}

/** The option of a country list. */
export function countryOption(countries: readonly string[]): FilingOption {
  return countries.map((code) => [listKey(code) ?? key(KEY.country + code, COUNTRY_SHARE)]);
}

/** The option of an address list. */
export function addressOption(ips: readonly string[]): FilingOption {
  return ips.map((entry) => [listKey(entry) ?? addressKey(entry)]);
}

/** The option of a list of bot kinds; `*` is every kind. */
export function botOption(listed: readonly string[]): FilingOption {
  const kinds = listed.includes('*') ? [...BOT_KINDS, ''] : listed;
  return kinds.map((kind) => [key(KEY.bot + kind, BOT_SHARE)]);
}

/** Share of the address space, from the count of leading bits that first and last have in common. */
function addressKey(entry: string): FilingKey {
  const range = addressRange(entry);
  let common = 0;
  for (const [word, first] of range.first.entries()) {
    const same = Math.clz32(first ^ range.last[word]!);
    common += same;
    if (same < 32) break;
  }
  // A rough estimate for IPv6, whose visitors are in far larger blocks: three bits count as one of IPv4.
  const significant = range.family === 4 ? common : common / 3;
  return { key: `a:${entry}`, share: Math.max(ADDRESS_SHARE, 2 ** -significant), range };
}

/** An option for each fingerprint list. A list with `*` matches every fingerprint and narrows nothing. */
export function fingerprintOptions(ja4: readonly string[], ja4h: readonly string[]): readonly FilingOption[] {
  const option = (entries: readonly string[], exact: string, prefix: string): readonly FilingOption[] => {
    if (entries.length === 0 || entries.includes('*')) return [];
    const keys = entries.map((entry) =>
      entry.endsWith('*')
        ? [key(prefix + entry.slice(0, -1), byLength(PREFIX_SHARES, entry))]
        : [key(exact + entry, EXACT_SHARE)],
    );
    return [keys];
  };
  return [...option(ja4, KEY.ja4Exact, KEY.ja4Prefix), ...option(ja4h, KEY.ja4hExact, KEY.ja4hPrefix)];
}

/** Headers that nearly every request has. */
const COMMON_HEADERS: readonly string[] = [
  'accept',
  'accept-encoding',
  'accept-language',
  'connection',
  'cookie',
  'referer',
  'sec-fetch-dest',
  'sec-fetch-mode',
  'sec-fetch-site',
  'user-agent',
];

/** Of requests that have a value of the source, that have a given one, and that have one with a given start. */
export function valueShare(
  { kind, name }: { readonly kind: string; readonly name: string },
  by: 'present' | 'whole' | 'start',
): number {
  const part = by === 'present' ? 1 : by === 'whole' ? 0.05 : 0.1;
  if (kind === 'method') return 0.2;
  if (kind === 'asn') return 0.01;
  return (kind === 'header' && COMMON_HEADERS.includes(name) ? 0.9 : 0.05) * part;
}
