/**
 * Stores published rules beside those of a draft: the writes of rules call this before they change a rule of a domain that
 * publishes by hand. A rule is stored at its first change; a rule that the draft creates is stored as absent.
 */
import { sql } from 'kysely';
import { idsIn, one, raw, type Session, statement } from '../database/statement.ts';
import type { RuleRow } from '../tables/rules.ts';
import { savePublishedUses } from './list-uses.ts';

const publishMode = statement((builder, p: { id: number }) =>
  builder.selectFrom('domains').select('publish_mode').where('id', '=', p.id),
);

/** Whether a domain publishes by hand; the transaction has it locked. */
async function isManual(session: Session, domainId: number): Promise<boolean> {
  const known = session.manualDomains?.get(domainId);
  if (known !== undefined) return known;
  const manual = (await one(session, publishMode, { id: domainId }))?.publish_mode === 'manual';
  session.manualDomains?.set(domainId, manual);
  return manual;
}

type RuleList = { domain_id: number; ids: string };

/** Those of the rules whose published form is not stored yet. */
const unsaved = statement((builder, p: RuleList, flavour) =>
  builder
    .selectFrom('rules')
    .select('id')
    .where('domain_id', '=', p.domain_id)
    .where('id', 'in', idsIn(p.ids, flavour))
    .where('id', 'not in', (row) =>
      row.selectFrom('published_rules').select('rule_id').where('domain_id', '=', p.domain_id),
    ),
);

/** The columns of a rule that both tables have. */
const COMMON = sql.raw('domain_id, type, priority, body, content, addresses, created_at, updated_at');

const saveRules = statement((builder, p: { ids: string }, flavour) =>
  raw(
    sql`insert into published_rules (rule_id, ${COMMON})
      select rules.id, ${COMMON} from rules left join rule_contents on rule_contents.rule_id = rules.id
      where rules.id in ${idsIn(p.ids, flavour)}`,
    builder,
  ),
);

const savePatterns = statement((builder, p: { ids: string }, flavour) =>
  raw(
    sql`insert into published_patterns (rule_id, digest, octets, build, eighths, prefix, head)
      select rule_id, digest, octets, build, eighths, prefix, head from rule_patterns
      where rule_id in ${idsIn(p.ids, flavour)}`,
    builder,
  ),
);

const saveAbsent = statement((builder, p: { rule_id: number }) =>
  raw(
    sql`insert into published_rules (rule_id, ${COMMON})
      select id, domain_id, type, priority, null, null, 0, created_at, updated_at from rules where id = ${p.rule_id}`,
    builder,
  ),
);

const removeAbsent = statement((builder, p: { rule_id: number }) =>
  builder.deleteFrom('published_rules').where('rule_id', '=', p.rule_id).where('body', 'is', null),
);

/** Before rules change: stores them as they are, if nodes run them. */
export async function savePublished(
  session: Session,
  domainId: number,
  ids: readonly number[],
): Promise<void> {
  if (!(await isManual(session, domainId))) return;
  const left = await unsaved(session, { domain_id: domainId, ids: JSON.stringify(ids) });
  if (left.length === 0) return;
  const saved = { ids: JSON.stringify(left.map(({ id }) => id)) };
  await Promise.all([
    saveRules(session, saved),
    savePatterns(session, saved),
    savePublishedUses(session, saved.ids),
  ]);
}

/** After a rule was created: nodes have none. */
export async function saveCreated(session: Session, { id, domain_id }: RuleRow): Promise<void> {
  if (await isManual(session, domain_id)) await saveAbsent(session, { rule_id: id });
}

/** After a rule was removed: a rule that the draft had created leaves nothing behind. */
export async function forgetCreated(session: Session, domainId: number, ruleId: number): Promise<void> {
  if (await isManual(session, domainId)) await removeAbsent(session, { rule_id: ruleId });
}
