/**
 * Reads the values of a test file: the YAML as a tree whose every node has its path and its place, single values of it
 * (texts, numbers, durations, times, maps), and the mistakes.
 */
import type { DiagnosticCode } from '../../base/diagnostics/codes/codes.ts';
import {
  type Diagnostic,
  type FieldPath,
  quoteValue,
  type SourcePlace,
} from '../../base/diagnostics/diagnostic.ts';
import { nearest } from '../model/nearest.ts';
import type { YamlFile } from './yaml.ts';

/** A mistake, without its place. */
export interface TestFileProblem {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly found?: string;
  readonly remedy?: string;
}

/** The mistakes so far. A part that several cases inherit is read once per case and reported once. */
export interface Notes {
  readonly diagnostics: readonly Diagnostic[];
  /** Adds a mistake; returns `null`, for a reader to return in place of a value. */
  complain(
    item: { readonly path: Diagnostic['path']; readonly at: SourcePlace },
    problem: TestFileProblem,
  ): null;
}

/** Creates an empty collection. */
export function createNotes(): Notes {
  const diagnostics: Diagnostic[] = [];
  const reported = new Set<string>();
  return {
    diagnostics,
    complain({ path, at }, problem) {
      const key = `${at.line}:${at.column}:${problem.code}:${problem.message}`;
      if (!reported.has(key)) diagnostics.push({ severity: 'error', path, at, ...problem });
      reported.add(key);
      return null;
    },
  };
}

/** A value as messages show it. */
export function foundIn(item: Item): string {
  if (item.kind === 'scalar') return quoteValue(item.value);
  return item.kind === 'list' ? quoteValue(item.items) : 'a map';
}

/** Reports every unknown key, with the nearest known one as the remedy. */
export function checkKeys(map: MapItem, known: readonly string[], notes: Notes): void {
  for (const [key, { at }] of map.entries) {
    if (known.includes(key)) continue;
    const closest = nearest(key, known);
    const remedy =
      closest === null
        ? `write one of ${known.map((name) => `\`${name}\``).join(', ')}`
        : `write \`${closest}\``;
    const message = `unknown key \`${key}\``;
    notes.complain({ path: [...map.path, key], at }, { code: 'unknown_key', message, remedy });
  }
}

/** Returns the item under a key; `null` when it is absent or empty. */
export function child(map: MapItem, key: string): Item | null {
  const entry: YamlEntry | undefined = map.entries.get(key);
  return entry === undefined || (entry.item.kind === 'scalar' && entry.item.value === null)
    ? null
    : entry.item;
}

/**
 * Reads a text; reports any other value and returns `null`. A number counts as the text that was written. `what`
 * completes the message `must be …`.
 */
export function textOf(item: Item, what: string, notes: Notes): string | null {
  if (item.kind === 'scalar' && (typeof item.value === 'string' || typeof item.value === 'number'))
    return String(item.value);
  return notes.complain(item, { code: 'invalid_type', message: `must be ${what}`, found: foundIn(item) });
}

/** Reads a text or a list of texts; reports any other value and leaves it out. */
export function readTexts(item: Item, notes: Notes): readonly string[] {
  const items = item.kind === 'list' ? item.items : [item];
  return items.flatMap((entry) => textOf(entry, 'a text', notes) ?? []);
}

/** Inclusive bounds of a number. */
export interface Bounds {
  readonly least: number;
  readonly most: number;
}

/** Reads a whole number within bounds; reports any other value and returns `null`. */
export function integerOf(item: Item, { least, most }: Bounds, notes: Notes): number | null {
  const value = item.kind === 'scalar' ? item.value : null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= least && value <= most) return value;
  const message = `must be a whole number from ${least} to ${most}`;
  return notes.complain(item, { code: 'invalid_number', message, found: foundIn(item) });
}

/** Milliseconds per unit of a duration. */
const UNITS: Readonly<Record<string, number>> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

/** Reads a duration such as `100ms` or `1.5s` as milliseconds; reports any other value and returns `null`. */
export function durationOf(item: Item, notes: Notes): number | null {
  const text = item.kind === 'scalar' ? String(item.value) : '';
  const parts = /^(\d{1,9}(?:\.\d{1,3})?)\s*(ms|s|m|h|d)$/.exec(text);
  if (parts !== null) return Math.round(Number(parts[1]) * UNITS[parts[2] ?? 'ms']!);
  const message = 'must be a duration with its unit';
  const remedy = 'write for example `100ms`, `1.5s`, `10m`, `2h` or `1d`';
  return notes.complain(item, { code: 'invalid_duration', message, found: foundIn(item), remedy });
}

/**
 * Reads a time as milliseconds since the epoch: RFC 3339 with a zone, or a number of milliseconds. Reports any
 * other value and returns `null`.
 */
export function timeOf(item: Item, notes: Notes): number | null {
  const value = item.kind === 'scalar' ? item.value : null;
  if (typeof value === 'number' && Number.isInteger(value) && value >= 0) return value;
  const shaped =
    typeof value === 'string' &&
    /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d(:\d\d(\.\d+)?)?([Zz]|[+-]\d\d:\d\d)$/.test(value);
  const time = shaped ? Date.parse(value.replace(' ', 'T').toUpperCase()) : Number.NaN;
  if (!Number.isNaN(time)) return time;
  const remedy = 'write for example `2026-01-31T12:00:00Z`';
  return notes.complain(item, {
    code: 'invalid_time',
    message: 'must be a time with its zone',
    found: foundIn(item),
    remedy,
  });
}

/** Reads a map; reports any other value and returns `null`. */
export function mapOf(item: Item, what: string, notes: Notes): MapItem | null {
  if (item.kind === 'map') return item;
  return notes.complain(item, { code: 'invalid_type', message: `must be ${what}`, found: foundIn(item) });
}

// Converts a YAML file to a tree whose every node carries its path and its place in the file.

/** What every node carries. */
interface Written {
  /** From the root of the file. */
  readonly path: FieldPath;
  readonly at: SourcePlace;
}

/** A single value. */
export interface ScalarItem extends Written {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
}

/** A sequence. */
export interface ListItem extends Written {
  readonly kind: 'list';
  readonly items: readonly Item[];
}

/** A mapping. */
export interface MapItem extends Written {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, YamlEntry>;
}

/** The value under a key of a mapping. */
export interface YamlEntry {
  /** The place of the key. */
  readonly at: SourcePlace;
  readonly item: Item;
}

/** A node of the tree. */
export type Item = ScalarItem | ListItem | MapItem;

/** Builds the tree of a file that was read without errors. */
export function itemsOf(yaml: YamlFile): Item {
  return toItem(yaml.value, [], yaml);
}

/** Builds the node of one value and, below it, of all values it contains. */
function toItem(value: unknown, path: FieldPath, yaml: YamlFile): Item {
  const at = yaml.at(path);
  if (Array.isArray(value)) {
    return {
      kind: 'list',
      items: value.map((item, index) => toItem(item, [...path, index], yaml)),
      path,
      at,
    };
  }
  if (typeof value === 'object' && value !== null) {
    const entries = new Map<string, YamlEntry>();
    for (const [key, inside] of Object.entries(value)) {
      const inner = [...path, key];
      entries.set(key, { at: yaml.keyAt(inner), item: toItem(inside, inner, yaml) });
    }
    return { kind: 'map', entries, path, at };
  }
  const plain =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
  return { kind: 'scalar', value: plain, path, at };
}
