/** Maps: `%[path,map_beg(redirects.map)]` as the condition of each key with its value. */
import type { ImportedCondition } from '../filter.ts';
import { allOf, noneOf } from './context.ts';
import type { SampleCall } from './parse-haproxy.ts';
import { MAP, type MatchKind, mapLines } from './patterns.ts';
import { conditionOf, type HaproxyContext } from './read-criterion.ts';

/** Keys of one map that become rules: one for each. */
const MAX_KEYS = 5_000;

/** One value of a map, and the requests that get it. */
export interface MapEntry {
  readonly condition: ImportedCondition;
  readonly value: string;
}

/** The values of a sample that ends with a map; a text is the reason why it is not read. */
export function mapEntries(
  context: HaproxyContext,
  calls: readonly SampleCall[],
): readonly MapEntry[] | string {
  const [fetch, ...converters] = calls;
  const map = converters.at(-1);
  const match = MAP.exec(map?.name ?? '');
  if (fetch === undefined || map === undefined || match === null) return 'has no equivalent';
  const kind = (match[1] ?? 'str') as MatchKind;
  const lines = mapLines(context.state, map.args[0] ?? '');
  if (typeof lines === 'string') return `is a map that is not read (${lines})`;
  if (lines.length > MAX_KEYS) return `is a map with more than ${MAX_KEYS} keys`;
  const before: readonly [SampleCall, ...SampleCall[]] = [fetch, ...converters.slice(0, -1)];
  // A prefix tree finds the longest key; other maps find the first.
  const ordered = kind === 'beg' ? [...lines].sort((one, other) => other.key.length - one.key.length) : lines;
  const entries = ordered.map(({ key, value }): MapEntry => {
    const criterion = {
      text: `${map.name} ${key}`,
      calls: before,
      match: kind,
      ignoreCase: false,
      values: [key],
    };
    return { condition: conditionOf(context, criterion), value };
  });
  const [, ...rest] = map.args;
  if (rest.length === 0) return entries;
  const others = allOf(...noneOf(entries.map(({ condition }) => condition)));
  return [...entries, { condition: others, value: rest.join(',') }];
}
