/**
 * The regexes of rules within the budgets of their domain. What each costs is stored when its rule is written, so a
 * write builds the automata of its own patterns alone, and reads those of others only where they lie on one chain of
 * prefixes with them.
 */
import { MAX_DOMAIN_SCANS } from '../../base/limits.ts';
import type { RuleType } from '../../base/vocabulary.ts';
import type { StoredRule } from '../../model/common.ts';
import { readForm } from '../../model/form.ts';
import { createPatternBook, type ExistingPatterns, patternCost } from '../../model/pattern.ts';
import { createReport } from '../../model/report.ts';
import { ruleForm } from '../../model/rule.ts';
import type { DropRule, Rule } from '../../model/types.ts';
import { sha256Hex } from '../../platform/sha256.ts';
import type { RuleWrite } from '../../store/customer-repositories.ts';
import type { PatternRow, RuleRow } from '../../store/rows.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { wrongInput } from '../read-body.ts';
import type { Writing } from '../route.ts';
import { bodyOf, type RuleBody } from './show.ts';

interface Use {
  readonly source: string;
  readonly ignoreCase: boolean;
}

/** The regexes of a rule's filters, each once. */
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

function digestOf({ source, ignoreCase }: Use): string {
  return sha256Hex(`${ignoreCase ? 'i' : 'c'}${source}`);
}

/** Eighths of a scan: what one octet of a path weighs in the budget is eight for a host. */
const EIGHTHS = 8;

/** What the store files of the regexes of an accepted rule. */
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

function toHex(text: string): string {
  return Buffer.from(text, 'utf16le').toString('hex');
}

function fromHex(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf16le');
}

/** What an accepted rule adds to the budgets of its domain. */
export function costsOf(fields: StoredRule<Rule>): NonNullable<RuleWrite['costs']> {
  return { addresses: ipsOf(fields).length, patterns: patternRows({ ...fields }) };
}

function ipsOf(fields: Partial<StoredRule<DropRule>>): readonly string[] {
  return fields.ips ?? [];
}

interface PatternQuestion {
  readonly type: RuleType;
  readonly whole: unknown;
  readonly before?: RuleRow;
}

/**
 * Judges a rule's regexes within the budget of its domain, which disabled rules take part in: enabling one later
 * needs no judging then. Only a rule that brings a new regex is judged. `whole` reads as a rule by itself.
 */
export async function judgePatterns({ tx, domain }: Writing, question: PatternQuestion): Promise<void> {
  const { type, whole, before } = question;
  const had = new Set(before === undefined ? [] : patternsOf(bodyOf(before)).map(digestOf));
  if (patternsOf(whole as RuleBody).every((use) => had.has(digestOf(use)))) return;
  const standing = await standingPatterns(tx, { domainId: domain.id, without: before?.id ?? 0, whole });
  if (standing === null) return;
  const report = createReport();
  const patterns = createPatternBook(standing);
  readForm(ruleForm(type), whole, { report, patterns, path: [] });
  if (report.errors() > 0) throw wrongInput(report.diagnostics());
}

interface StandingQuestion {
  readonly domainId: number;
  readonly without: number;
  readonly whole: unknown;
}

/** The patterns of all other rules of a domain, as far as they bear on those of `whole`; `null` when they have none. */
async function standingPatterns(
  tx: WriteTransaction,
  { domainId, without, whole }: StandingQuestion,
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
  // PERF: where all of them together are within the budget, every chain of them is.
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

/** Counts the patterns of a domain whose rules were written before patterns were filed: once for each such domain. */
async function countPatterns(tx: WriteTransaction, domainId: number): Promise<void> {
  const rules = new Map<number, readonly PatternRow[]>();
  for (const row of await tx.rules.listAll(domainId)) {
    // PERF: a body without the word has no regex, and most have none.
    if (row.body.includes('"regex"')) rules.set(row.id, patternRows(bodyOf(row)));
  }
  await tx.rules.countPatterns(domainId, rules);
}
