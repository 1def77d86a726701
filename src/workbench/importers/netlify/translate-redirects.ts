/** Lines of `_redirects` as rules: redirects, rewrites, origins of other hosts, and paths that are refused. */
import { getDomain } from 'tldts';
import { COUNTRIES } from '../../../base/addresses/countries.ts';
import {
  addEntry,
  answerWith,
  type DraftEntry,
  type ImportDraft,
  markClosed,
  markDifference,
  markMissing,
  markNeedless,
  tryRule,
} from '../draft.ts';
import { valueFact } from '../facts.ts';
import {
  areDisjoint,
  dropFields,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
  ruleFields,
} from '../filter.ts';
import { addAlternatives, addGuard } from '../guard.ts';
import { equalsText } from '../text-test.ts';
import type { RedirectLine } from './parse-site-files.ts';
import { fillTarget, readSitePattern, type SiteDialect, type SitePattern } from './patterns.ts';

/** One line with what it is made of. */
interface PlacedLine {
  readonly line: RedirectLine;
  readonly entry: DraftEntry;
  readonly pattern: SitePattern;
  readonly condition: ImportedCondition;
}

/** The state of one import. */
export interface SiteImport {
  readonly draft: ImportDraft;
  readonly dialect: SiteDialect;
  readonly lines: readonly RedirectLine[];
  /** Requests that earlier lines forward, or would redirect in a way that no rule has. */
  readonly taken: TakenRequests[];
  /** Requests that earlier lines redirect. */
  readonly redirected: { readonly filter: ImportedFilter; readonly place: string }[];
}

/** The requests of an earlier line. */
interface TakenRequests {
  readonly condition: ImportedCondition;
  readonly filters: readonly ImportedFilter[];
}

/** Translates one line. */
export function translateRedirect(state: SiteImport, line: RedirectLine): void {
  const entry = addEntry(state.draft, line.place, line.text);
  const pattern = readSitePattern(line.from, state.dialect);
  if (typeof pattern === 'string') {
    markMissing(entry, pattern);
    return;
  }
  const condition = conditionOf(state, line, entry);
  if (line.conditions.has('role')) {
    refuseRole(state, { line, entry, pattern, condition });
    return;
  }
  const own = allOf([placeOf(pattern), condition]);
  const isRead = entry.outcome !== 'not_carried';
  if (isRead) answer(state, { line, entry, pattern, condition: withoutEarlier(state, own) });
  // Of lines that redirect, the first in the file is the first of the rules.
  const filters = filtersOf(own);
  const status = line.status ?? state.dialect.status;
  const isRedirect = status >= 300 && status < 400 && entry.outcome !== 'not_carried';
  if (isRead && !isRedirect && filters.ok) state.taken.push({ condition: own, filters: filters.filters });
}

/** The requests that no earlier line takes. */
function withoutEarlier({ taken }: SiteImport, own: ImportedCondition): ImportedCondition {
  const filters = filtersOf(own);
  if (!filters.ok) return own;
  const meets = (one: TakenRequests): boolean =>
    one.filters.some((theirs) => filters.filters.some((mine) => !areDisjoint(mine, theirs)));
  return allOf([
    own,
    ...taken.filter(meets).map(({ condition }): ImportedCondition => ({ kind: 'not', of: condition })),
  ]);
}

/** Adds what the status of a line says. */
function answer(state: SiteImport, placed: PlacedLine): void {
  const status = placed.line.status ?? state.dialect.status;
  if (status >= 400) answerError(state, placed, status);
  else if (status === 200) forward(state, placed);
  else if (status >= 300) redirect(state, placed, status);
  else markMissing(placed.entry, `the status ${status} has no rule`);
}

function allOf(of: readonly ImportedCondition[]): ImportedCondition {
  return { kind: 'all', of: of.filter((one) => !(one.kind === 'constant' && one.value)) };
}

const EVERY: ImportedCondition = { kind: 'constant', value: true };

function placeOf({ host, scheme, tests, isEvery }: SitePattern): ImportedCondition {
  return allOf([
    host === null ? EVERY : { kind: 'host', tests: [equalsText(host)] },
    scheme === null ? EVERY : { kind: 'fact', fact: { member: 'schemes', values: [scheme], negated: false } },
    isEvery ? EVERY : { kind: 'path', tests },
  ]);
}

