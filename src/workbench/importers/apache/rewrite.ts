/**
 * `RewriteRule` and its conditions: redirects, refusals, and paths that the origin gets. Rules run in their order; one that ends
 * the run takes its requests away from those behind it.
 */
import { type DraftEntry, markMissing, markNeedless } from '../draft.ts';
import { filtersOf, type ImportedCondition } from '../filter.ts';
import {
  type ApacheImport,
  type ApacheScope,
  allOf,
  entryFor,
  holdsForPath,
  notOf,
  type PathTest,
  sameCondition,
  someTest,
  unknownTest,
} from './context.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { type ApachePattern, pathTests, readPattern, wholePath } from './patterns.ts';
import { refuse } from './refuse.ts';
import {
  joinConditions,
  type ReachedRewrite,
  type ReadRewrite,
  type RewriteCondition,
  type RewriteFlags,
  readRewriteCondition,
  withoutFiles,
} from './rewrite-conditions.ts';
import { emitOrigin, emitPath, emitRedirects } from './rewrite-rules.ts';
import { testPath } from './variables.ts';
import { anyResult } from './written-paths.ts';

const LONG_FLAGS: Readonly<Record<string, string>> = {
  redirect: 'R',
  last: 'L',
  forbidden: 'F',
  gone: 'G',
  proxy: 'P',
  nocase: 'NC',
  qsappend: 'QSA',
  qsdiscard: 'QSD',
  noescape: 'NE',
  chain: 'C',
  skip: 'S',
  next: 'N',
  env: 'E',
  cookie: 'CO',
  type: 'T',
  handler: 'H',
  passthrough: 'PT',
  discardpath: 'DPI',
};

function readFlags(text: string): RewriteFlags {
  const flags = new Map<string, string>();
  for (const one of text.replace(/^\[|\]$/g, '').split(',')) {
    const [, name = '', value = ''] = /^\s*([A-Za-z]+)(?:[=|](.*))?\s*$/s.exec(one) ?? [];
    if (name !== '') flags.set(LONG_FLAGS[name.toLowerCase()] ?? name.toUpperCase(), value);
  }
  return flags;
}

/** Translates the directives of mod_rewrite of one folder or server. */
export function translateRewrites(
  state: ApacheImport,
  scope: ApacheScope,
  directives: readonly ApacheDirective[],
): void {
  const isOff = directives.findLast(({ name }) => name === 'rewriteengine')?.args[0]?.toLowerCase() !== 'on';
  const rewriteBase = directives.findLast(({ name }) => name === 'rewritebase')?.args[0] ?? null;
  const rules: ReadRewrite[] = [];
  let conditions: RewriteCondition[] = [];
  for (const one of directives) {
    if (one.name === 'rewritecond') conditions.push(readRewriteCondition(state, one));
    if (one.name !== 'rewriterule') continue;
    rules.push(readRule(one, conditions, scope));
    conditions = [];
  }
  const flow: Flow = { ended: [], rewritten: [], redirected: [], chain: null, skips: [] };
  for (const rule of rules) {
    const entry = entryFor(state, rule.directive);
    if (isOff) markNeedless(entry, '`RewriteEngine` is not on');
    else runRule(state, flow, { rule, entry, scope, rewriteBase, rules });
  }
}

/** What earlier rules leave to later ones. */
interface Flow {
  /** Requests that rules have taken. */
  readonly ended: ImportedCondition[];
  /** Requests whose path rules have rewritten. */
  readonly rewritten: ImportedCondition[];
  /** Requests of a host or a scheme that a redirect has taken; a rule that refuses, which the edge has first, except them. */
  readonly redirected: ImportedCondition[];
  /** The requests that the rule before, with `C`, has matched. */
  chain: ImportedCondition | null;
  skips: { readonly condition: ImportedCondition; left: number }[];
}

