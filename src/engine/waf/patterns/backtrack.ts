/**
 * Matches a pattern with look-around, backreferences or atomic groups as PCRE does: depth first, the preferred way
 * first (Spencer's backtracking), with an explicit stack. States are memoised, so that none is explored twice (Davis,
 * Servant and Lee, "Using Selective Memoization to Defeat Regular Expression Denial of Service", IEEE S&P 2021; for bodies of
 * look-around and atomic groups Fujinami and Hasuo, "Efficient Matching with Memoization for Regexes with Look-around and
 * Atomic Grouping", ESOP 2024). Without backreferences the work is linear in the text; with them it grows with the
 * number of spans that a group can have. Each piece of work costs steps.
 */
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  contains,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  WORD_BOUNDARY,
} from '../../../base/regex/program.ts';
import type { BacktrackInstruction, BacktrackProgram } from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';

/** A program with what its searches need, computed once. */
export interface Backtracker {
  readonly program: BacktrackProgram;
  /** By set, 256 flags. */
  readonly sets: readonly Uint8Array[];
  /** By instruction: 1 if it is memoised, since it can be reached in more than one way from the same place of a text. */
  readonly memoised: Uint8Array;
  /** Octets with which a match can begin, 256 flags; `null`: any octet, or none at all. */
  readonly first: Uint8Array | null;
  /** Groups that backreferences name. */
  readonly referenced: readonly number[];
}

/** Prepares a program for searches. */
export function backtrackerOf(program: BacktrackProgram): Backtracker {
  const sets = program.sets.map((ranges) =>
    Uint8Array.from({ length: 256 }, (_, octet) => (contains(ranges, octet) ? 1 : 0)),
  );
  const referenced = new Set<number>();
  for (const one of program.instructions) if (one.kind === 'reference') referenced.add(one.group);
  return {
    program,
    sets,
    memoised: memoisedIn(program),
    first: firstOctets(program, sets),
    referenced: [...referenced].sort((a, b) => a - b),
  };
}

/** The instructions that an instruction names. */
function namedBy(instruction: BacktrackInstruction): readonly number[] {
  const named: number[] = [];
  if ('out' in instruction) named.push(instruction.out);
  if ('other' in instruction) named.push(instruction.other);
  if ('body' in instruction) named.push(instruction.body);
  return named;
}

/** Flags instructions that several others name, and those after an atomic group, whose matches differ in length. */
function memoisedIn({ instructions }: BacktrackProgram): Uint8Array {
  const named = new Uint8Array(instructions.length);
  for (const instruction of instructions) {
    for (const pc of namedBy(instruction)) named[pc] = Math.min(2, named[pc]! + 1);
    if (instruction.kind === 'atomic') named[instruction.out] = 2;
  }
  return named.map((times) => (times > 1 ? 1 : 0));
}

/** The octets with which a match can begin; `null`: not known. Assertions and look-around are taken to hold. */
function firstOctets(
  { start, instructions }: BacktrackProgram,
  sets: readonly Uint8Array[],
): Uint8Array | null {
  const first = new Uint8Array(256);
  const seen = new Set([start]);
  for (const pc of seen) {
    const instruction = instructions[pc]!;
    switch (instruction.kind) {
      case 'octet':
        for (let octet = 0; octet < 256; octet++) first[octet]! |= sets[instruction.set]![octet]!;
        break;
      case 'fail':
        break;
      case 'match':
      case 'end':
      case 'back':
      case 'reference':
        return null;
      case 'atomic':
        seen.add(instruction.body);
        break;
      case 'look':
        seen.add(instruction.out);
        break;
      default:
        for (const next of namedBy(instruction)) seen.add(next);
    }
  }
  return first;
}

/** Steps of an instruction, and of a look into the memo or an entry of it. */
const INSTRUCTION_STEPS = 4;
const MEMO_STEPS = 40;

/** What the memo knows of a state: that nothing follows, or how the body of a look-around or an atomic group ends. */
type Outcome = BodyEnd | null;

/** How a body ends from one of its states on. */
interface BodyEnd {
  /** The place where it ends. */
  readonly at: number;
  /** Registers written on the way, each followed by its value, or by `OPENED`. */
  readonly writes: readonly number[];
}

/** The value of a group's start that was opened before the state: what its register of openings has. */
const OPENED = -2;

