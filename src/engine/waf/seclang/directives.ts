/**
 * Directives as written: the output of `parse.ts` and the input of `compile.ts`. Nothing is resolved. Names have the
 * case of the text; ModSecurity compares names of directives, actions, operators and variables without case.
 */

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
