/**
 * Regexes of Apache httpd (PCRE) as tests of rules (RE2): look-aheads of literal text at the start or the end of a pattern,
 * patterns over a path without its first slashes, and literal alternatives, which need no regex.
 */
import { captureGroups, parsePattern } from '../../../base/regex/regex.ts';
import {
  containsText,
  endsWithText,
  equalsText,
  escapeRegex,
  startsWithText,
  type TextTest,
} from '../text-test.ts';

/** Literal texts that a pattern is expanded to at most. */
const MAX_TEXTS = 64;

/** A pattern in RE2 syntax: a text matches `source` and not `except`. */
export interface ApachePattern {
  readonly source: string;
  /** `null`: nothing is excepted. */
  readonly except: string | null;
  readonly ignoreCase: boolean;
}

/** A pattern, or the reason why it cannot be read. */
export type ReadPattern = ApachePattern | string;

/** A test of a text. */
export type TextMatcher =
  | { readonly kind: 'regex'; readonly pattern: ApachePattern }
  | { readonly kind: 'equals'; readonly text: string; readonly ignoreCase: boolean };

/** Reads a regex. */
export function readPattern(written: string, ignoreCase: boolean): ReadPattern {
  const { source: plain, ignoreCase: flagged } = withoutFlags(
    written.replace(/\\([ "'#<>%&@=:;,!~`])/g, '$1'),
  );
  const split = splitLookahead(plain);
  const pattern = { ...split, ignoreCase: ignoreCase || flagged };
  for (const one of [pattern.source, pattern.except]) {
    if (one === null) continue;
    const parsed = parsePattern(one, { ignoreCase: pattern.ignoreCase });
    if (!parsed.ok) return `\`${written}\` is not in RE2 syntax`;
  }
  return pattern;
}

function withoutFlags(source: string): { readonly source: string; readonly ignoreCase: boolean } {
  const rest = source.startsWith('(?i)') ? source.slice(4) : source;
  return { source: rest, ignoreCase: rest !== source };
}

/** `^(?!a)b` becomes `^b` except `^a`; `a(?!b)` of a literal `b` at the end becomes the texts that are not `b`. */
function splitLookahead(source: string): { readonly source: string; readonly except: string | null } {
  const [, ahead, rest] = /^\^\(\?!((?:[^()\\]|\\.)*)\)(.*)$/s.exec(source) ?? [];
  if (ahead !== undefined && !hasOuterAlternative(rest!))
    return { source: `^${rest}`, except: `^(?:${ahead})` };
  const [, start, behind] = /^(.*)\(\?!((?:[^()\\]|\\.)*)\)$/s.exec(source) ?? [];
  if (behind === undefined || hasOuterAlternative(start!)) return { source, except: null };
  const texts = expandTexts(behind);
  const closed = texts === null ? null : otherThan(texts);
  return { source: closed === null ? source : `${start}${closed}`, except: null };
}

/** A regex for what follows where none of the texts does. */
function otherThan(texts: readonly string[]): string | null {
  if (texts.some((text) => text === '')) return null;
  const firsts = [...new Set(texts.map((text) => text[0]!))];
  const parts = [`[^${firsts.map((one) => `\\x{${one.codePointAt(0)!.toString(16)}}`).join('')}]`, '$'];
  for (const first of firsts) {
    const rests = texts.filter((text) => text[0] === first).map((text) => text.slice(1));
    if (rests.includes('')) continue;
    const inner = otherThan(rests);
    if (inner === null) return null;
    parts.push(escapeRegex(first) + inner);
  }
  return `(?:${parts.join('|')})`;
}

/** The groups of a text that matches; `null`: it does not match. */
export function matchText(pattern: ApachePattern, text: string): readonly (string | null)[] | null {
  const { source, except, ignoreCase } = pattern;
  if (except !== null && captureGroups(except, ignoreCase, text) !== null) return null;
  return captureGroups(source, ignoreCase, text)?.groups ?? null;
}

/** The pattern of whole paths for one of paths without `base`, the folder with its slashes; a text is a refusal. */
export function wholePath(pattern: ApachePattern, base: string): ReadPattern {
  const source = wholeSource(pattern.source, base);
  const except = pattern.except === null ? null : wholeSource(pattern.except, base);
  if (source === null || (pattern.except !== null && except === null))
    return `\`${pattern.source}\` has \`^\` inside, which paths with their first slash cannot express`;
  return { ...pattern, source, except };
}

function wholeSource(source: string, base: string): string | null {
  const parts = outerAlternatives(source).map((part) => wholePart(part, base));
  return parts.some((part) => part === null) ? null : parts.join('|');
}

function wholePart(part: string, base: string): string | null {
  const start = `^${escapeRegex(base)}`;
  if (/^\^?(?:\.\*)?\$?$/.test(part)) return part === '^$' || part === '$' ? `${start}$` : start;
  const segment = /^\((\?:)?(?:\^\|\/|\/\|\^)\)(.*)$/s.exec(part);
  const rest = segment?.[2] ?? (part.startsWith('^') ? part.slice(1) : part);
  if (hasInnerStart(rest)) return null;
  // The group, where it has one, holds the slash that it would not have at the start.
  if (segment !== null)
    return base === '/' ? `(${segment[1] ?? ''}/)${rest}` : `${start}(${segment[1] ?? ''}.*/)?${rest}`;
  if (part.startsWith('^')) return `${start}${rest}`;
  const isLetter = /^(?:\\[^A-Za-z0-9/]|[A-Za-z0-9_-])(?![*?{])/.test(part);
  return base === '/' && isLetter ? part : `${start}.*?${part}`;
}

function hasInnerStart(source: string): boolean {
  return [...marksOf(source)].some(({ mark }) => mark === '^');
}

/** The characters of a regex that are outside classes and not escaped, with the depth of groups around them. */
function* marksOf(
  source: string,
): Generator<{ readonly mark: string; readonly at: number; readonly depth: number }> {
  let depth = 0;
  let inClass = false;
  for (let at = 0; at < source.length; at++) {
    const mark = source[at]!;
    if (mark === '\\') at++;
    else if (inClass) inClass = mark !== ']' || source[at - 1] === '[';
    else if (mark === '[') inClass = true;
    else {
      if (mark === ')') depth--;
      yield { mark, at, depth };
      if (mark === '(') depth++;
    }
  }
}

function hasOuterAlternative(source: string): boolean {
  return outerAlternatives(source).length > 1;
}

/** The alternatives of a regex outside its groups. */
function outerAlternatives(source: string): readonly string[] {
  const parts: string[] = [];
  let from = 0;
  for (const { mark, at, depth } of marksOf(source)) {
    if (mark !== '|' || depth !== 0) continue;
    parts.push(source.slice(from, at));
    from = at + 1;
  }
  return [...parts, source.slice(from)];
}

/** The texts that a regex of literals and groups of them matches; `null`: it has other parts. */
export function expandTexts(source: string): readonly string[] | null {
  const texts: string[] = [];
  for (const part of outerAlternatives(source)) {
    const own = expandPart(part);
    if (own === null || texts.length + own.length > MAX_TEXTS) return null;
    texts.push(...own);
  }
  return texts;
}

function expandPart(part: string): readonly string[] | null {
  let texts: readonly string[] = [''];
  let at = 0;
  while (at < part.length) {
    const atom = readAtom(part, at);
    if (atom === null) return null;
    const isOptional = part[atom.end] === '?';
    if (/[*+{]/.test(part[atom.end] ?? '')) return null;
    const choices = isOptional ? [...atom.texts, ''] : atom.texts;
    if (texts.length * choices.length > MAX_TEXTS) return null;
    texts = texts.flatMap((text) => choices.map((choice) => text + choice));
    at = atom.end + (isOptional ? 1 : 0);
  }
  return texts;
}

/** A literal character, a class of a few, or a group of literals. */
function readAtom(
  part: string,
  at: number,
): { readonly texts: readonly string[]; readonly end: number } | null {
  const mark = part[at]!;
  if (mark === '\\') {
    const next = part[at + 1];
    return next === undefined || /[A-Za-z0-9]/.test(next) ? null : { texts: [next], end: at + 2 };
  }
  if (mark === '[') {
    const [whole, inner] = /^\[((?:[\w .,/@%-]|\\[^A-Za-z0-9])+)\]/.exec(part.slice(at)) ?? [];
    if (whole === undefined || /[^\\]-./.test(inner!)) return null;
    return { texts: [...inner!.replaceAll('\\', '')], end: at + whole.length };
  }
  if (mark === '(') {
    const end = [...marksOf(part.slice(at))].find((one) => one.mark === ')' && one.depth === 0)?.at;
    if (end === undefined) return null;
    const inner = part.slice(at + 1, at + end).replace(/^\?:/, '');
    const texts = inner.startsWith('?') ? null : expandTexts(inner);
    return texts === null ? null : { texts, end: at + end + 1 };
  }
  return /[.^$*+?{}|)\]]/.test(mark) ? null : { texts: [mark], end: at + 1 };
}

/** How texts are compared with a value. */
export interface LiteralTests {
  readonly op: 'equals' | 'prefix' | 'suffix' | 'contains';
  readonly texts: readonly string[];
}

/** The literal tests of a regex; `null`: it has other parts. */
export function literalTests(source: string): LiteralTests | null {
  let inner = source;
  const hasStart = inner.startsWith('^');
  if (hasStart) inner = inner.slice(1);
  const isOpenStart = /^\.\*/.test(inner);
  if (isOpenStart) inner = inner.slice(inner.startsWith('.*?') ? 3 : 2);
  const hasEnd = /(?<!\\)\$$/.test(inner);
  if (hasEnd) inner = inner.slice(0, -1);
  const isOpenEnd = /(?<!\\)\.\*$/.test(inner);
  if (isOpenEnd) inner = inner.slice(0, -2);
  // Anchors belong to the first and the last alternative alone.
  if ((hasStart || hasEnd) && hasOuterAlternative(inner)) return null;
  const texts = expandTexts(inner);
  if (texts === null || texts.length === 0 || texts.includes('')) return null;
  const isPrefix = hasStart && !isOpenStart;
  const isSuffix = hasEnd && !isOpenEnd;
  return {
    op: isPrefix && isSuffix ? 'equals' : isPrefix ? 'prefix' : isSuffix ? 'suffix' : 'contains',
    texts,
  };
}

/** The tests of a path, of which one passes; regexes where they are not literal. */
export function pathTests(source: string, ignoreCase: boolean): readonly TextTest[] {
  // `^/a(/.*)?$` and `^/a(/|$)`: the path and what is below it.
  const [, head] =
    /^(\^.*)\((?:\?:)?\/\.\*\)\?\$$/s.exec(source) ??
    /^(\^.*)\((?:\?:)?(?:\/\|\$|\$\|\/)\)$/s.exec(source) ??
    [];
  const own = head === undefined || ignoreCase ? null : literalTests(`${head}$`);
  if (own?.op === 'equals')
    return own.texts.flatMap((text) => [equalsText(text), startsWithText(`${text}/`)]);
  const literal = ignoreCase ? null : literalTests(source);
  if (literal === null || literal.texts.some((text) => /\/\/|[%*?#;\\]|\/\.\.?(?:\/|$)/.test(text)))
    return [{ kind: 'regex', source: ignoreCase ? `(?i)${source}` : source }];
  const make = { equals: equalsText, prefix: startsWithText, suffix: endsWithText, contains: containsText };
  return literal.texts.map(make[literal.op]);
}
