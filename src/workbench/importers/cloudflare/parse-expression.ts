/**
 * Parses filter expressions of Cloudflare's Rules language (wirefilter syntax) into a tree. `not` binds tightest, then
 * `and`, `xor`, `or`. The parser is bounded in length and depth and does not throw.
 */
import { MAX_EXPRESSION_CHARACTERS, MAX_EXPRESSION_DEPTH } from '../filter.ts';

/** A value: a field, a call, or a constant. */
export type CloudflareValue =
  | { readonly kind: 'field'; readonly name: string }
  | { readonly kind: 'call'; readonly name: string; readonly args: readonly CloudflareValue[] }
  /** `any` or `all` over the elements of an array; `null`: what is inside is no comparison that is read. */
  | { readonly kind: 'each'; readonly name: 'any' | 'all'; readonly of: CloudflareExpression | null }
  | { readonly kind: 'text'; readonly text: string }
  /** A number, an address, a range or the name of a list, as written. */
  | { readonly kind: 'word'; readonly text: string };

/** An expression. `text` is its source, for messages. */
export type CloudflareExpression =
  | {
      readonly kind: 'and' | 'or' | 'xor';
      readonly of: readonly CloudflareExpression[];
      readonly text: string;
    }
  | { readonly kind: 'not'; readonly of: CloudflareExpression; readonly text: string }
  | { readonly kind: 'value'; readonly value: CloudflareValue; readonly text: string }
  | {
      readonly kind: 'compare';
      readonly left: CloudflareValue;
      readonly operator: string;
      readonly right: readonly CloudflareValue[];
      readonly text: string;
    };

/** The tree, or the mistake. */
export type ParsedExpression<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly reason: string };

/** Parses a filter expression. */
export function parseExpression(text: string): ParsedExpression<CloudflareExpression> {
  return parseWhole(text, (parser) => parseOr(parser, 0));
}

/** Parses a value expression, such as the target of a dynamic redirect. */
export function parseValueExpression(text: string): ParsedExpression<CloudflareValue> {
  return parseWhole(text, (parser) => parseValue(parser, 0));
}

