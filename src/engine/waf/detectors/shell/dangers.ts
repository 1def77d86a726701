/**
 * Commands that are one whatever text is around them: by what they reach (an address, a private file, a shell) rather than
 * by their names alone. Sources: the manuals of coreutils, curl, Wget, Netcat, socat and iputils; FHS 3.0 for the folders.
 */
import { isAlphanumeric, isDigit, isSpace, isUpper } from '../../octets/latin1.ts';
import { isProgramFolder } from './places.ts';
import { newWord, readWord, skipBlanks } from './words.ts';

/** No command that counts beside prose. */
export const HARMLESS = 0;
/** The name of a command that prints who the user is, with words behind it. */
export const WORDY = 1;
/** A command that prints who or where the process is; its name is a word of texts, too. */
export const TELLING = 2;
/** The same by a name that is no word. */
export const NAMED = 3;
/** A command that waits or sends packets: sentences have its words by chance. */
export const PROBING = 4;
/** A command that downloads, connects, reads a private file, runs a text, or changes files of the system. */
export const SEVERE = 5;
/** The same with an address of four numbers, another command inside, or a text for a shell. */
export const HOSTILE = 6;

/** What the arguments of a command have to be. */
type Taking = (args: Taken) => number;

/** The arguments of a command and what follows them. */
interface Taken {
  readonly words: readonly string[];
  readonly text: string;
  /** Whether a separator, a bracket or the end of the value follows. */
  readonly ended: boolean;
}

const TAKING = new Map<string, Taking>();
take('axel curl fetch ftpget aria2c httpie lynx tftp wget', downloads);
take('nc ncat netcat openssl socat telnet', connects);
take('dig drill host nslookup ping ping6 traceroute', probes);
take(
  'awk base32 base64 cat cp cut dd du find grep head less ls more nano nl od rev sed shuf sort stat strings tac tail tar uniq vi vim xxd',
  reads,
);
take('sleep usleep', waits);
take('ash bash csh dash expect ksh lua node perl php python python2 python3 rbash ruby sh tcsh zsh', runs);
take('kill', kills);
take('chgrp chmod chown crontab echo ln mkfifo mv printf rm tee touch truncate', changes);
take('env groups hostname ls ps w', ({ words, ended }) => (isBare(words) && ended ? TELLING : HARMLESS));
take('id', ({ words, ended }) => (isBare(words) && ended ? TELLING : WORDY));
take('arp getent ifconfig ipconfig lscpu netstat printenv systeminfo uname whoami', ({ words, ended }) =>
  isBare(words) && ended ? NAMED : WORDY,
);

function take(names: string, taking: Taking): void {
  for (const name of names.split(' ')) {
    const other = TAKING.get(name);
    TAKING.set(name, other === undefined ? taking : (args) => Math.max(other(args), taking(args)));
  }
}

/** By first letter, the lengths of the names, a bit each. */
const LENGTHS = new Uint32Array(128);
for (const name of TAKING.keys()) LENGTHS[name.charCodeAt(0)]! |= 1 << name.length;

/** Shells and interpreters that run what is piped into them. */
const SHELLS: ReadonlySet<string> = new Set(
  'ash bash dash ksh perl php python python2 python3 ruby sh zsh'.split(' '),
);

/** Octets of a command that are read. */
const REACH = 160;
/** The longest name, in characters. */
const LONGEST_NAME = 10;

// PERF: one word for all calls; calls are synchronous.
const word = newWord();

/** The rank of the command that begins at `from`, up to the octet `close` or the end of its line, and its end. */
export interface Danger {
  rank: number;
  end: number;
}

/** Reads the command at `from` into `danger`; `close`: the mark that ends it, or an empty text. */
export function readDanger(value: string, from: number, close: string, danger: Danger): void {
  danger.rank = HARMLESS;
  danger.end = from;
  const at = afterPrefix(value, skipBlanks(value, from));
  if (!mayBeName(value, at)) return;
  readWord(value, at, word);
  if (word.end === at || word.cased) return;
  const slash = word.plain.lastIndexOf('/');
  const isPathed = slash >= 0 && isProgramFolder(word.plain.slice(0, slash + 1));
  const name = word.plain.slice(slash + 1);
  const taking = TAKING.get(name);
  if ((slash >= 0 && !isPathed) || (taking === undefined && close === '')) return;
  const limit = Math.min(value.length, word.end + REACH);
  const end = extentEnd(value, word.end, limit, close);
  danger.end = end;
  const text = value.slice(word.end, end);
  const isPiped = pipesIntoShell(value, danger, limit, close);
  if (taking === undefined) {
    danger.rank = isPiped && name !== '' ? HOSTILE : HARMLESS;
    return;
  }
  const ended = end >= value.length || ';|&)`\n\r'.includes(value.charAt(end));
  danger.rank = taking({ words: wordsOf(text), text, ended });
  if (isPathed && name !== '' && danger.rank < SEVERE) danger.rank = SEVERE;
  if (isPiped || (danger.rank === SEVERE && word.breaks > 0)) danger.rank = HOSTILE;
}

