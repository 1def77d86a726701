/**
 * Parses haproxy.cfg into sections of lines: words with quotes, escapes and comments as "Quoting and escaping" of HAProxy's
 * Configuration Manual has them. Files of patterns and maps are not parsed here.
 */
import { MAX_SOURCE_OCTETS } from '../json-source.ts';
import { type ImportRefusal, refusedImport, type SourceFile } from '../report.ts';

/** Lines of one configuration: three times what fills the rules of a domain. */
const MAX_LINES = 100_000;

/** One line. */
export interface HaproxyLine {
  readonly words: readonly string[];
  /** `haproxy.cfg:12`. */
  readonly place: string;
  /** Whether it depends on the environment: by a variable in a word, or by an `.if` around it. */
  readonly hasVariable: boolean;
}

/** Keywords that begin a section. */
const SECTIONS =
  'global defaults frontend backend listen userlist peers resolvers mailers cache http-errors program ring fcgi-app log-forward log-profile crt-store traces acme'.split(
    ' ',
  );

/** One section. */
export interface HaproxySection {
  readonly kind: string;
  readonly name: string;
  /** The `defaults` that apply; `null`: the ones before it, if any. */
  readonly from: string | null;
  /** The line that begins it. */
  readonly head: HaproxyLine;
  readonly lines: readonly HaproxyLine[];
}

/** Whether a text is a configuration, and not a file of patterns: it begins a section. */
export function isConfiguration({ text }: SourceFile): boolean {
  return text.split('\n').some((line) => SECTIONS.includes(/^\s*([a-z-]+)(?=\s|$)/.exec(line)?.[1] ?? ''));
}

/** The sections of the files in order. */
export function parseHaproxy(files: readonly SourceFile[]): readonly HaproxySection[] | ImportRefusal {
  const sections: (HaproxySection & { readonly lines: HaproxyLine[] })[] = [];
  let count = 0;
  let depth = 0;
  for (const { name, text } of files) {
    if (text.length > MAX_SOURCE_OCTETS)
      return refusedImport(name, `is larger than ${MAX_SOURCE_OCTETS} octets`);
    for (const { line, number } of joinedLines(text)) {
      const place = `${name}:${number}`;
      const read = readWords(line);
      if (typeof read === 'string') return refusedImport(place, read);
      const { words } = read;
      if (words.length === 0) continue;
      if (++count > MAX_LINES) return refusedImport(place, `there are more than ${MAX_LINES} lines`);
      if (words[0] === '.if') depth++;
      if (words[0] === '.endif') depth--;
      const one = { words, place, hasVariable: read.hasVariable || depth > 0 };
      if (SECTIONS.includes(words[0]!)) sections.push(sectionOf(one));
      else if (sections.length > 0) sections.at(-1)!.lines.push(one);
      else if (!words[0]!.startsWith('.'))
        return refusedImport(place, `\`${words[0]}\` is before the first section`, REMEDY);
    }
  }
  return sections;
}

const REMEDY = 'name the whole haproxy.cfg, which begins with a section such as `global` or `frontend`';

function sectionOf(head: HaproxyLine): HaproxySection & { readonly lines: HaproxyLine[] } {
  const [kind = '', ...rest] = head.words;
  const from = rest.indexOf('from');
  const name = rest[0] === undefined || from === 0 ? '' : rest[0];
  return { kind, name, from: from < 0 ? null : (rest[from + 1] ?? null), head, lines: [] };
}

/** The lines of a text with their numbers; one that ends with a backslash goes on in the next. */
function joinedLines(text: string): readonly { readonly line: string; readonly number: number }[] {
  const joined: { line: string; number: number }[] = [];
  let isOpen = false;
  for (const [index, raw] of text.split(/\r?\n/).entries()) {
    const line = (index === 0 ? raw.replace(/^\ufeff/, '') : raw).replaceAll(VARIABLE, '');
    const ends = /(?:^|[^\\])(?:\\\\)*\\$/.test(line);
    const own = ends ? line.slice(0, -1) : line;
    if (isOpen) joined.at(-1)!.line += own;
    else joined.push({ line: own, number: index + 1 });
    isOpen = ends;
  }
  return joined;
}

/** Marks the `$` of an environment variable in a word; a text file has no such character. */
export const VARIABLE = '\0';

