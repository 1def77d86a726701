/** Judges chains of members and calls in code by their names and by the texts in their brackets. */
import { isAlphanumeric } from '../../octets/latin1.ts';
import { commandKind, PROBE, PROGRAM } from '../shell/commands.ts';
import { hasAddress } from '../shell/dangers.ts';
import {
  ALONE,
  COMMANDS,
  DECODERS,
  EVALUATORS,
  FILE_CALLS,
  IMPORTERS,
  INWARD,
  MODULES,
  RARE_EVALUATORS,
  RARE_OWNERS,
  REACHERS,
  REFLECTIVE,
  RUNNERS,
  TRUE_EVALUATORS,
} from './vocabulary.ts';

/** A chain of members, as far as it was read. */
export interface Link {
  /** The name before the last one. */
  owner: string;
  /** The last name; empty: none was read. */
  member: string;
  /** Whether an expression imported the module at the beginning of the chain. */
  imported: boolean;
  /** Members of the chain that reach into the language. */
  reflective: number;
  /** Names of the chain. */
  length: number;
}

/** What is in the brackets of a call or an index. */
export interface Inside {
  /** The texts, joined. */
  text: string;
  /** The number of texts. */
  pieces: number;
  /** Whether a text has a pipe of Perl's and Ruby's `open` at its beginning or end. */
  piped: boolean;
  /** Whether the result of a call that decodes is there. */
  decoded: boolean;
  /** Whether the global object is. */
  global: boolean;
  /** Whether nothing is. */
  empty: boolean;
  /** Whether the result of another call is there. */
  computed: boolean;
  /** Whether a blank is before them. */
  readonly spaced: boolean;
}

export function newLink(): Link {
  return { owner: '', member: '', imported: false, reflective: 0, length: 0 };
}

/** What a name that was added to a chain reaches; `broad`: in ordinary code, too. */
export function judgeMember(link: Link, broad: boolean): string | null {
  const { owner, member, length } = link;
  if (INWARD.has(member) && length > 1) {
    // `arguments.callee.caller`, `process.binding`, but no other ones of these names.
    if (member === 'caller') return owner === 'callee' ? 'member of the inside of the language' : null;
    if (member === 'binding') return owner === 'process' ? 'member of the inside of the language' : null;
    return 'member of the inside of the language';
  }
  if (REFLECTIVE.has(member) && length > 1) {
    link.reflective++;
    if (link.reflective > 2 || (link.reflective > 1 && broad))
      return 'walk through the inside of the language';
  }
  if (owner === '_G' || owner === '_ENV') return 'table of globals';
  if (member === '__index' && owner === 'getmetatable') return 'table of a type';
  if (owner === 'application' && (member === 'secrets' || member === 'credentials'))
    return 'secret of the application';
  if (link.imported && isKnown(RUNNERS, owner, member)) return 'command run by an imported module';
  if (!broad) return null;
  if (link.imported && length > 1) return 'member of an imported module';
  if (member === 'process' && (GLOBALS.has(owner) || owner === '()')) return 'object of the process';
  if ((owner === 'ENV' || owner === 'ENVIRON') && LISTS.has(member)) return 'environment of the process';
  if ((owner === 'env' || owner === 'ENV' || owner === 'environ') && isSecret(member))
    return 'secret of the environment';
  if (owner === '""' && EVALUATORS.has(member)) return 'evaluator in the place of a method';
  if (member === 'delete_all' || member === 'destroy_all') return 'records deleted';
  if (
    owner === 'package' &&
    (member === 'loaded' || member === 'path' || member === 'cpath' || member === 'preload')
  )
    return 'table of modules';
  if (owner === 'require' && (member === 'cache' || member === 'main')) return 'table of modules';
  return owner === 'ObjectSpace' || owner === 'modules' ? 'object of the process' : null;
}

/**
 * What a member reaches that ends an argument or a statement: a function that runs commands, or what is known of the process.
 * `nested`: in brackets; `joined`: with something around it.
 */
export function judgePassed(
  { owner, member }: Link,
  nested: boolean,
  joined: boolean,
  broad: boolean,
): string | null {
  if (nested && isKnown(RUNNERS, owner, member) && (broad || owner === 'os'))
    return 'function that runs a command as an argument';
  if (!broad) return null;
  return joined && owner === 'process' && (member === 'env' || member === 'argv' || member === 'versions')
    ? 'object of the process'
    : null;
}

