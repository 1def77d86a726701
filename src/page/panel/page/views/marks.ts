/** The mark of a rule with lint findings: the worst severity and the number. */
import type { VNode } from 'preact';
import type { FindingDocument } from '../../documents.ts';
import { html } from './html.ts';

/** Severities from the worst. */
const SEVERITIES = ['error', 'warning', 'info'] as const;

/** The mark; nothing without findings. */
export function marks({ findings }: { readonly findings: readonly FindingDocument[] }): VNode | null {
  const worst = SEVERITIES.find((severity) => findings.some((one) => one.severity === severity));
  if (worst === undefined) return null;
  const text = `${findings.length} lint ${findings.length === 1 ? 'finding' : 'findings'}`;
  return html`<span class="mark ${worst}" title=${text}><span aria-hidden="true">!</span><span class="unseen">${text}</span></span>`;
}
