/**
 * The rules that could match a request, in evaluation order. Each index of the plan gives the postings that the request
 * touches; the union of those lists is read in ascending slot order, which is evaluation order.
 *
 * Few slots are sorted by insertion. More are merged window by window: a bitset over the next slots is filled from every
 * list and then read, so that a phase that finds its match early never reads the rest of long lists.
 */
import {
  createHits,
  type LiteralHits,
  literalCount,
  resetHits,
  scanAhoCorasick,
} from '../../base/octets/aho-corasick.ts';
import { characterBit, GROUP, LIST, META, NONE, type Plan } from '../plan/layout.ts';
import { hasAddress } from './addresses.ts';
import { botOf, type Facts, ipOf } from './facts.ts';
import {
  createTouched,
  lookUp4,
  lookUp6,
  resetTouched,
  type Touched,
  touch,
  walkBackward,
  walkForward,
} from './indexes.ts';
import { hasCountry, hasNumber, hasText, type OpenedList } from './lists.ts';
import type { LoadedPlan } from './loaded.ts';
import type { LoadedConditions, LoadedSource, LoadedSources } from './loaded-conditions.ts';
import { cookieSources, foldedOf, querySources, readSource } from './values.ts';

/** Up to this many slots are sorted by insertion. */
const FEW = 32;
/** Slots a window spans: 32 words of 32 bits. */
const WINDOW = 1024;

/** The candidates of the current request, and the scratch memory to merge them; one per evaluator. */
export interface Candidates {
  readonly plan: Plan;
  readonly touched: Touched;
  /** Inner literals found in the path; `null` if the plan has none. */
  readonly hits: LiteralHits | null;
  /** Sources of values that rules are filed by; `null`: there is no such source. */
  readonly filed: FiledSources | null;
  /** Lists that rules are filed by; `null`: there is no such list. */
  readonly lists: readonly FiledList[] | null;
  /** The slots when there are few, ascending. */
  readonly few: Uint32Array;
  /** The number of slots in `few`, or -1: the lists are merged by window. */
  fewCount: number;
  /** Index in `few` of the next candidate. */
  fewAt: number;
  /** By touched posting, how far its list has been read. */
  readonly cursors: Uint32Array;
  /** A bit for each slot from `windowStart` up to `windowEnd`. */
  readonly window: Uint32Array;
  windowStart: number;
  windowEnd: number;
  /** The smallest slot that may still be returned. */
  from: number;
}

/** Shared by all evaluators, like the other scratch memory of a request (`evaluate.ts`). */
const FEW_SLOTS = new Uint32Array(FEW);
const WINDOW_BITS = new Uint32Array(WINDOW / 32);

/** The candidates of a plan's requests, sized at load so that no request allocates. */
export function createCandidates(loaded: LoadedPlan): Candidates {
  const { plan, conditions } = loaded;
  const touched = createTouched(plan.postings);
  const hasInner = plan.meta[META.inner] === 1;
  return {
    plan,
    touched,
    hits: hasInner ? createHits(literalCount(plan.literals, 0)) : null,
    filed: conditions === null ? null : filedSources(conditions),
    lists: filedLists(loaded),
    few: FEW_SLOTS,
    fewCount: 0,
    fewAt: 0,
    cursors: new Uint32Array(touched.postings.length),
    window: WINDOW_BITS,
    windowStart: 0,
    windowEnd: 0,
    from: 0,
  };
}

/** Gathers the candidates of the request that `facts` describes. */
export function gather(candidates: Candidates, facts: Facts): void {
  const { plan, touched } = candidates;
  const { meta, words } = plan;
  resetTouched(touched);
  const always = meta[META.always]!;
  if (always !== NONE) touch(touched, always);
  const byGroup = words[facts.group + GROUP.posting]!;
  if (byGroup !== NONE) touch(touched, byGroup);
  const pathTree = meta[META.pathTree]!;
  const suffixTree = meta[META.suffixTree]!;
  if (pathTree !== NONE) walkForward(plan, pathTree, facts.path, touched);
  if (suffixTree !== NONE) walkBackward(plan, suffixTree, facts.path, touched);
  if (facts.pathWithoutParameters !== null) {
    if (pathTree !== NONE) walkForward(plan, pathTree, facts.pathWithoutParameters, touched);
    if (suffixTree !== NONE) walkBackward(plan, suffixTree, facts.pathWithoutParameters, touched);
  }
  if (candidates.hits !== null) gatherInner(candidates, candidates.hits, facts);
  const hostTree = meta[META.hostTree]!;
  if (hostTree !== NONE) walkBackward(plan, hostTree, facts.host, touched);
  gatherVisitor(plan, facts, touched);
  if (candidates.filed !== null) gatherValues(candidates, candidates.filed, facts);
  if (candidates.lists !== null) gatherLists(candidates.lists, facts, touched);
  // PERF: with few candidates the bits cost more than the checks they would save.
  facts.characters = touched.slots <= FEW ? -1 : charactersOf(facts.path);
  restart(candidates);
}

