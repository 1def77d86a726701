/**
 * Matches a pattern with look-around, backreferences or atomic groups as PCRE does: depth first, the preferred way first,
 * with an explicit stack. A search that takes more than a few steps for each octet begins again and memoises states, so
 * that none is explored twice (Davis, Servant and Lee, "Using Selective Memoization to Defeat Regular Expression Denial of
 * Service", IEEE S&P 2021; for bodies of look-around and atomic groups Fujinami and Hasuo, "Efficient Matching with
 * Memoization for Regexes with Look-around and Atomic Grouping", ESOP 2024). Without backreferences the work is then
 * linear in the text; with them it grows with the number of spans that their groups can have. All work costs steps.
 */
import {
  BEGIN_LINE,
  BEGIN_TEXT,
  END_LINE,
  END_TEXT,
  NO_WORD_BOUNDARY,
  WORD_BOUNDARY,
} from '../../../base/regex/program.ts';
import type { Meter } from '../octets/meter.ts';
import { type Backtracker, END_OF_TEXT, KIND } from './backtracker.ts';
import { isWord } from './nfa.ts';
import { ABSENT, entryOf, type NumberTable, numberTable, setEntry } from './number-table.ts';

/** Steps of an instruction, and of an entry that is taken from the stack. */
const INSTRUCTION_STEPS = 4;
/** Steps of a look into the memo, and of an entry of it. */
const MEMO_STEPS = 20;
/** Steps for each octet, and for any text, after which a search begins to memoise. */
const PLAIN_OCTET_STEPS = 200;
const PLAIN_STEPS = 4_000;

/** How the body of a look-around or an atomic group ends from one of its states on. */
interface BodyEnd {
  /** The place where it ends. */
  readonly at: number;
  /** Registers written on the way, each followed by its value, or by `OPENED`. */
  readonly writes: readonly number[];
}

/** The value of a group's start that was opened before the state: what its register of openings has. */
const OPENED = -2;

/** The outcome of a state from which nothing follows; others are places in `ends`, from 1 on. */
const FAILED = 0;

/** Kinds of entries of the stack. */
const CHOICE = 0;
const UNDO = 1;
const MEMO = 2;
const BARRIER = 3;
/** Numbers of an entry: its kind and three more. */
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
  /** Entries one after the other. */
  stack: Float64Array;
  /** Numbers in `stack`. */
  top: number;
  /** The place of the innermost barrier in the stack; -1: none. */
  barrier: number;
  /** The outcomes of states by their keys; `null`: the search does not memoise yet. */
  memo: NumberTable | null;
  readonly ends: BodyEnd[];
  /** Numbers of the contents of the registers that backreferences read, one register after the other. */
  readonly contents: NumberTable;
  /** The number of their present content; -1: to be computed. */
  content: number;
  pc: number;
  at: number;
}

/** How a pattern is searched. */
export interface SearchOptions {
  readonly meter: Meter;
  /** Whether spans of groups are wanted. */
  readonly captures: boolean;
  /** Steps after which the search begins to memoise; by default some for each octet. */
  readonly plainSteps?: number;
}

/** The text of a search. */
export interface OctetText {
  readonly octets: Uint8Array;
  /** Octets of the text; `octets` may be longer. */
  readonly length: number;
}

/**
 * Searches the leftmost match. Returns start and end of the match and then, if `captures`, of each group, -1 if the group
 * is not set; `null`: no match, or the step budget is exhausted.
 */
export function backtrackSearch(
  machine: Backtracker,
  text: OctetText,
  options: SearchOptions,
): readonly number[] | null {
  const { octets, length } = text;
  const { first } = machine;
  const { meter, captures, plainSteps = PLAIN_STEPS + PLAIN_OCTET_STEPS * length } = options;
  const search = searchIn(machine, text, options);
  const memoiseBelow = meter.left - plainSteps;
  for (let start = 0; start <= length; start++) {
    meter.left--;
    if (first[start < length ? octets[start]! : END_OF_TEXT] === 0) continue;
    begin(search, start);
    if (run(search, memoiseBelow)) return spansOf(search, start, captures);
    if (meter.left < 0) return null;
    if (search.memo === null && meter.left < memoiseBelow) {
      search.memo = numberTable();
      start--;
    }
  }
  return null;
}

