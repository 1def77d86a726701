/**
 * A draft at one paranoia level: partial evaluation (Jones, Gomard and Sestoft 1993, ch. 1). The rules are walked in
 * the order they run, with what is known of TX variables; a rule that no request has a say in is carried out now. Its
 * assignments go into the level's first values, its jump drops the rules jumped over. Everything else stays, with the
 * values that are known put in.
 *
 * Three things keep this exact. A first value is only changed before a rule that runs has read or written the variable.
 * What a rule that runs may write is unknown from there on. And a rule that may not run after all, because a jump at
 * run time leads past it, a rule before it ends the inspection or `ctl:ruleRemove…` takes it away, is only carried out
 * where that makes no difference. A rule that is reported may be excluded, so nothing is built on it; one that only
 * prepares others (`nolog`) and asks nothing of the request is part of the program, and no exclusion reaches it.
 */
import { outcomeOf, type Writes, writesOf } from './constant.ts';
import type { DraftControl, DraftRule, SignatureDraft } from './draft.ts';
import type { EmittedRule, LevelDraft } from './emit.ts';
import {
  createKnowledge,
  foldRule,
  forget,
  isTouched,
  type Knowledge,
  lookUp,
  PINNED,
  touch,
} from './knowledge.ts';
import { plainText } from './read-text.ts';
import { isRemoval, type Removals, readsTx, removes } from './removals.ts';
import type { SecLangReport } from './source.ts';

export interface SpecialiseOptions {
  readonly level: 1 | 2 | 3 | 4;
  readonly report: SecLangReport;
}

interface Walk {
  readonly rules: readonly DraftRule[];
  readonly knowledge: Knowledge;
  readonly kept: { readonly rule: DraftRule; readonly index: number; readonly target: number }[];
  /** Rules before this one are jumped over whatever the request is. */
  deadUntil: number;
  /** Where jumps at run time lead that may still be under way. */
  landings: readonly number[];
  /** `ctl:ruleRemove…` that a request may set off. */
  readonly removers: DraftControl[];
  /** Those that are set off by every request. */
  readonly removed: DraftControl[];
  /** Where a rule that denies every request is told; `null` at the levels after the first. */
  readonly report: SecLangReport | null;
}

/** Specialises a draft. */
export function specialise(draft: SignatureDraft, { level, report }: SpecialiseOptions): LevelDraft {
  const rules = inPhaseOrder(draft.rules);
  const walk: Walk = {
    rules,
    knowledge: createKnowledge(level),
    kept: [],
    deadUntil: 0,
    landings: [],
    removers: [],
    removed: [],
    report: level === 1 ? report : null,
  };
  for (const [index, rule] of rules.entries()) {
    walk.landings = walk.landings.filter((landing) => landing > index);
    if (index < walk.deadUntil || walk.removed.some((removal) => removes(removal, rule))) continue;
    step(walk, { rule, index, target: targetOf(rule, rules, draft) });
  }
  return { rules: renumber(walk), initial: sorted(walk.knowledge.first) };
}

interface Step {
  readonly rule: DraftRule;
  readonly index: number;
  /** Where its jump leads; -1: it has none. */
  readonly target: number;
}

function step(walk: Walk, { rule, index, target }: Step): void {
  const { knowledge } = walk;
  const reaching = walk.removers.filter((control) => removes(control, rule));
  const removers = reaching.filter(isRemoval);
  const outcome = reaching.some(readsTx) ? 'open' : outcomeOf(rule, knowledge);
  if (outcome === 'never') return;
  if (outcome === 'open') {
    keep(walk, { rule, index, target });
    return;
  }
  const certain = walk.landings.length === 0 && removers.length === 0;
  const simple = certain ? withoutPinned(unconditional(rule)) : unconditional(rule);
  const writes = simple.conditions.some(({ capture }) => capture)
    ? null
    : writesOf(
        simple.conditions.flatMap(({ setVars }) => setVars),
        knowledge,
      );
  const controls = simple.conditions.flatMap((condition) => condition.controls);
  const quiet = !rule.reported && rule.disruption === 'pass' && writes !== null;
  if (quiet && certain && controls.every(isRemoval) && foldable(writes, knowledge)) {
    assignFirst(knowledge, writes);
    walk.removed.push(...controls);
    walk.deadUntil = Math.max(walk.deadUntil, target);
  } else if (
    quiet &&
    controls.length === 0 &&
    idle(writes, knowledge) &&
    jumpsWell(walk, { rule, index, target }, removers)
  ) {
    walk.deadUntil = Math.max(walk.deadUntil, target);
  } else if (certain && !rule.reported && !isDisruptive(rule)) {
    keepAlways(walk, { rule: simple, index, target }, writes);
  } else {
    // A rule that is told of may be excluded, and the engine may be off or only detecting by then.
    if (certain && rule.disruption === 'deny' && walk.report !== null) warnOfDenial(rule, walk.report);
    keep(walk, { rule: simple, index, target });
  }
}

/** Whether first values can take the assignments over. */
function foldable(writes: Writes, knowledge: Knowledge): boolean {
  return [...writes].every(([name, text]) => !isTouched(knowledge, name) || isKnownAs(knowledge, name, text));
}

/** Whether the assignments change nothing. */
function idle(writes: Writes, knowledge: Knowledge): boolean {
  return [...writes].every(([name, text]) => isKnownAs(knowledge, name, text));
}

function isKnownAs(knowledge: Knowledge, name: string, text: string | null): boolean {
  const known = lookUp(knowledge, name);
  return known.kind === 'value' ? known.text === text : known.kind === 'absent' && text === null;
}

/**
 * Whether a rule that always matches when it runs can be dropped together with what it jumps over: no jump may land in
 * between, and whatever takes the rule away must take those away as well.
 */
