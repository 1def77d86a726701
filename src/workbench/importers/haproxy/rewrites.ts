/** Lines that change the path or the query of a request, as rewrite rules. */
import { addRule, type DraftEntry, markDifference, markMissing } from '../draft.ts';
import { filtersOf, type ImportedCondition, type ImportedFilter, ruleFields } from '../filter.ts';
import { addAlternatives } from '../guard.ts';
import { escapeRegex, regexText, startsWithText, type TextTest } from '../text-test.ts';
import {
  allOf,
  entryOf,
  type HaproxyImport,
  noneOf,
  type ReplacedStart,
  simplified,
  type Walk,
} from './context.ts';
import { formatPieces } from './log-format.ts';
import type { HaproxyLine } from './parse-haproxy.ts';
import type { ActionLine } from './redirects.ts';
import { filterParts } from './refusals.ts';

/** The actions. */
export const REWRITE_ACTIONS = [
  'set-path',
  'replace-path',
  'set-query',
  'set-uri',
  'set-pathq',
  'replace-uri',
  'replace-pathq',
];

/** A rewrite as a rule has it. */
interface Rewrite {
  readonly fields: {
    readonly path_target?: string;
    readonly query_mode?: 'preserve' | 'strip' | 'replace';
    readonly query_target?: string;
  };
  /** The regex of whose groups the target is made; `null`: it is literal. */
  readonly regex: TextTest | null;
  /** The path afterwards, where it is known. */
  readonly path: string | ReplacedStart | null;
}

/** A line that changes the path or the query. */
interface RewriteLine extends ActionLine {
  /** The condition as it is of the path that the visitor has sent. */
  readonly original: ImportedCondition;
}

/** Adds the rules of a line. */
export function rewriteRequest(
  state: HaproxyImport,
  walk: Walk,
  line: HaproxyLine,
  { words, condition, original }: RewriteLine,
): void {
  const entry = entryOf(state, line);
  const written = line.hasVariable ? 'it depends on the environment of HAProxy' : readRewrite(words);
  const others = [walk.scope, ...noneOf(walk.allowed)];
  const rewrite = typeof written === 'string' ? written : anchored(written, allOf(original, ...others));
  const matching = typeof rewrite === 'string' ? [] : matchingPaths(rewrite);
  const inSource = allOf(...matching, condition, ...others);
  const before = walk.changes.filter(({ target }) => target === 'path');
  if (words[0] !== 'set-query') noteChange(walk, line, { condition: inSource, rewrite });
  if (typeof rewrite === 'string') {
    markMissing(entry, rewrite);
    return;
  }
  for (const earlier of before) {
    const both = filtersOf(allOf(earlier.condition, inSource));
    if (!both.ok || both.filters.length > 0)
      markDifference(entry, `requests that ${earlier.place} rewrites are not rewritten again`);
  }
  const rewritten = before.map((earlier) => earlier.condition).filter((one) => filtersOf(one).ok);
  addAlternatives(state.draft, entry, {
    condition: allOf(...matching, original, ...others, ...noneOf(rewritten)),
    differences: [],
    unmet: 'no request meets its condition',
    emit: (filter) => emitRewrite(state, entry, rewrite, filter),
  });
}

/** The paths that a rewrite changes. */
function matchingPaths({ regex, path }: Rewrite): readonly ImportedCondition[] {
  if (regex === null) return [];
  const isStart = path !== null && typeof path === 'object';
  return [{ kind: 'path', tests: [isStart ? startsWithText(path.from) : regex] }];
}

