/** One request of a test and what is expected of it: how often it is sent, and of what the expectation is. */
import type { SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { MAX_REPEAT } from './limits.ts';
import { checkKeys, child, durationOf, foundIn, integerOf, mapOf, type Notes } from './test-file-notes.ts';
import { readRequest, type TestRequest, type TestWorld } from './test-file-request.ts';
import type { Item, MapItem } from './test-file-yaml.ts';
import { REPEAT_KEYS, RESPONSE_KEYS } from './test-schema.ts';

/** One request of a test, sent once or several times. */
export interface TestStep {
  /** `null` for a test of one request. */
  readonly name: string | null;
  /** The request line as written. */
  readonly line: string;
  readonly at: SourcePlace;
  readonly request: TestRequest;
  readonly world: TestWorld;
  /** Milliseconds by which the clock advances before this step. */
  readonly afterMs: number;
  readonly times: number;
  /** Milliseconds between two requests of a `repeat`. */
  readonly everyMs: number;
  /** The expectation of each request but the last. */
  readonly earlier: Item | null;
  readonly expect: Item | null;
  readonly would: Item | null;
  readonly response: { readonly status: number; readonly by: 'origin' | 'edge' } | null;
}

/** Reads one request with its expectations. Returns `null` when a mistake leaves nothing to send. */
export function readStep(map: MapItem, name: string | null, notes: Notes): TestStep | null {
  const line = child(map, 'request');
  if (line === null) {
    const remedy = 'write for example `request: GET https://shop.example.com/cart`';
    return notes.complain(map, { code: 'missing_request', message: 'must have a `request`', remedy });
  }
  const facts = child(map, 'with');
  const known = facts === null ? null : mapOf(facts, 'a map of facts about the request', notes);
  const read = readRequest(line, known, notes);
  const after = child(map, 'after');
  const repeat = readRepeat(child(map, 'repeat'), notes);
  const expected = {
    expect: child(map, 'expect'),
    would: child(map, 'would'),
    response: readResponse(child(map, 'response'), notes),
  };
  if (expected.response !== null && repeat.earlier !== null) {
    const remedy = 'put the requests before into a step of their own';
    notes.complain(repeat.earlier, {
      code: 'earlier_pages',
      message: 'must not be given together with a `response`',
      remedy,
    });
  }
  if (expected.expect === null && expected.would === null) {
    const remedy = 'write for example `expect: forward`, or `would: nothing`';
    return notes.complain(map, { code: 'nothing_expected', message: 'must say what to `expect`', remedy });
  }
  if (read === null) return null;
  const at = map.entries.get('expect')?.at ?? map.at;
  const afterMs = after === null ? 0 : (durationOf(after, notes) ?? 0);
  const text = line.kind === 'scalar' ? String(line.value) : '';
  return {
    name,
    line: text,
    at: at.line >= map.at.line ? at : map.at,
    ...read,
    afterMs,
    ...repeat,
    ...expected,
  };
}

/** How often and at which interval a step is sent. */
type Repeat = Pick<TestStep, 'times' | 'everyMs' | 'earlier'>;

/** Reads `repeat`: a number, or `{ times, every, earlier }`. */
function readRepeat(item: Item | null, notes: Notes): Repeat {
  const once: Repeat = { times: 1, everyMs: 0, earlier: null };
  if (item === null) return once;
  const bounds = { least: 1, most: MAX_REPEAT };
  if (item.kind !== 'map') return { ...once, times: integerOf(item, bounds, notes) ?? 1 };
  checkKeys(item, Object.keys(REPEAT_KEYS), notes);
  const times = child(item, 'times');
  if (times === null) notes.complain(item, { code: 'missing_times', message: 'must say how many `times`' });
  const every = child(item, 'every');
  return {
    times: times === null ? 1 : (integerOf(times, bounds, notes) ?? 1),
    everyMs: every === null ? 0 : (durationOf(every, notes) ?? 0),
    earlier: child(item, 'earlier'),
  };
}

/** Reads `response`: the status of an error page, and who makes it; `by` defaults to `origin`. */
function readResponse(item: Item | null, notes: Notes): TestStep['response'] {
  if (item === null) return null;
  const map = mapOf(item, 'a map with `status` and `by`', notes);
  if (map === null) return null;
  checkKeys(map, Object.keys(RESPONSE_KEYS), notes);
  const status = child(map, 'status');
  if (status === null)
    return notes.complain(map, { code: 'missing_status', message: 'must have a `status`' });
  const code = integerOf(status, { least: 100, most: 599 }, notes);
  const by = child(map, 'by');
  const maker = by === null ? 'origin' : by.kind === 'scalar' ? by.value : null;
  if (maker !== 'origin' && maker !== 'edge') {
    return notes.complain(by ?? map, {
      code: 'invalid_maker',
      message: 'must be `origin` or `edge`',
      found: by === null ? 'nothing' : foundIn(by),
    });
  }
  return code === null ? null : { status: code, by: maker };
}
