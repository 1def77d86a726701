/** The usage plans of a domain: what consumers with one plan may ask for. */
import type { VNode } from 'preact';
import { listPath, type UsagePlanShown, useReading } from '../../api/registry.ts';
import { html } from '../parts.ts';
import { listedView } from './listed.ts';
import { timeOr } from './table.ts';

/** `50 in 1 s, 100 more at once`. */
function throttleText({ throttle }: UsagePlanShown): VNode | string {
  if (throttle === null) return html`<span class="dim">any number</span>`;
  const { rate, per_sec, burst } = throttle;
  const more = burst === 0 ? '' : `, ${burst.toLocaleString()} more at once`;
  return `${rate.toLocaleString()} in ${per_sec.toLocaleString()} s${more}`;
}

function quotaText({ quota }: UsagePlanShown): VNode | string {
  if (quota === null) return html`<span class="dim">any number</span>`;
  const period = quota.period === 'rolling_30d' ? 'in 30 days' : `a ${quota.period}`;
  return `${quota.limit.toLocaleString()} ${period}`;
}

function concurrencyText({ concurrency }: UsagePlanShown): VNode | string {
  return concurrency === null ? html`<span class="dim">any number</span>` : concurrency.toLocaleString();
}

/** The list. */
export function usagePlansView(): VNode {
  const reading = useReading<readonly UsagePlanShown[]>(listPath('usage-plans'));
  return html`<${listedView} kind="usage-plans" reading=${reading} words=${{
    title: 'Usage plans',
    note: 'What the consumers with one plan may send. A consumer without a plan has that of the gateway.',
    one: 'usage plan',
    empty: 'This domain has no usage plans yet: consumers may send any number of requests.',
    effect: 'No consumer and no gateway may have it: the server refuses the deletion of a plan in use.',
  }} columns=${['Name', 'Requests', 'Quota', 'At the same time', 'Changed']}
    cells=${(plan: UsagePlanShown) => [
      throttleText(plan),
      quotaText(plan),
      concurrencyText(plan),
      timeOr(plan.updated_at, ''),
    ]} />`;
}
