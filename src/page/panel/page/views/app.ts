/** The whole page. */
import type { VNode } from 'preact';
import type { PageState } from '../state.ts';
import { addressBar } from './address-bar.ts';
import { decisionView } from './decision.ts';
import { factsForm } from './facts-form.ts';
import { html } from './html.ts';
import { mistakesBox } from './mistakes.ts';
import { tabsView } from './tabs.ts';
import { topBar } from './top-bar.ts';

/** The page of a state. */
export function app({ state }: { readonly state: PageState }): VNode {
  const { source } = state;
  return html`<${topBar} state=${state} />
    <main>
      ${source !== null && html`<${mistakesBox} source=${source} />`}
      <${bench} state=${state} />
    </main>`;
}

/** The request and its result. */
export function bench({ state }: { readonly state: PageState }): VNode {
  const { answer } = state;
  return html`<div>
    <${addressBar} state=${state} />
    <div class="bench">
      <${decisionView} state=${state} />
      <${factsForm} state=${state} />
      ${answer?.ok === true && html`<${tabsView} state=${state} answer=${answer} />`}
    </div>
  </div>`;
}
