/**
 * Counts the requests of a log for tuning. In: observed requests, in any order. Out: cells (rule, signature, target and path),
 * visitors with their history, sections, and kinds of blocked requests. Every table is bounded; what exceeds a bound is
 * counted and reported.
 */
import {
  EXAMPLES,
  MAX_CELLS,
  MAX_HOURS,
  MAX_KINDS,
  MAX_PAIRS,
  MAX_VISITORS,
  SCAN_CATEGORIES,
  SCAN_PATHS,
  SCAN_PLACES,
  SHARED_AGENTS,
} from './limits.ts';
import type { ObservedMatch, ObservedRequest, ObservedVerdict } from './observe.ts';
import { sectionOf } from './places.ts';

const HOUR_MS = 3_600_000;

/** Statuses of the application by class. */
export interface AnswerCounts {
  /** 2xx and 3xx. */
  fine: number;
  /** 4xx. */
  refused: number;
  /** 5xx. */
  failed: number;
}

/** A waf rule of a domain. */
export interface TunedSubject {
  readonly domain: string;
  /** `<type>/<key>`. */
  readonly rule: string;
  /** Requests that it blocked, or would have. */
  blocked: number;
  /** The lowest score of those that its score alone blocked; `Infinity`: there are none. */
  lowest: number;
  /** The highest score of those that it let pass; `-Infinity`: there are none. */
  highest: number;
}

/** One signature in one target on one path, in requests that a rule blocked. */
export interface MatchCell {
  readonly subject: TunedSubject;
  readonly id: number;
  readonly target: string;
  readonly path: string;
  readonly section: string;
  name: string;
  category: string;
  requests: number;
  ownPages: number;
  bots: number;
  readonly answers: AnswerCounts;
  /** Requests by visitor, by their numbers in the table. */
  readonly visitors: Map<number, number>;
  /** Hours since the epoch. */
  readonly hours: Set<number>;
  readonly parts: Set<string>;
  readonly examples: string[];
}

/** What is known of one visitor. */
export interface TalliedVisitor {
  /** The first request without a match that the application answered with 2xx or 3xx, and the first with one; ms. */
  ordinaryAt: number;
  matchedAt: number;
  readonly categories: Set<string>;
  /** Sections and targets with matches, headers and cookies left out, since a browser sends them everywhere. */
  readonly places: Set<string>;
  readonly paths: Set<string>;
  readonly agents: Set<string>;
  /** Answers to requests with matches. */
  readonly answers: AnswerCounts;
}

/** The visitors that were logged in a section. */
export interface Section {
  readonly visitors: Set<number>;
  /** Some of its requests are logged as a sample only, so that the number of visitors is too low. */
  isSampled: boolean;
}

/** Blocked requests of one visitor with the same matches. */
export interface BlockedKind {
  readonly subject: TunedSubject;
  readonly visitor: number | null;
  readonly matches: readonly { readonly cell: MatchCell | null; readonly score: number }[];
  /** The score that no listed match added. */
  readonly rest: number;
  readonly verdict: Pick<ObservedVerdict, 'score' | 'isScored' | 'isForced' | 'isUninspected'>;
  /** The id of one of them. */
  readonly example: string;
  requests: number;
}

/** What exceeded a bound. */
export interface Exceeded {
  /** Matches on paths that are not counted apart. */
  matches: number;
  /** Requests of visitors whose history is not stored. */
  visitors: number;
  /** Visits that are not counted. */
  pairs: number;
  /** Blocked requests that are not scored again. */
  kinds: number;
}

/** The tables. */
export interface TuningTally {
  requests: number;
  /** Requests with a verdict of a waf rule. */
  inspected: number;
  /** Milliseconds since the epoch: the first and the last. */
  from: number;
  to: number;
  readonly subjects: Map<string, TunedSubject>;
  readonly cells: Map<string, MatchCell>;
  readonly numbers: Map<string, number>;
  readonly visitors: TalliedVisitor[];
  /** By domain and section. */
  readonly sections: Map<string, Section>;
  readonly kinds: Map<string, BlockedKind>;
  pairs: number;
  readonly exceeded: Exceeded;
}

/** The bounds of the tables. */
export interface TallyBounds {
  readonly cells: number;
  readonly visitors: number;
  readonly pairs: number;
  readonly kinds: number;
}

/** The bounds that are used. */
export const BOUNDS: TallyBounds = {
  cells: MAX_CELLS,
  visitors: MAX_VISITORS,
  pairs: MAX_PAIRS,
  kinds: MAX_KINDS,
};

