/**
 * Totals of the rules of a domain: rules, octets and addresses by type, and the cost of its patterns. Each write adds and
 * subtracts what its own rules cost, so no total is ever counted from all rules.
 */
import { sql } from 'kysely';
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import {
  idsIn,
  int,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
} from '../database/statement.ts';
import type { PatternRow, RuleCosts } from '../tables/rules.ts';

/** The cost of a domain's patterns together; a pattern that several rules have counts once. */
export interface PatternCosts extends Pick<PatternRow, 'octets' | 'build' | 'eighths'> {
  /** False if rules were written before patterns were counted; `countPatterns` counts them. */
  readonly counted: boolean;
}

/** What identifies a rule in a request: an id alone may be of another domain or type. */
export interface RuleKey {
  readonly domain_id: number;
  readonly type: RuleType;
  readonly id: number;
}

const totals = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('rule_totals')
    .select(['type', 'rules', 'octets', 'addresses'])
    .where('domain_id', '=', p.domain_id)
    .where('rules', '>', 0)
    .orderBy('type'),
);

/**
 * Reads the rules as they are stored. A subtraction must therefore run before the rules change, an addition after.
 */
const add = statement((builder, p: { domain_id: number; ids: string; by: number }, flavour) =>
  raw(
    sql`insert into rule_totals (domain_id, type, rules, octets, addresses)
      select domain_id, type, ${int(p.by)} * count(*),
        ${int(p.by)} * sum(octet_length(body) + coalesce(octet_length(content), 0)), ${int(p.by)} * sum(addresses)
      from rules left join rule_contents on rule_contents.rule_id = rules.id
      where rules.id in ${idsIn(p.ids, flavour)} and domain_id = ${p.domain_id} group by domain_id, type
      on conflict (domain_id, type) do update set rules = rule_totals.rules + excluded.rules,
        octets = rule_totals.octets + excluded.octets, addresses = rule_totals.addresses + excluded.addresses`,
    builder,
  ),
);

/** Adds what these rules cost as they are stored to the totals of their domain, or subtracts it. */
export async function addRules(
  session: Session,
  { domainId, ids, by }: { readonly domainId: number; readonly ids: readonly number[]; readonly by: 1 | -1 },
): Promise<void> {
  await add(session, { domain_id: domainId, ids: JSON.stringify(ids), by });
}

/** The totals of a domain, by type. */
export async function totalsOf(session: Session, domainId: number): Promise<readonly RuleCosts[]> {
  return totals(session, { domain_id: domainId });
}

/** No row for a domain that has never had patterns. */
const patternTotals = statement((builder, p: { domain_id: number }) =>
  builder
    .selectFrom('pattern_totals')
    .select(['octets', 'build', 'eighths', 'counted'])
    .where('domain_id', '=', p.domain_id),
);

/** The cost of the patterns that only this rule has: a pattern of another rule too stays in the domain's total. */
const alone = sql`select own.domain_id, sum(own.octets) as octets, sum(own.build) as build,
  sum(own.eighths) as eighths from rule_patterns as own`;
const elsewhere = sql`select 1 from rule_patterns as other where other.domain_id = own.domain_id
  and other.digest = own.digest and other.rule_id <> own.rule_id`;

const costsAlone = statement((builder, p: { rule_id: number }) =>
  raw<{ octets: number; build: number; eighths: number }>(
    sql`select cast(octets as bigint) as octets, cast(build as bigint) as build, cast(eighths as bigint) as eighths
      from (${alone} where own.rule_id = ${p.rule_id} and not exists (${elsewhere}) group by own.domain_id) as costs`,
    builder,
  ),
);

