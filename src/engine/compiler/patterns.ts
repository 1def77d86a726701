/** One list entry of a host or path filter as a pattern: its cheapest exact test, and the keys it can be filed under. */
import { hostPieces, normalizeName } from '../../base/addresses/host.ts';
import { assert } from '../../base/diagnostics/assert.ts';
import { lowerAscii } from '../../base/octets/octets.ts';
import { pathPieces } from '../../base/paths/path.ts';
import { buildDfa } from '../../base/regex/dfa.ts';
import {
  type Pattern,
  parsePattern,
  type RequiredLiterals,
  requiredLiterals,
} from '../../base/regex/regex.ts';
import type { ValueComparison } from '../../base/vocabulary/vocabulary.ts';
import { PATTERN_KIND } from '../plan/layout.ts';

/** Literals that a text must contain for a pattern to match, as far as an index can use them. */
export interface PatternKeys {
  readonly exact: string | null;
  readonly prefix: string | null;
  readonly suffix: string | null;
  /** Every matching text contains all of these. */
  readonly inner: readonly string[];
  /** Every matching text contains at least one of these. */
  readonly anyOf: readonly string[] | null;
}

/** A pattern with the cheapest test that is exact (`PATTERN_KIND`). */
export interface CompiledPattern {
  readonly kind: (typeof PATTERN_KIND)[keyof typeof PATTERN_KIND];
  readonly source: string;
  /** Text of exact, prefix, suffix and contains; pieces otherwise. */
  readonly text: string;
  readonly pieces: readonly string[];
  /** The automaton of a regex. */
  readonly dfa: Uint16Array | null;
  readonly keys: PatternKeys;
}

/** Compiled patterns by their kind and source; the place in `list` is the pattern's number. */
export interface PatternPool {
  readonly numbers: Map<string, number>;
  readonly list: CompiledPattern[];
  /** What earlier compiles have made of patterns. */
  readonly known: KnownPatterns;
}

/** Compiled patterns by their kind and source, which several compiles share: most of a compile is the automata of regexes. */
export type KnownPatterns = Map<string, CompiledPattern>;

/** An empty pool. */
export function createPatternPool(known: KnownPatterns = new Map()): PatternPool {
  return { numbers: new Map(), list: [], known };
}

/** What a list entry is: its filter and its match type. */
export type PatternForm =
  | 'host_exact'
  | 'host_wildcard'
  | 'host_regex'
  | 'path_wildcard'
  | 'path_regex'
  | 'list'
  | ValueForm;

/** The form of a value in a condition: how it compares, and `_fold` if case is ignored. */
export type ValueForm = `value_${ValueComparison}` | `value_${ValueComparison}_fold`;

/** The form of an entry that may name a list. */
export function entryForm(form: PatternForm, entry: string): PatternForm {
  return entry.startsWith('@') && !form.endsWith('_regex') ? 'list' : form;
}

/** The number of the pattern for `source`, compiled at its first use. A source that the model has accepted compiles. */
export function placePattern(pool: PatternPool, form: PatternForm, source: string): number {
  const key = `${form} ${source}`;
  const placed = pool.numbers.get(key);
  if (placed !== undefined) return placed;
  const number = pool.list.length;
  let pattern = pool.known.get(key);
  if (pattern === undefined) {
    pattern = compilePattern(form, source);
    pool.known.set(key, pattern);
  }
  pool.list.push(pattern);
  pool.numbers.set(key, number);
  return number;
}

/** Chooses the kind of a pattern: a literal or wildcard becomes string comparisons, a regex an automaton. */
function compilePattern(form: PatternForm, source: string): CompiledPattern {
  switch (form) {
    case 'host_exact': {
      const name = normalizeName(source);
      assert(name !== null, 'the model refuses names that are no host');
      return literalPattern(source, [name], '');
    }
    case 'host_wildcard': {
      const pieces = hostPieces(source);
      assert(pieces !== null, 'the model refuses entries that are no host');
      return literalPattern(source, pieces, '');
    }
    case 'path_wildcard': {
      const pieces = pathPieces(source);
      assert(pieces !== null, 'the model refuses paths that can never match');
      return literalPattern(source, pieces, '/');
    }
    case 'host_regex':
      return regexPattern(source, { ignoreCase: true, asciiText: true });
    case 'path_regex':
      return regexPattern(source, { ignoreCase: false, asciiText: false });
    case 'list':
      return { kind: PATTERN_KIND.list, source, text: '', pieces: [], dfa: null, keys: NO_KEYS };
    default:
      return valuePattern(form, source);
  }
}

