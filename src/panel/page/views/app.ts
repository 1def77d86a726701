/** The whole page. */
import type { VNode } from 'preact';
import { type PageState, setForm } from '../state.ts';
import { html } from './html.ts';

/** The page of a state. */
export function app({ state }: { readonly state: PageState }): VNode {
  const { answer, form } = state;
  return html`<main>
    <label>URL <input value=${form.url} onInput=${(event: Event) => setForm({ url: (event.target as HTMLInputElement).value })} /></label>
    <p role="status">${answer === null ? '' : answer.ok ? answer.document.decision.text : answer.error}</p>
    <p>${state.fault}</p>
  </main>`;
}