/** Names of the global object. */
const GLOBALS: ReadonlySet<string> = new Set(['global', 'globalThis', 'this', 'root', 'self']);
/** Members that list an environment. */
const LISTS: ReadonlySet<string> = new Set(
  'each each_pair to_a to_h to_hash inspect keys values map sort select'.split(' '),
);

/** What a call does; `broad`: in ordinary code, too. */
export function judgeCall(link: Link, inside: Inside, broad: boolean): string | null {
  const { owner, member } = link;
  if (IMPORTERS.has(member) && inside.pieces > 0 && member === '__import__' && MODULES.has(inside.text))
    return 'module imported by an expression';
  if (link.imported && (isKnown(REACHERS, owner, member) || isKnown(RUNNERS, owner, member)))
    return 'call of an imported module';
  const runs = isKnown(RUNNERS, owner, member) || COMMANDS.has(member);
  if (runs && (isProgram(inside.text) || inside.decoded || RARE_OWNERS.has(owner)))
    return 'call that runs a command';
  if (member === 'open' && inside.piped) return 'pipe opened to a command';
  if (
    (member === 'send' || member === 'public_send' || member === '__send__' || member === 'method') &&
    isRunner(inside.text)
  )
    return 'method called by its name';
  if (member === 'constructor' && isBody(inside.text)) return 'function made from a constructor';
  if (EVALUATORS.has(member) || (owner === 'Marshal' && member === 'load')) {
    if (inside.decoded) return 'text that is decoded and run';
    if (RARE_EVALUATORS.has(member) && inside.pieces > 0) return 'text that is run';
    if (inside.text.includes('\\x') || inside.text.includes('__import__'))
      return 'text that is decoded and run';
  }
  if (member === 'construct' && inside.global && isBody(inside.text))
    return 'function made from a constructor';
  if (member === 'parse' && inside.text.includes('"__proto__"')) return 'prototype in a text';
  if (inside.global && WALKERS.has(member)) return 'table of globals';
  if (isPrivate(inside.text) && (isReader(member) || isKnown(REACHERS, owner, member)))
    return 'private file read';
  return broad ? judgeLine(link, inside, runs) : null;
}

/** What a call in an ordinary line of code reaches. */
function judgeLine({ owner, member, length }: Link, inside: Inside, runs: boolean): string | null {
  if (runs && (length > 1 || (inside.pieces > 0 && !inside.spaced))) return 'call that runs a command';
  if (isKnown(REACHERS, owner, member) && !(FILES.has(owner) && isFileName(inside.text)))
    return 'call that reaches the system';
  if (member === 'open' && inside.global) return 'private file read';
  if (member === 'connect' && hasAddress(inside.text)) return 'connection to an address';
  if (EVALUATORS.has(member) && inside.pieces > 0 && isBody(inside.text)) return 'text that is run';
  if (
    TRUE_EVALUATORS.has(member) &&
    length === 1 &&
    !inside.spaced &&
    (inside.computed || isVariable(member, inside))
  )
    return 'text that is computed and run';
  if (member === 'open' && length === 1 && inside.text.includes('://')) return 'file of another host';
  if (FILE_CALLS.has(member) && (isRooted(inside.text) || isPrivate(inside.text)))
    return 'file of the system';
  if (member === 'collectgarbage' && inside.pieces > 0) return 'call that reaches the system';
  if ((member === 'getenv' || member === 'fetch') && isSecret(inside.text))
    return 'secret of the environment';
  if (ALONE.has(member) && inside.empty && length === 1) return 'debugger';
  if (INWARD.has(member) || member === 'allocUnsafe') return 'member of the inside of the language';
  if (member === 'pack' && inside.text.startsWith('H*')) return 'text that is decoded';
  return member === 'getattr' && inside.pieces > 1 ? 'member of a hidden name' : null;
}

/** Functions that read or change the table or object in their brackets. */
const WALKERS: ReadonlySet<string> = new Set(
  'setmetatable get rawget rawset pairs next setattr delattr getattr vars getOwnPropertyNames getOwnPropertyDescriptors ownKeys'.split(
    ' ',
  ),
);

/** What a name with a text behind it does, as Ruby, Perl and Lua write calls: `exec "id"`. */
export function judgeText({ owner, member, length }: Link, text: string, broad: boolean): string | null {
  const runs = COMMANDS.has(member) || isKnown(RUNNERS, owner, member);
  if (runs && isProgram(text)) return 'call that runs a command';
  if (RARE_EVALUATORS.has(member) || (member.toLowerCase() === 'eval' && text.includes('redis.call(')))
    return 'text that is run';
  if (!broad) return null;
  if (runs && length > 1) return 'call that runs a command';
  if (EVALUATORS.has(member) && isBody(text)) return 'text that is run';
  return FILE_CALLS.has(member) && text.startsWith('/') ? 'file of the system' : null;
}

