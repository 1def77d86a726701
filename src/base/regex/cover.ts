/**
 * A set of literals of which every match of a pattern holds at least one: what lets a scan for many literals stand in
 * front of many patterns (as RE2's FilteredRE2 does with a pattern's syntax tree; here it is read off the program).
 *
 * Every path through the program to a match must pass a place of the chosen set, a cut; the texts that may follow at
 * those places are the literals. Cuts are found from the program's end to its start: at each place either the texts
 * that follow there are taken, or what was chosen for the places behind it. An edge that leads back into a loop adds
 * nothing: a path that takes it passes again before it leaves. Assertions are taken as passable, which only adds paths.
 */
import { KIND_BITS, KINDS } from '../octets/octet-kinds.ts';
import { contains, type OctetRanges, outsOf, type Program } from './program.ts';

/** The kind of texts that are searched for the literals, and how many literals are worth searching for. */
export interface CoverOptions {
  /** Code points above are in no text. */
  readonly last: number;
  /** Literals at most. */
  readonly most: number;
  /** The greatest share of places in ordinary texts at which some literal may start. */
  readonly share: number;
}

/** Texts that follow one place: more, or longer ones, make no scan any better. */
const MAX_TEXTS = 128;
const MAX_LENGTH = 12;
/** A class of at most so many characters is spelled out. */
const MAX_CLASS = 16;
/** A literal, or a cut, this rare ends the search for a better one: seven letters. */
const RARE = 1e-8;
/** Places of one cut, and characters that may be read next at one place: one for each word of a long list. */
const MAX_PLACES = 2_048;

/** Such a set in ASCII lower case, for texts whose ASCII letters are lowered; `null` when no set is worth its search. */
export function coveringLiterals(program: Program, options: CoverOptions): readonly string[] | null {
  const graph = readGraph(program, options.last);
  const cut = bestCut(graph);
  const texts = cut === null || cut.cost > options.share ? wholeWords(graph, options) : textsOf(cut, graph);
  if (texts === null) return null;
  // A literal inside another makes the longer one superfluous.
  const list = [...texts].sort((a, b) => a.length - b.length || (a < b ? -1 : 1));
  const chosen = new Set<string>();
  for (const text of list) {
    if (!hasPieceOf(chosen, text)) chosen.add(text);
    if (chosen.size > options.most) return null;
  }
  return [...chosen];
}

/** Whether a text of at most `MAX_LENGTH` characters contains one of a set. */
function hasPieceOf(set: ReadonlySet<string>, text: string): boolean {
  for (let from = 0; from < text.length; from++) {
    for (let to = from + 1; to <= text.length; to++) if (set.has(text.slice(from, to))) return true;
  }
  return false;
}

function textsOf({ places }: Cut, { spell }: Graph): ReadonlySet<string> {
  return new Set(places.flatMap(spell.textsOf));
}

/**
 * For word lists such as `\b(?:abs|acos|…)`: cutting inside the words would drop their first letters, so the literals
 * are the whole words, from the branch on.
 */
function wholeWords(graph: Graph, { most, share }: CoverOptions): ReadonlySet<string> | null {
  let pc = graph.start;
  for (
    let outs = outsOf(graph.instructions[pc]!);
    outs.length === 1;
    outs = outsOf(graph.instructions[pc]!)
  ) {
    if (graph.instructions[pc]!.kind === 'character') break;
    pc = outs[0]!;
  }
  const words = createSpeller(graph.waysFrom, most);
  const cost = words.costOf(pc);
  return cost === null || cost > share ? null : new Set(words.textsOf(pc));
}

interface Graph extends Program {
  /** Spells what follows a place. */
  readonly spell: Speller;
  /** Every way to go on by one character; `null` if an end or a class is in the way. */
  readonly waysFrom: (pc: number) => readonly Way[] | null;
}

