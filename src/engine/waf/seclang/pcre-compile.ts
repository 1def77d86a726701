/**
 * Compiles a parsed pattern to a `BacktrackProgram`, from its end to its start: the instructions of a node are written once
 * those that follow it are known.
 */
import {
  type BacktrackInstruction,
  type BacktrackProgram,
  MAX_EMPTY_LOOPS,
} from '../../plan/signature-program.ts';
import type { OctetSet } from './pcre-classes.ts';
import type { ParsedPcre, PcreNode } from './pcre-parse.ts';

/**
 * Maximum number of instructions: counted repeats copy what they repeat. The patterns of the Core Rule Set 3.3 that
 * backtrack have up to 246.
 */
const MAX_INSTRUCTIONS = 20_000;

/** A compiled pattern, or the reason why it is refused. */
export type CompiledPcre =
  | { readonly ok: true; readonly program: BacktrackProgram }
  | { readonly ok: false; readonly reason: string };

/** A program in progress. */
interface Emitter {
  readonly instructions: BacktrackInstruction[];
  readonly sets: Map<OctetSet, number>;
  readonly names: ReadonlyMap<string, number>;
  /** Loops around the present node whose iterations may be empty. */
  depth: number;
  /** The most of them. */
  loops: number;
  reason: string | null;
}

/** Compiles a pattern. */
export function compilePcre({ root, groups, names }: ParsedPcre): CompiledPcre {
  const emitter: Emitter = {
    instructions: [],
    sets: new Map(),
    names,
    depth: 0,
    loops: 0,
    reason: null,
  };
  const start = emit(emitter, root, push(emitter, { kind: 'match' }));
  const { instructions, sets, loops, reason } = emitter;
  if (reason !== null) return { ok: false, reason };
  return { ok: true, program: { start, instructions, sets: [...sets.keys()], groups, loops } };
}

/** Appends an instruction; returns its number. */
function push(emitter: Emitter, instruction: BacktrackInstruction): number {
  if (emitter.instructions.length >= MAX_INSTRUCTIONS) {
    emitter.reason ??= `it has more than ${MAX_INSTRUCTIONS} instructions`;
    return 0;
  }
  return emitter.instructions.push(instruction) - 1;
}

/** Writes a node before the instruction `out`; returns the first instruction of the node. */
function emit(emitter: Emitter, node: PcreNode, out: number): number {
  if (emitter.reason !== null) return 0;
  switch (node.kind) {
    case 'octet':
      return push(emitter, { kind: 'octet', out, set: numberOf(emitter, node.set) });
    case 'assert':
      return push(emitter, { kind: 'assert', out, flags: node.flags });
    case 'sequence':
      return node.parts.reduceRight((next, part) => emit(emitter, part, next), out);
    case 'choice':
      return emitChoice(
        emitter,
        node.options.map((option) => () => emit(emitter, option, out)),
      );
    case 'group': {
      const close = push(emitter, { kind: 'close', out, group: node.number });
      return push(emitter, { kind: 'open', out: emit(emitter, node.body, close), group: node.number });
    }
    case 'repeat':
      return emitRepeat(emitter, node, out);
    case 'atomic': {
      const body = emit(emitter, node.body, push(emitter, { kind: 'end' }));
      return push(emitter, { kind: 'atomic', out, body });
    }
    case 'look': {
      const end = push(emitter, { kind: 'end' });
      const body = node.behind ? emitBehind(emitter, node.body, end) : emit(emitter, node.body, end);
      return push(emitter, { kind: 'look', out, body, negative: node.negative });
    }
    case 'reference': {
      const group = typeof node.group === 'number' ? node.group : emitter.names.get(node.group)!;
      return push(emitter, { kind: 'reference', out, group, ignoreCase: node.ignoreCase });
    }
    default:
      return node satisfies never;
  }
}

function numberOf({ sets }: Emitter, set: OctetSet): number {
  let number = sets.get(set);
  if (number === undefined) {
    number = sets.size;
    sets.set(set, number);
  }
  return number;
}

/** Writes alternatives, the preferred one first. */
function emitChoice(emitter: Emitter, options: readonly (() => number)[]): number {
  const starts = options.map((option) => option());
  return starts.reduceRight((other, out) => push(emitter, { kind: 'split', out, other }));
}

type Repeat = Extract<PcreNode, { readonly kind: 'repeat' }>;

