/** A compiled rule set: the rules of one paranoia level as `waf/load` prepares them and an inspection runs them. */
import type { SignatureRule, WafCondition, WafTargets } from '../../plan/signature-program.ts';
import type { LiteralIndex } from '../patterns/literal-index.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { TargetClasses } from './target-classes.ts';
import type { Transaction } from './transaction.ts';
import type { ExactChains } from './transformation-chains.ts';
import type { TxStart } from './tx.ts';
import type { ValueSource } from './value-sources.ts';
import type { InspectedValue, InspectedValues } from './values.ts';

export interface Assignment {
  /** Writes a variable so many times over; gives what that adds to the score. More than once only where it `repeats`. */
  readonly run: (transaction: Transaction, times: number) => number;
  /** What is written, and where, does not depend on what matched: doing it often comes to one sum. */
  readonly repeats: boolean;
}

export type RuntimeControl = (transaction: Transaction) => void;

/** One condition of a rule. */
export interface ChainLink {
  readonly condition: WafCondition;
  /** `null`: a SecAction. */
  readonly targets: WafTargets | null;
  /** Places in `WAF_TRANSFORMATIONS`. */
  readonly steps: readonly number[];
  /** The test this condition is; -1: its answer does not depend on values alone. */
  readonly test: number;
  readonly check: (value: InspectedValue, transaction: Transaction) => boolean;
  readonly assignments: readonly Assignment[];
  readonly controls: readonly RuntimeControl[];
  /** Someone reads what this condition captures. */
  readonly captures: boolean;
  /** All it does for each member that holds is the same, and only the last of them is told of. */
  readonly repeats: boolean;
}

export interface CompiledRule {
  readonly rule: SignatureRule;
  readonly links: readonly ChainLink[];
  /** Tests of which each must have passed somewhere for the rule to do anything at all. */
  readonly guards: readonly number[];
  /** It only compares the score with something. */
  readonly evaluates: boolean;
}

export interface CompiledSource {
  readonly origin: ValueSource;
  readonly classes: TargetClasses;
}

export interface CompiledRuleSet {
  readonly paranoia: number;
  readonly rules: readonly CompiledRule[];
  /** The place of the first rule of phase 2. */
  readonly bodyRules: number;
  readonly tests: number;
  readonly index: LiteralIndex;
  readonly values: InspectedValues;
  readonly exact: ExactChains;
  readonly matchers: readonly Matcher[];
  /** Those whose members undergo any test. */
  readonly origins: readonly CompiledSource[];
  readonly start: TxStart;
  /** The TX variables whose sum is the score. */
  readonly scores: ReadonlySet<string>;
  readonly setOfPhrases: (phrases: number) => number;
}
