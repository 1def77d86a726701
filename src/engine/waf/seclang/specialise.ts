/**
 * Specialises a draft for one paranoia level by partial evaluation (Jones, Gomard and Sestoft 1993, ch. 1). Evaluates the
 * rules in execution order with the known values of TX variables. A rule that does not depend on the request is executed
 * now: its assignments become initial values of the level, and its jump drops the skipped rules. All other rules remain
 * (residual rules), with known values substituted.
 *
 * Three conditions make this exact. An initial value changes only before a residual rule reads or writes the variable.
 * The variables that a residual rule may write are unknown afterwards. A rule that some inspections do not reach (a jump
 * leads past it, an earlier rule ends the inspection, or `ctl:ruleRemove…` removes it) is executed now only if that makes
 * no difference. A reported rule can be excluded by settings, so nothing depends on it; a rule that only prepares others
 * (`nolog`) and does not depend on the request is part of the program, and no exclusion applies to it.
 */
import { isRemoval, type Removals, type RemovalTest, readsTx, removalTest } from './amend.ts';
import {
  createKnownTx,
  foldRule,
  invalidate,
  isUsed,
  type KnownTx,
  lookUp,
  markUsed,
  outcomeOf,
  PINNED,
  type Writes,
  writesOf,
} from './constant.ts';
import type { DraftControl, DraftRule, SignatureDraft } from './draft.ts';
import type { EmittedRule, LevelDraft } from './emit.ts';
import { plainText } from './lower-targets.ts';
import type { SecLangReport } from './source.ts';

/** The level, and where to report a rule that denies every request. */
export interface SpecialiseOptions {
  readonly level: 1 | 2 | 3 | 4;
  readonly report: SecLangReport;
  /** Gets the rules that read state of earlier requests, unless every request skips them. */
  readonly stateful: Set<DraftRule>;
}

/** The state of the partial evaluation. */
interface Evaluation {
  /** All rules in the order of execution. */
  readonly rules: readonly DraftRule[];
  /** The state of TX at the current rule. */
  readonly tx: KnownTx;
  /** The rules that remain, with their places and jump targets. */
  readonly residual: { readonly rule: DraftRule; readonly index: number; readonly target: number }[];
  /** Rules before this place are skipped for every request. */
  skippedUntil: number;
  /** The targets of jumps that an inspection may have taken at this place. */
  openTargets: readonly number[];
  /** `ctl:ruleRemove…` actions that some requests execute. */
  readonly removers: DraftControl[];
  /** `ctl:ruleRemove…` actions that every request executes. */
  readonly removed: DraftControl[];
  readonly removes: RemovalTest;
  /** Where a rule that denies every request is reported; `null` at levels above the first. */
  readonly report: SecLangReport | null;
}

/** Evaluates a draft at one level. */
export function specialise(
  draft: SignatureDraft,
  { level, report, stateful }: SpecialiseOptions,
): LevelDraft {
  const rules = inPhaseOrder(draft.rules);
  const state: Evaluation = {
    rules,
    tx: createKnownTx(level),
    residual: [],
    skippedUntil: 0,
    openTargets: [],
    removers: [],
    removed: [],
    removes: removalTest(),
    report: level === 1 ? report : null,
  };
  for (const [index, rule] of rules.entries()) {
    state.openTargets = state.openTargets.filter((openTarget) => openTarget > index);
    if (index < state.skippedUntil || state.removed.some((removal) => state.removes(removal, rule))) continue;
    if (rule.readsState.length > 0) stateful.add(rule);
    step(state, { rule, index, target: targetOf(rule, rules, draft) });
  }
  return { rules: renumber(state), initial: sorted(state.tx.first) };
}

/** One rule with its place and jump target. */
interface Step {
  readonly rule: DraftRule;
  readonly index: number;
  /** The place of the first rule after its jump; -1: it does not jump. */
  readonly target: number;
}

