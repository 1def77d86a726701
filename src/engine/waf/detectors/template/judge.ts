/**
 * Judges the tokens of one template expression as they are read: looks at each token with the three before it, and at its
 * end at the whole expression.
 */
import { type ExpressionTokens, NAME, NUMBER, SIGN, STRING } from '../expression/tokens.ts';
import type { Opening } from './delimiters.ts';
import {
  CALLBACK_FILTERS,
  CONTAINER_OBJECTS,
  ENGINE_OBJECTS,
  IMPORTED_MODULES,
  NEW_CLASSES,
  PAIRS,
  PRINTED_OBJECTS,
  PYTHON_ATTRIBUTES,
  RUNNERS,
  STRONG_NAMES,
} from './vocabulary.ts';

/** The state of a judgement. Tokens are written as their words; a string has its quote before it. */
export interface TemplateJudgement {
  mark: string;
  terse: boolean;
  /** The number of tokens. */
  tokens: number;
  /** The last three tokens, the last one last. */
  third: string;
  second: string;
  last: string;
  /** The names, dots and slashes before the first `|`; a space: other tokens are before it. */
  path: string;
  /** Whether a `|` occurred. */
  filtered: boolean;
  /** Constant arithmetic: the number of operands and operators, and the last operator; -1 operands: it is none. */
  operands: number;
  operators: number;
  product: boolean;
  /** Whether an operand is a text: `5*'x'` repeats it, `'a'+'b'` is ordinary. */
  textual: boolean;
}

/** Allocates a judgement. */
export function newJudgement(): TemplateJudgement {
  return {
    mark: '',
    terse: false,
    tokens: 0,
    third: '',
    second: '',
    last: '',
    path: '',
    filtered: false,
    operands: 0,
    operators: 0,
    product: false,
    textual: false,
  };
}

/** Starts the judgement of an expression. */
export function beginJudging(
  to: TemplateJudgement,
  { opening, terse }: { readonly opening: Opening; readonly terse: boolean },
): void {
  to.mark = opening.mark;
  to.terse = terse;
  to.tokens = 0;
  to.third = '';
  to.second = '';
  to.last = '';
  to.path = '';
  to.filtered = false;
  to.operands = 0;
  to.operators = 0;
  to.product = false;
  to.textual = false;
}

/** Adds a token; returns the construct that it completes, or `null`. */
export function judgeToken(to: TemplateJudgement, tokens: ExpressionTokens): string | null {
  const { kind, word } = tokens;
  if (to.mark === '#evaluate(' && to.terse) return 'call that runs code';
  const found =
    kind === NAME
      ? judgeName(to, word)
      : kind === STRING
        ? judgeString(to, tokens)
        : kind === SIGN
          ? judgeSign(to, word)
          : null;
  if (found !== null) return found;
  count(to, kind, word);
  to.tokens++;
  to.third = to.second;
  to.second = to.last;
  to.last = kind === STRING ? `"${word}` : word;
  return null;
}

/** The most octets around a probe: longer texts are about arithmetic. `${1 + 2}` occurs in ordinary templates, too. */
export const AROUND_PRODUCT = 80;
const AROUND_SUM = 8;

/** The construct that a whole expression is, or `null`; `around`: the octets of the value outside of it. */
export function verdict(to: TemplateJudgement, around: number): string | null {
  if (to.operands >= 2 && around <= (to.mark === '{' ? 0 : to.product ? AROUND_PRODUCT : AROUND_SUM)) {
    if (to.product || (to.operators === 1 && !to.textual)) return 'constant arithmetic';
  }
  if (PRINTED_OBJECTS.has(to.mark + to.path)) return 'settings of the program';
  if (to.terse && to.mark.endsWith('{') && CONTAINER_OBJECTS.has(to.path)) return 'object of the container';
  if (to.mark === '{' && (to.path === 'php' || to.path === '/php')) return 'tag of Smarty that runs code';
  return null;
}

/** A tag of Smarty or a reference of Velocity: what looks like one occurs in every program. */
function isWeak({ mark }: TemplateJudgement): boolean {
  return mark === '{' || mark === '$';
}

