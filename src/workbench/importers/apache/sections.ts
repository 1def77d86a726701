/**
 * Sections of Apache httpd (`<Files>`, `<If>`, `<Location>`, …) as conditions, and the access control of a folder with those of its
 * sections, of which the last that matches decides.
 */
import { addEntry, markNeedless } from '../draft.ts';
import type { ImportedCondition } from '../filter.ts';
import { equalsText, escapeRegex, startsWithText, type TextTest } from '../text-test.ts';
import { ACCESS_DIRECTIVES, type AccessRefusal, readAccess } from './access.ts';
import { type ApacheImport, allOf, anyOf, EVERY, NEVER, notOf, unknownTest } from './context.ts';
import { readExpression } from './expressions.ts';
import type { ApacheDirective } from './parse-htaccess.ts';
import { pathTests, readPattern } from './patterns.ts';
import { refuse } from './refuse.ts';
import { testPath } from './variables.ts';

/** The requests of a section. */
export interface SectionRequests {
  readonly condition: ImportedCondition;
  readonly differences: readonly string[];
  /** It holds for more requests than in the source. */
  readonly isWide: boolean;
}

/** The requests of the folder of a scope. */
export function folderRequests(base: string): ImportedCondition {
  if (base === '/') return EVERY;
  return { kind: 'path', tests: [equalsText(base.slice(0, -1)), startsWithText(base)] };
}

/** Reads a section; `before`: the section before it, for `<Else>`. */
export function readSection(
  state: ApacheImport,
  { name, args, rest }: ApacheDirective,
  { base, before }: { readonly base: string; readonly before: ImportedCondition | null },
): SectionRequests {
  const exact = (condition: ImportedCondition): SectionRequests => ({
    condition,
    differences: [],
    isWide: false,
  });
  const isRegex = args[0] === '~' || name.endsWith('match');
  const text = (args[0] === '~' ? args[1] : args[0]) ?? '';
  switch (name) {
    case 'files':
    case 'filesmatch':
      return filesSection(isRegex ? text : globPattern(text), base);
    case 'location':
    case 'locationmatch':
    case 'directory':
    case 'directorymatch':
      return exact(isRegex ? patternPath(text) : prefixPath(text));
    case 'if':
    case 'elseif': {
      const read = readExpression(state, unquoted(rest));
      const others = name === 'if' || before === null ? EVERY : notOf(before);
      return { ...read, condition: allOf([others, read.condition]) };
    }
    case 'else':
      return exact(before === null ? EVERY : notOf(before));
    default:
      return exact(unknownTest(`<${name} ${rest}>`, 'is a section that no filter has'));
  }
}

