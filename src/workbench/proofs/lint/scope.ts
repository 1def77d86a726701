/**
 * Finds rules that no request reaches: unproxied records in their scope, or no served host left by scope and host
 * filter.
 */
import type { Rule } from '../../../rules/model/types.ts';
import type { Finding, LintContext } from './finding.ts';
import { inScope, mayAdmit } from './zone.ts';

/** Checks the record scope of every enabled rule. */
export function lintScope(context: LintContext): readonly Finding[] {
  return context.enabled.flatMap((rule) => {
    const records = checkRecords(rule, context);
    return inScope(context.zone, rule).length === 0 && records.length > 0
      ? records
      : [...records, ...checkHosts(rule, context)];
  });
}

/** Ids in the scope that are not proxied records. An error when no record is left, else a warning. */
function checkRecords(rule: Rule, { ruleSet, zone }: LintContext): readonly Finding[] {
  const isUnreachable = inScope(zone, rule).length === 0;
  const severity = isUnreachable ? 'error' : 'warning';
  const effect = isUnreachable ? 'the rule never acts' : 'the rule does not act there';
  return rule.record_ids.flatMap((id, index): readonly Finding[] => {
    const record = ruleSet.records.find((candidate) => candidate.id === id);
    const at = { rule, field: ['record_ids', index], severity, found: String(id) } as const;
    if (record === undefined) {
      const message = `is no record of this domain, so ${effect}`;
      return [{ ...at, code: 'unknown_record', message, remedy: 'remove the id, or add the record' }];
    }
    if (record.proxied) return [];
    const message = `is the record \`${record.name}\` (${record.type}), which is not proxied, so ${effect}`;
    const remedy = 'proxy the record, or remove it from the list';
    return [{ ...at, code: 'unproxied_record', message, remedy }];
  });
}

/** A scope and host filter that leave no served host. */
function checkHosts(rule: Rule, { zone }: LintContext): readonly Finding[] {
  const scoped = inScope(zone, rule);
  if (scoped.length === 0) {
    const message = 'leaves the rule no host: no record of this domain is proxied';
    return [
      {
        code: 'empty_scope',
        severity: 'error',
        rule,
        field: ['record_ids'],
        message,
        remedy: 'proxy a record',
      },
    ];
  }
  if (scoped.some((served) => mayAdmit(rule, served))) return [];
  const field = rule.host_includes.length > 0 || rule.host_pattern === '' ? 'host_includes' : 'host_pattern';
  const hosts = scoped.slice(0, 3).map(({ name, wildcard }) => `\`${wildcard ? '*.' : ''}${name}\``);
  const more = scoped.length > hosts.length ? ` and ${scoped.length - hosts.length} more` : '';
  const message = `leaves the rule no host: its records serve ${hosts.join(', ')}${more}`;
  const remedy = 'list a host that is served, or widen `record_ids`';
  return [{ code: 'empty_scope', severity: 'error', rule, field: [field], message, remedy }];
}
