/**
 * A replay against evaluators that are asked about one request after the other, in order of time: the same outcomes, the
 * same flips from one rule set to another, the same shadows, whatever order the lines of several logs are in.
 */
import { expect, test } from 'vitest';
import { loggedDecision } from '../../src/edge/proxy/log/line.ts';
import type { Decision } from '../../src/engine/evaluator/decision.ts';
import { refText } from '../../src/engine/evaluator/identity.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/index.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import type { AccessEntry } from '../../src/workbench/access-logs/entry.ts';
import { inOrder, type TimedSource } from '../../src/workbench/access-logs/in-order.ts';
import { createRequestReplay } from '../../src/workbench/replay/replay-requests.ts';
import { countAnswer } from '../../src/workbench/simulation/conditions.ts';
import { generateCase, type Random, seeded } from '../support/generate.ts';
import { loadRuleSet } from '../support/load.ts';
import { sizeOf } from '../support/size.ts';

const PAIRS = sizeOf('EDGEPLAN_PAIRS', { usual: 20_000, full: 200_000 });
const REQUESTS = 400;
const LOGS = 3;
const START = Date.UTC(2026, 0, 31, 12);

test(`counts what evaluators decide one by one, on ${PAIRS} rule sets and requests`, {
  timeout: 3_600_000,
}, async () => {
  let flips = 0;
  for (let seed = 1; seed <= PAIRS / REQUESTS; seed++) flips += await compareCase(seed);
  expect(flips).toBeGreaterThan(100);
});

async function compareCase(seed: number): Promise<number> {
  const random = seeded(seed);
  const { ruleSet, requests, env } = generateCase(seed, REQUESTS, {
    answers: 0.3,
    conditions: { share: 0.3 },
  });
  const edited = edit(random, ruleSet);
  const entries = requests.map((request, place) => entryOf(request, START + place * 37, place));
  const replay = createRequestReplay({
    before: () => loadRuleSet(ruleSet, env),
    after: () => loadRuleSet(edited, env),
    summarise: loggedDecision,
    redact: (target) => target,
  });
  const late = await inOrder(logsOf(random, entries), replay.add);
  expect(late).toBe(0);
  const report = replay.report();
  const [older, newer] = [loadRuleSet(ruleSet, env), loadRuleSet(edited, env)];
  const outcomes = new Map<string, number>();
  const expected = { compared: 0, changed: 0, shadow: 0, otherHosts: 0 };
  for (const { request, status } of entries) {
    const [was, now] = [older.evaluate(request), newer.evaluate(request)];
    countAnswer(older, was, status);
    countAnswer(newer, now, status);
    if (isOtherHost(was) && isOtherHost(now)) {
      expected.otherHosts++;
      continue;
    }
    expected.compared++;
    if (!isBalanced(was, now) && textOf(was) !== textOf(now)) expected.changed++;
    if (now.shadow !== null && textOf(now.shadow) !== textOf(now)) expected.shadow++;
    outcomes.set(outcomeOf(now), (outcomes.get(outcomeOf(now)) ?? 0) + 1);
  }
  const { compared, otherHosts, shadow } = report;
  const where = `seed ${seed}`;
  expect({ compared, otherHosts, shadow: shadow.changed }, where).toEqual({
    compared: expected.compared,
    otherHosts: expected.otherHosts,
    shadow: expected.shadow,
  });
  expect(report.changed, where).toBe(expected.changed);
  expect(new Map(report.outcomes.map(({ outcome, lines }) => [outcome, lines])), where).toEqual(outcomes);
  const grouped = report.groups.reduce((sum, { lines }) => sum + lines, 0);
  expect(grouped + report.ungrouped, where).toBe(report.changed);
  return report.changed;
}

/** Whether no host of the plan has the request; a drop rule may answer the same status. */
function isOtherHost({ action, status }: Decision): boolean {
  return action === 'refuse' && status === 421;
}

/** Some rules gone, some switched between enforce and dry_run, some limits halved. */
function edit(random: Random, ruleSet: RuleSet): RuleSet {
  const rules = ruleSet.rules
    .filter(() => random.chance(0.8))
    .map((rule) => {
      const turned = rule.action_mode === 'enforce' ? 'dry_run' : 'enforce';
      const mode = random.chance(0.2) ? turned : rule.action_mode;
      return rule.type === 'rate_limit'
        ? { ...rule, action_mode: mode, limit: Math.max(1, rule.limit >> 1) }
        : { ...rule, action_mode: mode };
    });
  return { ...ruleSet, rules: rules as RuleSet['rules'] };
}

function entryOf(request: EdgeRequest, time: number, place: number): AccessEntry {
  const status = [200, 404, 503, 0][place % 4]!;
  return {
    kind: 'request',
    time,
    weight: 1,
    status,
    source: 'unknown',
    location: '',
    request: { ...request, now: time },
    file: 'a.log',
    line: place,
  };
}

/** The entries dealt out to some logs, each a little out of order. */
function logsOf(random: Random, entries: readonly AccessEntry[]): readonly TimedSource<AccessEntry>[] {
  const logs: AccessEntry[][] = Array.from({ length: LOGS }, () => []);
  for (const entry of entries) random.pick(logs).push(entry);
  return logs.map((log) => {
    const keyed = log.map((entry) => ({ entry, key: entry.time + random.int(2_000) }));
    const shuffled = keyed.sort((left, right) => left.key - right.key).map(({ entry }) => entry);
    let at = 0;
    return {
      next: () => shuffled[at++] ?? null,
      fill: async () => at < shuffled.length,
    };
  });
}

/** All that is compared, from the decision itself. */
function textOf({ action, status, rule, location, origin, path, query, cache, tags }: Decision): string {
  // Without a cache rule the origin's headers decide, as with one of these settings.
  const { mode, edgeTtl, browserTtl } = cache ?? { mode: 'standard', edgeTtl: null, browserTtl: null };
  const { address, port, scheme, hostHeader } = origin ?? {};
  const by = rule === null ? null : refText(rule);
  // One `?` is of the path or the query.
  const forwarded = query === null ? path : `${path}?${query}`;
  return JSON.stringify([
    [action, status, by, location, address, port, scheme, hostHeader, forwarded],
    [mode, edgeTtl, browserTtl, tags],
  ]);
}

/** Whether only the origin differs, and load balancing may have chosen both. */
function isBalanced(was: Decision, now: Decision): boolean {
  const source = now.origin?.source;
  if (source !== 'origin_pool' && source !== 'record') return false;
  if (was.origin?.source !== source) return false;
  return textOf({ ...was, origin: now.origin }) === textOf(now);
}

function outcomeOf({ action, status, rule }: Decision): string {
  return [action, ...(status === null ? [] : [status]), ...(rule === null ? [] : ['by', refText(rule)])].join(
    ' ',
  );
}
