/** Expressions of Apache httpd (`<If>`, `Require expr`, `expr=`) as conditions. What they have beyond comparisons is unknown. */
import { readAddresses, uniteAddresses } from '../addresses.ts';
import { type ImportedCondition, MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH } from '../filter.ts';
import {
  type ApacheImport,
  allOf,
  anyOf,
  EVERY,
  NEVER,
  notOf,
  type TestedVariable,
  unknownTest,
} from './context.ts';
import { readPattern, type TextMatcher } from './patterns.ts';
import { testText } from './variables.ts';

interface Reader {
  readonly state: ApacheImport;
  readonly tokens: readonly string[];
  at: number;
  depth: number;
  readonly differences: string[];
  /** A part holds for more requests than in the source; its opposite is unknown. */
  isWide: boolean;
}

const TOKEN =
  /\s*(&&|\|\||==|!=|=~|!~|<=|>=|[()!<>{},]|m#(?:[^#\\]|\\.)*#[imsgx]*|\/(?:[^/\\]|\\.)*\/[imsgx]*|'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|%\{[^}]*\}|-[A-Za-z]+|[^\s()!<>{},=&|'"]+)/y;

/** Reads an expression; one that cannot be read is unknown. */
export function readExpression(state: ApacheImport, text: string): TestedVariable {
  const unread = unknownTest(text.slice(0, 80), 'is no expression of known tests');
  if (text.length > MAX_EXPRESSION_CHARACTERS) return { condition: unread, differences: [], isWide: false };
  const tokens: string[] = [];
  TOKEN.lastIndex = 0;
  for (let match = TOKEN.exec(text); match !== null; match = TOKEN.exec(text)) tokens.push(match[1]!);
  const isWhole =
    tokens.length > 0 &&
    tokens.join('').length === text.replace(/\s+(?=(?:[^'"]|'[^']*'|"[^"]*")*$)/g, '').length;
  const reader: Reader = { state, tokens, at: 0, depth: 0, differences: [], isWide: false };
  const condition = readAny(reader);
  const isRead = condition !== null && reader.at === tokens.length && isWhole;
  return { condition: isRead ? condition : unread, differences: reader.differences, isWide: reader.isWide };
}

function readAny(reader: Reader): ImportedCondition | null {
  const parts: ImportedCondition[] = [];
  do {
    const part = readAll(reader);
    if (part === null) return null;
    parts.push(part);
  } while (accept(reader, '||'));
  return anyOf(parts);
}

function readAll(reader: Reader): ImportedCondition | null {
  const parts: ImportedCondition[] = [];
  do {
    const part = readNot(reader);
    if (part === null) return null;
    parts.push(part);
  } while (accept(reader, '&&'));
  return allOf(parts);
}

function readNot(reader: Reader): ImportedCondition | null {
  if (reader.depth++ > MAX_EXPRESSION_DEPTH) return null;
  if (accept(reader, '!')) {
    const wasWide = reader.isWide;
    reader.isWide = false;
    const inner = readNot(reader);
    const isWide = reader.isWide;
    reader.isWide = wasWide;
    return inner === null
      ? null
      : isWide
        ? unknownTest('!', 'has an opposite that no filter has')
        : notOf(inner);
  }
  if (!accept(reader, '(')) return readTest(reader);
  const inner = readAny(reader);
  return inner !== null && accept(reader, ')') ? inner : null;
}

function accept(reader: Reader, token: string): boolean {
  if (reader.tokens[reader.at] !== token) return false;
  reader.at++;
  return true;
}

function next(reader: Reader): string | null {
  return reader.tokens[reader.at++] ?? null;
}

function readTest(reader: Reader): ImportedCondition | null {
  const first = next(reader);
  if (first === null) return null;
  if (first === 'true') return EVERY;
  if (first === 'false') return NEVER;
  if (first === '-R') return addressesOf(next(reader));
  if (/^-[A-Za-z]+$/.test(first)) return readUnary(reader, first);
  const text = operand(reader, first);
  if (text === null) return null;
  const operator = next(reader);
  switch (operator) {
    case '==':
    case '=':
    case '-eq':
    case '-strmatch':
    case '-strcmatch':
    case '!=':
    case '-ne': {
      const other = readOperand(reader);
      if (other === null || other.includes('%{') || /-str/.test(operator)) return null;
      const matcher: TextMatcher = { kind: 'equals', text: other, ignoreCase: false };
      return tested(reader, text, matcher, operator === '!=' || operator === '-ne');
    }
    case '=~':
    case '!~': {
      const [, , source = '', flags = ''] = /^(m#|\/)(.*)[#/]([imsgx]*)$/s.exec(next(reader) ?? '') ?? [];
      const pattern = readPattern(source, flags.includes('i'));
      if (typeof pattern === 'string') return unknownTest(text, pattern);
      return tested(reader, text, { kind: 'regex', pattern }, operator === '!~');
    }
    case '-in':
    case 'in':
      return readList(reader, text);
    case '-ipmatch':
      return /^%\{REMOTE_ADDR\}$/i.test(text) ? addressesOf(next(reader)) : null;
    default:
      return null;
  }
}

/** `-n` and `-z` of a text; other tests ask for files or the connection. */
function readUnary(reader: Reader, operator: string): ImportedCondition | null {
  const text = readOperand(reader);
  if (text === null) return null;
  if (operator === '-n' || operator === '-z')
    return tested(reader, text, { kind: 'equals', text: '', ignoreCase: false }, operator === '-n');
  if (operator === '-T') return tested(reader, text, { kind: 'equals', text: 'on', ignoreCase: true }, false);
  return unknownTest(`${operator} ${text}`, 'depends on the server');
}

function readList(reader: Reader, text: string): ImportedCondition | null {
  if (!accept(reader, '{')) return null;
  const parts: ImportedCondition[] = [];
  do {
    const value = readOperand(reader);
    if (value === null || value.includes('%{')) return null;
    parts.push(tested(reader, text, { kind: 'equals', text: value, ignoreCase: false }, false));
  } while (accept(reader, ','));
  return accept(reader, '}') ? anyOf(parts) : null;
}

function tested(reader: Reader, text: string, matcher: TextMatcher, isNegated: boolean): ImportedCondition {
  const { condition, differences, isWide } = testText(reader.state, text, matcher);
  reader.differences.push(...differences);
  if (isNegated && isWide) return unknownTest(text, 'has an opposite that no filter has');
  reader.isWide ||= isWide;
  return isNegated ? notOf(condition) : condition;
}

function readOperand(reader: Reader): string | null {
  const first = next(reader);
  return first === null ? null : operand(reader, first);
}

/** The text of an operand: a string, a variable, a function of a header, a word. */
function operand(reader: Reader, first: string): string | null {
  if (/^['"]/.test(first)) return first.slice(1, -1).replace(/\\(.)/g, '$1');
  if (first.startsWith('%{')) return first;
  if (reader.tokens[reader.at] !== '(') return /^[\w.:/-]+$/.test(first) ? first : null;
  reader.at++;
  const argument = readOperand(reader);
  if (argument === null || !accept(reader, ')')) return null;
  if (['req', 'http', 'req_novary'].includes(first)) return `%{HTTP:${argument}}`;
  return ['env', 'reqenv'].includes(first) ? `%{ENV:${argument}}` : null;
}

function addressesOf(written: string | null): ImportedCondition | null {
  const text = (written ?? '').replace(/^['"]|['"]$/g, '');
  const sets = text.split(',').map((one) => readAddresses(one.trim()));
  const known = sets.filter((set) => set !== null);
  return known.length < sets.length ? null : { kind: 'ip', addresses: uniteAddresses(known) };
}
