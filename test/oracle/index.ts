/**
 * The oracle: a naive evaluator that reads stored rules directly, written from `spec/semantics.md` alone. It has no
 * index and no compile step, shares no code with `src`, and is what the compiled path is held to.
 */
import type { RuleSet } from '../../src/rules/model/types.ts';
import { credentialsWanted, decide, keyOf, type Leftover, refusal, type World } from './decide.ts';
import { findErrorPage, NO_PAGE } from './error-page.ts';
import { gate, type Place } from './facts.ts';
import { inGatewayOrder } from './gateways.ts';
import { nameRecords } from './host.ts';
import { createOrigins } from './origins.ts';
import { createPlanRates, createRates, type RateState } from './rates.ts';
import type { CredentialsWanted, Decision, EdgeRequest, ErrorPageAnswer, OracleEnv } from './types.ts';

export type { Decision, EdgeRequest, ErrorPageAnswer, OracleEnv } from './types.ts';

export interface Oracle {
  /** The decision for one request. Counts it: rate limits, pools and record turns move on. */
  evaluate(request: EdgeRequest): Decision;
  /** The page for a status that the edge or the origin answered the request with. Changes nothing. */
  errorPage(request: EdgeRequest, status: number, madeBy: 'edge' | 'origin'): ErrorPageAnswer;
  /** Where credentials of a request are read; `null`: none can matter to its decision. Changes nothing. */
  wanted(request: EdgeRequest): CredentialsWanted | null;
  /** What the response to a decision states of rate limits, by rule. */
  states(decision: Decision): readonly StatedLimit[];
  /** Whether the request of a decision is limited by how many are in flight; counts it as one of them until `free` is called. */
  take(decision: Decision): { free(): void } | null;
  /** Counts the request of a decision under rules that count the status of its response. */
  respond(decision: Decision, status: number): void;
}

/** What a response states of one rate limit, or of a usage plan. */
export interface StatedLimit extends RateState {
  /** The rate limit; `null`: it is a usage plan. */
  readonly id: number | null;
  /** Absent: the rule goes by its id. */
  readonly key?: string;
  /** The name of the usage plan. */
  readonly plan?: string;
}

/** An evaluator of stored rules, with counters and pools that start empty. */
export function createOracle(ruleSet: RuleSet, env: OracleEnv = {}): Oracle {
  const until = ruleSet.domain.developer_mode_until;
  const world: World = {
    env,
    rules: inGatewayOrder([...ruleSet.rules].sort((a, b) => a.priority - b.priority || a.id - b.id)),
    registry:
      ruleSet.registry !== undefined && 'consumers' in ruleSet.registry
        ? ruleSet.registry
        : { consumers: [], usage_plans: [] },
    rates: createRates(ruleSet.keys),
    planRates: createPlanRates(),
    inFlight: [],
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
  const leftovers = new Map<Decision, Leftover>();
  return {
    evaluate(request) {
      const facts = gate(request, place);
      if (typeof facts === 'number') return refusal(world, facts);
      const { decision, left } = decide(world, facts);
      leftovers.set(decision, left);
      return decision;
    },
    wanted(request) {
      const facts = gate(request, place);
      return typeof facts === 'number' ? null : credentialsWanted(world, facts);
    },
    states(decision) {
      const states = leftovers.get(decision)?.states ?? [];
      return states.map(({ rule, plan, state }) =>
        rule === null
          ? { id: null, plan: plan!, ...state }
          : { id: rule.id, ...keyOf(world, rule), ...state },
      );
    },
    take(decision) {
      const slot = leftovers.get(decision)?.slot ?? null;
      if (slot === null) return null;
      world.inFlight.push(slot);
      return { free: () => void world.inFlight.splice(world.inFlight.indexOf(slot), 1) };
    },
    respond(decision, status) {
      const left = leftovers.get(decision);
      leftovers.delete(decision);
      for (const rule of left?.waiting ?? [])
        if (rule.count_statuses?.includes(status)) world.rates.hit(rule, left!.facts, false);
    },
    errorPage(request, status, madeBy) {
      const facts = gate(request, place);
      return typeof facts === 'number' ? NO_PAGE : findErrorPage(world, facts, { status, madeBy });
    },
  };
}
