/**
 * YAML text to plain data, with a place for every value and every mistake. YAML 1.2 core schema: `no` and `NO` are
 * text. What the files of this project never need (tags, merge keys, several documents) is refused, not guessed at.
 * A JSON file is YAML, so it is read here too.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { type Diagnostic, type FieldPath, quoteValue, type SourcePlace } from '../base/diagnostic.ts';
import {
  MAX_DIAGNOSTICS,
  MAX_FILE_DEPTH,
  MAX_FILE_MARKS,
  MAX_FILE_OCTETS,
  MAX_FILE_VALUES,
} from '../base/limits.ts';
import { utf8Length } from '../base/octets.ts';
import { sizeText } from './size.ts';

/** A file that was read as far as it could be. */
export interface YamlFile {
  readonly name: string;
  /** `false` when there is an error; `value` is then what could be made of it. */
  readonly ok: boolean;
  /** Plain data; `undefined` when the text is no YAML at all. */
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** The place of a value, or of the nearest one around it that the file holds. */
  at(path: FieldPath): SourcePlace;
  /** The place of a mapping's key, for what is wrong about the key itself. */
  keyAt(path: FieldPath): SourcePlace;
  /** A plain (unquoted) scalar as it was written, or `null`: `no`, `0x10`, an empty value. */
  plainSource(path: FieldPath): string | null;
}

interface Walk {
  readonly diagnostics: Diagnostic[];
  /** Anchored values seen so far, with how many values each holds; `null` while still being read. */
  readonly anchors: Map<string, { readonly value: unknown; readonly values: number } | null>;
  readonly place: (offset: number) => SourcePlace;
  values: number;
}

/** Orders diagnostics by line, then by column; those without a place compare as equal. */
export function byPlace({ at: a }: Diagnostic, { at: b }: Diagnostic): number {
  return a === undefined || b === undefined ? 0 : a.line - b.line || a.column - b.column;
}

/** Reads a text. Never throws; `name` is how places call the file. */
export function readYaml(text: string, name: string): YamlFile {
  const octets = utf8Length(text);
  if (octets > MAX_FILE_OCTETS) return unread(name, tooLong(name, octets));
  if (countMarks(text) > MAX_FILE_MARKS) return unread(name, tooManyMarks(name));
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    schema: 'core',
    resolveKnownTags: false,
    // The package compares every key with every other; the walk below finds repeats in one pass.
    uniqueKeys: false,
  });
  const place = (offset: number): SourcePlace => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { file: name, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const faults = [...document.errors, ...document.warnings].slice(0, MAX_DIAGNOSTICS);
  if (faults.length > 0) {
    const diagnostics = faults.map((fault) => ({ ...describeFault(fault), at: place(fault.pos[0]) }));
    return { ...unread(name, ...diagnostics) };
  }
  const root = document.contents as Node | null;
  const walk: Walk = { diagnostics: [], anchors: new Map(), place, values: 0 };
  const value = readNode(root, 0, walk);
  return {
    name,
    ok: walk.diagnostics.length === 0,
    value,
    diagnostics: walk.diagnostics,
    at: (path) => place(offsetOf(lookUp(root, path).value)),
    keyAt: (path) => {
      const found = lookUp(root, path);
      return place(offsetOf(found.key ?? found.value));
    },
    plainSource: (path) => {
      const found = lookUp(root, path);
      if (!found.whole || !isScalar(found.value) || found.value.type !== 'PLAIN') return null;
      return found.value.source ?? null;
    },
  };
}

/** Reads a file's octets, which must be UTF-8. */
export function readYamlBytes(bytes: Uint8Array, name: string): YamlFile {
  if (bytes.length > MAX_FILE_OCTETS) return unread(name, tooLong(name, bytes.length));
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return unread(name, notText(bytes, placeOfBadOctet(bytes, name)));
  }
  const zero = bytes.indexOf(0);
  if (zero >= 0) return unread(name, notText(bytes, placeOfOctet(bytes, { octet: zero, file: name })));
  return readYaml(text, name);
}

/** Octets that are no UTF-8, or hold the zero octet, which no YAML does: UTF-16 in either order, or no text at all. */
function notText(bytes: Uint8Array, at: SourcePlace): Diagnostic {
  const [first, second] = bytes;
  const marked = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const wide =
    marked ||
    (bytes.length >= 4 && (bytes[0] === 0) !== (bytes[1] === 0) && (bytes[2] === 0) !== (bytes[3] === 0));
  return {
    code: 'invalid_utf8',
    severity: 'error',
    path: [],
    message: wide ? 'must be UTF-8 text; this looks like UTF-16' : 'must be UTF-8 text; these octets are not',
    remedy: 'save the file as UTF-8',
    at,
  };
}

