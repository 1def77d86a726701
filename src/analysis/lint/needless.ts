/** Entries that another entry of the same list already covers. */
import { quoteValue } from '../../base/diagnostic.ts';
import type { Rule } from '../../model/types.ts';
import {
  entryCovers,
  type FilterEntry,
  hasPaths,
  hostExcludes,
  hostIncludes,
  pathExcludes,
  pathIncludes,
} from './filters.ts';
import type { Finding, LintContext } from './finding.ts';

/** Finds needless entries in the host and path lists of live rules. */
export function lintNeedless({ live }: LintContext): readonly Finding[] {
  return live.flatMap((rule) => lists(rule).flatMap((list) => needless(rule, list)));
}

function lists(rule: Rule): readonly (readonly FilterEntry[])[] {
  const hosts = [hostIncludes(rule), hostExcludes(rule)];
  // Groups of a rewrite come from the first entry that matches, so there a covered regex may still say something.
  if (!hasPaths(rule) || (rule.type === 'rewrite' && rule.path_match_type === 'regex')) return hosts;
  return [...hosts, pathIncludes(rule), pathExcludes(rule)];
}

function needless(rule: Rule, list: readonly FilterEntry[]): readonly Finding[] {
  return list.flatMap((entry, index) => {
    const over = list.find(
      (other, at) => at !== index && entryCovers(other, entry) && (at < index || !entryCovers(entry, other)),
    );
    if (over === undefined) return [];
    const message =
      over.text === entry.text ? 'is listed twice' : `is covered by \`${over.text}\` of the same list`;
    const at = { rule, field: entry.field, found: quoteValue(entry.text) };
    return [{ ...at, code: 'needless_entry', severity: 'info', message, remedy: 'remove it' }];
  });
}
