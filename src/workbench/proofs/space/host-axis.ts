/**
 * The axis of hosts. Each exact name that some plan serves is an atom. The endless hosts below a wildcard record are divided
 * into classes that no host filter distinguishes: the product of the filters' automata, walked over all names below it.
 */
import { parseHost } from '../../../base/addresses/host.ts';
import { findGroup, hasName, type LoadedPlan, textOf } from '../../../engine/evaluator/loaded.ts';
import { META, NAME, NONE, SLOT } from '../../../engine/plan/layout.ts';
import { acceptsLetters, FATE, type LetterAutomaton, sealAutomaton, wildcardAutomaton } from './automaton.ts';
import { type AtomSet, atomSet, cachedSet, intersect, type SetCache } from './boxes.ts';
import type { SpaceRoom } from './budget.ts';
import {
  createPatternSet,
  entriesAt,
  type FilterEntries,
  isListPattern,
  type PatternSet,
  readPattern,
} from './language.ts';

/** States of the automaton that divides the hosts below one wildcard record. */
const MAX_HOST_STATES = 20_000;
/** Tests of a host against a host filter: 10,000 hosts against 1,000 filters. */
const MAX_HOST_TESTS = 10_000_000;

/** A class of hosts. */
interface HostAtom {
  /** One of its hosts. */
  readonly host: string;
  /** By plan: the group that serves it, or NONE. */
  readonly groups: readonly number[];
}

/** The axis. */
export interface HostAxis {
  readonly all: AtomSet;
  /**
   * The hosts in a slot's scope that its host filter accepts; `null`: every host; `unknown`: there are too many to test, or the
   * filter names a list that is too large.
   */
  setOf(plan: number, slot: number): AtomSet | null | 'unknown';
  /** The hosts that entries of a plan's filters accept; `null`: unknown, as in `setOf`. */
  setOfEntries(plan: number, entries: FilterEntries): AtomSet | null;
  /** The hosts that a plan serves. */
  served(plan: number): AtomSet;
  /** The atom of one host, if it has an atom of its own. */
  atomOf(host: string): number | null;
  /** The hosts that a wildcard matches. */
  setOfWildcard(pieces: readonly string[]): AtomSet;
  sample(atom: number): string;
}

/** What the axis is made of. */
export interface HostAxisInput {
  readonly plans: readonly LoadedPlan[];
  /** Hosts that are to be atoms of their own: targets of redirects. */
  readonly single: readonly string[];
  /** Further wildcards that must be distinguished, as pieces. */
  readonly wildcards: readonly (readonly string[])[];
  readonly room: SpaceRoom;
}

/** The axis; `null` if the filters divide the hosts into too many classes. */
export function createHostAxis(input: HostAxisInput): HostAxis | null {
  const { plans, single } = input;
  const patterns = createHostPatterns(input);
  if (patterns === null) return null;
  const exact = [...exactAtoms(plans, single)];
  const atoms = [...exact];
  for (const name of namesAbove(plans)) {
    const found = classesBelow(name, patterns, plans);
    if (found === null) return null;
    atoms.push(...found);
  }
  const places = new Map(exact.map(({ host }, place) => [host, place]));
  const cache: SetCache = new Map();
  let tests = 0;
  const matching = (filter: FilterEntries, plan: number): AtomSet | null => {
    if (!patterns.isBuilt(filter, plans[plan]!)) return null;
    tests += atoms.length * (filter.includes.length + filter.excludes.length);
    return tests > MAX_HOST_TESTS ? null : patterns.matching(filter, { loaded: plans[plan]!, atoms });
  };
  return {
    all: Int32Array.of(0, atoms.length),
    setOf: (plan, slot) => {
      const { slots, words } = plans[plan]!.plan;
      const [host, scope] = [slots[slot * SLOT.size + SLOT.host]!, slots[slot * SLOT.size + SLOT.scope]!];
      const filter = entriesAt(plans[plan]!, host);
      const name = filter === null ? '' : patterns.nameOf(filter, plans[plan]!);
      const hosts = filter === null ? null : (cache.get(name) ?? matching(filter, plan));
      if (filter !== null && hosts === null) return 'unknown';
      if (hosts !== null) cache.set(name, hosts);
      if (scope === NONE) return hosts;
      const groups = new Set(words.subarray(scope + 1, scope + 1 + words[scope]!));
      const key = `scope ${plan} ${[...groups].join(' ')}`;
      const scoped = cachedSet(cache, key, () => atomsWhere(atoms, (atom) => groups.has(atom.groups[plan]!)));
      return hosts === null ? scoped : intersect(hosts, scoped);
    },
    setOfEntries: (plan, entries) => matching(entries, plan),
    served: (plan) =>
      cachedSet(cache, `served ${plan}`, () => atomsWhere(atoms, (atom) => atom.groups[plan] !== NONE)),
    atomOf: (host) => places.get(host) ?? null,
    setOfWildcard: (pieces) => patterns.wildcard(pieces, atoms),
    sample: (atom) => atoms[atom]!.host,
  };
}

