/**
 * Turns the nodes of a parsed YAML document into plain data, within the bounds of a file. Merge keys, keys that are no
 * text, repeated keys and misplaced aliases become diagnostics.
 */
import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import type { DiagnosticCode } from '../../base/diagnostics/codes/codes.ts';
import { type Diagnostic, quoteValue, type SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { MAX_DIAGNOSTICS } from '../../base/vocabulary/limits.ts';

/** How large a document may be. */
export interface YamlBounds {
  /** Size of the text. */
  readonly octets: number;
  /** Commas and opening brackets, each of which takes about a kilobyte while the text is parsed. */
  readonly marks: number;
  /** Values once aliases are resolved. */
  readonly values: number;
  /** Nesting depth of lists and mappings. */
  readonly depth: number;
}

/** The state of one conversion. */
export interface ReadState {
  readonly bounds: Pick<YamlBounds, 'values' | 'depth'>;
  readonly diagnostics: Diagnostic[];
  /** Anchored values so far, each with the number of values in it; `null` while it is being read. */
  readonly anchors: Map<string, { readonly value: unknown; readonly values: number } | null>;
  /** Converts an offset in the text to a place. */
  readonly place: (offset: number) => SourcePlace;
  /** Values read so far, with those of resolved aliases. */
  values: number;
}

/**
 * Converts a node to plain data; `depth` counts the enclosing lists and mappings. A node beyond the bounds becomes
 * `null`.
 */
export function readNode(node: Node | null, depth: number, state: ReadState): unknown {
  if (node === null || !spend(state, node, 1)) return null;
  if (isAlias(node)) return readAlias(node, state);
  const { anchor } = node as { anchor?: string };
  const before = state.values;
  if (anchor !== undefined) state.anchors.set(anchor, null);
  const value = readContent(node, depth, state);
  if (anchor !== undefined) state.anchors.set(anchor, { value, values: state.values - before });
  return value;
}

/** Converts a node that is no alias. */
function readContent(node: Node, depth: number, state: ReadState): unknown {
  if (isScalar(node)) return readScalar(node, state);
  if (depth >= state.bounds.depth) {
    report(state, node, {
      code: 'too_deep',
      message: `lists and mappings must be at most ${state.bounds.depth} deep`,
    });
    return null;
  }
  if (isMap(node)) return readMap(node, depth, state);
  return isSeq(node) ? readSeq(node, depth, state) : null;
}

/** Converts a scalar; the core schema yields text, numbers, booleans and null. */
function readScalar(node: Scalar, state: ReadState): unknown {
  const { value } = node;
  if (value === null || ['string', 'number', 'boolean'].includes(typeof value)) return value;
  report(state, node, { code: 'invalid_yaml', message: 'must be text, a number, `true` or `false`' });
  return null;
}

/** Converts a sequence. */
function readSeq(node: YAMLSeq, depth: number, state: ReadState): unknown[] {
  const entries: unknown[] = [];
  for (const item of node.items) {
    if (state.values > state.bounds.values) break;
    entries.push(readNode(item as Node | null, depth + 1, state));
  }
  return entries;
}

/** Converts a mapping; repeated keys, keys that are no text and merge keys are reported and left out. */
function readMap(node: YAMLMap, depth: number, state: ReadState): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  const places = new Map<string, number>();
  for (const pair of node.items as Pair<Node | null, Node | null>[]) {
    if (state.values > state.bounds.values) break;
    const name = keyOf(pair.key);
    if (name === null || name === '<<') {
      const what = name === null ? 'a key must be text' : 'merge keys (`<<`) are not supported';
      report(state, pair.key ?? node, { code: 'invalid_key', message: what });
      continue;
    }
    const first = places.get(name);
    if (first !== undefined) {
      reportRepeated(state, { name, first, key: pair.key ?? node });
      continue;
    }
    places.set(name, offsetOf(pair.key));
    const value = readNode(pair.value, depth + 1, state);
    Object.defineProperty(fields, name, { value, enumerable: true, configurable: true, writable: true });
  }
  return fields;
}

/** Reports a repeated key at both places: an error at the later one, a note at the first. */
function reportRepeated(
  state: ReadState,
  { name, first, key }: { readonly name: string; readonly first: number; readonly key: Node },
): void {
  const at = state.place(first);
  const quoted = quoteValue(name);
  const message = `the key ${quoted} is repeated; the first is on line ${at.line}`;
  report(state, key, {
    code: 'duplicate_key',
    message,
    remedy: 'remove one of the two, or join their values',
  });
  if (state.diagnostics.length >= MAX_DIAGNOSTICS) return;
  const note = { severity: 'info', path: [], message: `${quoted} is first written here`, at } as const;
  state.diagnostics.push({ code: 'first_key', ...note });
}

/** A key as text. A number is taken as it was written, so `0502` and `502` differ. */
export function keyOf(key: Node | null): string | null {
  if (!isScalar(key)) return null;
  return typeof key.value === 'string' ? key.value : (key.source ?? String(key.value));
}

/**
 * Resolves an alias to its anchor's value. An alias without an anchor is unquoted text that starts with `*`: it is
 * reported, and read as that text so that later checks still run.
 */
function readAlias(node: Alias, state: ReadState): unknown {
  const target = state.anchors.get(node.source);
  if (target === undefined) {
    const text = `*${node.source}`;
    const message = `${quoteValue(text)} must be in quotes: an unquoted \`*\` starts a YAML alias`;
    report(state, node, { code: 'unquoted_star', message, remedy: `write "${text.slice(0, 80)}"` });
    return text;
  }
  if (target === null) {
    const message = `the alias ${quoteValue(`*${node.source}`)} refers to a value that contains it`;
    report(state, node, { code: 'invalid_yaml', message });
    return null;
  }
  return spend(state, node, target.values) ? target.value : null;
}

/** Counts values. The value that exceeds the bound is reported once; after it nothing more is read. */
function spend(state: ReadState, node: Node, values: number): boolean {
  const before = state.values;
  state.values += values;
  if (state.values <= state.bounds.values) return true;
  if (before > state.bounds.values) return false;
  const message = `a file must contain at most ${state.bounds.values} values once its aliases are resolved`;
  report(state, node, { code: 'too_many_values', message });
  return false;
}

/** Adds an error at a node, up to `MAX_DIAGNOSTICS`. */
function report(
  state: ReadState,
  node: Node,
  problem: { readonly code: DiagnosticCode; readonly message: string; readonly remedy?: string },
): void {
  if (state.diagnostics.length >= MAX_DIAGNOSTICS) return;
  state.diagnostics.push({ severity: 'error', path: [], ...problem, at: state.place(offsetOf(node)) });
}

/** The offset of a node in the text; 0 when it has none. */
export function offsetOf(node: unknown): number {
  const range = (node as { range?: readonly number[] | null } | null | undefined)?.range;
  return range?.[0] ?? 0;
}
