/**
 * Builds the classes of members. A class is the tests that apply to a member, which depend on its value source and, if
 * targets select by name (`REQUEST_HEADERS:User-Agent`), on its name. Members with the same tests share one class.
 */
import type { WafTarget, WafTargets, WafVariable } from '../../plan/signature-program.ts';
import type { Matcher } from '../patterns/pattern.ts';
import {
  type BucketSource,
  bucketOf,
  type Chained,
  selects,
  type TargetClasses,
  type ValueClass,
  type ValueTest,
} from '../request/target-classes.ts';

/** What classes are built from: lists of targets and the tests of each. */
export interface TargetClassSource extends BucketSource {
  /** By number of a list, `SignatureProgram.targets` with names in lower case. */
  readonly targets: readonly WafTargets[];
  /** By list of targets, its tests; a list without tests has an empty array. */
  readonly tests: readonly (readonly ValueTest[])[];
  /** The numbers of the dear tests (`gates.ts`). */
  readonly dear: ReadonlySet<number>;
  /** By number of a pattern. */
  readonly matchers: readonly Matcher[];
}

/** Returns the class for the tests of some lists of targets (by number); `null`: they have no tests. */
export type ClassMaker = (lists: readonly number[]) => ValueClass | null;

/** Creates a `ClassMaker` that returns the same class for the same lists. */
export function classMaker(source: TargetClassSource): ClassMaker {
  const known = new Map<string, ValueClass | null>();
  return (lists) => {
    const key = lists.join();
    let found = known.get(key);
    if (found === undefined) {
      // A class is numbered even if it has no tests: numbers only need to be distinct.
      const all = lists.flatMap((list) => source.tests[list]!);
      const tests = all.filter(({ number }) => !source.dear.has(number));
      const dear = [...new Set(all)]
        .filter(({ number }) => source.dear.has(number))
        .map((test) => ({ test: test.number, bucket: bucketOf(source.chains[test.chain]!, [test], source) }));
      found =
        all.length === 0
          ? null
          : { number: known.size, chained: chainedTests(tests, source), schedules: [], source, dear };
      known.set(key, found);
    }
    return found;
  };
}

/** Builds the classes of one value source, whose members belong to each of `variables`. */
export function classesOf(
  variables: readonly WafVariable[],
  source: TargetClassSource,
  make: ClassMaker,
): TargetClasses {
  const concerned = source.targets.flatMap((targets, list) => {
    const hasTests = source.tests[list]!.length > 0;
    const includes = targets.include.some(({ variable, count }) => !count && variables.includes(variable));
    return hasTests && includes ? [list] : [];
  });
  const written = concerned.flatMap((list) => [
    ...source.targets[list]!.include,
    ...source.targets[list]!.exclude,
  ]);
  const selectors = written.flatMap(({ variable, selector }) =>
    variables.includes(variable) ? [selector] : [],
  );
  const names = new Set(selectors.flatMap((one) => (one.kind === 'name' ? [one.name] : [])));
  const numbers = new Set(selectors.flatMap((one) => (one.kind === 'pattern' ? [one.pattern] : [])));
  const classWhere = (matches: (target: WafTarget) => boolean): ValueClass | null =>
    make(
      concerned.filter((list) => {
        const { include, exclude } = source.targets[list]!;
        // An exclusion applies to its own variable only: a member excluded from ARGS still belongs to ARGS_POST.
        const excluded = exclude.filter(matches).map(({ variable }) => variable);
        return include.some(
          (target) => !target.count && matches(target) && !excluded.includes(target.variable),
        );
      }),
    );
  const concerns = ({ variable }: WafTarget): boolean => variables.includes(variable);
  return {
    names: new Map([...names].map((name) => [name, `=${name}`])),
    lengths: [...names].reduce((bits, name) => bits | (1 << (name.length & 31)), 0),
    patterns: [...numbers].map((number) => source.matchers[number]!),
    common: classWhere((target) => target.selector.kind === 'all' && concerns(target)),
    bySelector: new Map(),
    find: (name) => classWhere((target) => concerns(target) && selects(target, name, source.matchers)),
  };
}

/** Converts the name in a target's selector to lower case, as `selects` expects it. */
export function lowerTarget<Target extends WafTarget>(target: Target): Target {
  const { selector } = target;
  if (selector.kind !== 'name') return target;
  return { ...target, selector: { kind: 'name', name: selector.name.toLowerCase() } };
}

/** Groups tests by their transformation chain. */
function chainedTests(tests: Iterable<ValueTest>, source: BucketSource): readonly Chained[] {
  const byChain = new Map<number, ValueTest[]>();
  for (const test of new Set(tests)) {
    const list = byChain.get(test.chain);
    if (list === undefined) byChain.set(test.chain, [test]);
    else list.push(test);
  }
  return [...byChain].map(([chain, tests]) => ({ steps: source.chains[chain]!, tests }));
}
