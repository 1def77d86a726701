/** A compiled rule set: the rules of one paranoia level as `engine/waf/load` prepares them and an inspection runs them. */
import type { SignatureRule, WafCondition, WafTargets } from '../../plan/signature-program.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { ExactSchedules } from './schedules.ts';
import type { TargetClasses } from './target-classes.ts';
import type { Transaction } from './transaction.ts';
import type { TxStart } from './tx.ts';
import type { ValueSource } from './value-sources.ts';
import type { InspectedValue, InspectedValues } from './values.ts';

/** A compiled `setvar`. */
export interface Assignment {
  /** Executes the assignment `times` times (more than once only if `repeats`); returns what that adds to the score. */
  readonly run: (transaction: Transaction, times: number) => number;
  /** Whether name and value do not depend on the match, so that repeated executions add up. */
  readonly repeats: boolean;
}

/** A compiled `ctl`: changes the transaction. */
export type RuntimeControl = (transaction: Transaction) => void;

/** One condition of a rule: a link of its chain. */
export interface ChainLink {
  readonly condition: WafCondition;
  /** `null`: a SecAction, which always matches. */
  readonly targets: WafTargets | null;
  /** The transformations, as places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  /** The number of the condition's test; -1: its result does not depend on the value alone. */
  readonly test: number;
  /** Whether the operator matches a transformed value, before negation. */
  readonly check: (value: InspectedValue, transaction: Transaction) => boolean;
  readonly assignments: readonly Assignment[];
  readonly controls: readonly RuntimeControl[];
  /** Whether a rule reads the groups that this condition captures. */
  readonly captures: boolean;
  /** Whether every matching member has the same effect, so that only the last one is run in full. */
  readonly repeats: boolean;
}

/** A rule of the level. */
export interface CompiledRule {
  readonly rule: SignatureRule;
  readonly links: readonly ChainLink[];
  /** Tests, by number, that must each have a hit for the rule to have any effect. */
  readonly guards: readonly number[];
  /** Whether the rule only compares the score with a threshold. */
  readonly evaluates: boolean;
}

/** A value source with the classes of its members. */
export interface CompiledSource {
  readonly source: ValueSource;
  readonly classes: TargetClasses;
}

/** The compiled level. `values` and `exact` are caches across inspections; all else is immutable. */
export interface CompiledRuleSet {
  /** 1 to 4. */
  readonly paranoia: number;
  readonly rules: readonly CompiledRule[];
  /** The place in `rules` of the first rule of phase 2. */
  readonly bodyRules: number;
  /** The number of tests. */
  readonly tests: number;
  readonly index: LiteralIndex;
  readonly values: InspectedValues;
  readonly exact: ExactSchedules;
  /** By number of a pattern. */
  readonly matchers: readonly Matcher[];
  /** The value sources with at least one test. */
  readonly sources: readonly CompiledSource[];
  /** The TX variables of a new transaction. */
  readonly start: TxStart;
  /** The TX variables whose sum is the score. */
  readonly scores: ReadonlySet<string>;
  /** The set in `index` of a list of phrases. */
  readonly setOfPhrases: (phrases: number) => number;
}
