/**
 * Finds literals that every match of a pattern must contain, so that indexes can filter by them. It may miss some and
 * never adds a wrong one: assertions are assumed to hold, which allows more paths and so yields fewer literals. `null`:
 * none was found.
 */
import { BEGIN_TEXT, END_TEXT, type Instruction, type OctetRanges, outsOf, type Program } from './program.ts';

/** With `ignoreCase` the literals are lower-case ASCII; compare them with a text whose ASCII letters are lower-cased. */
export interface RequiredLiterals {
  /** Every matching text equals this. The reverse does not hold: assertions may still refuse it. */
  readonly exact: string | null;
  /** Every matching text starts with this. */
  readonly prefix: string | null;
  /** Every matching text ends with this. */
  readonly suffix: string | null;
  /** Every matching text contains each of these; the longest first, none inside another. */
  readonly inner: readonly string[];
  /** Every matching text contains at least one of these. Given if `inner` is empty or short. */
  readonly anyOf: readonly string[] | null;
}

/** The part of a pattern that literals are taken from. */
export interface LiteralSource {
  readonly program: Program;
  readonly ignoreCase: boolean;
}

/** What is known about the texts that are searched for the literals. */
export interface TextFacts {
  /**
   * Canonical hosts are ASCII. `k` and `s` are then literals even if case is ignored; otherwise they are no literals, for
   * the Kelvin sign and the long s match them too.
   */
  readonly asciiText?: boolean;
}

/** Longer literals or more alternatives would make no index any better. */
const MAX_LITERAL = 64;
const MAX_ALTERNATIVES = 16;
const MAX_INNER = 8;
/** Places from which alternatives are searched. */
const MAX_PLACES = 64;
/** A class of at most this many characters is spelled out. */
const MAX_CLASS = 4;
/** With an inner literal of this many characters, alternatives are not searched. */
const TELLING = 3;

/** The literals of one pattern. */
export function requiredLiterals(pattern: LiteralSource, facts: TextFacts = {}): RequiredLiterals {
  const graph = readGraph(pattern, facts.asciiText === true);
  const required = requiredInstructions(graph);
  if (required.length === 0) return { exact: null, prefix: null, suffix: null, inner: [], anyOf: null };
  const prefix = anchoredPrefix(graph);
  const suffix = anchoredSuffix(graph);
  const chains = forcedChains(graph, required);
  const inner = withoutNested([...chains.map(({ text }) => text), suffix ?? '']).slice(0, MAX_INNER);
  const anyOf = (inner[0] ?? '').length >= TELLING ? null : alternatives(graph, chains);
  return {
    exact: prefix.whole ? prefix.text : null,
    prefix: prefix.text === '' ? null : prefix.text,
    suffix,
    inner,
    anyOf: anyOf !== null && shortest(anyOf) > (inner[0] ?? '').length ? anyOf : null,
  };
}

/** What may be read next at some place, and whether the match may end there. */
interface Heads {
  readonly characters: readonly number[];
  readonly ends: boolean;
}

interface Graph extends Program {
  /** By `character` instruction, the characters it takes; `null` when they are not spelled out. */
  readonly letters: readonly (readonly string[] | null)[];
  readonly heads: (pc: number) => Heads;
}

function readGraph({ program, ignoreCase }: LiteralSource, asciiText: boolean): Graph {
  const { start, instructions } = program;
  const known = new Map<number, Heads>();
  const heads = (pc: number): Heads => {
    let found = known.get(pc);
    if (found === undefined) {
      found = headsAt(instructions, pc, 0);
      known.set(pc, found);
    }
    return found;
  };
  const letters = instructions.map((instruction) =>
    instruction.kind === 'character' ? spellClass(instruction.ranges, { ignoreCase, asciiText }) : null,
  );
  return { start, instructions, letters, heads };
}

