/**
 * Redirects of several rules that lead visitors round in a circle. In: rules and records. Out: a recommendation for the first
 * rule of each circle, with a URL for every step of it. Circles are walked with the evaluator,
 * in a bounded number of requests: the proofs about all rules are left to `…/analysis`. Which of the rules is wrong is not
 * known, so no change is proposed.
 */
import { type Circle, likelyCircles } from '../../workbench/proofs/circles.ts';
import type { DraftRecommendation } from './shapes.ts';
import { ruleName, type StoredFacts } from './stored-facts.ts';

/** The family. */
export function redirectCircles({ domain, records, rules }: StoredFacts): readonly DraftRecommendation[] {
  const circles = likelyCircles({ domain, records, rules: rules.map(({ rule }) => rule) });
  // Another circle of the same first rule follows when this one is gone.
  const byFirst = new Map([...circles].reverse().map((circle) => [circle.rules[0], circle]));
  return circles.filter((circle) => byFirst.get(circle.rules[0]) === circle).map(describe);
}

function describe({ rules, urls }: Circle): DraftRecommendation {
  const names = rules.map(({ type, ref: { id } }) => ruleName({ type, id }));
  const [first = ''] = names;
  const way = [...names, first].map((name) => `\`${name}\``).join(' → ');
  return {
    kind: 'redirect_circle',
    subject: first,
    severity: 'error',
    message: `redirects lead visitors of \`${urls[0]}\` round in a circle: ${way}; let one of these rules lead elsewhere, or exclude the path that it leads to`,
    evidence: { rules: [...names], urls: [...urls] },
    change: null,
  };
}
