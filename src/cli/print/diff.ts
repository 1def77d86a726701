/**
 * Prints the difference of two plans, a line per rule with its fields below, and a draft with what it would decide
 * differently.
 */
import { same } from '../../rules/files/print-edge.ts';
import type { FieldDifference, HostChange, PlanDiff, RuleChange } from '../../workbench/proofs/diff.ts';
import { changeLines, type DescribedChange } from '../../workbench/simulation/render-changes.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import type { RemoteDraft } from '../remote/publication.ts';
import { tableText } from './table.ts';

/** The sign of each kind of change. */
const MARKS = { added: '+', removed: '-', changed: '~', moved: '>' } as const;
/** Entries of a changed list that are printed; further ones are counted. */
const ENTRIES_PRINTED = 20;

/** The text, ending in a newline; `before` and `after` are the names of the two sides. */
export function diffText(
  diff: PlanDiff,
  { before, after }: { readonly before: string; readonly after: string },
): string {
  if (diff.same) return `${visible(`${before} and ${after} decide alike`)}\n`;
  const { domain, hosts, rules } = diff;
  const lines = [
    `${before} → ${after}: ${summary(diff)}`,
    ...(domain.length === 0 ? [] : ['', '~ domain', ...domain.flatMap(fieldLines)]),
    ...hosts.flatMap(hostLines),
    ...rules.flatMap(ruleLines),
  ];
  return lines.map((line) => `${visible(line)}\n`).join('');
}

/** `2 rules added, 1 host differs`. */
function summary({ domain, hosts, rules }: PlanDiff): string {
  const counts = (['added', 'removed', 'changed', 'moved'] as const).flatMap((change) => {
    const count = rules.filter((rule) => rule.change === change).length;
    return count === 0 ? [] : [`${quantity(count, 'rule')} ${change}`];
  });
  const other = [
    ...(hosts.length === 0 ? [] : [quantity(hosts.length, 'host differs', 'hosts differ')]),
    ...(domain.length === 0 ? [] : ['the domain differs']),
  ];
  return [...counts, ...other].join(', ');
}

/** The lines of one host. */
function hostLines({ change, host, fields }: HostChange): readonly string[] {
  return ['', `${MARKS[change]} host ${host}`, ...fields.flatMap(fieldLines)];
}

/** The lines of one rule. */
function ruleLines({ change, rule, before, key, fields }: RuleChange): readonly string[] {
  const named = key === undefined ? rule : `${rule} (${key})`;
  const was = before === undefined ? '' : `, was ${before}`;
  // Empty fields of an added or removed rule are not printed.
  const printed = change === 'added' || change === 'removed' ? fields.filter(isSet) : fields;
  return ['', `${MARKS[change]} ${named}${was}`, ...printed.flatMap(fieldLines)];
}

/** Whether a field has a value other than empty or false. */
function isSet({ was, now }: FieldDifference): boolean {
  const value = was ?? now;
  if (value === null || value === undefined || value === '' || value === false) return false;
  return !Array.isArray(value) || value.length > 0;
}

/** The lines of one field: old and new value. */
function fieldLines({ field, was, now }: FieldDifference): readonly string[] {
  if (Array.isArray(was) && Array.isArray(now)) return listLines(field, was, now);
  const sides = [was, now].flatMap((value) => (value === undefined ? [] : [valueText(value)]));
  return [`    ${field}  ${sides.join(' → ')}`];
}

/** The removed and added entries of a list. */
function listLines(field: string, was: readonly unknown[], now: readonly unknown[]): readonly string[] {
  const removed = was.filter((value) => !now.some((other) => same(value, other)));
  const added = now.filter((value) => !was.some((other) => same(value, other)));
  if (removed.length + added.length === 0)
    return [`    ${field}  in another order: ${now.map(valueText).join(', ')}`];
  const entries = [
    ...removed.map((value) => `- ${valueText(value)}`),
    ...added.map((value) => `+ ${valueText(value)}`),
  ];
  const left = entries.length - ENTRIES_PRINTED;
  return [
    `    ${field}`,
    ...entries.slice(0, ENTRIES_PRINTED).map((entry) => `      ${entry}`),
    ...(left > 0 ? [`      and ${left} more; --json lists all`] : []),
  ];
}