/** Writes a repeat as PCRE compiles it: the least number of copies, then optional copies or a loop. */
function emitRepeat(emitter: Emitter, repeat: Repeat, out: number): number {
  const { body, least, most, lazy } = repeat;
  if (most === 0) return out;
  const optional = (taken: number): number =>
    push(emitter, lazy ? { kind: 'split', out, other: taken } : { kind: 'split', out: taken, other: out });
  let next = out;
  let copies = least;
  if (most === Number.POSITIVE_INFINITY) {
    const loop = canBeEmpty(body) ? emitEmptyLoop(emitter, repeat, out) : emitLoop(emitter, repeat, out);
    if (least === 0) return optional(loop);
    // The loop has one iteration at least.
    next = loop;
    copies--;
  } else {
    for (let i = least; i < most && emitter.reason === null; i++) next = optional(emit(emitter, body, next));
  }
  for (let i = 0; i < copies && emitter.reason === null; i++) next = emit(emitter, body, next);
  return next;
}

/** A loop of one iteration or more that are never empty. */
function emitLoop(emitter: Emitter, { body, lazy }: Repeat, out: number): number {
  const split = push(emitter, { kind: 'fail' });
  const start = emit(emitter, body, split);
  if (emitter.reason !== null) return 0;
  emitter.instructions[split] = lazy
    ? { kind: 'split', out, other: start }
    : { kind: 'split', out: start, other: out };
  return start;
}

/** A loop of one iteration or more that may be empty. */
function emitEmptyLoop(emitter: Emitter, { body, lazy }: Repeat, out: number): number {
  const loop = emitter.depth++;
  emitter.loops = Math.max(emitter.loops, emitter.depth);
  if (emitter.loops > MAX_EMPTY_LOOPS) {
    emitter.reason ??= `more than ${MAX_EMPTY_LOOPS} repeats around each other can match nothing`;
    return 0;
  }
  const other = push(emitter, { kind: 'leave', out, loop });
  const again = push(emitter, { kind: 'fail' });
  const start = push(emitter, { kind: 'enter', out: emit(emitter, body, again), loop });
  emitter.depth--;
  if (emitter.reason !== null) return 0;
  emitter.instructions[again] = { kind: 'again', out: start, other, loop, lazy };
  return start;
}

/** Whether a node can match the empty text. */
function canBeEmpty(node: PcreNode): boolean {
  switch (node.kind) {
    case 'octet':
      return false;
    case 'assert':
    case 'look':
    case 'reference':
      return true;
    case 'sequence':
      return node.parts.every(canBeEmpty);
    case 'choice':
      return node.options.some(canBeEmpty);
    case 'group':
    case 'atomic':
      return canBeEmpty(node.body);
    case 'repeat':
      return node.least === 0 || canBeEmpty(node.body);
    default:
      return node satisfies never;
  }
}

/** The body of a look-behind: each alternative steps back by its length. */
function emitBehind(emitter: Emitter, body: PcreNode, end: number): number {
  const options = body.kind === 'choice' ? body.options : [body];
  return emitChoice(
    emitter,
    options.map((option) => () => {
      const octets = lengthOf(option);
      if (octets !== null && octets <= MAX_BEHIND) {
        return push(emitter, { kind: 'back', out: emit(emitter, option, end), octets });
      }
      emitter.reason ??= 'each alternative of a look-behind needs a fixed length, as in PCRE';
      return 0;
    }),
  );
}

/** Maximum number of octets that a look-behind steps back, as in PCRE. */
const MAX_BEHIND = 65_535;

/** The length in octets of every text that a node matches; `null`: they differ. */
function lengthOf(node: PcreNode): number | null {
  switch (node.kind) {
    case 'octet':
      return 1;
    case 'assert':
    case 'look':
      return 0;
    case 'reference':
      return null;
    case 'sequence':
      return node.parts
        .map(lengthOf)
        .reduce((sum, one) => (sum === null || one === null ? null : sum + one), 0);
    case 'choice': {
      const [first, ...rest] = node.options.map(lengthOf);
      return rest.every((one) => one === first) ? first! : null;
    }
    case 'group':
    case 'atomic':
      return lengthOf(node.body);
    case 'repeat': {
      const one = lengthOf(node.body);
      return one !== null && node.least === node.most ? one * node.least : null;
    }
    default:
      return node satisfies never;
  }
}
