/**
 * Detects serialised objects: `detectObject` for `@detectObject`. Recognises the streams of Java, .NET, PHP, Python's
 * pickle, Ruby's Marshal, YAML tags and serialised functions of Node.js by their grammar, as octets, in base64 and in
 * hexadecimal. Arrays and texts (`a:1:{s:1:"x";…}`, `BAh7…` of a session) are not objects.
 */
import { KIND } from '../../../base/octets/octet-kinds.ts';
import { isAlphanumeric, isDigit } from '../octets/latin1.ts';
import { isNamePart } from './expression/tokens.ts';
import { base64End, decodeBase64 } from './object/base64.ts';

/** The kinds of octets (`base/octets/octet-kinds.ts`) of which every detected value has one. */
export const OBJECT_KINDS =
  KIND.upper | KIND.digit | KIND.other | KIND.blank | KIND.dollar | KIND.high | KIND.quote | KIND.angle;
/** The length in octets of the shortest value that is detected: the magic number and version of Java. */
export const SHORTEST_OBJECT = 4;

/** The octets of a token of base64 that are decoded. */
const LONGEST_TOKEN = 16_384;
/** The longest name of a class, a module or a function that is read. */
const LONGEST_NAME = 128;

const JAVA = 'object of Java';
const DOTNET = 'object of .NET';
const PHP = 'object of PHP';
const PYTHON = "object of Python's pickle";
const RUBY = "object of Ruby's Marshal";

/** By octet, whether one of the forms begins with it: 1, anywhere; 2, at the beginning of a word. */
const begins = new Uint8Array(256);
for (const octet of '!_\xac\x04<"$') begins[octet.charCodeAt(0)] = 1;
for (const octet of 'OCrAagBTYQ/cp') begins[octet.charCodeAt(0)] = 2;

/** Returns the construct found in `value` (Latin-1), or `null`. Takes linear time; never throws. */
// PERF: one pass; most words are excluded by their first octet and the octet before it.
export function detectObject(value: string): string | null {
  for (let at = 0; at < value.length; at++) {
    const kind = begins[value.charCodeAt(at)];
    if (kind !== 1 && (kind !== 2 || (at > 0 && isTokenPart(value.charCodeAt(at - 1))))) continue;
    const found = raw(value, at) ?? (kind === 2 ? encoded(value, at) : null);
    if (found !== null) return found;
  }
  return null;
}

/** A digit of base64 that cannot separate a token from the text before it. */
function isTokenPart(code: number): boolean {
  return isAlphanumeric(code) || code === 0x2b || code === 0x5f;
}

/** Recognises a form at `at` in a value or in decoded octets. */
function raw(value: string, at: number): string | null {
  switch (value.charAt(at)) {
    case 'O':
    case 'C':
      return isPhpObject(value, at) ? PHP : null;
    case '\xac':
      return isJavaStream(value, at) ? JAVA : null;
    case 'a':
    case 'A':
      return isJavaHex(value, at) ? JAVA : null;
    case '\x04':
      return isRubyObject(value, at) ? RUBY : null;
    case 'c':
      return isPickledGlobal(value, at) ? PYTHON : null;
    case '!':
      return isObjectTag(value, at) ? 'object in YAML' : null;
    case '_':
      return value.startsWith('_$$ND_FUNC$$_', at) || value.startsWith('_$$nd_func$$_', at)
        ? 'serialised function'
        : null;
    case '"':
      if (value.startsWith('"json_class"', at)) return 'object of Ruby in JSON';
      return value.startsWith('"__js_function"', at) ? 'serialised function' : null;
    case 'p':
      return isJsonPickle(value, at) ? PYTHON : null;
    case '$':
      return isDotnetType(value, at) ? DOTNET : null;
    case '<':
      return isJavaXml(value, at) ? JAVA : null;
    default:
      return null;
  }
}

