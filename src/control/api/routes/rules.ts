/** The operations on single edge rules and on their order, for every rule type; `rules-batch.ts` has the batches. */
import { z } from 'zod';
import { isObject } from '../../../base/text/json-object.ts';
import { MAX_DOMAIN_TEXT, MAX_RULES } from '../../../base/vocabulary/limits.ts';
import { RULE_TYPES, type RuleType, typePath } from '../../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import { id, list as listOf } from '../../../rules/model/fields.ts';
import { form } from '../../../rules/model/form.ts';
import type { RedirectRule } from '../../../rules/model/types.ts';
import { checkRuleType } from '../../accounts/entitlements.ts';
import type { RuleRow } from '../../store/tables/rules.ts';
import { judgeEnabled, judgeGatewayQuota } from '../gateways/quota.ts';
import { MAX_AUDITED_MOVES } from '../operation/limits.ts';
import { formBody, idOf } from '../operation/read-request.ts';
import { badRequest, forbidden, notFound } from '../operation/refusal.ts';
import {
  type ApiRoute,
  type AuditEntry,
  type Beside,
  message,
  type Operation,
  ok,
  operation,
  type Response,
  type Writing,
} from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import { usesIn } from '../rules/named-lists.ts';
import { costsOf, readRule } from '../rules/read.ts';
import { RULE_SHAPES } from '../rules/shapes.ts';
import {
  bodyOf,
  RULE_LIST_QUERY,
  requestsPart,
  rulePage,
  showRule,
  showWhole,
  toWrite,
} from '../rules/show.ts';
import { provisionWww } from '../rules/www-record.ts';

/**
 * Routes for single rules of a type and for their order. They answer 404 to an insufficient role (API document,
 * "Errors").
 */
// biome-ignore format: a table is read in columns
export function ruleRoutes(type: RuleType): readonly ApiRoute[] {
  const all = `/domains/{domain}/${typePath(type)}/`;
  const one = `${all}{ruleId}`;
  return [
    { method: 'GET', path: all, permission: 'domain.view', hides: true, ...list(type) },
    { method: 'POST', path: all, permission: 'rules.edit', hides: true, gate: checkRuleType(type), ...create(type) },
    { method: 'PUT', path: `${all}reorder`, permission: 'rules.edit', hides: true, ...reorder(type) },
    { method: 'GET', path: one, permission: 'domain.view', hides: true, ...read(type) },
    { method: 'PUT', path: one, permission: 'rules.edit', hides: true, ...update(type) },
    { method: 'DELETE', path: one, permission: 'rules.edit', hides: true, ...remove(type) },
    { method: 'PATCH', path: `${one}/toggle`, permission: 'rules.edit', hides: true, ...toggle(type) },
  ];
}

/** `GET …/rules/{type}/`: the whole list in evaluation order; with parameters a page of it. */
function list(type: RuleType): Operation {
  return operation({
    summary: `Rules of type ${type} in evaluation order: all, or page by page`,
    cacheable: true,
    query: RULE_LIST_QUERY,
    response: z.array(RULE_SHAPES[type].answer),
    async handle({ domain, latest, query }) {
      if (requestsPart(query)) {
        const path = `/domains/${domain.name}/${typePath(type)}/`;
        return rulePage(latest, { domain, type, path }, query);
      }
      return ok((await latest.rules.list(domain.id, type)).map((row) => showRule(row)));
    },
  });
}

/** `GET /domains/{domain}/rules/`: rules of all types, always page by page. */
export const listEveryType: Operation = operation({
  summary: 'Rules of all types, by type and in evaluation order within each; `Link` leads to the next page',
  query: RULE_LIST_QUERY,
  response: z.array(z.union(RULE_TYPES.map((type) => RULE_SHAPES[type].answer))),
  handle: ({ domain, latest, query }) =>
    rulePage(latest, { domain, type: null, path: `/domains/${domain.name}/rules/` }, query),
});

