/** Converts rules between their stored form and the form of the API. */
import { utf8Length } from '../../../base/octets/octets.ts';
import { timeText } from '../../../base/text/time.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import type { ErrorPageRule, Rule } from '../../../rules/model/types.ts';
import type { RuleWrite } from '../../store/customer-repositories.ts';
import type { RuleRow } from '../../store/rows.ts';
import type { ReadTransaction } from '../../store/store.ts';

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
