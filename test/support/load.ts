/** Puts a rule set through everything an edge gets it through: compile, seal, open, load. */
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { type Evaluator, type EvaluatorOptions, loadPlan } from '../../src/engine/evaluator/index.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import type { OracleEnv } from '../oracle/index.ts';

/** The evaluator's options that say what `env` says to the oracle. */
export function optionsOf(env: OracleEnv): EvaluatorOptions {
  return {
    ...(env.now === undefined ? {} : { clock: env.now }),
    nodeId: env.nodeId ?? null,
    origins: {
      healthy: (pool, origin) => env.healthy?.(pool, origin) ?? true,
      inFlight: (pool, origin) => env.inFlight?.(pool, origin) ?? 0,
    },
    waf: env.waf ?? null,
    random: () => 0.5,
  };
}

export function loadRuleSet(ruleSet: RuleSet, env: OracleEnv = {}): Evaluator {
  return loadPlan(seal(compile(ruleSet).plan, { revision: env.revision ?? 0 }), optionsOf(env));
}
