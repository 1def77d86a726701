/** `/domains/{domain}/diff`: what two revisions do differently, in terms of rules. `edgeplan diff` tells the same of files. */
import { z } from 'zod';
import { diffPlans, RULE_CHANGES } from '../../analysis/diff.ts';
import { openPlan } from '../../plan/open.ts';
import { queryNumber } from '../query.ts';
import { conflict } from '../refusal.ts';
import { ok, operation } from '../route.ts';
import { currentOf, readable, side } from './plans.ts';

const field = z.object({
  field: z.string(),
  /** Absent where the older, or the newer, revision has no such field. */
  was: z.unknown().optional(),
  now: z.unknown().optional(),
});

export const diff = operation({
  summary: 'Compare two revisions by their rules: added, removed, changed field by field, or only moved',
  query: z.object({
    from: queryNumber(1, Number.MAX_SAFE_INTEGER),
    to: queryNumber(1, Number.MAX_SAFE_INTEGER),
  }),
  response: z.object({
    from: z.int(),
    to: z.int(),
    same: z.boolean(),
    domain: z.array(field),
    hosts: z.array(
      z.object({ change: z.enum(['added', 'removed', 'changed']), host: z.string(), fields: z.array(field) }),
    ),
    rules: z.array(
      z.object({
        change: z.enum(RULE_CHANGES),
        /** `<type>/<id>`. */
        rule: z.string(),
        /** Its id in the older revision, where that is another one. */
        before: z.string().optional(),
        fields: z.array(field),
      }),
    ),
  }),
  statuses: [409],
  handle: (call) =>
    call.read(async (tx) => {
      const asked = call.query as { readonly from?: number; readonly to?: number };
      const to = asked.to ?? (await currentOf(tx, call.domain))?.revision ?? 0;
      const from = asked.from ?? to - 1;
      if (to < 1 || from < 1) throw conflict('there are no two revisions to compare yet');
      const [before, after] = [await side(tx, call.domain, from), await side(tx, call.domain, to)];
      const found = readable(() => diffPlans(opened(before.bytes), opened(after.bytes)));
      return ok({ from, to, ...found });
    }),
});

function opened(bytes: Uint8Array | null): Parameters<typeof diffPlans>[0] {
  return { opened: bytes === null ? null : openPlan(bytes) };
}
