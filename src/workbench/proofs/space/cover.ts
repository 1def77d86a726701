/**
 * Is a box covered by others? The one question that every proof comes down to: a point of the box that is in none of the
 * others, or the others that cover it.
 *
 * Blockers that cover all of the box but on one axis are subtracted there at once; what is left is divided on an axis of the
 * blocker that differs on the fewest (the unit propagation and branching of Davis, Logemann and Loveland 1962, over sets
 * instead of truth values). Paths are never divided: a box is left with a list of languages that its path must not be in, and
 * one search of their product ends it. Blockers come in when a point is found in them, so that most are never read.
 */
import { acceptsLetters, type LetterAutomaton } from './automaton.ts';
import {
  type AxisSets,
  type Box,
  commonSets,
  hasAtom,
  intersect,
  isEmptyBox,
  isWithin,
  overlap,
  setsOverlap,
  subtract,
  withAxis,
} from './boxes.ts';
import type { StepBudget } from './budget.ts';
import type { Language } from './language.ts';
import { findText, fulfils } from './search.ts';
import type { Space } from './space.ts';

/** Boxes that one question may be divided into. */
const MAX_CELLS = 50_000;
/** Points tried one by one before all blockers are considered at once. */
const MAX_LAZY_ROUNDS = 24;

/** One request of the space. */
export interface Point {
  /** By axis. */
  readonly atoms: readonly number[];
  /** The path as letters. */
  readonly path: readonly number[];
}

/** A question: boxes by their place, and what all paths must be in or not in. */
export interface CoverQuery {
  readonly target: Box;
  readonly blockers: readonly Box[];
  /** So many of the blockers count, from the first. */
  readonly count: number;
  readonly within: readonly LetterAutomaton[];
  readonly outside: readonly LetterAutomaton[];
  /** Paths that the target's must be among, too. */
  readonly further?: Language | null;
}

/** `point`: one that no blocker has. `covered`: by the blockers at these places. `unknown`: the budget ended. */
export type CoverResult =
  | { readonly kind: 'point'; readonly point: Point }
  | { readonly kind: 'covered'; readonly by: readonly number[] }
  | { readonly kind: 'unknown' };

const UNKNOWN: CoverResult = { kind: 'unknown' };

/** Answers a question. */
export function findUncovered(query: CoverQuery, space: Space, budget: StepBudget): CoverResult {
  const target: Box = { ...query.target, sets: commonSets(query.target.sets, space.whole) };
  if (isEmptyBox(target)) return { kind: 'covered', by: [] };
  const { impossible } = space;
  if (impossible.length === 0) return findOutside({ ...query, target }, space, budget);
  // Points that no request has are those of boxes before all others, which are no part of the answer.
  const all: CoverQuery = {
    ...query,
    target,
    blockers: [...impossible, ...query.blockers.slice(0, query.count)],
    count: impossible.length + query.count,
  };
  const found = findOutside(all, space, budget);
  if (found.kind !== 'covered') return found;
  const by = found.by.map((place) => place - impossible.length).filter((place) => place >= 0);
  return { kind: 'covered', by };
}

function findOutside(query: CoverQuery, space: Space, budget: StepBudget): CoverResult {
  const { target } = query;
  const active = new Set<number>();
  for (let round = 0; ; round++) {
    const solver: Solver = { ...query, space, budget, cells: { left: MAX_CELLS } };
    const found = solve(solver, { sets: target.sets, places: [...active], outside: [] });
    if (found.kind !== 'point') return found;
    const { point } = found;
    const hit = placesWith(query, point, active);
    if (hit.length === 0) return found;
    for (const place of hit) active.add(place);
    if (round < MAX_LAZY_ROUNDS) continue;
    for (let place = 0; place < query.count; place++) {
      if (setsOverlap(query.blockers[place]!.sets, target.sets)) active.add(place);
    }
  }
}

/** Blockers that one point brings in, at most: the first ones usually decide. */
const MAX_HITS = 16;

/** The first blockers that have the point and are not active yet. */
function placesWith(
  { blockers, count }: CoverQuery,
  point: Point,
  active: ReadonlySet<number>,
): readonly number[] {
  const places: number[] = [];
  const inLanguage = new Map<Language, boolean>();
  for (let place = 0; place < count && places.length < MAX_HITS; place++) {
    const { sets, paths } = blockers[place]!;
    if (active.has(place) || !hasAtoms(sets, point)) continue;
    let isIn = paths === null ? true : inLanguage.get(paths);
    if (isIn === undefined) {
      isIn = acceptsLetters(paths!.automaton, point.path);
      inLanguage.set(paths!, isIn);
    }
    if (isIn) places.push(place);
  }
  return places;
}

function hasAtoms(sets: AxisSets, { atoms }: Point): boolean {
  for (let axis = 0; axis < sets.length; axis++) {
    const set = sets[axis]!;
    if (set !== null && !hasAtom(set, atoms[axis]!)) return false;
  }
  return true;
}

interface Solver extends CoverQuery {
  readonly space: Space;
  readonly budget: StepBudget;
  readonly cells: { left: number };
}

