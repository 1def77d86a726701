/** Reads expectations that are written as fields of a decision, in snake_case or as the JSON output spells them. */
import { ACTION_MODES } from '../../base/vocabulary/vocabulary.ts';
import { EFFECTS, type RuleRef } from '../../engine/evaluator/decision.ts';
import {
  checkKeys,
  foundIn,
  type Item,
  type MapItem,
  mapOf,
  type Notes,
} from '../../rules/files/test-file-values.ts';
import type {
  CACHE_KEYS,
  DECISION_KEYS,
  ORIGIN_KEYS,
  PAGE_KEYS,
  WAF_KEYS,
} from '../simulation/expected-schema.ts';
import type { RuleNames } from './names.ts';

/** Expected fields as plain data; an absent field may have any value. */
export type ExpectedFields = Readonly<Record<string, unknown>>;

/** What reading an expectation depends on. */
export interface ExpectationContext {
  readonly names: RuleNames;
  readonly notes: Notes;
  /** `page`: the test has a `response`. */
  readonly about: 'decision' | 'page';
  /** Whether the expectation is under `would`. */
  readonly shadow: boolean;
}

/** Reads the value of one field. */
type Reader = (item: Item, context: ExpectationContext) => unknown;

/** What a reader returns after a mistake; no field has this value. */
const INVALID = Symbol('wrong');

/** Any scalar. */
const plain: Reader = (item, { notes }) => {
  if (item.kind === 'scalar') return item.value;
  notes.complain(item, { code: 'invalid_type', message: 'must be one value', found: foundIn(item) });
  return INVALID;
};

/** A rule by name, or null. */
const rule: Reader = (item, { names, notes }) => {
  if (item.kind === 'scalar' && item.value === null) return null;
  const named = names.find(item.kind === 'scalar' ? String(item.value) : '');
  if (named.ok) return named.ref;
  notes.complain(item, { code: 'unknown_rule', message: named.message, remedy: named.remedy });
  return INVALID;
};

/** A list of rules, as tags spell them. */
const tags: Reader = (item, context) => {
  if (item.kind !== 'list') return expectList(item, context);
  const refs = item.items.map((tag) => rule(tag, context));
  return refs.map((ref) => (isRef(ref) ? context.names.textOf(ref) : INVALID));
};

/** A list of scalars. */
const numbers: Reader = (item, context) => {
  return item.kind === 'list' ? item.items.map((one) => plain(one, context)) : expectList(item, context);
};

/** A list of matches. */
const matches: Reader = (item, context) => {
  return item.kind === 'list' ? item.items.map((one) => match(one, context)) : expectList(item, context);
};

/** Headers by name: a text, or null for one that is removed. */
const headers: Reader = (item, context) => {
  const map = mapOf(item, 'a map of names of headers', context.notes);
  if (map === null) return INVALID;
  return Object.fromEntries(
    [...map.entries].map(([name, { item: value }]) => {
      const read = plain(value, context);
      return [name.toLowerCase(), typeof read === 'number' ? String(read) : read];
    }),
  );
};

/** Reports a value that is not a list. */
function expectList(item: Item, { notes }: ExpectationContext): symbol {
  notes.complain(item, { code: 'invalid_type', message: 'must be a list', found: foundIn(item) });
  return INVALID;
}

function isRef(value: unknown): value is RuleRef {
  return typeof value === 'object' && value !== null && 'id' in value;
}

/** Reads a match such as `drop/embargo block dry_run`: a rule, and optionally its effect and mode in any order. */
function match(item: Item, context: ExpectationContext): unknown {
  if (item.kind !== 'scalar' || typeof item.value !== 'string') {
    const message = 'must be a match such as `drop/embargo block dry_run`';
    context.notes.complain(item, { code: 'invalid_type', message, found: foundIn(item) });
    return INVALID;
  }
  const [name = '', ...words] = item.value.trim().split(/\s+/);
  const ref = rule({ ...item, value: name }, context);
  const effect = words.find((word) => EFFECTS.some((known) => known === word));
  const mode = words.find((word) => ACTION_MODES.some((known) => known === word));
  const odd = words.find((word) => word !== effect && word !== mode);
  if (odd !== undefined) {
    const remedy = `write one of ${EFFECTS.join(', ')}, and enforce or dry_run`;
    context.notes.complain(item, {
      code: 'unknown_effect',
      message: `\`${odd}\` is not an effect of a rule`,
      remedy,
    });
  }
  if (!isRef(ref) || odd !== undefined) return INVALID;
  return { ...ref, ...(effect === undefined ? {} : { effect }), ...(mode === undefined ? {} : { mode }) };
}

