/**
 * The draft of a plan: the state that the stages of `compile.ts` read and write, with its growing arrays that become the
 * plan's sections.
 */
import { assert } from '../../base/diagnostics/assert.ts';
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import { decodeEscapes } from '../../base/octets/octets.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import type { DnsRecord, GatewayRule, Rule, RuleSet } from '../../rules/model/types.ts';
import { META, NONE, type SourceKind, typeIndex, typeNumber } from '../plan/layout.ts';
import { createPatternPool, type KnownPatterns, type PatternPool } from './patterns.ts';

/** A host name with its proxied records, in id order. */
export interface RecordGroup {
  readonly name: string;
  readonly records: readonly DnsRecord[];
}

/** Where rules are filed: under keys, under address intervals, or where no index narrows; see `filing.ts`. */
export interface Filing {
  /** Slots by key, each list ascending. */
  readonly byKey: Map<string, number[]>;
  /** Address intervals and the slot each belongs to. */
  readonly intervals: {
    readonly family: 4 | 6;
    readonly first: readonly number[];
    readonly last: readonly number[];
    readonly slot: number;
  }[];
  /** Slots of rules that no index narrows, ascending. */
  readonly always: number[];
}

/**
 * The state of one compilation. Fields that are not `readonly` are set by the stage that makes them; the typed arrays
 * among them are sections of the plan (`engine/plan/layout.ts`).
 */
export interface PlanDraft {
  readonly ruleSet: RuleSet;
  readonly diagnostics: Diagnostic[];
  /** In evaluation order: the place in this list is the rule's slot. */
  rules: readonly Rule[];
  /** Names that have proxied records, in the order of names; the index is the group's number. */
  groups: readonly RecordGroup[];
  /** By record id, the place in `groups` of the group that holds the record. */
  groupOf: ReadonlyMap<number, number>;
  /** Whether a pool without probes ejects origins otherwise than `DEFAULT_EJECTION`. */
  ejections: boolean;
  /** Slots by tag, made at the first use; see `slotOfTag`. */
  tagSlots: ReadonlyMap<string, number> | null;
  /** Whether a rule uses what version 5 of the layout added. */
  recent: boolean;
  /** Whether a rule uses what version 6 of the layout added. */
  newest: boolean;
  /** Whether a gateway uses what version 7 of the layout added, so that the rows of all gateways are longer. */
  wideGateways: boolean;
  /** Whether an operation has settings, which version 8 of the layout added. */
  operationSettings: boolean;
  readonly words: WordPool;
  readonly strings: StringPool;
  readonly patterns: PatternPool;
  readonly filing: Filing;
  readonly postings: PostingPool;
  readonly meta: Uint32Array;
  slots: Uint32Array;
  names: Uint32Array;
  ruleKeys: Uint32Array;
  recordKeys: Uint32Array;
  nodes: number[];
  labels: LabelPool;
  literals: Uint32Array;
  cidr4: Uint32Array;
  cidr6: Uint32Array;
  /** The numbers of lists by name. */
  readonly lists: Map<string, number>;
  listRows: Uint32Array;
  listData: Uint8Array;
  readonly conditionPool: ConditionPool;
  /** Roots of the trees of values by the number of the source, and `c`, or `i` if case is ignored. */
  readonly valueTrees: Map<string, number>;
  conditions: Uint32Array;
  valueSources: Uint32Array;
  valueTests: Uint32Array;
}

/** What conditions read and compare; numbers by what they are of. */
interface ConditionPool {
  readonly sources: Map<string, number>;
  readonly sourceRows: { readonly kind: SourceKind; readonly name: string }[];
  readonly tests: Map<string, number>;
  /** Rows of `VALUE_TEST`. */
  readonly testRows: number[];
}

/** Lists of slots, by number; equal lists are one posting. */
export interface PostingPool {
  /** The number of a list, by its slots joined with commas. */
  readonly numbers: Map<string, number>;
  readonly lists: (readonly number[])[];
}

/** Labels of tree nodes as UTF-16 code units. */
export interface LabelPool {
  /** Where a label begins in `units`. */
  readonly places: Map<string, number>;
  readonly units: number[];
}

