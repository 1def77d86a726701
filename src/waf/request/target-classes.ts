/**
 * Which tests a member of a request undergoes: its class. Members of one source share a class unless the rules tell their
 * names apart (`REQUEST_HEADERS:User-Agent`, `!REQUEST_COOKIES:/^__utm/`).
 */
import type { WafTarget } from '../../plan/signature-program.ts';
import type { Meter } from '../octets/meter.ts';
import { type Matcher, patternEnd } from '../patterns/pattern.ts';
import type { ValueClass } from './buckets.ts';
import { MAX_CACHED_NAMES } from './limits.ts';

/** The classes of one source's members. */
export interface TargetClasses {
  /** Names that targets are written with, in lower case. */
  readonly names: ReadonlySet<string>;
  /** Patterns of names that targets are written with. */
  readonly patterns: readonly Matcher[];
  /** The class of a name that is none of these and that no pattern takes. */
  readonly common: ValueClass | null;
  /** The others, by what tells them apart. */
  readonly apart: Map<string, ValueClass | null>;
  readonly find: (name: string) => ValueClass | null;
}

/** Names are matched outside any budget: they are as short as a request's head, and remembered. */
const UNMETERED: Meter = { left: 0, inspection: 0 };

function namePasses(matcher: Matcher, name: string): boolean {
  UNMETERED.left = Number.MAX_SAFE_INTEGER;
  return patternEnd(matcher, name, UNMETERED) >= 0;
}

/** Whether a target's selector, its name in lower case, takes a member's name. */
export function selects({ selector }: WafTarget, name: string, matchers: readonly Matcher[]): boolean {
  switch (selector.kind) {
    case 'all':
      return true;
    case 'name':
      return selector.name.length === name.length && selector.name === name.toLowerCase();
    case 'pattern':
      return namePasses(matchers[selector.pattern]!, name);
    default:
      return selector satisfies never;
  }
}

/** Whether names may have a class that is not the common one. */
export function mayDiffer({ names, patterns }: TargetClasses): boolean {
  return names.size > 0 || patterns.length > 0;
}

// PERF: a body may hold thousands of names that never came before. What tells them apart are a handful of names and
// patterns, and to see that none of these is meant costs a tenth of making out the class anew.
export function classOf(classes: TargetClasses, name: string): ValueClass | null {
  const { names, patterns, common, apart } = classes;
  const lower = names.size === 0 ? '' : name.toLowerCase();
  let key = names.has(lower) ? `=${lower}` : '';
  for (let i = 0; i < patterns.length; i++) if (namePasses(patterns[i]!, name)) key = `${i},${key}`;
  if (key === '') return common;
  let found = apart.get(key);
  if (found === undefined) {
    found = classes.find(name);
    if (apart.size >= MAX_CACHED_NAMES) apart.clear();
    apart.set(key, found);
  }
  return found;
}
