/**
 * Translates `error_page`: a page that the configuration has as a text becomes an `error_page` rule. Rules choose no origin and no
 * redirect by a status, so that every other target is reported at its place.
 */
import { MAX_ERROR_CODE, MIN_ERROR_CODE } from '../../../base/vocabulary/limits.ts';
import { addRule, markDifference, markMissing } from '../draft.ts';
import { type ImportedFilter, placeFields } from '../filter.ts';
import { entryOf, type NginxImport } from './context.ts';
import { lastOf, type NginxDirective } from './parse-nginx.ts';

/** An `error_page`, read. */
interface ErrorPage {
  readonly codes: readonly number[];
  /** `null`: the status stays; 0: that of the target. */
  readonly status: number | null;
  readonly target: string;
}

/** Requests to which the same directives apply; the blocks are those around them, the innermost first. */
export interface ErrorPageScope {
  readonly filter: ImportedFilter;
  readonly blocks: readonly (readonly NginxDirective[])[];
}

function readErrorPage({ args }: NginxDirective): ErrorPage {
  const status = args.find((one) => one.startsWith('='));
  return {
    codes: args.slice(0, -1).flatMap((one) => (/^\d{3}$/.test(one) ? [Number(one)] : [])),
    status: status === undefined ? null : Number(status.slice(1)),
    target: args.at(-1) ?? '',
  };
}

/** The `error_page` directives of the innermost block that has one. */
function inherited(blocks: ErrorPageScope['blocks']): readonly NginxDirective[] {
  return (blocks.find((block) => lastOf(block, 'error_page') !== undefined) ?? []).filter(
    ({ name }) => name === 'error_page',
  );
}

/** The `error_page` that hands requests of no file to a named location, with the status that it answers. */
export function missingFilePage(blocks: ErrorPageScope['blocks']): NginxDirective | undefined {
  return inherited(blocks).find((one) => {
    const { codes, status, target } = readErrorPage(one);
    return codes.includes(404) && status === 0 && target.startsWith('@');
  });
}

/** The location of a target: the named one, the one of this path alone, or that of the longest prefix. */
function locationOf(target: string, server: readonly NginxDirective[]): NginxDirective | undefined {
  const locations = server.filter(({ name }) => name === 'location');
  const wanted = target.startsWith('@') ? target : `= ${target}`;
  const exact = locations.find(({ args }) => args.join(' ') === wanted);
  if (exact !== undefined || target.startsWith('@')) return exact;
  const prefixes = locations.filter(({ args }) => !/^(?:=|~)/.test(args[0] ?? ''));
  const matching = prefixes.filter(({ args }) => target.startsWith(args.at(-1) ?? '\n'));
  return matching.sort((one, other) => other.args.at(-1)!.length - one.args.at(-1)!.length)[0];
}

/** Directives of a location that do not change what a `return` answers. */
const SILENT = ['internal', 'default_type', 'charset', 'add_header', 'access_log', 'log_not_found', 'root'];

/** The text that a location answers with to every request; `null`: it does something else. */
function textOf({ block }: NginxDirective): { readonly text: string; readonly isHtml: boolean } | null {
  const [returned, ...more] = (block ?? []).filter(({ name }) => !SILENT.includes(name));
  if (returned?.name !== 'return' || more.length > 0) return null;
  const [status = '', text] = returned.args;
  if (!/^(?:200|[45]\d\d)$/.test(status) || text === undefined || text.includes('$')) return null;
  return { text, isHtml: lastOf(block!, 'default_type')?.args[0] === 'text/html' };
}

/** Why a target has no rule. */
function reasonOf({ target, status }: ErrorPage, location: NginxDirective | undefined): string {
  if (/^https?:/.test(target))
    return 'no rule redirects by a status; the edge answers with a page of its own';
  if (location !== undefined && textOf(location) !== null && status !== null)
    return 'an error_page rule changes no status; the edge answers with a page of its own';
  return `no rule hands requests on by a status: none of them reaches what \`${target}\` leads to, and the edge answers with a page of its own`;
}

/** Whether a location answers from files alone. */
function isFile(location: NginxDirective | undefined): boolean {
  const acts = /_pass$|^(?:return|rewrite|if|allow|deny|auth_\w+|try_files)$/;
  return !(location?.block ?? []).some(({ name }) => acts.test(name));
}

/** Translates the pages of a server; `used`: those that are carried over otherwise. Returns the locations of the carried ones. */
export function emitErrorPages(
  state: NginxImport,
  scopes: readonly ErrorPageScope[],
  {
    server,
    whole,
    used,
  }: {
    readonly server: readonly NginxDirective[];
    readonly whole: ImportedFilter;
    readonly used: readonly NginxDirective[];
  },
): readonly NginxDirective[] {
  const carried: NginxDirective[] = [];
  const groups = new Map<NginxDirective, ErrorPageScope[]>();
  for (const scope of scopes)
    for (const one of inherited(scope.blocks)) groups.set(one, [...(groups.get(one) ?? []), scope]);
  for (const [directive, members] of groups) {
    if (used.includes(directive)) continue;
    const page = readErrorPage(directive);
    const location = locationOf(page.target, server);
    const text = location === undefined ? null : textOf(location);
    const codes = page.codes.filter((code) => code >= MIN_ERROR_CODE && code <= MAX_ERROR_CODE);
    if (text === null || page.status !== null || codes.length === 0) {
      const isPage = page.target.startsWith('/') && isFile(location);
      // Pages of files are reported together.
      if (!isPage) markMissing(entryOf(state, directive), reasonOf(page, location));
      continue;
    }
    const entry = entryOf(state, directive);
    const filters = members.length === scopes.length ? [whole] : members.map(({ filter }) => filter);
    for (const filter of filters) {
      const fields = { ...placeFields(filter), mode: 'custom', codes, content: { '0': text.text } };
      if (addRule(state.draft, entry, 'error_page', fields)) carried.push(location!);
    }
    if (!text.isHtml) markDifference(entry, 'the edge sends the page as HTML');
    const intercepts = members.every(({ blocks }) => {
      const inner = blocks.find((block) => lastOf(block, 'proxy_intercept_errors') !== undefined) ?? [];
      return lastOf(inner, 'proxy_intercept_errors')?.args[0] === 'on';
    });
    if (!intercepts) markDifference(entry, 'the rule replaces pages of the origin with these statuses too');
  }
  return carried;
}
