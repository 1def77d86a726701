/**
 * Opens a sealed signature program: version and checksum before anything else, then its text, and views for its tables.
 * Each is checked once, so that a program that opens is safe to inspect with.
 */
import { parseIpEntry } from '../../base/addresses/ip.ts';
import { DFA_LENGTH, dfaFault } from '../../base/regex/table.ts';
import { MAX_PARANOIA, MAX_SIGNATURE_ID } from '../../base/vocabulary/limits.ts';
import { PlanFault } from './layout.ts';
import {
  align,
  type SealedTable,
  type SealedText,
  SIGNATURES_HEADER,
  SIGNATURES_MAGIC,
  SIGNATURES_START,
  signaturesChecksum,
} from './seal-signatures.ts';
import {
  type BacktrackProgram,
  MAX_EMPTY_LOOPS,
  SIGNATURE_PROGRAM_VERSION,
  type SignatureProgram,
  WAF_COLLECTIONS,
  WAF_NUMBER_OPERATORS,
  WAF_PLAIN_OPERATORS,
  WAF_SCALARS,
  WAF_TEXT_OPERATORS,
  WAF_TRANSFORMATIONS,
} from './signature-program.ts';

/** Characters turned into a string at a time; more would overflow the stack of arguments. */
const CHUNK = 4096;

/** Octets of a table's word. */
const WIDTH = Uint16Array.BYTES_PER_ELEMENT;

/**
 * Opens `bytes`, which must not change afterwards: the tables are views of them (a copy is made only if the array
 * does not start on an 8-byte boundary).
 * @throws PlanFault naming what was found and what this build reads
 */
export function openSignatures(bytes: Uint8Array): SignatureProgram {
  checkHeader(bytes);
  const aligned = bytes.byteOffset % 8 === 0 ? bytes : new Uint8Array(bytes);
  const view = new DataView(aligned.buffer, aligned.byteOffset, aligned.byteLength);
  const end = SIGNATURES_START + view.getUint32(SIGNATURES_HEADER.text * 4, true);
  if (end > aligned.length) throw layoutFault('its text ends beyond it');
  const { rules, levels, patterns, ...rest } = readText(aligned.subarray(SIGNATURES_START, end));
  const start = aligned.byteOffset + align(end);
  const tableOf = ({ at, length }: SealedTable): Uint16Array => {
    const within = start + at + length * WIDTH <= aligned.byteOffset + aligned.byteLength;
    if (!within || at % 8 !== 0) throw layoutFault('a table lies outside it');
    const words = new Uint16Array(aligned.buffer, start + at, length);
    const fault = words[DFA_LENGTH] === length ? dfaFault(words, 0) : 'has another length';
    if (fault !== null) throw layoutFault(`an automaton ${fault}`);
    return words;
  };
  return {
    ...rest,
    patterns: patterns.map(({ dfa, guard, ...pattern }) => ({
      ...pattern,
      dfa: dfa === null ? null : tableOf(dfa),
      ...(guard === null ? {} : { guard: tableOf(guard) }),
    })),
    levels: levels.map(({ rules: numbers, initial }) => ({
      initial,
      rules: numbers.map((number) => rules[number]!),
    })),
  };
}

function layoutFault(what: string): PlanFault {
  return new PlanFault('layout', `the signature program is not whole: ${what}; compile it again`);
}

function checkHeader(bytes: Uint8Array): void {
  if (bytes.length < SIGNATURES_START) {
    const found = `these are ${bytes.length}`;
    throw new PlanFault('truncated', `a signature program has at least ${SIGNATURES_START} octets, ${found}`);
  }
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  if (view.getUint32(0, true) !== SIGNATURES_MAGIC) {
    throw new PlanFault('not_a_plan', 'these bytes are no signature program: they do not start with `EPSG`');
  }
  const version = view.getUint32(SIGNATURES_HEADER.version * 4, true);
  if (version !== SIGNATURE_PROGRAM_VERSION) {
    const advice = version > SIGNATURE_PROGRAM_VERSION ? 'upgrade this build' : 'compile it again';
    const both = `version ${version}, this build reads ${SIGNATURE_PROGRAM_VERSION}`;
    throw new PlanFault('version', `the signature program has ${both}; ${advice}`);
  }
  const total = view.getUint32(SIGNATURES_HEADER.bytes * 4, true);
  if (total !== bytes.length) {
    const both = `${total} octets, these are ${bytes.length}`;
    throw new PlanFault('truncated', `the signature program says it has ${both}`);
  }
  const expected = view.getUint32(SIGNATURES_HEADER.checksum * 4, true);
  const found = signaturesChecksum(bytes);
  if (expected !== found) {
    const hex = (value: number): string => value.toString(16).padStart(8, '0');
    const both = `its checksum is ${hex(found)} where the header says ${hex(expected)}`;
    throw new PlanFault('checksum', `the signature program is damaged: ${both}; compile it again`);
  }
}

