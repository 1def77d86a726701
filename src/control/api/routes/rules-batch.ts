/**
 * Batches of rule changes, in the form of record batches: an item that fails does not affect the others, and the answer
 * is 200. Each item is a transaction of its own, so that requests of other customers run in between.
 */
import { setImmediate as yieldToRequests } from 'node:timers/promises';
import { z } from 'zod';
import { type RuleType, typePath } from '../../../base/vocabulary/vocabulary.ts';
import { id, list as listOf } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import { RULE_FORMS } from '../../../rules/model/rule.ts';
import { checkRuleType } from '../../accounts/entitlements.ts';
import { judgeEnabled, judgeGatewayQuota } from '../gateways/quota.ts';
import { MAX_RULE_BATCH } from '../operation/limits.ts';
import { formBody, readBody } from '../operation/read-request.ts';
import { badRequest, notFound, Refusal } from '../operation/refusal.ts';
import {
  type ApiRoute,
  type BodyReader,
  type Call,
  type Operation,
  ok,
  operation,
  type Response,
  type Writing,
} from '../operation/route.ts';
import { type BatchEntry, batchShape, showBatch } from '../records/write.ts';
import { RULE_SHAPES } from '../rules/shapes.ts';
import { addRule, changeRule, removeRule } from './rules.ts';

/** The batch routes of one rule type. */
// biome-ignore format: a table is read in columns
export function ruleBatchRoutes(type: RuleType): readonly ApiRoute[] {
  const all = `/domains/{domain}/${typePath(type)}/`;
  return [
    { method: 'POST', path: `${all}batch-create`, permission: 'rules.edit', hides: true, gate: checkRuleType(type), ...batchCreate(type) },
    { method: 'POST', path: `${all}batch-update`, permission: 'rules.edit', hides: true, ...batchUpdate(type) },
    { method: 'POST', path: `${all}batch-delete`, permission: 'rules.edit', hides: true, ...batchDelete(type) },
  ];
}

/** The bound in the words of a summary. */
const MOST = `at most ${MAX_RULE_BATCH}`;

/** The form of a batch of creates; each item is read in its own transaction. */
const createForm = form({
  fields: { creates: listOf(z.unknown(), MAX_RULE_BATCH) },
  ignored: [],
  finish: (values): { readonly creates: readonly unknown[] } => values,
});

/** The answer to a batch of creates; its results are in the order of the request. */
const createdShape = z
  .object({
    succeeded: z.int(),
    failed: z.int(),
    results: z.array(
      z.object({
        index: z.int().describe('place in `creates`, from 0'),
        id: z.int().nullable().describe('of the rule; null when ok is false'),
        ok: z.boolean(),
        error: z.string().optional().describe('only when ok is false'),
      }),
    ),
  })
  .meta({ id: 'BatchCreateResult' });

/** `POST …/batch-create`: adds each rule in a transaction of its own, and answers with the new ids. */
function batchCreate(type: RuleType): Operation {
  const body: BodyReader<{ readonly creates: readonly unknown[] }> = {
    kind: 'read',
    schema: z.object({
      creates: z
        .array(RULE_SHAPES[type].create)
        .max(MAX_RULE_BATCH)
        .describe('the new rules')
        .meta({ examples: [[RULE_FORMS[type].example]] }),
    }),
    read: (sent) => readBody(createForm, sent),
  };
  return operation({
    summary: `Add rules of type ${type}, ${MOST}; each by itself, and 200 even when some fail`,
    body,
    response: createdShape,
    async handle(call) {
      const { body, write } = call;
      const { creates } = body;
      if (type === 'gateway') await judgeGatewayQuota(call);
      const outcomes = await eachInTurn(write, creates, async (w, input) => {
        const rule = await addRule(w, type, input);
        return rule.id;
      });
      const results = outcomes.map((outcome, index) => ({
        index,
        id: 'error' in outcome ? null : outcome.value,
        ok: !('error' in outcome),
        ...('error' in outcome ? outcome : {}),
      }));
      const failed = results.filter((result) => !result.ok).length;
      return ok({ succeeded: results.length - failed, failed, results });
    },
  });
}

/** An item of an update; its other fields are a partial update of the rule. */
interface Item {
  readonly id: number;
}

/** The id of a rule to change. */
const RULE_ID = id()
  .describe('id of the rule to change')
  .meta({ examples: [3] });

/** The form of a batch of updates. */
const updateForm = form({
  fields: { updates: listOf(z.looseObject({ id: id() }), MAX_RULE_BATCH) },
  ignored: [],
  finish: (values): { readonly updates: readonly Item[] } => values,
});

