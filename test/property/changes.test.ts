/**
 * Proved changes against requests: on pairs of generated rule sets that differ by a few edits, every change that a request shows
 * is among the proved ones, and every proved change is shown by its witness. `EDGEPLAN_CHANGE_SETS` sets how many pairs are tried.
 */
import { expect, test } from 'vitest';
import { compile } from '../../src/engine/compiler/compile.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { openPlan, seal } from '../../src/engine/plan/seal.ts';
import type { GatewayRule, RuleSet } from '../../src/rules/model/types.ts';
import { proveChanges } from '../../src/workbench/proofs/changes.ts';
import {
  type ChangeInput,
  changeInput,
  changesAt,
  type OutcomeChange,
} from '../../src/workbench/proofs/differences.ts';
import { generateCase, type Random, seeded } from '../support/generate.ts';
import { withConditions } from '../support/generate-conditions.ts';
import { everyFourth, generateGateway } from '../support/generate-gateways.ts';
import { everyThird, withOtherEntries } from '../support/generate-lists.ts';
import { generateRule } from '../support/generate-rules.ts';
import { sizeOf } from '../support/size.ts';

const SETS = sizeOf('EDGEPLAN_CHANGE_SETS', { usual: 300, full: 3_000 });
const REQUESTS = 200;

function sealed(ruleSet: RuleSet): Uint8Array {
  const domain = {
    ...ruleSet.domain,
    status: 'active',
    suspended: false,
    developer_mode_until: null,
  } as const;
  return seal(compile({ ...ruleSet, domain }).plan, { revision: 1 });
}

/** One edit of the gateways of a rule set: another one, or one that is changed. */
function gatewayEdited(ruleSet: RuleSet, random: Random): RuleSet {
  const { rules, records, domain } = ruleSet;
  const recordIds = records.map(({ id }) => id);
  const made = generateGateway(random, { id: 5_000 + random.int(1_000), domain: domain.name, recordIds });
  const at = rules.findIndex(({ type }) => type === 'gateway');
  if (at < 0 || random.chance(0.4)) return { ...ruleSet, rules: [...rules, made] };
  const { base_path, id } = rules[at] as GatewayRule;
  const moved = random.chance(0.5) ? made : { ...made, base_path };
  return { ...ruleSet, rules: rules.with(at, { ...moved, id }) };
}

/** One edit: a rule removed, added, moved, changed, switched to or from dry_run. */
function edited(ruleSet: RuleSet, random: Random, share: number): RuleSet {
  if (ruleSet.registry !== undefined && random.chance(0.5)) return gatewayEdited(ruleSet, random);
  const { rules, records, domain } = ruleSet;
  const at = random.int(rules.length);
  const rule = rules[at]!;
  const made = generateRule(random, {
    id: 1_000 + random.int(1_000),
    domain: domain.name,
    recordIds: records.map(({ id }) => id),
  });
  const fresh = share === 0 ? made : withConditions(random, made, { share, rules });
  switch (random.int(5)) {
    case 0:
      return rules.length === 1 ? ruleSet : { ...ruleSet, rules: rules.filter((_, place) => place !== at) };
    case 1:
      return { ...ruleSet, rules: [...rules, fresh] };
    case 2:
      return { ...ruleSet, rules: rules.with(at, { ...rule, priority: random.int(300) }) };
    case 3:
      return { ...ruleSet, rules: rules.with(at, { ...fresh, id: rule.id }) };
    default:
      return {
        ...ruleSet,
        rules: rules.with(at, {
          ...rule,
          action_mode: rule.action_mode === 'enforce' ? 'dry_run' : 'enforce',
        }),
      };
  }
}

/** A request without what a witness does not carry. */
function witnessOf(request: EdgeRequest): OutcomeChange['witness'] | null {
  const { scheme, method, host, target, headers, ip, country, asn, bot, ja4, ja4h } = request;
  if (typeof host !== 'string' || typeof target !== 'string' || !target.startsWith('/')) return null;
  return {
    method,
    url: `${scheme === 'http' ? 'http' : 'https'}://${host}${target}`,
    headers: (headers ?? {}) as OutcomeChange['witness']['headers'],
    ip: ip ?? null,
    country: country ?? null,
    asn: asn ?? null,
    bot: bot ?? null,
    ja4: ja4 ?? null,
    ja4h: ja4h ?? null,
    cleared: [],
    status: 403,
  };
}

const keyOf = ({ component, before, after }: OutcomeChange): string =>
  [component, ...[before, after].map((rule) => (rule === null ? '-' : `${rule.type}/${rule.ref.id}`))].join(
    ' ',
  );

test(`every change that a request shows is proved, on ${SETS} pairs of rule sets`, {
  timeout: 3_600_000,
}, () => {
  const counts = { changes: 0, equal: 0, open: 0, incomplete: 0, shown: 0, orders: 0 };
  for (let seed = 1; seed <= SETS; seed++) {
    // Every other rule set is without conditions.
    const share = seed % 2 === 0 ? 0.5 : 0;
    const options = share === 0 ? {} : { answers: 0.3, conditions: { share } };
    const made = everyFourth(generateCase(seed, REQUESTS, options));
    const { requests } = made;
    const ruleSet = everyThird(seed, made.ruleSet);
    const random = seeded(seed * 7 + 1);
    let after = ruleSet;
    for (let edit = 0; edit <= random.int(3); edit++)
      after =
        ruleSet.lists !== undefined && random.chance(0.6)
          ? withOtherEntries(random, after)
          : edited(after, random, share);
    const input: ChangeInput = changeInput(
      { opened: openPlan(sealed(ruleSet)), bytes: sealed(ruleSet) },
      { opened: openPlan(sealed(after)), bytes: sealed(after) },
    );
    const proved = proveChanges(input);
    const keys = new Set([
      ...proved.changes.map(keyOf),
      ...proved.open.map((one) => keyOf(one as OutcomeChange)),
    ]);
    counts.changes += proved.changes.length;
    counts.open += proved.open.length;
    if (proved.isIncomplete) counts.incomplete++;
    if (proved.changes.length + proved.open.length === 0) counts.equal++;
    for (const change of proved.changes) {
      const shown = changesAt(input, change.witness).map(keyOf);
      expect({ seed, shown }).toEqual({ seed, shown: expect.arrayContaining([keyOf(change)]) });
    }
    if (proved.isIncomplete) continue;
    for (const [index, request] of requests.entries()) {
      const witness = witnessOf(request);
      if (witness === null) continue;
      for (const change of changesAt(input, witness)) {
        counts.shown++;
        if (change.kind === 'order') counts.orders++;
        if (!keys.has(keyOf(change))) {
          throw new Error(
            `seed ${seed}, request ${index} shows ${keyOf(change)}, which is not among ${[...keys].join('; ')}: ${JSON.stringify(change.witness)}`,
          );
        }
      }
    }
  }
  if (process.env['SHOW'] !== undefined) console.log(counts);
  expect(counts.shown).toBeGreaterThan(SETS);
  expect(counts.orders).toBeGreaterThan(0);
  expect(counts.equal).toBeGreaterThan(0);
});