/** Evaluates one rule: drops it, executes it now, or adds it to the residual rules. */
function step(state: Evaluation, { rule, index, target }: Step): void {
  const { tx } = state;
  const reaching = state.removers.filter((control) => state.removes(control, rule));
  const removers = reaching.filter(isRemoval);
  const outcome = reaching.some(readsTx) ? 'open' : outcomeOf(rule, tx);
  if (outcome === 'never') return;
  if (outcome === 'open') {
    keepRule(state, { rule, index, target });
    return;
  }
  const certain = state.openTargets.length === 0 && removers.length === 0;
  const simple = certain ? withoutPinned(unconditional(rule)) : unconditional(rule);
  const writes = simple.conditions.some(({ capture }) => capture)
    ? null
    : writesOf(
        simple.conditions.flatMap(({ setVars }) => setVars),
        tx,
      );
  const controls = simple.conditions.flatMap((condition) => condition.controls);
  const quiet = !rule.reported && rule.disruption === 'pass' && writes !== null;
  // Executed at compile time: every request reaches this rule, so its effects can be applied before the first rule.
  if (quiet && certain && controls.every(isRemoval) && foldable(writes, tx)) {
    assignInitial(tx, writes);
    state.removed.push(...controls);
    state.skippedUntil = Math.max(state.skippedUntil, target);
    // Dropped: not every request reaches the rule, but it has no effect except its jump.
  } else if (
    quiet &&
    controls.length === 0 &&
    isNoOp(writes, tx) &&
    canDropJump(state, { rule, index, target }, removers)
  ) {
    state.skippedUntil = Math.max(state.skippedUntil, target);
    // Kept, and known to match: the writes are known to later rules.
  } else if (certain && !rule.reported && !isDisruptive(rule)) {
    keepUnconditional(state, { rule: simple, index, target }, writes);
  } else {
    // A reported rule may be excluded, and the engine may be off or only detecting at this place.
    if (certain && rule.disruption === 'deny' && state.report !== null) warnOfDenial(rule, state.report);
    keepRule(state, { rule: simple, index, target });
  }
}

/** Whether assignments can be moved to the initial values. */
function foldable(writes: Writes, tx: KnownTx): boolean {
  return [...writes].every(([name, text]) => !isUsed(tx, name) || isKnownAs(tx, name, text));
}

/** Whether assignments change nothing. */
function isNoOp(writes: Writes, tx: KnownTx): boolean {
  return [...writes].every(([name, text]) => isKnownAs(tx, name, text));
}

/** Whether a variable is known to have this value; `null`: known to be unset. */
function isKnownAs(tx: KnownTx, name: string, text: string | null): boolean {
  const known = lookUp(tx, name);
  return known.kind === 'value' ? known.text === text : known.kind === 'absent' && text === null;
}

/**
 * Whether a rule that always matches can be dropped together with the rules it skips: no jump may lead between them,
 * and whatever removes the rule must remove them as well.
 */
function canDropJump(state: Evaluation, { index, target }: Step, removers: Removals): boolean {
  if (target <= index) return true;
  if (state.openTargets.some((openTarget) => openTarget < target)) return false;
  const between = state.rules.slice(index + 1, target);
  return removers.every((remover) => between.every((rule) => state.removes(remover, rule)));
}

/** Executes assignments on a map. */
function assign(values: Map<string, string>, writes: Writes): void {
  for (const [name, text] of writes) {
    if (text === null) values.delete(name);
    else values.set(name, text);
  }
}

/** Adds assignments to the initial values; variables in use already have the value. */
function assignInitial(tx: KnownTx, writes: Writes): void {
  const untouched = new Map([...writes].filter(([name]) => !isUsed(tx, name)));
  assign(tx.values, untouched);
  assign(tx.first, untouched);
}

/** Adds a rule that may or may not match to the residual rules. */
function keepRule(state: Evaluation, { rule, index, target }: Step): void {
  const { tx } = state;
  const setVars = rule.conditions.flatMap((condition) => condition.setVars);
  invalidate(tx, setVars);
  const folded = foldRule(tx, rule);
  markUsed(tx, folded);
  state.residual.push({ rule: folded, index, target });
  state.removers.push(
    ...rule.conditions.flatMap(({ controls }) => controls.filter((one) => one.kind.startsWith('ruleRemove'))),
  );
  const openTargets = [target, stopOf(rule, state.rules)].filter((openTarget) => openTarget > index);
  state.openTargets = [...state.openTargets, ...openTargets];
}