function emitRewrite(
  state: HaproxyImport,
  entry: DraftEntry,
  { fields, regex, path }: Rewrite,
  filter: ImportedFilter,
): string | null {
  let own = filter;
  if (regex !== null && fields.path_target?.includes('${') === true) {
    const tests = filter.pathIncludes ?? [];
    const captured =
      path !== null && typeof path === 'object'
        ? tests.map((test) => capturingRest(test, path.from))
        : JSON.stringify(tests) === JSON.stringify([regex])
          ? [regex]
          : [null];
    if (captured.includes(null)) return 'its condition has another test of the path, which has no groups';
    own = { ...filter, pathIncludes: captured as readonly TextTest[] };
  }
  for (const part of filterParts(own))
    addRule(state.draft, entry, 'rewrite', { ...ruleFields(part), ...fields });
  return null;
}

/** A test of a path that begins with a text, as a regex whose group is the rest; `null`: it is another test. */
function capturingRest(test: TextTest, from: string): TextTest | null {
  if (test.kind === 'regex' || test.pieces.length > 2 || (test.pieces[1] ?? '') !== '') return null;
  const [start = ''] = test.pieces;
  if (!start.startsWith(from))
    return from.startsWith(start) ? capturingRest(startsWithText(from), from) : null;
  const rest = `${escapeRegex(start.slice(from.length))}${test.pieces.length === 2 ? '.*' : ''}`;
  return { kind: 'regex', source: `^${escapeRegex(from)}(${rest})$` };
}

/**
 * A regex that begins with a literal text matches at the start of each path that begins with the text, so that it has an anchor
 * where the condition asks for that start.
 */