/** A part of the target: what is left of it on the axes, the blockers still to be escaped, and those whose paths are. */
interface Cell {
  readonly sets: AxisSets;
  readonly places: readonly number[];
  readonly outside: readonly number[];
}

/** Solves a cell. `by` of a covered cell lists every blocker that its proof used. */
function solve(solver: Solver, cell: Cell): CoverResult {
  const { budget, cells } = solver;
  if (--cells.left < 0 || !budget.take(1 + cell.places.length)) return UNKNOWN;
  const reduced = reduce(solver, cell);
  if ('kind' in reduced) return reduced;
  const { sets, places, outside, used } = reduced;
  if (places.length === 0) return withUsed(findPath(solver, sets, outside), used);
  const { place, axis } = choose(solver, sets, places);
  const blocker = solver.blockers[place]!.sets[axis]!;
  const set = sets[axis]!;
  const away = solve(solver, {
    sets: withAxis(sets, axis, subtract(set, blocker)),
    places: places.filter((other) => other !== place),
    outside,
  });
  if (away.kind !== 'covered') return away;
  const near = solve(solver, { sets: withAxis(sets, axis, intersect(set, blocker)), places, outside });
  if (near.kind !== 'covered') return near;
  return { kind: 'covered', by: [...new Set([...used, place, ...away.by, ...near.by])] };
}

function withUsed(result: CoverResult, used: readonly number[]): CoverResult {
  return result.kind === 'covered' ? { kind: 'covered', by: [...new Set([...used, ...result.by])] } : result;
}

interface Reduced extends Cell {
  /** Blockers that were subtracted on an axis. */
  readonly used: readonly number[];
}

/**
 * Subtracts every blocker that leaves no choice, until none does: one that covers the cell on all axes covers it, or restricts
 * its paths; one that covers it on all axes but one leaves only the rest of that axis.
 */
function reduce({ blockers, target, space, further }: Solver, cell: Cell): Reduced | CoverResult {
  let { sets, places } = cell;
  const outside = [...cell.outside];
  const used: number[] = [];
  for (let changed = true; changed; ) {
    changed = false;
    const left: number[] = [];
    for (const place of places) {
      const { sets: theirs, paths } = blockers[place]!;
      const partial = partialAxes(sets, theirs);
      if (partial === null) continue;
      const coversPaths =
        paths === null ||
        (target.paths !== null && space.covers(paths, target.paths)) ||
        (further !== undefined && further !== null && space.covers(paths, further));
      if (partial.length === 0 && coversPaths) return { kind: 'covered', by: [...used, place] };
      if (partial.length === 0) outside.push(place);
      else if (partial.length === 1 && coversPaths) {
        const axis = partial[0]!;
        sets = withAxis(sets, axis, subtract(sets[axis]!, theirs[axis]!));
        used.push(place);
        changed = true;
      } else left.push(place);
    }
    places = left;
  }
  return { sets, places, outside, used };
}

/** The axes on which a blocker covers only part of the cell; `null`: it has nothing of the cell. */
function partialAxes(sets: AxisSets, theirs: AxisSets): readonly number[] | null {
  const partial: number[] = [];
  for (let axis = 0; axis < sets.length; axis++) {
    const other = theirs[axis]!;
    if (other === null) continue;
    const own = sets[axis]!;
    if (!overlap(own, other)) return null;
    if (!isWithin(own, other)) partial.push(axis);
  }
  return partial;
}

/** The blocker that differs on the fewest axes, and the first of these. */
function choose(
  { blockers }: Solver,
  sets: AxisSets,
  places: readonly number[],
): { readonly place: number; readonly axis: number } {
  let best: { readonly place: number; readonly axis: number; readonly count: number } | null = null;
  for (const place of places) {
    const partial = partialAxes(sets, blockers[place]!.sets) ?? [];
    const count = partial.length;
    if (best === null || count < best.count) best = { place, axis: partial[0]!, count };
  }
  return best!;
}

/** A path of the target outside the languages of blockers, for a cell that is settled on all axes. */
function findPath(solver: Solver, sets: AxisSets, places: readonly number[]): CoverResult {
  const { target, space, blockers, budget } = solver;
  const own = [target.paths, solver.further ?? null].filter((paths) => paths !== null);
  const languages = new Map<string, number>();
  for (const place of places) languages.set(blockers[place]!.paths!.name, place);
  const distinct = [...languages.values()];
  const outside = distinct.map((place) => blockers[place]!.paths!.automaton);
  const query = {
    within: [space.canonical, ...solver.within, ...own.map(({ automaton }) => automaton)],
    outside: [...solver.outside, ...outside],
  };
  const probes = own.length === 0 ? space.probes(null) : own.flatMap((paths) => space.probes(paths));
  const tried = probes.find((probe) => fulfils(probe, query));
  const found =
    tried === undefined ? findText(query, space.letters, budget) : { kind: 'text' as const, letters: tried };
  if (found.kind === 'unknown') return UNKNOWN;
  if (found.kind === 'empty') return { kind: 'covered', by: distinct };
  return {
    kind: 'point',
    point: { atoms: sets.map((set, axis) => space.pick(axis, set!)), path: found.letters },
  };
}