/** Adds (`by` 1) or subtracts (-1) the cost of the patterns that only this rule has. */
const addPatterns = statement((builder, p: { rule_id: number; by: number }) =>
  raw(
    sql`insert into pattern_totals (domain_id, octets, build, eighths, counted)
      select domain_id, ${int(p.by)} * octets, ${int(p.by)} * build, ${int(p.by)} * eighths, 1
      from (${alone} where own.rule_id = ${p.rule_id} and not exists (${elsewhere}) group by own.domain_id) as costs
      where true on conflict (domain_id) do update set octets = pattern_totals.octets + excluded.octets,
        build = pattern_totals.build + excluded.build, eighths = pattern_totals.eighths + excluded.eighths`,
    builder,
  ),
);

/** After the subtraction of their cost, which reads them. */
const forgetPatterns = statement((builder, p: { rule_id: number }) =>
  builder.deleteFrom('rule_patterns').where('rule_id', '=', p.rule_id),
);

/** The columns of a pattern, for a list of rows as one parameter. */
const PATTERN_COLUMNS = {
  rule_id: 'bigint',
  digest: 'text',
  octets: 'bigint',
  build: 'bigint',
  eighths: 'bigint',
  prefix: 'text',
  head: 'text',
} as const satisfies ListedColumns;

/** A pattern that the rule has twice is stored once. */
const filePatterns = statement((builder, p: { domain_id: number; patterns: string }, flavour) =>
  raw(
    sql`insert into rule_patterns (domain_id, rule_id, digest, octets, build, eighths, prefix, head)
      select ${int(p.domain_id)}, given.rule_id, given.digest, given.octets, given.build, given.eighths, given.prefix,
        given.head from (${listed(p.patterns, PATTERN_COLUMNS, flavour)}) as given where true on conflict do nothing`,
    builder,
  ),
);

/** Hex digits of a prefix that the index orders by: 64 code units, so that an index entry stays small. */
const HEAD = 256;

/** Rows of one rule, each with the part of its prefix that the index orders by. */
function patternRows(ruleId: number, patterns: readonly PatternRow[]): readonly object[] {
  return patterns.map((pattern) => ({ ...pattern, rule_id: ruleId, head: pattern.prefix.slice(0, HEAD) }));
}

/** Replaces the stored patterns of a rule, and updates the totals. */
export async function putPatterns(
  session: Session,
  { domain_id, id }: Pick<RuleKey, 'domain_id' | 'id'>,
  patterns: readonly PatternRow[],
): Promise<void> {
  await dropPatterns(session, id);
  if (patterns.length === 0) return;
  await filePatterns(session, {
    domain_id,
    patterns: listedRows(patternRows(id, patterns), PATTERN_COLUMNS),
  });
  await addPatterns(session, { rule_id: id, by: 1 });
}

/** Removes the stored patterns of a rule, and updates the totals. */
export async function dropPatterns(session: Session, ruleId: number): Promise<void> {
  await addPatterns(session, { rule_id: ruleId, by: -1 });
  await forgetPatterns(session, { rule_id: ruleId });
}

/** The count over all patterns of a domain; it runs after an upgrade, and where a draft is discarded. */
const recount = statement((builder, p: { domain_id: number }) =>
  raw(
    sql`insert into pattern_totals (domain_id, octets, build, eighths, counted)
      select ${int(p.domain_id)}, coalesce(sum(octets), 0), coalesce(sum(build), 0), coalesce(sum(eighths), 0), 1
      from (select distinct digest, octets, build, eighths from rule_patterns where domain_id = ${p.domain_id}) as each_one
      where true on conflict (domain_id) do update set octets = excluded.octets, build = excluded.build,
        eighths = excluded.eighths, counted = 1`,
    builder,
  ),
);

/** Stores the patterns of rules that an earlier version wrote without them, and counts the domain's. */
export async function countPatterns(
  session: Session,
  domainId: number,
  rules: ReadonlyMap<number, readonly PatternRow[]>,
): Promise<void> {
  const rows = [...rules].flatMap(([ruleId, patterns]) => patternRows(ruleId, patterns));
  await filePatterns(session, { domain_id: domainId, patterns: listedRows(rows, PATTERN_COLUMNS) });
  await recount(session, { domain_id: domainId });
}

