/** Phase 9: the first cache rule decides whether and under which key the response is cached. */
import { decodeEscapes } from '../../../base/octets/octets.ts';
import { CACHE_MODES, CACHE_QUERY_MODES } from '../../../base/vocabulary/vocabulary.ts';
import { CACHE_FIELDS, FLAG_ACTION_SHIFT, META, SLOT, typeIndex } from '../../plan/layout.ts';
import type { RuleExplanation } from '../checks.ts';
import type { CacheDirective } from '../decision.ts';
import type { Facts } from '../facts.ts';
import { textsAt } from '../loaded.ts';
import { type Context, endPhase, nextMatch, type Run, record, slotWord } from '../run.ts';

const CACHE = typeIndex('cache');

/** Neither read from the cache nor written to it. */
export const BYPASS: CacheDirective = Object.freeze({
  mode: 'bypass',
  edgeTtl: null,
  browserTtl: null,
  key: null,
});

/** Whether the domain's developer mode is on; it bypasses the cache whole. */
function inDeveloperMode(context: Context): boolean {
  const { meta } = context.loaded.plan;
  return context.facts.now < meta[META.developerHigh]! * 2 ** 32 + meta[META.developerLow]!;
}

/**
 * Writes `run.cache`, and to `run.query` the part of the visitor's query that goes to the origin. Never ends a request.
 */
export function cache(context: Context, run: Run): false {
  if (inDeveloperMode(context)) return cacheWithoutRules(context, run);
  const slot = nextMatch(context, CACHE);
  if (slot < 0) return cacheWithoutRules(context, run);
  record(context, run, slot, 'cache');
  endPhase(context, CACHE);
  const mode = CACHE_MODES[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT]!;
  const { facts } = context;
  if (mode === 'bypass') {
    run.cache = BYPASS;
    run.query = facts.encodedQuery;
    return false;
  }
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  run.query = keyedQuery(context, slot);
  run.cache = {
    mode,
    edgeTtl: lifetime(words[fields + CACHE_FIELDS.edgeTtl]!),
    browserTtl: lifetime(words[fields + CACHE_FIELDS.browserTtl]!),
    key: keyOf(facts, run.query),
  };
  return false;
}

/** Runs the phase if no rule matches: only developer mode has an effect. */
export function cacheWithoutRules(context: Context, run: Run): false {
  if (inDeveloperMode(context)) run.cache = BYPASS;
  run.query = context.facts.encodedQuery;
  return false;
}

/** The phase for a request that passes it: one of a pinned origin is never cached. */
export function passCache(context: Context, run: Run): void {
  cacheWithoutRules(context, run);
  if (run.pinned >= 0) run.cache = BYPASS;
}

/** Seconds; the plan stores 0 for `null`, else one more than the value. */
function lifetime(stored: number): number | null {
  return stored === 0 ? null : stored - 1;
}

/** The cache key: the URL with its canonical host, the path as forwarded, and the keyed query. */
function keyOf(facts: Facts, query: string | null): string {
  const scheme = facts.https ? 'https' : 'http';
  return `${scheme}://${facts.host}${facts.forwarded}${query === null ? '' : `?${query}`}`;
}

/** The parameters of the query that are part of the key, in the request's order. */
function keyedQuery(context: Context, slot: number): string | null {
  const { facts, loaded } = context;
  const fields = slotWord(context, slot, SLOT.fields);
  const mode = CACHE_QUERY_MODES[loaded.plan.words[fields + CACHE_FIELDS.queryMode]!];
  if (mode === 'all') return facts.encodedQuery;
  if (mode === 'none' || facts.encodedQuery === null) return null;
  const names = keyedNames(context, slot);
  const pairs = facts.encodedQuery.split('&').filter((pair) => pair !== '' && names.has(nameOf(pair)));
  return pairs.length === 0 ? null : pairs.join('&');
}

/** The names of the parameters that a rule keys by, decoded at their first use. */
function keyedNames(context: Context, slot: number): ReadonlySet<string> {
  const decoded = context.keyedNames.get(slot);
  if (decoded !== undefined) return decoded;
  const names = new Set(textsAt(context.loaded, slotWord(context, slot, SLOT.fields) + CACHE_FIELDS.params));
  context.keyedNames.set(slot, names);
  return names;
}

/** The decoded name of a `name=value` pair. */
function nameOf(pair: string): string {
  const equals = pair.indexOf('=');
  return decodeEscapes(equals < 0 ? pair : pair.slice(0, equals));
}

const DEVELOPER_MODE = 'developer mode bypasses the cache';

/** The note of a trace about developer mode. */
export function developerModeNote(context: Context): string | null {
  return inDeveloperMode(context) ? DEVELOPER_MODE : null;
}

/** What a trace says of cache rules. */
export const cacheExplanation: RuleExplanation = {
  reason: ({ decision: { cache: directive } }) => {
    const isBypassed = directive === null || directive.key === null;
    const text = isBypassed ? 'the cache is bypassed' : `${directive.mode}, key ${directive.key}`;
    return { code: 'cached', text };
  },
  overridden: ({ context }) =>
    inDeveloperMode(context) ? { code: 'developer_mode', text: DEVELOPER_MODE } : null,
};
