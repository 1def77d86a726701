/**
 * Proofs: lint of whole rule sets, with every rule proved to be reached or not, against lint without proofs, and the changes
 * of an edit against the comparison of fields. Before it is timed each set is checked for what was planted in it: unreachable
 * rules that must be found, and nothing else.
 */
import { compile } from '../src/engine/compiler/compile.ts';
import { openPlan, seal } from '../src/engine/plan/seal.ts';
import type { DropRule, RuleSet } from '../src/rules/model/types.ts';
import { proveChanges } from '../src/workbench/proofs/changes.ts';
import { diffPlans } from '../src/workbench/proofs/diff.ts';
import { changeInput } from '../src/workbench/proofs/differences.ts';
import { lintRuleSet } from '../src/workbench/proofs/lint.ts';
import { seeded } from '../test/support/generate-random.ts';
import { DOMAIN } from './data/words.ts';
import { ruleSetOf, type WrittenRule } from './data/written.ts';
import { race, type Side, sink, timesText, timeText } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

/** A rule set and the places of the rules that no request reaches. */
interface Planted {
  readonly name: string;
  readonly ruleSet: RuleSet;
  readonly unreachable: readonly number[];
  /** Seconds. */
  readonly goal: number;
}

const WORDS = ['cart', 'order', 'admin', 'login', 'price', 'image', 'report', 'account', 'search', 'stock'];

/** Every tenth rule is covered by one before it, or by two. */
const PLANTED_EVERY = 10;

function planted(
  rules: readonly WrittenRule[],
  unreachable: readonly number[],
  named: Pick<Planted, 'name' | 'goal'>,
): Planted {
  return { ...named, ruleSet: ruleSetOf({ domain: DOMAIN, records: ['@'], rules }), unreachable };
}

/** Inner wildcards and regexes, which overlap in endless ways. */
export function innerPatterns(count: number): Planted {
  const random = seeded(15);
  const rules: WrittenRule[] = [];
  const unreachable: number[] = [];
  for (let at = 0; at < count; at++) {
    const word = `${random.pick(WORDS)}-${at}-x`;
    if (at % PLANTED_EVERY === PLANTED_EVERY - 1) {
      const before = rules[at - 3]!;
      unreachable.push(at);
      rules.push({ ...before, ips: ['203.0.113.9'] });
      continue;
    }
    // A domain may have 64 unanchored regexes.
    const regex = at % 4 === 0;
    const path = regex ? `^/[a-z]+/${word}/[0-9]{1,4}(\\.json)?$` : `/*${word}*/v${at % 7}/*`;
    rules.push({ type: 'drop', path_match_type: regex ? 'regex' : 'wildcard', path_includes: [path] });
  }
  return planted(rules, unreachable, { name: `${count} rules with inner wildcards and regexes`, goal: 3 });
}

/** Prefixes and exact paths of all phases. */
function simpleRules(count: number): Planted {
  const rules: WrittenRule[] = [];
  const unreachable: number[] = [];
  for (let at = 0; at < count; at++) {
    const path = `/${WORDS[at % WORDS.length]}/${at}/*`;
    if (at % PLANTED_EVERY === PLANTED_EVERY - 1) {
      unreachable.push(at);
      rules.push({ type: 'drop', path_includes: [`/${WORDS[(at - 1) % WORDS.length]}/${at - 1}/x/*`] });
    } else rules.push({ type: 'drop', path_includes: [path] });
  }
  return planted(rules, unreachable, { name: `${count} simple rules`, goal: 10 });
}