function atomsWhere(atoms: readonly HostAtom[], isIn: (atom: HostAtom) => boolean): AtomSet {
  return atomSet([...atoms.keys()].filter((place) => isIn(atoms[place]!)));
}

/** The names of a plan: those with records, and those between. */
function* namesOf({ plan }: LoadedPlan): Iterable<{ readonly string: number; readonly row: number }> {
  const end = plan.meta[META.nameSlots]! * NAME.size;
  for (let row = 0; row < end; row += NAME.size) {
    const string = plan.names[row + NAME.string]!;
    if (string !== 0) yield { string, row };
  }
}

/** Every host with a name of its own: served names, those that exist and shield a wildcard, and the single ones. */
function* exactAtoms(plans: readonly LoadedPlan[], single: readonly string[]): Iterable<HostAtom> {
  const hosts = new Set<string>();
  for (const loaded of plans) {
    for (const { string } of namesOf(loaded)) {
      const name = textOf(loaded, string);
      if (!name.includes('*')) hosts.add(name);
    }
  }
  for (const host of single) hosts.add(host);
  for (const host of [...hosts].sort()) {
    const groups = plans.map((loaded) => groupOf(loaded, host));
    if (groups.some((group) => group !== NONE)) yield { host, groups };
  }
}

/** The group that serves a host within the domain of a plan. */
function groupOf(loaded: LoadedPlan, host: string): number {
  const domain = textOf(loaded, loaded.plan.meta[META.domain]!);
  return host === domain || host.endsWith(`.${domain}`) ? findGroup(loaded, host) : NONE;
}

/**
 * The names whose hosts below them may be served: those with a wildcard record, and those that exist in one plan only below
 * such a record, since there the plans differ.
 */
function namesAbove(plans: readonly LoadedPlan[]): ReadonlySet<string> {
  const above = new Set(wildcardNames(plans));
  if (plans.length === 1 || above.size === 0) return above;
  const sets = plans.map(
    (loaded) => new Set([...namesOf(loaded)].map(({ string }) => textOf(loaded, string))),
  );
  for (const set of sets) {
    for (const name of set)
      if (!name.includes('*') && sets.some((other) => !other.has(name))) above.add(name);
  }
  return above;
}

/** Names with a wildcard record below them, in any plan. */
function wildcardNames(plans: readonly LoadedPlan[]): ReadonlySet<string> {
  const names = new Set<string>();
  for (const loaded of plans) {
    for (const { string, row } of namesOf(loaded)) {
      if (loaded.plan.names[row + NAME.wildcard] !== NONE) names.add(textOf(loaded, string));
    }
  }
  return names;
}

/** The host patterns of all plans over one alphabet. */
interface HostPatterns {
  readonly set: PatternSet;
  /** Every pattern that occurs in a filter. */
  readonly automata: readonly LetterAutomaton[];
  nameOf(filter: FilterEntries, loaded: LoadedPlan): string;
  /** Whether every pattern of a filter has its automaton; a list that is too large has none. */
  isBuilt(filter: FilterEntries, loaded: LoadedPlan): boolean;
  matching(filter: FilterEntries, of: { loaded: LoadedPlan; atoms: readonly HostAtom[] }): AtomSet;
  wildcard(pieces: readonly string[], atoms: readonly HostAtom[]): AtomSet;
}

