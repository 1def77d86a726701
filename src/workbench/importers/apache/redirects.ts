/** `Redirect` and its kin of mod_alias: by the start of a path, or by a regex. */
import { type DraftEntry, markDifference, markMissing, tryRule } from '../draft.ts';
import { type ImportedCondition, type ImportedFilter, ruleFields } from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { equalsText, escapeRegex, startsWithText, type TextTest } from '../text-test.ts';
import { type ApacheImport, type ApacheScope, allOf, entryFor } from './context.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { type ApachePattern, readPattern } from './patterns.ts';
import { refuse } from './refuse.ts';
import { testPath } from './variables.ts';

/** Directives of mod_alias that redirect. */
export const ALIAS_REDIRECTS = ['redirect', 'redirectmatch', 'redirectpermanent', 'redirecttemp'];

const NAMED: Readonly<Record<string, number>> = { permanent: 301, temp: 302, seeother: 303, gone: 410 };

/** Redirects of a start of a path, beside which those of the paths below take a regex each: a domain has room for few. */
const MAX_PREFIX_PATTERNS = 24;

/** Translates the redirects of one folder or section, in their order. */
export function translateRedirects(
  state: ApacheImport,
  scope: ApacheScope,
  directives: readonly ApacheDirective[],
): void {
  const own = directives.filter(({ name }) => ALIAS_REDIRECTS.includes(name));
  const hasRoom = own.length <= MAX_PREFIX_PATTERNS;
  for (const directive of own) {
    const entry = entryFor(state, directive);
    const read = readRedirect(directive);
    if (typeof read === 'string') markMissing(entry, read);
    else if (directive.name === 'redirectmatch') emitMatch(state, { entry, scope, ...read });
    else emitPrefix(state, { entry, scope, ...read }, hasRoom);
  }
}

interface ReadRedirect {
  readonly status: number;
  readonly from: string;
  /** `null`: a status that is no redirect. */
  readonly to: string | null;
}

interface AliasRedirect extends ReadRedirect {
  readonly entry: DraftEntry;
  readonly scope: ApacheScope;
}

function readRedirect({ name, args }: ApacheDirective): ReadRedirect | string {
  const fixed = name === 'redirectpermanent' ? 301 : name === 'redirecttemp' ? 302 : null;
  const [first = '', ...others] = args;
  const given = fixed ?? NAMED[first.toLowerCase()] ?? (/^\d{3}$/.test(first) ? Number(first) : null);
  const rest = fixed === null && given !== null ? others : args;
  const status = given ?? 302;
  const [from = '', to = null] = rest;
  if (status >= 400) return { status, from, to: null };
  if (to === null && /^https?:/i.test(from)) return { status, from: '', to: from };
  return to === null ? 'it names no target' : { status, from, to };
}

/** Refuses paths with a status. */
function emitStatus(
  state: ApacheImport,
  { entry, scope, status }: AliasRedirect,
  path: ImportedCondition,
): void {
  const condition = allOf([scope.condition, path]);
  refuse(state, entry, { condition, status, unmet: 'no request has such a path' });
}

/** `Redirect /a /b`: the path, and paths below it, of which the rest is appended. */
function emitPrefix(state: ApacheImport, redirect: AliasRedirect, hasRoom: boolean): void {
  const { entry, from, to } = redirect;
  const path = from === '/' || from === '' ? '/' : from;
  if (!path.startsWith('/')) {
    markMissing(entry, 'its path does not start with `/`');
    return;
  }
  const bare = path.replace(/\/$/, '');
  const below = startsWithText(`${bare}/`);
  const all: readonly TextTest[] = path.endsWith('/') ? [below] : [equalsText(bare), below];
  if (to === null) {
    emitStatus(
      state,
      redirect,
      path === '/' ? { kind: 'constant', value: true } : { kind: 'path', tests: all },
    );
    return;
  }
  const appended = appendedTarget(path, to);
  if (appended !== null) {
    emitRedirect(state, redirect, {
      tests: path === '/' ? null : all,
      target: appended,
      preserve_path: true,
    });
    return;
  }
  if (!path.endsWith('/')) emitRedirect(state, redirect, { tests: [equalsText(bare)], target: to });
  if (!hasRoom && !path.endsWith('/')) {
    markDifference(
      entry,
      `paths below it are not redirected: the file has more than ${MAX_PREFIX_PATTERNS} redirects`,
    );
    return;
  }
  const hasSlash = path.endsWith('/');
  const source = `^${escapeRegex(bare)}${hasSlash ? '/(.*)$' : '(/.*)$'}`;
  const [head, query = ''] = to.split(/(?=\?)/, 2);
  if (query !== '') {
    markDifference(entry, 'the rest of a path below it is not appended after the query of the target');
    return;
  }
  if (/^https?:\/\/[^/]*$/i.test(head!) && hasSlash) {
    markMissing(entry, 'what it appends is in the host of the target');
    return;
  }
  if (!hasSlash && /^\/(?:.*\/)?$/.test(head!))
    markDifference(entry, 'Apache writes two slashes between its target and the rest of a path');
  emitRedirect(state, redirect, {
    tests: [{ kind: 'regex', source }],
    target: `${head!.replaceAll('$', '$$$$')}\${1}`,
    target_mode: 'captures',
  });
}

