/**
 * The oracle: a naive evaluator that reads stored rules directly, written from `spec/semantics.md` alone. It has no
 * index and no compile step, shares no code with `src`, and is what the compiled path is held to.
 */
import type { RuleSet } from '../../src/rules/model/types.ts';
import { decide, refusal, type World } from './decide.ts';
import { findErrorPage, NO_PAGE } from './error-page.ts';
import { gate, type Place } from './facts.ts';
import { nameRecords } from './host.ts';
import { createOrigins } from './origins.ts';
import { createRates } from './rates.ts';
import type { Decision, EdgeRequest, ErrorPageAnswer, OracleEnv } from './types.ts';

export type { Decision, EdgeRequest, ErrorPageAnswer, OracleEnv } from './types.ts';

export interface Oracle {
  /** The decision for one request. Counts it: rate limits, pools and record turns move on. */
  evaluate(request: EdgeRequest): Decision;
  /** The page for a status that the edge or the origin answered the request with. Changes nothing. */
  errorPage(request: EdgeRequest, status: number, madeBy: 'edge' | 'origin'): ErrorPageAnswer;
}

/** An evaluator of stored rules, with counters and pools that start empty. */
export function createOracle(ruleSet: RuleSet, env: OracleEnv = {}): Oracle {
  const until = ruleSet.domain.developer_mode_until;
  const world: World = {
    env,
    rules: [...ruleSet.rules].sort((a, b) => a.priority - b.priority || a.id - b.id),
    rates: createRates(ruleSet.keys),
    origins: createOrigins(env),
    keys: ruleSet.keys,
    developerUntil: until === null ? null : Date.parse(until),
  };
  const { domain, records } = ruleSet;
  const lists = new Map(
    (ruleSet.lists ?? []).map((list) => [
      `@${list.name}`,
      'entries' in list ? list.entries.map(({ value }) => value) : [],
    ]),
  );
  const redirects = new Map(
    (ruleSet.lists ?? []).map((list) => [
      `@${list.name}`,
      'entries' in list
        ? list.entries.flatMap(({ value, to, status }) =>
            to === undefined ? [] : [{ from: value, to, status }],
          )
        : [],
    ]),
  );
  const named = nameRecords(domain.name, records);
  const place: Place = { domain, named, clock: env.now ?? Date.now, lists, redirects };
  return {
    evaluate(request) {
      const facts = gate(request, place);
      return typeof facts === 'number' ? refusal(world, facts) : decide(world, facts);
    },
    errorPage(request, status, madeBy) {
      const facts = gate(request, place);
      return typeof facts === 'number' ? NO_PAGE : findErrorPage(world, facts, { status, madeBy });
    },
  };
}