function createHostPatterns({ plans, single, wildcards, room }: HostAxisInput): HostPatterns | null {
  const found = new Map<string, ReturnType<typeof readPattern>>();
  for (const loaded of plans) {
    const { slots } = loaded.plan;
    for (let row = 0; row < slots.length; row += SLOT.size) {
      const entries = entriesAt(loaded, slots[row + SLOT.host]!);
      for (const number of [...(entries?.includes ?? []), ...(entries?.excludes ?? [])]) {
        const pattern = readPattern(loaded, number);
        found.set(pattern.name, pattern);
      }
    }
  }
  const names = plans.flatMap((loaded) => [...namesOf(loaded)].map(({ string }) => textOf(loaded, string)));
  const further = [...single.map((host) => [host]), ...wildcards];
  const literals = ['.-', ...names, ...further.flat()];
  const set = createPatternSet(found.values(), { literals, room });
  const automata: LetterAutomaton[] = [];
  for (const pattern of found.values()) {
    const automaton = set.automatonOf(pattern);
    if (automaton !== null) automata.push(automaton);
    else if (!isListPattern(pattern)) return null;
  }
  const extra = further.map((pieces) => wildcardAutomaton(pieces, set.letters));
  const spelled = new Map<string, readonly number[]>();
  const lettersOf = (host: string): readonly number[] => {
    const known = spelled.get(host);
    if (known !== undefined) return known;
    const made = [...host].map((character) => set.letters.letterOf(character.codePointAt(0)!));
    spelled.set(host, made);
    return made;
  };
  return {
    set,
    automata: [...automata, ...extra],
    nameOf: ({ includes, excludes }, loaded) => {
      const name = (number: number): string => readPattern(loaded, number).name;
      return `host ${JSON.stringify([includes.map(name), excludes.map(name)])}`;
    },
    isBuilt: ({ includes, excludes }, loaded) =>
      [...includes, ...excludes].every((number) => set.automatonOf(readPattern(loaded, number)) !== null),
    matching({ includes, excludes }, { loaded, atoms }) {
      // Filters with a pattern that has no automaton do not come here.
      const built = (numbers: readonly number[]): readonly LetterAutomaton[] =>
        numbers.map((number) => set.automatonOf(readPattern(loaded, number))!);
      const [wanted, unwanted] = [built(includes), built(excludes)];
      return atomsWhere(atoms, ({ host }) => {
        const letters = lettersOf(host);
        const matches = (automaton: LetterAutomaton): boolean => acceptsLetters(automaton, letters);
        return (wanted.length === 0 || wanted.some(matches)) && !unwanted.some(matches);
      });
    },
    wildcard(pieces, atoms) {
      const automaton = wildcardAutomaton(pieces, set.letters);
      return atomsWhere(atoms, ({ host }) => acceptsLetters(automaton, lettersOf(host)));
    },
  };
}

/** A host under construction, and the states of all automata after it. */
interface HostVisit {
  /** States of the automata of the shape: of host names, and of those below the name. */
  readonly names: number;
  readonly below: number;
  /** The place and the state of each other automaton that may still accept or refuse. */
  readonly open: readonly number[];
  readonly accepting: AcceptingPlaces;
  readonly from: number;
  readonly letter: number;
}

/** Places of automata that accept every continuation, in order; equal ones are one object, with a number. */
interface AcceptingPlaces {
  readonly places: readonly number[];
  readonly number: number;
}

/** A class of hosts, and whether its host is served by the wildcard record that the walk is about. */
interface HostClass {
  readonly host: string;
  readonly isServed: boolean;
}

/** Names that are left out of a walk one after another; a class whose hosts still have no record proves nothing. */
const MAX_SHIELDS = 32;

/**
 * The classes of hosts right below a name with a wildcard record: no name that exists lies between. A class of which only such
 * shielded hosts are found is walked again without them. If the walk finds no other, the class stays, since it may have some:
 * its sample then proves nothing.
 */
function classesBelow(
  name: string,
  patterns: HostPatterns,
  plans: readonly LoadedPlan[],
): readonly HostAtom[] | null {
  const groups = plans.map((loaded) => groupOf(loaded, `${UNUSED_LABEL}.${name}`));
  const isServed = (host: string): boolean =>
    plans.every((loaded, at) => groupOf(loaded, host) === groups[at]);
  const shields = new Set<string>();
  for (;;) {
    const classes = walkBelow(name, patterns, { shields: [...shields], isServed });
    if (classes === null) return null;
    const known = shields.size;
    for (const { host } of classes.filter((one) => !one.isServed)) {
      const shield = plans
        .map((loaded) => nameAbove(loaded, host))
        .find((above) => above.length > name.length);
      if (shield !== undefined && shields.size < MAX_SHIELDS) shields.add(shield);
    }
    if (shields.size === known) return classes.map(({ host }) => ({ host, groups }));
  }
}

/** The longest existing name that a host is or lies below. */
function nameAbove(loaded: LoadedPlan, host: string): string {
  let name = host;
  while (name !== '' && !hasName(loaded, name))
    name = name.includes('.') ? name.slice(name.indexOf('.') + 1) : '';
  return name;
}

/**
 * Walks the hosts below a name, but those of shields and below them. Most automata are decided after a few letters: each visit
 * has the states of the others alone.
 */
