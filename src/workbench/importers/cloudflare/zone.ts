/** The state of one import from Cloudflare. */
import type { DraftEntry, ImportDraft } from '../draft.ts';
import type { ImportedCondition, ImportedFilter } from '../filter.ts';
import type { SourceFields } from '../json-source.ts';
import { literalOf, type TextTest } from '../text-test.ts';
import type { AccountLists } from './account-lists.ts';
import { parseExpression } from './parse-expression.ts';
import { readCondition } from './read-condition.ts';

/** A rule with its entry. */
export interface CloudflareRule {
  readonly phase: string;
  readonly rule: SourceFields;
  readonly entry: DraftEntry;
}

/** A rule that changes what later phases see. */
export interface EarlierPhase {
  readonly filter: ImportedFilter;
  readonly place: string;
  /** The path after a rewrite; `null`: unknown, or the rule rewrites no path. */
  readonly target?: TextTest | null;
}

/** The state. */
export interface CloudflareImport {
  readonly draft: ImportDraft;
  readonly lists: AccountLists;
  /** Single redirects, which Cloudflare evaluates before all other rules. */
  readonly redirects: EarlierPhase[];
  /** Rewrites of the path, after which other rules see the new path. */
  readonly rewrites: EarlierPhase[];
  readonly challenges: EarlierPhase[];
  /** Conditions under which later rules of a phase do not run, with the phases; `null`: the condition has no equivalent. */
  readonly skips: {
    readonly condition: ImportedCondition | null;
    readonly phases: readonly string[];
    readonly place: string;
  }[];
  /** The name of the zone: that of `--domain`, or as DNS records say it; `null`: unknown. */
  zone: string | null;
}

/** The hosts that an expression names exactly. */
export function literalHosts(text: string): readonly string[] {
  const parsed = parseExpression(text);
  if (!parsed.ok) return [];
  const hosts: string[] = [];
  const visit = (condition: ImportedCondition): void => {
    if (condition.kind === 'all' || condition.kind === 'any') for (const one of condition.of) visit(one);
    else if (condition.kind === 'not') visit(condition.of);
    else if (condition.kind === 'host') {
      for (const test of condition.tests) {
        const host = literalOf(test);
        if (host !== null) hosts.push(host);
      }
    }
  };
  visit(readCondition(parsed.value).condition);
  return hosts;
}