/** `O:4:"Name":1:{`, `C:4:"Name":1:{`; the quotes may be escaped (PHP manual, `serialize`). */
function isPhpObject(value: string, at: number): boolean {
  if (value.charCodeAt(at + 1) !== 0x3a) return false;
  let place = digitsEnd(value, at + 2);
  if (place < 0 || value.charCodeAt(place) !== 0x3a) return false;
  place = quoteEnd(value, place + 1);
  if (place < 0) return false;
  const name = place;
  while (place - name < LONGEST_NAME && (isNamePart(value.charCodeAt(place)) || isSeparator(value, place)))
    place++;
  if (place === name) return false;
  place = quoteEnd(value, place);
  if (place < 0 || value.charCodeAt(place) !== 0x3a) return false;
  place = digitsEnd(value, place + 1);
  return place >= 0 && value.charCodeAt(place) === 0x3a && value.charCodeAt(place + 1) === 0x7b;
}

/** A backslash between namespaces of PHP, which is not before the closing quote. */
function isSeparator(value: string, at: number): boolean {
  return value.charCodeAt(at) === 0x5c && isNamePart(value.charCodeAt(at + 1));
}

/** The end of a number with an optional `+` at `at`; -1: absent. */
function digitsEnd(value: string, at: number): number {
  let end = value.charAt(at) === '+' || value.charAt(at) === ' ' ? at + 1 : at;
  const first = end;
  while (end - first < 10 && isDigit(value.charCodeAt(end))) end++;
  return end === first ? -1 : end;
}

/** The end of a double quote at `at`, with or without a backslash; -1: absent. */
function quoteEnd(value: string, at: number): number {
  const place = value.charCodeAt(at) === 0x5c ? at + 1 : at;
  return value.charCodeAt(place) === 0x22 ? place + 1 : -1;
}

/** The magic number and version 5 of the Java object serialization protocol, as octets or as UTF-8 of them. */
function isJavaStream(value: string, at: number): boolean {
  return value.startsWith('\xac\xed\0\x05', at) || value.startsWith('\xac\xc3\xad\0\x05', at);
}

/** The same in hexadecimal, followed by a tag (0x70 to 0x7e). */
function isJavaHex(value: string, at: number): boolean {
  return (value.charCodeAt(at + 1) | 0x20) === 0x63 && value.slice(at, at + 9).toLowerCase() === 'aced00057';
}

/** Marshal 4.8 whose first value is an object, a class, a module, a struct or a user-defined type. */
function isRubyObject(value: string, at: number): boolean {
  return (
    value.charCodeAt(at + 1) === 0x08 && at + 3 < value.length && 'ocmSUuCe'.includes(value.charAt(at + 2))
  );
}

/** Modules and functions of Python that a pickle calls to run something. */
const PICKLED_MODULES: ReadonlySet<string> = new Set(
  'os posix nt subprocess builtins __builtin__ commands sys pty socket shutil runpy timeit importlib pickle marshal'.split(
    ' ',
  ),
);
const PICKLED_FUNCTIONS: ReadonlySet<string> = new Set(
  `system popen exec eval execfile call check_output check_call popen2 popen3 getoutput run spawn __import__ compile getattr
   open loads import_module`.split(/\s+/),
);

/** Opcode GLOBAL: `c`, a module, a line feed, a name, a line feed. */
function isPickledGlobal(value: string, at: number): boolean {
  const first = nameEnd(value, at + 1);
  if (value.charCodeAt(first) !== 0x0a || !PICKLED_MODULES.has(value.slice(at + 1, first).toLowerCase()))
    return false;
  const second = nameEnd(value, first + 1);
  return (
    value.charCodeAt(second) === 0x0a && PICKLED_FUNCTIONS.has(value.slice(first + 1, second).toLowerCase())
  );
}

/** The end of a name of Python at `at`; opcodes above ASCII are around names. */
function nameEnd(value: string, at: number): number {
  let end = at;
  while (end - at < LONGEST_NAME && isAsciiName(value.charCodeAt(end))) end++;
  return end;
}

function isAsciiName(code: number): boolean {
  return code < 0x80 && isNamePart(code);
}

/** Keys of jsonpickle that construct objects or call functions. */
function isJsonPickle(value: string, at: number): boolean {
  if (!value.startsWith('py/', at)) return false;
  if (at > 0 && value.charCodeAt(at - 1) !== 0x22 && value.charCodeAt(at - 1) !== 0x2e) return false;
  return ['object', 'reduce', 'type', 'function', 'newargs'].some((key) => value.startsWith(key, at + 3));
}

