/** Which error page a status gets (semantics §4 phase 11, §5 error_page); conditions are those of the request (§12). */
import type { ErrorPageRule } from '../../src/rules/model/types.ts';
import { keyOf, matching, taggedRun, type World } from './decide.ts';
import type { Facts } from './facts.ts';
import type { ErrorPage, ErrorPageAnswer, Match, RuleRef } from './types.ts';

/** The answer where no rule covers the request. */
export const NO_PAGE: ErrorPageAnswer = { page: null, matches: [], shadow: null };

interface Asked {
  readonly status: number;
  readonly madeBy: 'edge' | 'origin';
}

function pageOf(rule: ErrorPageRule, ref: RuleRef, { status, madeBy }: Asked): ErrorPage {
  const html = rule.content[String(status)] ?? rule.content['0'] ?? null;
  if (rule.mode === 'custom' && html !== null) return { kind: 'custom', html, rule: ref };
  if (rule.mode === 'origin' && madeBy === 'origin') return { kind: 'origin', html: null, rule: ref };
  return { kind: 'svc', html: null, rule: ref };
}

/** Walks the error_page rules for an answer with this status; `madeBy` says whose status it is. */
export function findErrorPage(world: World, facts: Facts, asked: Asked): ErrorPageAnswer {
  const { status } = asked;
  if (!(status >= 400 && status <= 599)) return NO_PAGE;
  const walk = (shadow: boolean): ErrorPageAnswer => {
    const matches: Match[] = [];
    for (const rule of matching(taggedRun(world, facts, shadow), 'error_page')) {
      if (!rule.codes.includes(status)) continue;
      const ref = { type: rule.type, id: rule.id, ...keyOf(world, rule) };
      matches.push({ ...ref, mode: rule.action_mode, effect: 'error_page' });
      if (shadow || rule.action_mode === 'enforce') {
        return { page: pageOf(rule, ref, asked), matches, shadow: null };
      }
    }
    return { page: null, matches, shadow: null };
  };
  const real = walk(false);
  return real.matches.some((match) => match.mode === 'dry_run') ? { ...real, shadow: walk(true) } : real;
}
