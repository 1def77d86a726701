/** Converts a rule set to the rows of the store, as the publisher reads them. */
import type { DomainRows } from '../../../../src/control/publishing/make-plan.ts';
import type { RuleRow } from '../../../../src/control/store/tables/rules.ts';
import type { Rule, RuleSet } from '../../../../src/rules/model/types.ts';
import { activeDomain } from '../../../support/sample-rows.ts';

/** The columns of a rule's row; the HTML of an error page is stored separately. */
export function ruleParts(
  rule: Rule,
): Pick<RuleRow, 'type' | 'priority' | 'body'> & { content: string | null } {
  const { id: _, type, priority, ...fields } = rule;
  if (!('content' in fields)) return { type, priority, body: JSON.stringify(fields), content: null };
  const { content, ...rest } = fields;
  return { type, priority, body: JSON.stringify(rest), content: JSON.stringify(content) };
}

/** The rows that the publisher reads for a rule set; the domain has the id 7. */
export function toRows({ domain, records, rules }: RuleSet): DomainRows {
  const { websockets_off: _, developer_mode_until: __, ...settings } = domain;
  const times = { created_at: 1_000, updated_at: 2_000 };
  const until = domain.developer_mode_until;
  return {
    websocketsOff: domain.websockets_off,
    domain: {
      id: 7,
      publish_mode: 'automatic',
      ...activeDomain(domain.name, 1, {
        ...settings,
        status: domain.status,
        suspended: domain.suspended,
        developer_mode_until: until === null ? null : Date.parse(until),
      }),
    },
    records: records.map((record) => ({ ...record, ...times, domain_id: 7 })),
    rules: rules.map((rule) => {
      const { type, priority, body } = ruleParts(rule);
      return { id: rule.id, domain_id: 7, type, priority, body, ...times };
    }),
    contents: rules.flatMap((rule) => {
      const { content } = ruleParts(rule);
      return content === null ? [] : [{ rule_id: rule.id, content }];
    }),
  };
}