/** Tags of YAML that construct objects: PyYAML, SnakeYAML, Psych, YAML::Perl, js-yaml. */
const TAGS = [
  'python/object',
  'python/name',
  'python/module',
  'python/tuple',
  'ruby/object',
  'ruby/hash',
  'ruby/struct',
  'ruby/class',
  'ruby/module',
  'ruby/regexp',
  'perl/',
  'php/object',
  'js/function',
  'java.',
  'javax.',
  'com.',
  'org.',
  'net.',
  'sun.',
  'groovy.',
  'clojure.',
] as const;

/** `!!python/object…`, `!ruby/object:…`, `!<tag:yaml.org,2002:python/…>`. */
function isObjectTag(value: string, at: number): boolean {
  if (at > 0 && (isNamePart(value.charCodeAt(at - 1)) || value.charCodeAt(at - 1) === 0x21)) return false;
  let start = at + 1;
  if (value.startsWith('<tag:yaml.org,2002:', start)) start += 19;
  else if (value.charCodeAt(start) === 0x21) start++;
  else return value.slice(start, start + 5).toLowerCase() === 'ruby/';
  const tag = value.slice(start, start + 24).toLowerCase();
  return TAGS.some((begin) => tag.startsWith(begin));
}

/** Parts of the names of .NET's classes that run code when they are deserialised. */
const DOTNET_CLASSES = [
  'objectdataprovider',
  'system.diagnostics.process',
  'system.configuration.install',
  'system.windows.data',
  'system.workflow',
  'system.activities.presentation',
  'textformattingrunproperties',
  'activitysurrogateselector',
  'typeconfusedelegate',
  'windowsidentity',
  'windowsprincipal',
  'rolesprincipal',
  'sessionsecuritytoken',
  'pssobject',
  'axhost+state',
  'resourcedictionary',
  'expandedwrapper',
] as const;

/** `$type` of Json.NET with such a class. */
function isDotnetType(value: string, at: number): boolean {
  return value.startsWith('$type', at) && isDotnetClass(value.slice(at + 5, at + 5 + LONGEST_NAME));
}

function isDotnetClass(text: string): boolean {
  const lower = text.toLowerCase();
  return DOTNET_CLASSES.some((name) => lower.includes(name));
}

/** Elements of XStream: classes by their names. */
const XSTREAM = [
  '<dynamic-proxy>',
  '<java.lang.',
  '<java.util.',
  '<javax.',
  '<groovy.',
  '<com.sun.',
  '<sun.',
  '<jdk.',
] as const;

/** By octet, whether one of the elements begins with this letter: most tags are excluded before a text is allocated. */
const TAG_LETTERS = new Uint8Array(256);
for (const tag of [...XSTREAM, '<java', '<object', '<void']) {
  TAG_LETTERS[tag.charCodeAt(1)] = 1;
  TAG_LETTERS[tag.toUpperCase().charCodeAt(1)] = 1;
}

/** Elements of `java.beans.XMLDecoder` and of XStream that call methods. */
function isJavaXml(value: string, at: number): boolean {
  if (TAG_LETTERS[value.charCodeAt(at + 1)] !== 1) return false;
  const tag = value.slice(at, at + LONGEST_NAME).toLowerCase();
  if (XSTREAM.some((begin) => tag.startsWith(begin))) return true;
  if (!tag.startsWith('<java') && !tag.startsWith('<object') && !tag.startsWith('<void')) return false;
  const [inside] = tag.split('>', 1) as [string];
  return (
    inside.includes('java.beans.xmldecoder') ||
    inside.includes('java.lang.processbuilder') ||
    inside.includes('java.lang.runtime')
  );
}

