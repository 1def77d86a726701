/** `/domains/{domain}/diff`: what two revisions do differently, in terms of rules. `edgeplan diff` tells the same of files. */
import { z } from 'zod';
import { RULE_CHANGES } from '../../analysis/diff.ts';
import { queryNumber } from '../query.ts';
import { conflict } from '../refusal.ts';
import { jsonText, operation } from '../route.ts';
import { currentOf, side } from './plans.ts';

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
  async handle({ caller, domain, query, read, services }) {
    const asked = query as { readonly from?: number; readonly to?: number };
    const text = await services.compute.run(caller.account_id, () =>
      read(async (tx) => {
        const to = asked.to ?? (await currentOf(tx, domain))?.revision ?? 0;
        const from = asked.from ?? to - 1;
        if (to < 1 || from < 1) throw conflict('there are no two revisions to compare yet');
        const [before, after] = [await side(tx, domain, from), await side(tx, domain, to)];
        return { kind: 'diff', from, to, before: before.bytes, after: after.bytes };
      }),
    );
    return jsonText(text);
  },
});