/** The pieces of a value between its stars, by how it compares. */
export const VALUE_PIECES: {
  readonly [C in Exclude<ValueComparison, 'regex'>]: (text: string) => readonly string[];
} = {
  equals: (text) => [text],
  prefix: (text) => [text, ''],
  suffix: (text) => ['', text],
  contains: (text) => ['', text, ''],
  wildcard: (text) => text.split('*'),
};

/** The pattern of a value in a condition. With `_fold`, a literal is in lower case, as the text that it is compared with. */
function valuePattern(form: ValueForm, source: string): CompiledPattern {
  const folds = form.endsWith('_fold');
  const comparison = form.slice('value_'.length, folds ? -'_fold'.length : undefined) as ValueComparison;
  if (comparison === 'regex') return regexPattern(source, { ignoreCase: folds, asciiText: false });
  return literalPattern(source, VALUE_PIECES[comparison](folds ? lowerAscii(source) : source), '');
}

/** The keys of a pattern that no index can narrow. */
const NO_KEYS: PatternKeys = { exact: null, prefix: null, suffix: null, inner: [], anyOf: null };

/**
 * Compiles a wildcard to string comparisons. `split`: its parts between the stars. `start`: what every text begins with
 * (`/` for paths); a prefix equal to it is useless to an index.
 */
function literalPattern(source: string, split: readonly string[], start: string): CompiledPattern {
  const last = split.length - 1;
  const pieces = split.filter((piece, index) => index === 0 || index === last || piece !== '');
  const base = { source, pieces: [], dfa: null };
  const [head = '', tail = ''] = [pieces[0], pieces.at(-1)];
  if (pieces.length === 1) {
    return { ...base, kind: PATTERN_KIND.exact, text: head, keys: { ...NO_KEYS, exact: head } };
  }
  const bareHead = head === '' || head === start;
  if (pieces.length === 2 && tail === '' && bareHead) {
    return { ...base, kind: PATTERN_KIND.any, text: '', keys: NO_KEYS };
  }
  if (pieces.length === 2 && tail === '') {
    return { ...base, kind: PATTERN_KIND.prefix, text: head, keys: { ...NO_KEYS, prefix: head } };
  }
  if (pieces.length === 2 && head === '') {
    return { ...base, kind: PATTERN_KIND.suffix, text: tail, keys: { ...NO_KEYS, suffix: tail } };
  }
  if (pieces.length === 3 && head === '' && tail === '') {
    const middle = pieces[1]!;
    return { ...base, kind: PATTERN_KIND.contains, text: middle, keys: { ...NO_KEYS, inner: [middle] } };
  }
  const keys: PatternKeys = {
    exact: null,
    prefix: bareHead ? null : head,
    suffix: tail === '' ? null : tail,
    inner: pieces.slice(1, -1),
    anyOf: null,
  };
  return { ...base, kind: PATTERN_KIND.pieces, text: '', pieces, keys };
}

/** A regex as its automaton, with the keys that its required literals give. */
function regexPattern(
  source: string,
  { ignoreCase, asciiText }: { readonly ignoreCase: boolean; readonly asciiText: boolean },
): CompiledPattern {
  const parsed = parsePattern(source, { ignoreCase });
  assert(parsed.ok, 'the model refuses patterns that do not parse');
  const dfa = buildDfa(parsed.pattern.program);
  assert(dfa.ok, 'the model refuses patterns that are too complex');
  const keys = keysOf(parsed.pattern, asciiText);
  return { kind: PATTERN_KIND.dfa, source, text: '', pieces: [], dfa: dfa.table, keys };
}

/** The index keys of a pattern. `asciiText`: the texts are ASCII, as hosts are. */
function keysOf(pattern: Pattern, asciiText: boolean): PatternKeys {
  const found: RequiredLiterals = requiredLiterals(pattern, { asciiText });
  const inner = found.inner.filter((literal) => literal !== '' && literal !== '/');
  const prefix = found.prefix === '' || found.prefix === '/' ? null : found.prefix;
  const anyOf = found.anyOf === null || found.anyOf.some((literal) => literal === '') ? null : found.anyOf;
  return { exact: found.exact, prefix, suffix: found.suffix === '' ? null : found.suffix, inner, anyOf };
}
