/**
 * Parses nginx configuration files into directives: tokens, quotes, escapes, comments, blocks and includes, as
 * `ngx_conf_file.c` documents by its behaviour. The caller opens included files.
 */
import type { OpenIncludes } from '../importer.ts';
import { MAX_SOURCE_OCTETS } from '../json-source.ts';
import type { ImportMistake, SourceFile } from '../report.ts';

/** Files of one nginx configuration, includes counted each time: a server with a file for each of its sites. */
export const MAX_SOURCE_FILES = 2_000;
/** Levels of nested blocks or includes; nginx's own directives nest five deep. */
export const MAX_DEPTH = 32;
/** Directives of one nginx configuration: three times what fills the rules of a domain. */
const MAX_DIRECTIVES = 100_000;

/** One directive. */
export interface NginxDirective {
  readonly name: string;
  readonly args: readonly string[];
  /** `null`: it ends with `;`. */
  readonly block: readonly NginxDirective[] | null;
  /** `nginx.conf:12`. */
  readonly place: string;
  /** Of an `include` that was not read: why. */
  readonly unread?: string;
}

/** The directives of the files, or the mistakes in them. */
export type NginxSource =
  | { readonly ok: true; readonly directives: readonly NginxDirective[] }
  | { readonly ok: false; readonly mistakes: readonly ImportMistake[] };

/** Parses files; their directives are joined in order. */
export function parseNginx(files: readonly SourceFile[], open: OpenIncludes): NginxSource {
  const state: Parsing = { open, files: 0, octets: 0, directives: 0, mistakes: [] };
  const directives = files.flatMap((file) => parseFile(file, 0, state));
  return state.mistakes.length > 0 ? { ok: false, mistakes: state.mistakes } : { ok: true, directives };
}

/** The state of one parse. */
interface Parsing {
  readonly open: OpenIncludes;
  files: number;
  octets: number;
  directives: number;
  readonly mistakes: ImportMistake[];
}

function parseFile({ name, text }: SourceFile, depth: number, state: Parsing): readonly NginxDirective[] {
  state.files++;
  state.octets += text.length;
  if (state.files > MAX_SOURCE_FILES)
    return refuse(state, name, `there are more than ${MAX_SOURCE_FILES} files`);
  if (state.octets > MAX_SOURCE_OCTETS)
    return refuse(state, name, `the files hold more than ${MAX_SOURCE_OCTETS} characters`);
  const cursor: Cursor = { name, text, at: 0, line: 1 };
  return parseBlock(cursor, depth, { line: 1, at: 0 }, state);
}

/** The position in a file. */
interface Cursor {
  readonly name: string;
  readonly text: string;
  at: number;
  line: number;
}

function refuse(state: Parsing, place: string, message: string, remedy?: string): readonly NginxDirective[] {
  // The first mistake is the cause of those behind it.
  if (state.mistakes.length === 0) {
    state.mistakes.push({ place, message, ...(remedy === undefined ? {} : { remedy }) });
  }
  return [];
}

/** Reads directives up to the `}` of the block that began at `opened`, or at level 0 to the end of the file. */
function parseBlock(
  cursor: Cursor,
  depth: number,
  opened: { readonly line: number; readonly at: number },
  state: Parsing,
): readonly NginxDirective[] {
  const directives: NginxDirective[] = [];
  const inBlock = opened.at > 0;
  while (state.mistakes.length === 0) {
    const words: string[] = [];
    const line = startLine(cursor);
    const end = readWords(cursor, words, state);
    if (end === null) return [];
    const place = `${cursor.name}:${line}`;
    if (end === 'end of file') {
      if (words.length > 0) return refuse(state, place, `\`${words[0]}\` is not ended`, 'end it with `;`');
      if (!inBlock) return directives;
      const remedy = 'close it; a regex with braces needs quotes';
      return refuse(state, `${cursor.name}:${opened.line}`, 'the block has no `}`', remedy);
    }
    if (end === '}') {
      if (words.length > 0)
        return refuse(state, place, `\`${words[0]}\` is not ended before \`}\``, 'end it with `;`');
      if (inBlock) return directives;
      return refuse(state, `${cursor.name}:${cursor.line}`, 'this `}` closes no block');
    }
    if (words.length === 0) return refuse(state, `${cursor.name}:${cursor.line}`, `unexpected \`${end}\``);
    for (const one of finishDirective(words, end, { cursor, depth, place }, state)) directives.push(one);
  }
  return [];
}

