/**
 * What lies between directives and the program: rules with names resolved and actions understood, patterns still text
 * and markers still names. `lower.ts` makes drafts, `specialise.ts` decides what is constant in them, `emit.ts` puts
 * them into the program's tables.
 */
import type {
  SignatureRule,
  WafCondition,
  WafControl,
  WafOperator,
  WafSetVar,
  WafText,
  WafTransformation,
  WafVariable,
} from '../../plan/signature-program.ts';
import type { DirectivePlace } from './directives.ts';
import type { SecLangFinding } from './source.ts';

/**
 * A variable that is empty for every request: a collection kept between requests (nothing is), a part of the response
 * (rules run before there is one). `&IP:x "@eq 0"` then holds and everything else about it does not.
 */
export const NOTHING = 'NOTHING';

export type DraftSelector =
  | { readonly kind: 'all' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'pattern'; readonly source: string };

export interface DraftTarget {
  readonly variable: WafVariable | typeof NOTHING;
  readonly selector: DraftSelector;
}

export interface DraftTargets {
  readonly include: readonly (DraftTarget & { readonly count: boolean })[];
  readonly exclude: readonly DraftTarget[];
}

export type DraftOperator =
  | Exclude<WafOperator, { readonly kind: 'rx' | 'pm' }>
  /** A pattern in PCRE syntax; its macros must be known before it can be compiled. */
  | { readonly kind: 'rx'; readonly text: WafText }
  | { readonly kind: 'pm'; readonly phrases: readonly string[] };

export interface IdRange {
  readonly from: number;
  readonly to: number;
}

export type DraftControl =
  | { readonly kind: 'ruleRemoveById'; readonly ranges: readonly IdRange[] }
  | { readonly kind: 'ruleRemoveByTag'; readonly source: string }
  | {
      readonly kind: 'ruleRemoveTargetById';
      readonly ranges: readonly IdRange[];
      readonly target: DraftTarget;
    }
  | { readonly kind: 'ruleRemoveTargetByTag'; readonly source: string; readonly target: DraftTarget }
  | Extract<
      WafControl,
      { readonly kind: 'forceRequestBodyVariable' | 'requestBodyProcessor' | 'ruleEngine' }
    >;

export interface DraftCondition extends Pick<WafCondition, 'negated' | 'capture' | 'multiMatch'> {
  readonly place: DirectivePlace;
  /** `null`: a SecAction. */
  readonly targets: DraftTargets | null;
  readonly chain: readonly WafTransformation[];
  readonly operator: DraftOperator;
  readonly setVars: readonly WafSetVar[];
  readonly controls: readonly DraftControl[];
  /** What cannot be compiled; an error only where the rule can be reached at all. */
  readonly unsupported: readonly SecLangFinding[];
}

export interface DraftRule
  extends Pick<
    SignatureRule,
    'id' | 'phase' | 'disruption' | 'reported' | 'severity' | 'tags' | 'category' | 'paranoia'
  > {
  readonly place: DirectivePlace;
  /** Its place among all directives, which markers have too. */
  readonly order: number;
  readonly conditions: readonly [DraftCondition, ...DraftCondition[]];
  /** The marker that a match goes on behind. */
  readonly skipAfter: string | null;
  readonly message: WafText;
  readonly logData: WafText;
}

export interface SignatureDraft {
  /** What the text calls itself; `null`: nothing. */
  readonly name: string | null;
  /** Phase 1 and 2 in file order. */
  readonly rules: readonly DraftRule[];
  /** Marker → its places among the directives, ascending. */
  readonly markers: ReadonlyMap<string, readonly number[]>;
  /** Rules of phases 3, 4 and 5, which look at responses and logs. */
  readonly responseRules: number;
}