/** Kinds of entries of the stack; an entry is four numbers: its kind and three more. */
const CHOICE = 0;
const UNDO = 1;
const MEMO = 2;
const BARRIER = 3;
const ENTRY = 4;

/** A search in progress. */
interface Search {
  readonly machine: Backtracker;
  readonly octets: Uint8Array;
  readonly length: number;
  readonly meter: Meter;
  /** By group: 1 if its spans are recorded. */
  readonly recorded: Uint8Array;
  /** Three registers a group: where it was last opened, start and end of its span; one a loop: where it was entered. */
  readonly registers: Int32Array;
  /** The first register of a loop. */
  readonly loops: number;
  readonly stack: number[];
  /** The place of the innermost barrier in the stack; -1: none. */
  barrier: number;
  readonly memo: Map<number, Outcome>;
  /** Numbers of the contents of the registers that backreferences read, one register after the other. */
  readonly contents: Map<number, number>;
  /** The number of their present content; -1: to be computed. */
  content: number;
  pc: number;
  at: number;
}

/** The text of a search. */
export interface OctetText {
  readonly octets: Uint8Array;
  /** Octets of the text; `octets` may be longer. */
  readonly length: number;
}

/**
 * Searches the leftmost match. Returns start and end of the match and then, if `captures`, of each group, -1 if the group is
 * not set; `null`: no match, or the step budget is exhausted.
 */
export function backtrackSearch(
  machine: Backtracker,
  { octets, length }: OctetText,
  { meter, captures }: { readonly meter: Meter; readonly captures: boolean },
): Int32Array | null {
  const { program, first, referenced } = machine;
  const recorded = new Uint8Array(program.groups + 1).fill(captures ? 1 : 0);
  for (const group of referenced) recorded[group] = 1;
  const loops = 3 * (program.groups + 1);
  const search: Search = {
    machine,
    octets,
    length,
    meter,
    recorded,
    registers: new Int32Array(loops + program.loops).fill(-1),
    loops,
    stack: [],
    barrier: -1,
    memo: new Map(),
    contents: new Map(),
    content: -1,
    pc: 0,
    at: 0,
  };
  meter.left -= recorded.length;
  for (let start = 0; start <= length; start++) {
    meter.left--;
    if (first !== null && (start === length || first[octets[start]!] === 0)) continue;
    search.pc = program.start;
    search.at = start;
    if (run(search)) return spansOf(search, start, captures);
    if (meter.left < 0) return null;
  }
  return null;
}

function spansOf({ registers, machine, at }: Search, start: number, captures: boolean): Int32Array {
  const spans = new Int32Array(captures ? 2 * (machine.program.groups + 1) : 2);
  for (let group = 1; 2 * group < spans.length; group++) {
    spans[2 * group] = registers[3 * group + 1]!;
    spans[2 * group + 1] = registers[3 * group + 2]!;
  }
  spans[0] = start;
  spans[1] = at;
  return spans;
}

/** Runs from `pc` and `at`; `true`: the pattern matches; `false`: it does not, or the step budget is exhausted. */
function run(search: Search): boolean {
  const { machine, meter } = search;
  const { memoised, program } = machine;
  for (;;) {
    meter.left -= INSTRUCTION_STEPS;
    if (meter.left < 0) return false;
    const instruction = program.instructions[search.pc]!;
    const goesOn =
      memoised[search.pc] === 1 && isKnown(search) ? takeOutcome(search) : execute(search, instruction);
    if (goesOn) {
      if (search.pc === MATCHED) return true;
    } else if (!backtrack(search)) return false;
  }
}

/** The `pc` of a search that has matched. */
const MATCHED = -1;

/** Executes an instruction; `false`: it fails. */
function execute(search: Search, instruction: BacktrackInstruction): boolean {
  const { octets, length, machine, at } = search;
  switch (instruction.kind) {
    case 'octet':
      if (at >= length || machine.sets[instruction.set]![octets[at]!] === 0) return false;
      search.at++;
      break;
    case 'split':
      search.stack.push(CHOICE, instruction.other, at, 0);
      break;
    case 'assert':
      if ((instruction.flags & ~flagsAt(search)) !== 0) return false;
      break;
    case 'open':
    case 'close':
      if (search.recorded[instruction.group] === 1) recordGroup(search, instruction);
      break;
    case 'reference':
      if (!consumeReference(search, instruction)) return false;
      break;
    case 'look':
    case 'atomic':
      search.stack.push(BARRIER, search.pc, at, search.barrier);
      search.barrier = search.stack.length - ENTRY;
      search.pc = instruction.body;
      return true;
    case 'end':
      return endBody(search);
    case 'back':
      if (at < instruction.octets) return false;
      search.at -= instruction.octets;
      break;
    case 'enter':
    case 'leave':
      write(search, search.loops + instruction.loop, instruction.kind === 'enter' ? at : -1);
      break;
    case 'again':
      search.pc = afterIteration(search, instruction);
      return true;
    case 'match':
      search.pc = MATCHED;
      return true;
    case 'fail':
      return false;
    default:
      instruction satisfies never;
  }
  search.pc = (instruction as { readonly out: number }).out;
  return true;
}