function spellClass(ranges: OctetRanges, how: { ignoreCase: boolean; asciiText: boolean }): string[] | null {
  const found = new Set<string>();
  for (let i = 0; i < ranges.length; i += 2) {
    const high = how.asciiText ? Math.min(ranges[i + 1]!, 0x7f) : ranges[i + 1]!;
    // Twice as many at most: both cases of each.
    if (high - ranges[i]! >= 2 * MAX_CLASS) return null;
    for (let point = ranges[i]!; point <= high; point++) {
      if (point >= 0xd800 && point <= 0xdfff) return null;
      if (how.ignoreCase && point > 0x7f) return null;
      const text = String.fromCodePoint(point);
      found.add(how.ignoreCase ? text.toLowerCase() : text);
    }
    if (found.size > MAX_CLASS) return null;
  }
  return [...found];
}

/** The instructions reached from `pc` without reading a character, itself included; assertions with one of the
 * `barrier` flags are not passed. */
function headsAt(instructions: readonly Instruction[], pc: number, barrier: number): Heads {
  const seen = new Set([pc]);
  const characters: number[] = [];
  let ends = false;
  for (const at of seen) {
    const instruction = instructions[at]!;
    if (instruction.kind === 'character') characters.push(at);
    else if (instruction.kind === 'match') ends = true;
    else if (instruction.kind !== 'assert' || (instruction.flags & barrier) === 0) {
      for (const out of outsOf(instruction)) seen.add(out);
    }
  }
  return { characters, ends };
}

/**
 * The instructions every path to a match goes through, in order. They lie on any one path; one of its instructions is
 * required when nothing before it leads, off the path, past it.
 */
function requiredInstructions({ start, instructions }: Graph): number[] {
  const path = pathToMatch(instructions, start);
  const place = new Map(path.map((pc, index) => [pc, index]));
  const seen = new Set<number>();
  const required: number[] = [];
  let farthest = 0;
  path.forEach((pc, index) => {
    if (farthest <= index) required.push(pc);
    const open = [pc];
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      for (const out of outsOf(instructions[at]!)) {
        const reached = place.get(out);
        if (reached !== undefined) farthest = Math.max(farthest, reached);
        else if (!seen.has(out)) open.push(out);
        seen.add(out);
      }
    }
  });
  return required;
}

/** A path from the start to the match; empty when no path exists. */
function pathToMatch(instructions: readonly Instruction[], start: number): number[] {
  const from = new Map<number, number>([[start, -1]]);
  for (const pc of from.keys()) {
    if (instructions[pc]!.kind === 'match') {
      const path: number[] = [];
      for (let at = pc; at !== -1; at = from.get(at)!) path.push(at);
      return path.reverse();
    }
    for (const out of outsOf(instructions[pc]!)) {
      if (!from.has(out)) from.set(out, pc);
    }
  }
  return [];
}

/** What is read from some required place on; empty if the next character is open. */
interface Chain {
  readonly from: number;
  readonly text: string;
}

/** The texts that must follow the required places; places inside an earlier one's text are left out. */
function forcedChains(graph: Graph, required: readonly number[]): Chain[] {
  const covered = new Set<number>();
  const chains: Chain[] = [];
  for (const from of required) {
    if (covered.has(from)) continue;
    let item = { text: '', at: from };
    for (let longer = extend(graph, item); longer?.length === 1; longer = extend(graph, item)) {
      for (const pc of graph.heads(item.at).characters) covered.add(pc);
      item = longer[0]!;
    }
    chains.push({ from, text: item.text });
  }
  return chains;
}

/**
 * Texts such that whatever is read from `pc` on starts with one of them: at most `most`, each as long as that allows.
 * Empty when nothing is known, for then the empty text would be among them.
 */
function spell(graph: Graph, pc: number, most: number): string[] {
  let open: { readonly text: string; readonly at: number }[] = [{ text: '', at: pc }];
  const done: string[] = [];
  while (open.length > 0) {
    const grown: { text: string; at: number }[] = [];
    for (const [index, item] of open.entries()) {
      const longer = extend(graph, item);
      const others = done.length + grown.length + (open.length - index - 1);
      if (longer === null || others + longer.length > most) done.push(item.text);
      else grown.push(...longer);
    }
    open = grown;
  }
  return done.includes('') ? [] : withoutNested(done, true);
}