/** Readers by the name that a file uses; `name` is the decision's own. */
type Readers = Readonly<Record<string, readonly [name: string, read: Reader]>>;

/** A reader for each documented field. */
type ReadersOf<Keys> = { readonly [Key in keyof Keys]: readonly [name: string, read: Reader] };

/** Fields of a decision by the names a file may use for them. */
const DECISION = {
  action: ['action', plain],
  status: ['status', plain],
  rule: ['rule', rule],
  location: ['location', plain],
  body: ['body', plain],
  origin: ['origin', nested(origins())],
  path: ['path', plain],
  query: ['query', plain],
  cache: ['cache', nested(caches())],
  tags: ['tags', tags],
  retry_after: ['retryAfter', plain],
  waf: ['waf', nested(verdicts())],
  request_headers: ['requestHeaders', headers],
  response_headers: ['responseHeaders', headers],
  matches: ['matches', matches],
} satisfies ReadersOf<typeof DECISION_KEYS>;

/** Fields of an error page. */
const PAGE = {
  kind: ['kind', plain],
  html: ['html', plain],
  rule: ['rule', rule],
} satisfies ReadersOf<typeof PAGE_KEYS>;

/** Fields of `origin`. */
function origins(): ReadersOf<typeof ORIGIN_KEYS> {
  return {
    address: ['address', plain],
    port: ['port', plain],
    scheme: ['scheme', plain],
    host_header: ['hostHeader', plain],
    source: ['source', plain],
  };
}

/** Fields of `cache`. */
function caches(): ReadersOf<typeof CACHE_KEYS> {
  return {
    mode: ['mode', plain],
    edge_ttl: ['edgeTtl', plain],
    browser_ttl: ['browserTtl', plain],
    key: ['key', plain],
  };
}

/** Fields of `waf`. */
function verdicts(): ReadersOf<typeof WAF_KEYS> {
  return {
    score: ['score', plain],
    ids: ['ids', numbers],
    truncated: ['truncated', plain],
    exhausted: ['exhausted', plain],
    denied: ['denied', plain],
    body_error: ['bodyError', plain],
    uninspected: ['uninspected', plain],
  };
}

/** Reads an object of fields, or null. */
function nested(readers: Readers): Reader {
  return (item, context) => {
    if (item.kind === 'scalar' && item.value === null) return null;
    const map = mapOf(item, 'a map of fields, or null', context.notes);
    return map === null ? INVALID : readMap(map, readers, context);
  };
}

/** Reads the fields of a decision; `null` after a mistake. */
export function readFields(map: MapItem, context: ExpectationContext): ExpectedFields | null {
  return unlessInvalid(readMap(map, DECISION, context));
}

/** Reads the fields of an error page; `null` after a mistake. */
export function readPageFields(map: MapItem, context: ExpectationContext): ExpectedFields | null {
  return unlessInvalid(readMap(map, PAGE, context));
}

/** Reads the known fields of a map; reports the others. */
function readMap(map: MapItem, readers: Readers, context: ExpectationContext): ExpectedFields {
  const known = Object.keys(readers);
  const camel = new Map(Object.entries(readers).map(([key, [name]]) => [name, key]));
  checkKeys(
    map,
    [...known, ...camel.keys()].filter((key) => map.entries.has(key) || known.includes(key)),
    context.notes,
  );
  const fields: Record<string, unknown> = {};
  for (const [key, { item }] of map.entries) {
    const reader = readers[key] ?? readers[camel.get(key) ?? ''];
    if (reader !== undefined) fields[reader[0]] = reader[1](item, context);
  }
  return fields;
}

function unlessInvalid(fields: ExpectedFields): ExpectedFields | null {
  return containsInvalid(fields) ? null : fields;
}

function containsInvalid(value: unknown): boolean {
  if (value === INVALID) return true;
  return typeof value === 'object' && value !== null && Object.values(value).some(containsInvalid);
}
