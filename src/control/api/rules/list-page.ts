/** Pages of rule lists: their query, their cursor and the link to the next page. */
import { z } from 'zod';
import { RULE_TYPES, type RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { RulePage } from '../../store/customer-repositories.ts';
import type { RuleRow } from '../../store/rows.ts';
import type { ReadTransaction } from '../../store/store.ts';
import { MAX_PAGE, MAX_SEARCH } from '../operation/limits.ts';
import { nextPage } from '../operation/next-page.ts';
import { queryNumber } from '../operation/query.ts';
import { badRequest } from '../operation/refusal.ts';
import { ok, type Response } from '../operation/route.ts';
import { showRule } from './show.ts';

/** The query of a rule list. */
export const RULE_LIST_QUERY = z.object({
  limit: queryNumber(1, MAX_PAGE).describe('how many rules; `Link` leads to the next page'),
  cursor: z.string().max(64).optional().describe('where the page before left off'),
  enabled: z.enum(['true', 'false']).optional().describe('only rules that are enabled, or are not'),
  q: z.string().min(1).max(MAX_SEARCH).optional().describe('only rules one of whose texts holds this one'),
});

/** The output of `RULE_LIST_QUERY`. */
interface ListQuery {
  readonly limit?: number;
  readonly cursor?: string;
  readonly enabled?: 'true' | 'false';
  readonly q?: string;
}

/** Which list a page belongs to. */
export interface ListOf {
  readonly domain: { readonly id: number };
  /** `null`: rules of all types, by type as text. */
  readonly type: RuleType | null;
  /** The list's path, for the link to the next page. */
  readonly path: string;
}

/** Whether the query requests a part of the list; without parameters the answer is the whole list (API document). */
export function requestsPart(query: Readonly<Record<string, unknown>>): boolean {
  return Object.values(query).some((value) => value !== undefined);
}

/** One page. @throws Refusal 400 for an invalid cursor */
export async function rulePage(
  tx: Pick<ReadTransaction, 'rules'>,
  { domain, type, path }: ListOf,
  query: Readonly<Record<string, unknown>>,
): Promise<Response> {
  const { limit = MAX_PAGE, cursor, enabled, q } = query as ListQuery;
  const rows = await tx.rules.page(domain.id, {
    type,
    after: cursor === undefined ? null : readCursor(cursor, type),
    // One more row shows whether there is a next page.
    limit: limit + 1,
    enabled: enabled === undefined ? null : enabled === 'true',
    text: q ?? null,
  });
  const shown = rows.slice(0, limit);
  const answer = ok(shown.map((row) => showRule(row)));
  if (rows.length <= limit) return answer;
  const next = { limit, cursor: cursorOf(shown.at(-1)!), enabled, q };
  return { ...answer, headers: nextPage({ path, query: next }) };
}

/**
 * The cursor after a rule: its place in the order of the list, so that a deletion of the rule does not invalidate it.
 */
function cursorOf({ type, priority, id }: RuleRow): string {
  return `${type}-${priority}-${id}`;
}

/** Parses a cursor of `cursorOf`. @throws Refusal 400, also for a cursor of another type's list */
function readCursor(cursor: string, type: RuleType | null): RulePage['after'] {
  const [, of, priority, id] = /^([a-z_]+)-(\d{1,7})-(\d{1,15})$/.exec(cursor) ?? [];
  const known = RULE_TYPES.find((candidate) => candidate === of);
  if (known === undefined || (type !== null && known !== type)) {
    throw badRequest('cursor: must be taken from the `Link` of a page of this list');
  }
  return { type: known, priority: Number(priority), id: Number(id) };
}