/** The place where processing continues after a match that ends the phase or the inspection; -1: it ends neither. */
function stopOf({ disruption, phase, conditions }: DraftRule, rules: readonly DraftRule[]): number {
  if (disruption === 'allowPhase') {
    const next = rules.findIndex((rule) => rule.phase > phase);
    return next === -1 ? rules.length : next;
  }
  const stops = disruption === 'deny' || disruption === 'allow';
  const switches = conditions.some(({ controls }) => controls.some(({ kind }) => kind === 'ruleEngine'));
  return stops || switches ? rules.length : -1;
}

/** Adds a rule that every request matches, because some of its actions cannot be executed now. */
function keepUnconditional(state: Evaluation, { rule, index, target }: Step, writes: Writes | null): void {
  keepRule(state, { rule, index, target: -1 });
  if (writes !== null) {
    const { values, unknown } = state.tx;
    for (const name of writes.keys()) unknown.names.delete(name);
    assign(values, writes);
  }
  state.skippedUntil = Math.max(state.skippedUntil, target);
}

/** Whether a match may end the phase or the inspection. */
function isDisruptive({ disruption }: DraftRule): boolean {
  return disruption !== 'pass' && disruption !== 'block';
}

/** Converts a rule that always matches to one unconditional action, unless it reads what was matched. */
function unconditional(rule: DraftRule): DraftRule {
  const texts = [rule.message, rule.logData];
  for (const { setVars } of rule.conditions) {
    for (const setVar of setVars) texts.push(setVar.name, setVar.kind === 'unset' ? [] : setVar.value);
  }
  const readsMatch = texts.flat().some((part) => part.kind === 'variable' && /^MATCHED_/.test(part.variable));
  if (readsMatch || rule.conditions.some(({ capture }) => capture)) return rule;
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

/** Removes assignments to variables that settings determine. */
function withoutPinned(rule: DraftRule): DraftRule {
  const free = (name: string | null): boolean => name === null || !PINNED.has(name.toLowerCase());
  const [first, ...rest] = rule.conditions.map((condition) => {
    return { ...condition, setVars: condition.setVars.filter(({ name }) => free(plainText(name))) };
  });
  return { ...rule, conditions: [first!, ...rest] };
}

/** The rules in the order of execution. */
function inPhaseOrder(rules: readonly DraftRule[]): readonly DraftRule[] {
  return [...rules.filter(({ phase }) => phase === 1), ...rules.filter(({ phase }) => phase === 2)];
}

/**
 * The place of the first rule after a jump, or the end of the phase without such a marker; -1: the rule does not
 * jump.
 */
function targetOf(rule: DraftRule, rules: readonly DraftRule[], { markers }: SignatureDraft): number {
  if (rule.skipAfter === null) return -1;
  const places = markers.get(rule.skipAfter) ?? [];
  const marker = places.find((place) => place > rule.order) ?? Number.POSITIVE_INFINITY;
  const target = rules.findIndex(
    ({ phase, order }) => phase > rule.phase || (phase === rule.phase && order > marker),
  );
  return target === -1 ? rules.length : target;
}

/** Converts jump targets to places among the residual rules: the first one at or after the target. */
function renumber({ residual }: Evaluation): readonly EmittedRule[] {
  return residual.map(({ rule, target }) => {
    if (target === -1) return { rule, skipTo: -1 };
    const first = residual.findIndex(({ index }) => index >= target);
    return { rule, skipTo: first === -1 ? residual.length : first };
  });
}

/** The entries of a map as an object, sorted by name, so that equal programs have equal digests. */
function sorted(values: ReadonlyMap<string, string>): Readonly<Record<string, string>> {
  return Object.fromEntries([...values].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Warns of a rule that denies every request. */
function warnOfDenial(rule: DraftRule, report: SecLangReport): void {
  const message = plainText(rule.message) ?? '';
  report.warn('denies_all', rule.place, {
    message: `rule ${rule.id} denies every request${message === '' ? '' : `: ${message}`}`,
    remedy: 'look whether its configuration is complete, or take the rule out',
  });
}
