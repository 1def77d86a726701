/**
 * The space of requests of one plan, or of several that are compared: each rule's filters become a box over the same atoms
 * and the same alphabet. What the plans distinguish is distinguished here, and nothing else.
 */
import { buildDfa } from '../../../base/regex/dfa.ts';
import { parsePattern } from '../../../base/regex/regex.ts';
import { ACME_PREFIX, EDGE_PREFIX } from '../../../engine/evaluator/facts.ts';
import type { LoadedPlan } from '../../../engine/evaluator/loaded.ts';
import { FLAG, SLOT } from '../../../engine/plan/layout.ts';
import { type LetterAutomaton, type Letters, regexAutomaton, wildcardAutomaton } from './automaton.ts';
import {
  type AddressAxis,
  botAxis,
  countryAxis,
  createAddressAxis,
  fingerprintAxis,
  isAssigned,
  type SmallAxis,
  statusAxis,
} from './axes.ts';
import { type AtomSet, AXES, type AxisSets, type Box, restricted } from './boxes.ts';
import { createBudget, createRoom, type SpaceRoom } from './budget.ts';
import { createHostAxis, type HostAxis } from './host-axis.ts';
import {
  canonicalPaths,
  combine,
  createPatternSet,
  entriesAt,
  type FilterEntries,
  filterAutomaton,
  isListPattern,
  type Language,
  type PatternFilter,
  type PatternSet,
  type PlanPattern,
  readPattern,
} from './language.ts';
import type { AddressRangeOf } from './lists.ts';
import { createProbes, findText } from './search.ts';
import { setOfTerm } from './term-sets.ts';
import { termsAt } from './terms.ts';
import { createValueAxes, type TermSet, type ValueAxes } from './value-axes.ts';

/** The axes of a space. */
export interface SpaceAxes {
  readonly host: HostAxis;
  readonly ip: AddressAxis;
  readonly country: ReturnType<typeof countryAxis>;
  readonly bot: ReturnType<typeof botAxis>;
  readonly ja4: ReturnType<typeof fingerprintAxis>;
  readonly ja4h: SmallAxis<string | null>;
  readonly status: SmallAxis<number>;
  /** Those of what conditions read. */
  readonly values: ValueAxes;
}

/** A space. */
export interface Space {
  readonly plans: readonly LoadedPlan[];
  readonly letters: Letters;
  readonly axes: SpaceAxes;
  /** Everything, axis by axis. */
  readonly whole: readonly AtomSet[];
  /** No restriction on any axis. */
  readonly free: AxisSets;
  /** Points that no request has: questions leave them out. */
  readonly impossible: readonly Box[];
  /** Every canonical path. */
  readonly canonical: LetterAutomaton;
  /** Paths of an ACME server's requests for tokens, and those that the edge answers itself (semantics §4). */
  readonly acme: LetterAutomaton;
  readonly own: LetterAutomaton;
  /** The filters and conditions of a rule; `null`: they are too complex for a proof. */
  boxOf(plan: number, slot: number): Box | null;
  /** The filters of a rule without its conditions, and what each of its conditions accepts. */
  partsOf(plan: number, slot: number): BoxParts | null;
  /** The paths that the entries of a filter match. */
  pathsOf(plan: number, entries: FilterEntries, bothForms: boolean): Language | null;
  /** Paths that one wildcard matches, in either form. */
  wildcardPaths(pieces: readonly string[]): Language | null;
  /** Exactly one path. */
  onePath(path: string): LetterAutomaton;
  /** Paths of `first` that are not in `second`; `null` if that is too complex. */
  without(first: Language | null, second: Language): Language | null;
  /** Paths of both; `null` if that is too complex. */
  common(first: Language, second: Language): Language | null;
  /** Whether it is quickly proved that `wide` has every path of `narrow`. */
  covers(wide: Language, narrow: Language): boolean;
  /** Short paths of a language, or of all paths. */
  probes(paths: Language | null): readonly (readonly number[])[];
  /** The atom of a set that reads best in a witness. */
  pick(axis: number, set: AtomSet): number;
}

/** A rule's filters, and its conditions one by one. */
export interface BoxParts {
  readonly filters: Box;
  readonly terms: readonly TermSet[];
}

/** Further values that a space must distinguish. */
export interface SpaceExtras {
  readonly hosts?: readonly string[];
  readonly hostWildcards?: readonly (readonly string[])[];
  readonly paths?: readonly string[];
  readonly ranges?: readonly AddressRangeOf[];
  /** Steps of patterns while automata are built. Default: `MAX_SPACE_WORK`. */
  readonly work?: number;
}

