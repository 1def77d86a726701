/** Growing arrays that become a plan's sections. Equal content is stored once. */
import { assert } from '../../base/diagnostics/assert.ts';

/** 32-bit words in runs; equal runs share one place. */
export interface WordPool {
  readonly words: number[];
  readonly places: Map<string, number>;
}

/** An empty pool. */
export function createWordPool(): WordPool {
  return { words: [], places: new Map() };
}

/** The offset of a run in the pool, added if it is new. */
export function placeWords(pool: WordPool, run: readonly number[]): number {
  const key = run.join();
  const known = pool.places.get(key);
  if (known !== undefined) return known;
  const offset = pool.words.length;
  for (const word of run) pool.words.push(word);
  pool.places.set(key, offset);
  return offset;
}

/** Strings, one octet a character if all are Latin-1 and two otherwise. Number 0 is the empty string. */
export interface StringPool {
  readonly numbers: Map<string, number>;
  /** Pairs: offset, and length × 2 + 1 for two-octet text. */
  readonly table: number[];
  readonly narrow: string[];
  readonly wide: string[];
  narrowLength: number;
  wideLength: number;
}

/** A pool with the empty string as number 0. */
export function createStringPool(): StringPool {
  const pool = { numbers: new Map(), table: [], narrow: [], wide: [], narrowLength: 0, wideLength: 0 };
  placeString(pool, '');
  return pool;
}

/** The number of a text in the pool, added if it is new. */
export function placeString(pool: StringPool, text: string): number {
  const known = pool.numbers.get(text);
  if (known !== undefined) return known;
  const number = pool.table.length / 2;
  if (isLatin1(text)) {
    pool.table.push(pool.narrowLength, text.length * 2);
    pool.narrow.push(text);
    pool.narrowLength += text.length;
  } else {
    pool.table.push(pool.wideLength, text.length * 2 + 1);
    pool.wide.push(text);
    pool.wideLength += text.length;
  }
  pool.numbers.set(text, number);
  return number;
}

function isLatin1(text: string): boolean {
  for (let at = 0; at < text.length; at++) if (text.charCodeAt(at) > 0xff) return false;
  return true;
}

/** The sections of a plan's strings: the table of offsets and lengths, the one-octet and the two-octet text. */
export function sealStrings(pool: StringPool): {
  strings: Uint32Array;
  text8: Uint8Array;
  text16: Uint16Array;
} {
  const text8 = new Uint8Array(pool.narrowLength);
  const text16 = new Uint16Array(pool.wideLength);
  writeText(text8, pool.narrow);
  writeText(text16, pool.wide);
  return { strings: Uint32Array.from(pool.table), text8, text16 };
}

/** Writes texts one after another as code units. */
function writeText(out: Uint8Array | Uint16Array, texts: readonly string[]): void {
  let offset = 0;
  for (const text of texts) {
    for (let at = 0; at < text.length; at++) out[offset++] = text.charCodeAt(at);
  }
  assert(offset === out.length, 'every string was counted');
}
