/**
 * Joins the server that answers a host over plain http with the one that answers it over TLS. Rules have no filter on the
 * scheme, but a redirect to the request's own URL counts as unmatched: a redirect to https acts on plain http alone.
 */
import { addRule, type DraftEntry, markMissing, markNeedless } from '../draft.ts';
import { placeFields } from '../filter.ts';
import { passes } from '../text-test.ts';
import { casesOfIf } from './conditions.ts';
import { type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { hostFilter } from './rewrite-phase.ts';
import type { NginxServer } from './servers.ts';
import { matchesAll, type RedirectTarget, redirectTarget } from './targets.ts';

/** What a server answers to every path of a host. */
interface WholeAnswer {
  readonly directive: NginxDirective;
  readonly status: number;
  /** `null`: no redirect. */
  readonly redirect: RedirectTarget | null;
}

/** The two servers of a host. */
interface ServerPair {
  readonly plain: NginxServer;
  readonly main: NginxServer;
}

/** Translates what the server of plain http answers for the host. Returns its redirects. */
export function foldPlain(state: NginxImport, host: string, { plain, main }: ServerPair): EarlierOutcome[] {
  const answer = wholeAnswer(state, plain.block, host);
  if (answer === null) {
    const entry = entryOf(state, plain.directive);
    markMissing(
      entry,
      `\`${host}\`: the server of TLS answers it on every port, as rules have no filter on the scheme`,
    );
    return [];
  }
  const entry = entryOf(state, answer.directive);
  const { redirect, status } = answer;
  if (redirect !== null && redirect.target === `https://${host}` && redirect.preserve_path) {
    return addUpgrade(state, entry, { host, status, redirect });
  }
  const other = wholeAnswer(state, main.block, host);
  if (
    other !== null &&
    JSON.stringify([other.redirect, other.status]) === JSON.stringify([redirect, status])
  ) {
    markNeedless(entry, `the server of TLS answers \`${host}\` alike`);
    return [];
  }
  markMissing(entry, `\`${host}\`: it acts on plain http alone, and rules have no filter on the scheme`);
  return [];
}

/** Adds the redirect of a host to https. */
function addUpgrade(
  state: NginxImport,
  entry: DraftEntry,
  {
    host,
    status,
    redirect,
  }: { readonly host: string; readonly status: number; readonly redirect: RedirectTarget },
): EarlierOutcome[] {
  const filter = hostFilter(host);
  const { target, preserve_path, preserve_query } = redirect;
  const fields = { ...placeFields(filter), target, status_code: status, preserve_path, preserve_query };
  if (entry.outcome === 'not_needed') {
    entry.outcome = 'exact';
    entry.reasons.length = 0;
  }
  if (!addRule(state.draft, entry, 'redirect', fields)) return [];
  return [{ filter, place: entry.place }];
}

/** The answer of a block to every path of a host; `null`: it depends on the request. */
function wholeAnswer(state: NginxImport, block: readonly NginxDirective[], host: string): WholeAnswer | null {
  for (const directive of block) {
    if (directive.name === 'if') {
      const inner = ifAnswer(state, directive, host);
      if (inner === 'depends') return null;
      if (inner !== null) return inner;
    }
    if (directive.name === 'return' || directive.name === 'rewrite') return directAnswer(directive, host);
    if (directive.name === 'set') return null;
  }
  const locations = block.filter(({ name }) => name === 'location');
  const [only] = locations;
  // Tokens of certificate authorities pass redirects in the edge, so a location for them decides nothing here.
  const others = locations.filter(({ args }) => !args.at(-1)?.startsWith('/.well-known/acme-challenge'));
  if (only === undefined || others.length !== 1 || others[0]!.args.at(-1) !== '/') return null;
  return others[0]!.args.length === 1 ? wholeAnswer(state, others[0]!.block ?? [], host) : null;
}

/** The answer of an `if` on the host; `null`: it does not apply to this host. */
function ifAnswer(
  state: NginxImport,
  directive: NginxDirective,
  host: string,
): WholeAnswer | null | 'depends' {
  const cases = casesOfIf(state, directive);
  if (typeof cases === 'string') return 'depends';
  for (const { filter, bindings } of cases) {
    if (filter.pathIncludes !== null || filter.pathExcludes.length > 0 || bindings.size > 0) return 'depends';
    if (filter.ipIncludes !== null || filter.ipExcludes !== null) return 'depends';
    const isIncluded = filter.hostIncludes?.some((test) => passes(test, host)) ?? true;
    if (!isIncluded || filter.hostExcludes.some((test) => passes(test, host))) continue;
    return wholeAnswer(state, directive.block ?? [], host) ?? 'depends';
  }
  // An `if` of other hosts decides nothing for this one; its content is reported with theirs.
  entryOf(state, directive);
  return null;
}

/** The answer of a `return` or of a `rewrite` that matches every path. */
function directAnswer(directive: NginxDirective, host: string): WholeAnswer | null {
  const { name, args } = directive;
  const known = { host, bindings: new Map<string, string>(), capture: null };
  if (name === 'return') {
    const [first = '', second] = args;
    const isStatus = /^\d{3}$/.test(first);
    const value = second ?? (isStatus ? '' : first);
    const status = isStatus ? Number(first) : 302;
    if (status < 300 || status > 399) return { directive, status, redirect: null };
    const redirect = redirectTarget(value, known, false);
    return typeof redirect === 'string' ? null : { directive, status, redirect };
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
  return { directive, status: flag === 'permanent' ? 301 : 302, redirect };
}