function readText(octets: Uint8Array): SealedText {
  let text = '';
  for (let at = 0; at < octets.length; at += CHUNK) {
    text += String.fromCharCode(...octets.subarray(at, at + CHUNK));
  }
  const read = parsed(text);
  const fault = signaturesFault(read);
  if (fault !== null) throw layoutFault(`\`program${fault}\` is not what it should be`);
  return read as SealedText;
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw layoutFault('its text is not JSON');
  }
}

// Whether what a sealed signature program says is a program: every field is there and of its kind, every number names
// something that exists. What the compiler wrote always is; a file that was tampered with need not be.

// Checks of what was read from JSON, put together from small ones.

/** The place in a value that is not what it should be, `.rules[3].phase`, or `''` for all of it; `null`: all is well. */
type ShapeCheck = (value: unknown) => string | null;

const WRONG = '';

/** A string. */
const isText: ShapeCheck = (value) => (typeof value === 'string' ? null : WRONG);

/** `true` or `false`. */
const isFlag: ShapeCheck = (value) => (typeof value === 'boolean' ? null : WRONG);

/** A whole number, both ends included. */
function isWhole(least: number, most: number): ShapeCheck {
  return (value) =>
    Number.isInteger(value) && (value as number) >= least && (value as number) <= most ? null : WRONG;
}

/** One of a closed list of values. */
function isOneOf(values: readonly unknown[]): ShapeCheck {
  return (value) => (values.includes(value) ? null : WRONG);
}

/** `null`, or what another check accepts. */
function isNullOr(check: ShapeCheck): ShapeCheck {
  return (value) => (value === null ? null : check(value));
}

/** An array whose every entry another check accepts. */
function isListOf(check: ShapeCheck): ShapeCheck {
  return (value) => {
    if (!Array.isArray(value)) return WRONG;
    for (let at = 0; at < value.length; at++) {
      const wrong = check(value[at]);
      if (wrong !== null) return `[${at}]${wrong}`;
    }
    return null;
  };
}

