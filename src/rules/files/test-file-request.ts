/**
 * Reads the request of a test: the request line, and under `with` the facts about the visitor and the state of the
 * edge.
 */
import { parseIp } from '../../base/addresses/ip.ts';
import { MAX_ID } from '../../base/vocabulary/limits.ts';
import { BOT_KINDS } from '../../base/vocabulary/vocabulary.ts';
import { nearest } from '../model/nearest.ts';
import {
  checkKeys,
  child,
  foundIn,
  integerOf,
  mapOf,
  type Notes,
  textOf,
  timeOf,
} from './test-file-notes.ts';
import type { Item, MapItem, ScalarItem } from './test-file-yaml.ts';
import { WITH_KEYS } from './test-schema.ts';

/** The request as the evaluator takes it. An absent field is unknown. */
export interface TestRequest {
  readonly scheme: string;
  readonly method: string;
  readonly host: string;
  /** Path and query exactly as written. */
  readonly target: string;
  readonly headers: Readonly<Record<string, string | readonly string[]>>;
  readonly ip?: string;
  readonly country?: string;
  readonly bot?: { readonly kind: string; readonly verified: boolean } | null;
  readonly ja4?: string;
  readonly ja4h?: string;
  readonly body?: string;
}

/** What a decision depends on besides the request and the rules. */
export interface TestWorld {
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
export function readRequest(
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
    ja4: read('ja4', (item) => textOf(item, 'a text', notes)),
    ja4h: read('ja4h', (item) => textOf(item, 'a text', notes)),
    body: read('body', (item) => textOf(item, 'a text', notes)),
  };
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

/** Reads a text or a list of texts. */
function readTexts(item: Item, notes: Notes): readonly string[] {
  const items = item.kind === 'list' ? item.items : [item];
  return items.flatMap((entry) => textOf(entry, 'a text', notes) ?? []);
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