/** Empty tables. */
export function createTally(): TuningTally {
  return {
    requests: 0,
    inspected: 0,
    from: Number.POSITIVE_INFINITY,
    to: Number.NEGATIVE_INFINITY,
    subjects: new Map(),
    cells: new Map(),
    numbers: new Map(),
    visitors: [],
    sections: new Map(),
    kinds: new Map(),
    pairs: 0,
    exceeded: { matches: 0, visitors: 0, pairs: 0, kinds: 0 },
  };
}

/** The key of a section in the table. */
export function sectionKey(domain: string, section: string): string {
  return `${domain} ${section}`;
}

/** Counts one request. */
export function tallyRequest(tally: TuningTally, request: ObservedRequest, bounds: TallyBounds): void {
  tally.requests++;
  tally.from = Math.min(tally.from, request.at);
  tally.to = Math.max(tally.to, request.at);
  const section = sectionOf(request.path);
  const number = numberOf(tally, request, bounds);
  countSection({ tally, bounds }, { request, section, number });
  const { verdicts } = request;
  if (verdicts.length > 0) tally.inspected++;
  const matches = verdicts.flatMap((verdict) => verdict.matches);
  if (number !== null) countVisitor(tally.visitors[number]!, { request, section, matches });
  for (const verdict of verdicts) {
    if (verdict.blocks) countBlocked({ tally, bounds }, { request, verdict, number });
    else countPassed(subjectOf(tally, request, verdict), verdict);
  }
}

/** The tables with their bounds. */
interface Bounded {
  readonly tally: TuningTally;
  readonly bounds: TallyBounds;
}

/** The number of the visitor; `null`: unknown, or beyond the bound. */
function numberOf(
  { numbers, visitors, exceeded }: TuningTally,
  { visitor }: ObservedRequest,
  bounds: TallyBounds,
): number | null {
  if (visitor === null) return null;
  const known = numbers.get(visitor);
  if (known !== undefined) return known;
  if (visitors.length >= bounds.visitors) {
    exceeded.visitors++;
    return null;
  }
  numbers.set(visitor, visitors.length);
  return (
    visitors.push({
      ordinaryAt: Number.POSITIVE_INFINITY,
      matchedAt: Number.POSITIVE_INFINITY,
      categories: new Set(),
      places: new Set(),
      paths: new Set(),
      agents: new Set(),
      answers: { fine: 0, refused: 0, failed: 0 },
    }) - 1
  );
}

/** A request with where it was and the number of its visitor. */
interface Placed {
  readonly request: ObservedRequest;
  readonly section: string;
}

function countSection(
  { tally, bounds }: Bounded,
  { request, section, number }: Placed & { readonly number: number | null },
): void {
  const key = sectionKey(request.domain, section);
  let found = tally.sections.get(key);
  if (found === undefined) {
    if (tally.sections.size >= bounds.cells) return;
    found = { visitors: new Set(), isSampled: false };
    tally.sections.set(key, found);
  }
  if (request.isSampled) found.isSampled = true;
  if (number === null || found.visitors.has(number)) return;
  if (takePair({ tally, bounds })) found.visitors.add(number);
}

function takePair({ tally, bounds }: Bounded): boolean {
  if (tally.pairs >= bounds.pairs) {
    tally.exceeded.pairs++;
    return false;
  }
  tally.pairs++;
  return true;
}

function countVisitor(
  visitor: TalliedVisitor,
  { request, section, matches }: Placed & { readonly matches: readonly ObservedMatch[] },
): void {
  addBounded(visitor.agents, request.agent, SHARED_AGENTS);
  if (matches.length === 0) {
    const isFine = request.answer !== null && request.answer < 400;
    if (isFine) visitor.ordinaryAt = Math.min(visitor.ordinaryAt, request.at);
    return;
  }
  visitor.matchedAt = Math.min(visitor.matchedAt, request.at);
  countAnswer(visitor.answers, request.answer);
  for (const { category, target } of matches) {
    if (category !== '') addBounded(visitor.categories, category, SCAN_CATEGORIES);
    if (target.startsWith('REQUEST_HEADERS') || target.startsWith('REQUEST_COOKIES')) continue;
    addBounded(visitor.places, `${section} ${target}`, SCAN_PLACES);
    addBounded(visitor.paths, request.path, SCAN_PATHS);
  }
}

function addBounded<Value>(set: Set<Value>, value: Value, most: number): void {
  if (set.size < most) set.add(value);
}

function countAnswer(answers: AnswerCounts, status: number | null): void {
  if (status === null) return;
  if (status < 400) answers.fine++;
  else if (status < 500) answers.refused++;
  else answers.failed++;
}

