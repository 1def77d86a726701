/**
 * Parses the statements of Fastly's conditions, boolean expressions in VCL, straight to conditions over the filters of rules. `!`
 * binds tightest, then `&&`, then `||`. Bounded in length and depth; does not throw.
 */
import type { AddressSet } from '../addresses.ts';
import { type ImportedCondition, MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH } from '../filter.ts';
import {
  endsWithText,
  equalsText,
  literalOf,
  regexText,
  startsWithText,
  type TextTest,
  withoutCase,
} from '../text-test.ts';
import {
  factCondition,
  subjectCondition,
  subjectOf,
  subjectOfCall,
  type VariableComparison,
} from './compare-value.ts';

/** The condition and how it differs, or why the statement cannot be read. */
export type ReadStatement =
  | { readonly ok: true; readonly condition: ImportedCondition; readonly differences: readonly string[] }
  | { readonly ok: false; readonly reason: string };

/** Addresses of ACLs by name; `null`: the file has no entries of it. */
export type FastlyAcls = ReadonlyMap<string, AddressSet | null>;

/** What statements of a service are read with. */
export interface FastlyNames {
  readonly acls: FastlyAcls;
  /** Names of headers, in lower case, that the service changes. */
  readonly changed: ReadonlySet<string>;
}

interface Parser extends FastlyNames {
  readonly words: readonly string[];
  readonly differences: string[];
  /** The opposite of what is read next is meant. */
  isNegated: boolean;
  at: number;
  reason: string | null;
}

/** Reads a statement. */
export function readStatement(text: string, { acls, changed }: FastlyNames): ReadStatement {
  if (text.length > MAX_EXPRESSION_CHARACTERS) {
    return { ok: false, reason: `the statement is longer than ${MAX_EXPRESSION_CHARACTERS} characters` };
  }
  const words = wordsOf(text);
  if (typeof words === 'string') return { ok: false, reason: words };
  const parser: Parser = { words, acls, changed, differences: [], isNegated: false, at: 0, reason: null };
  const condition = parseAny(parser, 0);
  if (parser.reason === null && parser.at < words.length) unexpected(parser);
  if (parser.reason !== null) return { ok: false, reason: parser.reason };
  return { ok: true, condition, differences: [...new Set(parser.differences)] };
}

/** Words, marks, and texts with their quote in front; a text instead of a list is a mistake. */
function wordsOf(text: string): readonly string[] | string {
  const words: string[] = [];
  const word = /\s+|\{"([\s\S]*?)"\}|"([^"\n]*)"|(==|!=|!~|&&|\|\||[()!~,<>])|([A-Za-z0-9_.:-]+)/y;
  while (word.lastIndex < text.length) {
    const from = word.lastIndex;
    const match = word.exec(text);
    if (match === null) return `unexpected \`${text.slice(from, from + 20)}\``;
    const quoted = match[1] ?? match[2];
    if (quoted !== undefined) words.push(`"${quoted}`);
    else if (match[3] !== undefined || match[4] !== undefined) words.push(match[0]);
  }
  return words;
}

function unexpected(parser: Parser): ImportedCondition {
  const word = parser.words[parser.at];
  parser.reason ??=
    word === undefined ? 'the statement ends too early' : `unexpected \`${word.slice(0, 40)}\``;
  parser.at = parser.words.length;
  return { kind: 'constant', value: false };
}

function accept(parser: Parser, word: string): boolean {
  if (parser.words[parser.at] !== word) return false;
  parser.at++;
  return true;
}

function parseAny(parser: Parser, depth: number): ImportedCondition {
  const of = [parseAll(parser, depth)];
  while (accept(parser, '||')) of.push(parseAll(parser, depth));
  return of.length === 1 ? of[0]! : { kind: 'any', of };
}

function parseAll(parser: Parser, depth: number): ImportedCondition {
  const of = [parseOne(parser, depth)];
  while (accept(parser, '&&')) of.push(parseOne(parser, depth));
  return of.length === 1 ? of[0]! : { kind: 'all', of };
}

