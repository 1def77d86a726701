/**
 * The axes of what conditions read beside the fixed axes: headers, query parameters, cookies, methods, schemes, networks and tags.
 * In: plans. Out: axes whose atoms are sets of tests that hold for a request, the set of each term, and values of a point.
 *
 * A request has any number of values of a header, so the tests that hold are a union of signatures of single values
 * (`value-language.ts`). Tests that no value passes together with others are axes of their own: their unions are independent.
 * Where unions are too many, each test is an axis, which has more points than requests have: values of such a point may not exist.
 */

import type { LoadedPlan } from '../../../engine/evaluator/loaded.ts';
import { decodeQueryPart } from '../../../engine/evaluator/values.ts';
import type { ConditionMember } from '../../../engine/plan/layout.ts';
import { type AtomSet, atomSet } from './boxes.ts';
import { createBudget, type SpaceRoom } from './budget.ts';
import { oneValue } from './fact-values.ts';
import { patternsOfTerm } from './language.ts';
import { tagAxis } from './tag-axis.ts';
import { entriesOf, type PlanTerm, termsOfPlan } from './terms.ts';
import {
  bit,
  createValueLanguage,
  type Signature,
  type SourceTest,
  type ValueKind,
  type ValueLanguage,
} from './value-language.ts';

/** Steps of the proofs that tests of one source imply others. */
const MAX_IMPLIED_STEPS = 100_000;
/** Atoms of one axis. */
const MAX_VALUE_ATOMS = 256;

/** What a term accepts on one axis. */
export interface TermSet {
  readonly member: ConditionMember;
  readonly axis: number;
  readonly set: AtomSet;
}

/** A set on one axis. */
export type AxisRestriction = Omit<TermSet, 'member'>;

/** What a point has on these axes. */
export interface PointValues {
  /** `null`: no test asks for it. */
  readonly method: string | null;
  readonly scheme: string | null;
  readonly asn: number | null;
  /** Field lines by name. */
  readonly headers: readonly SampledValue[];
  readonly query: readonly SampledValue[];
  readonly cookies: readonly SampledValue[];
}

/** One line of a header, or one occurrence of a parameter or cookie. */
export interface SampledValue {
  readonly name: string;
  readonly value: string;
}

/** The axes. Their numbers start after those of the fixed ones. */
export interface ValueAxes {
  /** Every atom, axis by axis. */
  readonly whole: readonly AtomSet[];
  /** Combinations that no request has: a set on each of two axes. */
  readonly impossible: readonly (readonly AxisRestriction[])[];
  /** What a term of a plan accepts; `null`: unknown, or of an axis of another kind. */
  setOf(plan: number, term: PlanTerm): TermSet | null;
  /** Requests that a rule has tagged, or has not; `null`: no axis distinguishes them. */
  tagged(plan: number, slot: number, isTagged: boolean): AxisRestriction | null;
  /** Requests with GET or HEAD and without a query, as those of ACME servers. */
  readonly fetching: readonly AxisRestriction[];
  /** Requests over the other scheme; `null`: no condition asks for schemes. */
  otherSchemes(scheme: string): AxisRestriction | null;
  /** Requests whose query is certainly another one, axis by axis. */
  otherQueries(query: string): readonly AxisRestriction[];
  /** Values of a point by its atoms of all axes; `null`: none were found. */
  valuesAt(atoms: readonly number[]): PointValues | null;
  /** Whether a query parameter of this name is tested. */
  isTested(kind: ValueKind, name: string): boolean;
}

/** A source with its tests. */
interface Source {
  readonly kind: PlanTerm['kind'];
  readonly name: string;
  readonly tests: SourceTest[];
  readonly places: Map<string, number>;
}

/** Tests of one axis, and the sets of them that are its atoms. */
interface Part {
  readonly tests: bigint;
  readonly atoms: readonly bigint[];
}

/** The axes of one source. */
interface SourceAxes {
  readonly source: Source;
  readonly parts: readonly Part[];
  /** The axis of the first part. */
  readonly first: number;
  /** Values that pass these tests and no others; `null`: none were found. */
  values(tests: bigint): readonly string[] | null;
  /** Whether it is proved that values that pass the test at a place pass another. */
  implies: ValueLanguage['implies'];
  /** The tests that a value passes. */
  passed: ValueLanguage['passed'];
  isBuilt: ValueLanguage['isBuilt'];
}

