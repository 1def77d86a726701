/** A published plan in printed form, and the difference of two. */
import { printPlan } from '../../engine/compiler/print.ts';
import { openPlan } from '../../engine/plan/seal.ts';

/**
 * The printed plan of sealed bytes.
 * @throws PlanFault when this build does not read the plan's version
 */
export function printSealed(bytes: Uint8Array): Readonly<Record<string, unknown>> {
  return printPlan(openPlan(bytes));
}

/** One side of a comparison; `bytes` is `null` for a tombstone. */
export interface Side {
  readonly domain: string;
  readonly revision: number;
  readonly bytes: Uint8Array | null;
}

/**
 * What differs between two revisions, as a unified diff over their printed plans: domain, hosts, rules in evaluation
 * order, lists with their digests. Indexes and sizes follow from these and are left out. Empty when nothing differs.
 * @throws PlanFault as `printSealed`
 */
export function diffSealed(before: Side, after: Side): string {
  const name = ({ domain, revision, bytes }: Side): string =>
    `${domain} revision ${revision}${bytes === null ? ' (tombstone)' : ''}`;
  return diffLines(textOf(before), textOf(after), { from: name(before), to: name(after) });
}

/** The compared part of a plan as text; empty for a tombstone. */
function textOf({ bytes }: Side): string {
  if (bytes === null) return '';
  const { domain, hosts, rules, lists } = printSealed(bytes);
  return JSON.stringify({ domain, hosts, rules, lists }, null, 2);
}

// The difference of two texts, line by line, in unified form (as `diff -u` prints it). Myers' greedy algorithm ("An
// O(ND) Difference Algorithm and Its Variations", 1986) after equal lines at both ends are set aside.
//
// Not the package `diff` (9.0): within the same number of edits it takes two to four times as long on the server's only
// thread (20,000 replaced lines 241 ms against 61 ms, 999 changes among 200,000 lines 1,007 ms against 413 ms), and what it
// lacks stays to be written: texts beyond the bound as replaced, and the ranges of `diff -u`.

/** Lines shown around each change. */
const CONTEXT = 3;
/**
 * Inserted and deleted lines of the longest edit script that is searched for; of texts further apart the whole middle is
 * shown as replaced. Bounds time (some 0.1 s) and memory (16 MB).
 */
const MOST_EDITS = 2_000;

/** A line of a unified diff. */
interface Line {
  readonly mark: ' ' | '-' | '+';
  readonly text: string;
}

/** The unified diff, ending in a newline; empty when the texts are equal. */
export function diffLines(before: string, after: string, names: { from: string; to: string }): string {
  if (before === after) return '';
  const lines = compare(before.split('\n'), after.split('\n'));
  return `--- ${names.from}\n+++ ${names.to}\n${hunks(lines).join('\n')}\n`;
}

function compare(a: readonly string[], b: readonly string[]): readonly Line[] {
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a[a.length - 1 - end] === b[b.length - 1 - end])
    end++;
  const same = (text: string): Line => ({ mark: ' ', text });
  const middle = edit(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...a.slice(0, start).map(same), ...middle, ...a.slice(a.length - end).map(same)];
}

/** The shortest edit script from `a` to `b`, read back from the furthest points reached with 0, 1, 2 … edits. */
function edit(a: readonly string[], b: readonly string[]): readonly Line[] {
  const rounds = search(a, b);
  if (rounds === null) {
    return [...a.map((text): Line => ({ mark: '-', text })), ...b.map((text): Line => ({ mark: '+', text }))];
  }
  const lines: Line[] = [];
  let x = a.length;
  let y = b.length;
  for (let edits = rounds.length - 1; edits >= 0; edits--) {
    const reached = rounds[edits]!;
    const diagonal = x - y;
    const down = isDown(reached, diagonal, edits);
    const fromX = edits === 0 ? 0 : reached[edits + diagonal + (down ? 1 : -1) + 1]!;
    const fromY = edits === 0 ? 0 : fromX - (diagonal + (down ? 1 : -1));
    while (x > fromX && y > fromY) {
      lines.push({ mark: ' ', text: a[--x]! });
      y--;
    }
    if (edits > 0) lines.push(down ? { mark: '+', text: b[--y]! } : { mark: '-', text: a[--x]! });
  }
  return lines.reverse();
}

/** For each number of edits, the furthest line of `a` on every diagonal before it; `null` beyond `MOST_EDITS`. */
function search(a: readonly string[], b: readonly string[]): readonly Int32Array[] | null {
  const rounds: Int32Array[] = [];
  let reached: Int32Array = new Int32Array(3).fill(-1);
  for (let edits = 0; edits <= MOST_EDITS; edits++) {
    rounds.push(reached);
    // Diagonal k lies at index edits + k + 1, with one empty place at either end.
    const next = new Int32Array(2 * edits + 5).fill(-1);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      const down = isDown(reached, diagonal, edits);
      let x = edits === 0 ? 0 : down ? reached[edits + diagonal + 2]! : reached[edits + diagonal]! + 1;
      while (x < a.length && x - diagonal < b.length && a[x] === b[x - diagonal]) x++;
      if (x >= a.length && x - diagonal >= b.length) return rounds;
      next[edits + diagonal + 2] = x;
    }
    reached = next;
  }
  return null;
}

/** Whether a diagonal is reached by an insertion, from the one above, rather than by a deletion. */
function isDown(reached: Int32Array, diagonal: number, edits: number): boolean {
  if (diagonal === -edits) return true;
  return diagonal !== edits && reached[edits + diagonal]! < reached[edits + diagonal + 2]!;
}

/** The hunks: changes less than `2 * CONTEXT` unchanged lines apart share one. */
function hunks(lines: readonly Line[]): readonly string[] {
  const changed = lines.flatMap(({ mark }, index) => (mark === ' ' ? [] : [index]));
  const printed: string[] = [];
  let at = { a: 1, b: 1, index: 0 };
  for (let first = 0; first < changed.length; ) {
    let last = first;
    while (last + 1 < changed.length && changed[last + 1]! - changed[last]! <= 2 * CONTEXT) last++;
    const from = Math.max(0, changed[first]! - CONTEXT);
    const to = Math.min(lines.length, changed[last]! + CONTEXT + 1);
    at = skip(lines, at, from);
    const end = skip(lines, at, to);
    printed.push(`@@ -${range(at.a, end.a)} +${range(at.b, end.b)} @@`);
    for (const { mark, text } of lines.slice(from, to)) printed.push(`${mark}${text}`);
    at = end;
    first = last + 1;
  }
  return printed;
}

/** A place in both texts, by line numbers from 1, and in the list of lines. */
type Cursor = { readonly a: number; readonly b: number; readonly index: number };

/** The place after the lines up to `to`. */
function skip(lines: readonly Line[], at: Cursor, to: number): Cursor {
  let { a, b } = at;
  for (const { mark } of lines.slice(at.index, to)) {
    if (mark !== '+') a++;
    if (mark !== '-') b++;
  }
  return { a, b, index: to };
}

/** `first,count` as `diff -u` writes it: an empty range names the line before it. */
function range(from: number, to: number): string {
  return to === from ? `${from - 1},0` : to - from === 1 ? `${from}` : `${from},${to - from}`;
}