function searchIn(
  machine: Backtracker,
  { octets, length }: OctetText,
  { meter, captures }: SearchOptions,
): Search {
  const recorded = new Uint8Array(machine.groups + 1).fill(captures ? 1 : 0);
  for (const group of machine.referenced) recorded[group] = 1;
  const loops = 3 * (machine.groups + 1);
  meter.left -= FIRST_STACK + loops;
  return {
    machine,
    octets,
    length,
    meter,
    recorded,
    registers: new Int32Array(loops + machine.loops),
    loops,
    stack: new Float64Array(FIRST_STACK),
    top: 0,
    barrier: -1,
    memo: null,
    ends: [],
    contents: numberTable(),
    content: -1,
    pc: 0,
    at: 0,
  };
}

/** Numbers that a new stack has room for. */
const FIRST_STACK = 64 * ENTRY;

/** Begins an attempt at a place of the text. */
function begin(search: Search, start: number): void {
  search.registers.fill(-1);
  search.top = 0;
  search.barrier = -1;
  search.content = -1;
  search.pc = search.machine.start;
  search.at = start;
}

function spansOf({ registers, machine, at }: Search, start: number, captures: boolean): readonly number[] {
  const spans = [start, at];
  for (let group = 1; captures && group <= machine.groups; group++) {
    spans.push(registers[3 * group + 1]!, registers[3 * group + 2]!);
  }
  return spans;
}

/**
 * Runs from `pc` and `at`; `true`: the pattern matches; `false`: it does not, the step budget is exhausted, or, without
 * memo, the steps left are fewer than `memoiseBelow`.
 */
function run(search: Search, memoiseBelow: number): boolean {
  const { machine, meter, octets, length, memo } = search;
  const { kind, out, other, operand, sets, joins, ways } = machine;
  const least = memo === null ? Math.max(0, memoiseBelow) : 0;
  for (;;) {
    meter.left -= INSTRUCTION_STEPS;
    if (meter.left < least) return false;
    const { pc, at } = search;
    let goesOn = true;
    const outcome = memo !== null && joins[pc] === 1 ? outcomeOf(search, memo) : ABSENT;
    if (outcome !== ABSENT) goesOn = outcome !== FAILED && takeEnd(search, search.ends[outcome - 1]!);
    else if (kind[pc] === KIND.octet) {
      goesOn = at < length && sets[operand[pc]!]![octets[at]!] === 1;
      search.at = at + 1;
      search.pc = out[pc]!;
    } else if (kind[pc] === KIND.split) {
      const way = ways[pc]![at < length ? octets[at]! : END_OF_TEXT]!;
      if (way === BOTH) push(search, CHOICE, other[pc]!, at);
      search.pc = way === OTHER ? other[pc]! : out[pc]!;
      goesOn = way !== 0;
    } else if (kind[pc] === KIND.match) return true;
    else goesOn = execute(search, pc);
    if (!goesOn && !backtrack(search)) return false;
  }
}

/** The ways of a split that can go on, as in `Backtracker.ways`. */
const OTHER = 2;
const BOTH = 3;

