/**
 * Joins the server that answers a host over plain http with the one that answers it over TLS, where it redirects there: a redirect
 * to the request's own URL counts as unmatched, so that a redirect to https needs no condition and acts on plain http alone.
 */
import { REDIRECT_STATUSES } from '../../../base/vocabulary/vocabulary.ts';
import { addRule, type DraftEntry, markMissing, markNeedless } from '../draft.ts';
import { ruleFields } from '../filter.ts';
import { passes } from '../text-test.ts';
import { testOfIf } from './conditions.ts';
import { differ, type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { hostFilter } from './redirects.ts';
import type { NginxServer } from './servers.ts';
import {
  asksVisitor,
  isUpgrade,
  matchesAll,
  type RedirectTarget,
  redirectTarget,
  UPGRADE_OF_PATTERNS,
  valuePieces,
} from './targets.ts';

/** What a server answers to every path of a host. */
interface WholeAnswer {
  readonly directive: NginxDirective;
  readonly status: number;
  /** `null`: no redirect. */
  readonly redirect: RedirectTarget | null;
  /** What it leaves out. */
  readonly differences: readonly string[];
}

/** The two servers of a host. */
interface ServerPair {
  readonly plain: NginxServer;
  readonly main: NginxServer;
}

/** The redirects of a server of plain http that redirects the host to https, or answers as TLS does; `null`: it does something else. */
export function foldPlain(
  state: NginxImport,
  host: string,
  { plain, main }: ServerPair,
): readonly EarlierOutcome[] | null {
  const answer = wholeAnswer(state, plain, host);
  if (answer === null) return null;
  const entry = entryOf(state, answer.directive);
  const { redirect, status } = answer;
  const upgrade = redirect !== null && isUpgrade(redirect, host);
  if (upgrade) return addUpgrade(state, entry, { host, status, differences: answer.differences });
  const other = wholeAnswer(state, main, host);
  if (
    other !== null &&
    JSON.stringify([other.redirect, other.status]) === JSON.stringify([redirect, status])
  ) {
    markNeedless(entry, `the server of TLS answers \`${host}\` alike`);
    return [];
  }
  return null;
}

/** Whether a server redirects every path of a host to https. */
export function isWholeUpgrade(state: NginxImport, server: NginxServer, host: string): boolean {
  const redirect = wholeAnswer(state, server, host)?.redirect ?? null;
  return redirect !== null && isUpgrade(redirect, host);
}

/** Reports what the server of plain http does for hosts of wildcards and regexes, which no literal target names. */
export function foldPatterns(state: NginxImport, { plain, main }: ServerPair): void {
  if (plain.wildcards.length + plain.regexes.length === 0) return;
  const host = `any${plain.wildcards[0]?.slice(1) ?? '.example.com'}`;
  const answer = wholeAnswer(state, plain, host);
  if (answer === null || JSON.stringify(answer) === JSON.stringify(wholeAnswer(state, main, host))) return;
  markMissing(entryOf(state, answer.directive), UPGRADE_OF_PATTERNS);
}

/** Adds the redirect of a host to https. */
function addUpgrade(
  state: NginxImport,
  entry: DraftEntry,
  {
    host,
    status,
    differences,
  }: { readonly host: string; readonly status: number; readonly differences: readonly string[] },
): readonly EarlierOutcome[] {
  const filter = hostFilter(host);
  const target = { target: `https://${host}`, preserve_path: true, preserve_query: true };
  const status_code = REDIRECT_STATUSES.some((one) => one === status) ? status : 301;
  if (!addRule(state.draft, entry, 'redirect', { ...ruleFields(filter), ...target, status_code })) return [];
  differ(entry, differences);
  return [{ filter, place: entry.place, leadsElsewhere: false }];
}

/** The answer of a server to every path of a host; `null`: it depends on the request. */
function wholeAnswer(
  state: NginxImport,
  { block, firstName }: NginxServer,
  host: string,
): WholeAnswer | null {
  return blockAnswer(state, block, { host, bindings: new Map([['server_name', firstName]]) });
}

/** What is known of a request to a server. */
interface Known {
  readonly host: string;
  readonly bindings: Map<string, string | null>;
}

/** The answer of a block; what its directives set is known behind them. */
function blockAnswer(state: NginxImport, block: readonly NginxDirective[], known: Known): WholeAnswer | null {
  for (const directive of block) {
    const { name, args } = directive;
    if (name === 'if') {
      const inner = ifAnswer(state, directive, known);
      if (inner === 'depends') return null;
      if (inner !== null) return inner;
    }
    if (name === 'return' || name === 'rewrite') return directAnswer(directive, known);
    if (name === 'set') known.bindings.set(args[0]?.replace(/^\$/, '') ?? '', setValue(args[1] ?? '', known));
  }
  const locations = block.filter(({ name }) => name === 'location');
  // Tokens of certificate authorities pass redirects in the edge, so a location for them decides nothing here.
  const others = locations.filter(({ args }) => !args.at(-1)?.startsWith('/.well-known/acme-challenge'));
  const root = others.find(({ args }) => args.length === 1 && args[0] === '/');
  const answer = root === undefined ? null : blockAnswer(state, root.block ?? [], known);
  if (answer === null || others.length === 1) return answer;
  const rest = others.filter((one) => one !== root).map(({ args }) => `\`${args.join(' ')}\``);
  // Only a redirect to https may stand for what other locations do over plain http.
  if (answer.redirect === null || !isUpgrade(answer.redirect, known.host)) return null;
  const difference = `plain http of ${rest.join(', ')} is redirected to https as well; nginx has locations for it`;
  return { ...answer, differences: [difference] };
}

/** The value of a `set`; `null`: it depends on the request. */
function setValue(value: string, { host, bindings }: Known): string | null {
  const pieces = valuePieces(value.replaceAll(/\$(?:\{host\}|host\b)/g, host), bindings);
  return pieces.every(({ kind }) => kind === 'text')
    ? pieces.map((piece) => (piece.kind === 'text' ? piece.text : '')).join('')
    : null;
}

/** The answer of an `if` on the host; `null`: it does not apply to this host. */
function ifAnswer(
  state: NginxImport,
  directive: NginxDirective,
  known: Known,
): WholeAnswer | null | 'depends' {
  const { host } = known;
  const test = testOfIf(state, directive, known.bindings);
  if (typeof test === 'string') return 'depends';
  for (const { filter, bindings } of test.cases) {
    if (filter.pathIncludes !== null || filter.pathExcludes.length > 0 || bindings.size > 0) return 'depends';
    if (asksVisitor(filter)) return 'depends';
    const isIncluded = filter.hostIncludes?.some((test) => passes(test, host)) ?? true;
    if (!isIncluded || filter.hostExcludes.some((test) => passes(test, host))) continue;
    const body = directive.block ?? [];
    const answer = blockAnswer(state, body, known);
    // What an `if` sets is known behind it.
    return answer ?? (body.every(({ name }) => name === 'set') ? null : 'depends');
  }
  // An `if` of other hosts decides nothing for this one; its content is reported with theirs.
  entryOf(state, directive);
  return null;
}

/** The answer of a `return` or of a `rewrite` that matches every path. */
function directAnswer(directive: NginxDirective, context: Known): WholeAnswer | null {
  const { name, args } = directive;
  const known = { ...context, capture: null };
  const differences: readonly string[] = [];
  if (name === 'return') {
    const [first = '', second] = args;
    const isStatus = /^\d{3}$/.test(first);
    const value = second ?? (isStatus ? '' : first);
    const status = isStatus ? Number(first) : 302;
    if (status < 300 || status > 399) return { directive, status, redirect: null, differences };
    const redirect = redirectTarget(value, known, false);
    return typeof redirect === 'string' ? null : { directive, status, redirect, differences };
  }
  const [regex = '', replacement = '', flag = ''] = args;
  if (!matchesAll(regex) || !/^(?:https?:|\$scheme)/.test(replacement)) return null;
  const drops = replacement.endsWith('?');
  const capture = /^\^?\(\.\*\)\$?$/.test(regex) ? 'path' : regex.startsWith('^/(') ? 'rest' : null;
  const redirect = redirectTarget(
    drops ? replacement.slice(0, -1) : replacement,
    { ...known, capture },
    !drops,
  );
  if (typeof redirect === 'string') return null;
  return { directive, status: flag === 'permanent' ? 301 : 302, redirect, differences };
}
