/** Finds host entries that match nothing, less, or more than they appear to. */
import type { DiagnosticCode } from '../../../base/diagnostics/codes/codes.ts';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import type { Rule } from '../../../rules/model/types.ts';
import {
  admitsHost,
  coversHostsOf,
  type FilterEntry,
  hostExcludes,
  hostIncludes,
  isLiteral,
  overlapsDomain,
  serves,
} from './filters.ts';
import type { Finding, LintContext } from './finding.ts';

/** Checks every host entry of every enabled rule. */
export function lintHosts(context: LintContext): readonly Finding[] {
  return context.enabled.flatMap((rule) => [
    ...[...hostIncludes(rule), ...hostExcludes(rule)].flatMap(
      (entry) => checkEntry(rule, entry, context) ?? [],
    ),
    ...nearMisses(rule, context),
  ]);
}

/** The first mistake of one entry; `null`: no mistake. */
function checkEntry(rule: Rule, entry: FilterEntry, context: LintContext): Finding | null {
  if (entry.listed) return null;
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
  if (rule.type === 'redirect' && rule.targets === undefined && targetHost(rule.target) === bare) return true;
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

// Finds host regexes that are not anchored at an end. Regexes are unanchored (semantics §3), so
// `shop\.example\.com` also matches `myshop.example.com`. An end counts as closed by an anchor, by an explicit run
// of any characters (`.*`), or by a dot (`\.example\.com$`, `^api\.`), since a label ends there.

/** Which ends of a regex are open. */
export interface OpenEnds {
  readonly start: boolean;
  readonly end: boolean;
}

/** Checks every alternative of the pattern; an end is open when any alternative leaves it open. */
function openEnds(pattern: string): OpenEnds {
  const bare = pattern.replace(/^\(\?[a-zA-Z-]*\)/, '');
  return { start: splitTop(bare).some(opensAtStart), end: splitTop(bare).some(opensAtEnd) };
}

/** Whether an alternative can match in the middle of a host's label at its start. */
function opensAtStart(branch: string): boolean {
  if (/^(?:\^|\\A|\\\.|\[\.\]|\.[*+])/.test(branch)) return false;
  const group = leadingGroup(branch);
  if (group === null) return true;
  const rest = branch.slice(group.length);
  const optional = /^[?*]/.test(rest);
  const inside = splitTop(groupBody(group)).some((inner) => inner !== '' && opensAtStart(inner));
  const empty = splitTop(groupBody(group)).includes('') || optional;
  return inside || (empty && opensAtStart(rest.replace(/^[?*+]\??/, '')));
}

/** Whether an alternative can match in the middle of a host's label at its end. */
function opensAtEnd(branch: string): boolean {
  if (/(?:^|[^\\])(?:\\\\)*\$$/.test(branch) || /\\z$/.test(branch)) return false;
  if (/(?:^|[^\\])\.[*+]$/.test(branch) || /(?:^|[^\\])(?:\\\\)*\\\.$/.test(branch) || branch.endsWith('[.]'))
    return false;
  const group = trailingGroup(branch);
  if (group === null) return true;
  const rest = branch.slice(0, branch.length - group.length);
  return splitTop(groupBody(group)).some((inner) => opensAtEnd(inner === '' ? rest : inner));
}

/** Splits a pattern at the `|` of the outermost level. */
function splitTop(pattern: string): readonly string[] {
  const branches: string[] = [];
  let start = 0;
  for (const { at, depth } of positions(pattern)) {
    if (depth > 0 || pattern[at] !== '|') continue;
    branches.push(pattern.slice(start, at));
    start = at + 1;
  }
  return [...branches, pattern.slice(start)];
}

/** The group at the start, with its parentheses; `null`: absent. */
function leadingGroup(branch: string): string | null {
  if (!branch.startsWith('(')) return null;
  for (const { at, depth } of positions(branch))
    if (depth === 0 && branch[at] === ')') return branch.slice(0, at + 1);
  return null;
}

/** The group at the end, with its parentheses; `null`: absent. */
function trailingGroup(branch: string): string | null {
  if (!branch.endsWith(')')) return null;
  let opened = -1;
  let closed = -1;
  for (const { at, depth } of positions(branch)) {
    if (branch[at] === '(' && depth === 1) opened = at;
    if (branch[at] === ')' && depth === 0) closed = at;
  }
  return closed === branch.length - 1 && opened >= 0 ? branch.slice(opened) : null;
}

/** A group without its parentheses, flags and name. */
function groupBody(group: string): string {
  return group.slice(1, -1).replace(/^\?(?:[a-zA-Z-]*:|P?<[^>]*>)/, '');
}

/** Yields the positions outside escapes and classes; `depth` is the number of enclosing parentheses. */
function* positions(pattern: string): Generator<{ readonly at: number; readonly depth: number }> {
  let depth = 0;
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at];
    if (character === '\\') at++;
    else if (character === '[') at = classEnd(pattern, at);
    else {
      if (character === '(') depth++;
      if (character === ')') depth--;
      yield { at, depth };
    }
  }
}

/** The position of the `]` that closes a class. */
function classEnd(pattern: string, open: number): number {
  let at = open + 1;
  if (pattern[at] === '^') at++;
  if (pattern[at] === ']') at++;
  while (at < pattern.length && pattern[at] !== ']') at += pattern[at] === '\\' ? 2 : 1;
  return at;
}
