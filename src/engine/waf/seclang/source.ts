/**
 * SecLang source text: files, places in them, the collection of diagnostics, and the division of text into directives
 * and their words.
 */
import { addBounded } from '../../../base/diagnostics/add-bounded.ts';
import type { DiagnosticCode } from '../../../base/diagnostics/codes/codes.ts';
import { type Diagnostic, quoteValue } from '../../../base/diagnostics/diagnostic.ts';

/** Maximum length, in characters, of a configuration or data file; the longest of the OWASP Core Rule Set has 204,000. */
const MAX_SOURCE_CHARACTERS = 4_194_304;

/** One configuration file. */
export interface Source {
  /** Its name in diagnostics; relative names in it are resolved against this. */
  readonly file: string;
  /** Latin-1: one character an octet, whatever the file's encoding is. */
  readonly text: string;
}

/** Access to included files; paths are resolved against the including file. */
export interface SourceReader {
  /** Returns the file's text as Latin-1; `null`: it does not exist. */
  readonly read: (path: string) => string | null;
  /** Returns the files that match a pattern with `*` or `?`, sorted. */
  readonly list: (pattern: string) => readonly string[];
}

/** A place in a file. Lines and columns count from 1; without `column`, only the directive's line is known. */
interface At {
  readonly file: string;
  readonly line: number;
  /** Absent: only the directive is known. */
  readonly column?: number;
}

/** The text of a diagnostic: what is wrong, and what would be right. */
export interface SecLangFinding {
  /** A sentence in lower case without full stop. */
  readonly message: string;
  /** The offending text as written. */
  readonly found?: string;
  /** What would be right, in the imperative. */
  readonly remedy?: string;
}

/** The code of a finding, without its prefix. */
export type SecLangCode = DiagnosticCode extends infer Code
  ? Code extends `seclang_${infer Rest}`
    ? Rest
    : never
  : never;

/** Collects diagnostics (`addBounded`); codes get the prefix `seclang_`. */
export interface SecLangReport {
  readonly diagnostics: readonly Diagnostic[];
  /** Adds an error: no program results. */
  readonly error: (code: SecLangCode, at: At | null, finding: SecLangFinding) => void;
  /** Adds a warning: the program results, and may not be what was intended. */
  readonly warn: (code: SecLangCode, at: At | null, finding: SecLangFinding) => void;
  /** Adds an information. */
  readonly inform: (code: SecLangCode, at: At | null, finding: SecLangFinding) => void;
  /** Adds diagnostics of another report. */
  readonly add: (diagnostics: readonly Diagnostic[]) => void;
}

/** Creates an empty report. */
export function createReport(): SecLangReport {
  const diagnostics: Diagnostic[] = [];
  const add = (more: readonly Diagnostic[]): void => {
    for (const one of more) addBounded(diagnostics, one);
  };
  const collect =
    (severity: Diagnostic['severity']) => (code: SecLangCode, at: At | null, finding: SecLangFinding) => {
      add([
        {
          code: `seclang_${code}`,
          severity,
          path: [],
          message: finding.message,
          ...(finding.found === undefined ? {} : { found: quoteValue(finding.found) }),
          ...(finding.remedy === undefined ? {} : { remedy: finding.remedy }),
          ...(at === null ? {} : { at: { file: at.file, line: at.line, column: at.column ?? 1 } }),
        },
      ]);
    };
  return { diagnostics, error: collect('error'), warn: collect('warning'), inform: collect('info'), add };
}

// Splits SecLang text into directives and their words: comments, continued lines, quotes and escapes, as ModSecurity
// reads its configuration (ModSecurity reference manual v3, "Configuration Directives"; the rules for words are
// Apache's).

/** One word of a directive, without its quotes. */
export interface Word {
  readonly text: string;
  /** The place of its first character, of a quoted word that of its quote. */
  readonly at: At & { readonly column: number };
}

/** One directive; the first word is its name. */
export interface SecLangLine {
  readonly words: readonly [Word, ...Word[]];
}

/** A line joined with its continuations; `starts` has the offset in `text` of each original line. */
interface Joined {
  /** Without the backslashes and line ends between. */
  readonly text: string;
  readonly starts: readonly { readonly offset: number; readonly line: number }[];
}

/** Splits one file. A line that cannot be split is reported and left out. */
export function lexSource(source: Source, report: SecLangReport): readonly SecLangLine[] {
  if (!checkText(source, report)) return [];
  const lines: SecLangLine[] = [];
  for (const joined of joinLines(source, report)) {
    const words = splitWords(joined, source.file, report);
    const [first, ...rest] = words ?? [];
    if (first !== undefined) lines.push({ words: [first, ...rest] });
  }
  return lines;
}

