/** Rule sets of the bench are written as customers write them and come in through the model's own door. */
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import type { EntryList, RuleSet } from '../../src/rules/model/types.ts';

/** A rule in the API's field names, without an id; what is left out has its default. */
export type WrittenRule = Readonly<Record<string, unknown>> & { readonly type: string };

export interface Written {
  readonly domain: string;
  /** Names of proxied records; `@` is the apex. */
  readonly records: readonly string[];
  readonly rules: readonly WrittenRule[];
  /** Lists that the rules may name. Default: none. */
  readonly lists?: readonly EntryList[];
  /** Consumers, usage plans and token issuers that gateways refer to. Default: none. */
  readonly registry?: Readonly<Record<string, readonly object[]>>;
}

/** Numbers the rules in their order, from 1, and reads the whole. */
export function ruleSetOf(written: Written): RuleSet {
  const { lists = [], registry } = written;
  const input = {
    domain: { name: written.domain, status: 'active' },
    records: written.records.map((name, index) => ({
      id: index + 1,
      name,
      type: 'A',
      destination: `192.0.2.${(index % 250) + 1}`,
      proxied: true,
    })),
    rules: written.rules.map((rule, index) => ({ id: index + 1, priority: 100, ...rule })),
    ...(registry === undefined ? {} : { registry }),
  };
  const parsed = parseRuleSet(input, { lists });
  if (!parsed.ok)
    throw new Error(`the bench wrote a rule set that is refused: ${parsed.diagnostics[0]?.message}`);
  return parsed.ruleSet;
}
