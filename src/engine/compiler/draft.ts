/** The draft of a plan: the state that the stages of `compile.ts` read and write. */
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import type { DnsRecord, Rule, RuleSet } from '../../rules/model/types.ts';
import { META, NONE, typeIndex } from '../plan/layout.ts';
import { createPatternPool, type KnownPatterns, type PatternPool } from './patterns.ts';
import { createStringPool, createWordPool, type StringPool, type WordPool } from './pools.ts';

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
    words: createWordPool(),
    strings: createStringPool(),
    patterns: createPatternPool(patterns),
    filing: { byKey: new Map(), intervals: [], always: [] },
    postings: { numbers: new Map(), lists: [] },
    meta: new Uint32Array(META.size).fill(NONE),
    slots: new Uint32Array(0),
    names: new Uint32Array(0),
    ruleKeys: new Uint32Array(0),
    recordKeys: new Uint32Array(0),
    nodes: [],
    labels: { places: new Map(), units: [] },
    literals: new Uint32Array(0),
    cidr4: new Uint32Array(0),
    cidr6: new Uint32Array(0),
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
 * Orders the rules as they are evaluated: by phase, then priority, then id (semantics §3, §4). Writes where the slots of
 * each type begin to `meta`, from `META.phases` on, and the end of the last type after them.
 */
export function orderRules(draft: PlanDraft): void {
  const rank = new Map(RULE_TYPES.map((type) => [type, typeIndex(type)]));
  draft.rules = [...draft.ruleSet.rules].sort(
    (a, b) => rank.get(a.type)! - rank.get(b.type)! || a.priority - b.priority || a.id - b.id,
  );
  let slot = 0;
  for (const [index, type] of RULE_TYPES.entries()) {
    draft.meta[META.phases + index] = slot;
    while (draft.rules[slot]?.type === type) slot++;
  }
  draft.meta[META.phases + RULE_TYPES.length] = slot;
  draft.meta[META.slots] = slot;
}
