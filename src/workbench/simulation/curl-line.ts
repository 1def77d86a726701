/** Reads a curl command line, such as browsers copy it, as the flags of a request. */
import type { RequestFlags, Typed } from './request-line.ts';

// Splits a command line into words as a POSIX shell does, without anything that would run or expand something.

/** Escapes of `$'…'` that stand for one character (POSIX.1-2024, 2.2.4). */
const ESCAPES: Readonly<Record<string, string>> = {
  a: '\u0007',
  b: '\b',
  e: '\u001b',
  f: '\f',
  n: '\n',
  r: '\r',
  t: '\t',
  v: '\v',
};

/** Characters that end a command or redirect it. */
const OPERATORS = '|&;<>()';

/** A part of a word, and where the text goes on. */
interface Piece {
  readonly text: string;
  readonly next: number;
}

/** A mistake; caught in `splitShell`. */
class ShellMistake extends Error {}

/** The octets of a run of `\xHH` as text. */
function octetsText(run: string): string {
  const octets = run
    .split('\\x')
    .slice(1)
    .map((digits) => Number.parseInt(digits, 16));
  return new TextDecoder().decode(new Uint8Array(octets));
}

/** Reads an escape of `$'…'`; `at` is the place of its backslash. */
function ansiEscape(line: string, at: number): Piece {
  const rest = line.slice(at, at + 4096);
  const octets = /^(?:\\x[0-9A-Fa-f]{1,2})+/.exec(rest)?.[0];
  if (octets !== undefined) return { text: octetsText(octets), next: at + octets.length };
  const point = /^\\(?:u([0-9A-Fa-f]{1,4})|U([0-9A-Fa-f]{1,8})|([0-7]{1,3}))/.exec(rest);
  if (point !== null) {
    const [all, short, long, octal] = point;
    const code = octal === undefined ? Number.parseInt(short ?? long ?? '', 16) : Number.parseInt(octal, 8);
    if (code > 0x10ffff) throw new ShellMistake(`\`${all}\` is not a character`);
    return { text: String.fromCodePoint(code), next: at + all.length };
  }
  const character = line[at + 1] ?? '';
  return { text: ESCAPES[character] ?? character, next: at + 2 };
}

/** Reads `'…'` or `$'…'` from behind its opening quote. */
function singleQuoted(line: string, from: number, ansi: boolean): Piece {
  let text = '';
  for (let at = from; at < line.length; ) {
    const character = line[at]!;
    if (character === "'") return { text, next: at + 1 };
    const piece = ansi && character === '\\' ? ansiEscape(line, at) : { text: character, next: at + 1 };
    text += piece.text;
    at = piece.next;
  }
  throw new ShellMistake("a quote `'` is not closed");
}

/** Reads `"…"` from behind its opening quote. */
function doubleQuoted(line: string, from: number): Piece {
  let text = '';
  for (let at = from; at < line.length; ) {
    const character = line[at]!;
    if (character === '"') return { text, next: at + 1 };
    if (character === '\\' && '"\\$`\n'.includes(line[at + 1] ?? ' ')) {
      text += line[at + 1] === '\n' ? '' : line[at + 1];
      at += 2;
    } else {
      refuseExpansion(line, at);
      text += character;
      at += 1;
    }
  }
  throw new ShellMistake('a quote `"` is not closed');
}