function parseOne(parser: Parser, depth: number): ImportedCondition {
  if (depth > MAX_EXPRESSION_DEPTH) {
    parser.reason ??= `the statement is nested more than ${MAX_EXPRESSION_DEPTH} deep`;
    parser.at = parser.words.length;
    return { kind: 'constant', value: false };
  }
  if (accept(parser, '!')) {
    parser.isNegated = !parser.isNegated;
    const of = parseOne(parser, depth + 1);
    parser.isNegated = !parser.isNegated;
    return { kind: 'not', of };
  }
  if (accept(parser, '(')) {
    const inner = parseAny(parser, depth + 1);
    return accept(parser, ')') ? inner : unexpected(parser);
  }
  return parseComparison(parser);
}

/** Operators of comparisons. */
const OPERATORS = ['==', '!=', '~', '!~', '<', '>'];

/** What is compared: a variable, or the call of a function with its arguments. */
interface Compared {
  readonly name: string;
  /** `null`: it is a variable. */
  readonly args: readonly string[] | null;
}

function parseComparison(parser: Parser): ImportedCondition {
  const name = parser.words[parser.at];
  if (name === undefined || !/^[A-Za-z]/.test(name)) return unexpected(parser);
  parser.at++;
  if (name === 'true' || name === 'false') return { kind: 'constant', value: name === 'true' };
  const args = accept(parser, '(') ? argumentsOf(parser) : null;
  if (parser.reason !== null) return { kind: 'constant', value: false };
  const compared = { name, args };
  const operator = parser.words[parser.at] ?? '';
  if (!OPERATORS.includes(operator)) return bareOf(compared, parser);
  const operand = parser.words[parser.at + 1];
  if (operand === undefined || /^[()!~,=&|<>]/.test(operand)) {
    parser.at++;
    return unexpected(parser);
  }
  parser.at += 2;
  const isOpposite = operator.startsWith('!');
  const plain = operator.replace('!', '').replace(/^=$/, '==');
  if (isOpposite) parser.isNegated = !parser.isNegated;
  const condition = comparisonOf({ ...compared, operator: plain, operand }, parser);
  if (isOpposite) parser.isNegated = !parser.isNegated;
  return isOpposite ? { kind: 'not', of: condition } : condition;
}

/** The words between the parentheses of a call, without commas. */
function argumentsOf(parser: Parser): readonly string[] {
  const words: string[] = [];
  let depth = 1;
  while (depth > 0 && parser.at < parser.words.length) {
    const word = parser.words[parser.at++]!;
    if (word === '(') depth++;
    if (word === ')') depth--;
    if (depth > 0 && word !== ',') words.push(word);
  }
  if (depth > 0) unexpected(parser);
  return words;
}

/** A variable or a call without an operator. */
function bareOf({ name, args }: Compared, parser: Parser): ImportedCondition {
  const text = args === null ? name : `${name}()`;
  const lower = name.toLowerCase();
  if (lower === 'req.http.fastly-ff') return { kind: 'constant', value: false };
  if (lower === 'req.http.fastly-ssl' || name === 'req.is_ssl')
    return { kind: 'fact', fact: { member: 'schemes', values: ['https'], negated: false } };
  const subject = args === null ? subjectOf(name) : subjectOfCall(name, args);
  const condition = subject === null ? null : subjectCondition(subject, { operator: null, text: '' }, parser);
  if (condition !== null && typeof condition !== 'string') return condition;
  return { kind: 'unknown', text, reason: condition ?? 'has no equivalent in a filter' };
}

interface Comparison extends Compared {
  /** `==`, `~`, `<` or `>`. */
  readonly operator: string;
  /** A text has its quote in front. */
  readonly operand: string;
}

/** Counters that are 0 for the request of a visitor. */
const FIRST_TIME = ['fastly.ff.visits_this_service', 'req.restarts'];
/** The address of the visitor. */
const ADDRESSES = ['client.ip', 'req.http.fastly-client-ip'];