/** The axes of plans, from number `first` on; `null`: the space has no room for them. */
export function createValueAxes(
  plans: readonly LoadedPlan[],
  { first, room }: { readonly first: number; readonly room: SpaceRoom },
): ValueAxes | null {
  const sources = readSources(plans);
  const list: SourceAxes[] = [];
  let next = first;
  for (const source of sources.values()) {
    const made = axesOf(source, room);
    if (made === null) return null;
    list.push({ source, first: next, ...made });
    next += made.parts.length;
  }
  const tags = plans.map((loaded) => {
    const made = tagAxis(loaded, next);
    if (made !== null) next++;
    return made;
  });
  const byKey = new Map(list.map((one) => [keyOfSource(one.source), one]));
  const parts = list.flatMap((one) => one.parts);
  return {
    whole: [
      ...parts.map(({ atoms }) => Int32Array.of(0, atoms.length)),
      ...tags.flatMap((one) => (one === null ? [] : [one.all])),
    ],
    impossible: list.flatMap(impossibleOf),
    setOf(plan, term) {
      const { member, negated } = term;
      if (term.comparison === 'tagged') {
        const { axis, setOf } = tags[plan]!;
        const set = setOf(entriesOf(plans[plan]!, term), negated);
        return set === null ? null : { member, axis, set };
      }
      const axes = byKey.get(keyOfSource(term));
      const place = axes?.source.places.get(testOf(plans[plan]!, term).name);
      return axes === undefined || place === undefined || !axes.isBuilt(place)
        ? null
        : { member, ...setOfTest(axes, place, negated) };
    },
    tagged(plan, slot, isTagged) {
      const tag = tags[plan] ?? null;
      const set = tag?.slots.includes(slot) === true ? tag.setOf([slot], !isTagged) : null;
      return tag === null || set === null ? null : { axis: tag.axis, set };
    },
    fetching: list.flatMap(fetchingOf),
    otherSchemes(scheme) {
      const axes = byKey.get(keyOfSource({ kind: 'scheme', name: '' }));
      if (axes === undefined || axes.parts[0]!.atoms.length < 2) return null;
      const { atoms } = axes.parts[0]!;
      const others = [...atoms.keys()].filter((atom) => axes.values(atoms[atom]!)?.[0] !== scheme);
      return { axis: axes.first, set: atomSet(others) };
    },
    otherQueries: (query) => list.flatMap((axes) => otherValues(axes, query)),
    valuesAt: (atoms) => valuesAt(list, atoms),
    isTested: (kind, name) => byKey.has(keyOfSource({ kind, name })),
  };
}