function judgeName(to: TemplateJudgement, word: string): string | null {
  if (to.mark === '{') return judgeSmarty(to, word);
  const strong = STRONG_NAMES.get(word);
  if (strong !== undefined && !(to.mark === '$' && to.last !== '.')) return strong;
  if (PYTHON_ATTRIBUTES.has(word) && !isWeak(to)) return "inner attribute of Python's objects";
  if (to.last === '.') return judgeMember(to, word);
  if (word === 'request' && to.mark === '<%' && isEvaluated(to)) return 'call that runs code';
  if (to.last === '(' && to.second === 't' && to.third === '' && to.terse) return 'type of Java';
  if (to.last === 'import' && IMPORTED_MODULES.has(word) && to.tokens === 1) return 'import of a module';
  if (to.last === 'new' && NEW_CLASSES.has(word) && to.terse) return 'class of the Java run time';
  return to.mark === '{{' && to.last === '|' && word === 'attr' && to.terse
    ? 'filter that reads attributes'
    : null;
}

/** Whether the next token is the argument of ASP's `eval` or `execute`, with or without a bracket. */
function isEvaluated({ last, second }: TemplateJudgement): boolean {
  const called = last === '(' ? second : last;
  return called === 'eval' || called === 'execute' || called === 'executeglobal';
}

/** Judges a name behind a dot. */
function judgeMember(to: TemplateJudgement, word: string): string | null {
  const found = PAIRS.get(`${to.second}.${word}`);
  if (found === undefined)
    return ENGINE_OBJECTS.has(to.second) && !isWeak(to) ? 'object of the template engine' : null;
  // `$` is a variable of PHP and of shells, too, and code posted by people has classes of Java.
  if (to.mark === '$') return found === 'walk to a class' ? found : null;
  if (found === 'namespace of .NET' && !to.mark.startsWith('@')) return null;
  return to.terse || found === 'walk to a class' ? found : null;
}

/** Judges a name in `{…}`, which is a block of code in most languages. */
function judgeSmarty(to: TemplateJudgement, word: string): string | null {
  if (!to.terse) return null;
  if (to.last === '.' && to.second === 'smarty') return PAIRS.get(`smarty.${word}`) ?? null;
  if (word === 'getstreamvariable' || word === 'smarty_internal_write_file') return STRONG_NAMES.get(word)!;
  return word === 'file' && to.tokens === 1 && to.last === 'fetch' ? 'tag of Smarty that runs code' : null;
}

function judgeString(to: TemplateJudgement, { word, text, start }: ExpressionTokens): string | null {
  if (isWeak(to)) return null;
  if (text.charCodeAt(start) === 0x60) return isShell(to) ? 'command of a shell' : null;
  if (reads(to) && SYSTEM_PATHS.some((path) => word.startsWith(path))) return 'file of the system';
  const opens = to.last === '[' || to.last === '(';
  if (opens && isHiddenAttribute(word)) return "inner attribute of Python's objects";
  if (PYTHON_ATTRIBUTES.has(word)) return "inner attribute of Python's objects";
  if (word === 'constructor' && (to.last === '[' || to.mark === '{{')) return 'constructor of an object';
  if (word.startsWith('freemarker.template.utility.')) return 'class of FreeMarker';
  if (STRONG_NAMES.get(word) === 'process of Node.js' && opens) return 'process of Node.js';
  const callback = to.last === '(' && to.third === '|' && CALLBACK_FILTERS.has(to.second);
  return callback && RUNNERS.has(word) ? 'filter that runs code' : null;
}

/** Functions and tags that read a file. */
const READERS: ReadonlySet<string> = new Set([
  'include',
  'source',
  'open',
  'read',
  'file',
  'fetch',
  'import',
  'extends',
  'readfile',
  'file_get_contents',
]);

/** Whether the next token is the argument of one of `READERS`. */
function reads({ last, second, tokens, mark }: TemplateJudgement): boolean {
  if (tokens === 0) return mark === '#include(' || mark === '#parse(';
  return READERS.has(last === '(' ? second : last);
}

/** Beginnings of paths that a template includes to read the system's files. */
const SYSTEM_PATHS = ['/etc/', '/proc/', 'file:///', 'php://', '../../'] as const;

/** Whether a string in back quotes is the whole of an expression in Ruby. */
function isShell({ mark, last, tokens, terse }: TemplateJudgement): boolean {
  return terse && (mark === '<%' || mark === '#{') && (tokens === 0 || (tokens === 1 && last === '='));
}

/** Whether a string is the name of an attribute, or its beginning, with or without escapes: `__cla`, `\x5f\x5fclass`. */
function isHiddenAttribute(word: string): boolean {
  return (word.startsWith('__') && word.length > 3) || word.includes('\\x5f') || word.includes('\\u005f');
}

