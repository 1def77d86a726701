/** Follows redirects from rule to rule, with the requests that reach them, and reports those that lead round in a circle. */

import type { Reach } from './reach.ts';
import { requestOf, type Witness } from './space/witness.ts';
import type { Subject, SubjectRule } from './subject.ts';

/** Redirects that are followed from one request; browsers give up after 20. */
const MAX_HOPS = 20;

/**
 * Circles of two or more rules: each leads to a URL that the next one matches, and the last to the first. Every circle was
 * walked with the evaluator; circles that start with other requests than the witnesses may exist. Each starts with its first rule.
 */
export function findCircles(
  subject: Subject,
  reaches: readonly Reach[],
): readonly (readonly SubjectRule[])[] {
  const circles = new Map<string, readonly SubjectRule[]>();
  for (const { rule, result } of reaches) {
    if (rule.type !== 'redirect' || rule.isDryRun || result.kind !== 'reached') continue;
    const circle = circleFrom(subject, result.witness);
    if (circle === null || new Set(circle).size < 2) continue;
    const first = circle.reduce((lowest, one) => (one.slot < lowest.slot ? one : lowest));
    const place = circle.indexOf(first);
    const turned = [...circle.slice(place), ...circle.slice(0, place)];
    circles.set(turned.map(({ slot }) => slot).join(' '), turned);
  }
  return [...circles.values()];
}

/** The rules of the circle that a request gets into; `null`: it arrives somewhere. */
function circleFrom(subject: Subject, start: Witness): readonly SubjectRule[] | null {
  const visited = new Map<string, number>();
  const rules: SubjectRule[] = [];
  let witness = start;
  for (let hop = 0; hop < MAX_HOPS; hop++) {
    const known = visited.get(witness.url);
    if (known !== undefined) return rules.slice(known);
    visited.set(witness.url, hop);
    const { action, location, rule } = subject.evaluator.evaluate(requestOf(witness, subject.moment()));
    if (action !== 'redirect' || location === null) return null;
    const owner = subject.rules.find(({ ref }) => ref.type === rule?.type && ref.id === rule.id);
    if (owner === undefined) return null;
    rules.push(owner);
    const url = locationFrom(witness.url, location);
    if (url === null) return null;
    witness = { ...witness, method: 'GET', url };
  }
  return null;
}

/** The absolute URL of a location, without its fragment; `null`: it is no URL. */
function locationFrom(base: string, location: string): string | null {
  const bare = location.split('#', 1)[0]!;
  if (!bare.startsWith('/')) {
    const start = bare.indexOf('://') + 3;
    return bare.includes('/', start) ? bare : bare.replace(/^([^?]*)/, '$1/');
  }
  const host = base.indexOf('/', base.indexOf('://') + 3);
  return host < 0 ? null : `${base.slice(0, host)}${bare}`;
}
