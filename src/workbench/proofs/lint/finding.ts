/** The input and output of a lint family. */
import type { DiagnosticCode } from '../../../base/diagnostics/codes/codes.ts';
import type { FieldPath } from '../../../base/diagnostics/diagnostic.ts';
import type { Severity } from '../../../base/diagnostics/severity.ts';
import type { Rule, RuleSet } from '../../../rules/model/types.ts';
import type { SubjectSpace } from '../situations.ts';
import type { Subject, SubjectRule } from '../subject.ts';
import type { FilterIndex } from './filter-index.ts';
import type { Zone } from './zone.ts';

/** A finding about one field of one rule. */
export interface Finding {
  /** Stable across releases. */
  readonly code: DiagnosticCode;
  /**
   * `error`: the rule can never take effect as written. `warning`: it very likely does something else than
   * intended. `info`: it works as intended, and a shorter form exists.
   */
  readonly severity: Severity;
  readonly rule: Rule;
  /** Within the rule: `['path_includes', 0]`. */
  readonly field: FieldPath;
  /** Lower case, no full stop, without the field's name and the found value. */
  readonly message: string;
  /** The offending value, quoted. */
  readonly found?: string;
  /** What to write instead. */
  readonly remedy?: string;
}

/** The signatures that exclusions of waf rules refer to. */
export interface LintSignatures {
  /** The name of the set, such as `OWASP_CRS/4.28.0`. */
  readonly name: string;
  /** Whether the set has a signature of this id. */
  hasId(id: number): boolean;
  /** Whether a signature of the set has this tag. */
  hasTag(tag: string): boolean;
}

/** What every family reads; computed once per run. */
export interface LintContext {
  readonly ruleSet: RuleSet;
  /** The hosts that the proxied records serve. */
  readonly zone: Zone;
  /** Enabled rules, in the order of the rule set. */
  readonly enabled: readonly Rule[];
  /** The enabled rules indexed by path filter. */
  readonly paths: FilterIndex;
  /** The enabled rules indexed by host filter. */
  readonly hosts: FilterIndex;
  /** Whether the customer wrote the field; `false` if that is unknown. */
  readonly written: (rule: Rule, field: string) => boolean;
  /** `null`: unknown, so exclusions are not checked; `none`: waf rules inspect with no signatures. */
  readonly signatures: LintSignatures | 'none' | null;
}

/** A family of lint rules: a function that returns findings in any order. */
export type LintFamily = (context: LintContext) => readonly Finding[];

/** What the families of proofs read. */
export interface ProofContext {
  readonly subject: Subject;
  /** `null`: host filters are too complex for proofs. */
  readonly around: SubjectSpace | null;
  /** The rule of the rule set that a rule of the plan is. */
  ruleOf(rule: SubjectRule): Rule;
  /** Findings of the families without proofs. */
  readonly found: readonly Finding[];
}
