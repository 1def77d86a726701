/** The top of the page: what the plans are made of, whether changes arrive, and the plan to compare with. */
import type { VNode } from 'preact';
import type { PlanEntry } from '../source.ts';
import { type PageState, setState } from '../state.ts';
import { typedIn } from './fields.ts';
import { html } from './html.ts';

/** The time of a plan, by the browser's clock. */
function timeOf({ at }: PlanEntry): string {
  return new Date(at).toLocaleTimeString([], {
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
    hourCycle: 'h23',
  });
}

/** The choice of the plan beside the newest. */
export function besideChoice({ state }: { readonly state: PageState }): VNode | null {
  const [, ...older] = state.source?.plans ?? [];
  if (older.length === 0) return null;
  const chosen = older.some(({ digest }) => digest === state.older) ? state.older : '';
  return html`<div class="beside">
    <label for="beside">Compare with</label>
    <select id="beside" value=${chosen} onChange=${(event: Event) => setState({ older: typedIn(event) || null, olderAnswer: null })}>
      <option value="">no other plan</option>
      ${older.map((plan) => html`<option value=${plan.digest}>${plan.label} of ${timeOf(plan)}</option>`)}
    </select>
  </div>`;
}

/** The bar. */
export function topBar({ state }: { readonly state: PageState }): VNode {
  const { source } = state;
  const [newest] = source?.plans ?? [];
  return html`<header class="top">
    <h1>edgeplan</h1>
    ${
      source !== null &&
      html`<p class="subject"><b>${source.title}</b>
      ${newest !== undefined && html`<span>plan ${newest.label}, ${newest.rules !== null && `${newest.rules} ${newest.rules === 1 ? 'rule' : 'rules'}, `}${timeOf(newest)}</span>`}
      <span class=${source.live ? 'live' : 'live off'}>${source.live ? 'live' : 'not connected: edgeplan does not answer'}</span></p>`
    }
    <${besideChoice} state=${state} />
  </header>`;
}
