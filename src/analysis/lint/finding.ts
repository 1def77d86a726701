/** What a lint rule is given and what it says. */
import type { FieldPath, Severity } from '../../base/diagnostic.ts';
import type { Rule, RuleSet } from '../../model/types.ts';
import type { FilterIndex } from './filter-index.ts';
import type { Zone } from './zone.ts';

/** One observation about one field of one rule. */
export interface Finding {
  /** Stable, snake_case. */
  readonly code: string;
  /**
   * `error`: the rule can never do what it says. `warning`: it very likely does something else than was meant.
   * `info`: it does what was meant, and could say so with less.
   */
  readonly severity: Severity;
  readonly rule: Rule;
  /** Within the rule: `['path_includes', 0]`. */
  readonly field: FieldPath;
  /** Lower case, no full stop, without the field's name and without what was found. */
  readonly message: string;
  readonly found?: string;
  readonly remedy?: string;
}

/** The signatures that exclusions of waf rules are about. */
export interface LintSignatures {
  /** What the set calls itself. */
  readonly name: string;
  hasId(id: number): boolean;
  hasTag(tag: string): boolean;
}

export interface LintContext {
  readonly ruleSet: RuleSet;
  readonly zone: Zone;
  /** Enabled rules, in the order of the rule set. */
  readonly live: readonly Rule[];
  /** The live rules by their path filter and by their host filter. */
  readonly paths: FilterIndex;
  readonly hosts: FilterIndex;
  /** Whether the customer wrote the field down; `false` where that is not known. */
  readonly written: (rule: Rule, field: string) => boolean;
  /** `null`: not known, so exclusions are not judged. */
  readonly signatures: LintSignatures | null;
}

/** One family of lint rules. It reads, and says what it finds in any order. */
export type LintFamily = (context: LintContext) => readonly Finding[];