/** Every way to go on by one character; `null` when there is an end or a class in the way. */
function extend(graph: Graph, item: { text: string; at: number }): { text: string; at: number }[] | null {
  if (item.text.length >= MAX_LITERAL) return null;
  const { characters, ends } = graph.heads(item.at);
  if (ends || characters.length === 0 || characters.length > MAX_ALTERNATIVES) return null;
  const longer = new Map<string, { text: string; at: number }>();
  for (const pc of characters) {
    const letters = graph.letters[pc]!;
    if (letters === null) return null;
    const at = outsOf(graph.instructions[pc]!)[0]!;
    for (const letter of letters) longer.set(`${at} ${letter}`, { text: item.text + letter, at });
  }
  return [...longer.values()];
}

/** The best alternatives any required place has: the longest, then the fewest. */
function alternatives(graph: Graph, chains: readonly Chain[]): string[] | null {
  let best: string[] | null = null;
  for (const { from } of chains.slice(0, MAX_PLACES)) {
    const found = spell(graph, from, MAX_ALTERNATIVES);
    if (found.length < 2) continue;
    const gain = best === null ? 1 : shortest(found) - shortest(best) || best.length - found.length;
    if (gain > 0) best = found;
  }
  return best;
}

function shortest(texts: readonly string[]): number {
  return Math.min(...texts.map(({ length }) => length));
}

/** Drops doubles, empties and, of two texts of which one holds the other, the shorter (or, under `any`, the longer). */
function withoutNested(texts: readonly string[], any = false): string[] {
  const sorted = [...new Set(texts)].filter((text) => text !== '').sort((a, b) => b.length - a.length);
  return any
    ? sorted.filter((text, i) => !sorted.some((other, j) => j > i && text.includes(other)))
    : sorted.filter((text, i) => !sorted.some((other, j) => j < i && other.includes(text)));
}

/** Whether nothing is read and nothing matches but after `^` or `\A`. */
export function startsAtTextBegin({ start, instructions }: Program): boolean {
  const free = headsAt(instructions, start, BEGIN_TEXT);
  return !free.ends && free.characters.length === 0;
}

function anchoredPrefix(graph: Graph): { text: string; whole: boolean } {
  if (!startsAtTextBegin(graph)) return { text: '', whole: false };
  let item = { text: '', at: graph.start };
  for (;;) {
    const longer = extend(graph, item);
    if (longer?.length !== 1) break;
    item = longer[0]!;
  }
  const { characters, ends } = graph.heads(item.at);
  const whole = ends && characters.length === 0 && !headsAt(graph.instructions, item.at, END_TEXT).ends;
  return { text: item.text, whole };
}

function anchoredSuffix(graph: Graph): string | null {
  const { start, instructions } = graph;
  const before = new Map<number, number[]>();
  const reached = new Set([start]);
  for (const pc of reached) {
    for (const out of outsOf(instructions[pc]!)) {
      reached.add(out);
      const list = before.get(out);
      if (list === undefined) before.set(out, [pc]);
      else list.push(pc);
    }
  }
  /** The characters that may be read last before `pc`, and whether there may be none. */
  const tails = (pc: number, barrier: number): { characters: number[]; starts: boolean } => {
    const seen = new Set<number>([pc]);
    const characters = new Set<number>();
    for (const at of seen) {
      for (const source of before.get(at) ?? []) {
        const instruction = instructions[source]!;
        if (instruction.kind === 'character') characters.add(source);
        else if (instruction.kind !== 'assert' || (instruction.flags & barrier) === 0) seen.add(source);
      }
    }
    return { characters: [...characters], starts: seen.has(start) };
  };

  let at = instructions.findIndex((instruction, pc) => instruction.kind === 'match' && reached.has(pc));
  const free = tails(at, END_TEXT);
  if (free.starts || free.characters.length > 0) return null;
  let text = '';
  while (text.length < MAX_LITERAL) {
    const { characters, starts } = tails(at, 0);
    if (starts || characters.length !== 1) break;
    at = characters[0]!;
    const letters = graph.letters[at]!;
    if (letters?.length !== 1) break;
    text = letters[0]! + text;
  }
  return text === '' ? null : text;
}
