/**
 * Lines of commands that a value smuggles into a connection to Redis, memcached or a mail server. Sources: the Redis and
 * memcached protocol documents, RFC 5321.
 */
import { isDigit, isSpace } from '../../octets/latin1.ts';

/** The octets of a line that are compared. */
const LONGEST_LINE = 32;

const CACHE = 'line of a command for a cache';
const MAIL = 'line of a command for a mail server';

/** Beginnings of command lines, in lower case, with single spaces. */
const COMMANDS: readonly (readonly [begin: string, construct: string])[] = [
  ['flushall', CACHE],
  ['flushdb', CACHE],
  ['flush_all', CACHE],
  ['keys *', CACHE],
  ['config get ', CACHE],
  ['config rewrite', CACHE],
  ['client kill ', CACHE],
  ['debug segfault', CACHE],
  ['shutdown nosave', CACHE],
  ['config set dir', CACHE],
  ['config set dbfilename', CACHE],
  ['slaveof ', CACHE],
  ['replicaof ', CACHE],
  ['module load /', CACHE],
  ['eval "return', CACHE],
  ["eval 'return", CACHE],
  ['eval "redis.', CACHE],
  ["eval 'redis.", CACHE],
  ['script load ', CACHE],
  ['stats items', CACHE],
  ['stats slabs', CACHE],
  ['stats cachedump', CACHE],
  ['rcpt to:', MAIL],
  ['mail from:', MAIL],
];

/** Returns the construct of the first command line behind a line break, or `null`. */
export function serviceLine(value: string): string | null {
  if (isArray(value, 0)) return CACHE;
  for (let at = 0; at < value.length; at++) {
    const code = value.charCodeAt(at);
    if (code !== 0x0a && code !== 0x0d) continue;
    let next = at + 1;
    while (isSpace(value.charCodeAt(next))) next++;
    const found = lineAt(value, next);
    if (found !== null) return found;
    at = next - 1;
  }
  return null;
}

function lineAt(value: string, at: number): string | null {
  if (isArray(value, at)) return CACHE;
  const line = singleSpaced(value.slice(at, at + LONGEST_LINE).toLowerCase());
  const command = COMMANDS.find(([begin]) => line.startsWith(begin));
  if (command !== undefined) return command[1];
  return isStorage(value, at, line) ? CACHE : null;
}

/** A text with one space for each run of spaces and tabs. */
function singleSpaced(text: string): string {
  let result = '';
  for (const character of text) {
    const space = character === ' ' || character === '\t';
    if (!space) result += character;
    else if (!result.endsWith(' ')) result += ' ';
  }
  return result;
}

/** An array of bulk strings (Redis serialization protocol): `*3`, a line break, `$3`, a line break. */
function isArray(value: string, at: number): boolean {
  if (value.charCodeAt(at) !== 0x2a) return false;
  const end = digitsEnd(value, at + 1);
  if (end < 0) return false;
  const bulk = breakEnd(value, end);
  if (bulk < 0 || value.charCodeAt(bulk) !== 0x24) return false;
  const length = digitsEnd(value, bulk + 1);
  return length >= 0 && breakEnd(value, length) >= 0;
}

/** Storage commands of memcached. */
const STORAGE = ['set ', 'add ', 'replace ', 'append ', 'prepend '] as const;
/** The longest key of memcached, in octets. */
const LONGEST_KEY = 250;

/** A storage command of memcached: `set <key> <flags> <exptime> <octets>`, then `noreply` or a line break. */
function isStorage(value: string, at: number, line: string): boolean {
  const command = STORAGE.find((begin) => line.startsWith(begin));
  if (command === undefined) return false;
  let next = at + command.length;
  const key = next;
  while (next - key < LONGEST_KEY && value.charCodeAt(next) > 0x20) next++;
  if (next === key) return false;
  for (let number = 0; number < 3; number++) {
    if (value.charCodeAt(next) !== 0x20) return false;
    next = digitsEnd(value, next + 1);
    if (next < 0) return false;
  }
  return breakEnd(value, next) >= 0 || value.startsWith(' noreply', next);
}

/** The end of digits at `at`; -1: there are none. */
function digitsEnd(value: string, at: number): number {
  let end = at;
  while (end - at < 10 && isDigit(value.charCodeAt(end))) end++;
  return end === at ? -1 : end;
}

/** The end of the line break at `at`; -1: absent. */
function breakEnd(value: string, at: number): number {
  if (value.charCodeAt(at) === 0x0d && value.charCodeAt(at + 1) === 0x0a) return at + 2;
  return value.charCodeAt(at) === 0x0a ? at + 1 : -1;
}
