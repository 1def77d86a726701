/**
 * Makes groups of cells: one signature in one target in one section, or in several sections with few visitors each. In: the
 * tables of a log. Out: groups with the facts that they are judged by.
 */

import { type GroupFacts, type JudgedGroup, judge } from './judge.ts';
import { SCAN_CATEGORIES, SCAN_PATHS, SCAN_PLACES, SMALL_SECTIONS } from './limits.ts';
import {
  type AnswerCounts,
  type MatchCell,
  sectionKey,
  type TalliedVisitor,
  type TunedSubject,
  type TuningTally,
} from './tally.ts';

/** Cells that are judged together. */
export interface Group {
  readonly subject: TunedSubject;
  readonly id: number;
  readonly target: string;
  readonly cells: readonly MatchCell[];
  readonly facts: GroupFacts;
  readonly judged: JudgedGroup;
}

/** How groups are made and judged. */
export interface GroupOptions {
  readonly minVisitors: number;
}

/** Makes the groups of a log and judges them. */
export function groupsOf(
  tally: TuningTally,
  options: GroupOptions,
): { readonly groups: readonly Group[]; readonly suspects: ReadonlySet<number> } {
  const parted = partition(tally, options);
  const scanning = new Set(
    tally.visitors.flatMap((visitor, number) => (signOf(visitor) === null ? [] : number)),
  );
  const first = parted.map((cells) => groupOf(tally, cells, { ...options, suspects: scanning }));
  // Who takes part in an attack is suspicious in other groups too.
  const suspects = new Set(scanning);
  for (const { judged, cells } of first) {
    if (judged.verdict !== 'attack') continue;
    for (const { visitors } of cells) {
      for (const number of visitors.keys()) {
        if (!wasOrdinary(tally.visitors[number]!)) suspects.add(number);
      }
    }
  }
  const groups =
    suspects.size === scanning.size
      ? first
      : parted.map((cells) => groupOf(tally, cells, { ...options, suspects }));
  return { groups, suspects };
}

/** Whether the visitor had an ordinary request before the first match. */
function wasOrdinary({ ordinaryAt, matchedAt }: TalliedVisitor): boolean {
  return ordinaryAt < matchedAt;
}

/** The first sign of an attack in the history of a visitor, as a clause; `null`: absent. */
function signOf({ categories, places, paths, answers }: TalliedVisitor): string | null {
  if (categories.size >= SCAN_CATEGORIES) return `signatures of ${SCAN_CATEGORIES} categories or more`;
  if (places.size >= SCAN_PLACES) return `signatures in ${SCAN_PLACES} places or more`;
  const all = answers.fine + answers.refused + answers.failed;
  if (paths.size >= SCAN_PATHS && answers.refused * 2 >= all) {
    return `signatures on ${SCAN_PATHS} paths or more, of which most are not there`;
  }
  return [...categories].some((category) => category.includes('scanner'))
    ? 'the signature of a scanner'
    : null;
}

/** Cells by what is judged together. */
function partition({ cells }: TuningTally, { minVisitors }: GroupOptions): readonly (readonly MatchCell[])[] {
  const bySignature = new Map<string, Map<string, MatchCell[]>>();
  for (const cell of cells.values()) {
    const { subject, id, target, section } = cell;
    const key = `${subject.domain} ${subject.rule} ${id} ${target}`;
    const sections = bySignature.get(key) ?? new Map<string, MatchCell[]>();
    bySignature.set(key, sections);
    const of = sections.get(section);
    if (of === undefined) sections.set(section, [cell]);
    else of.push(cell);
  }
  return [...bySignature.values()].flatMap((sections) => joinSmall([...sections.values()], minVisitors));
}

/** Joins sections with few visitors if there are many: a browser's header matches everywhere, and a scan tries everything. */
function joinSmall(
  sections: readonly (readonly MatchCell[])[],
  minVisitors: number,
): readonly (readonly MatchCell[])[] {
  const isSmall = (cells: readonly MatchCell[]): boolean => visitorsOf(cells).size < minVisitors;
  const small = sections.filter(isSmall);
  if (small.length <= SMALL_SECTIONS) return sections;
  return [...sections.filter((cells) => !isSmall(cells)), small.flat()];
}

