/** Finds bot kinds that no request is ever classified as. */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { Finding, LintContext } from './finding.ts';

/**
 * Finds `google-extended`, which is a token for robots.txt: Google crawls with its ordinary User-Agents
 * (developers.google.com/search/docs/crawling-indexing/google-common-crawlers).
 */
export function lintBots({ enabled }: LintContext): readonly Finding[] {
  return enabled.flatMap((rule) => {
    if (rule.type !== 'bot_route') return [];
    const index = rule.bot_kinds.indexOf('google-extended');
    if (index < 0) return [];
    const alone = rule.bot_kinds.length === 1;
    const message = `has no User-Agent of its own, so no visitor is recognised as it${alone ? ' and the rule never acts' : ''}`;
    const remedy = 'write it in robots.txt; the crawler that visits is `googlebot`';
    const at = { rule, field: ['bot_kinds', index], found: quoteValue('google-extended') };
    return [{ ...at, code: 'google_extended', severity: 'warning', message, remedy }];
  });
}