/** The countries, languages, cookies and parameters that a line asks for; the entry says what has no condition. */
function conditionOf({ dialect }: SiteImport, line: RedirectLine, entry: DraftEntry): ImportedCondition {
  const parts: ImportedCondition[] = [];
  for (const [name, values] of line.conditions) {
    if (!dialect.hasConditions)
      markMissing(entry, `${dialect.product} has no condition \`${name}\`, and ignores the line`);
    else if (name === 'country') {
      const codes = values.map((value) => value.toUpperCase());
      if (codes.every((code) => COUNTRIES.has(code))) parts.push({ kind: 'country', codes });
      else markMissing(entry, `\`${values.join(',')}\` is no list of countries`);
    } else if (name === 'language') {
      const source = `(?i)^\\s*(?:${values.map((value) => value.replace(/[^\w-]/g, '')).join('|')})(?:[-,;]|\\s*$)`;
      parts.push({
        kind: 'fact',
        fact: valueFact('headers', 'accept-language', { op: 'regex', values: [source] }),
      });
      markDifference(entry, 'the first language of the visitor decides, not the best of all');
    } else if (name === 'cookie')
      parts.push({
        kind: 'any',
        of: values.map((value) => ({ kind: 'fact', fact: valueFact('cookies', value, { op: 'present' }) })),
      });
    else if (name !== 'role') markMissing(entry, `\`${name}=\` has no condition of a rule`);
  }
  for (const [name, value] of line.query) {
    if (!dialect.hasConditions)
      markMissing(entry, `${dialect.product} has no tests of the query, and ignores the line`);
    const isAny = value.startsWith(':') || value === '';
    const test = isAny ? ({ op: 'present' } as const) : ({ op: 'equals', values: [value] } as const);
    parts.push({ kind: 'fact', fact: valueFact('query', name, test) });
  }
  return allOf(parts);
}

/** A role is in a token that no rule verifies: the paths are refused, unless a later line answers those without a role. */
function refuseRole(state: SiteImport, { line, entry, pattern }: PlacedLine): void {
  const at = state.lines.indexOf(line);
  const others = state.lines.slice(at + 1);
  const fallback = others.find(({ from, conditions }) => from === line.from && !conditions.has('role'));
  if (fallback !== undefined) {
    markMissing(entry, `a role has no condition of a rule; ${fallback.place} answers every visitor`);
    return;
  }
  refuse(state, { line, entry, pattern, condition: placeOf(pattern) }, 403);
  markClosed(entry, 'a role has no condition of a rule');
  markClosed(entry, 'all that it guards is refused, until a rule is written by hand');
}

function refuse(
  { draft, dialect, redirected }: SiteImport,
  { entry, condition }: PlacedLine,
  status: number,
): void {
  const emit = (filter: ImportedFilter): string | null => {
    const earlier = redirected.find((one) => !areDisjoint(filter, one.filter));
    const failure = tryRule(draft, entry, 'drop', dropFields(filter));
    if (earlier !== undefined && failure === null)
      markDifference(entry, `requests that ${earlier.place} redirects are refused first`);
    return failure;
  };
  const rules = {
    condition,
    differences: [],
    unmet: 'no request has such a path',
    closing: 'refused',
  } as const;
  addGuard(draft, entry, { ...rules, emit, close: emit });
  if (entry.becomes.length > 0) answerWith(draft, entry, { status, product: dialect.product });
}

/** A status of an error: its page where there is no file, or a path that is refused. */
function answerError(state: SiteImport, placed: PlacedLine, status: number): void {
  const { line, entry } = placed;
  if (!line.isForced && state.dialect.servesFiles) {
    entry.kind = 'page';
    markMissing(entry, 'it answers where no file is, with a page of a file, which no rule has');
    return;
  }
  if (!state.dialect.servesFiles) {
    markMissing(entry, `${state.dialect.product} ignores the line for its status`);
    return;
  }
  refuse(state, placed, status);
  markDifference(entry, 'the page of the edge is shown, not that of the line');
}

/** The fields of a target: literal, with groups, or with the whole path after it. */
interface TargetFields {
  readonly target: string;
  readonly hasGroups: boolean;
  readonly appendsPath: boolean;
  readonly query: string | null;
}

function targetOf(line: RedirectLine, pattern: SitePattern): TargetFields | string {
  const to = line.to ?? pattern.before ?? '';
  const named = line.query.find(([, value]) => value.startsWith(':') && names(to, value));
  if (named !== undefined) return `\`${named[1]}\` is a parameter of the query, which a target cannot have`;
  const filled = fillTarget(to, pattern.groups);
  if ('reason' in filled) return filled.reason;
  const { before } = pattern;
  const head = before === null ? null : to.slice(0, Math.max(0, to.length - `${before}/:splat`.length));
  const appendsPath = head !== null && to === `${head}${before}/:splat` && /^https?:\/\/[^/]+$/.test(head);
  const [path = '', query = null] = filled.target.split(/\?(.*)/s);
  if (appendsPath) return { target: head, hasGroups: false, appendsPath, query: null };
  if (filled.hasGroups) return { target: path, hasGroups: true, appendsPath: false, query };
  return { target: plain(path), hasGroups: false, appendsPath: false, query: query && plain(query) };
}

/** Whether a target names a placeholder, not as the start of a longer one. */
function names(target: string, placeholder: string): boolean {
  return target
    .split(placeholder)
    .slice(1)
    .some((rest) => !/^\w/.test(rest));
}

