/**
 * Recommends changes of a domain. In: stored facts. Out: recommendations, the most severe first, each with its evidence and,
 * where a change of rules or records helps, that change. The list of families is below; each is a pure function of the facts,
 * in a file of its own. Facts are read by `read-facts.ts` and `read-entries.ts`; a recommendation disappears with its facts.
 */
import type { Severity } from '../../base/diagnostics/severity.ts';
import { cacheKey } from './cache-key.ts';
import { certificates } from './certificates.ts';
import { dryRun } from './dry-run.ts';
import { exposedOrigins } from './exposed-origins.ts';
import { findings } from './findings.ts';
import { expiringKeys } from './keys.ts';
import { redirectCircles } from './redirect-circles.ts';
import type { DraftRecommendation } from './shapes.ts';
import type { StoredFacts } from './stored-facts.ts';
import { unusedRules } from './unused-rules.ts';
import { wafExclusions } from './waf-exclusions.ts';

/** Every family, in the order in which recommendations of one severity are listed. */
const FAMILIES: readonly ((facts: StoredFacts) => readonly DraftRecommendation[])[] = [
  certificates,
  expiringKeys,
  exposedOrigins,
  findings,
  redirectCircles,
  wafExclusions,
  dryRun,
  unusedRules,
  cacheKey,
];

const SEVERITIES: readonly Severity[] = ['error', 'warning', 'info'];

/** All recommendations: by severity, then by family. The same facts give the same list. */
export function recommend(facts: StoredFacts): readonly DraftRecommendation[] {
  const drafts = FAMILIES.flatMap((family) => family(facts));
  return SEVERITIES.flatMap((severity) => drafts.filter((draft) => draft.severity === severity));
}
