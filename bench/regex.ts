/**
 * Regex: the longest match that an accepted rule set can cause on a path of 2 KB. As many distinct unanchored patterns
 * as the budget allows, none with a literal that an index could ask for, over paths that let none of them stop early.
 */
import { MAX_DOMAIN_SCANS } from '../src/base/vocabulary/limits.ts';
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import type { RuleSet } from '../src/rules/model/types.ts';
import { seeded } from '../test/support/generate-random.ts';
import { requestOf } from './data/requests.ts';
import { DOMAIN } from './data/words.ts';
import { ruleSetOf } from './data/written.ts';
import { agree, answerOf } from './harness/answer.ts';
import { callSide, evaluatorOf } from './harness/evaluate.ts';
import { race } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';
import { linearScan } from './subjects/linear.ts';

/** Characters of the paths. */
const LONG = 2_048;
/** Distinct paths, so that no answer is remembered from the request before. */
const PATHS = 16;

/** Runs of upper-case letters and digits that no path of lower-case letters holds; every pattern is another. */
function patternOf(at: number): string {
  const first = 'ABCDEFGHIJKL'.slice(at % 12);
  return `[${first}M-Z][0-9N-Z][a-z]{${1 + Math.floor(at / 12)}}`;
}

function regexRules(count: number): RuleSet {
  const rules = Array.from({ length: count }, (_, at) => ({
    type: 'drop',
    path_match_type: 'regex',
    path_includes: [patternOf(at)],
  }));
  return ruleSetOf({ domain: DOMAIN, records: ['@'], rules });
}

/** Paths without an end for the patterns in sight; `tail` ends each. */
function longRequests(tail: string): readonly EdgeRequest[] {
  const random = seeded(2_048);
  return random.times(PATHS, () => {
    const letters = random.times(LONG - 1 - tail.length, () => 'abcdefghijklmnopqrstuvwxyz'[random.int(26)]!);
    return requestOf(random, { host: DOMAIN, path: `/${letters.join('')}${tail}` });
  });
}

const PATHS_WANTED = [
  { name: 'a plain path', tail: '' },
  { name: 'a path with ;params, read in two forms', tail: ';p' },
] as const;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const ruleSet = regexRules(MAX_DOMAIN_SCANS);
  const evaluator = evaluatorOf(ruleSet);
  const answer = linearScan(ruleSet);
  const bare = evaluatorOf(regexRules(1));
  const rows: Row[] = [];
  for (const { name, tail } of PATHS_WANTED) {
    const requests = longRequests(tail).map((request) => ({
      ...request,
      target: request.target.split('?')[0]!,
    }));
    await agree(requests, {
      names: ['evaluate', "V8's regexes one by one"],
      a: (request) => answerOf(evaluator.evaluate(request)),
      b: answer,
    });
    const ours = callSide('evaluate', requests, (request) => evaluator.evaluate(request));
    const one = callSide('one regex', requests, (request) => bare.evaluate(request));
    const result = await race(ours, one, options);
    rows.push({
      name: `${MAX_DOMAIN_SCANS} regexes, 2 KB, ${name}`,
      value: result.a / 1e6,
      goal: { atMost: 1 },
      unit: 'ms',
      note: `unanchored, distinct, no literal, no match; one of them alone ${(result.b / 1e6).toPrecision(2)} ms, longest of ${PATHS} paths ${longest(requests, evaluator.evaluate).toPrecision(2)} ms`,
    });
  }
  return rows;
}

/** Milliseconds of the path that takes longest, each timed at its best of a few. */
function longest(requests: readonly EdgeRequest[], evaluate: (request: EdgeRequest) => unknown): number {
  const times = requests.map((request) => {
    let best = Number.POSITIVE_INFINITY;
    for (let round = 0; round < 5; round++) {
      evaluate(requests[(requests.indexOf(request) + 1) % requests.length]!);
      evaluate(requests[(requests.indexOf(request) + 2) % requests.length]!);
      const started = performance.now();
      evaluate(request);
      best = Math.min(best, performance.now() - started);
    }
    return best;
  });
  return Math.max(...times);
}