/** `GET …/{ruleId}`: with the HTML of an error page. 404 for a rule of another type. */
function read(type: RuleType): Operation {
  return operation({
    summary: `One rule of type ${type}`,
    cacheable: true,
    response: RULE_SHAPES[type].answer,
    async handle({ domain, latest, params }) {
      const row = await latest.rules.get({ domain_id: domain.id, type, id: idOf(params['ruleId']) });
      if (row === null) throw notFound();
      return ok(await showWhole(latest, row));
    },
  });
}

/** `POST …/rules/{type}/`: the answer to a canonical redirect also carries `www_record`. */
function create(type: RuleType): Operation {
  return operation<unknown>({
    summary: `Add a rule of type ${type}`,
    body: { kind: 'raw', schema: RULE_SHAPES[type].create },
    response: RULE_SHAPES[type].answer,
    async handle(call) {
      if (type === 'gateway') await judgeGatewayQuota(call);
      return call.write((w) => createRule(w, type, call.body));
    },
  });
}

/** The answer to a create. */
async function createRule(w: Writing, type: RuleType, input: unknown): Promise<Response> {
  return ok((await addRule(w, type, input)).answer);
}

/** A new rule, and the body of its answer. */
export interface AddedRule {
  readonly id: number;
  readonly answer: object;
}

/** Adds a rule and publishes it. @throws Refusal before anything is written */
export async function addRule(w: Writing, type: RuleType, input: unknown): Promise<AddedRule> {
  const { domain, now, tx } = w;
  const fields = await readRule(w, { type, input });
  await judgeRoom(w);
  const uses = await usesIn(w, { type, fields, before: undefined });
  const rule = { ...toWrite(fields), costs: costsOf(fields), ...uses };
  await judgeText(w, rule, null);
  const row = await tx.rules.insert({
    ...rule,
    domain_id: domain.id,
    type,
    created_at: now,
    updated_at: now,
  });
  const after = showRule(row, rule.content);
  const entry = { action: 'rule.create', subject: `${type}/${row.id}`, after };
  const reason = `rule ${type}/${row.id} created`;
  if (type !== 'redirect') {
    await Promise.all([w.audit(entry), w.publishRules(reason)]);
    return { id: row.id, answer: after };
  }
  await w.audit(entry);
  const made = await provisionWww(w, fields as StoredRule<RedirectRule>);
  await w.publishRules(reason);
  return { id: row.id, answer: made === null ? after : { ...after, www_record: made } };
}

/** Checks the bound on rules of a plan, which applies whatever the entitlements allow. @throws Refusal */
async function judgeRoom({ domain, tx }: Writing): Promise<void> {
  let there = 0;
  for (const { rules } of await tx.rules.totals(domain.id)) there += rules;
  if (there >= MAX_RULES)
    throw forbidden(`a domain holds at most ${MAX_RULES} rules, and there are ${there}`);
}

/** The stored texts of a rule. */
interface Text {
  readonly body: string;
  readonly content?: string | null;
}

/** Checks the bound on the text of all rules of a domain; a rule that adds none is not checked. @throws Refusal */
async function judgeText({ domain, tx }: Writing, rule: Text, before: Text | null): Promise<void> {
  const octets = octetsOf(rule);
  const had = before === null ? 0 : octetsOf(before);
  // PERF: even the highest number of rules of this size stays within the bound, so the sum need not be read.
  if (octets <= had || octets <= MAX_DOMAIN_TEXT / MAX_RULES) return;
  let total = octets - had;
  for (const { octets: others } of await tx.rules.totals(domain.id)) total += others;
  if (total <= MAX_DOMAIN_TEXT) return;
  const most = `the rules of a domain hold at most ${MAX_DOMAIN_TEXT} octets together, pages included`;
  throw badRequest(`${most}, and with this one there were ${total}; shorten pages and lists`);
}

/** Octets of a rule's stored texts, its pages included. */
function octetsOf({ body, content }: Text): number {
  return Buffer.byteLength(body) + Buffer.byteLength(content ?? '');
}

/** The query for the rule of the path, see `Operation.beside`. */
function ruleOf(type: RuleType): (asked: Beside) => Promise<RuleRow | null> {
  return async ({ tx, domain, params }) =>
    tx.rules.get({ domain_id: domain.id, type, id: idOf(params['ruleId']) });
}

