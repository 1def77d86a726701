/** Pages of rules: by place in the order, filtered in the database, so that the cost of a page is that of its rows. */
import { sql } from 'kysely';
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import { type Flavour, freeStatement, type Session } from '../database/statement.ts';
import type { RuleRow } from '../tables/rules.ts';

/** A part of the rules of a domain, by type (as text), priority, id. */
export interface RulePage {
  /** `null`: of all types. */
  readonly type: RuleType | null;
  /** The last rule of the page before; `null`: from the beginning. */
  readonly after: Pick<RuleRow, 'type' | 'priority' | 'id'> | null;
  readonly limit: number;
  /** `null`: both. */
  readonly enabled: boolean | null;
  /** Part of one of the rule's texts, ASCII letters without case; `null`: any. */
  readonly text: string | null;
}

/** The columns of a RuleRow; `addresses`, which only the totals need, is left out. */
export const RULE_COLUMNS = [
  'id',
  'domain_id',
  'type',
  'priority',
  'body',
  'created_at',
  'updated_at',
] as const;

type Asked = RulePage & { readonly domain_id: number };

/** Its text depends on the filters: an absent filter leaves no condition, so that the index fits. */
const page = freeStatement((builder, p: Asked, flavour) => {
  let query = builder.selectFrom('rules').select(RULE_COLUMNS).where('domain_id', '=', p.domain_id);
  if (p.type !== null) query = query.where('type', '=', p.type);
  if (p.after !== null) {
    const { type, priority, id } = p.after;
    query = query.where(({ eb, and, or }) =>
      or([
        eb('type', '>', type),
        and([eb('type', '=', type), eb('priority', '>', priority)]),
        and([eb('type', '=', type), eb('priority', '=', priority), eb('id', '>', id)]),
      ]),
    );
  }
  if (p.enabled !== null) query = query.where(isEnabled(flavour), '=', p.enabled ? 1 : 0);
  if (p.text !== null) query = query.where(holdsText(p.text, flavour));
  return query.orderBy('type').orderBy('priority').orderBy('id').limit(p.limit);
});

/** 1 or 0; a body without the field is that of an enabled rule. */
function isEnabled({ database }: Flavour) {
  return database === 'sqlite'
    ? sql<number>`coalesce(json_extract(body, '$.enabled'), 1)`
    : sql<number>`case when coalesce((body::jsonb ->> 'enabled')::boolean, true) then 1 else 0 end`;
}

/** Whether one of the texts in the body contains this one, ASCII letters compared without case. */
function holdsText(text: string, { database }: Flavour) {
  const pattern = `%${text.replace(/[\\%_]/g, '\\$&')}%`;
  return database === 'sqlite'
    ? sql<boolean>`exists (select 1 from json_tree(body) as part
        where part.type = 'text' and part.value like ${pattern} escape '\\')`
    : sql<boolean>`exists (select 1 from jsonb_path_query(body::jsonb, 'strict $.**') as part
        where jsonb_typeof(part) = 'string' and part #>> '{}' ilike ${pattern} escape '\\')`;
}

/** `page` of `ruleReads`. */
export function pageOfRules(session: Session, asked: Asked): Promise<readonly RuleRow[]> {
  return page(session, asked);
}