function judgeSign(to: TemplateJudgement, word: string): string | null {
  if (word === '(') return judgeCall(to);
  if (word === '[') {
    if (to.last === 'constructor' && to.second === '.' && to.terse) return 'constructor of an object';
    if (to.second === '#' && isOgnlScope(to.last)) return 'context of OGNL';
    return CONTAINER_OBJECTS.has(to.last) && to.terse ? 'object of the container' : null;
  }
  if (word === '.') return CONTAINER_OBJECTS.has(to.last) && to.terse ? 'object of the container' : null;
  if (word === ':' && to.mark === '~{' && to.tokens === 1 && to.last === ':') return 'fragment of Thymeleaf';
  return to.last === 'x' && to.second === '%' && '[{|'.includes(word) && to.terse
    ? 'command of a shell'
    : null;
}

function isOgnlScope(word: string): boolean {
  return word === 'context' || word === 'application' || word === 'session' || word === 'parameters';
}

/** Judges a call by the name before its bracket. */
function judgeCall(to: TemplateJudgement): string | null {
  const { last, second, third, terse } = to;
  if (last === 'new' && second === '?') return 'class of FreeMarker';
  if ((last === 'eval' || last === 'interpret' || last === 'api') && second === '?')
    return 'class of FreeMarker';
  if (last === 'attr' && second === '|' && !isWeak(to)) return 'filter that reads attributes';
  if (!terse) return null;
  if (last === 'dump' && to.mark === '{{' && to.tokens === 1) return 'settings of the program';
  if (last === 'constructor' || last === '"constructor') return 'constructor of an object';
  if (last === 'getclass') return 'walk to a class';
  if (last === 'execute' && second === '.' && third.startsWith('"')) return 'call that runs code';
  if (last === 'x' && second === '%') return 'command of a shell';
  if (!RUNNERS.has(last)) return null;
  // `{system(…)` and `{if system(…)` are Smarty's; elsewhere in a block it is a program. `$x.exec(` may be any object's.
  if (to.mark === '{') return to.tokens === 1 || second === 'if' ? 'tag of Smarty that runs code' : null;
  return to.mark === '$' && last === 'exec' ? null : 'call that runs code';
}

/** Adds a token to the path of a plain reference and to constant arithmetic. */
function count(to: TemplateJudgement, kind: number, word: string): void {
  // `<%= x %>`, `{% x %}`: signs of the delimiters.
  const delimiter =
    kind === SIGN && ((to.tokens === 0 && '=-'.includes(word)) || (word === '%' && to.mark === '{%'));
  if (delimiter) return;
  if (word === '|' && kind === SIGN) to.filtered = true;
  else if (!to.filtered) to.path = isPathPart(kind, word) && to.path.length < 32 ? to.path + word : ' ';
  if (to.operands >= 0) countOperand(to, kind, word);
}

function isPathPart(kind: number, word: string): boolean {
  return kind === NAME || (kind === SIGN && (word === '.' || word === '/'));
}

function countOperand(to: TemplateJudgement, kind: number, word: string): void {
  if (kind === NUMBER || (kind === STRING && word.length <= LONGEST_OPERAND)) {
    if (kind === STRING && !isDigits(word)) to.textual = true;
    // A `+` is decoded as a space: two numbers behind each other are a sum.
    if (to.operands === 1 && to.operators === 0 && !to.textual) to.operators = 1;
    // `{{1/2}}` numbers a page; a division by zero provokes an error.
    to.operands = to.last === '/' && word !== '0' ? -1 : to.operands + 1;
  } else if (kind === SIGN && to.operands > 0 && '*+-/%'.includes(word)) {
    to.operators++;
    to.product ||= word === '*';
  } else if (!'(){}'.includes(word) && !(to.operands === 0 && mayPrecede(to, kind, word))) {
    to.operands = -1;
  }
}

/** Whether a token can be before constant arithmetic: `{% set x = 7*7 %}`, `{{=7*7}}`, `#set($x=7*7)`. */
function mayPrecede({ mark }: TemplateJudgement, kind: number, word: string): boolean {
  if (kind === NAME) return word === 'print' || mark === '{%' || mark === '#set(' || mark === '<#';
  return kind === SIGN && '=${[%-~'.includes(word);
}

/** The longest text that is an operand. */
const LONGEST_OPERAND = 12;

function isDigits(word: string): boolean {
  if (word.length === 0) return false;
  for (let at = 0; at < word.length; at++)
    if (word.charCodeAt(at) < 0x30 || word.charCodeAt(at) > 0x39) return false;
  return true;
}
