/** Which of a waf rule's exclusions hold for a request. */
import { WAF_EXCLUSION, WAF_FIELDS } from '../plan/fields.ts';
import { NONE } from '../plan/layout.ts';
import type { InspectionExclusion } from '../waf/request/inspection.ts';
import type { Facts } from './facts.ts';
import { type LoadedPlan, textOf } from './loaded.ts';
import { patternMatches } from './patterns.ts';

const NOTHING: readonly InspectionExclusion[] = [];

/**
 * The exclusions of the rule whose fields start at `fields`, as far as their path matches. A path with `;params` must
 * match with and without them, as for an exclude entry (semantics §1.1): parameters never widen an exclusion.
 */
export function exclusionsFor(
  loaded: LoadedPlan,
  fields: number,
  facts: Facts,
): readonly InspectionExclusion[] {
  const { words } = loaded.plan;
  const at = words[fields + WAF_FIELDS.exclusions]!;
  const count = words[at]!;
  if (count === 0) return NOTHING;
  const held: InspectionExclusion[] = [];
  for (let row = at + 1; row < at + 1 + count * WAF_EXCLUSION.size; row += WAF_EXCLUSION.size) {
    const path = words[row + WAF_EXCLUSION.path]!;
    if (!patternMatches(loaded, path, facts.path)) continue;
    if (facts.pathWithoutParameters !== null && !patternMatches(loaded, path, facts.pathWithoutParameters))
      continue;
    const id = words[row + WAF_EXCLUSION.id]!;
    held.push({
      id: id === NONE ? null : id,
      tag: textOf(loaded, words[row + WAF_EXCLUSION.tag]!) || null,
      target: textOf(loaded, words[row + WAF_EXCLUSION.target]!) || null,
    });
  }
  return held;
}
