/**
 * Reads `edge.test.yaml`: requests with expected decisions. The input is text; the output is a list of tests in
 * which every `cases` table and every inherited field is expanded, or all mistakes with their lines. An expectation
 * stays a node of the file here; `workbench/rule-tests/expectation.ts` interprets it against the rules.
 *
 * A file has `tests`, a list, and optionally `defaults`, a `with` for all of them; and `invariants`, a list that
 * `rules/model/invariant.ts` reads. A test has
 * - `name`, and `request`: a method and a whole URL, not normalised;
 * - `with`: `ip`, `country`, `asn`, `bot`, `ja4`, `ja4h`, `headers`, `user_agent`, `body`, `cleared`, `at`, and the state
 *   of the edge: `node`, `down` (addresses of pool origins), `busy` (address to number of open requests);
 * - `expect`: the visitor's outcome, and `would`: the shadow's, `nothing` when no dry_run rule matched;
 * - `response`: a status, and `by: origin` or `by: edge`; then `expect` is about the error page;
 * - `repeat`: how often the request is sent, or `{ times, every, earlier }`: `every` is the interval between two
 *   requests, `earlier` the expectation of all but the last, and `expect` that of the last;
 * - `cases`: a table; each row is a test of its own that overrides fields of this one (`with` and its headers field
 *   by field; an empty value removes a field). A row that is only a text is a request line. Only rows are run: the
 *   test itself holds the common fields, so running it unchanged needs a row of its own (`- name: plain`);
 * - `steps`: rows likewise, run one after the other with the same counters and turns; `after` advances the clock.
 *
 * Every test, and every row of `cases`, starts with empty counters, turns and clearances. No test waits: the clock
 * is `at` (default 2026-01-01T00:00:00Z) and advances only by `every` and `after`.
 */