/** The bits (`characterBit`) of the characters in a path. */
function charactersOf(path: string): number {
  let bits = 0;
  for (let at = 0; at < path.length; at++) bits |= characterBit(path.charCodeAt(at));
  return bits;
}

/** Touches the postings of the inner literals in either form of the path. */
function gatherInner(candidates: Candidates, hits: LiteralHits, facts: Facts): void {
  const { plan, touched } = candidates;
  resetHits(hits);
  scanAhoCorasick(plan.literals, 0, facts.path, hits);
  if (facts.pathWithoutParameters !== null)
    scanAhoCorasick(plan.literals, 0, facts.pathWithoutParameters, hits);
  const postings = plan.meta[META.innerPostings]!;
  for (let hit = 0; hit < hits.count; hit++) touch(touched, plan.words[postings + hits.literals[hit]!]!);
}

/** Touches the postings of the address, the country, the bot kind and the fingerprints. */
function gatherVisitor(plan: Plan, facts: Facts, touched: Touched): void {
  const { meta, words, cidr4, cidr6 } = plan;
  if (cidr4.length > 0 || cidr6.length > 0) {
    const family = ipOf(facts);
    let posting = NONE;
    if (family === 4) posting = lookUp4(cidr4, facts.ipWords[0]!);
    else if (family === 6) posting = lookUp6(cidr6, facts.ipWords);
    if (posting !== NONE) touch(touched, posting);
  }
  const countries = meta[META.countries]!;
  if (countries !== NONE && facts.country >= 0) {
    const posting = words[countries + facts.country]!;
    if (posting !== NONE) touch(touched, posting);
  }
  const bots = meta[META.bots]!;
  if (bots !== NONE) {
    const kind = botOf(facts);
    const posting = kind < 0 ? NONE : words[bots + kind]!;
    if (posting !== NONE) touch(touched, posting);
  }
  const ja4Tree = meta[META.ja4Tree]!;
  if (ja4Tree !== NONE && facts.ja4 !== null) walkForward(plan, ja4Tree, facts.ja4, touched);
  const ja4hTree = meta[META.ja4hTree]!;
  if (ja4hTree !== NONE && facts.ja4h !== null) walkForward(plan, ja4hTree, facts.ja4h, touched);
}

/** The sources of values that rules are filed by. */
interface FiledSources {
  /** All sources of the plan. */
  readonly family: LoadedSources;
  /** Those that every request is asked for. */
  readonly asked: readonly LoadedSource[];
  /** Headers by name, if they are more than requests have; else `null`, and they are asked for. */
  readonly headers: ReadonlyMap<string, LoadedSource> | null;
  /** Whether rules are filed by query parameters and by cookies. */
  readonly byQuery: boolean;
  readonly byCookie: boolean;
}

/** Up to this many headers are read one by one; with more, those that the request has. */
const FEW_HEADERS = 16;

function filedSources({ sources: family }: LoadedConditions): FiledSources | null {
  const filed = family.list.filter(({ tree, foldedTree }) => tree !== NONE || foldedTree !== NONE);
  if (filed.length === 0) return null;
  const named = filed.filter(({ kind }) => kind === 'header');
  const headers = named.length <= FEW_HEADERS ? null : new Map(named.map((source) => [source.name, source]));
  return {
    family,
    asked: filed.filter(
      ({ kind }) => kind !== 'query' && kind !== 'cookie' && (kind !== 'header' || headers === null),
    ),
    headers,
    byQuery: filed.some(({ kind }) => kind === 'query'),
    byCookie: filed.some(({ kind }) => kind === 'cookie'),
  };
}

