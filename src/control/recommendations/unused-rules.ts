/**
 * Rules that no request has matched in 30 days. In: stored rules and the counts of those days. Out: a recommendation for each
 * enabled rule that has existed unchanged for all of them. Under dry_run a would-have is a match, and a match that another
 * rule outdid is one too. An error page is judged only if there were responses that it could have replaced.
 *
 * Nothing is claimed while the domain has too little traffic, or if some matches were beyond the bounds of counting.
 */
import { timeText } from '../../base/text/time.ts';
import { ruleAbout } from '../traffic/show-hits.ts';
import { UNUSED_DAYS, UNUSED_PAGE_RESPONSES, UNUSED_REQUESTS, UNUSED_TRAFFIC_DAYS } from './limits.ts';
import type { DraftRecommendation } from './shapes.ts';
import { type CountedPeriod, type RuleFact, ruleName, type StoredFacts } from './stored-facts.ts';

/** The family. */
export function unusedRules({ rules, month, findings }: StoredFacts): readonly DraftRecommendation[] {
  if (month === null || !hasEnoughTraffic(month)) return [];
  // Lint says why these rules match nothing, which is the better advice.
  const inert = new Set(findings.flatMap(({ severity, path }) => (severity === 'error' ? [path[1]] : [])));
  return rules
    .filter((fact, index) => !inert.has(index) && isUnused(fact, month))
    .map((fact) => describe(fact, month));
}

/** Whether traffic began with the period, was there on most days, and every match was counted. */
export function hasEnoughTraffic({ requests, trafficDays, firstDay, from, sums }: CountedPeriod): boolean {
  const isWhole = firstDay !== null && firstDay <= from + DAY_MS;
  return (
    isWhole && trafficDays >= UNUSED_TRAFFIC_DAYS && requests >= UNUSED_REQUESTS && sums.uncounted.hits === 0
  );
}

const DAY_MS = 86_400_000;

function isUnused({ rule, updatedAt }: RuleFact, { from, sums, statuses }: CountedPeriod): boolean {
  if (!rule.enabled || updatedAt > from) return false;
  if ((sums.rules.get(ruleName(rule))?.hits ?? 0) > 0) return false;
  if (rule.type !== 'error_page') return true;
  const replaceable = rule.codes.reduce((sum, code) => sum + (statuses.get(String(code)) ?? 0), 0);
  return replaceable >= UNUSED_PAGE_RESPONSES;
}

function describe({ rule, updatedAt }: RuleFact, period: CountedPeriod): DraftRecommendation {
  const name = ruleName(rule);
  const about = ruleAbout(rule as unknown as Readonly<Record<string, unknown>>);
  const filters = about === '' ? '' : ` (${about})`;
  return {
    kind: 'unused_rule',
    subject: name,
    severity: 'info',
    message: `rule \`${name}\`${filters} has matched no request in ${UNUSED_DAYS} days; disable it unless it waits for something rare`,
    evidence: {
      rule: name,
      unchanged_since: timeText(updatedAt),
      from: timeText(period.from),
      to: timeText(period.to),
      traffic_days: period.trafficDays,
      requests: period.requests,
      hits: 0,
    },
    change: { summary: `disables rule ${name}`, rules: [{ ...rule, enabled: false }] },
  };
}
