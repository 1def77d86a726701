/**
 * Detects XPath injection: `detectXPath` for `@detectXPath`. A value is inside a string, a number or a predicate of an
 * expression (`//user[name='…']`, XPath 1.0 to 3.1). Reports values that leave it and continue with a path, an axis or a
 * function of XPath, and calls that read other documents or the structure of this one (`count(/*)`). Expressions that are
 * a value of their own (`//div[@id='x']`, as browser tests send them) are not reported. `' or '1'='1` is SQL's.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isDigit, isSpace } from '../octets/latin1.ts';

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has one. */
export const XPATH_KINDS = KIND.round | KIND.square | KIND.apostrophe | KIND.quote;
/** The length in octets of the shortest value that is detected: `'|//`. */
export const SHORTEST_XPATH = 4;
/** Texts (`Detector.triggers`): an operator between what is left and what follows, a word of XQuery, or a call. */
export const XPATH_TRIGGERS = [
  ...['|', 'or', 'and', '(', 'return', 'let $'],
  ...['union', 'except', 'intersect', '=//', '= //', '=/*', '= /*'],
  ...["']/", "'] /", '"]/', '"] /'],
];

/** The octets of a value that are read. */
const LONGEST_VALUE = 1_024;
/** The octets of a value in which a call by itself is reported. */
const LONGEST_CALL = 256;
/** The longest name that is compared, and the most brackets of functions around a path. */
const LONGEST_NAME = 24;
const DEEPEST = 6;

/** Functions with a node set as argument. */
const NODE_FUNCTIONS: ReadonlySet<string> = new Set(
  `count name local-name namespace-uri string-length substring substring-before substring-after starts-with ends-with
   contains matches string normalize-space translate concat sum not boolean number string-to-codepoints exists empty
   lower-case upper-case distinct-values`.split(/\s+/),
);
/** Those of them that test the text of a node. */
const TEXT_FUNCTIONS: ReadonlySet<string> = new Set(
  'contains starts-with ends-with matches substring string-length'.split(' '),
);
/** Functions and tests without arguments. */
const BARE_FUNCTIONS: ReadonlySet<string> = new Set(
  `position last name local-name text node comment processing-instruction current-dateTime current-date current true
   false error`
    .toLowerCase()
    .split(/\s+/),
);
/** Functions that read another document. */
const DOCUMENT_FUNCTIONS: ReadonlySet<string> = new Set([
  'doc',
  'doc-available',
  'document',
  'unparsed-text',
  'collection',
  'environment-variable',
  'system-property',
  'json-doc',
  'unparsed-text-lines',
  'uri-collection',
]);
const AXES: ReadonlySet<string> = new Set(
  `ancestor ancestor-or-self attribute child descendant descendant-or-self following following-sibling namespace parent
   preceding preceding-sibling self`.split(/\s+/),
);

/** Words of XQuery that begin a clause. */
const FLWOR: ReadonlySet<string> = new Set(['return', 'for', 'let']);
/** Words that begin an expression with a variable: `some $x in //a satisfies …`. */
const QUANTIFIERS: ReadonlySet<string> = new Set(['some', 'every', 'for', 'let']);
/** Operators that are words and combine sets of nodes. */
const SET_OPERATORS: ReadonlySet<string> = new Set(['union', 'except', 'intersect']);
/** All operators that are words. */
const OPERATORS: ReadonlySet<string> = new Set([
  ...SET_OPERATORS,
  ...'or and div mod eq ne lt gt le ge is to'.split(' '),
]);

const LEFT = 'XPath behind a value';

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
export function detectXPath(value: string): string | null {
  const text = value.length > LONGEST_VALUE ? value.slice(0, LONGEST_VALUE) : value;
  const exit = exitOf(text);
  if (exit >= 0 && isContinuation(text, exit)) return LEFT;
  // Longer texts, and those with marked-up code, are about XPath.
  if (text.length > LONGEST_CALL || text.includes('`') || isProse(text)) return null;
  for (let at = text.indexOf('('); at >= 0; at = text.indexOf('(', at + 1)) {
    const found = callAt(text, at);
    if (found !== null) return found;
  }
  return null;
}

