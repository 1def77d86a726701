/** Finds host entries that match nothing, less, or more than they appear to. */
import type { DiagnosticCode } from '../../../base/diagnostics/codes/codes.ts';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../../rules/model/types.ts';
import { admitsHost, type FilterEntry, hostExcludes, hostIncludes } from './filters.ts';
import type { Finding, LintContext } from './finding.ts';
import { isLiteral } from './glob.ts';
import { openEnds } from './host-regex.ts';
import { coversHostsOf, overlapsDomain, serves } from './zone.ts';

/** Checks every host entry of every enabled rule. */
export function lintHosts(context: LintContext): readonly Finding[] {
  return context.enabled.flatMap((rule) => [
    ...[...hostIncludes(rule), ...hostExcludes(rule)].flatMap(
      (entry) => checkEntry(rule, entry, context) ?? [],
    ),
    ...nearMisses(rule, context),
  ]);
}

/** The first mistake of one entry; `null` when there is none. */
function checkEntry(rule: Rule, entry: FilterEntry, context: LintContext): Finding | null {
  const at = { rule, field: entry.field, found: quoteValue(entry.text) };
  const shape = entry.regex ? checkRegexShape(entry.text) : checkShape(entry.text);
  if (shape !== null) return { ...at, ...shape };
  if (entry.regex) return checkEnds(entry.text, at);
  if (rule.host_match_type === 'exact' && entry.text.includes('*')) {
    const message = 'matches no ordinary host: a star is literal in an exact entry';
    return {
      ...at,
      code: 'literal_star',
      severity: 'warning',
      message,
      remedy: 'set `host_match_type` to `wildcard`',
    };
  }
  if (entry.glob === null || overlapsDomain(context.zone, entry.glob)) return null;
  const message = `matches no host of \`${context.zone.domain}\``;
  const remedy = `write a name that ends in \`.${context.zone.domain}\`, or remove the entry`;
  return { ...at, code: 'foreign_host', severity: 'warning', message, remedy };
}

/** A finding without its rule and place. */
type Shape = Pick<Finding, 'code' | 'severity' | 'message' | 'remedy'>;

/** Parts of a URL that a host does not have. */
function checkShape(text: string): Shape | null {
  if (text.includes('://')) return shape('scheme_in_host', 'contains a scheme', 'leave out the scheme');
  if (/[/?#]/.test(text))
    return shape('path_in_host', 'contains a path or a query', 'leave it out; paths go to `path_includes`');
  return /:[0-9*]*$/.test(text)
    ? shape('port_in_host', 'contains a port', 'leave it out; hosts match on every port')
    : null;
}

/** Parts of a URL in a regex that is matched with a host. */
function checkRegexShape(text: string): Shape | null {
  if (/:\\?\/\\?\//.test(text)) return shape('scheme_in_host', 'requires a scheme', 'leave out the scheme');
  if (text.includes('/'))
    return shape('path_in_host', 'requires a path', 'leave it out; paths go to `path_includes`');
  const port = /:(?:\[0-9\]|\\d|[0-9])/.test(text.replace(/\(\?[a-zA-Z-]*:/g, '('));
  return port ? shape('port_in_host', 'requires a port', 'leave it out; hosts match on every port') : null;
}

/** A finding about a part of a URL that hosts do not have. */
function shape(code: DiagnosticCode, what: string, remedy: string): Shape {
  return { code, severity: 'warning', message: `${what}, and hosts have none: it never matches`, remedy };
}

/** A regex that also matches longer names. */
function checkEnds(text: string, at: Pick<Finding, 'rule' | 'field' | 'found'>): Finding | null {
  const { start, end } = openEnds(text);
  if (!start && !end) return null;
  const where = start && end ? 'at either end' : start ? 'at its start' : 'at its end';
  const message = `is not anchored ${where}, so longer names match too`;
  const remedy = `write \`${start ? '^' : ''}${text.includes('|') ? `(${text})` : text}${end ? '$' : ''}\``;
  return { ...at, code: 'unanchored_host_regex', severity: 'warning', message, remedy };
}

/** `*.name` without `name`, if `name` is served and no other entry or rule of the type covers or excludes it. */
function nearMisses(rule: Rule, context: LintContext): readonly Finding[] {
  if (rule.host_match_type !== 'wildcard') return [];
  return hostIncludes(rule).flatMap((entry) => {
    const bare = bareName(entry);
    if (bare === null || !serves(context.zone, bare) || isDeliberate(rule, bare, context)) return [];
    const message = `does not match \`${bare}\` itself, only names below it`;
    const remedy = `add \`${bare}\`, or list it in \`host_excludes\` if this is intended`;
    const found = quoteValue(entry.text);
    return [
      { code: 'bare_host_missed', severity: 'warning', rule, field: entry.field, message, found, remedy },
    ];
  });
}

/** `name` of an entry that is exactly `*.name`; `null` for any other entry. */
function bareName({ glob }: FilterEntry): string | null {
  if (glob === null || isLiteral(glob) || glob.length > 2 || glob[0] !== '') return null;
  const rest = glob[1] ?? '';
  return rest.startsWith('.') && rest.length > 1 ? rest.slice(1) : null;
}

/** Whether the rule or another of its type already treats the bare name, so that its absence is deliberate. */
function isDeliberate(rule: Rule, bare: string, { hosts, zone }: LintContext): boolean {
  if (hostIncludes(rule).some((entry) => entry.matches(bare))) return true;
  if (hostExcludes(rule).some((entry) => entry.matches(bare))) return true;
  if (rule.type === 'redirect' && targetHost(rule.target) === bare) return true;
  const scoped = zone.served.some(
    ({ record, name }) =>
      name === bare && (rule.record_ids.length === 0 || rule.record_ids.includes(record.id)),
  );
  if (!scoped) return true;
  return hosts.candidates(rule.type, bare).some((other) => {
    if (other === rule || !admitsHost(other, bare)) return false;
    return (
      other.record_ids.length === 0 || coversHostsOf(zone, other, rule) || sharesRecord(other, bare, zone)
    );
  });
}

/** Whether the rule's scope has a record of this name. */
function sharesRecord(rule: Rule, bare: string, zone: LintContext['zone']): boolean {
  return zone.served.some(({ record, name }) => name === bare && rule.record_ids.includes(record.id));
}

/** The host of a redirect's target; `null` for a relative one. */
function targetHost(target: string): string | null {
  return /^https?:\/\/([^/?#:]+)/i.exec(target)?.[1]?.toLowerCase() ?? null;
}