function readGraph({ start, instructions }: Program, last: number): Graph {
  const letters = new Map<OctetRanges, readonly string[] | null>();
  const lettersOf = (ranges: OctetRanges): readonly string[] | null => {
    let known = letters.get(ranges);
    if (known === undefined) {
      known = spellClass(ranges, last);
      letters.set(ranges, known);
    }
    return known;
  };
  const heads = new Map<number, readonly number[] | null>();
  /** The characters that may be read next; `null` if the match may end. */
  const headsOf = (pc: number): readonly number[] | null => {
    let known = heads.get(pc);
    if (known === undefined) {
      known = findHeads({ start, instructions }, pc);
      heads.set(pc, known);
    }
    return known;
  };
  const ways = new Map<number, readonly Way[] | null>();
  const waysFrom = (pc: number): readonly Way[] | null => {
    let known = ways.get(pc);
    if (known === undefined) {
      known = findWays({ start, instructions }, pc, { headsOf, lettersOf });
      ways.set(pc, known);
    }
    return known;
  };
  const speller = createSpeller(waysFrom, MAX_TEXTS);
  const costs = new Map<number, number | null>();
  const costOf = (pc: number): number | null => {
    let known = costs.get(pc);
    if (known === undefined) {
      known = speller.costOf(pc);
      costs.set(pc, known);
    }
    return known;
  };
  return { start, instructions, spell: { ...speller, costOf }, waysFrom };
}

function spellClass(ranges: OctetRanges, last: number): readonly string[] | null {
  const found = new Set<string>();
  for (let i = 0; i < ranges.length && ranges[i]! <= last; i += 2) {
    const high = Math.min(ranges[i + 1]!, last);
    if (high - ranges[i]! >= 2 * MAX_CLASS) return null;
    for (let point = ranges[i]!; point <= high; point++) {
      const lowered = point >= 0x41 && point <= 0x5a ? point + 0x20 : point;
      found.add(String.fromCharCode(lowered));
    }
    if (found.size > MAX_CLASS) return null;
  }
  return [...found];
}

function findHeads({ instructions }: Program, pc: number): readonly number[] | null {
  const seen = new Set([pc]);
  const characters: number[] = [];
  for (const at of seen) {
    const instruction = instructions[at]!;
    if (instruction.kind === 'match') return null;
    if (instruction.kind === 'character') characters.push(at);
    else for (const out of outsOf(instruction)) seen.add(out);
    if (characters.length > MAX_PLACES) return null;
  }
  return characters;
}

/** A character that may be read next, and where it leads. */
interface Way {
  readonly letter: string;
  readonly out: number;
}

interface Heads {
  readonly headsOf: (pc: number) => readonly number[] | null;
  readonly lettersOf: (ranges: OctetRanges) => readonly string[] | null;
}

function findWays(
  { instructions }: Program,
  pc: number,
  { headsOf, lettersOf }: Heads,
): readonly Way[] | null {
  const characters = headsOf(pc);
  if (characters === null) return null;
  const ways = new Map<number, Way>();
  for (const head of characters) {
    const instruction = instructions[head]!;
    if (instruction.kind !== 'character') continue;
    const { ranges, out } = instruction;
    const letters = lettersOf(ranges);
    if (letters === null) return null;
    for (const letter of letters) ways.set(out * 0x10000 + letter.charCodeAt(0), { letter, out });
    if (ways.size > MAX_PLACES) return null;
  }
  return [...ways.values()];
}

/** Spells the texts that follow places. */
interface Speller {
  /** The estimated frequency of the texts that follow a place; `null`: nothing is known of them. */
  readonly costOf: (pc: number) => number | null;
  /** These texts. */
  readonly textsOf: (pc: number) => readonly string[];
}

