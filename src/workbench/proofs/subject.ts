/** A plan that proofs are about: its rules with their effects, their order, and an evaluator that confirms every witness. */
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import { compile } from '../../engine/compiler/compile.ts';
import { printFilter } from '../../engine/compiler/print.ts';
import { type Printed, printFields } from '../../engine/compiler/rule-types.ts';
import type { RuleRef } from '../../engine/evaluator/decision.ts';
import { type Evaluator, loadPlan } from '../../engine/evaluator/evaluate.ts';
import { isContentAddressed, refOfSlot } from '../../engine/evaluator/identity.ts';
import type { OpenedList } from '../../engine/evaluator/lists.ts';
import { createLoaded, type LoadedPlan, textOf } from '../../engine/evaluator/loaded.ts';
import { type FindList, listsOfPlan, registryOfPlan } from '../../engine/evaluator/plan-parts.ts';
import {
  FLAG,
  FLAG_ACTION_SHIFT,
  META,
  REDIRECT_FIELDS,
  REDIRECT_LISTED,
  ruleTypeOf,
  SLOT,
} from '../../engine/plan/layout.ts';
import { openPlan, seal } from '../../engine/plan/seal.ts';
import { createCounters } from '../../engine/rate-counters/counters.ts';
import { listsOf } from '../../rules/model/list-names.ts';
import { parseRule } from '../../rules/model/parse.ts';
import type { RuleList, RuleSet } from '../../rules/model/types.ts';
import { contentOf } from './named-lists.ts';
import { knownOf, type PlanRule, type RuleEnding } from './rule-types.ts';

/** One enabled rule of a plan. */
export interface SubjectRule {
  readonly slot: number;
  readonly type: RuleType;
  readonly ref: RuleRef;
  readonly isDryRun: boolean;
  readonly ending: RuleEnding;
  /** A `tag` rule of fingerprints or bots, which takes no slot. */
  readonly isTag: boolean;
  /** What the rule does depends on which of its path patterns is the first that matches. */
  readonly takesGroups: boolean;
  /** A redirect with a list of targets. */
  readonly isListed: boolean;
  /** Of a redirect; with references to groups if `takesGroups`. */
  readonly target: string;
  readonly preservesPath: boolean;
  readonly preservesQuery: boolean;
}

/** A plan and its rules in evaluation order. */
export interface Subject {
  readonly loaded: LoadedPlan;
  readonly domain: string;
  readonly rules: readonly SubjectRule[];
  /** Enforced rules that pin the origin. */
  readonly pins: readonly SubjectRule[];
  /** The enabled rule of a type and id. */
  ruleOf(type: string, id: number): SubjectRule | null;
  readonly evaluator: Evaluator;
  /** A time so long after the one before that no rate limit counts both: milliseconds. */
  moment(): number;
}

/** The first moment: long after every developer mode. */
const FIRST_MOMENT = Date.UTC(2100, 0, 1);
/** Twice the longest window of a rate limit. */
const APART_MS = 2 * 86_400_000;

/** How sealed bytes are read. */
export interface ReadSubjectOptions {
  /** This process has compiled them. */
  readonly trusted?: boolean;
  /** The lists that the plan names by digest; absent: it names none. */
  readonly lists?: FindList;
  /** Gateways judge the credentials of requests. Default: they admit every request that they take. */
  readonly judgesCredentials?: boolean;
}

/** Reads the plan in sealed bytes. @throws PlanFault */
export function readSubject(
  bytes: Uint8Array,
  { trusted = false, lists = () => null, judgesCredentials = false }: ReadSubjectOptions = {},
): Subject {
  const { plan, revision } = openPlan(bytes, { trusted });
  const loaded = createLoaded(plan, revision, {
    lists: listsOfPlan(plan, { lists, trusted }),
    registry: registryOfPlan(plan, { lists, trusted }),
  });
  const count = plan.slots.length / SLOT.size;
  const rules = Array.from({ length: count }, (_, slot) => readRule(loaded, slot)).filter(
    (rule): rule is SubjectRule => rule !== null,
  );
  const counters = createCounters({ random: () => 0.5 });
  const evaluator = loadPlan(bytes, { trusted: true, lists, counters, admitsAll: !judgesCredentials });
  const byName = new Map(rules.map((rule) => [`${rule.type}/${rule.ref.id}`, rule]));
  let moments = 0;
  return {
    ruleOf: (type, id) => byName.get(`${type}/${id}`) ?? null,
    loaded,
    domain: textOf(loaded, plan.meta[META.domain]!),
    rules,
    pins: rules.filter(({ ending, isDryRun }) => ending === 'pins' && !isDryRun),
    evaluator,
    moment: () => FIRST_MOMENT + APART_MS * moments++,
  };
}

function readRule(loaded: LoadedPlan, slot: number): SubjectRule | null {
  const flags = loaded.plan.slots[slot * SLOT.size + SLOT.flags]!;
  if ((flags & FLAG.enabled) === 0) return null;
  const type = ruleTypeOf(flags);
  const isRedirect = type === 'redirect';
  const words = planRule(loaded, slot);
  const isListed = isRedirect && words.action === REDIRECT_LISTED;
  const { ending, isTag, takesGroups } = knownOf(type);
  return {
    slot,
    type,
    ref: refOfSlot(loaded, slot),
    isDryRun: (flags & FLAG.dryRun) !== 0,
    ending: ending(words),
    isTag: isTag(words),
    takesGroups: takesGroups(words),
    isListed,
    target: isRedirect && !isListed ? words.text(REDIRECT_FIELDS.target) : '',
    preservesPath: isRedirect && words.word(REDIRECT_FIELDS.preservePath) === 1,
    preservesQuery: isRedirect && words.word(REDIRECT_FIELDS.preserveQuery) === 1,
  };
}