/** The least words of letters, with a blank on either side, that are a sentence about an expression. */
const WORDS_OF_PROSE = 3;

/** Whether a text has words beside its expressions; the operators of XPath are none. */
function isProse(text: string): boolean {
  let words = 0;
  for (let at = 0; at < text.length; ) {
    let end = at;
    while (end < text.length && isNameLetter(text.charCodeAt(end))) end++;
    const ends = end >= text.length || isSpace(text.charCodeAt(end));
    if (ends && end - at > 2 && !KEYWORDS.has(text.slice(at, end).toLowerCase())) words++;
    while (end < text.length && !isSpace(text.charCodeAt(end))) end++;
    at = end + 1;
  }
  return words >= WORDS_OF_PROSE;
}

/** Words of XPath and XQuery, which are no prose. */
const KEYWORDS: ReadonlySet<string> = new Set([
  ...[...OPERATORS, ...FLWOR, ...QUANTIFIERS],
  ...['in', 'then', 'else', 'if', 'satisfies'],
]);

/** The place where the value leaves the string, number or predicate that it is in; -1: it does not. */
function exitOf(text: string): number {
  for (let at = 0; at < text.length; at++) {
    const character = text.charAt(at);
    if (character === "'" || character === '"' || character === ']') return at + 1;
    if (character === '[') return -1;
    // A number needs no quote: `1 or count(…)`.
    if (isSpace(text.charCodeAt(at)) && at > 0 && isDigits(text, at)) return at;
  }
  return -1;
}

function isDigits(text: string, end: number): boolean {
  for (let at = 0; at < end; at++) if (!isDigit(text.charCodeAt(at))) return false;
  return true;
}

/** Whether an operator of XPath and an operand that only XPath has follow at `from`. */
function isContinuation(text: string, from: number): boolean {
  let at = skip(text, from);
  while (at < text.length && ')]'.includes(text.charAt(at))) at = skip(text, at + 1);
  if (text.charAt(at) === '/' && isPredicateEnd(text, from, at)) return isStep(text, skip(text, at + 1));
  if (text.charAt(at) === '|') return text.charAt(at + 1) !== '|' && isPath(text, skip(text, at + 1));
  if (text.charAt(at) === ';') return isLoop(text, skip(text, at + 1));
  const name = nameAt(text, at);
  if (FLWOR.has(name)) return isClause(text, at + name.length);
  if (SET_OPERATORS.has(name) || '=!'.includes(text.charAt(at) || ' ')) return isComparedPath(text, at, name);
  if (name !== 'or' && name !== 'and') return false;
  at = skip(text, at + name.length);
  while (text.charAt(at) === '(') at = skip(text, at + 1);
  return isOperand(text, at) || text.includes(']\0', at);
}

/** Whether a quote is before `from`, and the predicate ends there, right before the slash at `slash`: `']/../x`. */
function isPredicateEnd(text: string, from: number, slash: number): boolean {
  if (text.charAt(from - 1) === ']') return false;
  const before = text.slice(from, slash);
  return before === ']' || before === '] ';
}

/** Whether a step of a path is at `at`: a name, an axis, `..`, `*`, `@x`, or `/x`. */
function isStep(text: string, at: number): boolean {
  return nameAt(text, at) !== '' || '.*@/'.includes(text.charAt(at) || ' ');
}

/** Whether a variable or a path is at `at`, behind a word of XQuery: `return $x/a`, `for $x in`, `let $x :=`. */
function isClause(text: string, at: number): boolean {
  const next = at + 1;
  if (text.charAt(at) !== ' ') return false;
  if (text.charAt(next) === '$') return nameAt(text, next + 1) !== '';
  return isPath(text, next) || isDocument(text, next);
}

/** Whether `for $x in` or `let $x :=` is at `at`. */
function isLoop(text: string, at: number): boolean {
  const name = nameAt(text, at);
  if ((name !== 'for' && name !== 'let') || !text.startsWith(' $', at + name.length)) return false;
  const variable = at + name.length + 2;
  const next = skip(text, variable + nameAt(text, variable).length);
  return text.startsWith('in ', next) || text.startsWith(':=', next);
}