function readRule(
  directive: ApacheDirective,
  conditions: readonly RewriteCondition[],
  scope: ApacheScope,
): ReadRewrite {
  const [written = '', substitution = '', flagText = ''] = directive.args;
  const flags = readFlags(flagText);
  const isNegated = written.startsWith('!');
  const read = readPattern(isNegated ? written.slice(1) : written, flags.has('NC'));
  const whole = typeof read === 'string' || !scope.perDirectory ? read : wholePath(read, scope.base);
  const path =
    typeof whole === 'string'
      ? unknownTest(written, `is a pattern without a filter: ${whole}`)
      : patternTest(whole);
  const isAll = path.kind === 'constant';
  return {
    directive,
    conditions,
    flags,
    substitution,
    written,
    pattern: typeof whole === 'string' || isNegated || isAll ? null : whole,
    matches: allOf([isNegated ? notOf(path) : path, joinConditions(conditions)]),
    differences: conditions.flatMap(({ differences }) => differences),
    isWide: conditions.some(({ isWide }) => isWide),
    isOfFiles: conditions.some(({ isOfFiles }) => isOfFiles),
  };
}

function patternTest(pattern: ApachePattern): ImportedCondition {
  return testPath({ kind: 'regex', pattern });
}

interface RuleInFlow {
  readonly rule: ReadRewrite;
  readonly entry: DraftEntry;
  readonly scope: ApacheScope;
  readonly rewriteBase: string | null;
  readonly rules: readonly ReadRewrite[];
}

function runRule(
  state: ApacheImport,
  flow: Flow,
  { rule, entry, scope, rewriteBase, rules }: RuleInFlow,
): void {
  const skipped = flow.skips.filter(({ left }) => left > 0);
  for (const skip of skipped) skip.left--;
  const reaching = allOf([
    scope.condition,
    ...(flow.chain === null ? [] : [flow.chain]),
    ...[...flow.ended, ...skipped.map(({ condition }) => condition)].map(notOf),
  ]);
  const ofWritten = allOf([reaching, rule.matches]);
  const taken = rule.isWide ? unknownTest(rule.directive.text, 'is not exact') : rule.matches;
  const acting = {
    ...rule,
    entry,
    scope,
    rewriteBase,
    ofWritten,
    active: allOf([ofWritten, ...flow.rewritten.map(notOf)]),
  };
  const { flags } = rule;
  flow.chain = flags.has('C') ? allOf([...(flow.chain === null ? [] : [flow.chain]), taken]) : null;
  if (flags.has('S')) flow.skips.push({ condition: taken, left: Number(flags.get('S')) || 0 });
  setVariable(state, acting, taken);
  if (flags.has('CO')) markMissing(entry, 'a cookie that a rule sets has no equivalent');
  if (flags.has('N')) {
    markMissing(entry, 'it runs the rules again from the first, which has no equivalent');
    return;
  }
  const outcome = act(state, acting, { rules, flow });
  if (outcome === 'ends') flow.ended.push(taken);
  if (outcome === 'rewrites') flow.rewritten.push(taken);
  if (outcome === 'redirects' && entry.outcome !== 'not_carried' && isShort(taken))
    flow.redirected.push(taken);
}

/** `E=name:value`. */
function setVariable(
  { environment }: ApacheImport,
  { flags, active }: ReachedRewrite,
  taken: ImportedCondition,
): void {
  const [, isUnset, name, value] = /^(!?)([^:]+)(?::(.*))?$/s.exec(flags.get('E') ?? '') ?? [];
  if (name === undefined) return;
  const condition = taken.kind === 'unknown' ? taken : active;
  environment.set(name, [
    ...(environment.get(name) ?? []),
    { value: isUnset === '' ? (value ?? '') : null, condition },
  ]);
}

const REDIRECTS: Readonly<Record<string, number>> = { '': 302, permanent: 301, temp: 302, seeother: 303 };

