/** The named lists of rules (semantics §13): whether they exist, of which kind, how many, and what the store notes of them. */
import { MAX_RULE_LISTS } from '../../../base/vocabulary/limits.ts';
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import { judgeList, listsOf, type NamedList } from '../../../rules/model/list-names.ts';
import { createReport } from '../../../rules/model/report.ts';
import type { Rule } from '../../../rules/model/types.ts';
import type { RuleWrite } from '../../store/repositories/rules.ts';
import type { RuleRow } from '../../store/tables/rules.ts';
import { wrongInput } from '../operation/read-request.ts';
import type { Writing } from '../operation/route.ts';
import { bodyOf } from './show.ts';

/** The lists of a rule. */
interface ListInput {
  readonly type: RuleType;
  readonly fields: StoredRule<Rule>;
  readonly before: RuleRow | undefined;
}

/** The lists that the fields of a rule name. */
function namedIn(type: RuleType, fields: unknown): readonly NamedList[] {
  return listsOf({ ...(fields as StoredRule<Rule>), id: 0, type } as Rule);
}

/** PERF: whether a stored rule may name lists, without reading it. */
function mayName(before: RuleRow | undefined): before is RuleRow {
  return before?.body.includes('"@') === true;
}

/**
 * Checks that each list is one of the domain or of its account, of the kind of its place, and how many lists the rules of the
 * domain name together. Lists of the account are locked: none is deleted before the commit. A text with `@` that an earlier
 * release stored as a path may stay. @throws Refusal 400
 */
export async function judgeLists(
  { tx, domain }: Writing,
  { type, fields, before }: ListInput,
): Promise<void> {
  const named = namedIn(type, fields);
  if (named.length === 0) return;
  const names = [...new Set(named.map(({ name }) => name))];
  const had = new Set(mayName(before) ? namedIn(type, bodyOf(before)).map(({ name }) => name) : []);
  const rows = await tx.lists.named(domain.id, names);
  const wrong = named.filter(
    ({ name, kind }) => rows.get(name)?.kind !== kind && !(had.has(name) && !rows.has(name)),
  );
  const report = createReport();
  const kinds = wrong.length === 0 ? new Map() : await tx.lists.kinds(domain.id);
  for (const one of wrong) report.add('error', one.path, judgeList(one, kinds)!);
  if (report.errors() > 0) throw wrongInput(report.diagnostics());
  if (names.every((name) => had.has(name))) return;
  const total = await tx.lists.countUses(domain.id, { names, without: before?.id ?? 0 });
  if (total <= MAX_RULE_LISTS) return;
  const message = `the rules of a domain must name at most ${MAX_RULE_LISTS} lists together`;
  const remedy = 'join lists of one kind';
  const { path } = named.find(({ name }) => !had.has(name))!;
  throw wrongInput([{ code: 'too_many', severity: 'error', path, message, found: String(total), remedy }]);
}

/**
 * The lists that the store notes of a rule; absent: it named none before and names none. A name without a list (see
 * `judgeLists`) is left out.
 */
export async function usesIn(
  { tx, domain }: Writing,
  { type, fields, before }: ListInput,
): Promise<Pick<RuleWrite, 'lists'>> {
  const named = namedIn(type, fields);
  if (named.length === 0 && !mayName(before)) return {};
  const rows = await tx.lists.named(domain.id, [...new Set(named.map(({ name }) => name))]);
  const uses = new Map(named.map(({ name, kind }) => [name, { name, kind }]));
  return { lists: [...uses.values()].filter(({ name }) => rows.has(name)) };
}
