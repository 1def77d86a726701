/**
 * Reads `edge.test.yaml`: requests, and what is expected of them. In goes a text, out come tests with every `cases`
 * table and every inherited field spelled out, or all mistakes with their lines. What an expectation means is settled
 * later, against the rules (`simulator/rule-tests/expectation.ts`); here it stays the part of the file it is.
 *
 * A file holds `tests`, a list, and optionally `defaults`, a `with` for all of them. A test holds
 * - `name`, and `request`: a method and a whole URL, taken as written;
 * - `with`: `ip`, `country`, `bot`, `ja4`, `ja4h`, `headers`, `user_agent`, `body`, `cleared`, `at`, and the edge's own
 *   side: `node`, `down` (addresses of pool origins), `busy` (address to requests in flight);
 * - `expect`: what the visitor gets, and `would`: what the shadow does, `nothing` when no dry_run rule matched;
 * - `response`: a status, and `by: origin` or `by: edge`; then `expect` is about the error page;
 * - `repeat`: how often the request is sent, or `{ times, every, earlier }`: `every` is the time between two requests,
 *   `earlier` what each but the last must get, while `expect` is what the last one gets;
 * - `cases`: a table; each row is a test of its own that overrides fields of this one (`with` and its headers field by
 *   field; an empty value takes a field away). A row that is only a text is a request line. Only rows are run: what the
 *   test itself holds is what they have in common, so its request as it stands needs a row of its own (`- name: plain`);
 * - `steps`: rows likewise, but run one after the other against the same counters and turns; `after` moves the clock.
 *
 * Every test, and every row of `cases`, starts with counters, turns and clearance empty. Nothing sleeps: the clock is
 * `at` (default 2026-01-01T00:00:00Z) and moves only by `every` and `after`.
 */
import type { Diagnostic, SourcePlace } from '../base/diagnostic.ts';
import { checkKeys, child, createNotes, foundIn, mapOf, type Notes, textOf } from './test-file-notes.ts';
import { readStep, type TestStep } from './test-file-step.ts';
import { type Item, itemsOf, type MapItem, type YamlEntry } from './test-file-yaml.ts';
import { byPlace, readYaml, readYamlBytes, type YamlFile } from './yaml.ts';

/** Requests that share counters and turns. */
export interface RuleTest {
  /** `test`, or `test › case`. */
  readonly name: string;
  readonly at: SourcePlace;
  readonly steps: readonly TestStep[];
}

export interface TestFile {
  /** No mistake was found. */
  readonly ok: boolean;
  readonly tests: readonly RuleTest[];
  readonly diagnostics: readonly Diagnostic[];
}

const FILE_KEYS = ['tests', 'defaults'] as const;
const STEP_KEYS = ['name', 'request', 'with', 'expect', 'would', 'response', 'repeat'] as const;
const TEST_KEYS = [...STEP_KEYS, 'cases', 'steps'] as const;

/** Reads the text of a test file; `file` names it in diagnostics. Never throws. */
export function readTestFile(text: string, file: string): TestFile {
  return readTests(readYaml(text, file));
}

/** Reads a test file's octets, which must be UTF-8. */
export function readTestBytes(bytes: Uint8Array, file: string): TestFile {
  return readTests(readYamlBytes(bytes, file));
}

function readTests(yaml: YamlFile): TestFile {
  if (!yaml.ok) return { ok: false, tests: [], diagnostics: yaml.diagnostics };
  const notes = createNotes();
  const tests = readRoot(itemsOf(yaml), notes);
  const diagnostics = [...yaml.diagnostics, ...notes.diagnostics].sort(byPlace);
  return { ok: notes.diagnostics.length === 0, tests, diagnostics };
}

function readRoot(root: Item, notes: Notes): readonly RuleTest[] {
  const map = mapOf(root, 'a map with a list of `tests`', notes);
  if (map === null) return [];
  checkKeys(map, FILE_KEYS, notes);
  const list = child(map, 'tests');
  if (list === null || list.kind !== 'list') {
    notes.complain(list ?? map, { code: 'missing_tests', message: 'must hold a list of `tests`' });
    return [];
  }
  const defaults = child(map, 'defaults');
  const base = defaults === null ? null : mapOf(defaults, 'a map like `with`', notes);
  return list.items.flatMap((item) => {
    const test = mapOf(item, 'a test with `name`, `request` and `expect`', notes);
    return test === null ? [] : readTest(withDefaults(test, base), notes);
  });
}

