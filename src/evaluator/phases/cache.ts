/** Phase 9: the first cache rule says whether and under which key the answer is cached. */
import { decodeEscapes } from '../../base/octets.ts';
import { CACHE_MODES, CACHE_QUERY_MODES } from '../../base/vocabulary.ts';
import { CACHE_FIELDS } from '../../plan/fields.ts';
import { FLAG_ACTION_SHIFT, META, SLOT, typeIndex } from '../../plan/layout.ts';
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
export function inDeveloperMode(context: Context): boolean {
  const { meta } = context.loaded.plan;
  return context.facts.now < meta[META.developerHigh]! * 2 ** 32 + meta[META.developerLow]!;
}

/** Sets `run.cache` and returns the part of the visitor's query that goes to the origin. */
export function cache(context: Context, run: Run): string | null {
  const { facts } = context;
  if (inDeveloperMode(context)) {
    run.cache = BYPASS;
    return facts.encodedQuery;
  }
  const slot = nextMatch(context, CACHE);
  if (slot < 0) return facts.encodedQuery;
  record(context, run, slot, 'cache');
  endPhase(context, CACHE);
  const mode = CACHE_MODES[slotWord(context, slot, SLOT.flags) >>> FLAG_ACTION_SHIFT]!;
  if (mode === 'bypass') {
    run.cache = BYPASS;
    return facts.encodedQuery;
  }
  const { words } = context.loaded.plan;
  const fields = slotWord(context, slot, SLOT.fields);
  const kept = keptQuery(context, slot);
  run.cache = {
    mode,
    edgeTtl: lifetime(words[fields + CACHE_FIELDS.edgeTtl]!),
    browserTtl: lifetime(words[fields + CACHE_FIELDS.browserTtl]!),
    key: keyOf(facts, kept),
  };
  return kept;
}

function lifetime(stored: number): number | null {
  return stored === 0 ? null : stored - 1;
}

function keyOf(facts: Facts, query: string | null): string {
  const scheme = facts.https ? 'https' : 'http';
  return `${scheme}://${facts.host}${facts.forwarded}${query === null ? '' : `?${query}`}`;
}

/** The parameters that are part of the key, in their order. */
function keptQuery(context: Context, slot: number): string | null {
  const { facts, loaded } = context;
  const fields = slotWord(context, slot, SLOT.fields);
  const mode = CACHE_QUERY_MODES[loaded.plan.words[fields + CACHE_FIELDS.queryMode]!];
  if (mode === 'all') return facts.encodedQuery;
  if (mode === 'none' || facts.encodedQuery === null) return null;
  const names = keyedNames(context, slot);
  const kept = facts.encodedQuery.split('&').filter((piece) => piece !== '' && names.has(nameOf(piece)));
  return kept.length === 0 ? null : kept.join('&');
}

function keyedNames(context: Context, slot: number): ReadonlySet<string> {
  const known = context.keyedNames.get(slot);
  if (known !== undefined) return known;
  const names = new Set(textsAt(context.loaded, slotWord(context, slot, SLOT.fields) + CACHE_FIELDS.params));
  context.keyedNames.set(slot, names);
  return names;
}

function nameOf(piece: string): string {
  const equals = piece.indexOf('=');
  return decodeEscapes(equals < 0 ? piece : piece.slice(0, equals));
}