/** Touches the postings of the values that rules are filed by. What a request does not have costs nothing. */
function gatherValues({ plan, touched }: Candidates, filed: FiledSources, facts: Facts): void {
  const { family, asked, headers } = filed;
  for (let index = 0; index < asked.length; index++) touchValues(plan, asked[index]!, facts, touched);
  if (filed.byQuery) touchFound(plan, querySources(family, facts), facts, touched);
  if (filed.byCookie) touchFound(plan, cookieSources(family, facts), facts, touched);
  const given: unknown = facts.request.headers;
  if (headers === null || typeof given !== 'object' || given === null) return;
  for (const name in given) {
    const source = headers.get(name) ?? headers.get(name.toLowerCase());
    if (source !== undefined) touchValues(plan, source, facts, touched);
  }
}

function touchFound(plan: Plan, found: readonly LoadedSource[], facts: Facts, touched: Touched): void {
  for (let index = 0; index < found.length; index++) touchValues(plan, found[index]!, facts, touched);
}

// PERF: four parameters, for an object to carry them would be allocated at each call.
function touchValues(plan: Plan, source: LoadedSource, facts: Facts, touched: Touched): void {
  readSource(source, facts);
  for (let index = 0; index < source.count; index++) {
    if (source.tree !== NONE) walkForward(plan, source.tree, source.texts[index]!, touched);
    if (source.foldedTree !== NONE) walkForward(plan, source.foldedTree, foldedOf(source, index), touched);
  }
}

/** A list with the posting of the rules that are filed by it. */
interface FiledList {
  readonly list: OpenedList;
  readonly posting: number;
  /** Of a list of User-Agents, their source. */
  readonly source: LoadedSource | null;
}

function filedLists({ plan, lists, conditions }: LoadedPlan): readonly FiledList[] | null {
  const agents = conditions?.sources.byName.header.get('user-agent') ?? null;
  const filed = lists.flatMap((list, number) => {
    const posting = plan.lists[number * LIST.size + LIST.posting]!;
    return posting === NONE ? [] : [{ list, posting, source: list.kind === 'user_agent' ? agents : null }];
  });
  return filed.length === 0 ? null : filed;
}

/** Touches the postings of the lists that have the request's address, country, system, host, path or User-Agent. */
function gatherLists(lists: readonly FiledList[], facts: Facts, touched: Touched): void {
  for (let index = 0; index < lists.length; index++) {
    const { list, posting, source } = lists[index]!;
    if (isIn(list, source, facts)) touch(touched, posting);
  }
}

function isIn(list: OpenedList, source: LoadedSource | null, facts: Facts): boolean {
  switch (list.kind) {
    case 'ip':
      return ipOf(facts) !== 0 && hasAddress(list, facts);
    case 'country':
      return hasCountry(list, facts.country);
    case 'asn':
      return facts.asn > 0 && hasNumber(list, facts.asn);
    case 'host':
      return hasText(list, facts.host);
    case 'user_agent':
      return source !== null && hasAgent(list, source, facts);
    default: {
      const { path, pathWithoutParameters } = facts;
      return hasText(list, path) || (pathWithoutParameters !== null && hasText(list, pathWithoutParameters));
    }
  }
}

function hasAgent(list: OpenedList, source: LoadedSource, facts: Facts): boolean {
  readSource(source, facts);
  for (let index = 0; index < source.count; index++) if (hasText(list, foldedOf(source, index))) return true;
  return false;
}

/** Returns to the first candidate, for the shadow's run over the same request. */
export function restart(candidates: Candidates): void {
  const { touched } = candidates;
  candidates.from = 0;
  candidates.fewAt = 0;
  if (touched.slots <= FEW) {
    sortFew(candidates);
    return;
  }
  candidates.fewCount = -1;
  candidates.windowStart = 0;
  candidates.windowEnd = 0;
  for (let list = 0; list < touched.count; list++) {
    candidates.cursors[list] = touched.rows[touched.postings[list]! * 2]!;
  }
}