/** Whether a call that reads a document is at `at`. */
function isDocument(text: string, at: number): boolean {
  const name = nameAt(text, at);
  return DOCUMENT_FUNCTIONS.has(name) && text.charAt(at + name.length) === '(';
}

/** Whether a comparison or an operator on sets, and the path of an element, are at `at`: `=//user`, `union /*`. */
function isComparedPath(text: string, at: number, name: string): boolean {
  let next = at + name.length;
  while (next < at + 2 && '=!'.includes(text.charAt(next) || ' ')) next++;
  if (text.charAt(next) === ' ') next++;
  if (isDocument(text, next)) return true;
  const root = text.slice(next, next + 2);
  if (root === '/*') return !text.includes('*/', next);
  const element = nameAt(text, next + 2);
  return root === '//' && element !== '' && '[/=<>)|'.includes(text.charAt(next + 2 + element.length) || ' ');
}

/** Whether a path, an axis, or a function on one of them is at `from`. */
function isOperand(text: string, from: number): boolean {
  let at = from;
  // The node itself: `' or .='x`.
  if (text.charAt(at) === '.' && at + 1 < text.length && ' =!<>'.includes(text.charAt(at + 1))) return true;
  if (isAttribute(text, at) || isSteps(text, at) || isAnyElement(text, at)) return true;
  for (let depth = 0; depth < DEEPEST; depth++) {
    if (isPath(text, at)) return true;
    const name = nameAt(text, at);
    if (QUANTIFIERS.has(name)) return text.charAt(skip(text, at + name.length)) === '$';
    // No other language has hyphens in names, and a prefix (`fn:count(`) before a function.
    if (isHyphenated(name) && text.charAt(at + name.length) === '(') return true;
    if (isPrefix(text, at, name)) return true;
    const open = skip(text, at + name.length);
    if (name === '' || text.charAt(open) !== '(') return false;
    const inside = skip(text, open + 1);
    if (BARE_FUNCTIONS.has(name) && text.charAt(inside) === ')') return true;
    if (TEXT_FUNCTIONS.has(name) && isTested(text, inside)) return true;
    if (!NODE_FUNCTIONS.has(name)) return false;
    at = inside;
  }
  return false;
}

/** Whether a name has a hyphen inside: `local-name`, `system-property`. */
function isHyphenated(name: string): boolean {
  const hyphen = name.indexOf('-');
  return hyphen > 0 && hyphen < name.length - 1;
}

/** Whether the name at `at` is the prefix of a function: `fn:`, `xs:`, `saxon:`. */
function isPrefix(text: string, at: number, name: string): boolean {
  const colon = at + name.length;
  if (name === '' || text.charAt(colon) !== ':') return false;
  const local = nameAt(text, colon + 1);
  return local !== '' && text.charAt(colon + 1 + local.length) === '(';
}

/** Whether an attribute that is compared is at `at`: `@role='x`, `@id]`. */
function isAttribute(text: string, at: number): boolean {
  if (text.charAt(at) !== '@') return false;
  const name = nameAt(text, at + 1);
  return name !== '' && '=!<>]'.includes(text.charAt(skip(text, at + 1 + name.length)) || ' ');
}

/** Whether `*` is at `at` as an operand: a comparison or an operator follows. */
function isAnyElement(text: string, at: number): boolean {
  if (text.charAt(at) !== '*') return false;
  const next = skip(text, at + 1);
  return '[=!]'.includes(text.charAt(next) || ' ') || OPERATORS.has(nameAt(text, next));
}

/** Whether steps from element to element that are compared are at `at`: `user/name='x`, `a/b/text()`, `a[1]/b`. */
function isSteps(text: string, at: number): boolean {
  let next = at;
  let steps = 0;
  let numbered = false;
  for (; steps < DEEPEST; steps++) {
    const name = nameAt(text, next);
    next += name.length;
    if (name === '') break;
    if (text.charAt(next) === '[' && isDigit(text.charCodeAt(next + 1)) && text.charAt(next + 2) === ']') {
      next += 3;
      numbered = true;
    }
    if (text.charAt(next) !== '/') break;
    next++;
  }
  if (steps > 0 && numbered) return true;
  return steps > 0 && next > at && '[=(@'.includes(text.charAt(skip(text, next)) || ' ');
}