/** Creates a speller of at most `most` texts a place, which lengthens them while that makes them rarer. */
// PERF: a text is a node of a tree, whose arrays serve for all places, and becomes a string only when it is asked for.
// Strings in sets took a fifth of the time that the Core Rule Set takes to compile.
function createSpeller(waysFrom: (pc: number) => readonly Way[] | null, most: number): Speller {
  // By node; 0 is the empty text. Siblings are linked, the youngest first.
  const parents: number[] = [];
  const letters: string[] = [];
  const shares: number[] = [];
  const children: number[] = [];
  const siblings: number[] = [];
  const isDone: boolean[] = [];
  let nodes = 0;
  const addNode = (parent: number, letter: string, share: number): number => {
    parents[nodes] = parent;
    letters[nodes] = letter;
    shares[nodes] = share;
    children[nodes] = -1;
    siblings[nodes] = nodes === 0 ? -1 : children[parent]!;
    isDone[nodes] = false;
    if (nodes > 0) children[parent] = nodes;
    return nodes++;
  };
  const childOf = (node: number, letter: string): number => {
    for (let child = children[node]!; child !== -1; child = siblings[child]!) {
      if (letters[child] === letter) return child;
    }
    return addNode(node, letter, shares[node]! * shareOf(letter));
  };
  const textOf = (node: number): string => {
    let text = '';
    for (let at = node; at !== 0; at = parents[at]!) text = letters[at]! + text;
    return text;
  };

  /** The texts at their rarest: the first `done` of `doneNodes`, and the nodes `[from, to)`, all of one length. */
  interface Rarest {
    readonly cost: number;
    readonly done: number;
    readonly from: number;
    readonly to: number;
  }
  const doneNodes: number[] = [];
  // Texts that are not yet at their end, and the place that each leads to; then those of the next length.
  let open: number[] = [];
  let places: number[] = [];
  let grown: number[] = [];
  let grownPlaces: number[] = [];
  const spell = (pc: number): Rarest | null => {
    nodes = 0;
    open[0] = addNode(0, '', 1);
    places[0] = pc;
    let opened = 1;
    let ended = 0;
    let done = 0;
    let doneCost = 0;
    let best: Rarest | null = null;
    for (let length = 0; length < MAX_LENGTH && opened > 0; length++) {
      let count = 0;
      const from = nodes;
      for (let i = 0; i < opened; i++) {
        const node = open[i]!;
        const ways = shares[node]! < RARE ? null : waysFrom(places[i]!);
        if (ways === null) {
          if (node === 0) return null;
          ended++;
          if (isDone[node]) continue;
          isDone[node] = true;
          doneNodes[done++] = node;
          doneCost += shares[node]!;
        } else {
          if (ended + count + ways.length > most) return best;
          for (const { letter, out } of ways) {
            grown[count] = childOf(node, letter);
            grownPlaces[count++] = out;
          }
        }
      }
      if (ended + count > most) break;
      let cost = doneCost;
      for (let node = from; node < nodes; node++) cost += shares[node]!;
      if (best === null || cost < best.cost) best = { cost, done, from, to: nodes };
      [open, grown] = [grown, open];
      [places, grownPlaces] = [grownPlaces, places];
      opened = count;
    }
    return best;
  };
  return {
    costOf: (pc) => spell(pc)?.cost ?? null,
    textsOf: (pc) => {
      const rarest = spell(pc);
      if (rarest === null) return [];
      const texts = doneNodes.slice(0, rarest.done).map(textOf);
      for (let node = rarest.from; node < rarest.to; node++) texts.push(textOf(node));
      return texts;
    },
  };
}

/** How often a character occurs in paths, parameters and headers, roughly: what makes one literal rarer than another. */
function shareOf(letter: string): number {
  if (letter >= 'a' && letter <= 'z') return 0.06;
  if (letter >= '0' && letter <= '9') return 0.04;
  return ' /.-_=&%+,:;'.includes(letter) ? 0.03 : 0.004;
}

interface Cut {
  readonly places: readonly number[];
  readonly cost: number;
}

const EMPTY: Cut = { places: [], cost: 0 };

