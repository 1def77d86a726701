/**
 * Reads one request of a test: the request line, the facts about the visitor and the state of the edge under `with`, how
 * often it is sent, and of what the expectation is.
 */
import { parseIp } from '../../base/addresses/ip.ts';
import type { SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import { MAX_ASN, MAX_ID } from '../../base/vocabulary/limits.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { nearest } from '../model/nearest.ts';
import { readIdentity, type TestIdentity } from './test-file-identity.ts';
import {
  checkKeys,
  child,
  durationOf,
  foundIn,
  type Item,
  integerOf,
  type MapItem,
  mapOf,
  type Notes,
  readTexts,
  type ScalarItem,
  textOf,
  timeOf,
} from './test-file-values.ts';
import { MAX_REPEAT, REPEAT_KEYS, RESPONSE_KEYS, WITH_KEYS } from './test-schema.ts';

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

// Reads the request of a test: the request line, and under `with` the facts about the visitor and the state of the
// edge.

/** The request as the evaluator takes it. An absent field is unknown. */
interface TestRequest {
  readonly scheme: string;
  readonly method: string;
  readonly host: string;
  /** Path and query exactly as written. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly ip?: string;
  readonly country?: string;
  readonly asn?: number;
  readonly bot?: { readonly kind: string; readonly verified: boolean } | null;
  readonly ja4?: string;
  readonly ja4h?: string;
  readonly body?: string;
  readonly identity?: TestIdentity;
}

/** What a decision depends on besides the request and the rules. */
interface TestWorld {
  /** Milliseconds since the epoch at the first request; `null`: the default time of tests. */
  readonly now: number | null;
  /** Challenges that the visitor has solved, as `<type>/<key>`; the simulator resolves them to rules. */
  readonly cleared: readonly ScalarItem[];
  /** The edge node's id, for geo pools. */
  readonly node: number | null;
  /** Addresses of pool origins that fail their health checks, as a rule spells them. */
  readonly down: readonly ScalarItem[];
  /** The number of open requests per pool origin. */
  readonly busy: readonly Busy[];
}

/** The number of open requests to one origin. */
export interface Busy {
  /** The origin's address, with its place in the file. */
  readonly address: ScalarItem;
  readonly count: number;
}

/** A request line, split; `target` is path and query. */
interface Line {
  readonly method: string;
  readonly scheme: string;
  readonly host: string;
  readonly target: string;
}

/**
 * Reads `GET https://shop.example.com/api/orders?id=7`; the method defaults to GET. The path is not normalised.
 * Returns `null` after reporting a mistake.
 */
export function readRequestLine(item: Item, notes: Notes): Line | null {
  const text = textOf(item, 'a request line such as `GET https://shop.example.com/cart`', notes);
  if (text === null) return null;
  const wrong = (message: string, remedy: string): null =>
    notes.complain(item, { code: 'invalid_request', message, found: foundIn(item), remedy });
  const parts = /^(?:([A-Za-z]+)[ \t]+)?([A-Za-z][A-Za-z0-9+.-]*):\/\/([^/?#\s]*)([^#\s]*)(#?)(.*)$/s.exec(
    text.trim(),
  );
  const scheme = parts?.[2]?.toLowerCase() ?? '';
  if (parts === null || (scheme !== 'http' && scheme !== 'https')) {
    return wrong(
      'must hold a whole http or https URL',
      'write for example `GET https://shop.example.com/cart`',
    );
  }
  const [, method = 'GET', , host = '', rest = '', fragment, tail] = parts;
  if (host === '') return wrong('names no host', 'write for example `GET https://shop.example.com/cart`');
  if (host.includes('@')) return wrong('holds a user name, which is not part of a request', 'leave it out');
  if (fragment === '#')
    return wrong('holds a fragment, which browsers never send', 'leave out `#` and what follows');
  if (tail !== '') return wrong('holds a space', 'write it as `%20`');
  return { method, scheme, host, target: rest.startsWith('/') ? rest : `/${rest}` };
}

/**
 * Reads a request line together with `with`. Returns `null` when the line has a mistake; mistakes in `with` are
 * reported and the field is left out. A `host` header replaces the host of the URL.
 */
function readRequest(
  line: Item,
  facts: MapItem | null,
  notes: Notes,
): { readonly request: TestRequest; readonly world: TestWorld } | null {
  if (facts !== null) checkKeys(facts, Object.keys(WITH_KEYS), notes);
  const read = <T>(key: keyof typeof WITH_KEYS, reader: (item: Item) => T | null): T | null => {
    const item = facts === null ? null : child(facts, key);
    return item === null ? null : reader(item);
  };
  const first = readRequestLine(line, notes);
  const headers = { ...read('headers', (item) => readHeaders(item, notes)) };
  const agent = read('user_agent', (item) => textOf(item, 'a text', notes));
  if (agent !== null) headers['user-agent'] = agent;
  const { host: sent, ...others } = headers;
  const known = {
    ip: read('ip', (item) => readIp(item, notes)),
    country: read('country', (item) => readCountry(item, notes)),
    asn: read('asn', (item) => readAsn(item, notes)),
    ja4: read('ja4', (item) => textOf(item, 'a text', notes)),
    ja4h: read('ja4h', (item) => textOf(item, 'a text', notes)),
    body: read('body', (item) => textOf(item, 'a text', notes)),
  };
  const identity = facts === null ? null : readIdentity(facts, notes);
  const bot = read('bot', (item) => readBot(item, notes));
  const world: TestWorld = {
    now: read('at', (item) => timeOf(item, notes)),
    cleared: read('cleared', (item) => readCleared(item, notes)) ?? [],
    node: read('node', (item) => integerOf(item, { least: 0, most: MAX_ID }, notes)),
    down: read('down', (item) => readDown(item, notes)) ?? [],
    busy: read('busy', (item) => readBusy(item, notes)) ?? [],
  };
  if (first === null) return null;
  const givenFields = Object.fromEntries(Object.entries(known).filter(([, value]) => value !== null));
  const request: TestRequest = {
    ...first,
    host: typeof sent === 'string' ? sent : first.host,
    headers: others,
    ...givenFields,
    ...(bot === null ? {} : { bot: bot.value }),
    ...(identity === null ? {} : { identity }),
  };
  return { request, world };
}

/** Reads headers; names become lower case, a list is a header that is sent several times. */
function readHeaders(item: Item, notes: Notes): Record<string, string | readonly string[]> {
  const map = mapOf(item, 'a map of header names to values', notes);
  const headers: Record<string, string | readonly string[]> = {};
  for (const [name, entry] of map?.entries ?? []) {
    const value =
      entry.item.kind === 'list' ? readTexts(entry.item, notes) : textOf(entry.item, 'a text', notes);
    if (value !== null) headers[name.toLowerCase()] = value;
  }
  return headers;
}

/** Reads an address; `unknown` is an absent address, as for a visitor whose address the edge cannot see. */
function readIp(item: Item, notes: Notes): string | null {
  const text = textOf(item, 'an IPv4 or IPv6 address', notes);
  if (text === null || text === 'unknown') return null;
  if (parseIp(text, new Uint32Array(4)) !== 0) return text;
  const message = 'must be an IPv4 or IPv6 address';
  const remedy = 'leave it out, or write `unknown`, for a visitor without one';
  return notes.complain(item, { code: 'invalid_ip', message, found: foundIn(item), remedy });
}

/** Reads a country code of two letters; `unknown` is an absent country. */
function readCountry(item: Item, notes: Notes): string | null {
  const text = textOf(item, 'a country', notes);
  if (text === null || text === 'unknown') return null;
  if (/^[A-Za-z]{2}$/.test(text)) return text.toUpperCase();
  const message = 'must be a country of two letters';
  const remedy = 'write for example `DE`, or `unknown`';
  return notes.complain(item, { code: 'invalid_country', message, found: foundIn(item), remedy });
}

/** Reads the number of an autonomous system; `unknown` is an absent one. */
function readAsn(item: Item, notes: Notes): number | null {
  if (item.kind === 'scalar' && item.value === 'unknown') return null;
  return integerOf(item, { least: 1, most: MAX_ASN }, notes);
}

/** The result of reading `bot`, wrapped so that `null` can mean a mistake. */
interface Bot {
  /** `null`: the visitor is not a bot. */
  readonly value: { readonly kind: string; readonly verified: boolean } | null;
}

/** Reads a kind, `{ kind, verified }`, or `none`. */
function readBot(item: Item, notes: Notes): Bot | null {
  if (item.kind === 'scalar' && item.value === 'none') return { value: null };
  if (item.kind !== 'map') return withKind(item, false, notes);
  checkKeys(item, ['kind', 'verified'], notes);
  const kind = child(item, 'kind');
  if (kind === null)
    return notes.complain(item, { code: 'missing_kind', message: 'must name the `kind` of bot' });
  const verified = child(item, 'verified');
  if (verified !== null && !(verified.kind === 'scalar' && typeof verified.value === 'boolean')) {
    return notes.complain(verified, {
      code: 'invalid_type',
      message: 'must be true or false',
      found: foundIn(verified),
    });
  }
  return withKind(kind, verified?.kind === 'scalar' && verified.value === true, notes);
}

/** Checks the kind against `BOT_KINDS`. */
function withKind(item: Item, verified: boolean, notes: Notes): Bot | null {
  const kind = textOf(item, 'a kind of bot, or `none`', notes);
  if (kind === null) return null;
  if (BOT_KINDS.some((known) => known === kind)) return { value: { kind, verified } };
  const closest = nearest(kind, BOT_KINDS);
  const remedy = closest === null ? `write one of ${BOT_KINDS.join(', ')}, or none` : `write \`${closest}\``;
  return notes.complain(item, {
    code: 'unknown_bot',
    message: 'is not a kind of bot',
    found: foundIn(item),
    remedy,
  });
}

/** Reads solved challenges; their names are resolved later, against the rules. */
function readCleared(item: Item, notes: Notes): readonly ScalarItem[] {
  const items = item.kind === 'list' ? item.items : [item];
  return items.flatMap((entry) => {
    if (entry.kind === 'scalar' && typeof entry.value === 'string') return [entry];
    const remedy = 'write for example `[captcha/login]`';
    notes.complain(entry, {
      code: 'invalid_type',
      message: 'must be a challenge',
      found: foundIn(entry),
      remedy,
    });
    return [];
  });
}

/** Reads the addresses of origins that are down. */
function readDown(item: Item, notes: Notes): readonly ScalarItem[] {
  const items = item.kind === 'list' ? item.items : [item];
  return items.flatMap((entry) => {
    const text = textOf(entry, 'the address of a pool origin', notes);
    return text === null ? [] : [{ kind: 'scalar', value: text, path: entry.path, at: entry.at }];
  });
}

/** Reads the number of open requests per origin address. */
function readBusy(item: Item, notes: Notes): readonly Busy[] {
  const map = mapOf(item, 'a map of origin addresses to numbers of open requests', notes);
  return [...(map?.entries ?? [])].flatMap(([address, entry]) => {
    const count = integerOf(entry.item, { least: 0, most: 1_000_000 }, notes);
    const { path } = entry.item;
    return count === null ? [] : [{ address: { kind: 'scalar', value: address, path, at: entry.at }, count }];
  });
}
