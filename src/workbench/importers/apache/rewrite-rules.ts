/** The rules that `RewriteRule` becomes where it redirects, forwards to another server, or changes the path. */
import { markDifference, markMissing, markNeedless, tryRule } from '../draft.ts';
import {
  areDisjoint,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
  ruleFields,
} from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { passes, startOf, type TextTest } from '../text-test.ts';
import { type ApacheImport, allOf, holdsForPath, type PathTest } from './context.ts';
import type { ApachePattern } from './patterns.ts';
import { conditionGroups, type ReachedRewrite } from './rewrite-conditions.ts';
import { type KnownGroups, readTarget, type SubstitutedTarget } from './rewrite-target.ts';
import { inWorlds, type KnownWorld, worldsOf } from './variables.ts';

/** A target, and the regex that has its groups. */
interface PlacedTarget {
  readonly target: SubstitutedTarget;
  readonly regex: ApachePattern | null;
}

/** The target of a rule in a world. */
function targetIn(rule: ReachedRewrite, world: KnownWorld, isRedirect: boolean): PlacedTarget | string {
  const { conditions, flags, pattern, written, scope } = rule;
  const isRest = /^\^?\((?:\.\*|\.\+)\)\$?$/.test(written);
  const known = conditionGroups(conditions, world);
  const groups: KnownGroups = {
    path:
      isRest && !written.startsWith('!')
        ? scope.perDirectory && scope.base === '/'
          ? 'rest'
          : scope.perDirectory
            ? null
            : 'whole'
        : null,
    tainted: /^\((?:\^\|\/|\/\|\^)\)/.test(written) ? [1] : [],
    conditions: known === 'path' && pattern !== null ? null : known,
  };
  const target = readTarget(resolved(rule, isRedirect), {
    world,
    groups,
    flags: {
      appendsQuery: flags.has('QSA'),
      dropsQuery: flags.has('QSD'),
      isRedirect,
      noEscape: flags.has('NE'),
    },
  });
  if (typeof target === 'string') return target;
  if (isRedirect && !/^(?:https?:\/\/[^/]|\/(?!\/)|$)/i.test(target.path))
    return 'its target is no path and no URL of http or https';
  const ofConditions = known === 'path' && pattern === null ? lastPath(rule) : null;
  return { target, regex: target.hasCaptures ? (ofConditions ?? pattern ?? wholePattern(rule)) : null };
}

/** The regex of the last condition over the path. */
function lastPath({ conditions }: ReachedRewrite): ApachePattern | null {
  return conditions.findLast(({ groups }) => groups !== null)?.groups?.pattern ?? null;
}

/** A pattern that matches every path, for its groups. */
function wholePattern({ written, scope }: ReachedRewrite): ApachePattern | null {
  if (!written.includes('(') || written.startsWith('!')) return null;
  const source = scope.perDirectory ? `^${scope.base}${written.replace(/^\^/, '')}` : written;
  return { source, except: null, ignoreCase: false };
}