/** The target to which the whole path is appended; `null`: a part of it is. */
function appendedTarget(path: string, target: string): string | null {
  if (target.includes('?')) return null;
  if (path === '/') return target.endsWith('/') ? target : null;
  const [, before = '', own = ''] = /^(https?:\/\/[^/]+)?(\/.*)?$/i.exec(target) ?? [];
  if (before === '' || own !== path) return null;
  return before;
}

interface RedirectFields {
  /** `null`: every path. */
  readonly tests: readonly TextTest[] | null;
  readonly target: string;
  readonly preserve_path?: boolean;
  readonly target_mode?: 'captures';
}

function emitRedirect(
  state: ApacheImport,
  { entry, scope, status }: AliasRedirect,
  { tests, target, ...more }: RedirectFields,
): void {
  const path: ImportedCondition =
    tests === null ? { kind: 'constant', value: true } : { kind: 'path', tests };
  const emit = (filter: ImportedFilter): string | null => {
    const isAlone =
      more.target_mode === undefined || JSON.stringify(filter.pathIncludes) === JSON.stringify(tests);
    if (!isAlone) return 'captures need its pattern alone, and a section tests the path too';
    const fields = {
      ...ruleFields(filter),
      target,
      status_code: status === 303 ? 302 : status,
      preserve_query: !target.includes('?'),
      ...more,
    };
    const failure = tryRule(state.draft, entry, 'redirect', fields);
    if (failure !== null) return failure;
    if (status === 303) markDifference(entry, 'the edge answers 302; Apache answers 303');
    state.redirects.push({ filter, place: entry.place, isOfServer: !scope.perDirectory });
    return null;
  };
  addAlternatives(state.draft, entry, {
    condition: allOf([path, scope.condition]),
    differences: [],
    unmet: 'no request has such a path',
    emit,
  });
}

/** `RedirectMatch regex target`. */
function emitMatch(state: ApacheImport, redirect: AliasRedirect): void {
  const { entry, from, to } = redirect;
  const pattern = readPattern(from, false);
  if (typeof pattern === 'string') {
    if (to === null)
      emitStatus(state, redirect, { kind: 'unknown', text: from, reason: `has no filter: ${pattern}` });
    else markMissing(entry, pattern);
    return;
  }
  const path = testPath({ kind: 'regex', pattern });
  if (to === null) {
    emitStatus(state, redirect, path);
    return;
  }
  emitMatched(state, redirect, { pattern, path, to });
}

function emitMatched(
  state: ApacheImport,
  redirect: AliasRedirect,
  {
    pattern,
    path,
    to,
  }: { readonly pattern: ApachePattern; readonly path: ImportedCondition; readonly to: string },
): void {
  const { entry } = redirect;
  const hasCaptures = /(?<!\\)\$\d/.test(to);
  if (!hasCaptures) {
    const inner = {
      ...redirect,
      scope: { ...redirect.scope, condition: allOf([path, redirect.scope.condition]) },
    };
    emitRedirect(state, inner, { tests: null, target: to.replace(/\\(.)/g, '$1') });
    return;
  }
  if (/\$0/.test(to)) markMissing(entry, '`$0` is the whole match, which has no equivalent');
  else if (pattern.except !== null || /\?.*\$\d/.test(to)) markMissing(entry, 'a query has no captures');
  else if (/^https?:\/\/[^/]*\$\d/i.test(to)) appendWhole(state, redirect, { pattern, to });
  else
    emitRedirect(state, redirect, {
      tests: [{ kind: 'regex', source: pattern.ignoreCase ? `(?i)${pattern.source}` : pattern.source }],
      target: to.replace(/\\(.)|\$(\d)|\$/g, (mark, one?: string, group?: string) =>
        group !== undefined ? `\${${group}}` : (one ?? mark).replaceAll('$', '$$$$'),
      ),
      target_mode: 'captures',
    });
}

/** `^(.*)$` to `https://host$1`. */
function appendWhole(
  state: ApacheImport,
  redirect: AliasRedirect,
  { pattern, to }: { readonly pattern: ApachePattern; readonly to: string },
): void {
  const [, before] = /^(https?:\/\/[^/$]+)\$1$/i.exec(to) ?? [];
  if (before === undefined || !/^\^?\(\/?\.[*+]\)\$?$/.test(pattern.source))
    markMissing(redirect.entry, 'a group is in the host of the target, which is literal text');
  else emitRedirect(state, redirect, { tests: null, target: before, preserve_path: true });
}