/** The place of an octet in UTF-8 text. */
function placeOfOctet(bytes: Uint8Array, { octet, file }: { octet: number; file: string }): SourcePlace {
  let line = 1;
  let start = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < octet; at = bytes.indexOf(0x0a, at + 1)) {
    line++;
    start = at + 1;
  }
  return { file, line, column: new TextDecoder().decode(bytes.subarray(start, octet)).length + 1 };
}

/** The first place that is not UTF-8: the longest valid start of its line. */
function placeOfBadOctet(bytes: Uint8Array, file: string): SourcePlace {
  let line = 1;
  for (let start = 0; start < bytes.length; line++) {
    const newline = bytes.indexOf(0x0a, start);
    const end = newline < 0 ? bytes.length : newline + 1;
    const column = validStart(bytes.subarray(start, end));
    if (column !== null) return { file, line, column };
    start = end;
  }
  return { file, line, column: 1 };
}

/** The column where a line stops being UTF-8, or `null`. */
function validStart(line: Uint8Array): number | null {
  const decodes = (length: number): string | null => {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(line.subarray(0, length), { stream: true });
    } catch {
      // The only thing it throws for is what is asked here.
      return null;
    }
  };
  try {
    new TextDecoder('utf-8', { fatal: true }).decode(line);
    return null;
  } catch {
    let valid = 0;
    let broken = line.length + 1;
    while (broken - valid > 1) {
      const middle = (valid + broken) >> 1;
      if (middle <= line.length && decodes(middle) !== null) valid = middle;
      else broken = middle;
    }
    return (decodes(valid) ?? '').length + 1;
  }
}

/** Commas and opening brackets. */
function countMarks(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 44 || code === 91 || code === 123) marks++;
  }
  return marks;
}

function tooManyMarks(file: string): Diagnostic {
  return {
    code: 'file_too_long',
    severity: 'error',
    path: [],
    message: `a file must hold at most ${MAX_FILE_MARKS} commas and opening brackets`,
    remedy: 'split the domain, or write lists one entry a line',
    at: { file, line: 1, column: 1 },
  };
}

function tooLong(file: string, octets: number): Diagnostic {
  return {
    code: 'file_too_long',
    severity: 'error',
    path: [],
    message: `a file must be at most ${sizeText(MAX_FILE_OCTETS)}`,
    found: `${octets} octets`,
    at: { file, line: 1, column: 1 },
  };
}

function unread(name: string, ...diagnostics: Diagnostic[]): YamlFile {
  const start = (): SourcePlace => ({ file: name, line: 1, column: 1 });
  return { name, ok: false, value: undefined, diagnostics, at: start, keyAt: start, plainSource: () => null };
}

/** What the package says, in words that tell what to write. */
function describeFault(fault: YAMLError): Diagnostic {
  const diagnostic = (message: string, remedy?: string): Diagnostic => ({
    code: 'invalid_yaml',
    severity: 'error',
    path: [],
    message,
    ...(remedy === undefined ? {} : { remedy }),
  });
  switch (fault.code) {
    case 'TAB_AS_INDENT':
      return diagnostic('a tab is used as indentation', 'indent with spaces');
    case 'BAD_ALIAS':
      return diagnostic('an unquoted `*` starts a YAML alias', 'put the text in quotes: `"*"`');
    case 'BAD_SCALAR_START':
      return diagnostic('unquoted text must not start with this character', 'put the text in quotes');
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'MULTILINE_IMPLICIT_KEY':
      return diagnostic('a value holds another `: `', 'put the text in quotes, or fix the indentation');
    case 'MULTIPLE_DOCS':
      return diagnostic('a file must hold one document', 'remove the `---` line');
    case 'TAG_RESOLVE_FAILED':
      return diagnostic('an unquoted `!` starts a YAML tag', 'put the text in quotes');
    case 'RESOURCE_EXHAUSTION':
      return diagnostic(`lists and mappings must be at most ${MAX_FILE_DEPTH} deep`);
    default:
      return diagnostic(fault.message.charAt(0).toLowerCase() + fault.message.slice(1));
  }
}

function readNode(node: Node | null, depth: number, walk: Walk): unknown {
  if (node === null || !spend(walk, node, 1)) return null;
  if (isAlias(node)) return readAlias(node, walk);
  const { anchor } = node as { anchor?: string };
  const before = walk.values;
  if (anchor !== undefined) walk.anchors.set(anchor, null);
  const value = readContent(node, depth, walk);
  if (anchor !== undefined) walk.anchors.set(anchor, { value, values: walk.values - before });
  return value;
}