function withDefaults(test: MapItem, base: MapItem | null): MapItem {
  if (base === null) return test;
  const entries = new Map([['with', { at: base.at, item: base }]]);
  return overlay({ ...test, entries }, test);
}

/** A map with the fields of another on top. `with` and its headers go field by field; an empty value takes one away. */
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

function readTest(test: MapItem, notes: Notes): readonly RuleTest[] {
  checkKeys(test, TEST_KEYS, notes);
  const named = child(test, 'name');
  const name = named === null ? notes.complain(test, NAMELESS) : textOf(named, 'a text', notes);
  if (name === null) return [];
  const cases = child(test, 'cases');
  const steps = child(test, 'steps');
  if (cases !== null && steps !== null) {
    const remedy = 'give each row of `cases` steps of its own, or make two tests';
    notes.complain(steps, { code: 'cases_and_steps', message: 'must not stand beside `cases`', remedy });
    return [];
  }
  if (cases !== null)
    return rowsOf(cases, notes).flatMap((row, index) => readCase({ test, name, row, index }, notes));
  const read = steps === null ? [readStep(test, null, notes)] : readSteps(test, steps, notes);
  return [{ name, at: test.at, steps: read.filter((step) => step !== null) }];
}

const NAMELESS = {
  code: 'missing_name',
  message: 'must have a `name`',
  remedy: 'say what the test shows',
} as const;

interface Row {
  readonly test: MapItem;
  readonly name: string;
  readonly row: MapItem;
  readonly index: number;
}

function readCase({ test, name, row, index }: Row, notes: Notes): readonly RuleTest[] {
  checkKeys(row, [...STEP_KEYS, 'steps'], notes);
  const whole = overlay(without(test, ['cases', 'name']), row);
  const steps = child(whole, 'steps');
  const read =
    steps === null ? [readStep(whole, null, notes)] : readSteps(without(whole, ['name']), steps, notes);
  return [
    { name: `${name} › ${rowName(row, index)}`, at: row.at, steps: read.filter((step) => step !== null) },
  ];
}

function readSteps(test: MapItem, list: Item, notes: Notes): readonly (TestStep | null)[] {
  const base = without(test, ['steps', 'name']);
  return rowsOf(list, notes).map((row, index) => {
    checkKeys(row, [...STEP_KEYS, 'after'], notes);
    const step = readStep(overlay(base, row), rowName(row, index), notes);
    // An inherited `at` starts the test; after that the clock moves by `every` and `after` alone.
    const restarts = step === null || index === 0 || statesTime(row);
    return restarts ? step : { ...step, world: { ...step.world, now: null } };
  });
}

function statesTime(row: MapItem): boolean {
  const facts = child(row, 'with');
  return facts?.kind === 'map' && child(facts, 'at') !== null;
}

function without(map: MapItem, keys: readonly string[]): MapItem {
  return { ...map, entries: new Map([...map.entries].filter(([key]) => !keys.includes(key))) };
}

/** Rows of a table; a text alone is a request line. */
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

/** What a row is called: its name, what sets it apart from its neighbours, or its number. */
function rowName(row: MapItem, index: number): string {
  for (const key of ['name', 'request']) {
    const item = child(row, key);
    if (item?.kind === 'scalar') return String(item.value);
  }
  const facts = child(row, 'with');
  const told =
    facts?.kind === 'map' ? [...facts.entries].map(([key, { item }]) => `${key} ${brief(item)}`) : [];
  return told.length > 0 ? told.join(', ') : `${index + 1}`;
}

function brief(item: Item): string {
  if (item.kind === 'scalar') return item.value === null ? 'none' : String(item.value);
  const parts = item.kind === 'list' ? item.items : [...item.entries.values()].map((entry) => entry.item);
  return parts.map(brief).join(' ');
}
