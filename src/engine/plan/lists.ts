/**
 * The contract of a sealed list (semantics §13): one run of octets with a version and a checksum, shared by its digest among
 * all plans that name it. A header, then 32-bit words, then text, with one octet a character or two; in little-endian order.
 *
 * Words of kind `ip` are an address filter (ADDRESSES in `layout.ts`), of `asn` numbers in ascending order, of `country` a bitset
 * of COUNTRY_WORDS. Those of the other kinds begin with TEXT_INDEX.
 */
import { xxhash32 } from '../../base/octets/xxhash32.ts';

/** Raised whenever the layout or the meaning of a field changes; other versions are refused. */
export const LIST_VERSION = 1;
/** `EPLL`, read as a little-endian number. */
export const LIST_MAGIC = 0x4c4c5045;

/**
 * Words of the header. `kind`: index in LIST_KINDS. `entries`: how many. `words`: how many words follow. `text`: characters of the
 * text. `wide`: 1 if a character has two octets.
 */
export const LIST_HEADER = {
  magic: 0,
  version: 1,
  bytes: 2,
  checksum: 3,
  kind: 4,
  entries: 5,
  words: 6,
  text: 7,
  wide: 8,
  size: 10,
} as const;

/**
 * The index of a list of texts: offsets in the words, NONE for a part that the list does not have.
 *
 * `rows`: a row of TEXT_ROW for each entry. `exact`, `prefix` and `suffix`: hash tables (a mask, then mask + 1 words, 0 for a free
 * place, searched linearly) of the entries that are whole texts, starts and ends. A word has the number of a row plus one in the
 * bits of ROW_MASK, and those of the hash above them, so that most rows of other texts are not read. `prefixLengths`, `suffixLengths`: a
 * count and the lengths of such texts, ascending. `machine`: an Aho–Corasick automaton over a literal of every other entry;
 * `machineRows`: for each literal the offset of a count and row numbers. `any`: the row that matches every text, plus one; 0: no such row.
 * `seed`: where hashes start.
 */
export const TEXT_INDEX = {
  seed: 0,
  rows: 1,
  exact: 2,
  prefix: 3,
  prefixLengths: 4,
  suffix: 5,
  suffixLengths: 6,
  machine: 7,
  machineWords: 8,
  machineRows: 9,
  any: 10,
  size: 11,
} as const;

/**
 * An entry: where its text is, and its kind (PATTERN_KIND). The pieces of a wildcard are divided by NUL. `data`: of a redirect the
 * offset of a row of REDIRECT_ROW.
 */
export const TEXT_ROW = { at: 0, length: 1, kind: 2, data: 3, size: 4 } as const;
/** The target of a redirect, and its status, 0 for that of the rule. */
export const REDIRECT_ROW = { at: 0, length: 1, status: 2, size: 3 } as const;

/** The bits of a word in a table that are a row number plus one. */
export const ROW_MASK = 0x1ffff;

/** The hash of a text, after its start `hash`, with one more character (FNV-1a). */
export function hashOn(hash: number, code: number): number {
  return Math.imul(hash ^ code, 0x01000193);
}

/** The place of a finished hash in a table. */
export function hashPlace(hash: number, mask: number): number {
  return (hash ^ (hash >>> 15)) & mask;
}

/** Where the hashes of a list with this seed start. */
export function hashStart(seed: number): number {
  return (0x811c9dc5 ^ Math.imul(seed, 0x9e3779b1)) | 0;
}

/** The checksum over everything but the checksum's own word. */
export function listChecksum(bytes: Uint8Array): number {
  const at = LIST_HEADER.checksum * 4;
  return xxhash32(bytes.subarray(at + 4), xxhash32(bytes.subarray(0, at)));
}