/** Whether a file is text of at most `MAX_SOURCE_CHARACTERS`; reports if not. */
function checkText({ file, text }: Source, report: SecLangReport): boolean {
  if (text.length > MAX_SOURCE_CHARACTERS) {
    report.error(
      'too_long',
      { file, line: 1 },
      {
        message: `the file has ${text.length} characters, at most ${MAX_SOURCE_CHARACTERS} are read`,
        remedy: 'split it and include the parts',
      },
    );
    return false;
  }
  let line = 1;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    if (code === 10) line++;
    if (code !== 0 && code <= 0xff) continue;
    const what = code === 0 ? 'a NUL' : 'a character above U+00FF';
    report.error('not_text', { file, line }, { message: `the file holds ${what}; it is not SecLang text` });
    return false;
  }
  return true;
}

/** The byte order mark of UTF-8 as Latin-1. */
const BYTE_ORDER_MARK = '\u00ef\u00bb\u00bf';

/**
 * Joins continued lines; leaves out comments and empty lines. As in ModSecurity, a comment that ends with a
 * backslash continues too, which is reported because it is mostly a mistake.
 */
function joinLines({ file, text }: Source, report: SecLangReport): readonly Joined[] {
  const plain = text.startsWith(BYTE_ORDER_MARK) ? text.slice(BYTE_ORDER_MARK.length) : text;
  const lines = plain.split('\n').map((line) => (line.endsWith('\r') ? line.slice(0, -1) : line));
  const joined: Joined[] = [];
  for (let at = 0; at < lines.length; ) {
    const starts: { offset: number; line: number }[] = [];
    let whole = '';
    const first = lines[at]!.trimStart();
    for (let more = true; more && at < lines.length; at++) {
      const line = lines[at]!;
      more = line.endsWith('\\');
      if (first.startsWith('#') && starts.length > 0 && !/^\s*(#|$)/.test(line)) {
        report.warn(
          'comment_continued',
          { file, line: at + 1 },
          {
            message: 'this line belongs to the comment before it, which ends with `\\`',
            remedy: 'put the comment mark in front of this line too, or take the `\\` off the comment',
          },
        );
      }
      starts.push({ offset: whole.length, line: at + 1 });
      whole += more ? line.slice(0, -1) : line;
    }
    if (first !== '' && !first.startsWith('#')) joined.push({ text: whole, starts });
  }
  return joined;
}

/** Splits a joined line into words; `null`: a quote is not closed or text follows it, which is reported. */
function splitWords({ text, starts }: Joined, file: string, report: SecLangReport): readonly Word[] | null {
  const placeOf = (offset: number): Word['at'] => {
    const start = starts.findLast((one) => one.offset <= offset)!;
    return { file, line: start.line, column: offset - start.offset + 1 };
  };
  const words: Word[] = [];
  for (let at = skipSpace(text, 0); at < text.length; at = skipSpace(text, at)) {
    const quote = text[at]!;
    const quoted = quote === '"' || quote === "'";
    const end = quoted ? quoteEnd(text, at) : bareEnd(text, at);
    if (end === -1) {
      report.error('open_quote', placeOf(at), {
        message: `the quote that opens here is never closed`,
        found: text.slice(at, at + 40),
        remedy: `close it with ${quoted ? quote : "'"}; a line that goes on ends with \\`,
      });
      return null;
    }
    const content = quoted ? withoutEscapes(text.slice(at + 1, end), quote) : text.slice(at, end);
    words.push({ text: content, at: placeOf(at) });
    const next = quoted ? end + 1 : end;
    if (quoted && next < text.length && !isSpace(text[next]!)) {
      report.error('after_quote', placeOf(next), {
        message: 'text follows a closing quote without a space',
        found: text.slice(next, next + 40),
        remedy: `write \\${quote} for a quote inside quotes, or put a space after the closing one`,
      });
      return null;
    }
    at = next;
  }
  return words;
}

/** White space between words. */
function isSpace(character: string): boolean {
  return character === ' ' || character === '\t' || character === '\r' || character === '\f';
}

/** The first place from `from` on that is not white space. */
function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && isSpace(text[at]!)) at++;
  return at;
}

/** The place of the quote that closes the one at `from`; -1: absent. */
function quoteEnd(text: string, from: number): number {
  for (let at = from + 1; at < text.length; at++) {
    if (text[at] === '\\') at++;
    else if (text[at] === text[from]) return at;
  }
  return -1;
}

/**
 * The end of a word without quotes around it. A selector in single quotes (`ARGS:'/a b/'`) may contain spaces. -1:
 * such a quote is not closed.
 */
function bareEnd(text: string, from: number): number {
  let at = from;
  while (at < text.length && !isSpace(text[at]!)) {
    if (text[at] === "'" && text[at - 1] === ':') {
      at = quoteEnd(text, at);
      if (at === -1) return -1;
    }
    at++;
  }
  return at;
}

/** Removes the backslash before quotes; every other backslash belongs to a pattern. */
function withoutEscapes(text: string, quote: string): string {
  if (!text.includes(`\\${quote}`)) return text;
  let plain = '';
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\' && at + 1 < text.length) {
      at++;
      plain += text[at] === quote ? quote : `\\${text[at]}`;
    } else {
      plain += text[at];
    }
  }
  return plain;
}