/** Reads the block of a directive, or the files of an include. */
function finishDirective(
  [name = '', ...args]: readonly string[],
  end: string,
  { cursor, depth, place }: { readonly cursor: Cursor; readonly depth: number; readonly place: string },
  state: Parsing,
): readonly NginxDirective[] {
  if (++state.directives > MAX_DIRECTIVES)
    return refuse(state, place, `there are more than ${MAX_DIRECTIVES} directives`);
  if (end === '{' || name === 'include') {
    if (depth >= MAX_DEPTH)
      return refuse(state, place, `blocks and includes are nested more than ${MAX_DEPTH} deep`);
  }
  if (end === '{') {
    if (name.endsWith('_by_lua_block')) {
      return refuse(
        state,
        place,
        `\`${name}\` holds Lua, which is not nginx syntax`,
        'take the block out of the file',
      );
    }
    const block = parseBlock(cursor, depth + 1, { line: cursor.line, at: cursor.at }, state);
    return [{ name, args, block, place }];
  }
  if (name !== 'include') return [{ name, args, block: null, place }];
  const opened = state.open(args[0] ?? '');
  // Most of them set TLS, types or FastCGI; the report names each.
  if ('reason' in opened) return [{ name, args, block: null, place, unread: opened.reason }];
  return opened.flatMap((file) => parseFile(file, depth + 1, state));
}

/** Skips spaces and comments, and returns the line on which the next word begins. */
function startLine(cursor: Cursor): number {
  const { text } = cursor;
  while (cursor.at < text.length) {
    const character = text[cursor.at]!;
    if (character === '#') {
      const end = text.indexOf('\n', cursor.at);
      cursor.at = end < 0 ? text.length : end;
    } else if (character === '\n') {
      cursor.line++;
      cursor.at++;
    } else if (/\s|\ufeff/.test(character)) cursor.at++;
    else break;
  }
  return cursor.line;
}

/** Reads the words of one directive. Returns what ended it; `null` after a mistake. */
function readWords(cursor: Cursor, words: string[], state: Parsing): ';' | '{' | '}' | 'end of file' | null {
  for (;;) {
    startLine(cursor);
    const character = cursor.text[cursor.at];
    if (character === undefined) return 'end of file';
    if (character === ';' || character === '{' || character === '}') {
      cursor.at++;
      return character;
    }
    const word =
      character === '"' || character === "'" ? readQuoted(cursor, character, state) : readBare(cursor);
    if (word === null) return null;
    words.push(word);
  }
}

function readQuoted(cursor: Cursor, quote: string, state: Parsing): string | null {
  const { text } = cursor;
  const start = cursor.line;
  let word = '';
  for (cursor.at++; cursor.at < text.length; cursor.at++) {
    const character = text[cursor.at]!;
    if (character === quote) {
      cursor.at++;
      const next = text[cursor.at];
      if (next === undefined || /[\s;{)]/.test(next)) {
        if (next === ')') cursor.at++;
        return next === ')' ? `${word})` : word;
      }
      refuse(state, `${cursor.name}:${cursor.line}`, `unexpected \`${next}\` after a quoted text`);
      return null;
    }
    if (character === '\n') cursor.line++;
    if (character === '\\') word += escapedText(cursor);
    else word += character;
  }
  refuse(state, `${cursor.name}:${start}`, `the quoted text has no closing \`${quote}\``);
  return null;
}

function readBare(cursor: Cursor): string {
  const { text } = cursor;
  let word = '';
  for (; cursor.at < text.length; cursor.at++) {
    const character = text[cursor.at]!;
    if (/[\s;]/.test(character) || (character === '{' && !word.endsWith('$'))) break;
    word += character === '\\' ? escapedText(cursor) : character;
  }
  return word;
}

/** The text of an escape at the cursor; those that nginx does not know stay as they are, for regexes. */
function escapedText(cursor: Cursor): string {
  const next = cursor.text[cursor.at + 1];
  if (next === undefined) return '\\';
  cursor.at++;
  if (next === '\n') cursor.line++;
  if (next === '"' || next === "'" || next === '\\') return next;
  return { t: '\t', r: '\r', n: '\n' }[next] ?? `\\${next}`;
}

/** The source text of a directive, without its block. */
export function directiveText({ name, args, block }: NginxDirective): string {
  return [name, ...args].join(' ') + (block === null ? '' : ' {…}');
}

/** The last directive of a name in a block; `undefined`: there is no such directive. */
export function lastOf(block: readonly NginxDirective[], name: string): NginxDirective | undefined {
  return block.findLast((one) => one.name === name);
}