/** Without a row the domain has never had patterns; patterns that are not counted yet stay so. */
const isCounted = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('pattern_totals').select('counted').where('domain_id', '=', p.domain_id),
);

/** Counts the patterns of a domain again, after many rules were replaced at once. */
export async function recountPatterns(session: Session, domainId: number): Promise<void> {
  const row = await one(session, isCounted, { domain_id: domainId });
  if (row?.counted === 1) await recount(session, { domain_id: domainId });
}

/** The cost of a domain's patterns without those that only the rule `without` has. */
export async function patternCosts(
  session: Session,
  domainId: number,
  without: number,
): Promise<PatternCosts> {
  const all = await one(session, patternTotals, { domain_id: domainId });
  if (all === null) return { octets: 0, build: 0, eighths: 0, counted: true };
  const own = await one(session, costsAlone, { rule_id: without });
  return {
    octets: all.octets - (own?.octets ?? 0),
    build: all.build - (own?.build ?? 0),
    eighths: all.eighths - (own?.eighths ?? 0),
    counted: all.counted === 1,
  };
}

const DIGESTS = { digest: 'text' } as const satisfies ListedColumns;
const HEADS = { head: 'text' } as const satisfies ListedColumns;

const filed = statement((builder, p: { domain_id: number; digests: string; without: number }, flavour) =>
  raw<{ digest: string }>(
    sql`select distinct digest from rule_patterns where domain_id = ${p.domain_id} and rule_id <> ${p.without}
      and digest in (${listed(p.digests, DIGESTS, flavour)})`,
    builder,
  ),
);

/** Which of these patterns other rules of the domain have. */
export async function filedPatterns(
  session: Session,
  domainId: number,
  { digests, without }: { readonly digests: readonly string[]; readonly without: number },
): Promise<ReadonlySet<string>> {
  const given = listedRows(
    digests.map((digest) => ({ digest })),
    DIGESTS,
  );
  const rows = await filed(session, { domain_id: domainId, digests: given, without });
  return new Set(rows.map(({ digest }) => digest));
}

/** `above` and `below` are JSON arrays of heads. */
type NearQuestion = { domain_id: number; above: string; below: string; without: number };

// PERF: the cross joins make SQLite search the index once for each head; with `in` it reads all patterns of the domain in
// the order of the union.
const near = statement((builder, p: NearQuestion, flavour) =>
  raw<Pick<PatternRow, 'digest' | 'eighths' | 'prefix'>>(
    sql`select digest, eighths, prefix from (${listed(p.below, HEADS, flavour)}) as given cross join rule_patterns
      where domain_id = ${p.domain_id} and rule_id <> ${p.without}
        and rule_patterns.head >= given.head and rule_patterns.head < given.head || 'g'
      union select digest, eighths, prefix from (${listed(p.above, HEADS, flavour)}) as given cross join rule_patterns
      where domain_id = ${p.domain_id} and rule_id <> ${p.without} and rule_patterns.head = given.head`,
    builder,
  ),
);

/** Patterns of other rules whose prefix begins with one of `prefixes`, or that begins with theirs; each once. */
export async function patternsNear(
  session: Session,
  domainId: number,
  { prefixes, without }: { readonly prefixes: readonly string[]; readonly without: number },
): Promise<readonly Pick<PatternRow, 'digest' | 'eighths' | 'prefix'>[]> {
  const below = [...new Set(prefixes.map((prefix) => prefix.slice(0, HEAD)))];
  // A code unit is four digits.
  const above = new Set(
    below.flatMap((head) =>
      Array.from({ length: head.length / 4 + 1 }, (_, units) => head.slice(0, units * 4)),
    ),
  );
  const heads = (list: Iterable<string>): string =>
    listedRows(
      [...list].map((head) => ({ head })),
      HEADS,
    );
  return near(session, { domain_id: domainId, above: heads(above), below: heads(below), without });
}