/** The substitution with its folder. */
function resolved({ substitution, rewriteBase, scope }: ReachedRewrite, isRedirect: boolean): string {
  if (/^(?:\/|https?:|%\{|\$|%\d)/i.test(substitution) && !/^\$\d/.test(substitution)) return substitution;
  if (!scope.perDirectory || /^[a-z][a-z0-9+.-]*:/i.test(substitution)) return substitution;
  const base = rewriteBase ?? (isRedirect ? null : scope.base);
  return base === null ? substitution : `${base.replace(/\/$/, '')}/${substitution}`;
}

/** Adds the redirects of a rule: one for all hosts and schemes, or one for each target that follows from them. */
export function emitRedirects(state: ApacheImport, rule: ReachedRewrite, status: number): void {
  const { entry, active } = rule;
  const groups = new Map<string, { readonly placed: PlacedTarget | string; readonly worlds: KnownWorld[] }>();
  const worlds = worldsOf(state).filter((world) => !isUnmet(allOf([active, only(state, [world])])));
  for (const world of worlds) {
    const placed = targetIn(rule, world, true);
    const key = JSON.stringify(placed);
    if (isInternal(rule, placed, world))
      markDifference(
        entry,
        `Apache rewrites the path on \`${world.host}\` itself, since the rule has no \`R\``,
      );
    if (groups.has(key)) groups.get(key)!.worlds.push(world);
    else groups.set(key, { placed, worlds: [world] });
  }
  noteIndexes(state, rule, 'redirects');
  if (worlds.length === 0) markNeedless(entry, 'no request meets its conditions');
  for (const { placed, worlds: own } of groups.values()) {
    if (typeof placed === 'string') {
      markMissing(entry, placed);
      continue;
    }
    const condition = groups.size === 1 ? active : allOf([active, only(state, own)]);
    addAlternatives(state.draft, entry, {
      condition: withRegex(condition, placed.regex),
      differences: rule.differences,
      unmet: 'no request meets its conditions',
      emit: (filter) => emitRedirect(state, rule, { filter, placed, status }),
    });
  }
}

/** Whether a URL without `R` is one of the host that is asked, of which Apache takes the path alone. */
function isInternal(
  { flags }: ReachedRewrite,
  placed: PlacedTarget | string,
  { host, scheme }: KnownWorld,
): boolean {
  return (
    typeof placed !== 'string' && !flags.has('R') && placed.target.path.startsWith(`${scheme}://${host}/`)
  );
}

/** Says that Apache acts on folders by their index, which the rule does not match by their path. */
function noteIndexes({ indexes }: ApacheImport, { entry, active }: ReachedRewrite, verb: string): void {
  const holdsFor = (path: string): boolean | null =>
    holdsForPath(active, (tests) => tests.some((test) => passes(test, path)));
  if (holdsFor('/') === false && indexes.some((index) => holdsFor(`/${index}`) !== false))
    markDifference(entry, `Apache also ${verb} folders whose index it matches`);
}

function only(state: ApacheImport, worlds: readonly KnownWorld[]): ImportedCondition {
  return inWorlds(state, ({ host, scheme }) =>
    worlds.some((one) => one.host === host && one.scheme === scheme),
  );
}

function isUnmet(condition: ImportedCondition): boolean {
  const alternatives = filtersOf(condition);
  return alternatives.ok && alternatives.filters.length === 0;
}

/** The test of the path that has the groups, as the regex itself; literal texts have no groups. */
function withRegex(condition: ImportedCondition, regex: ApachePattern | null): ImportedCondition {
  return regex === null ? condition : allOf([{ kind: 'path', tests: [regexTest(regex)] }, condition]);
}

function regexTest({ source, ignoreCase }: ApachePattern): TextTest {
  return { kind: 'regex', source: ignoreCase ? `(?i)${source}` : source };
}

/** Whether a filter has the regex alone, so that groups are its own. */
function hasGroups({ pathIncludes }: ImportedFilter, regex: ApachePattern | null): boolean {
  return regex === null || JSON.stringify(pathIncludes) === JSON.stringify([regexTest(regex)]);
}

const OTHER_PATHS = 'captures need its pattern alone, and another test of the path applies too';

function emitRedirect(
  state: ApacheImport,
  { entry, directive, scope }: ReachedRewrite,
  {
    filter,
    placed,
    status,
  }: { readonly filter: ImportedFilter; readonly placed: PlacedTarget; readonly status: number },
): string | null {
  const { target, regex } = placed;
  if (!hasGroups(filter, regex)) return OTHER_PATHS;
  const query = target.query === null || target.query === '' ? '' : `?${target.query}`;
  const path = target.path === '' ? '/' : target.path;
  const fields = {
    ...ruleFields(filter),
    target: (target.hasCaptures ? path : path.replaceAll('$$', '$')) + query,
    status_code: status === 303 ? 302 : status,
    preserve_path: target.appendsPath,
    preserve_query: target.query === null || target.appendsQuery,
    ...(target.hasCaptures ? { target_mode: 'captures' } : {}),
  };
  const failure = tryRule(state.draft, entry, 'redirect', fields);
  if (failure !== null) return failure;
  if (status === 303) markDifference(entry, 'the edge answers 302; Apache answers 303');
  state.redirects.push({ filter, place: directive.place, isOfServer: !scope.perDirectory });
  return null;
}

/** Adds the origin of a rule with `P`. */
export function emitOrigin(state: ApacheImport, rule: ReachedRewrite): void {
  const { entry, active, directive } = rule;
  const [world] = worldsOf(state);
  const placed = world === undefined ? 'no host is known' : targetIn(rule, world, true);
  const [, scheme, address, port, path = ''] =
    typeof placed === 'string'
      ? []
      : (/^(https?):\/\/([^/:$]+)(?::(\d+))?(.*)$/i.exec(placed.target.path) ?? []);
  if (typeof placed === 'string' || scheme === undefined) {
    markMissing(entry, typeof placed === 'string' ? placed : 'its target is no URL of http or https');
    return;
  }
  const host = port === undefined ? address! : `${address}:${port}`;
  const isSame = path === '' && placed.target.appendsPath && placed.target.query === null;
  const added = addAlternatives(state.draft, entry, {
    condition: withRegex(active, isSame ? null : placed.regex),
    differences: [
      ...rule.differences,
      'the origin gets its own name as Host, without the rewriting of Apache in answers',
    ],
    unmet: 'no request meets its conditions',
    emit: (filter) => {
      const fields = { ...ruleFields(filter), address, scheme, host_header: host };
      const failure = tryRule(
        state.draft,
        entry,
        'origin_route',
        port === undefined ? fields : { ...fields, port: Number(port) },
      );
      if (failure !== null || isSame) return failure;
      if (!hasGroups(filter, placed.regex)) return OTHER_PATHS;
      return tryRule(state.draft, entry, 'rewrite', {
        ...ruleFields(filter),
        ...rewriteFields({ ...placed.target, path }),
      });
    },
  });
  if (added) noteOverlap(state, rule, directive.place);
}

/** Redirects come before origins on both sides; a later redirect of the file would be first. */
function noteOverlap(state: ApacheImport, { entry, active }: ReachedRewrite, place: string): void {
  const alternatives = filtersOf(active);
  if (!alternatives.ok) return;
  const earlier = state.redirects.find(
    (one) => one.place !== place && alternatives.filters.some((filter) => !areDisjoint(filter, one.filter)),
  );
  if (earlier !== undefined && earlier.filter.pathIncludes === null && earlier.filter.facts.length === 0)
    markDifference(entry, `${earlier.place} redirects some of its requests`);
}

function rewriteFields({ path, query, appendsQuery, hasCaptures, appendsPath }: SubstitutedTarget): object {
  const path_target = appendsPath && path === '' ? '' : hasCaptures ? path : path.replaceAll('$$', '$');
  if (query === null) return { path_target };
  if (query === '') return { path_target, query_mode: appendsQuery ? 'preserve' : 'strip' };
  return { path_target, query_mode: 'replace', query_target: query };
}

/** Adds the rule of a path that the origin gets; the result is a rule that also acts on that path. */
export function emitPath<Rule>(
  state: ApacheImport,
  rule: ReachedRewrite,
  other: (test: PathTest) => Rule | undefined,
): Rule | undefined {
  const { entry, active } = rule;
  const [world] = worldsOf(state);
  const placed = world === undefined ? 'no host is known' : targetIn(rule, world, false);
  if (typeof placed !== 'string') {
    const test = writtenTest(rule, placed.target);
    state.written.push({ entry, condition: active, test });
    const found = rule.isOfFiles ? undefined : other(test);
    if (found !== undefined) return found;
  }
  if (rule.isOfFiles) {
    markNeedless(entry, 'it is for paths that are no files, which the origin knows');
    return undefined;
  }
  if (typeof placed === 'string') {
    markMissing(entry, placed);
    return undefined;
  }
  noteIndexes(state, rule, 'rewrites');
  const { target, regex } = placed;
  if (!/^\//.test(target.path) && !target.appendsPath) markMissing(entry, 'its target is no path');
  else if (target.appendsPath && target.path !== '')
    markMissing(entry, 'a path before that of the visitor needs a pattern with a group');
  else if (target.query !== null && target.query !== '' && target.appendsQuery)
    markMissing(entry, 'a rewrite has the query of its target or that of the visitor');
  else
    addAlternatives(state.draft, entry, {
      condition: withRegex(active, regex),
      differences: rule.differences,
      unmet: 'no request meets its conditions',
      emit: (filter) =>
        hasGroups(filter, regex)
          ? tryRule(state.draft, entry, 'rewrite', { ...ruleFields(filter), ...rewriteFields(target) })
          : OTHER_PATHS,
    });
  return undefined;
}

/** Tests of the path that a rule writes: known as far as its text before the first group. */
function writtenTest(
  { written }: ReachedRewrite,
  { path, hasCaptures, appendsPath }: SubstitutedTarget,
): PathTest {
  const isWhole = !hasCaptures && !appendsPath;
  const text = path.replaceAll('$$', '$');
  const start = text.split('${')[0]!;
  const hasSameEnd = /\((?:\.\*|\.\+)\)\$?$/.test(written) && /(?:\/|^)\$\{\d\}$/.test(path);
  return (test) => {
    if (isWhole) return passes(test, text);
    const first = startOf(test);
    if (first !== '' && !first.startsWith(start) && !start.startsWith(first)) return false;
    const isSuffix = test.kind === 'pieces' ? first === '' : !test.source.startsWith('^');
    return isSuffix && (hasSameEnd || appendsPath) ? false : null;
  };
}