function comparisonOf(comparison: Comparison, parser: Parser): ImportedCondition {
  const { name, args, operator, operand } = comparison;
  const called = args === null ? name : `${name}()`;
  const shown = `${called} ${operator} ${operand}${operand.startsWith('"') ? '"' : ''}`;
  const unknown = (reason: string): ImportedCondition => ({ kind: 'unknown', text: shown, reason });
  if (args !== null) {
    const subject = subjectOfCall(name, args);
    if (subject === null || !operand.startsWith('"')) return unknown('has no equivalent in a filter');
    const read = subjectCondition(subject, { operator, text: operand.slice(1) }, parser);
    return typeof read === 'string' ? unknown(read) : read;
  }
  // Requests that come from another node of Fastly, or a second time, do not exist at the edge.
  if (operand === '0' && operator === '==' && FIRST_TIME.includes(name))
    return { kind: 'constant', value: true };
  if (ADDRESSES.includes(name.toLowerCase())) {
    const addresses = operator === '~' ? parser.acls.get(operand) : undefined;
    if (addresses === undefined) return unknown('names no ACL of the file');
    return addresses === null
      ? unknown('names an ACL whose entries are not in the file')
      : { kind: 'ip', addresses };
  }
  const isNumber = /^\d+$/.test(operand) && name === 'client.as.number';
  if (!operand.startsWith('"') && !isNumber) return unknown('compares with a value that is no text');
  const read = textCondition({ name, operator, text: isNumber ? operand : operand.slice(1) }, parser);
  return typeof read === 'string' ? unknown(read) : read;
}

/** A comparison of a variable with a text; a text is the reason why it has no equivalent. */
function textCondition(comparison: VariableComparison, parser: Parser): ImportedCondition | string {
  const { name, operator, text } = comparison;
  const fact = factCondition(comparison);
  if (fact !== null) return fact;
  if (name.toLowerCase() === 'req.http.host') {
    if (operator === '==') return { kind: 'host', tests: [equalsText(text.toLowerCase())] };
    const test = operator === '~' ? regexText(text) : 'only == and ~ have an equivalent';
    return typeof test === 'string'
      ? `has no equivalent: ${test}`
      : { kind: 'host', tests: [literalRegex(text) ?? test] };
  }
  const subject = subjectOf(name);
  if (subject !== null) return subjectCondition(subject, comparison, parser);
  if (name === 'req.url.ext' && operator === '==' && /^[\w-]+$/.test(text)) {
    return { kind: 'path', tests: [endsWithText(`.${text}`)] };
  }
  const isWhole = name === 'req.url';
  if (!isWhole && name !== 'req.url.path') return 'has no equivalent: no rule has such a filter';
  if (/[%?]/.test(text) && operator === '==') return 'is about the query or an escape';
  return pathOf({ text, operator, isWhole }, parser) ?? 'has no equivalent in a filter';
}

/** A test of the path; of `req.url`, which has the query too, only a literal start is exact. */
function pathOf(
  {
    text,
    operator,
    isWhole,
  }: { readonly text: string; readonly operator: string; readonly isWhole: boolean },
  { differences }: Parser,
): ImportedCondition | null {
  if (operator !== '==' && operator !== '~') return null;
  const test = operator === '==' ? equalsText(text) : (literalRegex(text) ?? regexText(text));
  if (typeof test === 'string') return null;
  const isStart = test.kind === 'pieces' && literalOf(test) === null && test.pieces.at(-1) === '';
  if (isWhole && !isStart)
    differences.push(`\`req.url\` has the query too; the rule compares the path alone with \`${text}\``);
  return { kind: 'path', tests: [test] };
}

/** A regex that is a literal with anchors; `null` for others. */
function literalRegex(source: string): TextTest | null {
  const [, flag, start, body = '', end] =
    /^(\(\?i\))?(\^?)((?:[\w/~@:,;=&! -]|\\[./-])+)(\$?)$/.exec(source) ?? [];
  if (start === undefined || (start === '' && end === '')) return null;
  const text = body.replaceAll('\\', '');
  const test = start === '^' ? (end === '$' ? equalsText(text) : startsWithText(text)) : endsWithText(text);
  return flag === undefined ? test : withoutCase(test);
}
