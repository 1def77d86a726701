/**
 * Detects template and expression injection: `detectTemplate` for `@detectTemplate`. Finds the expressions between the
 * delimiters of template languages, tokenizes each, and reports those that leave the template: constant arithmetic (a
 * probe), walks from an object to its class, classes of the run time, calls and filters that run code. Merge fields
 * (`{{ user.name | default("x") }}`, `${amount}`) have none of these.
 * Stages: `template/delimiters.ts`, `expression/tokens.ts`, `template/judge.ts`.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isSpace } from '../octets/latin1.ts';
import { beginTokens, isNamePart, newTokens, nextToken, SIGN, STRING } from './expression/tokens.ts';
import { closes, type Opening, openingAt } from './template/delimiters.ts';
import {
  AROUND_PRODUCT,
  beginJudging,
  judgeToken,
  newJudgement,
  type TemplateJudgement,
  verdict,
} from './template/judge.ts';
import { PYTHON_ATTRIBUTES, RARE_ATTRIBUTES } from './template/vocabulary.ts';

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has one. */
export const TEMPLATE_KINDS = KIND.curly | KIND.angle | KIND.round | KIND.square;
/** The length in octets of the shortest value that is detected: `<%{{`. */
export const SHORTEST_TEMPLATE = 4;

/** A value longer than this, or with more line feeds, is a document: code and prose contain calls. */
const TERSE_OCTETS = 2_000;
const TERSE_LINES = 3;
/** The most octets around delimiters that provoke an error. */
const PROBE_OCTETS = 80;
/** The octets between two attributes of a chain (`__class__[0].__mro__`). */
const CHAIN_OCTETS = 12;
/** The octets behind a name in which a bracket is searched for. */
const LOOK_AHEAD = 64;

/** By octet, whether an expression or one of the constructs outside of delimiters begins with it. */
const marks = new Uint8Array(256);
for (const octet of '{$#*@~%<_Tt') marks[octet.charCodeAt(0)] = 1;

// PERF: one tokenizer and one judgement for all calls. Calls are synchronous, and each resets all of their fields.
const tokens = newTokens();
const judgement: TemplateJudgement = newJudgement();

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectTemplate(value: string): string | null {
  let terse: boolean | null = null;
  let attribute = Number.NEGATIVE_INFINITY;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (marks[code] !== 1) continue;
    if (code === 0x5f) {
      const end = attributeEnd(value, at);
      if (end < 0) continue;
      if (at - attribute <= CHAIN_OCTETS && isRareAttribute(value, at, end))
        return "chain of Python's inner attributes";
      attribute = end;
      at = end - 1;
      continue;
    }
    const found = undelimited(value, at, code);
    if (found !== null) return found;
    const opening = openingAt(value, at);
    if (opening === null) continue;
    if (terse === null) {
      terse = isTerse(value);
      beginTokens(tokens, value);
    }
    // A brace or a dollar sign before a name is code in most documents.
    if (!terse && opening.length === 1) continue;
    const construct = readExpression(value, at, { opening, terse });
    if (construct !== null) return construct;
    // The octet behind the expression is read next; an expression that another one interrupts ends before it.
    at = Math.max(at, tokens.at - 1);
  }
  return null;
}

/** Whether a value is short enough to be an input rather than a document. */
function isTerse(value: string): boolean {
  if (value.length > TERSE_OCTETS) return false;
  let lines = 0;
  for (let at = value.indexOf('\n'); at >= 0; at = value.indexOf('\n', at + 1)) lines++;
  return lines <= TERSE_LINES;
}

/** The end of one of `PYTHON_ATTRIBUTES` at `at`; -1: absent. */
function attributeEnd(value: string, at: number): number {
  if (value.charCodeAt(at + 1) !== 0x5f || (at > 0 && isNamePart(value.charCodeAt(at - 1)))) return -1;
  const end = value.indexOf('__', at + 2);
  if (end < 0 || end - at > 24) return -1;
  return PYTHON_ATTRIBUTES.has(value.slice(at, end + 2).toLowerCase()) ? end + 2 : -1;
}

/** Whether an attribute ends a chain, and something is called, selected or closed behind it. */
function isRareAttribute(value: string, at: number, end: number): boolean {
  if (!RARE_ATTRIBUTES.has(value.slice(at, end).toLowerCase())) return false;
  const rest = value.slice(end, end + LOOK_AHEAD);
  return rest.includes('(') || rest.includes('[') || rest.includes('}');
}

/** Reads the expression behind the delimiter at `at`; the place of `tokens` is then behind it. */
function readExpression(
  value: string,
  at: number,
  { opening, terse }: { readonly opening: Opening; readonly terse: boolean },
): string | null {
  tokens.at = at + opening.length;
  beginJudging(judgement, { opening, terse });
  let depth = 0;
  while (nextToken(tokens)) {
    if (opening.closing === 'reference' && isSpace(value.charCodeAt(tokens.start - 1))) return null;
    const code = value.charCodeAt(tokens.start);
    const outer = tokens.kind === STRING ? null : undelimited(value, tokens.start, code);
    if (outer !== null) return outer;
    if (tokens.kind === SIGN) {
      if (closes(tokens, opening.closing, depth)) return verdict(judgement, around(value, at));
      if (isNested(value, opening)) {
        tokens.at = tokens.start;
        return judgement.tokens <= 1 ? polyglot(value, at, opening) : null;
      }
      depth += depthOf(tokens.word, opening);
    }
    const found = judgeToken(judgement, tokens);
    if (found !== null) return found;
  }
  return null;
}

