/** The classes of members: which tests a member undergoes, by the variable it belongs to and by its name. */
import type { WafTarget, WafTargets, WafVariable } from '../../plan/signature-program.ts';
import type { Matcher } from '../patterns/pattern.ts';
import type { BucketSource, Chained, ValueClass } from '../request/buckets.ts';
import type { Condition } from '../request/conditions.ts';
import { selects, type TargetClasses } from '../request/target-classes.ts';

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

/** A target with its name in lower case. */
export function lowerTarget<Target extends WafTarget>(target: Target): Target {
  const { selector } = target;
  if (selector.kind !== 'name') return target;
  return { ...target, selector: { kind: 'name', name: selector.name.toLowerCase() } };
}

function chainedTests(tests: Iterable<Condition>, source: BucketSource): readonly Chained[] {
  const byChain = new Map<number, Condition[]>();
  for (const test of new Set(tests)) {
    const list = byChain.get(test.chain);
    if (list === undefined) byChain.set(test.chain, [test]);
    else list.push(test);
  }
  return [...byChain].map(([chain, tests]) => ({ steps: source.chains[chain]!, tests }));
}
