/** The conditions of an opened plan: its sources with their values of the current request, and its tests, decoded at their first use. */
import {
  decodeString,
  type Plan,
  SOURCE_KINDS,
  type SourceKind,
  TEST_COMPARISONS,
  type TestComparison,
  VALUE_SOURCE,
  VALUE_TEST,
} from '../plan/layout.ts';

/** One source and its values of the current request. */
export interface LoadedSource {
  readonly kind: SourceKind;
  /** Of a header in lower case; empty for kinds without names. */
  readonly name: string;
  /** Roots in `nodes` of the trees of the rules filed by a value, and by a value in lower case; or NONE. */
  readonly tree: number;
  readonly foldedTree: number;
  /** The plan's other sources. */
  readonly family: LoadedSources;
  /** The request that the values are of. */
  round: number;
  /** Values in `texts`; entries beyond are of earlier requests. */
  count: number;
  readonly texts: string[];
  /** Whether one of the values goes on after the octets that were read; then `cut` says of each whether it does. */
  hasCut: boolean;
  readonly cut: boolean[];
  /** The request that `folded` is of: the values in lower case. */
  foldedRound: number;
  readonly folded: string[];
}

/** The sources of a plan. */
export interface LoadedSources {
  readonly list: readonly LoadedSource[];
  /** Sources of headers, query parameters and cookies by name. */
  readonly byName: { readonly [K in NamedKind]: ReadonlyMap<string, LoadedSource> };
  /** What the query and the cookies of the current request have. */
  readonly query: FoundSources;
  readonly cookies: FoundSources;
  /** The request whose header names were checked, and whether one of them has capitals. */
  headerRound: number;
  hasUpper: boolean;
}

/** The sources that a request has values of. */
interface FoundSources {
  /** The request that was split. */
  round: number;
  readonly found: LoadedSource[];
}

/** Kinds of sources with names. */
type NamedKind = 'header' | 'query' | 'cookie';

/** The text as V8 stores names of properties: a text of that name finds the property without being hashed again. */
function asKey(text: string): string {
  return Object.keys({ [text]: 0 })[0] ?? text;
}

/** The sources of a plan, without values. */
function createSources(plan: Plan): LoadedSources {
  const { valueSources } = plan;
  const list: LoadedSource[] = [];
  const byName = {
    header: new Map<string, LoadedSource>(),
    query: new Map<string, LoadedSource>(),
    cookie: new Map<string, LoadedSource>(),
  };
  const family: LoadedSources = {
    list,
    byName,
    query: { round: 0, found: [] },
    cookies: { round: 0, found: [] },
    headerRound: 0,
    hasUpper: false,
  };
  for (let row = 0; row < valueSources.length; row += VALUE_SOURCE.size) {
    const kind = SOURCE_KINDS[valueSources[row + VALUE_SOURCE.kind]!]!;
    const name = asKey(decodeString(plan, valueSources[row + VALUE_SOURCE.name]!));
    const source: LoadedSource = {
      kind,
      name,
      tree: valueSources[row + VALUE_SOURCE.tree]!,
      foldedTree: valueSources[row + VALUE_SOURCE.foldedTree]!,
      family,
      round: 0,
      count: 0,
      texts: [],
      hasCut: false,
      cut: [],
      foldedRound: 0,
      folded: [],
    };
    list.push(source);
    if (kind === 'header' || kind === 'query' || kind === 'cookie') byName[kind].set(name, source);
  }
  return family;
}

/** A test, ready to run. */
export interface LoadedTest {
  readonly source: LoadedSource;
  readonly comparison: TestComparison;
  readonly ignoreCase: boolean;
  /** Offset in `words` of the address filter, or of the count of patterns or slots. */
  readonly data: number;
  /** The only value, if one is compared whole. */
  readonly only: string | null;
  /** The values, if several are compared whole. */
  readonly whole: ReadonlySet<string> | null;
  /** The request that the test was decided for, and the result. */
  round: number;
  holds: boolean;
}

/** The conditions of a plan. */
export interface LoadedConditions {
  readonly sources: LoadedSources;
  readonly tests: (LoadedTest | undefined)[];
  /** Whether a test asks for tags. */
  readonly readsTags: boolean;
}

/** The conditions of an opened plan, of which nothing is decoded yet; `null`: it has none. */
export function createConditions(plan: Plan): LoadedConditions | null {
  const { conditions, valueTests } = plan;
  if (conditions.length === 0) return null;
  let readsTags = false;
  for (let row = 0; row < valueTests.length; row += VALUE_TEST.size)
    readsTags ||= valueTests[row + VALUE_TEST.comparison] === TAGGED;
  return { sources: createSources(plan), tests: [], readsTags };
}

const TAGGED = TEST_COMPARISONS.indexOf('tagged');