/** Whether another expression begins at the last token. */
function isNested(value: string, { closing }: Opening): boolean {
  const nested = openingAt(value, tokens.start);
  if (nested === null || nested.length < 2) return false;
  // Arithmetic and blocks of code: `a %{`, `b <#`, `{ @(`. A reference is `$!{name}` or `${name}`.
  return (
    closing !== 'reference' &&
    (nested.closing === 'curly' || nested.closing === 'percent') &&
    nested.mark !== '%{'
  );
}

/** The change of depth by a bracket of the kind that closes the expression. */
function depthOf(word: string, { closing }: Opening): number {
  const [open, close] = closing === 'round' ? ['(', ')'] : ['{', '}'];
  return word === open ? 1 : word === close ? -1 : 0;
}

/** Whether two delimiters that no language nests follow each other: a value that provokes an error in any engine. */
function polyglot(value: string, at: number, { mark }: Opening): string | null {
  const next = openingAt(value, tokens.start)?.mark ?? '';
  const pair = mark + next;
  if (pair !== '{{<%' && pair !== '<%{{' && pair !== '${<%' && pair !== '<%${') return null;
  return value.length - at <= PROBE_OCTETS ? 'delimiters of several template languages' : null;
}

/** The octets around an expression; infinitely many in a text with a code span. */
// PERF: a value of thousands of expressions is not searched for a back quote at each of them.
function around(value: string, start: number): number {
  const octets = value.length - (tokens.at - start);
  return octets <= AROUND_PRODUCT && value.includes('`') ? Number.POSITIVE_INFINITY : octets;
}

/** Finds what is an expression without delimiters, too: a static method in OGNL, a type in SpEL, Thymeleaf's `__${`. */
function undelimited(value: string, at: number, code: number): string | null {
  if (code === 0x40) return qualifiedConstruct(value, at);
  if ((code | 0x20) === 0x74) return isJavaType(value, at) ? 'type of Java' : null;
  return (code === 0x24 || code === 0x2a) && isPreprocessed(value, at)
    ? 'preprocessed expression of Thymeleaf'
    : null;
}

/** The longest preprocessed expression that is read. */
const LONGEST_PREPROCESSED = 512;

/** Whether `__${…}__` or `__*{…}__` is around `at`. */
function isPreprocessed(value: string, at: number): boolean {
  if (value.charCodeAt(at + 1) !== 0x7b || at < 2) return false;
  if (value.charCodeAt(at - 1) !== 0x5f || value.charCodeAt(at - 2) !== 0x5f) return false;
  return value.slice(at, at + LONGEST_PREPROCESSED).includes('}__');
}

/** The roots of packages whose classes attacks name. */
const PACKAGES = [
  'java.',
  'javax.',
  'ognl.',
  'com.opensymphony.',
  'org.apache.',
  'org.springframework.',
] as const;
/** The longest qualified name of a class that is read. */
const LONGEST_CLASS = 96;

/** Namespaces of .NET that a page in Razor names. */
const NAMESPACES = ['system.diagnostics.', 'system.io.', 'system.net.', 'system.reflection.'] as const;

/** Texts (`Detector.triggers`): the beginnings of expressions, and what is one without delimiters. */
export const TEMPLATE_TRIGGERS = [
  ...['{', '$', '<%', '<#', '@(', '#set', '#include(', '#parse(', '#evaluate(', '__'],
  ...PACKAGES,
  ...NAMESPACES,
];

/** Judges `@package.Class@`, a static method in OGNL, and `@System.IO.File`, an expression of Razor. */
function qualifiedConstruct(value: string, at: number): string | null {
  const name = qualifiedName(value, at + 1);
  const lower = name.toLowerCase();
  const end = at + 1 + name.length;
  if (!value.slice(end, end + LOOK_AHEAD).includes('(')) return null;
  if (NAMESPACES.some((root) => lower.startsWith(root))) return 'namespace of .NET';
  if (value.charCodeAt(end) !== 0x40) return null;
  return PACKAGES.some((root) => lower.startsWith(root)) ? 'static method of Java' : null;
}

/** Whether `T(package.Class` is at `at`. */
function isJavaType(value: string, at: number): boolean {
  if (at > 0 && isNamePart(value.charCodeAt(at - 1))) return false;
  let open = at + 1;
  while (value.charCodeAt(open) === 0x20 && open - at < 4) open++;
  if (value.charCodeAt(open) !== 0x28) return false;
  const lower = qualifiedName(value, open + 1)
    .trimStart()
    .toLowerCase();
  return PACKAGES.some((root) => lower.startsWith(root));
}

/** The name with dots at `at`. */
function qualifiedName(value: string, at: number): string {
  let end = at;
  while (
    end - at < LONGEST_CLASS &&
    (isNamePart(value.charCodeAt(end)) || '.$ '.includes(value.charAt(end) || '\0'))
  )
    end++;
  return value.slice(at, end);
}
