/**
 * What SecLang text says, as written: one entry a directive, nothing resolved. `parse.ts` makes these, `lower.ts` reads
 * them. Names keep their case as written; ModSecurity compares directive, action, operator and variable names without it.
 */

/** Where a directive stands; lines count from 1, a directive continued with `\` has the line it starts on. */
export interface DirectivePlace {
  readonly file: string;
  readonly line: number;
}

/** One of a rule's targets: `!ARGS:/^id/`, `&TX:blocking_paranoia_level`, `XML:/*`. */
export interface WrittenTarget {
  readonly excluded: boolean;
  readonly counted: boolean;
  readonly variable: string;
  /** What stands after the colon; a pattern without its slashes. `null`: nothing does. */
  readonly selector: { readonly kind: 'name' | 'pattern'; readonly text: string } | null;
}

/** `"!@pmFromFile lfi-os-files.data"`; an operator left out is `rx`. */
export interface WrittenOperator {
  readonly negated: boolean;
  readonly name: string;
  readonly argument: string;
}

/** `setvar:'tx.score=+5'`: name and value, quotes taken off; `null` where an action has no value. */
export interface WrittenAction {
  readonly name: string;
  readonly value: string | null;
}

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
