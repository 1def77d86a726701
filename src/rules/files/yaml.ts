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
  MAX_FILE_VALUES,
} from '../../base/vocabulary/limits.ts';
import { sizeText } from './size.ts';
import { keyOf, offsetOf, type ReadState, readNode, type YamlBounds } from './yaml-values.ts';

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

/** The bounds of the files of this project. */
const FILE_BOUNDS: YamlBounds = {
  octets: MAX_FILE_OCTETS,
  marks: MAX_FILE_MARKS,
  values: MAX_FILE_VALUES,
  depth: MAX_FILE_DEPTH,
};

/** Orders diagnostics by file, line and column; those without a place compare as equal. */
export function byPlace({ at: a }: Diagnostic, { at: b }: Diagnostic): number {
  if (a === undefined || b === undefined) return 0;
  if (a.file !== b.file) return a.file < b.file ? -1 : 1;
  return a.line - b.line || a.column - b.column;
}

/** Reads a text. Never throws. `name` is the file name that places carry. */
export function readYaml(text: string, name: string, bounds: YamlBounds = FILE_BOUNDS): YamlFile {
  const octets = utf8Length(text);
  if (octets > bounds.octets) return unread(name, tooLong(name, octets, bounds));
  if (countMarks(text) > bounds.marks) return unread(name, tooManyMarks(name, bounds));
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
    const diagnostics = faults.map((fault) => ({ ...describeFault(fault, bounds), at: place(fault.pos[0]) }));
    return { ...unread(name, ...diagnostics) };
  }
  const root = document.contents as Node | null;
  const state: ReadState = { bounds, diagnostics: [], anchors: new Map(), place, values: 0 };
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
export function readYamlBytes(bytes: Uint8Array, name: string, bounds: YamlBounds = FILE_BOUNDS): YamlFile {
  if (bytes.length > bounds.octets) return unread(name, tooLong(name, bytes.length, bounds));
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return unread(name, notText(bytes, placeOfBadOctet(bytes, name)));
  }
  const zero = bytes.indexOf(0);
  if (zero >= 0) return unread(name, notText(bytes, placeOfOctet(bytes, { octet: zero, file: name })));
  return readYaml(text, name, bounds);
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

/** The diagnostic for too many commas and brackets. */
function tooManyMarks(file: string, { marks }: YamlBounds): Diagnostic {
  return {
    code: 'file_too_long',
    severity: 'error',
    path: [],
    message: `a file must contain at most ${marks} commas and opening brackets`,
    remedy: 'divide it, or write lists one entry a line',
    at: { file, line: 1, column: 1 },
  };
}

/** The diagnostic for too many octets. */
function tooLong(file: string, octets: number, bounds: YamlBounds): Diagnostic {
  return {
    code: 'file_too_long',
    severity: 'error',
    path: [],
    message: `a file must be at most ${sizeText(bounds.octets)}`,
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
function describeFault(fault: YAMLError, { depth }: YamlBounds): Diagnostic {
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
      return diagnostic(`lists and mappings must be at most ${depth} deep`);
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

/** The entry of a list or mapping; `null`: absent. */
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

// Finds where the octets of a file stop being UTF-8 text, and builds the diagnostic for it.

/**
 * The diagnostic for octets that are not UTF-8, or that contain a zero octet, which YAML does not allow. UTF-16 is
 * recognised by its byte order mark, or by zeros in every second octet of the first four.
 */
function notText(bytes: Uint8Array, at: SourcePlace): Diagnostic {
  const [first, second] = bytes;
  const hasMark = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff);
  const utf16 =
    hasMark ||
    (bytes.length >= 4 && (bytes[0] === 0) !== (bytes[1] === 0) && (bytes[2] === 0) !== (bytes[3] === 0));
  return {
    code: 'invalid_utf8',
    severity: 'error',
    path: [],
    message: utf16
      ? 'must be UTF-8 text; this looks like UTF-16'
      : 'must be UTF-8 text; these octets are not',
    remedy: 'save the file as UTF-8',
    at,
  };
}

/** The place of an octet in UTF-8 text; the column counts UTF-16 units. */
function placeOfOctet(bytes: Uint8Array, { octet, file }: { octet: number; file: string }): SourcePlace {
  let line = 1;
  let start = 0;
  for (let at = bytes.indexOf(0x0a); at >= 0 && at < octet; at = bytes.indexOf(0x0a, at + 1)) {
    line++;
    start = at + 1;
  }
  return { file, line, column: new TextDecoder().decode(bytes.subarray(start, octet)).length + 1 };
}

/**
 * The first place that is not UTF-8. Decodes line by line, since a newline octet is never part of a longer
 * character.
 */
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

/**
 * The column at which a line stops being UTF-8; `null` for a valid line. A binary search over the length of the
 * valid start.
 */
function validStart(line: Uint8Array): number | null {
  const decodes = (length: number): string | null => {
    try {
      return new TextDecoder('utf-8', { fatal: true }).decode(line.subarray(0, length), { stream: true });
    } catch {
      // `decode` with `fatal` throws for invalid octets only.
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