const TOKEN_PATH = `^${ACME_PREFIX.replaceAll('.', '\\.')}[A-Za-z0-9_-]+$`;

/** The space of plans; `null` if their host filters are too complex for proofs. */
export function createSpace(plans: readonly LoadedPlan[], extras: SpaceExtras = {}): Space | null {
  const { hosts = [], hostWildcards = [], paths = [], ranges = [], work } = extras;
  const room = createRoom(work);
  const host = createHostAxis({ plans, single: hosts, wildcards: hostWildcards, room });
  const values = createValueAxes(plans, { first: AXES.length, room });
  if (host === null || values === null) return null;
  const acme = tokenTable();
  const patterns = createPatternSet(
    [...pathPatterns(plans), { name: 'acme', alternatives: null, table: acme }],
    {
      literals: ['/.;\\\0', ACME_PREFIX, EDGE_PREFIX, ...paths],
      room,
    },
  );
  const axes: SpaceAxes = {
    host,
    ip: createAddressAxis(plans, ranges),
    country: countryAxis(),
    bot: botAxis(),
    ja4: fingerprintAxis(plans, 'ja4'),
    ja4h: fingerprintAxis(plans, 'ja4h'),
    status: statusAxis(plans),
    values,
  };
  const { letters } = patterns;
  const languages = createLanguages(plans, patterns, room);
  const own = languages.wildcardPaths([EDGE_PREFIX, '']);
  if (own === null) return null;
  const canonical = canonicalPaths(letters);
  const boxes = plans.map(() => new Map<number, Box | null>());
  const free: AxisSets = [...AXES, ...values.whole].map(() => null);
  const partsOf: Space['partsOf'] = (plan, slot) =>
    makeParts({ plans, axes, free, ...languages }, plan, slot);
  return {
    plans,
    letters,
    axes,
    whole: [
      axes.host.all,
      axes.ip.all,
      axes.country.all,
      axes.bot.all,
      axes.ja4.all,
      axes.ja4h.all,
      axes.status.all,
      ...values.whole,
    ],
    free,
    impossible: values.impossible.map((pair) => ({ sets: restricted(free, pair), paths: null })),
    canonical,
    acme: regexAutomaton(acme, letters),
    own: own.automaton,
    ...languages,
    covers: createCovers(canonical, letters),
    probes: createProbes(canonical, letters),
    pick: (axis, set) => pickAtom(axes, axis, set),
    partsOf,
    boxOf(plan, slot) {
      const known = boxes[plan]!.get(slot);
      if (known !== undefined) return known;
      const parts = partsOf(plan, slot);
      const made =
        parts === null ? null : { ...parts.filters, sets: restricted(parts.filters.sets, parts.terms) };
      boxes[plan]!.set(slot, made);
      return made;
    },
  };
}

/** The automaton of `TOKEN_PATH` in the layout of plans. */
function tokenTable(): Uint16Array {
  const parsed = parsePattern(TOKEN_PATH, { ignoreCase: false });
  const built = parsed.ok ? buildDfa(parsed.pattern.program) : null;
  if (built === null || !built.ok) throw new Error('the pattern of ACME paths does not compile');
  return built.table;
}

/** Every pattern of a path filter. */
function* pathPatterns(plans: readonly LoadedPlan[]): Iterable<PlanPattern> {
  const seen = new Set<string>();
  for (const loaded of plans) {
    const { slots } = loaded.plan;
    for (let row = 0; row < slots.length; row += SLOT.size) {
      const entries = entriesAt(loaded, slots[row + SLOT.path]!);
      for (const number of [...(entries?.includes ?? []), ...(entries?.excludes ?? [])]) {
        const pattern = readPattern(loaded, number);
        if (seen.has(pattern.name)) continue;
        seen.add(pattern.name);
        yield pattern;
      }
    }
  }
}

/** The paths of filters, each made at its first use. */
type Languages = Pick<Space, 'pathsOf' | 'wildcardPaths' | 'onePath' | 'without' | 'common'>;

