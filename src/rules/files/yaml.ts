/**
 * Reads YAML text as plain data, with a place for every value and every mistake. The schema is the core schema of
 * YAML 1.2: `no` and `NO` are text. Tags, merge keys and several documents are refused, since the files of this
 * project do not need them. JSON is a subset of YAML and is read too.
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
import type { Diagnostic, FieldPath, SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { utf8Length } from '../../base/octets/octets.ts';
import {
  MAX_DIAGNOSTICS,
  MAX_FILE_DEPTH,
  MAX_FILE_MARKS,
  MAX_FILE_OCTETS,
} from '../../base/vocabulary/limits.ts';
import { sizeText } from './size.ts';
import { notText, placeOfBadOctet, placeOfOctet } from './utf8.ts';
import { keyOf, offsetOf, type ReadState, readNode } from './yaml-values.ts';

/** The result of reading a file. */
export interface YamlFile {
  /** The file name shown in diagnostics' source locations. */
  readonly name: string;
  /** `false` when there is an error; `value` then contains what could be read. */
  readonly ok: boolean;
  /** Plain data; `undefined` when the text is not YAML. */
  readonly value: unknown;
  readonly diagnostics: readonly Diagnostic[];
  /** Returns the place of a value, or of the nearest enclosing value that exists in the file. */
  at(path: FieldPath): SourcePlace;
  /** Returns the place of a mapping's key, for diagnostics about the key itself. */
  keyAt(path: FieldPath): SourcePlace;
  /**
   * Returns a plain (unquoted) scalar as it was written: `no`, `0x10`, an empty text. `null` for any other value.
   */
  plainSource(path: FieldPath): string | null;
}

/** Orders diagnostics by file, line and column; those without a place compare as equal. */
export function byPlace({ at: a }: Diagnostic, { at: b }: Diagnostic): number {
  if (a === undefined || b === undefined) return 0;
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

/** Reads a text. Never throws. `name` is the file name that places carry. */
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
    // The package compares every key with every other; `readMap` finds repeated keys in one pass.
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
  const state: ReadState = { diagnostics: [], anchors: new Map(), place, values: 0 };
  const value = readNode(root, 0, state);
  return {
    name,
    ok: state.diagnostics.length === 0,
    value,
    diagnostics: state.diagnostics,
    at: (path) => place(offsetOf(lookUp(root, path).value)),
    keyAt: (path) => {
      const found = lookUp(root, path);
      return place(offsetOf(found.key ?? found.value));
    },
    plainSource: (path) => {
      const found = lookUp(root, path);
      if (!found.complete || !isScalar(found.value) || found.value.type !== 'PLAIN') return null;
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

/** Counts commas and opening brackets, before the parser allocates a node for each. */
function countMarks(text: string): number {
  let marks = 0;
  for (let at = 0; at < text.length; at++) {
    const code = text.charCodeAt(at);
    if (code === 44 || code === 91 || code === 123) marks++;
  }
  return marks;
}

/** The diagnostic for more than `MAX_FILE_MARKS` commas and brackets. */
function tooManyMarks(file: string): Diagnostic {
  return {
    code: 'file_too_long',
    severity: 'error',
    path: [],
    message: `a file must contain at most ${MAX_FILE_MARKS} commas and opening brackets`,
    remedy: 'split the domain, or write lists one entry a line',
    at: { file, line: 1, column: 1 },
  };
}

/** The diagnostic for more than `MAX_FILE_OCTETS` octets. */
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

/** The result for a file that cannot be read; every place is its start. */
function unread(name: string, ...diagnostics: Diagnostic[]): YamlFile {
  const start = (): SourcePlace => ({ file: name, line: 1, column: 1 });
  return { name, ok: false, value: undefined, diagnostics, at: start, keyAt: start, plainSource: () => null };
}

/** Rewords an error of the YAML package and adds a remedy. */
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
      return diagnostic('a value contains another `: `', 'put the text in quotes, or fix the indentation');
    case 'MULTIPLE_DOCS':
      return diagnostic('a file must contain one document', 'remove the `---` line');
    case 'TAG_RESOLVE_FAILED':
      return diagnostic('an unquoted `!` starts a YAML tag', 'put the text in quotes');
    case 'RESOURCE_EXHAUSTION':
      return diagnostic(`lists and mappings must be at most ${MAX_FILE_DEPTH} deep`);
    default:
      return diagnostic(fault.message.charAt(0).toLowerCase() + fault.message.slice(1));
  }
}

/** The result of following a path. */
interface LookUp {
  readonly value: Node | null;
  /** The key of the value; `null` in a list and at the root. */
  readonly key: Node | null;
  /** Whether the document contains the complete path. */
  readonly complete: boolean;
}

/**
 * Follows a path as far as the document contains it. An empty value has no place of its own, so its key takes its
 * place.
 */
function lookUp(root: Node | null, path: FieldPath): LookUp {
  let found: LookUp = { value: root, key: null, complete: true };
  for (const step of path) {
    const next = stepInto(found.value, step);
    if (next === null) return { ...found, complete: false };
    found = { value: next.value ?? next.key ?? found.value, key: next.key, complete: true };
  }
  return found;
}

/** The entry of a list or mapping; `null` when there is none. */
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
