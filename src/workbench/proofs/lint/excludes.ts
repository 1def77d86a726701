/** Finds excludes that cover every include, so that the rule matches nothing. */
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
import type { Glob } from './glob.ts';

/** Checks the host and path excludes of every enabled rule. */
export function lintExcludes({ enabled }: LintContext): readonly Finding[] {
  return enabled.flatMap((rule) => {
    const hosts = swallowed(rule, {
      includes: hostIncludes(rule),
      excludes: hostExcludes(rule),
      all: ['', ''],
    });
    if (!hasPaths(rule)) return hosts;
    const filter = { includes: pathIncludes(rule), excludes: pathExcludes(rule), all: ['/', ''] };
    return [...hosts, ...swallowed(rule, filter)];
  });
}

/** The include and exclude entries of one filter. */
interface Filter {
  readonly includes: readonly FilterEntry[];
  readonly excludes: readonly FilterEntry[];
  /** The pattern that an empty include list is equal to. */
  readonly all: Glob;
}

/** A finding when every include is covered by an exclude. It names the first such exclude. */
function swallowed(rule: Rule, { includes, excludes, all }: Filter): readonly Finding[] {
  const path = all[0] === '/';
  const everything: FilterEntry = {
    field: [],
    text: '*',
    glob: all,
    regex: false,
    path,
    matches: () => true,
  };
  const effective = includes.length === 0 ? [everything] : includes;
  const covering = effective.map((include) => excludes.find((exclude) => covers(exclude, include)));
  const first = covering[0];
  if (first === undefined || covering.includes(undefined)) return [];
  const list = first.field[0] === 'host_excludes' ? 'host_includes' : 'path_includes';
  const what =
    includes.length === 0 ? 'everything, and nothing is left to match' : `every entry of \`${list}\``;
  const message =
    new Set(covering).size > 1 ? `together with other excludes takes back ${what}` : `takes back ${what}`;
  const remedy = 'narrow the exclude, or remove the rule';
  const at = { rule, field: first.field, found: quoteValue(first.text) };
  return [{ ...at, code: 'exclude_swallows_includes', severity: 'error', message, remedy }];
}

/** Regular expressions that match every text. */
const ALWAYS: readonly string[] = ['', '^', '$', '.*', '^.*', '.*$', '^.*$', '/', '^/', '^/.*', '^/.*$'];

/**
 * Whether the exclude matches everything that the include matches. For a regex that is known for those in `ALWAYS`
 * only.
 */
function covers(exclude: FilterEntry, include: FilterEntry): boolean {
  if (entryCovers(exclude, include)) return true;
  return exclude.regex && ALWAYS.includes(exclude.text) && (exclude.path || !exclude.text.includes('/'));
}
