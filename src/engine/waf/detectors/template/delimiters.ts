/** The delimiters of template languages: where an expression begins in a value, and where it ends. */
import { type ExpressionTokens, isNamePart, SIGN } from '../expression/tokens.ts';

/** How an expression ends: with `}` or `}}`, with `%>`, with `>`, with `)`, or where the reference to a variable ends. */
export type Closing = 'curly' | 'percent' | 'angle' | 'round' | 'reference';

/** The beginning of an expression. */
export interface Opening {
  /** The delimiter as written, without further braces. */
  readonly mark: string;
  readonly closing: Closing;
  /** Its length in octets. */
  readonly length: number;
}

/** By first octet, the delimiters that begin with it, the longest first. */
const OPENINGS: ReadonlyMap<number, readonly Opening[]> = openings([
  ['{{', 'curly'],
  ['{%', 'curly'],
  ['${', 'curly'],
  ['#{', 'curly'],
  ['*{', 'curly'],
  ['@{', 'curly'],
  ['~{', 'curly'],
  ['%{', 'curly'],
  ['<%', 'percent'],
  ['<#', 'angle'],
  ['@(', 'round'],
  ['#set(', 'round'],
  ['#set (', 'round'],
  ['#include(', 'round'],
  ['#parse(', 'round'],
  ['#evaluate(', 'round'],
]);

function openings(list: readonly (readonly [string, Closing])[]): ReadonlyMap<number, readonly Opening[]> {
  const found = new Map<number, Opening[]>();
  for (const [mark, closing] of list) {
    const code = mark.charCodeAt(0);
    found.set(code, [...(found.get(code) ?? []), { mark, closing, length: mark.length }]);
  }
  return found;
}

/** A tag of Smarty, `{name` or `{$name`. */
const SMARTY: Opening = { mark: '{', closing: 'curly', length: 1 };
/** A reference of Velocity, `$name` or `$!{name}`. */
const REFERENCE: Opening = { mark: '$', closing: 'reference', length: 1 };

/** By octet, whether an expression can begin with it. */
const begins = new Uint8Array(256);
for (const octet of '{$#*@~%<') begins[octet.charCodeAt(0)] = 1;

/** Returns the delimiter at `at`; `null`: absent. */
export function openingAt(text: string, at: number): Opening | null {
  const code = text.charCodeAt(at);
  if (begins[code] !== 1) return null;
  for (const opening of OPENINGS.get(code) ?? []) {
    if (startsWithout(text, opening.mark, at)) return opening;
  }
  const next = text.charCodeAt(at + 1);
  if (code === 0x7b) return isNamePart(next) || next === 0x24 || next === 0x2f ? SMARTY : null;
  return code === 0x24 && next < 0x80 && isNamePart(next) ? REFERENCE : null;
}

/** Whether `mark` is at `at`, without case. */
function startsWithout(text: string, mark: string, at: number): boolean {
  for (let index = 0; index < mark.length; index++) {
    const code = text.charCodeAt(at + index);
    const wanted = mark.charCodeAt(index);
    const isLetter = wanted >= 0x61 && wanted <= 0x7a;
    if (code !== wanted && !(isLetter && (code | 0x20) === wanted)) return false;
  }
  return true;
}

/** Whether the last token ends an expression; `depth` counts the brackets of its own kind that are open inside. */
export function closes({ text, at, word, kind }: ExpressionTokens, closing: Closing, depth: number): boolean {
  switch (closing) {
    case 'curly':
      return word === '}' && depth <= 0;
    case 'percent':
      return word === '%' && text.charCodeAt(at) === 0x3e;
    case 'angle':
      return word === '>';
    case 'round':
      return word === ')' && depth <= 0;
    case 'reference':
      return kind === SIGN && !'.()[],$!{}'.includes(word);
    default:
      return closing satisfies never;
  }
}