/** An object with at least these fields. */
function hasFields(fields: Readonly<Record<string, ShapeCheck>>): ShapeCheck {
  const entries = Object.entries(fields);
  return (value) => {
    if (typeof value !== 'object' || value === null) return WRONG;
    for (const [name, check] of entries) {
      const wrong = check((value as Record<string, unknown>)[name]);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };
}

/** An object of any fields. */
function isRecordOf(check: ShapeCheck): ShapeCheck {
  return (value) => {
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return WRONG;
    for (const [name, one] of Object.entries(value)) {
      const wrong = check(one);
      if (wrong !== null) return `.${name}${wrong}`;
    }
    return null;
  };
}

/** An object whose `kind` determines its fields. */
function isKindOf(kinds: Readonly<Record<string, Readonly<Record<string, ShapeCheck>>>>): ShapeCheck {
  const checks = new Map(Object.entries(kinds).map(([kind, fields]) => [kind, hasFields(fields)]));
  return (value) => {
    const kind = typeof value === 'object' && value !== null && 'kind' in value ? value.kind : undefined;
    const check = typeof kind === 'string' ? checks.get(kind) : undefined;
    return check === undefined ? '.kind' : check(value);
  };
}

const LISTS = ['targets', 'chains', 'patterns', 'phraseLists', 'literals', 'rules'] as const;
type Lengths = Readonly<Record<(typeof LISTS)[number], number>>;
/** The lengths of the lists, and the numbers of patterns that no automaton matches. */
type Counts = Lengths & { readonly searched: ReadonlySet<unknown> };

/** The first place in a program's JSON that is invalid, such as `.rules[3].phase`; `null`: the program is valid. */
function signaturesFault(read: unknown): string | null {
  const lists = hasFields(Object.fromEntries(LISTS.map((name) => [name, isListOf(() => null)])));
  const wrong = lists(read);
  if (wrong !== null) return wrong;
  const written = read as Readonly<Record<keyof Lengths, readonly unknown[]>>;
  const lengths = Object.fromEntries(LISTS.map((name) => [name, written[name].length])) as Lengths;
  const searched = written.patterns.flatMap((pattern, number) =>
    typeof pattern === 'object' && pattern !== null && 'backtrack' in pattern ? [number] : [],
  );
  return programCheck({ ...lengths, searched: new Set(searched) })(read);
}

/** Characters of a literal: what its depth in the index can count. */
const MAX_LITERAL = 0xffff;
const ANY_NUMBER = isWhole(-0x8000_0000, 0xffff_ffff);

function programCheck(counts: Counts): ShapeCheck {
  return hasFields({
    name: isText,
    targets: isListOf(targetsCheck(counts)),
    chains: isListOf(isListOf(isOneOf(WAF_TRANSFORMATIONS))),
    patterns: isListOf(patternCheck(counts)),
    phraseLists: isListOf(hasFields({ phrases: isListOf(isPlaceIn(counts.literals)) })),
    literals: isListOf(isLiteral),
    rules: isListOf(ruleCheck(counts)),
    levels: isLevels(counts),
  });
}

/** The number of an entry in a list of so many. */
function isPlaceIn(count: number): ShapeCheck {
  return isWhole(0, count - 1);
}

/** The number of a pattern that selects names or tags, which are matched without step budget: it needs an automaton. */
function isSelecting({ patterns, searched }: Counts): ShapeCheck {
  const place = isPlaceIn(patterns);
  return (value) => (searched.has(value) ? WRONG : place(value));
}

const isLiteral: ShapeCheck = (value) =>
  typeof value === 'string' && value.length <= MAX_LITERAL && /^[\0-@[-\xff]+$/.test(value) ? null : '';

function isLevels(counts: Counts): ShapeCheck {
  const levels = isListOf(
    hasFields({ rules: isListOf(isPlaceIn(counts.rules)), initial: isRecordOf(isText) }),
  );
  return (value) => (Array.isArray(value) && value.length === MAX_PARANOIA ? levels(value) : '');
}

function patternCheck(counts: Counts): ShapeCheck {
  const table = isNullOr(hasFields({ at: isWhole(0, 0xffff_ffff), length: isWhole(0, 0xffff_ffff) }));
  const backtrack = (value: unknown): string | null => (value === undefined ? null : backtrackFault(value));
  return hasFields({
    source: isText,
    ignoreCase: isFlag,
    dotAll: isFlag,
    dfa: table,
    guard: table,
    required: isNullOr(isListOf(isPlaceIn(counts.literals))),
    needed: ANY_NUMBER,
    backtrack,
  });
}

/** The first place in a `BacktrackProgram` that is invalid; each number of an instruction must name something. */
function backtrackFault(read: unknown): string | null {
  const lists = hasFields({ instructions: isListOf(() => null), sets: isListOf(isListOf(isWhole(0, 0xff))) });
  const wrong = lists(read);
  if (wrong !== null) return wrong;
  const { instructions, sets, groups } = read as BacktrackProgram;
  const out = isPlaceIn(instructions.length);
  const group = isWhole(1, groups);
  const loop = isPlaceIn(MAX_EMPTY_LOOPS);
  const instruction = isKindOf({
    ...alike(['match', 'fail', 'end'], {}),
    split: { out, other: out },
    assert: { out, flags: isWhole(0, 0xff) },
    octet: { out, set: isPlaceIn(sets.length) },
    ...alike(['open', 'close'], { out, group }),
    reference: { out, group, ignoreCase: isFlag },
    look: { out, body: out, negative: isFlag },
    atomic: { out, body: out },
    back: { out, octets: isWhole(0, 0xffff) },
    ...alike(['enter', 'leave'], { out, loop }),
    again: { out, other: out, loop, lazy: isFlag },
  });
  const most = { groups: isWhole(0, 0xffff), loops: isWhole(0, MAX_EMPTY_LOOPS) };
  return hasFields({ start: out, instructions: isListOf(instruction), ...most })(read);
}

const isVariable = isOneOf([...WAF_SCALARS, ...WAF_COLLECTIONS]);

function targetFields(counts: Counts): Readonly<Record<'variable' | 'selector', ShapeCheck>> {
  return {
    variable: isVariable,
    selector: isKindOf({
      all: {},
      name: { name: isText },
      pattern: { pattern: isSelecting(counts) },
    }),
  };
}

function targetsCheck(counts: Counts): ShapeCheck {
  const target = targetFields(counts);
  return hasFields({
    include: isListOf(hasFields({ ...target, count: isFlag })),
    exclude: isListOf(hasFields(target)),
  });
}

const isMacroText = isListOf(
  isKindOf({ literal: { text: isText }, variable: { variable: isVariable, name: isNullOr(isText) } }),
);

/** Kinds that have the same fields. */
function alike(
  kinds: readonly string[],
  fields: Readonly<Record<string, ShapeCheck>>,
): Readonly<Record<string, Readonly<Record<string, ShapeCheck>>>> {
  return Object.fromEntries(kinds.map((kind) => [kind, fields]));
}

const isPrefix: ShapeCheck = (value) => (typeof value === 'string' && parseIpEntry(value).ok ? null : '');

function operatorCheck(counts: Counts): ShapeCheck {
  return isKindOf({
    rx: { pattern: isPlaceIn(counts.patterns) },
    pm: { phrases: isPlaceIn(counts.phraseLists) },
    ipMatch: { prefixes: isListOf(isPrefix) },
    validateByteRange: { allowed: isListOf(isFlag) },
    ...alike(WAF_NUMBER_OPERATORS, { value: isMacroText }),
    ...alike(WAF_TEXT_OPERATORS, { value: isMacroText }),
    ...alike(WAF_PLAIN_OPERATORS, {}),
  });
}

const isSetVar = isKindOf({
  set: { name: isMacroText, value: isMacroText },
  add: { name: isMacroText, value: isMacroText, sign: isOneOf([1, -1]) },
  unset: { name: isMacroText },
});

function controlCheck(counts: Counts): ShapeCheck {
  const ranges = isListOf(hasFields({ from: ANY_NUMBER, to: ANY_NUMBER }));
  const target = hasFields(targetFields(counts));
  const pattern = isSelecting(counts);
  return isKindOf({
    ruleRemoveById: { ranges },
    ruleRemoveByTag: { pattern },
    ruleRemoveTargetById: { ranges, target },
    ruleRemoveTargetByTag: { pattern, target },
    forceRequestBodyVariable: { on: isFlag },
    decodeRequestBody: { on: isFlag },
    requestBodyProcessor: { processor: isOneOf(['URLENCODED', 'MULTIPART', 'JSON', 'XML']) },
    ruleEngine: { mode: isOneOf(['On', 'Off', 'DetectionOnly']) },
  });
}

function ruleCheck(counts: Counts): ShapeCheck {
  const condition = hasFields({
    targets: isWhole(-1, counts.targets - 1),
    chain: isPlaceIn(counts.chains),
    operator: operatorCheck(counts),
    negated: isFlag,
    capture: isFlag,
    multiMatch: isFlag,
    setVars: isListOf(isSetVar),
    controls: isListOf(controlCheck(counts)),
  });
  return hasFields({
    id: isWhole(0, MAX_SIGNATURE_ID),
    phase: isOneOf([1, 2]),
    conditions: isListOf(condition),
    disruption: isOneOf(['pass', 'block', 'deny', 'allow', 'allowPhase']),
    skipTo: ANY_NUMBER,
    reported: isFlag,
    message: isMacroText,
    logData: isMacroText,
    severity: isWhole(-1, 7),
    tags: isListOf(isText),
    category: isText,
    paranoia: isWhole(1, MAX_PARANOIA),
  });
}
