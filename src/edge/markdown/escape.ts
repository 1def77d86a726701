/**
 * Escapes text so that no part of it acts as markup (CommonMark 0.31 §2.4, GFM §4.10). A URL in the text is not escaped;
 * readers of GFM make a link to itself of it (§6.9).
 */

const BACKSLASH = 92;
const UNDERSCORE = 95;
const AMPERSAND = 38;
const LESS = 60;
const BANG = 33;
/** Characters that always get a backslash: \ ` * [ ] ~ | */
const ESCAPED: ReadonlySet<number> = new Set([BACKSLASH, 96, 42, 91, 93, 126, 124]);

/** White space of HTML, and the no-break space; all of it is folded. */
export function isSpace(code: number): boolean {
  return code === 32 || (code >= 9 && code <= 13) || code === 160;
}

/**
 * Escapes one word. @param last whether markup may follow directly, with which the end of the word must not combine
 */
export function escapeWord(word: string, last: boolean): string {
  let escaped = '';
  let from = 0;
  for (let at = 0; at < word.length; at++) {
    const instead = escapeAt(word, at, last);
    if (instead === null) continue;
    escaped += word.slice(from, at) + instead;
    from = at + 1;
  }
  return from === 0 ? word : escaped + word.slice(from);
}

/** The replacement of a character; `null`: none. */
function escapeAt(word: string, at: number, last: boolean): string | null {
  const code = word.charCodeAt(at);
  if (ESCAPED.has(code)) return `\\${word[at]}`;
  // An entity instead of a backslash: a reader that ignores escapes must not find a tag either.
  if (code === LESS) return '&lt;';
  const ends = at === word.length - 1;
  if (code === UNDERSCORE) {
    const within = at > 0 && !ends && isAlphanumeric(word.charCodeAt(at - 1));
    return within && isAlphanumeric(word.charCodeAt(at + 1)) ? null : '\\_';
  }
  if (code === AMPERSAND) {
    const next = ends ? -1 : word.charCodeAt(at + 1);
    return (ends && last) || next === 35 || isAlphanumeric(next) ? '&amp;' : null;
  }
  return code === BANG && ends && last ? '\\!' : null;
}

function isAlphanumeric(code: number): boolean {
  return isDigit(code) || (code >= 65 && code <= 90) || (code >= 97 && code <= 122);
}

function isDigit(code: number): boolean {
  return code >= 48 && code <= 57;
}

/** The escaped words of a text, joined by single spaces. */
export function escapeText(text: string): string {
  const words = wordsOf(text);
  return words.map((word, index) => escapeWord(word, index === words.length - 1)).join(' ');
}

/** The words between white space. */
export function wordsOf(text: string): readonly string[] {
  const words: string[] = [];
  let from = -1;
  for (let at = 0; at <= text.length; at++) {
    if (at < text.length && !isSpace(text.charCodeAt(at))) {
      if (from < 0) from = at;
    } else if (from >= 0) {
      words.push(text.slice(from, at));
      from = -1;
    }
  }
  return words;
}

/** Escapes the start of lines that would begin a heading, an item, a quotation or a rule. */
export function guardLines(text: string): string {
  if (!text.includes('\n')) return guardLine(text);
  return text.split('\n').map(guardLine).join('\n');
}

/** Escapes the first character of a line if it would begin another block. */
function guardLine(line: string): string {
  const first = line.charCodeAt(0);
  if (isDigit(first)) return guardNumber(line);
  if (line.startsWith('>') || line.startsWith('=')) return `\\${line}`;
  let run = 1;
  while (run < line.length && line.charCodeAt(run) === first) run++;
  const alone = run === line.length || line.charCodeAt(run) === 32;
  const guarded = first === 35 ? alone && run <= 6 : first === 45 || first === 43 || first === 58;
  return guarded && alone ? `\\${line}` : line;
}

/** Escapes the delimiter after a number of up to nine digits, which would begin an ordered item. */
function guardNumber(line: string): string {
  let at = 0;
  while (at < line.length && at < 10 && isDigit(line.charCodeAt(at))) at++;
  const mark = line[at];
  const ends = at + 1 === line.length || line.charCodeAt(at + 1) === 32;
  if (at > 9 || (mark !== '.' && mark !== ')') || !ends) return line;
  return `${line.slice(0, at)}\\${line.slice(at)}`;
}

/** Escapes number signs at the end of a heading, which would be its closing sequence (CommonMark §4.2). */
export function guardHeading(text: string): string {
  let at = text.length;
  while (at > 0 && text.charCodeAt(at - 1) === 35) at--;
  const closes = at < text.length && (at === 0 || text.charCodeAt(at - 1) === 32);
  return closes ? `${text.slice(0, at)}\\${text.slice(at)}` : text;
}

/** A fence of backticks for a text: longer than any run in it, at least `least`. */
export function fenceFor(text: string, least: number): string {
  let longest = 0;
  let run = 0;
  for (let at = 0; at < text.length; at++) {
    run = text.charCodeAt(at) === 96 ? run + 1 : 0;
    if (run > longest) longest = run;
  }
  return '`'.repeat(Math.max(least, longest + 1));
}