/** The words of arguments, up to a comment. */
function wordsOf(text: string): readonly string[] {
  const words = text.split(' ').filter((part) => part !== '');
  const comment = words.findIndex((part) => part.startsWith('#'));
  return comment < 0 ? words : words.slice(0, comment);
}

/** The place after `sudo` and the like. */
function afterPrefix(value: string, at: number): number {
  for (const prefix of ['sudo ', 'busybox ', 'exec ', 'nohup '])
    if (value.startsWith(prefix, at)) return skipBlanks(value, at + prefix.length);
  return at;
}

/** Whether a known name, a path or quoting is at `at`. PERF: most separators are in texts. */
function mayBeName(value: string, at: number): boolean {
  const first = value.charCodeAt(at);
  if ('/\'"\\$.'.includes(value.charAt(at))) return at < value.length;
  if (first < 0x61 || first > 0x7a) return false;
  let end = at + 1;
  while (end - at <= LONGEST_NAME && isAlphanumeric(value.charCodeAt(end))) end++;
  if ('\'"\\$^'.includes(value.charAt(end)) && end < value.length) return true;
  return ((LENGTHS[first]! >>> (end - at)) & 1) === 1;
}

/** The place after the arguments at `from`: of a separator outside of brackets, of `close`, or of the end. */
function extentEnd(value: string, from: number, limit: number, close: string): number {
  let depth = 0;
  let at = from;
  for (; at < limit; at++) {
    const mark = value.charAt(at);
    if (mark === '\n' || mark === '\r') break;
    if (depth === 0 && (mark === close || ';|&'.includes(mark)) && !isAmpersandOf(value, at)) break;
    if (mark === '(') depth++;
    else if (mark === ')') depth = Math.max(0, depth - 1);
  }
  return at;
}

/** Whether the ampersand at `at` belongs to a redirection or to a query. */
function isAmpersandOf(value: string, at: number): boolean {
  return (
    value[at] === '&' && ('<>'.includes(value.charAt(at - 1)) || isAlphanumeric(value.charCodeAt(at + 1)))
  );
}

/** Whether what ends with `danger` is piped into a shell, in the same substitution; moves its end there. */
function pipesIntoShell(value: string, danger: Danger, limit: number, close: string): boolean {
  let at = danger.end;
  // A pipe may have more members than two.
  for (let members = 0; members < 4 && at < limit && value[at] === '|' && value[at + 1] !== '|'; members++) {
    const start = afterPrefix(value, skipBlanks(value, at + 1));
    readWord(value, start, word);
    const name = word.plain.slice(word.plain.lastIndexOf('/') + 1);
    const next = value.charAt(word.end);
    // Prose behind the name of a language is no command.
    if (SHELLS.has(name)) {
      const after = value.charAt(skipBlanks(value, word.end));
      danger.end = word.end;
      return next === '' || after === '' || next === close || '-;|&)`#<\n\r"\''.includes(after);
    }
    at = extentEnd(value, word.end, limit, close);
  }
  return false;
}

/** Whether a command has no arguments besides options. */
function isBare(words: readonly string[]): boolean {
  return words.every((part) => part.startsWith('-') && part.length > 1);
}

function downloads({ words, text }: Taken): number {
  if (!words.some((part) => isUrl(part))) return HARMLESS;
  return hasInner(text) || words.some((part) => hasAddress(part)) ? HOSTILE : SEVERE;
}

function connects({ words, text }: Taken): number {
  const hasOption = words.some((part) => /* of a program to run */ part === '-e' || part === '-c');
  const isServer =
    text.includes('exec:') || text.includes('-connect ') || words.some((part) => part.startsWith('-l'));
  const port = words.findIndex((part, at) => at > 0 && isNumber(part) && isHost(words[at - 1] ?? ''));
  return hasOption && words.length > 1
    ? HOSTILE
    : isServer || port > 0 || text.includes('tcp:')
      ? SEVERE
      : HARMLESS;
}

