/** Usage plans of a domain (semantics §15): what the consumers with one plan may ask for. */
import { z } from 'zod';
import { MAX_USAGE_PLANS } from '../../../base/vocabulary/limits.ts';
import { usagePlanForm } from '../../../rules/model/registry/usage-plan.ts';
import type { UsagePlan } from '../../../rules/model/types.ts';
import { usagePlanOf } from '../../publishing/plan-registry.ts';
import type { UsagePlanRow } from '../../store/tables/registry.ts';
import { formBody, idOf } from '../operation/read-request.ts';
import { conflict, notFound } from '../operation/refusal.ts';
import {
  type ApiRoute,
  type Call,
  message,
  type Operation,
  ok,
  operation,
  type Writing,
} from '../operation/route.ts';
import { messageShape } from '../operation/shapes.ts';
import {
  CHANGES,
  judgeRoom,
  NAMED_USERS,
  namesText,
  REMOVES,
  readChange,
  recordChange,
  settleQuotas,
  VIEWS,
} from '../registry/change.ts';
import { showUsagePlan, USAGE_PLAN, USAGE_PLAN_UPDATE } from '../registry/show.ts';
import { judgeNamed } from '../rules/registry-references.ts';

/** Routes for usage plans. */
// biome-ignore format: a table is read in columns
export const USAGE_PLAN_ROUTES: readonly ApiRoute[] = [
  { method: 'GET', path: '/domains/{domain}/usage-plans/', ...VIEWS, ...list() },
  { method: 'POST', path: '/domains/{domain}/usage-plans/', ...CHANGES, ...create() },
  { method: 'GET', path: '/domains/{domain}/usage-plans/{usagePlanId}', ...VIEWS, ...read() },
  { method: 'PUT', path: '/domains/{domain}/usage-plans/{usagePlanId}', ...CHANGES, ...update() },
  { method: 'DELETE', path: '/domains/{domain}/usage-plans/{usagePlanId}', ...REMOVES, ...remove() },
];

function list(): Operation {
  return operation({
    summary: 'Usage plans of a domain, by name',
    response: z.array(USAGE_PLAN),
    async handle({ domain, latest }) {
      return ok((await latest.usagePlans.list(domain.id)).map(showUsagePlan));
    },
  });
}

function read(): Operation {
  return operation({
    summary: 'One usage plan',
    response: USAGE_PLAN,
    async handle({ domain, latest, params }) {
      return ok(showUsagePlan(found(await latest.usagePlans.list(domain.id), params)));
    },
  });
}

function create(): Operation {
  return operation<UsagePlan>({
    summary: 'Add a usage plan; consumers and gateways refer to it by its name',
    body: formBody(usagePlanForm),
    response: USAGE_PLAN,
    statuses: [409],
    async handle({ body, write }) {
      return write(async (w) => {
        const there = await w.tx.usagePlans.list(w.domain.id);
        judgeRoom('usage plans', { there: there.length, most: MAX_USAGE_PLANS });
        judgeName(there, body.name);
        const row = await w.tx.usagePlans.insert({
          domain_id: w.domain.id,
          name: body.name,
          body: JSON.stringify(body),
          created_at: w.now,
          updated_at: w.now,
          quota_period: body.quota?.period ?? null,
        });
        const after = showUsagePlan(row);
        const entry = { action: 'usage_plan.create', subject: `usage_plan/${row.id}`, after };
        await recordChange(w, entry, `usage plan \`${row.name}\` created`);
        return ok(after);
      });
    },
  });
}

/** `PUT …/{usagePlanId}`: a partial update; 409 for another name of a plan that is in use. */
function update(): Operation {
  return operation<unknown>({
    summary: 'Change a usage plan; fields left out keep their value',
    body: { kind: 'raw', schema: USAGE_PLAN_UPDATE },
    response: USAGE_PLAN,
    statuses: [409],
    async handle({ body, params, write }) {
      return write(async (w) => {
        const there = await w.tx.usagePlans.list(w.domain.id);
        const before = found(there, params);
        const shown = showUsagePlan(before);
        w.match(shown);
        const fields = readChange(usagePlanForm, usagePlanOf(before), body);
        const text = JSON.stringify(fields);
        if (text === before.body) return ok(shown);
        if (fields.name !== before.name) {
          judgeName(there, fields.name);
          await judgeUse(w, before);
        }
        const { id, domain_id } = before;
        const quota_period = fields.quota?.period ?? null;
        const changed = { id, domain_id, name: fields.name, body: text, updated_at: w.now, quota_period };
        const row = (await w.tx.usagePlans.update(changed))!;
        await settleQuotas(w);
        const after = showUsagePlan(row);
        const entry = { action: 'usage_plan.update', subject: `usage_plan/${id}`, before: shown, after };
        await recordChange(w, entry, `usage plan \`${row.name}\` changed`);
        return ok(after);
      });
    },
  });
}

function remove(): Operation {
  return operation({
    summary: 'Delete a usage plan that no consumer and no gateway has',
    response: messageShape,
    statuses: [409],
    async handle({ params, write }) {
      return write(async (w) => {
        const row = found(await w.tx.usagePlans.list(w.domain.id), params);
        const before = showUsagePlan(row);
        w.match(before);
        await judgeUse(w, row);
        await w.tx.usagePlans.remove(w.domain.id, row.id);
        const entry = { action: 'usage_plan.delete', subject: `usage_plan/${row.id}`, before };
        await recordChange(w, entry, `usage plan \`${row.name}\` deleted`);
        return message(`usage plan ${row.name} deleted`);
      });
    },
  });
}

/** The plan of the path. @throws Refusal 404 */
function found(rows: readonly UsagePlanRow[], params: Call<unknown>['params']): UsagePlanRow {
  const id = idOf(params['usagePlanId']);
  const row = rows.find((one) => one.id === id);
  if (row === undefined) throw notFound();
  return row;
}

/** @throws Refusal 409 */
function judgeName(there: readonly UsagePlanRow[], name: string): void {
  if (there.some((one) => one.name === name))
    throw conflict(`name: there is a usage plan \`${name}\` already`);
}

/** Checks that nothing names the plan, which is about to lose its name. @throws Refusal 409 */
async function judgeUse(w: Writing, { name }: UsagePlanRow): Promise<void> {
  const { tx, domain } = w;
  await judgeNamed(w, { kind: 'usage_plan', name });
  const users = await tx.consumers.onPlan(domain.id, name, NAMED_USERS + 1);
  if (users.length === 0) return;
  throw conflict(
    `the usage plan is in use by the consumers ${namesText(users)}; give them another plan first`,
  );
}