function unquoted(text: string): string {
  const [, quote, inner] = /^(["'])(.*)\1$/s.exec(text) ?? [];
  return quote === undefined ? text : inner!.replaceAll(`\\${quote}`, quote);
}

function patternPath(source: string): ImportedCondition {
  const pattern = readPattern(source, false);
  return typeof pattern === 'string' ? unknownTest(source, pattern) : testPath({ kind: 'regex', pattern });
}

/** The path of `<Location>`, and what is below it. */
function prefixPath(text: string): ImportedCondition {
  if (/[*?[]/.test(text)) return unknownTest(text, 'is a wildcard of paths');
  if (text === '/') return EVERY;
  const path = text.replace(/\/$/, '');
  const below = startsWithText(`${path}/`);
  return { kind: 'path', tests: text.endsWith('/') ? [below] : [equalsText(path), below] };
}

/** A wildcard of file names as a regex. */
function globPattern(text: string): string {
  return `^${escapeRegex(text).replaceAll('\\*', '.*').replaceAll('\\?', '.')}$`;
}

/** The paths whose last part matches; those of scripts are followed by more where they get a path of their own. */
function filesSection(source: string, base: string): SectionRequests {
  const pattern = readPattern(source, false);
  if (typeof pattern === 'string')
    return { condition: unknownTest(source, pattern), differences: [], isWide: false };
  const tests = fileTests(pattern.source, pattern.ignoreCase, base);
  const excepted = pattern.except === null ? [] : fileTests(pattern.except, pattern.ignoreCase, base);
  if (tests === null || excepted === null) {
    const condition = unknownTest(source, 'has `^` inside, which no filter of paths has');
    return { condition, differences: [], isWide: false };
  }
  const condition = allOf([
    { kind: 'path', tests },
    excepted.length === 0 ? EVERY : notOf({ kind: 'path', tests: excepted }),
  ]);
  return { condition, differences: [], isWide: false };
}

/** Endings of scripts, which answer for paths below their own. */
const SCRIPT = '[^/]*\\.(?:php|phtml|cgi|pl|py)/';

function fileTests(source: string, ignoreCase: boolean, base: string): readonly TextTest[] | null {
  const inner = source.replace(/\\.|\[\^|\[(?!\^)(?:\\.|[^\]\\])*\]|\./gs, (part) =>
    part === '.' ? '[^/]' : part === '[^' ? '[^/' : part,
  );
  const parts = splitOuter(inner);
  if (parts.some((part) => /(?<![\\[])\^/.test(part.replace(/^\^/, '')))) return null;
  return parts.flatMap((part) => {
    const isWhole = part.startsWith('^');
    const hasEnd = /(?<!\\)\$$/.test(part);
    const body = part.slice(isWhole ? 1 : 0, hasEnd ? -1 : undefined);
    const start =
      base === '/'
        ? isWhole
          ? '/'
          : ''
        : `^${escapeRegex(base.slice(0, -1))}/${isWhole ? '(?:.*/)?' : '.*'}`;
    const isScript = (!hasEnd && !part.startsWith('^\\.')) || /php|phtml|cgi|pl|py/.test(body);
    const below = !isScript
      ? []
      : hasEnd && /php|phtml|cgi|pl|py/.test(body)
        ? [`${start}(?:${body})/`]
        : [`${start}(?:${body})${SCRIPT}`];
    const own = `${start}${hasEnd ? `${body}$` : `(?:${body})[^/]*$`}`;
    return [...pathTests(own, ignoreCase), ...below.flatMap((one) => pathTests(one, ignoreCase))];
  });
}

function splitOuter(source: string): readonly string[] {
  const parts: string[] = [''];
  let depth = 0;
  for (const token of source.match(/\\.|\[(?:\\.|[^\]\\])*\]|./gs) ?? []) {
    if (token === '(') depth++;
    if (token === ')') depth--;
    if (token === '|' && depth === 0) parts.push('');
    else parts[parts.length - 1] += token;
  }
  return parts;
}

/** Access control of a folder or section, and the requests that it is for. */
export interface AccessLevel {
  readonly refusal: AccessRefusal;
  readonly requests: SectionRequests;
  readonly directives: readonly ApacheDirective[];
  readonly section: ApacheDirective | null;
}

/** The access control of a block; `null`: it has none. */
export function accessLevel(
  state: ApacheImport,
  block: readonly ApacheDirective[],
  { requests, section }: Pick<AccessLevel, 'requests' | 'section'>,
): AccessLevel | null {
  const directives = block.filter(({ name }) => ACCESS_DIRECTIVES.includes(name));
  if (directives.length === 0) return null;
  return { refusal: readAccess(state, directives), requests, directives, section };
}

/** The order in which Apache merges sections: folders, files, paths, expressions; those of one kind as written. */
function rankOf({ section }: AccessLevel): number {
  const kinds = [['files'], ['location'], ['if', 'elseif', 'else']];
  const name = section?.name.replace(/match$/, '') ?? '';
  return kinds.findIndex((names) => names.includes(name)) + 1;
}

/** What of access control a level may replace. */
type AccessPart = 'denied' | 'refused' | 'satisfy';

/** Adds the rules of all levels, of which the later replace the earlier for their requests. */
export function refuseLevels(state: ApacheImport, unsorted: readonly AccessLevel[]): void {
  const levels = [...unsorted].sort((one, other) => rankOf(one) - rankOf(other));
  const every = (part: 'denied' | 'refused'): ImportedCondition =>
    anyOf(levels.map((_, index) => partAt(levels, index, part)));
  // Where one of both suffices, both must refuse.
  const isAny = anyOf(
    levels.map(({ refusal }, index) =>
      allOf([refusal.satisfy ?? NEVER, reachedAt(levels, index, 'satisfy')]),
    ),
  );
  const both =
    isAny.kind === 'constant' && !isAny.value ? null : { denied: every('denied'), refused: every('refused') };
  for (const [index, level] of levels.entries()) {
    const { refusal, requests } = level;
    const entry = addEntry(state.draft, (level.section ?? level.directives[0]!).place, textOf(level));
    if (refusal.denied === null && refusal.refused === null) {
      markNeedless(entry, 'it refuses nothing by itself');
      continue;
    }
    const beside = (other: ImportedCondition | undefined): ImportedCondition =>
      other === undefined ? EVERY : anyOf([notOf(isAny), other]);
    const condition = anyOf([
      allOf([partAt(levels, index, 'denied'), beside(both?.refused)]),
      allOf([partAt(levels, index, 'refused'), beside(both?.denied)]),
    ]);
    const { closings } = refusal;
    const { differences } = requests;
    const plain = { status: 403, unmet: 'it lets everybody in', isAccess: true };
    refuse(state, entry, { ...plain, condition, closings, differences });
  }
}

function textOf({ section, directives }: AccessLevel): string {
  const lines = directives.flatMap((one) => [one.text, ...(one.block ?? []).map(({ text }) => text)]);
  return [...(section === null ? [] : [section.text]), ...lines].join(' ');
}

/** The requests that a level refuses by one part, without those for which a later level replaces it. */
function partAt(
  levels: readonly AccessLevel[],
  index: number,
  part: 'denied' | 'refused',
): ImportedCondition {
  const condition = levels[index]!.refusal[part];
  return condition === null ? NEVER : allOf([reachedAt(levels, index, part), condition]);
}

function reachedAt(levels: readonly AccessLevel[], index: number, part: AccessPart): ImportedCondition {
  const later = levels
    .slice(index + 1)
    .filter(({ refusal }) => refusal[part] !== null && (part === 'satisfy' || !isTotal(refusal[part])));
  const taken = later.map(({ requests, section }) =>
    requests.isWide ? unknownTest(`<${section?.name ?? ''}>`, 'is not exact') : requests.condition,
  );
  return allOf([levels[index]!.requests.condition, ...taken.map(notOf)]);
}

/** A later level that refuses all of its requests needs no exception. */
function isTotal(condition: ImportedCondition | string | null): boolean {
  return (
    condition !== null && typeof condition !== 'string' && condition.kind === 'constant' && condition.value
  );
}
