/** Rule sets with named lists, written shortly. */
import { formatDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import type { ListKind } from '../../src/base/vocabulary/vocabulary.ts';
import { readEntries } from '../../src/rules/model/lists.ts';
import { parseRuleSet } from '../../src/rules/model/parse.ts';
import type { EntryList, RuleSet } from '../../src/rules/model/types.ts';

/** Lists by name: their kind and then their entries. */
export type Lists = Readonly<Record<string, readonly [ListKind, ...unknown[]]>>;
/** A rule as it is written. */
export type RuleFields = Readonly<Record<string, unknown>>;

const RECORDS = [
  { id: 1, name: '@', type: 'A', destination: '198.51.100.1', proxied: true },
  { id: 2, name: '*', type: 'A', destination: '198.51.100.2', proxied: true },
];

/** The lists with entries as the model has them. */
export function listsOf(lists: Lists): readonly EntryList[] {
  return Object.entries(lists).map(([name, [kind, ...written]]): EntryList => {
    const read = readEntries(kind, written);
    if (!read.ok) throw new Error(read.diagnostics.map(formatDiagnostic).join('\n'));
    return { name, kind, entries: read.entries };
  });
}

/** A rule set of `example.com` with its apex and all names below it; rules have ids and priorities in their order. */
export function listedRules(lists: Lists, ...rules: readonly RuleFields[]): RuleSet {
  const numbered = rules.map((rule, index) => ({ id: index + 1, priority: (index + 1) * 10, ...rule }));
  const input = { domain: { name: 'example.com' }, records: RECORDS, rules: numbered };
  const parsed = parseRuleSet(input, { lists: listsOf(lists) });
  if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
  return parsed.ruleSet;
}
