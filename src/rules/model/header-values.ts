/**
 * Values and names of headers rules (semantics §14). In: the text that a customer wrote. Out: its pieces, literal text and
 * variables, or what is wrong with it. `$$` is a literal `$`, as in the targets of rewrite rules.
 */
import { quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { MAX_VALUE_NAME_CHARACTERS } from '../../base/vocabulary/limits.ts';
import {
  HEADER_VARIABLES,
  type HeaderOp,
  type HeaderSide,
  type HeaderVariable,
} from '../../base/vocabulary/vocabulary.ts';
import { TOKEN } from './fields.ts';
import { nearest } from './nearest.ts';
import type { Problem } from './report.ts';

/** A piece of a value. */
export type ValuePiece =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'variable'; readonly name: HeaderVariable }
  /** `1` if the rule that the tag names has tagged the request, else unset. */
  | { readonly kind: 'tag'; readonly tag: string }
  /** A claim of the token that a gateway has taken. */
  | { readonly kind: 'claim'; readonly name: string };

/** The pieces of a value in order, adjacent texts joined; or what is wrong with it. */
export type ParsedValue =
  | { readonly ok: true; readonly pieces: readonly ValuePiece[] }
  | { readonly ok: false; readonly problem: Problem };

const ACCEPTED = [...HEADER_VARIABLES, 'tag(<rule>)', 'claim(<name>)']
  .map((name) => `\`\${${name}}\``)
  .join(', ');

/** Splits a value into literal text and variables. */
export function parseHeaderValue(value: string): ParsedValue {
  const pieces: ValuePiece[] = [];
  let text = '';
  let position = 0;
  for (let at = value.indexOf('$'); at >= 0; at = value.indexOf('$', position)) {
    text += value.slice(position, at);
    if (value[at + 1] === '$') {
      text += '$';
      position = at + 2;
      continue;
    }
    const end = value[at + 1] === '{' ? value.indexOf('}', at) : -1;
    if (end < 0) return { ok: false, problem: loneDollar(value, at) };
    const piece = variableOf(value.slice(at + 2, end));
    if (!('kind' in piece)) return { ok: false, problem: piece };
    if (text !== '') pieces.push({ kind: 'text', text });
    text = '';
    pieces.push(piece);
    position = end + 1;
  }
  text += value.slice(position);
  if (text !== '') pieces.push({ kind: 'text', text });
  return { ok: true, pieces };
}

function variableOf(name: string): ValuePiece | Problem {
  const known = HEADER_VARIABLES.find((one) => one === name);
  if (known !== undefined) return { kind: 'variable', name: known };
  const tag = argumentOf('tag', name);
  if (tag !== null) return { kind: 'tag', tag };
  const claim = argumentOf('claim', name);
  if (claim !== null) return { kind: 'claim', name: claim };
  const meant = nearest(name, HEADER_VARIABLES);
  return {
    code: 'invalid_reference',
    message: `refers to no variable; known are ${ACCEPTED}`,
    found: quoteValue(`\${${name}}`),
    ...(meant === null ? {} : { remedy: `did you mean \`\${${meant}}\`?` }),
  };
}

/** What is in the brackets of a variable with an argument; `null`: it is another variable. */
function argumentOf(variable: string, text: string): string | null {
  const isCall = text.startsWith(`${variable}(`) && text.endsWith(')') && text.length > variable.length + 2;
  return isCall ? text.slice(variable.length + 1, -1) : null;
}

function loneDollar(value: string, at: number): Problem {
  const found = quoteValue(value.slice(at, at + 20));
  // nginx writes `$host`: literal text would be sent where a variable is meant.
  const name = HEADER_VARIABLES.find((one) => value.startsWith(one, at + 1));
  const remedy =
    name === undefined
      ? 'write `$$` for a literal `$`'
      : `write \`\${${name}}\`, or \`$$\` for a literal \`$\``;
  const message = 'holds a `$` that starts neither `${…}` nor `$$`';
  return { code: 'invalid_reference', message, found, remedy };
}

/** The problem of a value; `null`: it can be sent. */
export function judgeHeaderValue(value: string): Problem | null {
  if (value === '') {
    const remedy = 'list the name in `remove` to send no such field';
    return { code: 'empty_value', message: 'must not be empty', found: null, remedy };
  }
  const wrong = /[^\t -~]/.exec(value)?.[0];
  if (wrong !== undefined) {
    const message = 'must consist of visible ASCII characters and blanks';
    return { code: 'invalid_text', message, found: quoteValue(wrong), remedy: 'leave the character out' };
  }
  if (/^[\t ]|[\t ]$/.test(value)) {
    const message = 'must not start or end with a blank, which is no part of a value';
    return { code: 'invalid_text', message, remedy: 'leave the blank out' };
  }
  const parsed = parseHeaderValue(value);
  return parsed.ok ? null : parsed.problem;
}