/** A text without the escapes of a target with groups. */
function plain(text: string): string {
  return text.replaceAll('$$', '$');
}

function redirect(state: SiteImport, placed: PlacedLine, status: number): void {
  const { line, entry, pattern, condition } = placed;
  const read = targetOf(line, pattern);
  if (typeof read === 'string') {
    markMissing(entry, read);
    return;
  }
  const { target, hasGroups, appendsPath, query } = read;
  const fields = {
    target: query === null ? target : `${target}?${query}`,
    status_code: status === 303 ? 302 : status,
    preserve_path: appendsPath,
    preserve_query: query === null,
    ...(hasGroups ? { target_mode: 'captures' } : {}),
  };
  const inQuery =
    query?.includes('${') === true ? ['`&` and `+` of a placeholder are encoded in the query'] : [];
  addAlternatives(state.draft, entry, {
    condition,
    differences: [...redirectDifferences(state, placed, status), ...inQuery],
    unmet: 'no request has such a path',
    emit: (filter) => {
      const place = withGroups(filter, hasGroups ? pattern : null);
      const failure = tryRule(state.draft, entry, 'redirect', { ...place, ...fields });
      if (failure === null) state.redirected.push({ filter, place: entry.place });
      return failure;
    },
  });
}

/** The fields of a filter whose path is the regex that has the groups. */
function withGroups(filter: ImportedFilter, pattern: SitePattern | null): object {
  if (pattern === null || pattern.source === null) return ruleFields(filter);
  return ruleFields({ ...filter, pathIncludes: [{ kind: 'regex', source: pattern.source }] });
}

function redirectDifferences(
  { dialect }: SiteImport,
  { line, pattern }: PlacedLine,
  status: number,
): readonly string[] {
  const found: string[] = [];
  if (dialect.servesFiles && !line.isForced && pattern.groups.length > 0)
    found.push('paths of files are redirected too: it is not forced with `!`');
  if (status === 303) found.push('the edge answers 302, not 303');
  if (dialect.hasConditions && line.query.length > 0)
    found.push('other parameters may be beside those that it asks for');
  return found;
}

/** Status 200: a path of the site, or another host. */
function forward(state: SiteImport, placed: PlacedLine): void {
  const { line, entry, pattern, condition } = placed;
  const read = targetOf(line, pattern);
  if (typeof read === 'string') {
    markMissing(entry, read);
    return;
  }
  if (read.query?.includes('${') === true) {
    markMissing(entry, 'a placeholder is in the query of the target, which has no groups');
    return;
  }
  const [, scheme, authority = '', path = ''] = /^(https?):\/\/([^/]+)(.*)$/.exec(read.target) ?? [];
  if (scheme === undefined && !line.isForced && state.dialect.servesFiles) {
    markNeedless(entry, 'it is for paths that are no files, which the origin knows');
    return;
  }
  if (scheme !== undefined && !state.dialect.hasConditions) {
    markMissing(entry, `${state.dialect.product} forwards to no other host, and ignores the line`);
    return;
  }
  const rewrite = {
    path_target: scheme === undefined ? read.target : path === '' && !read.appendsPath ? '/' : path,
    ...(read.query === null ? {} : { query_mode: 'replace', query_target: plain(read.query) }),
  };
  const [address = '', port] = authority.split(':');
  const origin = {
    address,
    scheme,
    host_header: authority,
    ...(port === undefined ? {} : { port: Number(port) }),
  };
  const isChanged = !read.appendsPath && rewrite.path_target !== '';
  const differences =
    state.dialect.servesFiles && !line.isForced
      ? ['paths of files are forwarded too: it is not forced with `!`']
      : [];
  addAlternatives(state.draft, entry, {
    condition,
    differences,
    unmet: 'no request has such a path',
    emit: (filter) => {
      const place = withGroups(filter, read.hasGroups ? pattern : null);
      const failure = isChanged ? tryRule(state.draft, entry, 'rewrite', { ...place, ...rewrite }) : null;
      return (
        failure ??
        (scheme === undefined
          ? null
          : tryRule(state.draft, entry, 'origin_route', { ...ruleFields(filter), ...origin }))
      );
    },
  });
}

/** The domains that lines name as hosts. */
export function hostsOf(lines: readonly RedirectLine[], domain: string | null): readonly string[] {
  const named = lines.flatMap(({ from }) => /^https?:\/\/([^/:*]+)/.exec(from)?.[1]?.toLowerCase() ?? []);
  const whole =
    domain ??
    named.map((host) => getDomain(host, { allowPrivateDomains: true })).find((one) => one !== null) ??
    null;
  if (whole === null) return [];
  return [...new Set([whole, `www.${whole}`, ...named.filter((host) => host.endsWith(`.${whole}`))])];
}
