/** Seals a signature program: one run of bytes with a version and a checksum, shared by every plan that names it. */
import { xxhash32 } from '../../base/octets/xxhash32.ts';
import {
  SIGNATURE_PROGRAM_VERSION,
  type SignatureProgram,
  type SignatureRule,
  type WafLevel,
  type WafPattern,
} from './signature-program.ts';

/** `EPSG`, read as a little-endian number. */
export const SIGNATURES_MAGIC = 0x47535045;

/**
 * Words of the header, each 32 bits in little-endian order. Behind it lies the text, JSON with one octet a character
 * (code units above 255 are escaped), and at the next multiple of 8 the tables.
 */
export const SIGNATURES_HEADER = { magic: 0, version: 1, bytes: 2, checksum: 3, text: 4, tables: 5 } as const;
/** Octets of the header. */
export const SIGNATURES_START = 24;

/** Where a table lies: octets from the first table on, and its length in words of its own width. */
export interface SealedTable {
  readonly at: number;
  readonly length: number;
}

/** The JSON part: the program with its tables taken out and each rule written once. */
export interface SealedText extends Omit<SignatureProgram, 'patterns' | 'levels'> {
  readonly patterns: readonly SealedPattern[];
  readonly rules: readonly SignatureRule[];
  readonly levels: readonly (Omit<WafLevel, 'rules'> & { readonly rules: readonly number[] })[];
}

export interface SealedPattern extends Omit<WafPattern, 'dfa' | 'guard'> {
  readonly dfa: SealedTable | null;
  readonly guard: SealedTable | null;
}

/** The program's bytes. The same program always gives the same bytes. */
export function sealSignatures(program: SignatureProgram): Uint8Array {
  const tables: { readonly words: Uint16Array; readonly at: number }[] = [];
  let size = 0;
  const place = (words: Uint16Array): SealedTable => {
    const at = size;
    tables.push({ words, at });
    size = align(at + words.byteLength);
    return { at, length: words.length };
  };
  const text = latin1Json(sealedText(program, place));
  const start = align(SIGNATURES_START + text.length);
  const bytes = new Uint8Array(start + size);
  for (let i = 0; i < text.length; i++) bytes[SIGNATURES_START + i] = text.charCodeAt(i);
  for (const { words, at } of tables) {
    bytes.set(new Uint8Array(words.buffer, words.byteOffset, words.byteLength), start + at);
  }
  const view = new DataView(bytes.buffer);
  const header = [SIGNATURES_MAGIC, SIGNATURE_PROGRAM_VERSION, bytes.length, 0, text.length, tables.length];
  for (const [word, value] of header.entries()) view.setUint32(word * 4, value, true);
  view.setUint32(SIGNATURES_HEADER.checksum * 4, signaturesChecksum(bytes), true);
  return bytes;
}

function sealedText(program: SignatureProgram, place: (words: Uint16Array) => SealedTable): SealedText {
  const rules: SignatureRule[] = [];
  const numbers = new Map<string, number>();
  const number = (rule: SignatureRule): number => {
    const key = JSON.stringify(rule);
    let known = numbers.get(key);
    if (known === undefined) {
      known = rules.push(rule) - 1;
      numbers.set(key, known);
    }
    return known;
  };
  const { name, targets, chains, phraseLists, literals } = program;
  const patterns = program.patterns.map(
    ({ source, ignoreCase, dotAll, dfa, guard, required, needed, backtrack }) => ({
      source,
      ignoreCase,
      dotAll,
      required,
      needed,
      ...(backtrack === undefined ? {} : { backtrack }),
      dfa: dfa === null ? null : place(dfa),
      guard: guard === undefined ? null : place(guard),
    }),
  );
  const levels = program.levels.map(({ rules: own, initial }) => ({ initial, rules: own.map(number) }));
  return { name, targets, chains, patterns, phraseLists, literals, rules, levels };
}

/** JSON in which every character is an octet. */
function latin1Json(value: unknown): string {
  return JSON.stringify(value).replace(/[^\0-\u00ff]/g, (character) => {
    return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
  });
}

/** The checksum over everything but the checksum's own word. */
export function signaturesChecksum(bytes: Uint8Array): number {
  const at = SIGNATURES_HEADER.checksum * 4;
  return xxhash32(bytes.subarray(at + 4), xxhash32(bytes.subarray(0, at)));
}

/** Tables lie at multiples of 8, so that opening them needs no copy. */
export function align(offset: number): number {
  return (offset + 7) & ~7;
}
