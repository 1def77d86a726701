/** Finds entries that another entry of the same list covers. */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../../rules/model/types.ts';
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

/** Finds covered entries in the host and path lists of enabled rules. */
export function lintNeedless({ enabled }: LintContext): readonly Finding[] {
  return enabled.flatMap((rule) => lists(rule).flatMap((list) => needless(rule, list)));
}

/** The lists of a rule in which an entry can be redundant. */
function lists(rule: Rule): readonly (readonly FilterEntry[])[] {
  const hosts = [hostIncludes(rule), hostExcludes(rule)];
  // The groups of a rewrite come from the first entry that matches, so a covered regex can still have an effect.
  if (!hasPaths(rule) || (rule.type === 'rewrite' && rule.path_match_type === 'regex')) return hosts;
  return [...hosts, pathIncludes(rule), pathExcludes(rule)];
}

/** A finding for each entry that another entry covers; of equal entries the first stays. */
function needless(rule: Rule, list: readonly FilterEntry[]): readonly Finding[] {
  return list.flatMap((entry, index) => {
    const cover = list.find(
      (other, at) => at !== index && entryCovers(other, entry) && (at < index || !entryCovers(entry, other)),
    );
    if (cover === undefined) return [];
    const message =
      cover.text === entry.text ? 'is listed twice' : `is covered by \`${cover.text}\` of the same list`;
    const at = { rule, field: entry.field, found: quoteValue(entry.text) };
    return [{ ...at, code: 'needless_entry', severity: 'info', message, remedy: 'remove it' }];
  });
}
