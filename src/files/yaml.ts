/**
 * YAML text to plain data, with a place for every value and every mistake. YAML 1.2 core schema: `no` and `NO` are
 * text. What the files of this project never need (tags, merge keys, several documents) is refused, not guessed at.
 * A JSON file is YAML, so it is read here too.
 */
import {
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  type Pair,
  parseDocument,
  type YAMLError,
} from 'yaml';
import type { Diagnostic, FieldPath, SourcePlace } from '../base/diagnostic.ts';
import { MAX_DIAGNOSTICS, MAX_FILE_DEPTH, MAX_FILE_MARKS, MAX_FILE_OCTETS } from '../base/limits.ts';
import { utf8Length } from '../base/octets.ts';
import { sizeText } from './size.ts';
import { notText, placeOfBadOctet, placeOfOctet } from './utf8.ts';
import { keyOf, offsetOf, readNode, type Walk } from './yaml-values.ts';

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