/** A token with its place. */
interface Token {
  readonly kind: 'text' | 'word' | 'mark' | 'end';
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

interface Parser {
  readonly source: string;
  readonly tokens: readonly Token[];
  at: number;
  /** The first mistake; parsing goes on to its end without effect. */
  reason: string | null;
}

function parseWhole<T>(text: string, parse: (parser: Parser) => T): ParsedExpression<T> {
  if (text.length > MAX_EXPRESSION_CHARACTERS) {
    return { ok: false, reason: `the expression is longer than ${MAX_EXPRESSION_CHARACTERS} characters` };
  }
  const parser: Parser = { source: text, tokens: [], at: 0, reason: null };
  const tokens = tokensOf(text);
  if (typeof tokens === 'string') return { ok: false, reason: tokens };
  const value = parse(Object.assign(parser, { tokens }));
  if (parser.reason === null && peek(parser).kind !== 'end') unexpected(parser);
  return parser.reason === null ? { ok: true, value } : { ok: false, reason: parser.reason };
}

const WORD = /[A-Za-z0-9_.:/$[\]*-]/;

function tokensOf(text: string): readonly Token[] | string {
  const tokens: Token[] = [];
  let at = 0;
  while (at < text.length) {
    const character = text[at]!;
    if (/\s/.test(character)) {
      at++;
      continue;
    }
    const raw = /^r(#{0,16})"/.exec(text.slice(at, at + 20));
    if (character === '"' || raw !== null) {
      const token = raw === null ? quoted(text, at) : rawText(text, at, raw[1]!);
      if (token === null) return `the text at character ${at + 1} has no end`;
      tokens.push(token);
      at = token.to;
      continue;
    }
    const mark = /^(?:==|!=|<=|>=|&&|\|\||\^\^|[(){},!<>~])/.exec(text.slice(at, at + 2))?.[0];
    if (mark !== undefined) {
      tokens.push({ kind: 'mark', text: mark, from: at, to: at + mark.length });
      at += mark.length;
      continue;
    }
    let end = at;
    while (end < text.length && WORD.test(text[end]!)) {
      // The name of a header or a cookie, such as `http.request.headers["x-a"]`.
      if (text[end] === '[' && text[end + 1] === '"') end = text.indexOf(']', end);
      if (end < 0) return `the text at character ${at + 1} has no end`;
      end++;
    }
    if (end === at) return `unexpected \`${character}\` at character ${at + 1}`;
    tokens.push({ kind: 'word', text: text.slice(at, end), from: at, to: end });
    at = end;
  }
  tokens.push({ kind: 'end', text: '', from: text.length, to: text.length });
  return tokens;
}

function quoted(text: string, from: number): Token | null {
  let value = '';
  for (let at = from + 1; at < text.length; at++) {
    const character = text[at]!;
    if (character === '"') return { kind: 'text', text: value, from, to: at + 1 };
    if (character !== '\\') {
      value += character;
      continue;
    }
    const hex = /^x([0-9a-fA-F]{2})/.exec(text.slice(at + 1, at + 4));
    value += hex === null ? (text[at + 1] ?? '') : String.fromCharCode(Number.parseInt(hex[1]!, 16));
    at += hex === null ? 1 : 3;
  }
  return null;
}

function rawText(text: string, from: number, hashes: string): Token | null {
  const start = from + 2 + hashes.length;
  const end = text.indexOf(`"${hashes}`, start);
  return end < 0 ? null : { kind: 'text', text: text.slice(start, end), from, to: end + 1 + hashes.length };
}

function peek({ tokens, at }: Parser): Token {
  return tokens[Math.min(at, tokens.length - 1)]!;
}

/** Takes the next token if it is one of these words or marks. */
function accept(parser: Parser, ...texts: readonly string[]): boolean {
  const { kind, text } = peek(parser);
  if (kind === 'text' || !texts.includes(text)) return false;
  parser.at++;
  return true;
}

function unexpected(parser: Parser): void {
  const { kind, text, from } = peek(parser);
  parser.reason ??=
    kind === 'end'
      ? 'the expression ends too early'
      : `unexpected \`${text.slice(0, 40)}\` at character ${from + 1}`;
  // The end is reached at once, so that every loop stops.
  parser.at = parser.tokens.length - 1;
}

function parseChain(
  parser: Parser,
  depth: number,
  {
    kind,
    words,
    inner,
  }: { readonly kind: 'and' | 'or' | 'xor'; readonly words: readonly string[]; readonly inner: Level },
): CloudflareExpression {
  const from = peek(parser).from;
  const of = [inner(parser, depth)];
  while (accept(parser, ...words)) of.push(inner(parser, depth));
  return of.length === 1 ? of[0]! : { kind, of, text: textFrom(parser, from) };
}

type Level = (parser: Parser, depth: number) => CloudflareExpression;

function parseOr(parser: Parser, depth: number): CloudflareExpression {
  return parseChain(parser, depth, { kind: 'or', words: ['or', '||'], inner: parseXor });
}

function parseXor(parser: Parser, depth: number): CloudflareExpression {
  return parseChain(parser, depth, { kind: 'xor', words: ['xor', '^^'], inner: parseAnd });
}

function parseAnd(parser: Parser, depth: number): CloudflareExpression {
  return parseChain(parser, depth, { kind: 'and', words: ['and', '&&'], inner: parseNot });
}

function parseNot(parser: Parser, depth: number): CloudflareExpression {
  const from = peek(parser).from;
  if (depth > MAX_EXPRESSION_DEPTH) {
    parser.reason ??= `the expression is nested more than ${MAX_EXPRESSION_DEPTH} deep`;
    parser.at = parser.tokens.length - 1;
  }
  if (accept(parser, 'not', '!')) {
    return { kind: 'not', of: parseNot(parser, depth + 1), text: textFrom(parser, from) };
  }
  if (accept(parser, '(')) {
    const inner = parseOr(parser, depth + 1);
    if (!accept(parser, ')')) unexpected(parser);
    return inner;
  }
  return parseComparison(parser, depth);
}

/** The source between a place and the last token that was taken. */
function textFrom({ source, tokens, at }: Parser, from: number): string {
  return source.slice(from, tokens[Math.max(at - 1, 0)]!.to);
}

const OPERATORS: Readonly<Record<string, string>> = {
  eq: 'eq',
  '==': 'eq',
  ne: 'ne',
  '!=': 'ne',
  contains: 'contains',
  matches: 'matches',
  '~': 'matches',
  in: 'in',
  wildcard: 'wildcard',
  lt: 'lt',
  '<': 'lt',
  le: 'le',
  '<=': 'le',
  gt: 'gt',
  '>': 'gt',
  ge: 'ge',
  '>=': 'ge',
};

function parseComparison(parser: Parser, depth: number): CloudflareExpression {
  const from = peek(parser).from;
  const left = parseValue(parser, depth);
  const { kind, text } = peek(parser);
  const isStrict = kind === 'word' && text === 'strict';
  if (isStrict) parser.at++;
  const next = peek(parser);
  const operator = next.kind === 'text' ? undefined : OPERATORS[next.text];
  if (operator === undefined || !Object.hasOwn(OPERATORS, next.text)) {
    if (isStrict) unexpected(parser);
    return { kind: 'value', value: left, text: textFrom(parser, from) };
  }
  parser.at++;
  const right = operator === 'in' ? parseSet(parser, depth) : [parseValue(parser, depth)];
  const shown = isStrict ? 'strict wildcard' : operator;
  if (isStrict && operator !== 'wildcard') unexpected(parser);
  return { kind: 'compare', left, operator: shown, right, text: textFrom(parser, from) };
}

/** `{ a b c }`, or the name of a list. */
function parseSet(parser: Parser, depth: number): readonly CloudflareValue[] {
  if (!accept(parser, '{')) return [parseValue(parser, depth)];
  const values: CloudflareValue[] = [];
  while (!accept(parser, '}')) {
    if (peek(parser).kind === 'end') {
      unexpected(parser);
      break;
    }
    accept(parser, ',');
    if (peek(parser).text !== '}' || peek(parser).kind === 'text') values.push(parseValue(parser, depth));
  }
  return values;
}

function parseValue(parser: Parser, depth: number): CloudflareValue {
  const { kind, text } = peek(parser);
  if (kind === 'text') {
    parser.at++;
    return { kind: 'text', text };
  }
  if (kind !== 'word' || depth > MAX_EXPRESSION_DEPTH) {
    unexpected(parser);
    return { kind: 'word', text: '' };
  }
  parser.at++;
  if (!accept(parser, '(')) {
    return /^[a-z_][a-z0-9_]*(?:\.[a-z0-9_]+)*(?:\[.*\])*$/i.test(text)
      ? { kind: 'field', name: text }
      : { kind: 'word', text };
  }
  if (text === 'any' || text === 'all') return { kind: 'each', name: text, of: parseEach(parser, depth) };
  const args: CloudflareValue[] = [];
  while (!accept(parser, ')')) {
    if (args.length > 0 && !accept(parser, ',')) {
      unexpected(parser);
      break;
    }
    args.push(parseValue(parser, depth + 1));
    if (peek(parser).kind === 'end') {
      unexpected(parser);
      break;
    }
  }
  skipIndex(parser);
  return { kind: 'call', name: text, args };
}

/** The comparison inside `any` or `all`; what cannot be read is skipped to the end of the call. */
function parseEach(parser: Parser, depth: number): CloudflareExpression | null {
  const from = parser.at;
  const inner = parseOr(parser, depth + 1);
  if (parser.reason === null && accept(parser, ')')) return inner;
  parser.at = from;
  parser.reason = null;
  for (let open = 1; open > 0; parser.at++) {
    const { kind, text } = peek(parser);
    if (kind === 'end') {
      unexpected(parser);
      break;
    }
    if (kind === 'mark' && text === '(') open++;
    if (kind === 'mark' && text === ')') open--;
  }
  return null;
}

/** Skips the index of a call's result, such as `lower(…)[*]`. */
function skipIndex(parser: Parser): void {
  const { kind, text } = peek(parser);
  if (kind === 'word' && /^(\[[^\]]*\])+$/.test(text)) parser.at++;
}