/** What follows a backslash outside single quotes and is a character of its own. */
const ESCAPES: Readonly<Record<string, string>> = {
  ' ': ' ',
  '\\': '\\',
  '#': '#',
  "'": "'",
  '"': '"',
  t: '\t',
  n: '\n',
  r: '\r',
};

/** The words of a line; a text is the mistake. */
function readWords(line: string): Pick<HaproxyLine, 'words' | 'hasVariable'> | string {
  const words: string[] = [];
  let word: string | null = null;
  let quote = '';
  let hasVariable = false;
  for (let at = 0; at < line.length; at++) {
    const character = line[at]!;
    if (quote === "'" && character !== "'") word += character;
    else if (character === quote) quote = '';
    else if (quote === '' && (character === '"' || character === "'")) {
      quote = character;
      word ??= '';
    } else if (character === '\\') {
      const read = escapeAt(line, at, quote);
      if (read === null) return 'the escape `\\x` needs two hexadecimal digits';
      word = (word ?? '') + read.text;
      at += read.length - 1;
    } else if (quote === '' && character === '#') break;
    else if (quote === '' && /\s/.test(character)) {
      if (word !== null) words.push(word);
      word = null;
    } else {
      const isVariable = quote === '"' && character === '$';
      hasVariable ||= isVariable;
      word = (word ?? '') + (isVariable ? VARIABLE : '') + character;
    }
  }
  if (quote !== '') return `the quoted text has no closing \`${quote}\``;
  if (word !== null) words.push(word);
  return { words, hasVariable };
}

/** The text of an escape; those that HAProxy does not know stay as they are, for regexes. `null`: a bad one. */
function escapeAt(
  line: string,
  at: number,
  quote: string,
): { readonly text: string; readonly length: number } | null {
  const next = line[at + 1] ?? '';
  if (next === 'x') {
    const code = /^[0-9a-f]{2}/i.exec(line.slice(at + 2, at + 4))?.[0];
    return code === undefined ? null : { text: String.fromCharCode(Number.parseInt(code, 16)), length: 4 };
  }
  const known = next === '$' && quote === '"' ? '$' : ESCAPES[next];
  return known === undefined ? { text: '\\', length: 1 } : { text: known, length: 2 };
}

/** The source text of a line. */
export function lineText({ words }: HaproxyLine): string {
  return words.join(' ').replaceAll(VARIABLE, '');
}

// Sample expressions: `req.hdr(host),lower,map(hosts.map,www)`.

/** A fetch or a converter with its arguments. */
export interface SampleCall {
  readonly name: string;
  readonly args: readonly string[];
}

/** Parses an expression into its fetch and its converters; `null`: it has another form. */
export function parseSample(text: string): readonly [SampleCall, ...SampleCall[]] | null {
  const calls: SampleCall[] = [];
  let at = 0;
  while (at < text.length || calls.length === 0) {
    const name = /^[\w.-]+/.exec(text.slice(at, at + 64))?.[0];
    if (name === undefined) return null;
    at += name.length;
    const read = text[at] === '(' ? readArguments(text, at + 1) : { args: [], at };
    if (read === null) return null;
    calls.push({ name, args: read.args });
    at = read.at;
    if (at === text.length) break;
    if (text[at] !== ',') return null;
    at++;
  }
  return calls as unknown as readonly [SampleCall, ...SampleCall[]];
}

/** Arguments up to the closing parenthesis; quotes and backslashes protect commas and parentheses. */
function readArguments(
  text: string,
  start: number,
): { readonly args: readonly string[]; readonly at: number } | null {
  const args: string[] = [''];
  let quote = '';
  for (let at = start; at < text.length; at++) {
    const character = text[at]!;
    if (quote !== '') {
      if (character === quote) quote = '';
      else args[args.length - 1] += character;
    } else if (character === '"' || character === "'") quote = character;
    else if (character === '\\' && at + 1 < text.length) args[args.length - 1] += text[++at]!;
    else if (character === ',') args.push('');
    else if (character === ')')
      return { args: args.length === 1 && args[0] === '' ? [] : args.map((one) => one.trim()), at: at + 1 };
    else args[args.length - 1] += character;
  }
  return null;
}