/**
 * The rule of the path, after the comparison with `If-Match`. @throws Refusal 404 for another domain's or type's, 412
 */
async function present(w: Writing, type: RuleType, params: Beside['params']): Promise<RuleRow> {
  const asked = w.beside ?? ruleOf(type)({ tx: w.tx, domain: w.domain, params });
  const row = (await asked) as RuleRow | null;
  if (row === null) throw notFound();
  if (w.conditional) w.match(await showWhole(w.tx, row));
  return row;
}

/** `PUT …/{ruleId}`: a partial update, see `mergeRule` of `control/api/rules/read.ts`. */
function update(type: RuleType): Operation {
  return operation<unknown>({
    summary: `Change a rule of type ${type}; fields left out keep their value`,
    beside: ruleOf(type),
    body: { kind: 'raw', schema: RULE_SHAPES[type].update },
    response: RULE_SHAPES[type].answer,
    async handle(call) {
      const { body, params, write } = call;
      const enables = type === 'gateway' && isObject(body) && body['enabled'] === true;
      if (enables) await judgeEnabled(call, [idOf(params['ruleId'])]);
      return write(async (w) => {
        const before = await present(w, type, params);
        return changeRule(w, { before, input: body, action: 'rule.update' });
      });
    },
  });
}

/** `PATCH …/{ruleId}/toggle`: negates `enabled`, also of a rule that this version would refuse. */
function toggle(type: RuleType): Operation {
  return operation({
    summary: `Turn a rule of type ${type} on or off`,
    beside: ruleOf(type),
    response: RULE_SHAPES[type].answer,
    async handle(call) {
      const { params, write } = call;
      if (type === 'gateway') await judgeEnabled(call, [idOf(params['ruleId'])]);
      return write(async (w) => {
        const before = await present(w, type, params);
        const input = { enabled: !bodyOf(before).enabled };
        return changeRule(w, { before, input, action: 'rule.toggle' });
      });
    },
  });
}

/** A change of a rule; `input` is a partial update. */
interface Change {
  readonly before: RuleRow;
  readonly input: unknown;
  readonly action: 'rule.update' | 'rule.toggle';
}

/** Changes a rule and publishes it, unless it equals the stored one. @throws Refusal before anything is written */
export async function changeRule(w: Writing, { before, input, action }: Change): Promise<Response> {
  const { now, tx } = w;
  const { domain_id, id: ruleId, type } = before;
  const toggled = action === 'rule.toggle' ? ({ toggled: true } as const) : {};
  const fields = await readRule(w, { type, input, before, ...toggled });
  const sent = typeof input === 'object' && input !== null && Object.hasOwn(input, 'content');
  const rule = {
    ...toWrite(fields, sent ? 'replace' : { keep: bodyOf(before) }),
    costs: costsOf(fields),
    ...(await usesIn(w, { type, fields, before })),
  };
  const had = type === 'error_page' ? await tx.rules.content(ruleId) : undefined;
  const content = rule.content === undefined ? had : rule.content;
  const shown = showRule(before, had);
  if (rule.body === before.body && rule.priority === before.priority && content === had) {
    await w.publishRules(null);
    return ok(shown);
  }
  const { body, priority } = rule;
  await judgeText(w, { body, content: content ?? null }, { body: before.body, content: had ?? null });
  const after = showRule({ ...before, body, priority, updated_at: now }, content);
  // The row exists: this transaction has read it.
  await Promise.all([
    tx.rules.update({ domain_id, type, id: ruleId }, { ...rule, updated_at: now }),
    w.audit({ action, subject: `${type}/${ruleId}`, before: shown, after }),
    w.publishRules(`rule ${type}/${ruleId} changed`),
  ]);
  return ok(after);
}

/** `DELETE …/{ruleId}`: 404 for a rule of another type. */
function remove(type: RuleType): Operation {
  return operation({
    summary: `Delete a rule of type ${type}`,
    beside: ruleOf(type),
    response: messageShape,
    async handle({ params, write }) {
      return write(async (w) => {
        const row = await present(w, type, params);
        await removeRule(w, row);
        return message(`rule ${type}/${row.id} deleted`);
      });
    },
  });
}