function walkBelow(
  name: string,
  { set, automata }: HostPatterns,
  {
    shields,
    isServed,
  }: { readonly shields: readonly string[]; readonly isServed: (host: string) => boolean },
): readonly HostClass[] | null {
  const [hosts, under] = [hostNames(set), wildcardAutomaton(['', `.${name}`], set.letters)];
  const excluded = shields.flatMap((shield) => [[shield], ['', `.${shield}`]]);
  const all = [...excluded.map((pieces) => wildcardAutomaton(pieces, set.letters)), ...automata];
  const isExcluded = (place: number): boolean => place < excluded.length;
  const step = createHostSteps(all);
  const first = step(
    all.flatMap((_, place) => [place, -1]),
    NONE_ACCEPTING,
    ({ start }) => start,
  );
  const visits: HostVisit[] = [{ names: hosts.start, below: under.start, ...first, from: -1, letter: -1 }];
  const visited = new Set<string>([keyOf(visits[0]!)]);
  const classes = new Map<string, HostClass>();
  for (let index = 0; index < visits.length; index++) {
    if (index > MAX_HOST_STATES) return null;
    const visit = visits[index]!;
    const { names, below, open, accepting } = visit;
    if (hosts.accepts[names] === 1 && under.accepts[below] === 1) {
      const places = acceptingAt(visit, all);
      const host = hostAt(visits, index, set);
      const key = places.join(' ');
      if (!places.some(isExcluded) && classes.get(key)?.isServed !== true) {
        const served = isServed(host);
        if (served || !classes.has(key)) classes.set(key, { host, isServed: served });
      }
    }
    for (const letter of set.letters.preferred) {
      const next = ({ next }: LetterAutomaton, state: number): number =>
        next[state * set.letters.count + letter]!;
      const after = next(hosts, names);
      if (hosts.fate[after] === FATE.dead) continue;
      const stepped = step(open, accepting, next);
      const made = { names: after, below: next(under, below), ...stepped, from: index, letter };
      const key = keyOf(made);
      if (visited.has(key)) continue;
      visited.add(key);
      visits.push(made);
    }
  }
  return [...classes.values()];
}

const NONE_ACCEPTING: AcceptingPlaces = { places: [], number: 0 };

type HostStep = (
  open: HostVisit['open'],
  accepting: AcceptingPlaces,
  next: (automaton: LetterAutomaton, state: number) => number,
) => Pick<HostVisit, 'open' | 'accepting'>;

/** Steps of automata by their places: those that a state decides are stepped no more. */
function createHostSteps(all: readonly LetterAutomaton[]): HostStep {
  const known = new Map<string, AcceptingPlaces>([['', NONE_ACCEPTING]]);
  return (open, accepting, next) => {
    const left: number[] = [];
    const added: number[] = [];
    for (let at = 0; at < open.length; at += 2) {
      const place = open[at]!;
      const automaton = all[place]!;
      const state = next(automaton, open[at + 1]!);
      if (automaton.fate[state] === FATE.all) added.push(place);
      else if (automaton.fate[state] === FATE.open) left.push(place, state);
    }
    if (added.length === 0) return { open: left, accepting };
    const places = [...accepting.places, ...added].sort((a, b) => a - b);
    const key = places.join(' ');
    const same = known.get(key) ?? { places, number: known.size };
    known.set(key, same);
    return { open: left, accepting: same };
  };
}

/** Equal for visits that every continuation leads to the same classes. */
function keyOf({ names, below, open, accepting }: HostVisit): string {
  return `${names} ${below} ${accepting.number} ${open.join(' ')}`;
}

/** Places of the automata that accept the host of a visit, in order. */
function acceptingAt({ open, accepting }: HostVisit, all: readonly LetterAutomaton[]): readonly number[] {
  const places = [...accepting.places];
  for (let at = 0; at < open.length; at += 2)
    if (all[open[at]!]!.accepts[open[at + 1]!] === 1) places.push(open[at]!);
  return places.sort((a, b) => a - b);
}

/** A label that no domain is expected to have a record for. */
const UNUSED_LABEL = 'edgeplan-unused-label';

/** Canonical hosts: labels of at least one character that a host may have. */
function hostNames({ letters }: PatternSet): LetterAutomaton {
  const dot = letters.letterOf(0x2e);
  const facts = { host: '', port: -1, literal: false };
  const isHostLetter = letters.samples.map(
    (sample) => sample !== '' && parseHost(sample, facts) && facts.host === sample,
  );
  const [start, label, dead] = [0, 1, 2];
  const next = Int32Array.from({ length: 3 * letters.count }, (_, cell) => {
    const [state, letter] = [Math.floor(cell / letters.count), cell % letters.count];
    if (letter === dot) return state === label ? start : dead;
    return state !== dead && isHostLetter[letter] === true ? label : dead;
  });
  return sealAutomaton({ states: 3, start, next, accepts: Uint8Array.of(0, 1, 0) });
}

function hostAt(visits: readonly HostVisit[], index: number, { letters }: PatternSet): string {
  let host = '';
  for (let at = index; visits[at]!.from >= 0; at = visits[at]!.from) {
    host = `${letters.samples[visits[at]!.letter]}${host}`;
  }
  return host;
}