/** A value as text. */
function valueText(value: unknown): string {
  if (typeof value === 'string') return value === '' ? '""' : value;
  if (Array.isArray(value)) return value.length === 0 ? 'none' : value.map(valueText).join(', ');
  const { kind, source } = (typeof value === 'object' && value !== null ? value : {}) as Record<
    string,
    unknown
  >;
  // A pattern of a path or host filter is printed as its source text; an operation has a source, too, and no kind.
  if (typeof source === 'string' && typeof kind === 'string')
    return kind === 'regex' ? `${source} (regex)` : source;
  return value === null ? 'none' : JSON.stringify(value);
}

/** A page of the comparison of a draft, as the API answers it. */
export interface PrintedDraftDiff extends PlanDiff {
  readonly edit: number;
  readonly proof?: {
    readonly equivalent: boolean;
    readonly complete: boolean;
    readonly outcomes: number;
    readonly open: readonly unknown[];
  } | null;
  readonly outcomes?: readonly (DescribedChange & { readonly kind: string })[];
  readonly page: { readonly shown: number; readonly of: number; readonly next: string | null };
}

/** The draft as text. */
export function draftText(domain: string, draft: RemoteDraft): string {
  const { publish_mode, changed, changes, since, rolled_back } = draft;
  if (publish_mode === 'automatic') return `${domain} publishes every change at once; there is no draft\n`;
  const revision = draft.published_revision;
  const base = revision === null ? 'nothing is published' : `published: revision ${revision}`;
  if (changed === 0) return `the draft of ${domain} has no changes; ${base}\n`;
  const rows = changes.map(({ rule, change, at, account }) => [rule, change, at ?? '', account ?? '']);
  const left = changed - changes.length;
  const lines = [
    `the draft of ${domain} changes ${quantity(changed, 'rule')} since ${since ?? 'an unknown time'}; ${base}\n`,
    ...(rolled_back
      ? ['that revision is a rollback: a publication of the draft ends it, besides what the draft changes\n']
      : []),
    tableText(['rule', 'change', 'at', 'by'], rows),
    ...(left > 0 ? [`and ${left} more\n`] : []),
  ];
  return lines.join('');
}

/** The comparison as text, as `edgeplan diff` prints that of two files. */
export function draftDiffText(diff: PrintedDraftDiff): string {
  const { proof, outcomes = [], page } = diff;
  const fields = diffText(diff, { before: 'published', after: 'draft' });
  const shown = outcomes.filter(({ kind }) => kind !== 'other_rule');
  const others = outcomes.length - shown.length;
  const lines = [
    ...(proof == null || diff.same ? [] : ['', headline(proof, shown.length)]),
    ...shown.flatMap((change) => changeLines(change)),
    ...(others > 0
      ? [`${quantity(others, 'pair')} of rules take each other's place with the same outcome`]
      : []),
    ...(proof != null && !proof.complete ? ['not everything is proved; there may be more'] : []),
    ...(page.next === null
      ? []
      : [`the first ${page.shown} of ${quantity(page.of, 'difference')}; --cursor ${page.next} shows more`]),
  ];
  return fields + lines.map((line) => `${visible(line)}\n`).join('');
}

function headline({ equivalent }: { readonly equivalent: boolean }, outcomes: number): string {
  if (equivalent) return 'proved: the draft decides every request as the published rules do';
  if (outcomes === 0) return 'no request is known that is decided differently';
  return outcomes === 1
    ? '1 outcome changes, with a request that shows it:'
    : `${outcomes} outcomes change, each with a request that shows it:`;
}