/** Executes any other instruction; `false`: it fails. */
function execute(search: Search, pc: number): boolean {
  const { machine, at } = search;
  const operand = machine.operand[pc]!;
  switch (machine.kind[pc]) {
    case KIND.assert:
      if ((operand & ~flagsAt(search)) !== 0) return false;
      break;
    case KIND.open:
    case KIND.close:
      if (search.recorded[operand] === 1) recordGroup(search, pc);
      break;
    case KIND.reference:
      if (!consumeReference(search, pc)) return false;
      break;
    case KIND.look:
    case KIND.atomic:
      push(search, BARRIER, pc, at);
      search.stack[search.top - 1] = search.barrier;
      search.barrier = search.top - ENTRY;
      search.pc = machine.other[pc]!;
      return true;
    case KIND.end:
      return endBody(search);
    case KIND.back:
      if (at < operand) return false;
      search.at = at - operand;
      break;
    case KIND.enter:
    case KIND.leave:
      write(search, search.loops + operand, machine.kind[pc] === KIND.enter ? at : -1);
      break;
    case KIND.again:
      search.pc = afterIteration(search, pc);
      return true;
    default:
      return false;
  }
  search.pc = machine.out[pc]!;
  return true;
}

/** Maximum number of numbers in the stack, and of states in the memo: 32 MiB each. More exhausts the step budget. */
const MAX_STACK = 4 << 20;
const MAX_MEMO = 1 << 20;

/** Pushes an entry of the stack. */
// PERF: an object of parameters would be allocated for every choice.
function push(search: Search, kind: number, first: number, second = 0): void {
  if (search.top === MAX_STACK) {
    search.meter.left = -1;
    return;
  }
  if (search.top === search.stack.length) {
    const larger = new Float64Array(search.stack.length * 2);
    larger.set(search.stack);
    search.stack = larger;
  }
  const { stack, top } = search;
  stack[top] = kind;
  stack[top + 1] = first;
  stack[top + 2] = second;
  search.top = top + ENTRY;
}

/** Writes a register, and on the stack what it contained. */
function write(search: Search, register: number, value: number): void {
  push(search, UNDO, register, search.registers[register]!);
  search.registers[register] = value;
}

/** PCRE sets a group when it ends: until then a reference to it reads the span of the iteration before. */
function recordGroup(search: Search, pc: number): void {
  const { machine, registers, at } = search;
  const register = 3 * machine.operand[pc]!;
  if (machine.kind[pc] === KIND.open) write(search, register, at);
  else {
    write(search, register + 1, registers[register]!);
    write(search, register + 2, at);
  }
  search.content = -1;
}

/** The instruction after an iteration: PCRE leaves a loop after an empty one. */
function afterIteration(search: Search, pc: number): number {
  const { machine, registers, loops, at } = search;
  const out = machine.out[pc]!;
  const other = machine.other[pc]!;
  if (registers[loops + machine.operand[pc]!] === at) return other;
  const lazy = machine.flag[pc] === 1;
  push(search, CHOICE, lazy ? out : other, at);
  return lazy ? other : out;
}

/** Consumes the text of a group; `false`: the group is not set, or another text follows. */
function consumeReference(search: Search, pc: number): boolean {
  const { machine, registers, octets, at } = search;
  const register = 3 * machine.operand[pc]!;
  const start = registers[register + 1]!;
  const size = registers[register + 2]! - start;
  if (start < 0 || at + size > search.length) return false;
  const ignoreCase = machine.flag[pc] === 1;
  for (let i = 0; i < size; i++) {
    search.meter.left--;
    const octet = octets[start + i]!;
    const found = octets[at + i]!;
    if (octet !== found && !(ignoreCase && lowered(octet) === lowered(found))) return false;
  }
  search.at = at + size;
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
  // PCRE: no line begins at the end of the text.
  else if (before === LINE_FEED && at < length) flags |= BEGIN_LINE;
  if (after === LINE_FEED) flags |= END_LINE;
  return at === length ? flags | END_TEXT : flags;
}

/**
 * Takes entries from the stack up to a choice; `false`: none is left. A state whose choices all failed is memoised, and a
 * negative look-around whose body failed goes on.
 */