function isKnown(table: ReadonlyMap<string, ReadonlySet<string>>, owner: string, member: string): boolean {
  return table.get(owner)?.has(member) === true;
}

/** Whether a text begins with the name of a program that shells have. */
function isProgram(text: string): boolean {
  const start = text.startsWith('|') ? 1 : 0;
  let end = start;
  while (end < text.length && !' ;|&<>\t'.includes(text.charAt(end))) end++;
  const slash = text.lastIndexOf('/', end);
  if (slash >= start) return text.slice(start, slash + 1).endsWith('bin/') || text.startsWith('/tmp/', start);
  const kind = commandKind(text.slice(start, end), false);
  return kind === PROGRAM || kind === PROBE || (end < text.length && RUN.has(text.slice(start, end)));
}

/** Commands with arguments that are words of texts, too. */
const RUN: ReadonlySet<string> = new Set(
  'cat curl echo nc perl ping php python rm ruby sh sleep touch'.split(' '),
);

/** Whether a text names a function that runs a command or a text. */
function isRunner(text: string): boolean {
  return text === 'eval' || text === 'instance_eval' || COMMANDS.has(text) || text === '`';
}

/** Whether a text is code: with brackets, a return, or an assignment. */
function isBody(text: string): boolean {
  return (
    text.includes('(') ||
    text.startsWith('return') ||
    text.includes('`') ||
    text.includes(';') ||
    text.includes('import ') ||
    text.includes('\\x')
  );
}

/** Owners of calls that read files, and the name of a file that counts for them. */
const FILES: ReadonlySet<string> = new Set(['File', 'IO', 'Dir', 'fs', 'io', 'pickle', 'Pathname']);

/** Whether an evaluator has a variable for its argument. */
function isVariable(member: string, { empty, pieces }: Inside): boolean {
  return member === 'eval' && !empty && pieces === 0;
}

/** Whether the name of a function is one of those that read something. */
function isReader(member: string): boolean {
  const lower = member.toLowerCase();
  return ['read', 'open', 'file', 'lines', 'load', 'include', 'new'].some((part) => lower.includes(part));
}

/** Whether a text is a path from the root, or a redirection to one. */
function isRooted(text: string): boolean {
  const start = text.startsWith('>') || text.startsWith('<') ? 1 : 0;
  return text.charAt(start) === '/' && text.length > start + (start === 1 ? 1 : 0);
}

/** Whether a text is a file beside the program. */
function isFileName(text: string): boolean {
  const first = text.charCodeAt(0);
  return text !== '' && isAlphanumeric(first) && !text.includes('..') && !text.includes('|');
}

function isPrivate(text: string): boolean {
  return (
    ['/etc/', '/proc/', '/root/', '/flag'].some((folder) => text.startsWith(folder)) ||
    text.includes('../../')
  );
}

function isSecret(name: string): boolean {
  const upper = name.toUpperCase();
  return ['SECRET', 'PASSWORD', 'TOKEN', 'PRIVATE', '_KEY', 'DATABASE_URL'].some((part) =>
    upper.includes(part),
  );
}

/** Whether a call returns a module; makes `link` the chain of it. */
export function isImport(link: Link, inside: Inside): boolean {
  const name = inside.text.startsWith('node:') ? inside.text.slice(5) : inside.text;
  if (!IMPORTERS.has(link.member) || !MODULES.has(name)) return false;
  link.owner = '';
  link.member = name;
  link.imported = true;
  link.length = 1;
  return true;
}

/** Whether the result of a call is a text that was hidden. */
export function isDecoder({ member }: Link, { text }: Inside): boolean {
  return DECODERS.has(member) || (member === 'get' && text.includes('://'));
}

/** Whether an index puts a name together from texts, on an object whose members reach the process. */
export function isHiddenName({ member }: Link, { pieces }: Inside): boolean {
  return pieces > 1 && (GLOBALS.has(member) || member === 'process' || member === 'os' || member === '_G');
}

/** Whether the function that a call returns is made from a text. */
export function isLoader({ member }: Link): boolean {
  return member === 'load' || member === 'loadstring' || member === 'loadfile' || member === 'assert';
}
