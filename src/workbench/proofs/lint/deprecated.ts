/** Finds fields that the API document calls deprecated or ignored. */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../../rules/model/types.ts';
import type { Finding, LintContext } from './finding.ts';

/** Finds deprecated fields of every rule, disabled rules included, and `action_mode` on cache rules. */
export function lintDeprecated({ ruleSet, written }: LintContext): readonly Finding[] {
  return ruleSet.rules.flatMap((rule) => [
    ...recordId(rule, written),
    ...hostPattern(rule),
    ...cacheMode(rule, written),
  ]);
}

/** `record_id`, replaced by `record_ids`. */
function recordId(rule: Rule, written: LintContext['written']): readonly Finding[] {
  if (!written(rule, 'record_id')) return [];
  const message = 'is deprecated';
  const remedy = `write \`record_ids: [${rule.record_ids.join(', ')}]\``;
  return [{ code: 'deprecated_field', severity: 'warning', rule, field: ['record_id'], message, remedy }];
}

/** `host_pattern`, replaced by `host_includes`. */
function hostPattern(rule: Rule): readonly Finding[] {
  if (rule.host_pattern === '') return [];
  const at = { rule, field: ['host_pattern'], found: quoteValue(rule.host_pattern) };
  const remedy = `add \`${rule.host_pattern}\` to \`host_includes\``;
  return [{ ...at, code: 'deprecated_field', severity: 'warning', message: 'is deprecated', remedy }];
}

/**
 * `action_mode` on a cache rule, which the evaluator ignores; `dry_run` is a warning, since the rule is enforced.
 */
function cacheMode(rule: Rule, written: LintContext['written']): readonly Finding[] {
  if (rule.type !== 'cache') return [];
  const isDryRun = rule.action_mode === 'dry_run';
  if (!isDryRun && !written(rule, 'action_mode')) return [];
  const message = isDryRun ? 'is ignored by cache rules: this one is enforced' : 'is ignored by cache rules';
  const remedy = isDryRun
    ? 'set `enabled` to false to keep it from acting, or remove the field'
    : 'remove the field';
  const at = { rule, field: ['action_mode'], found: quoteValue(rule.action_mode) };
  return [{ ...at, code: 'action_mode_on_cache', severity: isDryRun ? 'warning' : 'info', message, remedy }];
}