/** Deletes a rule and publishes the change. */
export async function removeRule(w: Writing, row: RuleRow): Promise<void> {
  const { domain_id, type, id: ruleId } = row;
  const before = await showWhole(w.tx, row);
  await Promise.all([
    w.tx.rules.remove({ domain_id, type, id: ruleId }),
    w.audit({ action: 'rule.delete', subject: `${type}/${ruleId}`, before }),
    w.publishRules(`rule ${type}/${ruleId} deleted`),
  ]);
}

/** The form of a new order. */
const orderForm = form({
  fields: {
    ids: listOf(id(), MAX_RULES)
      .describe('ids of all rules of the type, in their new order')
      .meta({ examples: [[3, 7]] }),
  },
  ignored: [],
  finish: (values): { readonly ids: readonly number[] } => values,
});

/** The distance between two priorities after a reorder, so that a rule can be put between two. Given (semantics §6). */
const PRIORITY_STEP = 10;

/** `PUT …/reorder`: `ids` must list every rule of the type exactly once. */
function reorder(type: RuleType): Operation {
  return operation({
    summary: `Give rules of type ${type} a new order: priorities 10, 20, 30 …`,
    body: formBody(orderForm),
    response: z.array(RULE_SHAPES[type].answer),
    async handle({ body: { ids }, write }) {
      return write((w) => reorderRules(w, type, ids));
    },
  });
}

/** Gives the rules priorities in the order of `ids`; writes only those that change. @throws Refusal 400, 412 */
async function reorderRules(w: Writing, type: RuleType, ids: readonly number[]): Promise<Response> {
  const { domain, now, tx } = w;
  const show = async () => (await tx.rules.list(domain.id, type)).map((row) => showRule(row));
  const there = await tx.rules.order(domain.id, type);
  judgeOrder(there, ids);
  if (w.conditional) w.match(await show());
  const had = new Map(there.map(({ id: ruleId, priority }) => [ruleId, priority]));
  const moved = ids.flatMap((ruleId, index) => {
    const [from, to] = [had.get(ruleId)!, (index + 1) * PRIORITY_STEP];
    return from === to ? [] : [{ id: ruleId, from, to }];
  });
  if (moved.length === 0) {
    await w.publishRules(null);
    return ok(await show());
  }
  const wanted = moved.map(({ id: ruleId, to }) => ({ id: ruleId, priority: to }));
  await tx.rules.prioritise(domain.id, wanted, now);
  await w.audit({ action: 'rule.reorder', subject: type, ...auditOrder(moved) });
  await w.publishRules(`rules of type ${type} reordered`);
  return ok(await show());
}

/** A rule whose priority changes. */
interface Move {
  readonly id: number;
  readonly from: number;
  readonly to: number;
}

/** The priorities that a reorder changed, of the first `MAX_AUDITED_MOVES` rules. */
function auditOrder(moved: readonly Move[]): Pick<AuditEntry, 'before' | 'after'> {
  const listed = moved.slice(0, MAX_AUDITED_MOVES);
  const unlisted = moved.length > listed.length ? { unlisted: moved.length - listed.length } : {};
  const before = listed.map(({ id: ruleId, from }) => ({ id: ruleId, priority: from }));
  const after = listed.map(({ id: ruleId, to }) => ({ id: ruleId, priority: to }));
  return { before: { rules: before, ...unlisted }, after: { rules: after, ...unlisted } };
}

/** Checks that `ids` lists every rule of the type exactly once. @throws Refusal 400 */
function judgeOrder(rows: readonly Pick<RuleRow, 'id'>[], ids: readonly number[]): void {
  const there = new Set(rows.map((row) => row.id));
  const listed = new Set(ids);
  const wrong =
    ids.find((ruleId) => !there.has(ruleId)) ?? rows.find((row) => !listed.has(row.id))?.id ?? null;
  if (wrong === null && listed.size === ids.length) return;
  const twice = 'one is listed twice';
  const why =
    wrong === null ? twice : there.has(wrong) ? `\`${wrong}\` is not listed` : `\`${wrong}\` is none of them`;
  throw badRequest(`ids: must list every rule of the type exactly once; ${why}`);
}
