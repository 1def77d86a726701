/**
 * Patterns of schemas in ECMA-262 syntax (with the flag `u`, JSON Schema Core 2020-12 §6.4), rewritten in the RE2 syntax of automata.
 * What the two read differently is rewritten, and what no automaton has is refused by name. In: a pattern. Out: the same in RE2.
 */

/** A pattern in RE2 syntax, or why no automaton matches it. */
export type RewrittenPattern =
  | { readonly ok: true; readonly source: string }
  | { readonly ok: false; readonly reason: string };

/** White space and line ends (ECMA-262 `WhiteSpace`, `LineTerminator`), and all else, as members of a class. */
const SPACE =
  '\\x{9}-\\x{d}\\x{20}\\x{a0}\\x{1680}\\x{2000}-\\x{200a}\\x{2028}\\x{2029}\\x{202f}\\x{205f}\\x{3000}\\x{feff}';
const NO_SPACE =
  '\\x{0}-\\x{8}\\x{e}-\\x{1f}\\x{21}-\\x{9f}\\x{a1}-\\x{167f}\\x{1681}-\\x{1fff}\\x{200b}-\\x{2027}\\x{202a}-\\x{202e}\\x{2030}-\\x{205e}\\x{2060}-\\x{2fff}\\x{3001}-\\x{fefe}\\x{ff00}-\\x{10ffff}';
const LINE_END = '\\x{a}\\x{d}\\x{2028}\\x{2029}';
/** Escapes of one letter. */
const CONTROLS: Readonly<Record<string, string>> = { t: '9', n: 'a', v: 'b', f: 'c', r: 'd' };

interface Rewriting {
  readonly source: string;
  at: number;
  isInClass: boolean;
  reason: string | null;
}

/** Rewrites a pattern. */
export function rewritePattern(source: string): RewrittenPattern {
  const state: Rewriting = { source, at: 0, isInClass: false, reason: null };
  let text = '';
  while (state.at < source.length && state.reason === null)
    text += state.isInClass ? inClass(state) : outside(state);
  if (state.isInClass) state.reason ??= 'has a class without `]`';
  return state.reason === null ? { ok: true, source: text } : { ok: false, reason: state.reason };
}

function refuse(state: Rewriting, reason: string): string {
  state.reason ??= reason;
  return '';
}

function outside(state: Rewriting): string {
  const { source, at } = state;
  const character = source[at]!;
  if (character === '\\') return readEscape(state);
  state.at++;
  if (character === '.') return `[^${LINE_END}]`;
  if (character === '(') return group(state);
  if (character !== '[') return character;
  state.isInClass = true;
  const isNegated = source[state.at] === '^';
  if (isNegated) state.at++;
  if (source[state.at] !== ']') return isNegated ? '[^' : '[';
  if (!isNegated) return refuse(state, 'has the empty class `[]`, which matches nothing');
  state.at++;
  state.isInClass = false;
  return '[\\x{0}-\\x{10ffff}]';
}

/** What follows an opening parenthesis. Groups do not capture: nothing reads them. */
function group(state: Rewriting): string {
  const rest = state.source.slice(state.at, state.at + 3);
  if (!rest.startsWith('?')) return '(?:';
  if (rest.startsWith('?:')) {
    state.at += 2;
    return '(?:';
  }
  if (/^\?(?:[=!]|<[=!])/.test(rest))
    return refuse(state, `looks around with \`(${rest}\`, which no automaton does`);
  const name = /^\?<[\p{L}\p{Nd}$_]+>/u.exec(state.source.slice(state.at));
  if (name === null) return refuse(state, `has the group \`(${rest}\`, which is not known`);
  state.at += name[0].length;
  return '(?:';
}

function inClass(state: Rewriting): string {
  const character = state.source[state.at]!;
  if (character === '\\') return readEscape(state);
  state.at++;
  if (character === ']') state.isInClass = false;
  // RE2 reads `[:alpha:]` as a named class.
  return character === '[' ? '\\[' : character;
}

function readEscape(state: Rewriting): string {
  const { source, isInClass } = state;
  const rest = source.slice(state.at + 1, state.at + 80);
  const letter = rest[0];
  if (letter === undefined) return refuse(state, 'ends with `\\`');
  const read = (length: number, text: string): string => {
    state.at += 1 + length;
    return text;
  };
  if (letter === 's' || letter === 'S') {
    const members = letter === 's' ? SPACE : NO_SPACE;
    return read(1, isInClass ? members : `[${members}]`);
  }
  if (letter === 'b' || letter === 'B')
    return isInClass ? boundary(letter, state, read) : read(1, `\\${letter}`);
  if ('dDwW'.includes(letter)) return read(1, `\\${letter}`);
  const control = CONTROLS[letter];
  if (control !== undefined) return read(1, `\\x{${control}}`);
  const coded = codePoint(rest);
  if (coded !== null)
    return coded.point >= 0xd800 && coded.point < 0xe000
      ? refuse(state, 'has a lone surrogate, which no text has')
      : read(coded.length, `\\x{${coded.point.toString(16)}}`);
  const property = /^[pP]\{(?:(?:Script|sc|General_Category|gc)=)?(\w{1,64})\}/.exec(rest);
  if (property !== null) return read(property[0].length, `\\${letter}{${property[1]}}`);
  if (/[0-9a-zA-Z]/.test(letter)) {
    const what = /[1-9k]/.test(letter) ? 'refers to a group' : 'has an escape that ECMA-262 does not have';
    return refuse(state, `${what}: \`\\${letter}\``);
  }
  return read(1, letter > '\u007f' ? letter : `\\${letter}`);
}

function boundary(letter: string, state: Rewriting, read: (length: number, text: string) => string): string {
  return letter === 'b' ? read(1, '\\x{8}') : refuse(state, 'has `\\B` in a class');
}

/** The code point of `xHH`, `uHHHH`, `u{H}`, `cA` or `0`. */
function codePoint(rest: string): { readonly point: number; readonly length: number } | null {
  const pair = /^u([dD][89abAB][0-9a-fA-F]{2})\\u([dD][c-fC-F][0-9a-fA-F]{2})/.exec(rest);
  if (pair !== null) {
    const [high, low] = [Number.parseInt(pair[1]!, 16), Number.parseInt(pair[2]!, 16)];
    return { point: 0x10000 + ((high & 0x3ff) << 10) + (low & 0x3ff), length: pair[0].length };
  }
  const hex = /^(?:x([0-9a-fA-F]{2})|u([0-9a-fA-F]{4})|u\{([0-9a-fA-F]{1,6})\})/.exec(rest);
  if (hex !== null) {
    const point = Number.parseInt(hex[1] ?? hex[2] ?? hex[3]!, 16);
    return point > 0x10ffff ? null : { point, length: hex[0].length };
  }
  const control = /^c([a-zA-Z])/.exec(rest);
  if (control !== null) return { point: control[1]!.charCodeAt(0) & 31, length: 2 };
  return /^0(?![0-9])/.test(rest) ? { point: 0, length: 1 } : null;
}
