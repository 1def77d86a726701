/**
 * `/domains/{domain}/diff`: the differences of two revisions, rule by rule. `edgeplan diff` compares files the same
 * way.
 */
import { z } from 'zod';
import { currentOf } from '../../publishing/revisions.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import { DIFF, PROOF_QUERY } from '../drafts/representation.ts';
import { MAX_PAGE } from '../operation/limits.ts';
import { queryNumber } from '../operation/read-request.ts';
import { badRequest, conflict } from '../operation/refusal.ts';
import { jsonText, operation } from '../operation/route.ts';
import { side } from './plans.ts';

/**
 * `GET /domains/{domain}/diff`: the changes of hosts and rules between two published revisions, page by page. 404 for an
 * unknown revision, 409 for a pruned one.
 */
export const diff = operation({
  summary:
    'Compare two revisions by their rules: added, removed, changed field by field, or only moved; page by page',
  query: z.object({
    from: queryNumber(1, Number.MAX_SAFE_INTEGER),
    to: queryNumber(1, Number.MAX_SAFE_INTEGER),
    limit: queryNumber(1, MAX_PAGE),
    proof: PROOF_QUERY.describe(
      'also prove which outcomes differ, each with a request that shows it; off without it',
    ),
    cursor: z.string().optional().describe('`page.next` of the page before; it has `from` and `to` in it'),
  }),
  response: DIFF.extend({ from: z.int(), to: z.int() }),
  statuses: [409],
  async handle({ compute, domain, query, read }) {
    const { limit = MAX_PAGE, proof, ...given } = query as Question & DiffPage;
    const start = startOf(given);
    const text = await compute('diff', () =>
      read(async (tx) => {
        const { from, to } = await revisionsOf(tx, domain, start);
        const [before, after] = [await side(tx, domain, from), await side(tx, domain, to)];
        const page = { limit, from: start.entries };
        const sides = { before: before.bytes, after: after.bytes };
        return { kind: 'diff', from, to, ...sides, proof: proof === 'true', page };
      }),
    );
    return jsonText(text);
  },
});

/** The parameters of every comparison. */
interface DiffPage {
  readonly limit?: number;
  readonly proof?: 'true' | 'false';
}

/** The parameters that select a page. Defaults: `to` the current revision, `from` the one before `to`. */
interface Question {
  readonly from?: number;
  readonly to?: number;
  readonly cursor?: string;
}

/** The start of a page: the two revisions, and the entries before it. */
interface Start {
  readonly from?: number;
  readonly to?: number;
  readonly entries: number;
}

/**
 * Reads a cursor `<from>-<to>-<entries>`, with which every page compares the same two revisions. @throws Refusal 400
 */
function startOf({ cursor, ...given }: Question): Start {
  if (cursor === undefined) return { ...given, entries: 0 };
  if (given.from !== undefined || given.to !== undefined) {
    throw badRequest('cursor: has `from` and `to` in it; send it without them');
  }
  const parts = /^([1-9]\d{0,14})-([1-9]\d{0,14})-(\d{1,9})$/.exec(cursor);
  if (parts === null) throw badRequest('cursor: must be `page.next` of the page before');
  return { from: Number(parts[1]), to: Number(parts[2]), entries: Number(parts[3]) };
}

/**
 * The two revisions to compare, with the defaults of `Question`. @throws Refusal 409 where fewer than two are published
 */
async function revisionsOf(
  tx: ReadTransaction,
  domain: DomainRow,
  given: Start,
): Promise<{ readonly from: number; readonly to: number }> {
  const to = given.to ?? (await currentOf(tx, domain))?.revision ?? 0;
  const from = given.from ?? to - 1;
  if (to < 1 || from < 1) throw conflict('there are no two revisions to compare yet');
  return { from, to };
}