/** Whether the opposite of a condition is one filter without paths. */
function isShort(condition: ImportedCondition): boolean {
  const others = filtersOf(notOf(condition));
  if (!others.ok) return false;
  return (
    others.filters.length === 1 &&
    others.filters[0]!.pathIncludes === null &&
    others.filters[0]!.pathExcludes.length === 0
  );
}

/** Adds what a rule does, and says what becomes of its requests. */
function act(
  state: ApacheImport,
  rule: ReachedRewrite,
  { rules, flow }: { readonly rules: readonly ReadRewrite[]; readonly flow: Flow },
): 'ends' | 'rewrites' | 'redirects' | 'goes on' | 'refuses' {
  const { flags, entry, substitution, differences, active } = rule;
  const written = flags.get('R');
  const status = written === undefined ? null : (REDIRECTS[written.toLowerCase()] ?? Number(written));
  const refusal = flags.has('F')
    ? 403
    : flags.has('G')
      ? 410
      : status !== null && status >= 400
        ? status
        : null;
  if (refusal !== null) {
    refuse(state, entry, {
      condition: allOf([active, ...flow.redirected.map(notOf)]),
      ofWritten: allOf([rule.ofWritten, ...flow.redirected.map(notOf)]),
      status: refusal,
      differences,
      unmet: 'no request reaches it',
    });
    return 'refuses';
  }
  if (substitution === '-' && status === null) {
    const ends = flags.has('L') || flags.has('END');
    if (flags.has('CO')) return ends ? 'ends' : 'goes on';
    markNeedless(entry, ends ? 'rules behind it except its requests' : 'it changes nothing about requests');
    return ends ? 'ends' : 'goes on';
  }
  if (status !== null && (status < 300 || !Number.isInteger(status))) {
    markMissing(entry, `the status ${written} has no rule`);
    return 'ends';
  }
  if (flags.has('P')) {
    emitOrigin(state, rule);
    return 'ends';
  }
  if (status !== null || /^https?:\/\//i.test(substitution)) {
    emitRedirects(state, withKnownFiles(rule), status ?? 302);
    return 'redirects';
  }
  rewritePath(state, rule, rules);
  return 'rewrites';
}

/** A redirect of single paths is carried over without its tests of files. */
function withKnownFiles(rule: ReachedRewrite): ReachedRewrite {
  const asked = withoutFiles(rule.active);
  if (sameCondition(asked, rule.active) || !hasSinglePaths(rule)) return rule;
  const difference = 'it redirects also where a file of that name exists, which Apache serves';
  return { ...rule, active: asked, differences: [...rule.differences, difference] };
}

function hasSinglePaths({ pattern }: ReachedRewrite): boolean {
  if (pattern === null || pattern.except !== null) return false;
  return pathTests(pattern.source, pattern.ignoreCase).every(
    (test) => test.kind === 'pieces' && test.pieces.length === 1,
  );
}

/** A path that the origin gets. */
function rewritePath(state: ApacheImport, rule: ReachedRewrite, rules: readonly ReadRewrite[]): void {
  const { entry } = rule;
  const at = rules.findIndex(({ directive }) => directive === rule.directive);
  const other = emitPath(state, rule, (test) =>
    rules.find((one, index) => index !== at && changesPath(one) && concerns(one, test, index > at)),
  );
  if (other !== undefined)
    markMissing(entry, `the rule of ${other.directive.place} also acts on the path that it writes`);
}

/** Whether a rule redirects or rewrites, for files and others alike. */
function changesPath({ substitution, flags, isOfFiles }: ReadRewrite): boolean {
  return substitution !== '-' && !isOfFiles && !flags.has('F') && !flags.has('G');
}

/** Whether a rule may act on a path that another wrote; one of every path has acted before, unless it is later. */
function concerns({ matches }: ReadRewrite, test: PathTest, isLater: boolean): boolean {
  const hasPath = someTest(matches, ({ kind }) => kind === 'path');
  return (hasPath || isLater) && holdsForPath(matches, (tests) => anyResult(tests.map(test))) !== false;
}
