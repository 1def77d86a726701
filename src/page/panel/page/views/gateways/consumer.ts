/** One consumer: what it may do, its keys, its quotas and its use. */
import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import {
  type ConsumerShown,
  type ConsumerUseShown,
  deleteConsumer,
  listPath,
  useReading,
} from '../../api/registry.ts';
import { may } from '../../api/state.ts';
import { goTo } from '../../state.ts';
import { html } from '../parts.ts';
import { consumerDialog, deleteConsumerDialog, enabledSwitch } from './consumers.ts';
import { keysView } from './keys.ts';
import { type TableRow, table, timeOr, unreadLine, viewHead } from './table.ts';
import { requestsView } from './use.ts';

/** What is known of a consumer beside its name; empty fields are left out. */
function factsOf(consumer: ConsumerShown): VNode {
  const { custom_id, group, labels, usage_plan, acl, scopes, metadata, expires_at } = consumer;
  const facts: readonly (readonly [string, VNode | string])[] = [
    ['Usage plan', usage_plan ?? 'that of the gateway'],
    ['Custom ID', custom_id ?? ''],
    ['Group', group ?? ''],
    ['Labels', labels.join(', ')],
    ['Allowed operations', acl.length === 0 ? 'all' : acl.join(', ')],
    ['Scopes', scopes.join(' ')],
    ...Object.entries(metadata).map(([name, value]) => [name, value] as const),
    ['Expires', timeOr(expires_at, 'never')],
  ];
  return html`<dl class="facts-line">${facts
    .filter(([, value]) => value !== '')
    .map(([name, value]) => html`<div key=${name}><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}

/** A quota of the answer. */
type QuotaShown = ConsumerUseShown['quotas'][number];

/** How far the use may go beyond the limit. */
function overshootText({ overshoot }: QuotaShown): string {
  if (overshoot === null) return 'no bound: the plan has no throttle';
  return overshoot === 0
    ? 'none: no edge serves the domain'
    : `at most ${overshoot.toLocaleString()} requests`;
}

function quotaRow(quota: QuotaShown): TableRow {
  const { usage_plan, limit, period, used, exhausted_until, resets_at } = quota;
  const state =
    exhausted_until === null
      ? html`<span class="good">✔ may send requests</span>`
      : html`<span class="bad">✘ exhausted until ${timeOr(exhausted_until, '')}</span>`;
  const text = `${used.toLocaleString()} of ${limit.toLocaleString()}`;
  return {
    key: usage_plan,
    cells: [
      usage_plan,
      html`<span class="used"><progress max=${limit} value=${used} aria-label=${`Used of ${usage_plan}`}></progress> ${text}</span>`,
      period === 'rolling_30d' ? 'the last 30 days' : period,
      state,
      timeOr(resets_at, ''),
      overshootText(quota),
    ],
  };
}

/** The quotas of a consumer. */
function quotasView({ path }: { readonly path: string }): VNode {
  const { body, refused } = useReading<ConsumerUseShown>(path);
  const columns = ['Usage plan', 'Used', 'Period', 'State', 'Begins again', 'Beyond the limit'].map(
    (title) => ({ title }),
  );
  return html`<section aria-label="Quotas"><div class="part-head"><h3 class="part-title">Quotas</h3></div>
    ${
      body === null
        ? html`<${unreadLine} refused=${refused} />`
        : html`<${table} label="Quotas" columns=${columns} rows=${body.quotas.map(quotaRow)} empty="No usage plan gives this consumer a quota." />
      ${body.quotas.length > 0 && html`<p class="note">Edges report what they admit, and the server sends back who has exhausted a quota. What is admitted meanwhile is beyond the limit: its bound is what the throttle lets through on all edges.</p>`}`
    }</section>`;
}

/** The consumer. */
export function consumerView({ id }: { readonly id: number }): VNode {
  const [open, setOpen] = useState<'edit' | 'delete' | null>(null);
  const path = listPath('consumers', id);
  const { body: consumer, refused, again } = useReading<ConsumerShown>(path);
  const back = html`<button type="button" class="link back" onClick=${() => goTo('gateways', 'consumers')}>← All consumers</button>`;
  if (consumer === null) return html`${back}<${unreadLine} refused=${refused} />`;
  const close = (): void => setOpen(null);
  const editable = may('rules.edit');
  const actions =
    editable &&
    html`<div class="picks">
    <button type="button" class="quiet" onClick=${() => setOpen('edit')}>Edit</button>
    <button type="button" class="quiet" onClick=${() => setOpen('delete')}>Delete</button></div>`;
  // Before the consumer is gone: with the next revision this view would read it again.
  const remove = (): Promise<void> => {
    goTo('gateways', 'consumers');
    return deleteConsumer(consumer);
  };
  return html`${back}
    ${viewHead(consumer.username, html`<span class="picks">Enabled <${enabledSwitch} consumer=${consumer} again=${again} /></span>`, actions)}
    ${factsOf(consumer)}
    <${keysView} consumer=${consumer} />
    <${quotasView} path=${`${path}/usage`} />
    <${requestsView} path=${`${path}/usage`} divisions=${['operation', 'status', 'gateway']} />
    ${open === 'edit' && html`<${consumerDialog} consumer=${consumer} close=${close} />`}
    ${open === 'delete' && html`<${deleteConsumerDialog} consumer=${consumer} close=${close} remove=${remove} />`}`;
}
