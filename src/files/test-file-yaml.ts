/** A YAML text as a tree in which every part knows where it was written. */
import {
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type YAMLMap,
  type YAMLParseError,
} from 'yaml';
import type { Diagnostic, FieldPath, Place } from '../base/diagnostic.ts';

interface Written {
  readonly path: FieldPath;
  readonly at: Place;
}

export interface ScalarItem extends Written {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
}

export interface ListItem extends Written {
  readonly kind: 'list';
  readonly items: readonly Item[];
}

export interface MapItem extends Written {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, Entry>;
}

export interface Entry {
  /** Where the key stands. */
  readonly at: Place;
  readonly item: Item;
}

export type Item = ScalarItem | ListItem | MapItem;

export interface YamlTree {
  /** `null`: the text is no YAML, or empty. */
  readonly root: Item | null;
  readonly diagnostics: readonly Diagnostic[];
}

/** Deeper than any test is written; stops an anchor that holds itself. */
const MAX_DEPTH = 40;
/** Parts of one file, aliases counted each time they are used; stops a few lines from growing into millions. */
const MAX_PARTS = 200_000;

/** Reads a text of one YAML document (YAML 1.2 core schema; anchors, aliases and `<<` are resolved). */
export function readYaml(text: string, file: string): YamlTree {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const place = (offset: number): Place => {
    const { line, col } = lines.linePos(offset);
    return { file, line: Math.max(line, 1), column: Math.max(col, 1) };
  };
  const diagnostics = document.errors.map((error) => toDiagnostic(error, place));
  if (diagnostics.length > 0) return { root: null, diagnostics };
  const reading: Reading = { document, place, diagnostics: [], parts: 0 };
  const root = document.contents === null ? null : toItem(document.contents, [], reading);
  return { root, diagnostics: reading.diagnostics };
}

function toDiagnostic(error: YAMLParseError, place: (offset: number) => Place): Diagnostic {
  const sentence = error.message.split('\n')[0] ?? '';
  const message = sentence.charAt(0).toLowerCase() + sentence.slice(1).replace(/\.$/, '');
  return { code: 'invalid_yaml', severity: 'error', path: [], message, at: place(error.pos[0]) };
}

interface Reading {
  readonly document: Document;
  readonly place: (offset: number) => Place;
  readonly diagnostics: Diagnostic[];
  parts: number;
}

function toItem(node: Node, path: FieldPath, reading: Reading): Item {
  const at = reading.place(node.range?.[0] ?? 0);
  reading.parts++;
  if (path.length > MAX_DEPTH || reading.parts > MAX_PARTS) return tooLarge(path, at, reading);
  if (isAlias(node)) {
    const target = node.resolve(reading.document);
    return target === undefined ? { kind: 'scalar', value: null, path, at } : toItem(target, path, reading);
  }
  if (isMap(node)) return { kind: 'map', entries: toEntries(node, path, reading), path, at };
  if (isSeq(node)) {
    const items = node.items.map((item, index) => toItem(item as Node, [...path, index], reading));
    return { kind: 'list', items, path, at };
  }
  const value: unknown = isScalar(node) ? node.value : null;
  return { kind: 'scalar', value: toPlain(value), path, at };
}

function tooLarge(path: FieldPath, at: Place, reading: Reading): ScalarItem {
  if (reading.diagnostics.length === 0) {
    const message = `holds more than ${MAX_PARTS} parts, or is nested deeper than ${MAX_DEPTH}`;
    reading.diagnostics.push({ code: 'too_large', severity: 'error', path: [], message, at });
  }
  return { kind: 'scalar', value: null, path, at };
}

function toEntries(map: YAMLMap, path: FieldPath, reading: Reading): ReadonlyMap<string, Entry> {
  const merged = new Map<string, Entry>();
  const own = new Map<string, Entry>();
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : '';
    const at = reading.place((key as Node).range?.[0] ?? 0);
    const item: Item =
      value === null
        ? { kind: 'scalar', value: null, path: [...path, name], at }
        : toItem(value as Node, [...path, name], reading);
    if (name !== '<<') own.set(name, { at, item });
    else if (item.kind === 'map') for (const [inner, entry] of item.entries) merged.set(inner, entry);
  }
  return new Map([...merged, ...own]);
}

function toPlain(value: unknown): ScalarItem['value'] {
  if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
  return value === null || value === undefined ? null : String(value);
}
