/** Runs a DFA that the compiler built (`base/regex/table.ts`) over octets. */
import {
  DFA_ASCII,
  DFA_BMP_RUNS,
  DFA_DEAD,
  DFA_END,
  DFA_MATCHED,
  DFA_RUNS,
  DFA_START,
  DFA_TABLE,
} from '../../../base/regex/table.ts';

/** A compiled DFA with the tables derived from it once. */
export interface OctetDfa {
  /** The compiled table; its layout: `base/regex/table.ts`. */
  readonly words: Uint16Array;
  /** By octet, its column in the table. */
  readonly columns: Uint8Array;
  /** The code of the state that ordinary text leads to and stays in. */
  readonly home: number;
  /** Octets that lead from `home` to `home`. */
  readonly stays: Uint8Array;
}

/** The letter q twice: few patterns name it, and two octets lead past what a pattern requires at the start of a text. */
const ORDINARY = [113, 113];

/** Prepares a DFA; `words` is its whole table. */
export function octetDfa(words: Uint16Array): OctetDfa {
  const columns = new Uint8Array(256);
  for (let octet = 0; octet < 0x80; octet++) columns[octet] = words[DFA_ASCII + octet]!;
  const runs = words[DFA_BMP_RUNS]!;
  for (let octet = 0x80, run = 0; octet < 0x100; octet++) {
    while (run + 1 < runs && words[DFA_RUNS + run + 1]! <= octet) run++;
    columns[octet] = words[DFA_RUNS + runs + run]!;
  }
  const table = words[DFA_TABLE]!;
  let home = words[DFA_START]!;
  for (const octet of ORDINARY) {
    if (home > DFA_MATCHED) home = words[table + home + columns[octet]!]!;
  }
  const stays = new Uint8Array(256);
  if (home > DFA_MATCHED) {
    for (let octet = 0; octet < 256; octet++) {
      if (words[table + home + columns[octet]!] === home) stays[octet] = 1;
    }
  }
  return { words, columns, home, stays };
}

/** Searches the first `length` octets; returns how many were read when the match was certain, or -1: no match. */
// PERF: in the general loop each load depends on the one before. Ordinary text stays in `home`, which the octet alone
// decides, so that the processor can execute ahead: 0.7 ns an octet instead of 2.3.
export function octetDfaEnd(dfa: OctetDfa, octets: Uint8Array, length: number): number {
  const { words, columns, home, stays } = dfa;
  const table = words[DFA_TABLE]!;
  let code = words[DFA_START]!;
  let at = 0;
  while (at < length) {
    if (code === home) {
      while (at < length && stays[octets[at]!] === 1) at++;
      if (at === length) break;
    }
    if (code <= DFA_MATCHED) break;
    code = words[table + code + columns[octets[at++]!]!]!;
  }
  if (code === DFA_MATCHED) return at;
  return code > DFA_MATCHED && code < words[DFA_END]! ? length : -1;
}

/** The largest length that `octetDfaShortest` returns, in octets; a larger one would exclude hardly any more values. */
const MAX_SHORTEST = 24;

/** The length in octets of the shortest text that the DFA matches, at most `MAX_SHORTEST`. */
export function octetDfaShortest({ words, columns }: OctetDfa): number {
  const table = words[DFA_TABLE]!;
  const distinct = [...new Set(columns)];
  const seen = new Set([words[DFA_START]!]);
  let codes = [...seen];
  for (let length = 0; length < MAX_SHORTEST; length++) {
    if (codes.some((code) => code !== DFA_DEAD && code < words[DFA_END]!)) return length;
    const next = new Set<number>();
    for (const code of codes) {
      if (code === DFA_DEAD) continue;
      for (const column of distinct) next.add(words[table + code + column]!);
    }
    codes = [...next].filter((code) => !seen.has(code));
    for (const code of codes) seen.add(code);
  }
  return MAX_SHORTEST;
}