function readContent(node: Node, depth: number, walk: Walk): unknown {
  if (isScalar(node)) return readScalar(node, walk);
  if (depth >= MAX_FILE_DEPTH) {
    tell(walk, node, {
      code: 'too_deep',
      message: `lists and mappings must be at most ${MAX_FILE_DEPTH} deep`,
    });
    return null;
  }
  if (isMap(node)) return readMap(node, depth, walk);
  return isSeq(node) ? readSeq(node, depth, walk) : null;
}

function readScalar(node: Scalar, walk: Walk): unknown {
  const { value } = node;
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  tell(walk, node, { code: 'invalid_yaml', message: 'must be text, a number, `true` or `false`' });
  return null;
}

function readSeq(node: YAMLSeq, depth: number, walk: Walk): unknown[] {
  const entries: unknown[] = [];
  for (const item of node.items) {
    if (walk.values > MAX_FILE_VALUES) break;
    entries.push(readNode(item as Node | null, depth + 1, walk));
  }
  return entries;
}

function readMap(node: YAMLMap, depth: number, walk: Walk): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const places = new Map<string, number>();
  for (const pair of node.items as Pair<Node | null, Node | null>[]) {
    if (walk.values > MAX_FILE_VALUES) break;
    const name = keyOf(pair.key);
    if (name === null || name === '<<') {
      const what = name === null ? 'a key must be text' : 'merge keys (`<<`) are not supported';
      tell(walk, pair.key ?? node, { code: 'invalid_key', message: what });
      continue;
    }
    const first = places.get(name);
    if (first !== undefined) {
      const { line } = walk.place(first);
      const message = `the key ${quoteValue(name)} stands here a second time; the first is on line ${line}`;
      tell(walk, pair.key ?? node, { code: 'duplicate_key', message });
      continue;
    }
    places.set(name, offsetOf(pair.key));
    const value = readNode(pair.value, depth + 1, walk);
    Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return fields;
}

/** A key as text: numbers as they were written, so that `0502` is not taken for `502`. */
function keyOf(key: Node | null): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

/** An alias shares its anchor's value; what stands for unquoted text is told and read as that text. */
function readAlias(node: Alias, walk: Walk): unknown {
  const target = walk.anchors.get(node.source);
  if (target === undefined) {
    const text = `*${node.source}`;
    const message = `${quoteValue(text)} must be in quotes: an unquoted \`*\` starts a YAML alias`;
    tell(walk, node, { code: 'unquoted_star', message, remedy: `write "${text.slice(0, 80)}"` });
    return text;
  }
  if (target === null) {
    const message = `the alias ${quoteValue(`*${node.source}`)} stands inside what it stands for`;
    tell(walk, node, { code: 'invalid_yaml', message });
    return null;
  }
  return spend(walk, node, target.values) ? target.value : null;
}

/** Counts values; the one that goes over the bound is told, and after it nothing is read any more. */
function spend(walk: Walk, node: Node, values: number): boolean {
  const before = walk.values;
  walk.values += values;
  if (walk.values <= MAX_FILE_VALUES) return true;
  if (before > MAX_FILE_VALUES) return false;
  const message = `a file must hold at most ${MAX_FILE_VALUES} values once its aliases are resolved`;
  tell(walk, node, { code: 'too_many_values', message });
  return false;
}

function tell(
  walk: Walk,
  node: Node,
  problem: { readonly code: string; readonly message: string; readonly remedy?: string },
): void {
  if (walk.diagnostics.length >= MAX_DIAGNOSTICS) return;
  walk.diagnostics.push({ severity: 'error', path: [], ...problem, at: walk.place(offsetOf(node)) });
}

function offsetOf(node: unknown): number {
  const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0] ?? 0;
}

interface Found {
  readonly value: Node | null;
  /** The key the value stands under; `null` in a list and at the root. */
  readonly key: Node | null;
  /** The path was there to its end. */
  readonly whole: boolean;
}

/** Follows a path as far as the document goes. A value left blank has no place of its own: its key stands for it. */
function lookUp(root: Node | null, path: FieldPath): Found {
  let found: Found = { value: root, key: null, whole: true };
  for (const step of path) {
    const next = stepInto(found.value, step);
    if (next === null) return { ...found, whole: false };
    found = { value: next.value ?? next.key ?? found.value, key: next.key, whole: true };
  }
  return found;
}

function stepInto(node: Node | null, step: string | number): { value: Node | null; key: Node | null } | null {
  if (isSeq(node)) {
    const item = typeof step === 'number' ? node.items[step] : undefined;
    return item === undefined ? null : { value: item as Node | null, key: null };
  }
  if (!isMap(node)) return null;
  for (const pair of node.items as Pair<Node | null, Node | null>[]) {
    if (keyOf(pair.key) === String(step)) return { value: pair.value, key: pair.key };
  }
  return null;
}

/** Whether a value that was read is a mapping. */
export function isMapping(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