function backtrack(search: Search): boolean {
  const { stack, registers, machine, meter } = search;
  while (search.top > 0) {
    meter.left -= INSTRUCTION_STEPS;
    search.top -= ENTRY;
    const { top } = search;
    const first = stack[top + 1]!;
    const second = stack[top + 2]!;
    switch (stack[top]) {
      case CHOICE:
        search.pc = first;
        search.at = second;
        return true;
      case UNDO:
        registers[first] = second;
        if (first < search.loops) search.content = -1;
        break;
      case MEMO:
        meter.left -= MEMO_STEPS;
        setEntry(search.memo!, first, FAILED);
        break;
      default:
        search.barrier = stack[top + 3]!;
        if (machine.kind[first] === KIND.look && machine.flag[first] === 1) {
          search.pc = machine.out[first]!;
          search.at = second;
          return true;
        }
    }
  }
  return false;
}

/** The outcome of the present state; `ABSENT`: the memo has none, and an entry of the stack names the state. */
function outcomeOf(search: Search, memo: NumberTable): number {
  search.meter.left -= MEMO_STEPS;
  const key = keyOf(search);
  const outcome = entryOf(memo, key);
  if (outcome === ABSENT) {
    if (memo.size + search.contents.size > MAX_MEMO) search.meter.left = -1;
    push(search, MEMO, key);
  }
  return outcome;
}

/** Goes to the end of a body that has been reached from this state before; `false`: the look-around is negative. */
function takeEnd(search: Search, { at, writes }: BodyEnd): boolean {
  search.meter.left -= INSTRUCTION_STEPS * writes.length;
  for (let i = 0; i < writes.length; i += 2) {
    const register = writes[i]!;
    const value = writes[i + 1]!;
    write(search, register, value === OPENED ? search.registers[register - 1]! : value);
  }
  search.content = -1;
  search.at = at;
  return endBody(search);
}

/** The key of a state: all that decides what follows from it. */
function keyOf(search: Search): number {
  const { machine, registers, loops, length, pc, at } = search;
  if (search.content < 0) search.content = contentOf(search);
  let key = search.content;
  for (let register = loops; register < registers.length; register++) {
    key = key * 2 + (registers[register] === at ? 1 : 0);
  }
  key = (key * machine.kind.length + pc) * (length + 1) + at;
  // No budget leads there, since each content costs steps.
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
      content = entryOf(contents, key);
      if (content === ABSENT) {
        content = contents.size + 1;
        setEntry(contents, key, content);
      }
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
  const before = leaveBody(search);
  const pc = stack[barrier + 1]!;
  const from = stack[barrier + 2]!;
  const isLook = machine.kind[pc] === KIND.look;
  search.barrier = stack[barrier + 3]!;
  search.top = barrier;
  if (isLook && machine.flag[pc] === 1) {
    for (const [register, value] of before) registers[register] = value;
    search.content = -1;
    return false;
  }
  for (const [register, value] of before) push(search, UNDO, register, value);
  if (isLook) search.at = from;
  search.pc = machine.out[pc]!;
  return true;
}

/** Memoises the states on the way of a body to its end; returns the registers written on it with their values before. */
function leaveBody(search: Search): ReadonlyMap<number, number> {
  const { stack, memo, meter, barrier, ends, at } = search;
  const before = new Map<number, number>();
  let isNew = true;
  for (let entry = search.top - ENTRY; entry > barrier; entry -= ENTRY) {
    meter.left -= INSTRUCTION_STEPS;
    const first = stack[entry + 1]!;
    if (stack[entry] === UNDO) {
      isNew ||= !before.has(first);
      before.set(first, stack[entry + 2]!);
    } else if (stack[entry] === MEMO) {
      meter.left -= MEMO_STEPS;
      if (isNew) ends.push({ at, writes: writesOf(search, before) });
      isNew = false;
      setEntry(memo!, first, ends.length);
    }
  }
  return before;
}

/** The written registers with their present values; the start of a group that was opened before is `OPENED`. */
function writesOf({ registers, loops }: Search, written: ReadonlyMap<number, number>): readonly number[] {
  const writes: number[] = [];
  for (const register of written.keys()) {
    const isStart = register < loops && register % 3 === 1;
    writes.push(register, isStart && !written.has(register - 1) ? OPENED : registers[register]!);
  }
  return writes;
}