function probes({ words, text, ended }: Taken): number {
  if (hasInner(text) && words.some((part) => part.includes('.'))) return HOSTILE;
  const target = words.at(-1) ?? '';
  const isCounted = words.some((part) => part === '-c' || part === '-n');
  return ended && (hasAddress(target) || (isHost(target) && (isCounted || words.length === 1)))
    ? PROBING
    : HARMLESS;
}

function reads({ words }: Taken): number {
  return words.some((part) => isPrivate(part)) ? SEVERE : HARMLESS;
}

function waits({ words, ended }: Taken): number {
  const [time = ''] = words;
  const number = 'smh'.includes(time.slice(-1)) ? time.slice(0, -1) : time;
  return ended && words.length === 1 && isNumber(number) ? PROBING : HARMLESS;
}

function runs({ words, text }: Taken): number {
  const [first = ''] = words;
  const isText = first === '-c' || first === '-e' || first === '-r' || first === '-i';
  return (isText && (words.length > 1 || first === '-i')) || text.startsWith('<') || first.startsWith('<')
    ? SEVERE
    : HARMLESS;
}

function kills({ words: [signal = '', process = ''] }: Taken): number {
  return signal.startsWith('-') && (isNumber(process) || process.startsWith('-1') || process.startsWith('$'))
    ? SEVERE
    : HARMLESS;
}

function changes({ words }: Taken): number {
  const [first = ''] = words;
  const isRooted = words.some((part) => isRoot(part.startsWith('>') ? part.slice(1) : part));
  const isForced = first.startsWith('-') && words.length > 1 && !first.startsWith('--');
  return isRooted || isForced ? SEVERE : HARMLESS;
}

/** Whether another command is inside of the arguments. */
export function hasInner(text: string): boolean {
  return text.includes('$(') || text.includes('`');
}

/** Whether a word is a URL, or a name of a host with a path. */
function isUrl(part: string): boolean {
  return (
    part.includes('://') ||
    hasAddress(part) ||
    (part.includes('/') && isHost(part.slice(0, part.indexOf('/'))))
  );
}

/** Whether a word is a name with a dot inside, or an address. */
function isHost(part: string): boolean {
  const dot = part.indexOf('.');
  if (dot < 1 || dot === part.length - 1) return false;
  for (let at = 0; at < part.length; at++) {
    const code = part.charCodeAt(at);
    if (!isAlphanumeric(code) && code !== 0x2e && code !== 0x2d) return false;
  }
  return true;
}

/** Whether four numbers between dots are in a word. */
export function hasAddress(part: string): boolean {
  let groups = 0;
  let digits = 0;
  for (let at = 0; at < part.length; at++) {
    if (isDigit(part.charCodeAt(at))) {
      if (digits++ === 0) groups++;
      if (groups === 4) return true;
    } else {
      if (part[at] !== '.' || digits === 0 || digits > 3) groups = 0;
      digits = 0;
    }
  }
  return false;
}

function isNumber(part: string): boolean {
  for (let at = 0; at < part.length; at++)
    if (!isDigit(part.charCodeAt(at)) && (part[at] !== '.' || at === 0 || at === part.length - 1))
      return false;
  return part !== '';
}

/** Whether a path of Unix from the root or the home of a user is at the beginning of a word. */
function isRoot(part: string): boolean {
  const start = '\'"@<'.includes(part.charAt(0)) ? 1 : 0;
  const first = part.charAt(start);
  const second = part.charCodeAt(start + 1);
  return (
    (first === '/' && (isUpper(second & ~32) || '*?.$\'"\\'.includes(part.charAt(start + 1)))) ||
    part.startsWith('~/', start)
  );
}

/** Folders and files that hold secrets or the configuration of a system. */
const PRIVATE = [
  '/etc',
  '/proc',
  '/root',
  '/home',
  '/var',
  '/opt',
  '/srv',
  '/tmp',
  '/boot',
  '/dev/shm',
  '/flag',
  '~/',
  '/.ssh',
  '/.aws',
];

/** Whether a word is a path in one of `PRIVATE`, or one with wildcards or quoting. */
function isPrivate(part: string): boolean {
  if (part.endsWith('/.env') || part.endsWith('.htpasswd') || part.endsWith('wp-config.php')) return true;
  if (!isRoot(part)) return false;
  const path = '\'"@<'.includes(part.charAt(0)) ? part.slice(1) : part;
  return (
    PRIVATE.some((folder) => path.startsWith(folder)) ||
    '*?$\'"\\'.includes(path.charAt(1)) ||
    path.includes('/../')
  );
}

export function isBlank(value: string, at: number): boolean {
  return at < 0 || at >= value.length || isSpace(value.charCodeAt(at));
}