/** Networks; every tenth is made up of the two before it. */
function addressRules(count: number): Planted {
  const rules: WrittenRule[] = [];
  const unreachable: number[] = [];
  const quad = (at: number, low: number): string => `10.${(at >> 8) & 255}.${at & 255}.${low}`;
  for (let at = 0; at < count; at++) {
    const last = at % PLANTED_EVERY;
    if (last === PLANTED_EVERY - 1) {
      unreachable.push(at);
      rules.push({ type: 'drop', ips: [`${quad(at - 1, 0)}/24`] });
    } else if (last === PLANTED_EVERY - 2) rules.push({ type: 'drop', ips: [`${quad(at, 128)}/25`] });
    else if (last === PLANTED_EVERY - 3) rules.push({ type: 'drop', ips: [`${quad(at + 1, 0)}/25`] });
    else rules.push({ type: 'drop', ips: [`${quad(at, 0)}/24`] });
  }
  return planted(rules, unreachable, { name: `${count} address rules`, goal: 10 });
}

/** Redirects of one priority, each with another effect: every two of them might conflict. */
function redirects(count: number): Planted {
  const rules = Array.from({ length: count }, (_, at): WrittenRule => {
    return { type: 'redirect', path_includes: [`/old/${at}`], target: `/new/${at}` };
  });
  return planted(rules, [], { name: `${count} redirects of one priority`, goal: 5 });
}

/** Fails unless lint reports exactly the planted rules. */
function check({ name, ruleSet, unreachable }: Planted): void {
  const found = lintRuleSet(ruleSet).filter(
    ({ code }) => code === 'shadowed_rule' || code === 'unproved_rule',
  );
  const places = found.map(({ path }) => Number(path[1]));
  if (JSON.stringify(places) !== JSON.stringify(unreachable)) {
    throw new Error(
      `${name}: planted ${unreachable.length} unreachable rules, lint reports ${places.length}`,
    );
  }
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const sizes = options.quick ? [50, 200, 1_000, 200] : [200, 2_000, 10_000, 4_000];
  const sets = [
    innerPatterns(sizes[0]!),
    simpleRules(sizes[1]!),
    addressRules(sizes[2]!),
    redirects(sizes[3]!),
  ];
  const rows: Row[] = [];
  for (const set of sets) {
    check(set);
    const side = (name: string, proofs: boolean): Side => ({
      name,
      run(_from, count) {
        for (let done = 0; done < count; done++) sink.value = lintRuleSet(set.ruleSet, undefined, { proofs });
      },
    });
    const result = await race(side('with proofs', true), side('without', false), options);
    rows.push({
      name: `lint of ${set.name}`,
      value: result.a / 1e9,
      goal: { atMost: set.goal },
      unit: 's',
      note: `${set.unreachable.length} planted unreachable rules found; without proofs ${timeText(result.b)}`,
    });
  }
  return [...rows, await editRow(sizes[0]!, options)];
}

/** The changes of one edited rule among many: a pattern that the edit widens. */
async function editRow(count: number, options: BenchOptions): Promise<Row> {
  const { ruleSet } = innerPatterns(count);
  const place = ruleSet.rules.findIndex(
    (rule) => rule.type === 'drop' && rule.path_match_type === 'wildcard',
  );
  const rule = ruleSet.rules[place] as DropRule;
  const wider = { ...rule, path_includes: ['/*-x*'] };
  const sides = [ruleSet, { ...ruleSet, rules: ruleSet.rules.with(place, wider) }].map((one) => {
    const bytes = seal(compile(one).plan, { revision: 1 });
    return { bytes, opened: openPlan(bytes) };
  });
  const [before, after] = [sides[0]!, sides[1]!];
  const proved = proveChanges(changeInput(before, after));
  if (proved.changes.length === 0 || proved.open.length > 0) throw new Error('the edit is not proved');
  const proving: Side = {
    name: 'proof',
    run(_from, times) {
      for (let done = 0; done < times; done++) sink.value = proveChanges(changeInput(before, after));
    },
  };
  const comparing: Side = {
    name: 'comparison of fields',
    run(_from, times) {
      for (let done = 0; done < times; done++) sink.value = diffPlans(before, after);
    },
  };
  const result = await race(proving, comparing, options);
  return {
    name: `changes of one edited rule among ${count}`,
    value: result.a / 1e9,
    goal: { atMost: 1 },
    unit: 's',
    note: `${proved.changes.length} changes, each with its request; ${timesText(proving, comparing, result)}`,
  };
}
