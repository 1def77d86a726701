/** Our side: a rule set through compile, seal and open, and the loops that time it. */
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type Counters, type Evaluator, loadPlan } from '../../src/engine/evaluator/index.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Fresh, type Side, sink } from './race.ts';

/** The moment all requests of the bench are made at. */
export const NOW = 1_784_030_400_000;

export function sealed(ruleSet: RuleSet): Uint8Array {
  return seal(compile(ruleSet).plan);
}

export function evaluatorOf(ruleSet: RuleSet, counters?: Counters): Evaluator {
  const options = { clock: () => NOW, random: () => 0.5 };
  return loadPlan(sealed(ruleSet), counters === undefined ? options : { ...options, counters });
}

/** Requests that can be made anew, strings and all. */
export interface FreshRequests extends Fresh {
  readonly requests: readonly EdgeRequest[];
}

export function freshRequests(requests: readonly EdgeRequest[]): FreshRequests {
  const texts = requests.map((request) => JSON.stringify(request));
  const sample = [...requests];
  const size = requests.length;
  return {
    size,
    requests: sample,
    renew(from, count): void {
      for (let at = from; at < from + Math.min(count, size); at++)
        sample[at % size] = JSON.parse(texts[at % size]!);
    },
  };
}

export function evaluateSide(name: string, evaluator: Evaluator, requests: readonly EdgeRequest[]): Side {
  const fresh = freshRequests(requests);
  return {
    name,
    fresh,
    run(from, count) {
      const { requests: sample, size } = fresh;
      for (let left = count, at = from % size; left > 0; left--) {
        sink.value = evaluator.evaluate(sample[at]!);
        if (++at === size) at = 0;
      }
    },
  };
}

/** A side that is slow enough for a call more not to count. */
export function callSide<Input>(
  name: string,
  sample: readonly Input[],
  call: (input: Input) => unknown,
): Side {
  const { length } = sample;
  return {
    name,
    run(from, count) {
      for (let done = 0; done < count; done++) sink.value = call(sample[(from + done) % length]!);
    },
  };
}