/** The first digits of base64 of each form, by the codes of the first two. */
// PERF: a number as key, since a text would be an allocation for each word.
const PREFIXES: ReadonlyMap<number, string> = new Map(
  [
    ['rO', 'rO0AB'],
    ['AA', 'AAEAAAD'],
    ['gA', 'gA'],
    ['BA', 'BAh'],
    ['Tz', 'Tzo'],
    ['YT', 'YTo'],
    ['Qz', 'Qzo'],
    ['/w', '/wE'],
    ['Y1', 'Y1'],
    ['Y2', 'Y2'],
    ['Y3', 'Y3'],
  ].map(([two, prefix]) => [pair(two!, 0), prefix!]),
);

/** The codes of two characters as one number. */
function pair(text: string, at: number): number {
  return text.charCodeAt(at) * 256 + text.charCodeAt(at + 1);
}

/** Texts (`Detector.triggers`): the beginnings of all forms. */
export const OBJECT_TRIGGERS = [
  ...['o', 'c'].flatMap((letter) => [...'0123456789+ '].map((next) => `${letter}:${next}`)),
  ...['\xac\xed\0', '\xac\xc3\xad\0', 'aced00057', '\x04\x08', '!!', '!<tag:', '!ruby/'],
  ...['_$$nd_func$$_', '"json_class"', '"__js_function"', 'py/', '$type', '<java', '<object', '<void'],
  ...Array.from(PICKLED_MODULES, (name) => `c${name}\n`),
  ...XSTREAM,
  ...Array.from(PREFIXES.values(), (prefix) => prefix.toLowerCase()),
];

/** Recognises a form in base64 at `at`. */
function encoded(value: string, at: number): string | null {
  const prefix = PREFIXES.get(pair(value, at));
  if (prefix === undefined || !value.startsWith(prefix, at)) return null;
  const end = Math.min(base64End(value, at), at + LONGEST_TOKEN);
  if (prefix === 'rO0AB') return end - at > 8 ? JAVA : null;
  if (end - at < 12) return null;
  if (value.startsWith('AAEAAAD/////', at)) return DOTNET;
  const octets = decodeBase64(value, at, end);
  return decoded(octets);
}

/** Recognises a form in decoded octets. */
function decoded(octets: string): string | null {
  const first = octets.charCodeAt(0);
  if (first === 0x80) return isPickledCall(octets) ? PYTHON : null;
  if (first === 0xff)
    return octets.includes('\0\x01\0\0\0\xff\xff\xff\xff') || isDotnetClass(octets) ? DOTNET : null;
  if (first === 0x04) return isRubyObject(octets, 0) || hasRubyGadget(octets) ? RUBY : null;
  for (let at = 0; at < octets.length; at++) {
    const code = octets.charCodeAt(at);
    if ((code === 0x4f || code === 0x43) && isPhpObject(octets, at)) return PHP;
    if (code === 0x63 && isPickledGlobal(octets, at)) return PYTHON;
  }
  return null;
}

/** Whether a pickle of protocol 2 to 5 names one of the modules and one of the functions, and calls (opcode REDUCE). */
function isPickledCall(octets: string): boolean {
  if (!octets.includes('R') && !octets.includes('\x81')) return false;
  let module = false;
  let called = false;
  for (let at = 0; at < octets.length; ) {
    const end = nameEnd(octets, at);
    if (end > at) {
      const name = octets.slice(at, end).toLowerCase();
      // GLOBAL writes `cos`: the opcode is a letter before the name.
      module ||= PICKLED_MODULES.has(name) || (name.startsWith('c') && PICKLED_MODULES.has(name.slice(1)));
      called ||= PICKLED_FUNCTIONS.has(name);
    }
    at = Math.max(end, at) + 1;
  }
  return module && called;
}

/** Classes of Ruby's library from which chains of calls begin. */
const RUBY_GADGETS = [
  'Gem::',
  'ERB',
  'ActiveSupport::',
  'ActiveModel::',
  'Net::',
  'DRb',
  'Rack::',
  'UniqueFile',
] as const;

/** Whether an object of such a class is inside an array or a hash: `o:`, the length of the name, the name. */
function hasRubyGadget(octets: string): boolean {
  for (let at = octets.indexOf('o:'); at >= 0; at = octets.indexOf('o:', at + 2)) {
    if (RUBY_GADGETS.some((name) => octets.startsWith(name, at + 3))) return true;
  }
  return false;
}
