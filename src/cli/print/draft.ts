/** Prints a draft: the rules it changes, and what it would decide differently. */
import type { PlanDiff } from '../../workbench/proofs/diff.ts';
import { changeLines, type DescribedChange } from '../../workbench/simulation/render-changes.ts';
import { quantity, visible } from '../../workbench/simulation/render-text.ts';
import type { RemoteDraft } from '../remote/draft.ts';
import { diffText } from './diff.ts';
import { tableText } from './table.ts';

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
