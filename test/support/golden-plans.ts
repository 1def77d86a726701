/**
 * Golden plans: sealed bytes that landed, with requests and what they decided then. They keep opening, or refuse with
 * their sentence. The files of an older version stay as they are; those of the current one are written by
 *
 *     npx esbuild test/support/golden-plans-write.ts --bundle --packages=external --platform=node --format=esm \
 *       | node --input-type=module
 *
 * from the top of the project, and only when the layout changed before that version was ever released.
 */
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type Decision, type EdgeRequest, loadPlan } from '../../src/engine/evaluator/index.ts';
import { openPlan } from '../../src/engine/plan/seal.ts';
import type { ObjectKeys, RuleSet } from '../../src/rules/model/types.ts';
import { generateCase, seeded } from './generate.ts';
import { withGateways, withOperationSettings } from './generate-gateways.ts';
import { withLists } from './generate-lists.ts';
import { SHOP, SHOP_REQUESTS } from './golden-shop.ts';

/** What a golden plan's JSON file holds, beside the plan of the same name. */
export interface GoldenAnswers {
  readonly revision: number;
  /** Sent in this order to one evaluator. */
  readonly answers: readonly { readonly request: EdgeRequest; readonly decision: Decision }[];
}

export interface GoldenPlan extends GoldenAnswers {
  /** `v<version>-<name>`; the files add `.edgeplan` and `.json`. */
  readonly name: string;
  readonly bytes: Uint8Array;
}

/** An evaluator of golden bytes: no clock of its own, the same node, the same health. */
export function decideGolden(bytes: Uint8Array, requests: readonly EdgeRequest[]): readonly Decision[] {
  const evaluator = loadPlan(bytes, {
    clock: () => 0,
    random: () => 0.5,
    nodeId: 1,
    origins: { healthy: (_pool, origin) => origin !== 1, inFlight: (_pool, origin) => origin },
  });
  return requests.map((request) => evaluator.evaluate(request));
}

function makeGolden(name: string, ruleSet: RuleSet, given: readonly EdgeRequest[]): GoldenPlan {
  const revision = 7;
  const bytes = seal(compile(ruleSet).plan, { revision });
  const requests = given.map((request) => JSON.parse(JSON.stringify(request)) as EdgeRequest);
  const decisions = decideGolden(bytes, requests);
  const answers = requests.map((request, index) => ({ request, decision: decisions[index]! }));
  return { name: `v${openPlan(bytes).version}-${name}`, bytes, revision, answers };
}

/** Every other rule of the shop goes by a key, and so do its records. */
function shopKeys(): ObjectKeys {
  const rules = SHOP.rules.filter((_rule, place) => place % 2 === 0);
  return {
    rules: new Map(rules.map(({ id }) => [id, `rule-${id}`])),
    records: new Map(SHOP.records.map(({ id }) => [id, `~${id}`])),
  };
}

/** The golden plans of the current compiler: the generator's seed 7 with and without newer words, and a small shop written by hand. */
export function makeGoldenPlans(): readonly GoldenPlan[] {
  const { ruleSet, requests } = generateCase(7, 24);
  const conditions = generateCase(7, 24, { conditions: { share: 0.6 } });
  const words = generateCase(7, 24, { answers: 0.5, conditions: { share: 0.3 }, headers: 6 });
  const called = withGateways(seeded(7), generateCase(7, 60, { conditions: { share: 0.2 }, headers: 3 }));
  const limited = withOperationSettings(seeded(7), called);
  const keyed = { ...SHOP, keys: shopKeys() };
  return [
    makeGolden('seed-7', ruleSet, requests),
    makeGolden('shop', SHOP, SHOP_REQUESTS),
    makeGolden('shop-keyed', keyed, SHOP_REQUESTS),
    makeGolden('conditions', conditions.ruleSet, conditions.requests),
    makeGolden('lists', withLists(seeded(7), words.ruleSet, 0.3), words.requests),
    makeGolden('gateways', called.ruleSet, called.requests),
    makeGolden('operations', limited.ruleSet, limited.requests),
  ];
}
