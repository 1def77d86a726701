/** Usage plans and token issuers that gateways name (semantics §15): whether they exist, and which gateways name one. */
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import type { RegistryNames } from '../../../rules/model/registry/registry.ts';
import {
  judgeReference,
  type RegistryReference,
  referencesOf,
} from '../../../rules/model/registry-references.ts';
import { createReport } from '../../../rules/model/report.ts';
import type { Rule } from '../../../rules/model/types.ts';
import { namesOfRollback } from '../../publishing/republish.ts';
import type { RuleRow } from '../../store/tables/rules.ts';
import { wrongInput } from '../operation/read-request.ts';
import { conflict } from '../operation/refusal.ts';
import type { Writing } from '../operation/route.ts';
import { namesText } from '../registry/change.ts';
import { bodyOf } from './show.ts';

/** The fields of a rule that is about to be stored. */
interface ReferenceInput {
  readonly type: RuleType;
  readonly fields: StoredRule<Rule>;
  readonly before: RuleRow | undefined;
}

/** Checks that what a gateway names is of the domain. @throws Refusal 400 */
export async function judgeReferences(w: Writing, { type, fields, before }: ReferenceInput): Promise<void> {
  if (type !== 'gateway') return;
  const had = new Set(before === undefined ? [] : referencesIn(before).map(keyOf));
  // Names of the stored gateway exist: what it names is neither deleted nor renamed.
  const open = referencesOf(type, fields).filter((named) => !had.has(keyOf(named)));
  if (open.length === 0) return;
  const known = await namesOfDomain(w);
  const report = createReport();
  for (const named of open) {
    const problem = judgeReference(named, known);
    if (problem !== null) report.add('error', named.path, problem);
  }
  if (report.errors() > 0) throw wrongInput(report.diagnostics());
}

async function namesOfDomain({ tx, domain }: Writing): Promise<RegistryNames> {
  return {
    usage_plans: new Set((await tx.usagePlans.list(domain.id)).map(({ name }) => name)),
    token_issuers: new Set((await tx.tokenIssuers.list(domain.id)).map(({ name }) => name)),
  };
}

function keyOf({ kind, name }: Pick<RegistryReference, 'kind' | 'name'>): string {
  return `${kind} ${name}`;
}

/** What a stored gateway names. */
function referencesIn(row: Pick<RuleRow, 'body'>): readonly RegistryReference[] {
  return referencesOf('gateway', bodyOf(row) as unknown as StoredRule<Rule>);
}

/**
 * Checks that no gateway names the object, which is about to lose its name: neither as it is stored nor as nodes run it, which
 * differ while a draft waits or a rollback is current. @throws Refusal 409
 */
export async function judgeNamed(
  { tx, domain }: Writing,
  { kind, name }: Pick<RegistryReference, 'kind' | 'name'>,
): Promise<void> {
  const stored = await tx.rules.list(domain.id, 'gateway');
  const beside = await tx.drafts.beside(domain.id, 'gateway');
  // PERF: a body without the name as a JSON string is not parsed, and a gateway may have thousands of operations.
  const text = JSON.stringify(name);
  const naming = (row: Pick<RuleRow, 'body'>): boolean =>
    row.body.includes(text) && referencesIn(row).some((named) => named.kind === kind && named.name === name);
  const ids = [...stored, ...beside].filter(naming).map(({ id }) => id);
  if (ids.length === 0) return judgeNamedByRollback({ tx, domain }, { kind, name });
  const users = [...new Set(ids)].sort((a, b) => a - b).map((id) => `gateway/${id}`);
  const other = kind === 'usage_plan' ? 'plan' : 'issuer';
  throw conflict(
    `the ${textOf(kind)} is in use by the gateways ${namesText(users)}; let them name another ${other} first, and publish that`,
  );
}

/** The same of the gateways that nodes run while a rollback is current. @throws Refusal 409 */
async function judgeNamedByRollback(
  { tx, domain }: Pick<Writing, 'tx' | 'domain'>,
  { kind, name }: Pick<RegistryReference, 'kind' | 'name'>,
): Promise<void> {
  const named = await namesOfRollback(tx, domain);
  const names = kind === 'usage_plan' ? named?.usage_plans : named?.token_issuers;
  if (names?.has(name) !== true) return;
  throw conflict(
    `the ${textOf(kind)} is in use by gateways of the rollback that is current; publish the rules first`,
  );
}

function textOf(kind: RegistryReference['kind']): string {
  return kind === 'usage_plan' ? 'usage plan' : 'token issuer';
}