/** Writes a register, and on the stack what it contained. */
function write({ stack, registers }: Search, register: number, value: number): void {
  stack.push(UNDO, register, registers[register]!, 0);
  registers[register] = value;
}

/** PCRE sets a group when it ends: until then a reference to it reads the span of the iteration before. */
function recordGroup(
  search: Search,
  { kind, group }: { readonly kind: string; readonly group: number },
): void {
  if (kind === 'open') write(search, 3 * group, search.at);
  else {
    write(search, 3 * group + 1, search.registers[3 * group]!);
    write(search, 3 * group + 2, search.at);
  }
  search.content = -1;
}

/** The instruction after an iteration: PCRE leaves a loop after an empty one. */
function afterIteration(
  search: Search,
  { out, other, loop, lazy }: Extract<BacktrackInstruction, { readonly kind: 'again' }>,
): number {
  if (search.registers[search.loops + loop] === search.at) return other;
  search.stack.push(CHOICE, lazy ? out : other, search.at, 0);
  return lazy ? other : out;
}

/** Consumes the text of a group. */
function consumeReference(
  search: Search,
  { group, ignoreCase }: Extract<BacktrackInstruction, { readonly kind: 'reference' }>,
): boolean {
  const { registers, octets, at } = search;
  const start = registers[3 * group + 1]!;
  const size = registers[3 * group + 2]! - start;
  if (start < 0 || at + size > search.length) return false;
  for (let i = 0; i < size; i++) {
    search.meter.left--;
    const octet = octets[start + i]!;
    const found = octets[at + i]!;
    if (octet !== found && !(ignoreCase && lowered(octet) === lowered(found))) return false;
  }
  search.at += size;
  return true;
}

function lowered(octet: number): number {
  return octet >= 0x41 && octet <= 0x5a ? octet | 0x20 : octet;
}

const LINE_FEED = 10;

/** The assertions that hold at the present place. */
function flagsAt({ octets, length, at }: Search): number {
  const before = at > 0 ? octets[at - 1]! : LINE_FEED;
  const after = at < length ? octets[at]! : LINE_FEED;
  let flags = isWord(before) === isWord(after) ? NO_WORD_BOUNDARY : WORD_BOUNDARY;
  if (at === 0) flags |= BEGIN_TEXT | BEGIN_LINE;
  else if (before === LINE_FEED && at < length) flags |= BEGIN_LINE;
  if (after === LINE_FEED) flags |= END_LINE;
  return at === length ? flags | END_TEXT : flags;
}

function isWord(octet: number): boolean {
  const letter = octet | 0x20;
  return (
    (octet >= 0x30 && octet <= 0x39) || (letter >= 0x61 && letter <= 0x7a && octet < 0x80) || octet === 0x5f
  );
}

/**
 * Takes choices back until one is left to try; `false`: none is left. A state whose choices all failed is memoised, and a
 * negative look-around whose body failed goes on.
 */
function backtrack(search: Search): boolean {
  const { stack, registers, machine, memo } = search;
  while (stack.length > 0) {
    search.meter.left -= INSTRUCTION_STEPS;
    const entry = stack.length - ENTRY;
    const first = stack[entry + 1]!;
    const second = stack[entry + 2]!;
    const third = stack[entry + 3]!;
    const kind = stack[entry]!;
    stack.length = entry;
    if (kind === CHOICE) {
      search.pc = first;
      search.at = second;
      return true;
    }
    if (kind === UNDO) {
      registers[first] = second;
      if (first < search.loops) search.content = -1;
    } else if (kind === MEMO) memo.set(first, null);
    else {
      search.barrier = third;
      const instruction = machine.program.instructions[first]!;
      if (instruction.kind !== 'look' || !instruction.negative) continue;
      search.pc = instruction.out;
      search.at = second;
      return true;
    }
  }
  return false;
}