/** The words of a rule in a slot. */
export function planRule(loaded: LoadedPlan, slot: number): PlanRule {
  const { slots, words } = loaded.plan;
  const row = slot * SLOT.size;
  const fields = slots[row + SLOT.fields]!;
  return {
    action: slots[row + SLOT.flags]! >>> FLAG_ACTION_SHIFT,
    word: (offset) => words[fields + offset]!,
    text: (offset) => textOf(loaded, words[fields + offset]!),
  };
}

// The rule set that proofs are about: of a domain that serves, since its state is no property of its rules.

/** Sets the state of the domain aside: what is proved holds once the domain serves. */
export function serving(ruleSet: RuleSet): RuleSet {
  const domain = {
    ...ruleSet.domain,
    status: 'active',
    suspended: false,
    developer_mode_until: null,
  } as const;
  return { ...ruleSet, domain };
}

/** The rule set of a domain that serves. Rules that the model refuses match nothing and do not compile. */
export function compilable(ruleSet: RuleSet): RuleSet {
  const rules = ruleSet.rules.filter(
    ({ id: _, type, ...fields }) => parseRule(type, fields, { stored: true }).ok,
  );
  return { ...serving(ruleSet), rules };
}

/** Where the lists of a rule set come from that it has by digest. */
export interface ListSources {
  /** Absent: the rule set has the entries of all that its rules name. */
  readonly lists?: FindList;
}

/** The compiled subject of a rule set, as `compilable` has it. @throws PlanFault if a list is missing */
export function compileSubject(ruleSet: RuleSet, sources: ListSources = {}): Subject {
  return readSubject(seal(compile(compilable(ruleSet)).plan, { revision: 1 }), sources);
}

/** Whether the entries of all lists are known that rules name: without them nothing is proved. */
export function knowsLists({ rules, lists = [] }: RuleSet, { lists: find }: ListSources = {}): boolean {
  const isKnown = (list: RuleList): boolean => 'entries' in list || (find?.(list.digest) ?? null) !== null;
  const kinds = new Map(lists.filter(isKnown).map(({ name, kind }) => [name, kind]));
  return rules.every((rule) => listsOf(rule).every(({ name, kind }) => kinds.get(name) === kind));
}

// What rules do to requests that they act on, as text that is equal for equal effects, and as words.

/** Fields of a printed rule that are filters. */
const FILTERS: readonly string[] = ['bot_kinds', 'match_ja4', 'match_ja4h', 'require_verified'];

/** The type's own fields of a rule, without its filters. */
export function effectFields({ loaded: { plan } }: Subject, { slot, type }: SubjectRule): Printed {
  const row = plan.slots.subarray(slot * SLOT.size, (slot + 1) * SLOT.size);
  const fields = Object.entries(printFields(plan, type, row)).filter(([name]) => !FILTERS.includes(name));
  return Object.fromEntries(fields);
}

/** Effects that were asked for: comparisons ask for each again and again. */
const KNOWN = new WeakMap<SubjectRule, string>();

/** The effect of a rule; rules that block a request with the same status have the same. */
export function effectOf(subject: Subject, rule: SubjectRule): string {
  const known = KNOWN.get(rule);
  if (known !== undefined) return known;
  const made = makeEffect(subject, rule);
  KNOWN.set(rule, made);
  return made;
}

function makeEffect(subject: Subject, rule: SubjectRule): string {
  const fields = effectFields(subject, rule);
  const blocks = rule.type === 'drop' || fields['action'] === 'drop' || fields['action'] === 'block';
  if (blocks) return `block ${rule.type === 'drop' ? (fields['status'] ?? 403) : 403}`;
  const patterns = rule.takesGroups ? JSON.stringify(includesOf(subject, rule)) : '';
  const targets = rule.isListed ? contentOf(targetsOf(subject, rule)) : '';
  return `${rule.type} ${JSON.stringify(fields)}${patterns}${targets}`;
}

/** The list of a redirect with a list of targets. */
export function targetsOf({ loaded }: Subject, { slot }: SubjectRule): OpenedList {
  return loaded.lists[planRule(loaded, slot).word(REDIRECT_FIELDS.target)]!;
}

/** Whether what a rule does depends on the path: on the first pattern that matches, or on the entry of a list. */
export function variesByPath({ takesGroups, isListed }: SubjectRule): boolean {
  return takesGroups || isListed;
}

/** The patterns of paths that a rule includes, in their order. */
function includesOf({ loaded: { plan } }: Subject, { slot }: SubjectRule): unknown {
  return printFilter(plan, plan.slots[slot * SLOT.size + SLOT.path]!)?.['includes'];
}

/** `<type>/<key>`, or `<type>/<id>` if its author gave it no key. */
export function nameOfRule({ ref }: SubjectRule): string {
  const isKeyed = ref.key !== undefined && !isContentAddressed(ref.key);
  return `${ref.type}/${isKeyed ? ref.key : ref.id}`;
}