/** The cheapest cut before every match; `null` when no cut exists. */
function bestCut(graph: Graph): Cut | null {
  const { start, instructions } = graph;
  /** Absent: not met. `undefined`: under way, so an edge to it leads back into a loop. */
  const cuts = new Map<number, Cut | null | undefined>();
  const stack: { readonly pc: number; readonly outs: readonly number[]; next: number }[] = [];
  const enter = (pc: number): void => {
    cuts.set(pc, undefined);
    stack.push({ pc, outs: outsOf(instructions[pc]!), next: 0 });
  };
  enter(start);
  for (let frame = stack.at(-1); frame !== undefined; frame = stack.at(-1)) {
    const out = frame.outs[frame.next++];
    if (out !== undefined) {
      if (!cuts.has(out)) enter(out);
      continue;
    }
    stack.pop();
    const behind = frame.outs.map((one) => {
      const cut = cuts.get(one);
      return cut === undefined ? EMPTY : cut;
    });
    cuts.set(frame.pc, choose(graph, frame.pc, behind));
  }
  return cuts.get(start) ?? null;
}

function choose({ instructions, spell }: Graph, pc: number, behind: readonly (Cut | null)[]): Cut | null {
  const { kind } = instructions[pc]!;
  if (kind === 'match') return null;
  const later = behind.length === 1 ? behind[0]! : join(behind, spell);
  // Texts before a jump or an assertion are those behind it.
  if (kind === 'jump' || kind === 'assert' || kind === 'fail') return later;
  if (later !== null && later.cost < RARE) return later;
  const cost = spell.costOf(pc);
  if (cost === null || (later !== null && later.cost <= cost)) return later;
  return { places: [pc], cost };
}

function join(cuts: readonly (Cut | null)[], spell: Graph['spell']): Cut | null {
  const places = new Set<number>();
  for (const cut of cuts) {
    if (cut === null) return null;
    for (const place of cut.places) places.add(place);
  }
  if (places.size > MAX_PLACES) return null;
  const cost = [...places].reduce((sum, place) => sum + spell.costOf(place)!, 0);
  return { places: [...places], cost };
}

// Which texts a pattern cannot match, by the kinds of octets they contain alone: one that must read a quote or a `;`
// somewhere does not match a text without that octet.

/**
 * Kinds of octets, a bit each, of which every text that the pattern matches holds one; -1: nothing is known. The other kinds are as
 * many as can be had, the most ordinary ones first. Assertions are taken as passable.
 */
export function kindsNeeded(program: Program): number {
  const taken = kindsTaken(program);
  let harmless = 0;
  for (const kind of KIND_BITS) {
    if (!matchesWithin(program, taken, harmless | kind)) harmless |= kind;
  }
  return ~harmless;
}

/** For each instruction, the kinds of octets it takes. */
function kindsTaken(program: Program): Int32Array {
  const known = new Map<readonly number[], number>();
  return Int32Array.from(program.instructions, (instruction) => {
    if (instruction.kind !== 'character') return 0;
    let kinds = known.get(instruction.ranges);
    if (kinds === undefined) {
      kinds = 0;
      for (let octet = 0; octet < 256; octet++)
        if (contains(instruction.ranges, octet)) kinds |= KINDS[octet]!;
      known.set(instruction.ranges, kinds);
    }
    return kinds;
  });
}

/** Whether some text of these kinds of octets alone may match. */
function matchesWithin(program: Program, taken: Int32Array, kinds: number): boolean {
  const seen = new Uint8Array(program.instructions.length);
  const open = [program.start];
  seen[program.start] = 1;
  for (let pc = open.pop(); pc !== undefined; pc = open.pop()) {
    const instruction = program.instructions[pc]!;
    if (instruction.kind === 'match') return true;
    if (instruction.kind === 'character' && (taken[pc]! & kinds) === 0) continue;
    for (const out of outsOf(instruction)) {
      if (seen[out] === 1) continue;
      seen[out] = 1;
      open.push(out);
    }
  }
  return false;
}