/** Whether the memo has the outcome of the present state; if not, the state is noted on the stack. */
function isKnown(search: Search): boolean {
  search.meter.left -= MEMO_STEPS;
  const key = keyOf(search);
  if (search.memo.has(key)) return true;
  search.stack.push(MEMO, key, 0, 0);
  return false;
}

/** Applies the memoised outcome of the present state; `false`: nothing follows. */
function takeOutcome(search: Search): boolean {
  const outcome = search.memo.get(keyOf(search))!;
  if (outcome === null) return false;
  const { writes } = outcome;
  for (let i = 0; i < writes.length; i += 2) {
    const register = writes[i]!;
    const value = writes[i + 1]!;
    write(search, register, value === OPENED ? search.registers[register - 1]! : value);
  }
  search.meter.left -= writes.length;
  search.content = -1;
  search.at = outcome.at;
  return endBody(search);
}

/** The key of a state: all that decides what follows from it. */
function keyOf(search: Search): number {
  const { machine, registers, loops, length, at } = search;
  if (search.content < 0) search.content = contentOf(search);
  let key = search.content;
  for (let register = loops; register < registers.length; register++) {
    key = key * 2 + (registers[register] === at ? 1 : 0);
  }
  key = (key * machine.program.instructions.length + search.pc) * (length + 1) + at;
  // No budget leads there: each content costs steps.
  if (key > Number.MAX_SAFE_INTEGER) search.meter.left = -1;
  return key;
}

/** The number of the content of the registers of referenced groups: 0 without backreferences. */
function contentOf({ machine, registers, contents, length, meter }: Search): number {
  let content = 0;
  for (const group of machine.referenced) {
    for (let register = 3 * group; register < 3 * group + 3; register++) {
      meter.left -= MEMO_STEPS;
      const key = content * (length + 2) + registers[register]! + 1;
      let number = contents.get(key);
      if (number === undefined) {
        number = contents.size + 1;
        contents.set(key, number);
      }
      content = number;
    }
  }
  return content;
}

/**
 * Ends the body of the innermost look-around or atomic group, which has matched: its other choices are dropped, its
 * states memoised. `false`: the look-around is negative.
 */
function endBody(search: Search): boolean {
  const { stack, registers, machine, barrier } = search;
  if (barrier < 0) return false;
  const before = memoiseBody(search);
  const instruction = machine.program.instructions[stack[barrier + 1]!]!;
  const from = stack[barrier + 2]!;
  search.barrier = stack[barrier + 3]!;
  stack.length = barrier;
  if (instruction.kind === 'look' && instruction.negative) {
    for (const [register, value] of before) registers[register] = value;
    search.content = -1;
    return false;
  }
  for (const [register, value] of before) stack.push(UNDO, register, value, 0);
  if (instruction.kind === 'look') search.at = from;
  search.pc = (instruction as { readonly out: number }).out;
  return true;
}

/** Memoises the states on the way of a body to its end; returns the registers written on it with their values before. */
function memoiseBody({
  stack,
  registers,
  memo,
  meter,
  barrier,
  loops,
  at,
}: Search): ReadonlyMap<number, number> {
  const before = new Map<number, number>();
  let end: BodyEnd | null = null;
  for (let entry = stack.length - ENTRY; entry > barrier; entry -= ENTRY) {
    meter.left -= INSTRUCTION_STEPS;
    if (stack[entry] === UNDO) {
      const register = stack[entry + 1]!;
      if (!before.has(register)) end = null;
      before.set(register, stack[entry + 2]!);
    } else if (stack[entry] === MEMO) {
      meter.left -= MEMO_STEPS;
      end ??= { at, writes: writesOf(before, registers, loops) };
      memo.set(stack[entry + 1]!, end);
    }
  }
  return before;
}

/** The written registers with their present values; the start of a group that was opened before is `OPENED`. */
function writesOf(
  written: ReadonlyMap<number, number>,
  registers: Int32Array,
  loops: number,
): readonly number[] {
  const writes: number[] = [];
  for (const register of written.keys()) {
    const isStart = register < loops && register % 3 === 1;
    writes.push(register, isStart && !written.has(register - 1) ? OPENED : registers[register]!);
  }
  return writes;
}
