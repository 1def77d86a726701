/**
 * Which tests a member of a request undergoes: its class. Members of one origin share a class unless the rules tell their
 * names apart (`REQUEST_HEADERS:User-Agent`, `!REQUEST_COOKIES:/^__utm/`).
 */
import type { WafTarget, WafTargets, WafVariable } from '../../plan/signature-program.ts';
import { type BucketSource, chainedTests, type ValueClass } from './buckets.ts';
import type { Condition } from './conditions.ts';
import { MAX_CACHED_NAMES } from './limits.ts';
import type { Meter } from './meter.ts';
import { type Matcher, patternEnd } from './patterns/pattern.ts';

/** The classes of one origin's members. */
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

/** What classes are made of: lists of targets with the tests behind them. */
export interface TargetClassSource extends BucketSource {
  readonly targets: readonly WafTargets[];
  /** By list of targets; lists that no test looks at have none. */
  readonly tests: readonly (readonly Condition[])[];
  readonly matchers: readonly Matcher[];
}

/** A maker of classes, one for each set of tests. */
export type ClassMaker = (lists: readonly number[]) => ValueClass | null;

export function classMaker(source: TargetClassSource): ClassMaker {
  const known = new Map<string, ValueClass | null>();
  return (lists) => {
    const key = lists.join();
    let found = known.get(key);
    if (found === undefined) {
      const tests = lists.flatMap((list) => source.tests[list]!);
      found =
        tests.length === 0
          ? null
          : { number: known.size, chained: chainedTests(tests, source), plans: [], source };
      known.set(key, found);
    }
    return found;
  };
}

/** The classes of members that count as any of `variables`. */
export function classesOf(
  variables: readonly WafVariable[],
  source: TargetClassSource,
  make: ClassMaker,
): TargetClasses {
  const concerned = source.targets.flatMap((targets, list) => {
    const looks = source.tests[list]!.length > 0;
    const includes = targets.include.some(({ variable, count }) => !count && variables.includes(variable));
    return looks && includes ? [list] : [];
  });
  const selectors = concerned.flatMap((list) => [
    ...source.targets[list]!.include,
    ...source.targets[list]!.exclude,
  ]);
  const told = selectors.flatMap(({ variable, selector }) =>
    variables.includes(variable) ? [selector] : [],
  );
  const names = new Set(told.flatMap((one) => (one.kind === 'name' ? [one.name] : [])));
  const numbers = new Set(told.flatMap((one) => (one.kind === 'pattern' ? [one.pattern] : [])));
  const classWhere = (takes: (target: WafTarget) => boolean): ValueClass | null =>
    make(
      concerned.filter((list) => {
        const { include, exclude } = source.targets[list]!;
        // What is left out of ARGS is still one of ARGS_POST.
        const excluded = exclude.filter(takes).map(({ variable }) => variable);
        return include.some(
          (target) => !target.count && takes(target) && !excluded.includes(target.variable),
        );
      }),
    );
  const concerns = ({ variable }: WafTarget): boolean => variables.includes(variable);
  return {
    names,
    patterns: [...numbers].map((number) => source.matchers[number]!),
    common: classWhere((target) => target.selector.kind === 'all' && concerns(target)),
    apart: new Map(),
    find: (name) => classWhere((target) => concerns(target) && selects(target, name, source.matchers)),
  };
}

/** Names are matched outside any budget: they are as short as a request's head, and remembered. */
const UNMETERED: Meter = { left: 0, inspection: 0 };

function namePasses(matcher: Matcher, name: string): boolean {
  UNMETERED.left = Number.MAX_SAFE_INTEGER;
  return patternEnd(matcher, name, UNMETERED) >= 0;
}

/** A target with its name in lower case. */
export function lowerTarget<Target extends WafTarget>(target: Target): Target {
  const { selector } = target;
  if (selector.kind !== 'name') return target;
  return { ...target, selector: { kind: 'name', name: selector.name.toLowerCase() } };
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