function createLanguages(plans: readonly LoadedPlan[], patterns: PatternSet, room: SpaceRoom): Languages {
  const { letters } = patterns;
  const known = new Map<string, Language | null>();
  const cached = (name: string, make: () => LetterAutomaton | null): Language | null => {
    const found = known.get(name);
    if (found !== undefined) return found;
    const automaton = make();
    const made = automaton === null ? null : { name, automaton };
    known.set(name, made);
    return made;
  };
  const filtered = (name: string, filter: PatternFilter): Language | null =>
    cached(name, () => filterAutomaton(filter, { letters, room }));
  return {
    pathsOf(plan, { includes, excludes }, bothForms) {
      const read = (number: number): PlanPattern => readPattern(plans[plan]!, number);
      const [wanted, unwanted] = [includes.map(read), excludes.map(read)];
      const name = JSON.stringify([
        bothForms,
        wanted.map((one) => one.name),
        unwanted.map((one) => one.name),
      ]);
      return cached(name, () => {
        const [includes, excludes] = [wanted, unwanted].map((list) => list.map(patterns.automatonOf));
        if (!isBuilt(includes!) || !isBuilt(excludes!)) return null;
        const isListed = [...wanted, ...unwanted].some(isListPattern);
        return filterAutomaton({ includes, excludes, bothForms, isListed }, { letters, room });
      });
    },
    wildcardPaths: (pieces) =>
      filtered(`either ${JSON.stringify(pieces)}`, {
        includes: [wildcardAutomaton(pieces, letters)],
        excludes: [],
        bothForms: false,
      }),
    onePath: (path) => wildcardAutomaton([path], letters),
    without(first, second) {
      const all = first ?? { name: 'all', automaton: wildcardAutomaton(['', ''], letters) };
      return cached(`${all.name} without ${second.name}`, () =>
        combine(all.automaton, second.automaton, { keep: 'rest', room }),
      );
    },
    common: (first, second) =>
      cached(`${first.name} and ${second.name}`, () =>
        combine(first.automaton, second.automaton, { keep: 'common', room }),
      ),
  };
}

/** Steps of one proof that a language covers another. */
const COVER_STEPS = 2_000;

/**
 * Proofs that a language covers another, each made once.
 * PERF: an edit that widens a pattern is set against every other rule, and this one fact answers most of these questions.
 */
function createCovers(canonical: LetterAutomaton, letters: Letters): Space['covers'] {
  const known = new Map<string, boolean>();
  return (wide, narrow) => {
    if (wide.name === narrow.name) return true;
    const key = JSON.stringify([wide.name, narrow.name]);
    let covered = known.get(key);
    if (covered === undefined) {
      const query = { within: [canonical, narrow.automaton], outside: [wide.automaton] };
      covered = findText(query, letters, createBudget(COVER_STEPS)).kind === 'empty';
      known.set(key, covered);
    }
    return covered;
  };
}

/** Whether the space had room for all automata. */
function isBuilt(automata: readonly (LetterAutomaton | null)[]): automata is readonly LetterAutomaton[] {
  return !automata.includes(null);
}

/** The box of a rule's filters, and its terms. */
function makeParts(
  { plans, axes, free, pathsOf }: Pick<Space, 'plans' | 'axes' | 'free' | 'pathsOf'>,
  plan: number,
  slot: number,
): BoxParts | null {
  const loaded = plans[plan]!;
  const { slots } = loaded.plan;
  const entries = entriesAt(loaded, slots[slot * SLOT.size + SLOT.path]!);
  const bothForms = (slots[slot * SLOT.size + SLOT.flags]! & FLAG.bothForms) !== 0;
  const paths = entries === null ? null : pathsOf(plan, entries, bothForms);
  const hosts = axes.host.setOf(plan, slot);
  const addresses = axes.ip.setOf(loaded, slot);
  if ((entries !== null && paths === null) || hosts === 'unknown' || addresses === 'unknown') return null;
  const terms = termsAt(loaded, slot).map((term) => setOfTerm(axes, { plan, loaded }, term));
  if (!terms.every((term) => term !== null)) return null;
  const fixed = [
    hosts,
    addresses,
    axes.country.setOf(loaded, slot),
    axes.bot.setOf(loaded, slot),
    axes.ja4.setOf(loaded, slot),
    axes.ja4h.setOf(loaded, slot),
    axes.status.setOf(loaded, slot),
  ];
  return { filters: { sets: free.map((_, axis) => fixed[axis] ?? null), paths }, terms };
}

/** A known address, an assigned country only if one must be known, no bot and no fingerprint unless there must be one. */
function pickAtom(axes: SpaceAxes, axis: number, set: AtomSet): number {
  const first = set[0]!;
  switch (AXES[axis]) {
    case 'ip':
      return axes.ip.pick(set);
    case 'country': {
      const last = set.at(-1)! - 1;
      if (axes.country.sample(last) === null) return last;
      for (let at = 0; at < set.length; at += 2) {
        for (let atom = set[at]!; atom < set[at + 1]!; atom++) {
          if (isAssigned(axes.country.sample(atom))) return atom;
        }
      }
      return first;
    }
    default:
      return first;
  }
}