/** Requests by visitor. */
function visitorsOf(cells: readonly MatchCell[]): ReadonlyMap<number, number> {
  const sums = new Map<number, number>();
  for (const { visitors } of cells) {
    for (const [number, requests] of visitors) sums.set(number, (sums.get(number) ?? 0) + requests);
  }
  return sums;
}

/** What a group is judged with. */
interface JudgedWith extends GroupOptions {
  readonly suspects: ReadonlySet<number>;
}

function groupOf(
  tally: TuningTally,
  cells: readonly MatchCell[],
  { minVisitors, suspects }: JudgedWith,
): Group {
  const { subject, id, target } = cells[0]!;
  const facts = factsOf(tally, cells, suspects);
  return { subject, id, target, cells, facts, judged: judge(facts, { minVisitors }) };
}

function factsOf(tally: TuningTally, cells: readonly MatchCell[], suspects: ReadonlySet<number>): GroupFacts {
  const requests = sum(cells, (cell) => cell.requests);
  const visitors = visitorsOf(cells);
  const known = sum([...visitors.values()], (count) => count);
  const [most, mostOfOne] = mostOf(visitors);
  const bad = [...visitors].filter(([number]) => suspects.has(number));
  const history = [...visitors.keys()].map((number) => tally.visitors[number]!);
  const hours = new Set(cells.flatMap((cell) => [...cell.hours]));
  return {
    requests,
    visitors: visitors.size,
    unknown: requests - known,
    mostOfOne,
    agentsOfOne: most === null ? 0 : tally.visitors[most]!.agents.size,
    ordinary: history.filter(wasOrdinary).length,
    section: sectionOfGroup(tally, cells),
    elsewhere: countElsewhere(history, cells),
    suspicious: bad.length,
    suspiciousRequests: sum(bad, ([, count]) => count),
    sign: bad.map(([number]) => signOf(tally.visitors[number]!)).find((sign) => sign !== null) ?? null,
    answers: answersOf(cells),
    ownPages: sum(cells, (cell) => cell.ownPages),
    bots: sum(cells, (cell) => cell.bots),
    hours: hours.size,
    days: new Set([...hours].map((hour) => Math.floor(hour / 24))).size,
  };
}

function sum<Item>(items: readonly Item[], of: (item: Item) => number): number {
  return items.reduce((total, item) => total + of(item), 0);
}

/** The visitor with the most requests, and how many; of equal ones the first. */
function mostOf(visitors: ReadonlyMap<number, number>): readonly [number | null, number] {
  let most: readonly [number | null, number] = [null, 0];
  for (const entry of visitors) if (entry[1] > most[1]) most = entry;
  return most;
}

function sectionOfGroup({ sections }: TuningTally, cells: readonly MatchCell[]): GroupFacts['section'] {
  const [first] = cells;
  const { section, subject } = first!;
  if (cells.some((cell) => cell.section !== section)) return null;
  const found = sections.get(sectionKey(subject.domain, section));
  return found === undefined || found.isSampled ? null : { path: section, visitors: found.visitors.size };
}

/** Visitors with another category in a place outside of the group. */
function countElsewhere(history: readonly TalliedVisitor[], cells: readonly MatchCell[]): number {
  const places = new Set(cells.map(({ section, target }) => `${section} ${target}`));
  const categories = new Set(cells.map(({ category }) => category));
  return history.filter(
    (visitor) =>
      [...visitor.places].some((place) => !places.has(place)) &&
      [...visitor.categories].some((category) => !categories.has(category)),
  ).length;
}

function answersOf(cells: readonly MatchCell[]): AnswerCounts {
  return {
    fine: sum(cells, ({ answers }) => answers.fine),
    refused: sum(cells, ({ answers }) => answers.refused),
    failed: sum(cells, ({ answers }) => answers.failed),
  };
}