function countPassed(subject: TunedSubject, { score }: ObservedVerdict): void {
  subject.highest = Math.max(subject.highest, score);
}

/** A request that a rule blocks. */
interface Blocked {
  readonly request: ObservedRequest;
  readonly verdict: ObservedVerdict;
  readonly number: number | null;
}

function countBlocked({ tally, bounds }: Bounded, { request, verdict, number }: Blocked): void {
  const subject = subjectOf(tally, request, verdict);
  subject.blocked++;
  if (!verdict.isForced && !verdict.isUninspected) subject.lowest = Math.min(subject.lowest, verdict.score);
  const seen = new Set<MatchCell>();
  const matches = verdict.matches.map((match) => {
    const cell = cellOf({ tally, bounds }, { request, subject, match });
    if (cell === null) tally.exceeded.matches++;
    // Two members of one list have the same general target.
    else if (!seen.has(cell)) countCell({ tally, bounds }, { request, cell, match, number });
    if (cell !== null) seen.add(cell);
    return { cell, score: match.score };
  });
  const { score, isScored, isForced, isUninspected } = verdict;
  const listed = matches.reduce((sum, match) => sum + match.score, 0);
  const about = { score, isScored, isForced, isUninspected };
  countKind(
    { tally, bounds },
    {
      ...{ subject, visitor: number, matches, rest: score - listed, verdict: about },
      ...{ example: request.id, requests: 1 },
    },
  );
}

function subjectOf(
  { subjects }: TuningTally,
  { domain }: ObservedRequest,
  { rule }: ObservedVerdict,
): TunedSubject {
  const key = `${domain} ${rule}`;
  let subject = subjects.get(key);
  if (subject === undefined) {
    subject = {
      ...{ domain, rule, blocked: 0 },
      ...{ lowest: Number.POSITIVE_INFINITY, highest: Number.NEGATIVE_INFINITY },
    };
    subjects.set(key, subject);
  }
  return subject;
}

/** Which cell a match is of. */
interface CellOf {
  readonly request: ObservedRequest;
  readonly subject: TunedSubject;
  readonly match: ObservedMatch;
}

function cellOf({ tally, bounds }: Bounded, { request, subject, match }: CellOf): MatchCell | null {
  const { path } = request;
  const { id, target, name, category } = match;
  const key = `${subject.domain} ${subject.rule} ${id} ${target} ${path}`;
  const known = tally.cells.get(key);
  if (known !== undefined) return known;
  if (tally.cells.size >= bounds.cells) return null;
  const cell: MatchCell = {
    ...{ subject, id, target, path, section: sectionOf(path), name, category },
    ...{ requests: 0, ownPages: 0, bots: 0, answers: { fine: 0, refused: 0, failed: 0 } },
    ...{ visitors: new Map(), hours: new Set(), parts: new Set(), examples: [] },
  };
  tally.cells.set(key, cell);
  return cell;
}

/** A match of a request in its cell. */
interface Counted extends Pick<Blocked, 'request' | 'number'> {
  readonly cell: MatchCell;
  readonly match: ObservedMatch;
}

function countCell(bounded: Bounded, { request, cell, match, number }: Counted): void {
  cell.requests++;
  if (cell.name === '') cell.name = match.name;
  if (cell.category === '') cell.category = match.category;
  if (request.fromOwnPage) cell.ownPages++;
  if (request.isBot) cell.bots++;
  countAnswer(cell.answers, request.answer);
  addBounded(cell.hours, Math.floor(request.at / HOUR_MS), MAX_HOURS);
  if (match.part !== '') addBounded(cell.parts, match.part, EXAMPLES);
  if (cell.examples.length < EXAMPLES) cell.examples.push(request.id);
  if (number === null) return;
  const before = cell.visitors.get(number);
  if (before === undefined && !takePair(bounded)) return;
  cell.visitors.set(number, (before ?? 0) + 1);
}

function countKind({ tally, bounds }: Bounded, kind: BlockedKind): void {
  const { subject, visitor, matches, rest, verdict } = kind;
  const cells = matches.map(({ cell, score }) => [cell?.id, cell?.target, cell?.path, score]);
  const flags = [verdict.score, verdict.isScored, verdict.isForced, verdict.isUninspected];
  const key = JSON.stringify([subject.domain, subject.rule, visitor, rest, flags, cells]);
  const known = tally.kinds.get(key);
  if (known !== undefined) known.requests++;
  else if (tally.kinds.size >= bounds.kinds) tally.exceeded.kinds++;
  else tally.kinds.set(key, kind);
}