function jumpsWell(walk: Walk, { index, target }: Step, removers: Removals): boolean {
  if (target <= index) return true;
  if (walk.landings.some((landing) => landing < target)) return false;
  const between = walk.rules.slice(index + 1, target);
  return removers.every((remover) => between.every((rule) => removes(remover, rule)));
}

function assign(values: Map<string, string>, writes: Writes): void {
  for (const [name, text] of writes) {
    if (text === null) values.delete(name);
    else values.set(name, text);
  }
}

/** Assigns before the first rule that runs; what is touched already has the text it is given. */
function assignFirst(knowledge: Knowledge, writes: Writes): void {
  const untouched = new Map([...writes].filter(([name]) => !isTouched(knowledge, name)));
  assign(knowledge.values, untouched);
  assign(knowledge.first, untouched);
}

/** Keeps a rule that may or may not match. */
function keep(walk: Walk, { rule, index, target }: Step): void {
  const { knowledge } = walk;
  const setVars = rule.conditions.flatMap((condition) => condition.setVars);
  forget(knowledge, setVars);
  const folded = foldRule(knowledge, rule);
  touch(knowledge, folded);
  walk.kept.push({ rule: folded, index, target });
  walk.removers.push(
    ...rule.conditions.flatMap(({ controls }) => controls.filter((one) => one.kind.startsWith('ruleRemove'))),
  );
  const landings = [target, stopOf(rule, walk.rules)].filter((landing) => landing > index);
  walk.landings = [...walk.landings, ...landings];
}

/** Where a match that ends the phase, or everything, goes on; -1: it ends nothing. */
function stopOf({ disruption, phase, conditions }: DraftRule, rules: readonly DraftRule[]): number {
  if (disruption === 'allowPhase') {
    const next = rules.findIndex((rule) => rule.phase > phase);
    return next === -1 ? rules.length : next;
  }
  const stops = disruption === 'deny' || disruption === 'allow';
  const switches = conditions.some(({ controls }) => controls.some(({ kind }) => kind === 'ruleEngine'));
  return stops || switches ? rules.length : -1;
}

/** Keeps a rule that every request matches, because something of it cannot be done ahead. */
function keepAlways(walk: Walk, { rule, index, target }: Step, writes: Writes | null): void {
  keep(walk, { rule, index, target: -1 });
  if (writes !== null) {
    const { values, unknown } = walk.knowledge;
    for (const name of writes.keys()) unknown.names.delete(name);
    assign(values, writes);
  }
  walk.deadUntil = Math.max(walk.deadUntil, target);
}

/** Whether a match may end the phase, or everything. */
function isDisruptive({ disruption }: DraftRule): boolean {
  return disruption !== 'pass' && disruption !== 'block';
}

/** A rule that always matches as one unconditional action, unless it speaks of what was matched. */
function unconditional(rule: DraftRule): DraftRule {
  const texts = [rule.message, rule.logData];
  for (const { setVars } of rule.conditions) {
    for (const setVar of setVars) texts.push(setVar.name, setVar.kind === 'unset' ? [] : setVar.value);
  }
  const speaks = texts.flat().some((part) => part.kind === 'variable' && /^MATCHED_/.test(part.variable));
  if (speaks || rule.conditions.some(({ capture }) => capture)) return rule;
  const [first] = rule.conditions;
  return {
    ...rule,
    conditions: [
      {
        ...first,
        targets: null,
        chain: [],
        operator: { kind: 'unconditionalMatch' },
        negated: false,
        multiMatch: false,
        setVars: rule.conditions.flatMap(({ setVars }) => setVars),
        controls: rule.conditions.flatMap(({ controls }) => controls),
      },
    ],
  };
}

/** The level and the threshold are set from outside; what the text has for every request does not count. */
function withoutPinned(rule: DraftRule): DraftRule {
  const free = (name: string | null): boolean => name === null || !PINNED.has(name.toLowerCase());
  const [first, ...rest] = rule.conditions.map((condition) => {
    return { ...condition, setVars: condition.setVars.filter(({ name }) => free(plainText(name))) };
  });
  return { ...rule, conditions: [first!, ...rest] };
}

function inPhaseOrder(rules: readonly DraftRule[]): readonly DraftRule[] {
  return [...rules.filter(({ phase }) => phase === 1), ...rules.filter(({ phase }) => phase === 2)];
}

/** Where a match goes on; -1: with the next rule. Without such a marker the rest of the phase is left out. */
function targetOf(rule: DraftRule, rules: readonly DraftRule[], { markers }: SignatureDraft): number {
  if (rule.skipAfter === null) return -1;
  const places = markers.get(rule.skipAfter) ?? [];
  const marker = places.find((place) => place > rule.order) ?? Number.POSITIVE_INFINITY;
  const target = rules.findIndex(
    ({ phase, order }) => phase > rule.phase || (phase === rule.phase && order > marker),
  );
  return target === -1 ? rules.length : target;
}

/** Jumps to rules that are kept: to the first one at or after the target. */
function renumber({ kept }: Walk): readonly EmittedRule[] {
  return kept.map(({ rule, target }) => {
    if (target === -1) return { rule, skipTo: -1 };
    const first = kept.findIndex(({ index }) => index >= target);
    return { rule, skipTo: first === -1 ? kept.length : first };
  });
}

function sorted(values: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}

function warnOfDenial(rule: DraftRule, report: SecLangReport): void {
  const message = plainText(rule.message) ?? '';
  report.warn('denies_all', rule.place, {
    message: `rule ${rule.id} denies every request${message === '' ? '' : `: ${message}`}`,
    remedy: 'look whether its configuration is complete, or take the rule out',
  });
}