/** Fills `few` with the slots of all touched postings, ascending and each once. */
function sortFew(candidates: Candidates): void {
  const { few, plan, touched } = candidates;
  let count = 0;
  for (let list = 0; list < touched.count; list++) {
    const row = touched.postings[list]! * 2;
    const start = touched.rows[row]!;
    const end = start + touched.rows[row + 1]!;
    for (let at = start; at < end; at++) {
      const slot = plan.postingSlots[at]!;
      let place = count;
      while (place > 0 && few[place - 1]! > slot) place--;
      if (place > 0 && few[place - 1] === slot) continue;
      for (let hole = count++; hole > place; hole--) few[hole] = few[hole - 1]!;
      few[place] = slot;
    }
  }
  candidates.fewCount = count;
}

/**
 * Whether it is known, without a search, that no candidate is below `end`. Always false while posting lists are merged
 * window by window.
 */
export function noneBelow(candidates: Candidates, end: number): boolean {
  const { few, fewCount, from } = candidates;
  while (candidates.fewAt < fewCount && few[candidates.fewAt]! < from) candidates.fewAt++;
  return candidates.fewAt < fewCount ? few[candidates.fewAt]! >= end : fewCount >= 0;
}

/** The next candidate below `end`, or -1. */
export function nextCandidate(candidates: Candidates, end: number): number {
  if (candidates.fewCount >= 0) {
    const { few, fewCount } = candidates;
    while (candidates.fewAt < fewCount) {
      const slot = few[candidates.fewAt]!;
      if (slot >= end) return -1;
      candidates.fewAt++;
      if (slot >= candidates.from) return slot;
    }
    return -1;
  }
  for (;;) {
    const slot = nextInWindow(candidates, end);
    if (slot >= 0) {
      candidates.from = slot + 1;
      return slot;
    }
    if (candidates.windowEnd >= end || !fillWindow(candidates, end)) return -1;
  }
}

/** Skips every candidate below `slot`. */
export function skipTo(candidates: Candidates, slot: number): void {
  if (slot > candidates.from) candidates.from = slot;
}

/** The next candidate of the window below `end`, or -1. */
function nextInWindow(candidates: Candidates, end: number): number {
  const { window, windowStart } = candidates;
  const stop = Math.min(end, candidates.windowEnd) - windowStart;
  let at = Math.max(candidates.from, windowStart) - windowStart;
  while (at < stop) {
    const bits = window[at >>> 5]! >>> (at & 31);
    if (bits !== 0) {
      const found = at + 31 - Math.clz32(bits & -bits);
      return found < stop ? windowStart + found : -1;
    }
    at = (at | 31) + 1;
  }
  return -1;
}

/** Fills the window with the next slots below `end`. False: no slot is left below it. */
function fillWindow(candidates: Candidates, end: number): boolean {
  const { touched, cursors, window, plan } = candidates;
  const slots = plan.postingSlots;
  const from = Math.max(candidates.from, candidates.windowEnd);
  let first = NONE;
  for (let list = 0; list < touched.count; list++) {
    const row = touched.postings[list]! * 2;
    const stop = touched.rows[row]! + touched.rows[row + 1]!;
    const at = seek(slots, { at: cursors[list]!, stop }, from);
    cursors[list] = at;
    if (at < stop && slots[at]! < first) first = slots[at]!;
  }
  if (first >= end) return false;
  candidates.windowStart = first;
  candidates.windowEnd = Math.min(first + WINDOW, end);
  window.fill(0);
  for (let list = 0; list < touched.count; list++) {
    const row = touched.postings[list]! * 2;
    const stop = touched.rows[row]! + touched.rows[row + 1]!;
    let at = cursors[list]!;
    for (; at < stop && slots[at]! < candidates.windowEnd; at++) {
      const bit = slots[at]! - first;
      window[bit >>> 5]! |= 1 << (bit & 31);
    }
    cursors[list] = at;
  }
  return true;
}

/** The first place from `at` whose slot is at least `slot`; doubling steps, then a binary search. */
function seek(
  slots: Uint32Array,
  range: { readonly at: number; readonly stop: number },
  slot: number,
): number {
  const { at, stop } = range;
  if (at >= stop || slots[at]! >= slot) return at;
  let step = 1;
  let low = at;
  while (low + step < stop && slots[low + step]! < slot) {
    low += step;
    step *= 2;
  }
  let high = Math.min(low + step, stop);
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if (slots[middle]! < slot) low = middle;
    else high = middle;
  }
  return high;
}
