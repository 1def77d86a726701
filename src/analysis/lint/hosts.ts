/** Host entries that match nothing, less, or more than they seem to. */
import { quoteValue } from '../../base/diagnostic.ts';
import type { Rule } from '../../model/types.ts';
import { admitsHost, type FilterEntry, hostExcludes, hostIncludes } from './filters.ts';
import type { Finding, LintContext } from './finding.ts';
import { isLiteral } from './glob.ts';
import { openEnds } from './host-regex.ts';
import { overlapsDomain, seesHostsOf, serves } from './zone.ts';

/** Judges every host entry of every live rule. */
export function lintHosts(context: LintContext): readonly Finding[] {
  return context.live.flatMap((rule) => [
    ...[...hostIncludes(rule), ...hostExcludes(rule)].flatMap((entry) => judge(rule, entry, context) ?? []),
    ...nearMisses(rule, context),
  ]);
}

function judge(rule: Rule, entry: FilterEntry, context: LintContext): Finding | null {
  const at = { rule, field: entry.field, found: quoteValue(entry.text) };
  const shape = entry.regex ? judgeRegexShape(entry.text) : judgeShape(entry.text);
  if (shape !== null) return { ...at, ...shape };
  if (entry.regex) return judgeEnds(entry.text, at);
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

type Shape = Pick<Finding, 'code' | 'severity' | 'message' | 'remedy'>;

function judgeShape(text: string): Shape | null {
  if (text.includes('://')) return shape('scheme_in_host', 'holds a scheme', 'leave out the scheme');
  if (/[/?#]/.test(text))
    return shape('path_in_host', 'holds a path or a query', 'leave it out; paths go to `path_includes`');
  return /:[0-9*]*$/.test(text)
    ? shape('port_in_host', 'holds a port', 'leave it out; hosts match on every port')
    : null;
}

function judgeRegexShape(text: string): Shape | null {
  if (/:\\?\/\\?\//.test(text)) return shape('scheme_in_host', 'asks for a scheme', 'leave out the scheme');
  if (text.includes('/'))
    return shape('path_in_host', 'asks for a path', 'leave it out; paths go to `path_includes`');
  const port = /:(?:\[0-9\]|\\d|[0-9])/.test(text.replace(/\(\?[a-zA-Z-]*:/g, '('));
  return port ? shape('port_in_host', 'asks for a port', 'leave it out; hosts match on every port') : null;
}

function shape(code: string, what: string, remedy: string): Shape {
  return { code, severity: 'warning', message: `${what}, and hosts have none: it never matches`, remedy };
}

function judgeEnds(text: string, at: Pick<Finding, 'rule' | 'field' | 'found'>): Finding | null {
  const { start, end } = openEnds(text);
  if (!start && !end) return null;
  const where = start && end ? 'at either end' : start ? 'at its start' : 'at its end';
  const message = `is not anchored ${where}, so longer names match too`;
  const remedy = `write \`${start ? '^' : ''}${text.includes('|') ? `(${text})` : text}${end ? '$' : ''}\``;
  return { ...at, code: 'unanchored_host_regex', severity: 'warning', message, remedy };
}

/** `*.name` without `name`, where `name` is served and nothing else of the type covers or excludes it. */
function nearMisses(rule: Rule, context: LintContext): readonly Finding[] {
  if (rule.host_match_type !== 'wildcard') return [];
  return hostIncludes(rule).flatMap((entry) => {
    const bare = bareName(entry);
    if (bare === null || !serves(context.zone, bare) || isMeant(rule, bare, context)) return [];
    const message = `does not match \`${bare}\` itself, only names below it`;
    const remedy = `add \`${bare}\`, or list it in \`host_excludes\` to say that it is meant`;
    const found = quoteValue(entry.text);
    return [
      { code: 'bare_host_missed', severity: 'warning', rule, field: entry.field, message, found, remedy },
    ];
  });
}

/** `name` of an entry that is exactly `*.name`. */
function bareName({ glob }: FilterEntry): string | null {
  if (glob === null || isLiteral(glob) || glob.length > 2 || glob[0] !== '') return null;
  const rest = glob[1] ?? '';
  return rest.startsWith('.') && rest.length > 1 ? rest.slice(1) : null;
}

function isMeant(rule: Rule, bare: string, { hosts, zone }: LintContext): boolean {
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
    return other.record_ids.length === 0 || seesHostsOf(zone, other, rule) || sharesRecord(other, bare, zone);
  });
}

function sharesRecord(rule: Rule, bare: string, zone: LintContext['zone']): boolean {
  return zone.served.some(({ record, name }) => name === bare && rule.record_ids.includes(record.id));
}

function targetHost(target: string): string | null {
  return /^https?:\/\/([^/?#:]+)/i.exec(target)?.[1]?.toLowerCase() ?? null;
}
