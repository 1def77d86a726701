/**
 * Finds rules that match no request: unproxied records in their scope, no served host left by scope and host filter, or
 * excludes that cover every include.
 */
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../../rules/model/types.ts';
import {
  entryCovers,
  type FilterEntry,
  type Glob,
  hasPaths,
  hostExcludes,
  hostIncludes,
  inScope,
  mayAdmit,
  pathExcludes,
  pathIncludes,
} from './filters.ts';
import type { Finding, LintContext } from './finding.ts';

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
    listed: false,
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