/** A draft before its first stage. Every word of `meta` is NONE. */
export function createDraft(ruleSet: RuleSet, patterns: KnownPatterns = new Map()): PlanDraft {
  return {
    ruleSet,
    diagnostics: [],
    rules: [],
    groups: [],
    groupOf: new Map(),
    ejections: false,
    tagSlots: null,
    recent: false,
    newest: false,
    wideGateways: false,
    operationSettings: false,
    words: createWordPool(),
    strings: createStringPool(),
    patterns: createPatternPool(patterns),
    filing: { byKey: new Map(), intervals: [], always: [] },
    postings: { numbers: new Map(), lists: [] },
    meta: new Uint32Array(META.size + 1).fill(NONE),
    slots: new Uint32Array(0),
    names: new Uint32Array(0),
    ruleKeys: new Uint32Array(0),
    recordKeys: new Uint32Array(0),
    nodes: [],
    labels: { places: new Map(), units: [] },
    literals: new Uint32Array(0),
    cidr4: new Uint32Array(0),
    cidr6: new Uint32Array(0),
    lists: new Map(),
    listRows: new Uint32Array(0),
    listData: new Uint8Array(0),
    conditionPool: { sources: new Map(), sourceRows: [], tests: new Map(), testRows: [] },
    valueTrees: new Map(),
    conditions: new Uint32Array(0),
    valueSources: new Uint32Array(0),
    valueTests: new Uint32Array(0),
  };
}

/** The number of the posting that lists `slots`; NONE for an empty list. */
export function placePosting(draft: PlanDraft, slots: readonly number[]): number {
  if (slots.length === 0) return NONE;
  const key = slots.join();
  const known = draft.postings.numbers.get(key);
  if (known !== undefined) return known;
  const number = draft.postings.lists.length;
  draft.postings.lists.push(slots);
  draft.postings.numbers.set(key, number);
  return number;
}

/**
 * Orders the rules as they are evaluated: by phase, then priority, then id (semantics §3, §4), gateways by the length of their
 * base paths before that (§15). Writes where the slots of each type begin to `meta`, and the number of all slots.
 */
export function orderRules(draft: PlanDraft): void {
  const rank = new Map(RULE_TYPES.map((type) => [type, typeIndex(type)]));
  draft.rules = [...draft.ruleSet.rules].sort(
    (a, b) =>
      rank.get(a.type)! - rank.get(b.type)! ||
      baseLength(b) - baseLength(a) ||
      a.priority - b.priority ||
      a.id - b.id,
  );
  let slot = 0;
  for (const type of RULE_TYPES) {
    draft.meta[type === 'gateway' ? META.gateways : META.phases + typeNumber(type)] = slot;
    while (draft.rules[slot]?.type === type) slot++;
  }
  // Where the last type begins is also the end of the one before it, as plans without it have it.
  draft.meta[META.slots] = slot;
}

/** Characters of a gateway's base path in canonical form; 0 for `/`, and for rules of other types. */
function baseLength(rule: Rule): number {
  return rule.type === 'gateway' ? gatewayBase(rule).length : 0;
}

/** The base path of a gateway in canonical form; empty for `/`. */
export function gatewayBase({ base_path }: Pick<GatewayRule, 'base_path'>): string {
  return base_path === '/' ? '' : decodeEscapes(base_path);
}

/**
 * The slot of the rule that a tag names (`<type>/<id>`, `<type>/<key>` or a key); NONE for a rule that does not exist, whose tag
 * no request has.
 */
export function slotOfTag(draft: PlanDraft, tag: string): number {
  draft.tagSlots ??= tagSlots(draft);
  return draft.tagSlots.get(tag) ?? NONE;
}

function tagSlots({ rules, ruleSet }: PlanDraft): ReadonlyMap<string, number> {
  const slots = new Map<string, number>();
  for (const [slot, { type, id }] of rules.entries()) slots.set(`${type}/${id}`, slot);
  // A key goes before the same text as an id (`ruleOfTag`).
  for (const [slot, { type, id }] of rules.entries()) {
    const written = ruleSet.keys?.rules.get(id);
    if (written === undefined) continue;
    slots.set(written, slot);
    slots.set(`${type}/${written}`, slot);
  }
  return slots;
}

// Growing arrays that become a plan's sections. Equal content is stored once.

/** 32-bit words in runs; equal runs share one place. */
interface WordPool {
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
interface StringPool {
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