/** Whether the name of an element, `.` or a string is at `at`, and is the first of several arguments. */
function isTested(text: string, at: number): boolean {
  const first = text.charAt(at);
  let end = at + nameAt(text, at).length;
  if (first === '.') end = at + 1;
  if (first === "'" || first === '"') end = text.indexOf(first, at + 1) + 1;
  return end > at && text.charAt(skip(text, end)) === ',';
}

/** Whether a path is at `at`: `/*`, `//x`, `/users[`, `../x`, `./x`, `@*`, `child::x`. */
function isPath(text: string, at: number): boolean {
  const two = text.slice(at, at + 2);
  if (two === '//' || two === '/*' || two === '..' || two === './' || two === '@*') return true;
  const first = two.charAt(0);
  if (first === '/') {
    const name = nameAt(text, at + 1);
    if (AXES.has(name) && text.startsWith('::', at + 1 + name.length)) return true;
    return name !== '' && '[/'.includes(text.charAt(at + 1 + name.length) || ' ');
  }
  const name = nameAt(text, at);
  return AXES.has(name) && text.startsWith('::', at + name.length);
}

/** Judges the call whose bracket is at `open`. */
function callAt(text: string, open: number): string | null {
  const start = nameStart(text, open);
  const name = text.slice(start, open).toLowerCase();
  // A method of an object (`db.doc(…)`) or a variable.
  if (start > 0 && '.$>'.includes(text.charAt(start - 1))) return null;
  let inside = skip(text, open + 1);
  if (DOCUMENT_FUNCTIONS.has(name)) return isAddress(text, inside) ? 'document read by XPath' : null;
  if (!NODE_FUNCTIONS.has(name)) return null;
  if (text.charAt(inside) === '(') inside = skip(text, inside + 1);
  const root = text.slice(inside, inside + 2);
  const descends = root === '//' && nameAt(text, inside + 2) + text.charAt(inside + 2) !== '';
  const axis = root.startsWith('/') && AXES.has(nameAt(text, inside + 1));
  if (axis) return 'structure of a document read by XPath';
  if ((root !== '/*' && !descends) || isExplained(text, open)) return null;
  return text.charAt(inside + 2) === '/' ? null : 'structure of a document read by XPath';
}

/** Whether two words in a row follow the bracket that closes the one at `open`: a text about a call. */
function isExplained(text: string, open: number): boolean {
  const close = text.indexOf(')', open);
  if (close < 0) return false;
  let at = skip(text, close + 1);
  for (let words = 0; words < 2; words++) {
    const name = nameAt(text, at);
    if (name === '' || OPERATORS.has(name)) return false;
    at = skip(text, at + name.length);
  }
  return true;
}

/** Whether a string with an address or a path, or `concat(` of strings, is at `at`. */
function isAddress(text: string, at: number): boolean {
  if (nameAt(text, at) === 'concat') return true;
  const quote = text.charAt(at);
  if (quote !== "'" && quote !== '"') return false;
  const begin = text.slice(at + 1, at + 9).toLowerCase();
  return ['http:', 'https:', 'ftp:', 'file:', '//', '\\\\', '/etc/'].some((head) => begin.startsWith(head));
}

function skip(text: string, at: number): number {
  let next = at;
  while (isSpace(text.charCodeAt(next))) next++;
  return next;
}

function isNameLetter(code: number): boolean {
  const letter = code | 0x20;
  return (letter >= 0x61 && letter <= 0x7a) || code === 0x2d;
}

/** The name (letters and hyphens) at `at`, in lower case. */
function nameAt(text: string, at: number): string {
  let end = at;
  while (end - at < LONGEST_NAME && isNameLetter(text.charCodeAt(end))) end++;
  return text.slice(at, end).toLowerCase();
}

/** The beginning of the name that ends at `end`. */
function nameStart(text: string, end: number): number {
  let start = end;
  while (start > 0 && end - start < LONGEST_NAME && isNameLetter(text.charCodeAt(start - 1))) start--;
  return start;
}