/** Refuses what a shell would replace: variables and commands. */
function refuseExpansion(line: string, at: number): void {
  const found = /^(?:\$[A-Za-z_{(][\w]{0,40}|`)/.exec(line.slice(at, at + 48))?.[0];
  if (found === undefined) return;
  const what = found === '`' ? 'a backtick' : `\`${found}\``;
  throw new ShellMistake(`${what} is for the shell to replace; write the value`);
}

/** Reads the next part of a word outside of quotes. */
function bare(line: string, at: number): Piece {
  const character = line[at]!;
  const ansi = character === '$' && line[at + 1] === "'";
  if (ansi || character === "'") return singleQuoted(line, at + (ansi ? 2 : 1), ansi);
  if (character === '"') return doubleQuoted(line, at + 1);
  if (character === '\\') return { text: line[at + 1] ?? '', next: at + 2 };
  if (OPERATORS.includes(character)) throw new ShellMistake(`\`${character}\` needs quotes`);
  refuseExpansion(line, at);
  return { text: character, next: at + 1 };
}

/** All words of a line. */
function wordsOf(line: string): readonly string[] {
  const words: string[] = [];
  let word: string | null = null;
  for (let at = 0; at < line.length; ) {
    if (line.startsWith('\\\n', at)) at += 2;
    else if (/\s/.test(line[at]!)) {
      if (word !== null) words.push(word);
      word = null;
      at += 1;
    } else {
      const piece = bare(line, at);
      word = (word ?? '') + piece.text;
      at = piece.next;
    }
  }
  return word === null ? words : [...words, word];
}

/** The words of a command line, quotes and escapes removed. */
export function splitShell(line: string): Typed<readonly string[]> {
  try {
    return { ok: true, value: wordsOf(line.replaceAll('\r\n', '\n')) };
  } catch (error) {
    if (!(error instanceof ShellMistake)) throw error;
    return { ok: false, error: error.message };
  }
}

/** The request of a curl command line. */
export interface CurlRequest {
  readonly urls: readonly string[];
  readonly flags: Pick<
    RequestFlags,
    'method' | 'head' | 'header' | 'userAgent' | 'referer' | 'cookie' | 'data'
  >;
}

/** What an option of curl does to the request. */
type Meaning =
  | 'method'
  | 'head'
  | 'header'
  | 'user_agent'
  | 'referer'
  | 'cookie'
  | 'user'
  | 'url'
  | 'data'
  | 'raw_data'
  | 'encoded_data'
  | 'json'
  | 'query'
  /** Nothing; the second one takes a value. */
  | 'nothing'
  | 'nothing_with';

const TAKES_NO_VALUE: ReadonlySet<Meaning> = new Set<Meaning>(['head', 'query', 'nothing']);

/** Options of curl by their meaning, as its manual lists them. */
const OPTIONS: Readonly<Record<Meaning, readonly string[]>> = {
  method: ['-X', '--request'],
  head: ['-I', '--head'],
  header: ['-H', '--header'],
  user_agent: ['-A', '--user-agent'],
  referer: ['-e', '--referer'],
  cookie: ['-b', '--cookie'],
  user: ['-u', '--user'],
  url: ['--url'],
  data: ['-d', '--data', '--data-ascii', '--data-binary'],
  raw_data: ['--data-raw'],
  encoded_data: ['--data-urlencode'],
  json: ['--json'],
  query: ['-G', '--get'],
  nothing: [
    ...['-s', '--silent', '-S', '--show-error', '-k', '--insecure', '-L', '--location', '-v', '--verbose'],
    ...['-i', '--include', '--compressed', '-0', '--http1.0', '--http1.1', '--http2', '--http3', '-g'],
    ...['--http2-prior-knowledge', '--globoff', '--path-as-is', '-f', '--fail', '-N', '--no-buffer', '-4'],
    ...['--ipv4', '-6', '--ipv6', '-#', '--progress-bar', '-O', '--remote-name', '-j', '--no-keepalive'],
    ...['--tlsv1', '--tlsv1.2', '--tlsv1.3', '--ssl-reqd', '--fail-with-body'],
  ],
  nothing_with: [
    ...['-o', '--output', '-w', '--write-out', '-m', '--max-time', '--connect-timeout', '--max-redirs'],
    ...['--retry', '--retry-delay', '--resolve', '--connect-to', '--cacert', '-c', '--cookie-jar', '-D'],
    ...['--dump-header', '--ciphers', '--limit-rate'],
  ],
};

const MEANINGS: ReadonlyMap<string, Meaning> = new Map(
  (Object.keys(OPTIONS) as readonly Meaning[]).flatMap((meaning) =>
    OPTIONS[meaning].map((option) => [option, meaning] as const),
  ),
);

/** A mistake in a curl line; caught in `readCurl`. */
class CurlMistake extends Error {}

/** What was read so far. */
interface Reading {
  readonly urls: string[];
  readonly header: string[];
  readonly data: string[];
  readonly single: { method?: string; head?: true; userAgent?: string; referer?: string; cookie?: string };
  /** `-G`: the data belongs to the query. */
  query: boolean;
}

/** Refuses a value that names a file. */
function text(option: string, value: string): string {
  if (!value.startsWith('@')) return value;
  throw new CurlMistake(`\`${option} ${value}\` reads a file; write its content`);
}

/** `name=value`, `=value` or `value` of --data-urlencode. */
function encoded(option: string, value: string): string {
  const equals = value.indexOf('=');
  if (equals < 0 && value.includes('@')) throw new CurlMistake(`\`${option} ${value}\` reads a file`);
  if (equals < 0) return encodeURIComponent(value);
  const name = value.slice(0, equals);
  return `${name === '' ? '' : `${name}=`}${encodeURIComponent(value.slice(equals + 1))}`;
}

/** `Authorization: Basic …` of `user:password` (RFC 7617), in UTF-8. */
export function basicHeader(user: string): string {
  const octets = new TextEncoder().encode(user.includes(':') ? user : `${user}:`);
  return `Authorization: Basic ${btoa(String.fromCharCode(...octets))}`;
}

/** Applies one option. */
function applyOption(reading: Reading, { option, value }: { option: string; value: string }): void {
  const { single, header, data } = reading;
  const meaning = MEANINGS.get(option) ?? 'nothing';
  switch (meaning) {
    case 'method':
      single.method = value;
      return;
    case 'head':
      single.head = true;
      return;
    case 'query':
      reading.query = true;
      return;
    case 'header':
      header.push(text(option, value));
      return;
    case 'user_agent':
      single.userAgent = value;
      return;
    case 'referer':
      single.referer = value;
      return;
    case 'cookie':
      if (!value.includes('=')) throw new CurlMistake(`\`${option} ${value}\` reads a file of cookies`);
      single.cookie = single.cookie === undefined ? value : `${single.cookie}; ${value}`;
      return;
    case 'user':
      header.push(basicHeader(value));
      return;
    case 'url':
      reading.urls.push(value);
      return;
    case 'data':
      data.push(text(option, value));
      return;
    case 'raw_data':
      data.push(value);
      return;
    case 'encoded_data':
      data.push(encoded(option, value));
      return;
    case 'json':
      data.push(text(option, value));
      header.push('Content-Type: application/json', 'Accept: application/json');
      return;
    case 'nothing':
    case 'nothing_with':
      return;
    default:
      meaning satisfies never;
  }
}

/** Reads `-sSL`, `-XPOST` or `-X POST`; returns the number of words read. */
function readShort(reading: Reading, words: readonly string[], at: number): number {
  const word = words[at]!;
  for (let place = 1; place < word.length; place++) {
    const option = `-${word[place]}`;
    const meaning = meaningOf(option);
    if (TAKES_NO_VALUE.has(meaning)) {
      applyOption(reading, { option, value: '' });
      continue;
    }
    const attached = word.slice(place + 1);
    applyOption(reading, { option, value: attached === '' ? valueFor(option, words[at + 1]) : attached });
    return attached === '' ? 2 : 1;
  }
  return 1;
}

/** Reads a long option; returns the number of words read. */
function readLong(reading: Reading, words: readonly string[], at: number): number {
  const option = words[at]!;
  if (TAKES_NO_VALUE.has(meaningOf(option))) {
    applyOption(reading, { option, value: '' });
    return 1;
  }
  applyOption(reading, { option, value: valueFor(option, words[at + 1]) });
  return 2;
}

/** @throws CurlMistake for an option that is not read */
function meaningOf(option: string): Meaning {
  const meaning = MEANINGS.get(option);
  if (meaning !== undefined) return meaning;
  throw new CurlMistake(`the curl option \`${option}\` is not supported; leave it out`);
}

/** @throws CurlMistake when the value is missing */
function valueFor(option: string, value: string | undefined): string {
  if (value === undefined) throw new CurlMistake(`the curl option \`${option}\` has no value`);
  return value;
}

/** The URL with data as its query. */
function withQuery(url: string, data: string): string {
  const address = url.split('#', 1)[0]!;
  return `${address}${address.includes('?') ? '&' : '?'}${data}`;
}

/** The request of what was read. */
function finish({ urls, header, data, single, query }: Reading): CurlRequest {
  const body = data.length === 0 ? null : data.join('&');
  const lists = header.length === 0 ? {} : { header };
  if (body === null) return { urls, flags: { ...single, ...lists } };
  if (query) return { urls: urls.map((url) => withQuery(url, body)), flags: { ...single, ...lists } };
  return { urls, flags: { ...single, ...lists, data: body } };
}

/** Reads a command line that begins with `curl`. */
export function readCurl(line: string): Typed<CurlRequest> {
  const split = splitShell(line);
  if (!split.ok) return split;
  const words = split.value;
  const reading: Reading = { urls: [], header: [], data: [], single: {}, query: false };
  try {
    for (let at = 1; at < words.length; ) {
      const word = words[at]!;
      if (word.startsWith('--') && word !== '--') at += readLong(reading, words, at);
      else if (word.startsWith('-') && word.length > 1 && word !== '--') at += readShort(reading, words, at);
      else {
        if (word !== '--') reading.urls.push(word);
        at += 1;
      }
    }
  } catch (error) {
    if (!(error instanceof CurlMistake)) throw error;
    return { ok: false, error: error.message };
  }
  if (reading.urls.length === 0) return { ok: false, error: 'the curl line has no URL' };
  return { ok: true, value: finish(reading) };
}

/** Whether an operand is a whole curl command line. */
export function isCurlLine(text: string): boolean {
  return /^\s*curl(?:\.exe)?\s/.test(text);
}