/** `POST …/batch-update`: an unknown id fails alone. */
function batchUpdate(type: RuleType): Operation {
  const item = z.intersection(z.object({ id: RULE_ID }), RULE_SHAPES[type].update);
  const body: BodyReader<{ readonly updates: readonly Item[] }> = {
    kind: 'read',
    schema: z.object({
      updates: z
        .array(item)
        .max(MAX_RULE_BATCH)
        .describe('partial updates, each with the id of its rule')
        .meta({ examples: [[{ id: 3, enabled: false }]] }),
    }),
    read: (sent) => readBody(updateForm, sent),
  };
  return operation({
    summary: `Change rules of type ${type}, ${MOST}; each by itself, and 200 even when some fail`,
    body,
    response: batchShape,
    async handle(call) {
      const { body, write } = call;
      const { updates } = body;
      if (type === 'gateway') {
        const enabling = updates.filter((item) => 'enabled' in item && item.enabled === true);
        await judgeEnabled(
          call,
          enabling.map((item) => item.id),
        );
      }
      const outcomes = await eachInTurn(write, updates, async (w, { id: ruleId, ...input }) => {
        const before = await ruleOf(w, type, ruleId);
        await changeRule(w, { before, input, action: 'rule.update' });
        return ruleId;
      });
      return showOutcomes(
        updates.map((item) => item.id),
        outcomes,
      );
    },
  });
}

/** The form of a batch of deletions. */
const deleteForm = form({
  fields: {
    ids: listOf(id(), MAX_RULE_BATCH)
      .describe('ids of the rules to delete')
      .meta({ examples: [[3, 7]] }),
  },
  ignored: [],
  finish: (values): { readonly ids: readonly number[] } => values,
});

/** `POST …/batch-delete`: an unknown id fails alone. */
function batchDelete(type: RuleType): Operation {
  return operation({
    summary: `Delete rules of type ${type}, ${MOST}; 200 even when some are not there`,
    body: formBody(deleteForm),
    response: batchShape,
    async handle({ body: { ids }, write }) {
      const outcomes = await eachInTurn(write, ids, async (w, ruleId) => {
        await removeRule(w, await ruleOf(w, type, ruleId));
        return ruleId;
      });
      return showOutcomes(ids, outcomes);
    },
  });
}

/** A rule of the domain and type. @throws Refusal 404 */
async function ruleOf({ tx, domain }: Writing, type: RuleType, ruleId: number) {
  const row = await tx.rules.get({ domain_id: domain.id, type, id: ruleId });
  if (row === null) throw notFound();
  return row;
}

/** The result of one item. */
type Outcome<Value> = { readonly value: Value } | { readonly error: string };

/**
 * Runs the items one after the other, each in a transaction. A refusal of the item, or by an entitlement (403), is the
 * item's result and rolls it back; any other error ends the batch, and the items before it stay committed.
 */
async function eachInTurn<Input, Value>(
  write: Call<unknown>['write'],
  inputs: readonly Input[],
  work: (w: Writing, input: Input) => Promise<Value>,
): Promise<readonly Outcome<Value>[]> {
  const outcomes: Outcome<Value>[] = [];
  for (const [index, input] of inputs.entries()) {
    if (index > 0) await yieldToRequests();
    outcomes.push(await attempt(write, (w) => work(w, input)));
  }
  return outcomes;
}

/** Runs one item in its transaction. @throws the refusal that concerns the request as a whole */
async function attempt<Value>(
  write: Call<unknown>['write'],
  work: (w: Writing) => Promise<Value>,
): Promise<Outcome<Value>> {
  let ofItem: unknown;
  try {
    const value = await write(async (w) => {
      if (w.conditional) throw badRequest(`If-Match: ${UNCONDITIONAL}`);
      try {
        return await work(w);
      } catch (error) {
        ofItem = error;
        throw error;
      }
    });
    return { value };
  } catch (error) {
    const own = error instanceof Refusal && (error === ofItem || error.status === 403);
    if (!own) throw error;
    return { error: error.message };
  }
}

/** Why a batch accepts no `If-Match`. */
const UNCONDITIONAL = 'a batch of rules is several changes; send it with the change of a single rule';

/** The answer to a batch of updates or deletions; `ids` and `outcomes` are in the order of the request. */
function showOutcomes(ids: readonly number[], outcomes: readonly Outcome<unknown>[]): Response {
  const results = outcomes.map((outcome, index): BatchEntry => {
    const ruleId = ids[index]!;
    return 'error' in outcome ? { id: ruleId, ok: false, error: outcome.error } : { id: ruleId, ok: true };
  });
  return ok(showBatch(results));
}