import { type Diagnostic, hasErrors, type SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { type Invariant, parseInvariants } from '../model/invariant.ts';
import { readStep, type TestStep } from './test-file-step.ts';
import {
  checkKeys,
  child,
  createNotes,
  foundIn,
  type Item,
  itemsOf,
  type MapItem,
  mapOf,
  type Notes,
  textOf,
  type YamlEntry,
} from './test-file-values.ts';
import { AFTER_KEY, FILE_KEYS, STEP_KEYS } from './test-schema.ts';
import { byPlace, readYaml, readYamlBytes, type YamlFile } from './yaml.ts';

/** A test: requests that share counters and turns of load balancing. */
export interface RuleTest {
  /** `test`, or `test › case`. */
  readonly name: string;
  readonly at: SourcePlace;
  /** At least one for a test without mistakes. */
  readonly steps: readonly TestStep[];
}

/** The result of reading a test file. */
export interface TestFile {
  /** Whether the file has no mistakes. */
  readonly ok: boolean;
  readonly tests: readonly RuleTest[];
  readonly invariants: readonly WrittenInvariant[];
  readonly diagnostics: readonly Diagnostic[];
}

/** An invariant, and where it is written. */
export interface WrittenInvariant {
  readonly invariant: Invariant;
  /** The value in the file, as the API takes it too. */
  readonly written: unknown;
  readonly at: SourcePlace;
}

/** The keys of the file's root. */
const TOP_NAMES = Object.keys(FILE_KEYS);
/** The keys that a test, a row of `cases` and a step share. */
const STEP_NAMES = Object.keys(STEP_KEYS);

/** Reads the text of a test file; `file` is its name in diagnostics. Never throws. */
export function readTestFile(text: string, file: string): TestFile {
  return readTests(readYaml(text, file));
}

/** Reads the octets of a test file, which must be UTF-8. Never throws. */
export function readTestBytes(bytes: Uint8Array, file: string): TestFile {
  return readTests(readYamlBytes(bytes, file));
}

/** Reads the tests and sorts all diagnostics by place. */
function readTests(yaml: YamlFile): TestFile {
  if (!yaml.ok) return { ok: false, tests: [], invariants: [], diagnostics: yaml.diagnostics };
  const notes = createNotes();
  const root = mapOf(itemsOf(yaml), 'a map with a list of `tests`', notes);
  const tests = root === null ? [] : readRoot(root, notes);
  const claims = root === null ? { invariants: [], diagnostics: [] } : readInvariants(root, yaml);
  const diagnostics = [...yaml.diagnostics, ...notes.diagnostics, ...claims.diagnostics].sort(byPlace);
  const ok = notes.diagnostics.length === 0 && !hasErrors(claims.diagnostics);
  return { ok, tests, invariants: claims.invariants, diagnostics };
}

/** Reads `invariants`. */
function readInvariants(root: MapItem, yaml: YamlFile): Pick<TestFile, 'invariants' | 'diagnostics'> {
  const written = (yaml.value as { readonly invariants?: unknown }).invariants;
  if (!root.entries.has('invariants')) return { invariants: [], diagnostics: [] };
  const parsed = parseInvariants(written);
  const diagnostics = parsed.diagnostics.map((diagnostic): Diagnostic => {
    const path = ['invariants', ...diagnostic.path];
    return { ...diagnostic, path, at: yaml.at(path) };
  });
  if (!parsed.ok) return { invariants: [], diagnostics };
  const invariants = parsed.invariants.map((invariant, index) => ({
    invariant,
    written: (written as readonly unknown[])[index],
    at: yaml.at(['invariants', index]),
  }));
  return { invariants, diagnostics };
}

/** Reads `tests` and `defaults`. */
function readRoot(map: MapItem, notes: Notes): readonly RuleTest[] {
  checkKeys(map, TOP_NAMES, notes);
  const list = child(map, 'tests');
  if (list === null && map.entries.has('invariants')) return [];
  if (list === null || list.kind !== 'list') {
    notes.complain(list ?? map, {
      code: 'missing_tests',
      message: 'must hold a list of `tests` or of `invariants`',
    });
    return [];
  }
  const defaults = child(map, 'defaults');
  const base = defaults === null ? null : mapOf(defaults, 'a map like `with`', notes);
  return list.items.flatMap((item) => {
    const test = mapOf(item, 'a test with `name`, `request` and `expect`', notes);
    return test === null ? [] : readTest(withDefaults(test, base), notes);
  });
}

/** The test with the file's `defaults` under its `with`. */
function withDefaults(test: MapItem, base: MapItem | null): MapItem {
  if (base === null) return test;
  const entries = new Map([['with', { at: base.at, item: base }]]);
  return overlay({ ...test, entries }, test);
}

/**
 * Merges two maps; `over` wins. `with` and its headers are merged field by field; an empty value removes a field.
 */
function overlay(under: MapItem, over: MapItem): MapItem {
  const entries = new Map<string, YamlEntry>(under.entries);
  for (const [key, entry] of over.entries) {
    const below = entries.get(key);
    if (entry.item.kind === 'scalar' && entry.item.value === null) entries.delete(key);
    else if (
      (key === 'with' || key === 'headers') &&
      below?.item.kind === 'map' &&
      entry.item.kind === 'map'
    ) {
      entries.set(key, { at: entry.at, item: overlay(below.item, entry.item) });
    } else entries.set(key, entry);
  }
  return { ...over, entries };
}

/** Reads one test: its `cases`, its `steps`, or itself as the only step. */
function readTest(test: MapItem, notes: Notes): readonly RuleTest[] {
  checkKeys(test, [...STEP_NAMES, 'cases', 'steps'], notes);
  const named = child(test, 'name');
  const name = named === null ? notes.complain(test, NAMELESS) : textOf(named, 'a text', notes);
  if (name === null) return [];
  const cases = child(test, 'cases');
  const steps = child(test, 'steps');
  if (cases !== null && steps !== null) {
    const remedy = 'give each row of `cases` steps of its own, or make two tests';
    notes.complain(steps, {
      code: 'cases_and_steps',
      message: 'must not be given together with `cases`',
      remedy,
    });
    return [];
  }
  if (cases !== null)
    return rowsOf(cases, notes).flatMap((row, index) => readCase({ test, name, row, index }, notes));
  const read = steps === null ? [readStep(test, null, notes)] : readSteps(test, steps, notes);
  return [{ name, at: test.at, steps: read.filter((step) => step !== null) }];
}

/** The problem of a test without a name. */
const NAMELESS = {
  code: 'missing_name',
  message: 'must have a `name`',
  remedy: 'describe what the test checks',
} as const;

/** A row of `cases` with the test it belongs to. */
interface Row {
  readonly test: MapItem;
  readonly name: string;
  readonly row: MapItem;
  readonly index: number;
}

/** Reads a row of `cases` as a test of its own. */
function readCase({ test, name, row, index }: Row, notes: Notes): readonly RuleTest[] {
  checkKeys(row, [...STEP_NAMES, 'steps'], notes);
  const whole = overlay(without(test, ['cases', 'name']), row);
  const steps = child(whole, 'steps');
  const read =
    steps === null ? [readStep(whole, null, notes)] : readSteps(without(whole, ['name']), steps, notes);
  return [
    { name: `${name} › ${rowName(row, index)}`, at: row.at, steps: read.filter((step) => step !== null) },
  ];
}

/** Reads `steps`; each step inherits the fields of the test, not those of the step before. */
function readSteps(test: MapItem, list: Item, notes: Notes): readonly (TestStep | null)[] {
  const base = without(test, ['steps', 'name']);
  return rowsOf(list, notes).map((row, index) => {
    checkKeys(row, [...STEP_NAMES, ...Object.keys(AFTER_KEY)], notes);
    const step = readStep(overlay(base, row), rowName(row, index), notes);
    // An inherited `at` sets the clock at the start only; later it advances by `every` and `after`.
    const restarts = step === null || index === 0 || statesTime(row);
    return restarts ? step : { ...step, world: { ...step.world, now: null } };
  });
}

/** Whether a step sets the clock itself. */
function statesTime(row: MapItem): boolean {
  const facts = child(row, 'with');
  return facts?.kind === 'map' && child(facts, 'at') !== null;
}

/** The map without some keys. */
function without(map: MapItem, keys: readonly string[]): MapItem {
  return { ...map, entries: new Map([...map.entries].filter(([key]) => !keys.includes(key))) };
}

/** Reads the rows of a table; a row that is only a text is a request line. */
function rowsOf(list: Item, notes: Notes): readonly MapItem[] {
  if (list.kind !== 'list' || list.items.length === 0) {
    notes.complain(list, { code: 'invalid_type', message: 'must be a list of rows', found: foundIn(list) });
    return [];
  }
  return list.items.flatMap((item): readonly MapItem[] => {
    if (item.kind === 'scalar' && typeof item.value === 'string') {
      return [
        { kind: 'map', path: item.path, at: item.at, entries: new Map([['request', { at: item.at, item }]]) },
      ];
    }
    const map = mapOf(item, 'a row of fields, or a request line', notes);
    return map === null ? [] : [map];
  });
}

/** The name of a row: its `name`, else its request, else its facts, else its number. */
function rowName(row: MapItem, index: number): string {
  for (const key of ['name', 'request']) {
    const item = child(row, key);
    if (item?.kind === 'scalar') return String(item.value);
  }
  const facts = child(row, 'with');
  const parts =
    facts?.kind === 'map' ? [...facts.entries].map(([key, { item }]) => `${key} ${brief(item)}`) : [];
  return parts.length > 0 ? parts.join(', ') : `${index + 1}`;
}

/** A value as part of a row's name. */
function brief(item: Item): string {
  if (item.kind === 'scalar') return item.value === null ? 'none' : String(item.value);
  const parts = item.kind === 'list' ? item.items : [...item.entries.values()].map((entry) => entry.item);
  return parts.map(brief).join(' ');
}
