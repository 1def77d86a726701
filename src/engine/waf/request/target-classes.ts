/**
 * Finds the class of a member: the tests that apply to it. Members of one source share a class unless targets select by
 * name (`REQUEST_HEADERS:User-Agent`, `!REQUEST_COOKIES:/^__utm/`).
 */
import type { WafTarget } from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';
import { type Matcher, patternEnd } from '../patterns/pattern.ts';
import type { ValueClass } from './buckets.ts';
import { MAX_CACHED_NAMES } from './limits.ts';

/** The classes of one source's members; a class of `null` has no tests. */
export interface TargetClasses {
  /** The names in targets of the source, in lower case. */
  readonly names: ReadonlySet<string>;
  /** The patterns of names in targets of the source. */
  readonly patterns: readonly Matcher[];
  /** The class of all names that are not in `names` and match no pattern. */
  readonly common: ValueClass | null;
  /** A cache of the other classes, by the name or the patterns that select it. */
  readonly bySelector: Map<string, ValueClass | null>;
  /** Computes the class of a name. */
  readonly find: (name: string) => ValueClass | null;
}

/** Names are matched without a step budget: they are short, and the results are cached. */
const UNMETERED: Meter = { left: 0, inspection: 0 };

/** Whether a pattern matches a name. */
function nameMatches(matcher: Matcher, name: string): boolean {
  UNMETERED.left = Number.MAX_SAFE_INTEGER;
  return patternEnd(matcher, name, UNMETERED) >= 0;
}

/** Whether a target selects a member by its name, without case; the name in the target is in lower case. */
export function selects({ selector }: WafTarget, name: string, matchers: readonly Matcher[]): boolean {
  switch (selector.kind) {
    case 'all':
      return true;
    case 'name':
      return selector.name.length === name.length && selector.name === name.toLowerCase();
    case 'pattern':
      return nameMatches(matchers[selector.pattern]!, name);
    default:
      return selector satisfies never;
  }
}

/** Whether some names can have another class than the common one. */
export function mayDiffer({ names, patterns }: TargetClasses): boolean {
  return names.size > 0 || patterns.length > 0;
}

/** Returns the class of a member by its name; `null`: no test applies to it. */
// PERF: a body may have thousands of new names. Checking that none of the few names and patterns of targets selects a name
// costs a tenth of computing its class.
export function classOf(classes: TargetClasses, name: string): ValueClass | null {
  const { names, patterns, common, bySelector } = classes;
  const lower = names.size === 0 ? '' : name.toLowerCase();
  let key = names.has(lower) ? `=${lower}` : '';
  for (let i = 0; i < patterns.length; i++) if (nameMatches(patterns[i]!, name)) key = `${i},${key}`;
  if (key === '') return common;
  let found = bySelector.get(key);
  if (found === undefined) {
    found = classes.find(name);
    if (bySelector.size >= MAX_CACHED_NAMES) bySelector.clear();
    bySelector.set(key, found);
  }
  return found;
}