/** The value with each tag replaced; one that `replace` returns `null` for stays. The value is one that `judgeHeaderValue` accepts. */
export function withValueTags(value: string, replace: (tag: string) => string | null): string {
  const parsed = parseHeaderValue(value);
  if (!parsed.ok || parsed.pieces.every(({ kind }) => kind !== 'tag')) return value;
  return parsed.pieces
    .map((piece) => {
      if (piece.kind === 'text') return piece.text.replaceAll('$', '$$$$');
      if (piece.kind === 'variable') return `\${${piece.name}}`;
      if (piece.kind === 'claim') return `\${claim(${piece.name})}`;
      return `\${tag(${replace(piece.tag) ?? piece.tag})}`;
    })
    .join('');
}

// Names that rules must not change, because they frame messages, route them, or are the edge's own.

/** One of these names on one or both sides, and why it is refused. */
interface RefusedName {
  readonly is: (name: string) => boolean;
  readonly side?: HeaderSide;
  /** Absent: every op. */
  readonly ops?: readonly HeaderOp[];
  readonly message: string;
  readonly remedy: string;
}

const named =
  (...names: readonly string[]) =>
  (name: string): boolean =>
    names.includes(name);

const REFUSED: readonly RefusedName[] = [
  {
    is: named('host'),
    message: 'routes requests, which rules of this type do not',
    remedy: 'set `host_header` of an `origin_route` or `origin_pool` rule',
  },
  {
    is: named('content-length', 'transfer-encoding', 'content-encoding', 'content-range', 'trailer', 'te'),
    message: 'frames or codes the body, which the edge does itself',
    remedy: 'leave it out',
  },
  {
    is: named(
      ...['connection', 'keep-alive', 'proxy-connection', 'upgrade', 'http2-settings', 'expect'],
      ...['proxy-authenticate', 'proxy-authorization', 'proxy-authentication-info'],
      ...['sec-websocket-accept', 'sec-websocket-extensions', 'sec-websocket-key'],
      ...['sec-websocket-protocol', 'sec-websocket-version'],
    ),
    message: 'belongs to a connection, not to a message',
    remedy: 'leave it out',
  },
  {
    is: (name) => name === 'forwarded' || name.startsWith('x-forwarded-'),
    message: 'is set by the edge, and origins trust it',
    remedy: 'use a name of your own, such as `X-Client-IP` with the value `${client_ip}`',
  },
  {
    is: (name) => name.startsWith('x-edgeplan-'),
    message: 'is set by the edge',
    remedy: 'use a name of your own',
  },
  {
    is: named('via', 'cdn-loop'),
    side: 'request',
    message: 'is set by the edge, which detects loops by it',
    remedy: 'leave it out',
  },
  {
    is: named('range', 'if-range', 'if-match', 'if-none-match', 'if-modified-since', 'if-unmodified-since'),
    side: 'request',
    ops: ['set', 'add'],
    message: 'would make an origin answer with a part of a response, or without its body, for every visitor',
    remedy: 'leave it out; it may be removed',
  },
  {
    is: named('set-cookie'),
    ops: ['set'],
    message: 'would remove all other cookies of the response',
    remedy: 'list it in `add`',
  },
];

/** Where a name stands in a rule. */
export interface NamePlace {
  readonly side: HeaderSide;
  readonly op: HeaderOp;
}

/** The problem of the name of a field at a place; `null`: it may be changed. */
export function judgeHeaderName(name: string, { side, op }: NamePlace): Problem | null {
  if (!TOKEN.test(name) || name.length > MAX_VALUE_NAME_CHARACTERS || name === '__proto__') {
    const message = `must be a name of a header, of at most ${MAX_VALUE_NAME_CHARACTERS} letters, digits and marks`;
    return { code: 'invalid_token', message, found: quoteValue(name) };
  }
  const lower = name.toLowerCase();
  const refused = REFUSED.find(
    (one) => one.is(lower) && (one.side ?? side) === side && (one.ops?.includes(op) ?? true),
  );
  if (refused === undefined) return null;
  const { message, remedy } = refused;
  return { code: 'reserved_header', message, found: quoteValue(name), remedy };
}
