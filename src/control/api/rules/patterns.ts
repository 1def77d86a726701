/**
 * Checks the regexes of a rule against the budgets of its domain. The cost of each regex is stored when its rule is
 * written, so a write builds automata only for its own patterns, and reads the costs of others only where they share a
 * chain of prefixes with them.
 */
import { sha256Hex } from '../../../base/platform/cryptography.ts';
import { MAX_DOMAIN_SCANS } from '../../../base/vocabulary/limits.ts';
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { StoredRule } from '../../../rules/model/common.ts';
import { readForm } from '../../../rules/model/form.ts';
import { createPatternBook, type ExistingPatterns, patternCost } from '../../../rules/model/pattern.ts';
import { createReport } from '../../../rules/model/report.ts';
import { ruleForm } from '../../../rules/model/rule.ts';
import type { DropRule, Rule } from '../../../rules/model/types.ts';
import type { RuleWrite } from '../../store/customer-repositories.ts';
import type { PatternRow, RuleRow } from '../../store/rows.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { wrongInput } from '../operation/read-body.ts';
import type { Writing } from '../operation/route.ts';
import { bodyOf, type RuleBody } from './show.ts';

/** One regex of a filter. */
interface Use {
  readonly source: string;
  readonly ignoreCase: boolean;
}

/** The distinct regexes of a rule's filters; hosts match without case. */
function patternsOf(fields: Readonly<Record<string, unknown>>): readonly Use[] {
  const uses = new Map<string, Use>();
  const add = (value: unknown, ignoreCase: boolean): void => {
    for (const source of Array.isArray(value) ? value : [value]) {
      if (typeof source !== 'string' || source === '') continue;
      const use = { source, ignoreCase };
      uses.set(digestOf(use), use);
    }
  };
  if (fields['host_match_type'] === 'regex') {
    for (const name of ['host_pattern', 'host_includes', 'host_excludes']) add(fields[name], true);
  }
  if (fields['path_match_type'] === 'regex') {
    for (const name of ['path_includes', 'path_excludes']) add(fields[name], false);
  }
  return [...uses.values()];
}

/** The digest that the store identifies a regex by, within a domain. */
function digestOf({ source, ignoreCase }: Use): string {
  return sha256Hex(`${ignoreCase ? 'i' : 'c'}${source}`);
}

/** Costs are stored in eighths of a scan, so that a path's octet (one) and a host's (eight) are whole numbers. */
const EIGHTHS = 8;

/** The rows that the store has for the regexes of a rule. */
function patternRows(fields: Readonly<Record<string, unknown>>): readonly PatternRow[] {
  const rows: PatternRow[] = [];
  for (const use of patternsOf(fields)) {
    const cost = patternCost(use.source, use);
    if (cost === null) continue;
    const { octets, build, scans, prefix } = cost;
    rows.push({ digest: digestOf(use), octets, build, eighths: scans * EIGHTHS, prefix: toHex(prefix) });
  }
  return rows;
}

/** A prefix as hex of its UTF-16 code units, which a column of any encoding and collation can store. */
function toHex(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex');
}

/** The inverse of `toHex`. */
function fromHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf16le');
}

/** The costs that a valid rule adds to the budgets of its domain. */
export function costsOf(fields: StoredRule<Rule>): NonNullable<RuleWrite['costs']> {
  return { addresses: ipsOf(fields).length, patterns: patternRows({ ...fields }) };
}

/** The address entries of a drop rule; none for other types. */
function ipsOf(fields: Partial<StoredRule<DropRule>>): readonly string[] {
  return fields.ips ?? [];
}

/** A rule to check. `whole`: all its fields, merged for an update; `before`: the row it replaces. */
interface PatternQuestion {
  readonly type: RuleType;
  readonly whole: unknown;
  readonly before?: RuleRow;
}

/**
 * Checks a rule's regexes against the domain's budget. Disabled rules count too, so that enabling one needs no check. A
 * rule without a new regex is not checked. `whole` is valid as a rule on its own. @throws Refusal 400
 */
export async function judgePatterns({ tx, domain }: Writing, question: PatternQuestion): Promise<void> {
  const { type, whole, before } = question;
  const had = new Set(before === undefined ? [] : patternsOf(bodyOf(before)).map(digestOf));
  if (patternsOf(whole as RuleBody).every((use) => had.has(digestOf(use)))) return;
  const standing = await existingPatterns(tx, { domainId: domain.id, without: before?.id ?? 0, whole });
  if (standing === null) return;
  const report = createReport();
  const patterns = createPatternBook(standing);
  readForm(ruleForm(type), whole, { report, patterns, path: [] });
  if (report.errors() > 0) throw wrongInput(report.diagnostics());
}

/** Which patterns to read: those of all rules but `without`, as far as they affect `whole`. */
interface ExistingQuestion {
  readonly domainId: number;
  readonly without: number;
  readonly whole: unknown;
}

/** The patterns of the domain's other rules that affect the budget of `whole`; `null`: they have none. */
async function existingPatterns(
  tx: WriteTransaction,
  { domainId, without, whole }: ExistingQuestion,
): Promise<ExistingPatterns | null> {
  let costs = await tx.rules.patternCosts(domainId, { without });
  if (!costs.counted) {
    await countPatterns(tx, domainId);
    costs = await tx.rules.patternCosts(domainId, { without });
  }
  if (costs.octets === 0) return null;
  const wanted = patternRows(whole as RuleBody);
  const digests = wanted.map(({ digest }) => digest);
  const filed = await tx.rules.filedPatterns(domainId, { digests, without });
  const fresh = wanted.filter(({ digest }) => !filed.has(digest));
  const most = fresh.reduce((sum, { eighths }) => sum + eighths, costs.eighths);
  // PERF: if the sum of all is within the budget, so is every chain.
  const near =
    most <= MAX_DOMAIN_SCANS * EIGHTHS
      ? []
      : await tx.rules.patternsNear(domainId, { prefixes: fresh.map(({ prefix }) => prefix), without });
  return {
    octets: costs.octets,
    build: costs.build,
    near: near.map(({ eighths, prefix }) => ({ scans: eighths / EIGHTHS, prefix: fromHex(prefix) })),
    has: (source, ignoreCase) => filed.has(digestOf({ source, ignoreCase })),
  };
}

/**
 * Stores the pattern costs of a domain whose rules were written before costs were stored; once for each such domain.
 */
async function countPatterns(tx: WriteTransaction, domainId: number): Promise<void> {
  const rules = new Map<number, readonly PatternRow[]>();
  for (const row of await tx.rules.listAll(domainId)) {
    // PERF: a body without this word has no regex, which most rules have not.
    if (row.body.includes('"regex"')) rules.set(row.id, patternRows(bodyOf(row)));
  }
  await tx.rules.countPatterns(domainId, rules);
}
