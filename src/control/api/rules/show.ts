/**
 * Rules as the API shows them: converted between their stored form and the form of the API, and in pages of a list.
 */
import { z } from 'zod';
import { utf8Length } from '../../../base/octets/octets.ts';
import { timeText } from '../../../base/text/time.ts';
import { RULE_TYPES, type RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import type { ErrorPageRule, Rule } from '../../../rules/model/types.ts';
import type { RuleWrite } from '../../store/repositories/rules.ts';
import type { RulePage } from '../../store/repositories/rules-page.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { RuleRow } from '../../store/tables/rules.ts';
import { MAX_PAGE, MAX_SEARCH } from '../operation/limits.ts';
import { nextPage, queryNumber } from '../operation/read-request.ts';
import { badRequest } from '../operation/refusal.ts';
import { ok, type Response } from '../operation/route.ts';

/** The fields of `RuleRow.body`: all but those with columns of their own. */
export type RuleBody = Readonly<Record<string, unknown>> & {
  readonly record_ids: readonly number[];
  readonly enabled: boolean;
};

/** The pages of an error page rule: HTML by status code. */
type Pages = ErrorPageRule['content'];

/** The fields of a row's body. */
export function bodyOf(row: Pick<RuleRow, 'body'>): RuleBody {
  return JSON.parse(row.body) as RuleBody;
}

/**
 * A rule in the form of the API. `content`: the stored HTML of an error page (`null`: none); absent: the short form of
 * lists.
 */
export function showRule(row: RuleRow, content?: string | null): Readonly<Record<string, unknown>> {
  const body = bodyOf(row);
  const [first] = body.record_ids;
  return {
    id: row.id,
    domain_id: row.domain_id,
    type: row.type,
    ...(first === undefined ? {} : { record_id: first }),
    // Rows written before the field existed lack it.
    ...(row.type === 'waf' ? { on_uninspected: 'score' } : {}),
    ...body,
    priority: row.priority,
    ...(row.type === 'error_page' ? showPages(content) : {}),
    created_at: timeText(row.created_at),
    updated_at: timeText(row.updated_at),
  };
}

/** The fields of an answer about pages: in a list their sizes are left empty, since their texts are not read. */
function showPages(content: string | null | undefined): Readonly<Record<string, unknown>> {
  if (content === undefined) return { content_bytes: {} };
  const pages = content === null ? {} : (JSON.parse(content) as Pages);
  const octets = Object.entries(pages).map(([code, html]) => [code, utf8Length(html)]);
  return { content: pages, content_bytes: Object.fromEntries(octets) };
}

/** The full form of one rule, with an error page's HTML. */
export async function showWhole(
  tx: ReadTransaction,
  row: RuleRow,
): Promise<Readonly<Record<string, unknown>>> {
  return showRule(row, row.type === 'error_page' ? await tx.rules.content(row.id) : undefined);
}

/**
 * Distributes a rule's fields over the columns of the store. `pages.keep`: the body of the row to replace, whose pages
 * stay unchanged.
 */
export function toWrite(
  fields: StoredRule<Rule>,
  pages: 'replace' | { readonly keep: RuleBody } = 'replace',
): RuleWrite {
  const { priority, record_ids, ...rest } = fields;
  if (!('content' in rest)) return { priority, record_ids, body: JSON.stringify({ record_ids, ...rest }) };
  const { content, ...own } = rest as typeof rest & { readonly content: Pages };
  if (pages !== 'replace') {
    const { content_codes } = pages.keep;
    return { priority, record_ids, body: JSON.stringify({ record_ids, ...own, content_codes }) };
  }
  // Names that are numbers come in ascending order (ECMA-262, OrdinaryOwnPropertyKeys).
  const content_codes = Object.keys(content).map(Number);
  return {
    priority,
    record_ids,
    body: JSON.stringify({ record_ids, ...own, content_codes }),
    content: content_codes.length === 0 ? null : JSON.stringify(content),
  };
}

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
