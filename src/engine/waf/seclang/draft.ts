/**
 * The shapes between the stages of the compiler: directives as written, then draft rules. `compile.ts` makes drafts, in
 * which names are resolved, actions interpreted, patterns still text and markers still names; `specialise.ts` evaluates
 * what is constant in them, `emit.ts` writes them to the tables of the program.
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
import type { SecLangFinding } from './source.ts';

/**
 * The variable of a target that is empty for every request: a collection with state between requests, which does not
 * exist, or a part of the response, which does not exist yet. `&IP:x "@eq 0"` matches; nothing else on it does.
 */
export const ALWAYS_EMPTY = 'ALWAYS_EMPTY';

/** The members that a target selects, by name or by pattern. */
export type DraftSelector =
  | { readonly kind: 'all' }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'pattern'; readonly source: string };

/** A target of a rule. */
export interface DraftTarget {
  readonly variable: WafVariable | typeof ALWAYS_EMPTY;
  readonly selector: DraftSelector;
}

/** The targets of a condition; `count`: the number of members is inspected. */
export interface DraftTargets {
  /** The members to inspect. */
  readonly include: readonly (DraftTarget & { readonly count: boolean })[];
  /** The members to leave out (`!ARGS:id`). */
  readonly exclude: readonly DraftTarget[];
}

/** An operator with its argument. */
export type DraftOperator =
  | Exclude<WafOperator, { readonly kind: 'rx' | 'pm' }>
  /** A pattern in PCRE syntax; its macros must be known before it can be compiled. */
  | { readonly kind: 'rx'; readonly text: WafText }
  /** Phrases in lower case, sorted, without duplicates. */
  | { readonly kind: 'pm'; readonly phrases: readonly string[] };

/** Ids of rules from `from` to `to`, both included. */
export interface IdRange {
  readonly from: number;
  readonly to: number;
}

/** A `ctl` action. */
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
      {
        readonly kind:
          | 'decodeRequestBody'
          | 'forceRequestBodyVariable'
          | 'requestBodyProcessor'
          | 'ruleEngine';
      }
    >;

/** One condition of a rule, with its actions. */
export interface DraftCondition extends Pick<WafCondition, 'negated' | 'capture' | 'multiMatch'> {
  readonly place: DirectivePlace;
  /** `null`: a SecAction. */
  readonly targets: DraftTargets | null;
  /** The transformations, in order. */
  readonly chain: readonly WafTransformation[];
  /** A `noMatch` in place of an operator with an error. */
  readonly operator: DraftOperator;
  /** The assignments after each match. */
  readonly setVars: readonly WafSetVar[];
  /** The controls after each match. */
  readonly controls: readonly DraftControl[];
  /** What cannot be compiled: an error only if the rule remains in the program at some level. */
  readonly unsupported: readonly SecLangFinding[];
}

/** A rule; a chain is one rule with several conditions. */
export interface DraftRule
  extends Pick<
    SignatureRule,
    'id' | 'phase' | 'disruption' | 'reported' | 'severity' | 'tags' | 'category' | 'paranoia'
  > {
  /** The place of the first directive. */
  readonly place: DirectivePlace;
  /** Its place among all directives; markers have such places too. */
  readonly order: number;
  /** The conditions of the chain, in order. */
  readonly conditions: readonly [DraftCondition, ...DraftCondition[]];
  /** The marker at which processing continues after a match; `null`: none. */
  readonly skipAfter: string | null;
  /** Collections with state between requests that a condition reads; they are always empty. */
  readonly readsState: readonly string[];
  /** `msg`, shown in reports. */
  readonly message: WafText;
  /** `logdata` of the last condition with one. */
  readonly logData: WafText;
}

/** The draft of a text. */
export interface SignatureDraft {
  /** The text's `SecComponentSignature`; `null`: it has none. */
  readonly name: string | null;
  /** The rules of phases 1 and 2, in the order of the files. */
  readonly rules: readonly DraftRule[];
  /** By marker, its places among the directives, ascending. */
  readonly markers: ReadonlyMap<string, readonly number[]>;
  /** The number of rules of phases 3, 4 and 5, which inspect responses and logs. */
  readonly responseRules: number;
}

// Directives as written: the output of `parse.ts` and the input of `compile.ts`. Nothing is resolved. Names have the
// case of the text; ModSecurity compares names of directives, actions, operators and variables without case.

/** The place of a directive. Lines count from 1; a directive that continues over several lines has the first one. */
export interface DirectivePlace {
  readonly file: string;
  readonly line: number;
}

/** A target: `!ARGS:/^id/`, `&TX:blocking_paranoia_level`, `XML:/*`. */
export interface WrittenTarget {
  /** `!`: members of the target are not inspected. */
  readonly excluded: boolean;
  /** `&`: the number of members is inspected. */
  readonly counted: boolean;
  /** The text before the colon. */
  readonly variable: string;
  /** The text after the colon, a pattern without its slashes; `null`: there is no colon. */
  readonly selector: { readonly kind: 'name' | 'pattern'; readonly text: string } | null;
}

/** An operator: `!@pmFromFile lfi-os-files.data`; without `@name` it is `rx`. */
export interface WrittenOperator {
  /** `!`: the condition matches if the operator does not match. */
  readonly negated: boolean;
  readonly name: string;
  /** The text after the name, not trimmed at its end. */
  readonly argument: string;
}

/** An action: `setvar:'tx.score=+5'`, its value without quotes; `null`: it has no value. */
export interface WrittenAction {
  readonly name: string;
  readonly value: string | null;
}

/** A directive, by kind. */
export type Directive =
  | {
      readonly kind: 'rule';
      readonly place: DirectivePlace;
      readonly targets: readonly WrittenTarget[];
      readonly operator: WrittenOperator;
      readonly actions: readonly WrittenAction[];
    }
  | { readonly kind: 'action'; readonly place: DirectivePlace; readonly actions: readonly WrittenAction[] }
  | { readonly kind: 'marker'; readonly place: DirectivePlace; readonly name: string }
  | {
      readonly kind: 'default-action';
      readonly place: DirectivePlace;
      readonly actions: readonly WrittenAction[];
    }
  /** `SecRuleUpdateTargetById`, `…ByTag`, `…ByMsg`. */
  | {
      readonly kind: 'update-targets';
      readonly place: DirectivePlace;
      readonly by: 'id' | 'tag' | 'msg';
      readonly subject: string;
      readonly targets: readonly WrittenTarget[];
    }
  /** `SecRuleUpdateActionById`. */
  | {
      readonly kind: 'update-actions';
      readonly place: DirectivePlace;
      readonly subject: string;
      readonly actions: readonly WrittenAction[];
    }
  /** `SecRuleRemoveById`, `…ByTag`, `…ByMsg`. */
  | {
      readonly kind: 'remove';
      readonly place: DirectivePlace;
      readonly by: 'id' | 'tag' | 'msg';
      readonly subjects: readonly string[];
    }
  /** Any other `Sec…` directive with its arguments: `SecComponentSignature`, `SecCollectionTimeout`, `SecRuleEngine`. */
  | {
      readonly kind: 'setting';
      readonly place: DirectivePlace;
      readonly name: string;
      readonly values: readonly string[];
    };
