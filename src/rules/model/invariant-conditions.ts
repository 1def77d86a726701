/**
 * The words of `when` that are read as the `conditions` of a rule: `method`, `scheme`, `asn`, `user_agent`, `header`, `query` and
 * `cookie`. In: the words as written. Out: the field `conditions`, and the place in `when` of each of its parts.
 */
import type { FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import { ORIGIN_SCHEMES } from '../../base/vocabulary/vocabulary.ts';

/** Words with entries that are meant, and entries that are not. */
export const LIST_WORDS = ['method', 'scheme', 'asn', 'user_agent'] as const;
/** Words with conditions as rules have them. */
export const VALUE_WORDS = ['header', 'query', 'cookie'] as const;

/** The entries of one field of `when`, each with its path. */
export interface ReadFilter {
  readonly path: FieldPath;
  readonly wanted: readonly string[] | null;
  readonly unwanted: readonly string[] | null;
  /** The value as it was given, which says how its entries are numbered. */
  readonly given: unknown;
}

/** The words as written; `null`: absent. */
export type ConditionWords = Readonly<Record<(typeof LIST_WORDS)[number], ReadFilter | null>> &
  Readonly<Record<(typeof VALUE_WORDS)[number], unknown>>;

/** The word of each member of `conditions`. */
const WORD_OF: Readonly<Record<string, keyof ConditionWords>> = {
  methods: 'method',
  except_methods: 'method',
  schemes: 'scheme',
  asns: 'asn',
  user_agents: 'user_agent',
  headers: 'header',
  query: 'query',
  cookies: 'cookie',
};

/** The field `conditions` of a rule, without members if no word is written. */
export function conditionsOf(words: ConditionWords): Readonly<Record<string, unknown>> {
  const { method, scheme, asn, user_agent, header, query, cookie } = words;
  const members: readonly (readonly [string, unknown])[] = [
    ['methods', method?.wanted ?? undefined],
    ['except_methods', method?.unwanted ?? undefined],
    ['schemes', scheme === null ? undefined : schemesOf(scheme)],
    ['asns', asn === null ? undefined : inclusionOf(asn, numberOf)],
    ['user_agents', user_agent === null ? undefined : inclusionOf(user_agent, (entry) => entry)],
    ['headers', header ?? undefined],
    ['query', query ?? undefined],
    ['cookies', cookie ?? undefined],
  ];
  return Object.fromEntries(members.filter(([, value]) => value !== undefined));
}

/** A scheme that does not exist is left to the check of the rule. */
function schemesOf({ wanted, unwanted }: ReadFilter): readonly string[] | null {
  const isKnown = (entry: string): boolean => ORIGIN_SCHEMES.some((scheme) => scheme === entry);
  if (wanted === null && unwanted?.every(isKnown) === false) return unwanted;
  return (wanted ?? ORIGIN_SCHEMES).filter((entry) => unwanted?.includes(entry) !== true);
}

function inclusionOf({ wanted, unwanted }: ReadFilter, read: (entry: string) => unknown): object {
  return {
    ...(wanted === null ? {} : { includes: wanted.map(read) }),
    ...(unwanted === null ? {} : { excludes: unwanted.map(read) }),
  };
}

/** A text that is no number is left to the check of the rule. */
function numberOf(entry: string): unknown {
  return /^[0-9]+$/.test(entry) ? Number(entry) : entry;
}

/** Numbers as texts, where a text, a list or `{ in, not }` is expected. */
export function asTexts(value: unknown): unknown {
  if (typeof value === 'number') return String(value);
  if (Array.isArray(value)) return value.map(asTexts);
  return isObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, asTexts(inner)]))
    : value;
}

/** The place of a part of `conditions`, relative to `when`; empty: of all words. */
export function placeInWords([member, ...rest]: FieldPath, words: ConditionWords): FieldPath {
  const word = WORD_OF[String(member)];
  if (word === undefined) return [];
  if (word === 'header' || word === 'query' || word === 'cookie') return [word, ...rest];
  const filter = words[word];
  if (filter === null) return [word];
  const isInclusion = word === 'asn' || word === 'user_agent';
  const isExcluded = isInclusion
    ? rest[0] === 'excludes'
    : member === 'except_methods' || (word === 'scheme' && filter.wanted === null);
  const places = isInclusion ? rest.slice(1) : rest;
  const { given } = filter;
  const key = isExcluded ? 'not' : 'in';
  const entries = isObject(given) ? given[key] : given;
  return [word, ...(isObject(given) ? [key] : []), ...(Array.isArray(entries) ? places : [])];
}