function keyOfSource({ kind, name }: Pick<PlanTerm, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

/** Kinds whose terms are sets of the fixed axes, or of tags. */
const ELSEWHERE: readonly PlanTerm['kind'][] = ['ip', 'country', 'bot', 'verified', 'ja4', 'tag'];

function readSources(plans: readonly LoadedPlan[]): ReadonlyMap<string, Source> {
  const sources = new Map<string, Source>();
  for (const loaded of plans) {
    for (const term of termsOfPlan(loaded)) {
      if (ELSEWHERE.includes(term.kind)) continue;
      const key = keyOfSource(term);
      const source: Source = sources.get(key) ?? {
        kind: term.kind,
        name: term.name,
        tests: [],
        places: new Map(),
      };
      sources.set(key, source);
      const test = testOf(loaded, term);
      if (!source.places.has(test.name)) source.places.set(test.name, source.tests.push(test) - 1);
    }
  }
  return sources;
}

/** The test of a term. */
function testOf(loaded: LoadedPlan, term: PlanTerm): SourceTest {
  const { comparison, ignoreCase } = term;
  if (comparison === 'any') return { name: 'any', patterns: null, ignoreCase: false };
  const patterns = new Map(patternsOfTerm(loaded, term).map((pattern) => [pattern.name, pattern]));
  return {
    name: JSON.stringify([ignoreCase, ...[...patterns.keys()].sort()]),
    patterns: [...patterns.values()],
    ignoreCase,
  };
}

/** The set of a test, or of its contrary. */
function setOfTest({ parts, first }: SourceAxes, place: number, negated: boolean): AxisRestriction {
  const at = parts.findIndex(({ tests }) => (tests & bit(place)) !== 0n);
  const { atoms } = parts[at]!;
  const listed = [...atoms.keys()].filter((atom) => ((atoms[atom]! & bit(place)) !== 0n) !== negated);
  return { axis: first + at, set: atomSet(listed) };
}

function axesOf(source: Source, room: SpaceRoom): Omit<SourceAxes, 'source' | 'first'> | null {
  const { kind, tests } = source;
  if (kind === 'header' || kind === 'query' || kind === 'cookie') {
    const language = createValueLanguage(kind, tests, room);
    if (language === null) return null;
    const { signatures } = language;
    return {
      parts:
        signatures === null
          ? tests.map((_, place) => single(place))
          : unionsOf(signatures, { any: anyOf(tests), count: tests.length }),
      values: (wanted) => realised(wanted, signatures, language.find),
      implies: language.implies,
      passed: language.passed,
      isBuilt: language.isBuilt,
    };
  }
  const atoms = oneValue(kind, tests);
  return {
    parts: [{ tests: bit(tests.length + 1) - 1n, atoms: [...atoms.keys()] }],
    values(wanted) {
      const value = atoms.get(wanted) ?? null;
      return value === null ? [] : [value];
    },
    implies: () => false,
    passed: () => 0n,
    isBuilt: () => true,
  };
}

/** The bit of the test that every value passes, if there is one. */
function anyOf(tests: readonly SourceTest[]): bigint {
  return tests.reduce((mask, { patterns }, place) => (patterns === null ? mask | bit(place) : mask), 0n);
}

function single(place: number): Part {
  return { tests: bit(place), atoms: [0n, bit(place)] };
}

// Headers, query parameters and cookies, of which a request may have several values.

/** The axes of tests by the signatures of single values. */
function unionsOf(
  signatures: readonly Signature[],
  { any, count }: { any: bigint; count: number },
): readonly Part[] {
  const masks = signatures.map(({ tests }) => tests);
  const whole = unions(masks);
  if (whole !== null) return [{ tests: bit(count) - 1n, atoms: whole }];
  const groups = groupsOf(masks.map((tests) => tests & ~any));
  const parts = groups.flatMap((group): readonly Part[] => {
    const atoms = unions(masks.map((tests) => tests & group));
    return atoms === null ? bitsOf(group).map(single) : [{ tests: group, atoms }];
  });
  const never = groups.reduce((mask, group) => mask & ~group, bit(count) - 1n - any);
  return [
    ...parts,
    ...(any === 0n ? [] : [{ tests: any, atoms: [0n, any] }]),
    ...(never === 0n ? [] : [{ tests: never, atoms: [0n] }]),
  ];
}

/** Every union of sets, the empty one first and small ones before others; `null`: too many. */
function unions(masks: readonly bigint[]): readonly bigint[] | null {
  const found = new Set([0n]);
  for (const mask of new Set(masks)) {
    for (const known of [...found]) found.add(known | mask);
    if (found.size > MAX_VALUE_ATOMS) return null;
  }
  const sized = [...found].map((tests) => ({
    tests,
    size: bitsOf(tests).length,
  }));
  return sized.sort((a, b) => a.size - b.size).map(({ tests }) => tests);
}

/** Places of the tests in a set. */
function bitsOf(tests: bigint): readonly number[] {
  const places: number[] = [];
  for (let place = 0; bit(place) <= tests; place++) if ((tests & bit(place)) !== 0n) places.push(place);
  return places;
}

/** The smallest groups of tests of which no set has tests of two. */
function groupsOf(masks: readonly bigint[]): readonly bigint[] {
  let groups: bigint[] = [];
  for (const mask of masks) {
    if (mask === 0n) continue;
    const joined = groups.filter((group) => (group & mask) !== 0n).reduce((all, group) => all | group, mask);
    groups = [...groups.filter((group) => (group & mask) === 0n), joined];
  }
  return groups;
}

/**
 * Tests of axes of their own of which one passes only where the other does, such as the one that every value passes: the rest is
 * to be left out.
 */
function impossibleOf({ parts, first, implies }: SourceAxes): ValueAxes['impossible'] {
  const budget = createBudget(MAX_IMPLIED_STEPS);
  const alone = parts.flatMap(({ tests }, at) => {
    const places = bitsOf(tests);
    return places.length === 1 ? [{ place: places[0]!, at }] : [];
  });
  return alone.flatMap((other) =>
    parts.flatMap(({ tests, atoms }, at): ValueAxes['impossible'] => {
      const some = atomSet([...atoms.keys()].filter((atom) => atoms[atom] !== 0n));
      if (at === other.at || some.length === 0) return [];
      const isOut = bitsOf(tests).every((place) => implies(place, other.place, budget));
      return isOut
        ? [
            [
              { axis: first + other.at, set: Int32Array.of(0, 1) },
              { axis: first + at, set: some },
            ],
          ]
        : [];
    }),
  );
}

/** Values that pass these tests together, and no others; `null`: none were found. */
function realised(
  wanted: bigint,
  signatures: readonly Signature[] | null,
  find: ValueFinder,
): readonly string[] | null {
  const values: string[] = [];
  let missing = wanted;
  const usable = (signatures ?? []).filter(
    ({ tests, sample }) => sample !== null && (tests & ~wanted) === 0n,
  );
  while (missing !== 0n && signatures !== null) {
    const gain = ({ tests }: Signature): number => bitsOf(tests & missing).length;
    const best = usable.reduce<Signature | null>(
      (most, one) => (most === null || gain(one) > gain(most) ? one : most),
      null,
    );
    if (best === null || gain(best) === 0) return null;
    values.push(best.sample!);
    missing &= ~best.tests;
  }
  for (const place of bitsOf(missing)) {
    const value = find(place, wanted);
    if (value === null) return null;
    values.push(value);
  }
  return values;
}

type ValueFinder = (test: number, within: bigint) => string | null;

function fetchingOf({ source, parts, first }: SourceAxes): readonly AxisRestriction[] {
  const [part] = parts;
  if (source.kind === 'query')
    return parts.map(({ atoms }, at) => ({
      axis: first + at,
      set: atomSet([atoms.indexOf(0n)]),
    }));
  if (source.kind !== 'method' || part === undefined) return [];
  const fetches = bit(source.tests.length);
  const listed = [...part.atoms.keys()].filter((atom) => (part.atoms[atom]! & fetches) !== 0n);
  return [{ axis: first, set: atomSet(listed) }];
}

/** The atoms that a request with a query does not have. */
function otherValues(
  { source, parts, first, passed }: SourceAxes,
  query: string,
): readonly AxisRestriction[] {
  if (source.kind !== 'query') return [];
  const values = query.split('&').flatMap((part) => {
    const [name = '', ...value] = part.split('=').map(decodeQueryPart);
    return name === source.name ? [value.join('=')] : [];
  });
  const tests = values.reduce((mask, value) => mask | passed(value), 0n);
  return parts.map((part, at) => {
    const own = tests & part.tests;
    return {
      axis: first + at,
      set: atomSet([...part.atoms.keys()].filter((atom) => part.atoms[atom] !== own)),
    };
  });
}

// Values of points.

function valuesAt(list: readonly SourceAxes[], atoms: readonly number[]): PointValues | null {
  const found = list.map(({ source, parts, first, values }) => {
    const wanted = parts.reduce((mask, part, at) => mask | part.atoms[atoms[first + at]!]!, 0n);
    return { source, values: values(wanted) };
  });
  if (found.some(({ values }) => values === null)) return null;
  const of = (kind: Source['kind']): readonly SampledValue[] =>
    found.flatMap(({ source, values }) =>
      source.kind === kind ? values!.map((value) => ({ name: source.name, value })) : [],
    );
  const asn = of('asn')[0]?.value;
  return {
    method: of('method')[0]?.value ?? null,
    scheme: of('scheme')[0]?.value ?? null,
    asn: asn === undefined ? null : Number(asn),
    headers: of('header'),
    query: of('query'),
    cookies: of('cookie'),
  };
}