function anchored(rewrite: Rewrite, condition: ImportedCondition): Rewrite {
  const source = rewrite.regex?.kind === 'regex' ? rewrite.regex.source : '';
  const start = /^(?:[\w/~@:,=&-]|\\[./-])+(?![*+?{|])/.exec(source)?.[0].replaceAll('\\', '') ?? '';
  const read = filtersOf(condition);
  if (start === '' || source.includes('|') || !read.ok) return rewrite;
  const isStart = ({ pathIncludes }: ImportedFilter): boolean =>
    pathIncludes?.every(
      (test) =>
        test.kind === 'pieces' &&
        test.pieces.length === 2 &&
        test.pieces[1] === '' &&
        start.startsWith(test.pieces[0]!),
    ) ?? false;
  return read.filters.every(isStart) ? withStart(`^${source}`, rewrite) : rewrite;
}

/** The rewrite with an anchored regex. */
function withStart(source: string, rewrite: Rewrite): Rewrite {
  const from = /^\^((?:[\w/~@:,=&-]|\\[./-])*)\(\.\*\)\$?$/.exec(source)?.[1]?.replaceAll('\\', '');
  const to = /^([^$]*)\$\{1\}$/.exec(rewrite.fields.path_target ?? '')?.[1];
  const path = from === undefined || to === undefined ? rewrite.path : { from, to };
  return { ...rewrite, regex: { kind: 'regex', source }, path };
}

/** Notes what later tests of the path see. */
function noteChange(
  walk: Walk,
  { place }: HaproxyLine,
  { condition, rewrite }: { readonly condition: ImportedCondition; readonly rewrite: Rewrite | string },
): void {
  const value = typeof rewrite === 'string' ? undefined : (rewrite.path ?? undefined);
  walk.changes = [...walk.changes, { target: 'path', condition: simplified(condition), value, place }];
}

/** Reads the words of a line; a text is the reason why it has no equivalent. */
function readRewrite([action = '', first = '', second = '']: readonly string[]): Rewrite | string {
  switch (action) {
    case 'set-path':
      return readPath(first);
    case 'set-query':
      return readQuery(first);
    case 'replace-path':
      return readReplacement(first, second);
    case 'set-uri':
    case 'set-pathq':
      return readUri(first);
    default:
      return readUriReplacement(first, second);
  }
}

const NO_TARGET = 'its target has parts without an equivalent in that of a rewrite';

function readPath(format: string): Rewrite | string {
  const pieces = formatPieces(format);
  if (typeof pieces === 'string') return `\`${pieces}\` has no equivalent in the target of a rewrite`;
  const [first, last] = pieces;
  if (pieces.length === 1 && first?.kind === 'text')
    return { fields: { path_target: first.text }, regex: null, path: first.text };
  const isRest = pieces.length <= 2 && pieces.at(-1)?.kind === 'path';
  if (isRest && (pieces.length === 1 || first?.kind === 'text')) {
    const text = first?.kind === 'text' ? literal(first.text) : '';
    return withRegex('^(.*)$', `${text}\${1}`);
  }
  // `%[path,regsub(^/api/,/)]` replaces the start of the path.
  const only = pieces.length === 1 && last === undefined && first?.kind === 'sample' ? first.calls : [];
  const [fetch, regsub, ...more] = only;
  const [regex = '', replacement = ''] = regsub?.args ?? [];
  if (fetch?.name !== 'path' || regsub?.name !== 'regsub' || more.length > 0) return NO_TARGET;
  const start = /^\^([\w/~@:,=&-]*)$/.exec(regex)?.[1];
  if (start === undefined || /[\\%]/.test(replacement)) return NO_TARGET;
  return withRegex(`^${escapeRegex(start)}(.*)$`, `${literal(replacement)}\${1}`);
}

/** A literal text in a target. */
function literal(text: string): string {
  return text.replaceAll('$', '$$$$');
}

function readQuery(format: string): Rewrite | string {
  const pieces = formatPieces(format);
  if (typeof pieces === 'string' || pieces.some(({ kind }) => kind !== 'text')) return NO_TARGET;
  return {
    fields: queryFields(pieces.map((one) => (one.kind === 'text' ? one.text : '')).join('')),
    regex: null,
    path: null,
  };
}

function queryFields(query: string): Rewrite['fields'] {
  return query === '' ? { query_mode: 'strip' } : { query_mode: 'replace', query_target: query };
}

function readUri(format: string): Rewrite | string {
  const pieces = formatPieces(format);
  if (typeof pieces === 'string' || pieces.length !== 1 || pieces[0]!.kind !== 'text') return NO_TARGET;
  const [path = '', ...query] = pieces[0]!.text.split('?');
  if (!path.startsWith('/')) return 'a rewrite changes the path and the query, not the host of a URL';
  return { fields: { path_target: path, ...queryFields(query.join('?')) }, regex: null, path };
}

/** `replace-path`: a path that matches is replaced as a whole. */
function readReplacement(regex: string, replacement: string): Rewrite | string {
  const isWhole = replacement.includes('\\0');
  const shift = isWhole ? 1 : 0;
  const pieces = formatPieces(replacement);
  if (typeof pieces === 'string' || pieces.some(({ kind }) => kind !== 'text')) return NO_TARGET;
  const text = pieces.map((one) => (one.kind === 'text' ? one.text : '')).join('');
  const target = literal(text).replace(/\\(\d)/g, (_, group: string) => `\${${Number(group) + shift}}`);
  if (target.includes('\\')) return NO_TARGET;
  return withRegex(isWhole ? `(${regex})` : regex, target);
}

/** `replace-uri` where the query is in the last group, with which both the regex and the target end. */
function readUriReplacement(regex: string, replacement: string): Rewrite | string {
  const groups = [...regex.matchAll(/(?<!\\)\((?!\?)/g)].length;
  const isRest = /^\^?(?:[\w/-]|\\[./-]|[()|])*\(\.\*\)\$?$/.test(regex);
  const uses = replacement.split(`\\${groups}`).length - 1;
  const reason =
    'a regex over the URL is that of the path only where `(.*)` at its end is the end of the target';
  if (!isRest || uses !== 1 || !replacement.endsWith(`\\${groups}`) || replacement.includes('?'))
    return reason;
  return readReplacement(regex, replacement);
}

function withRegex(source: string, path_target: string): Rewrite | string {
  const test = regexText(source);
  if (typeof test === 'string') return `its regex has no equivalent: ${test}`;
  const path = path_target.includes('$') ? null : path_target;
  return withStart(source, { fields: { path_target }, regex: test, path });
}
