/** Sentences at the top of the page: what a change did, why one failed, why a call waits. */
import type { VNode } from 'preact';
import type { ApiState } from '../../api/api-state.ts';
import { setApi } from '../../api/state.ts';
import { html } from '../html.ts';

/** The box; screen readers hear it as it changes. */
export function noticeBox({ api }: { readonly api: ApiState }): VNode {
  const { notice, waiting } = api;
  return html`<div role="status" class="notices">
    ${waiting !== null && html`<p class="notice warn">${waiting}</p>`}
    ${
      notice !== null &&
      html`<p class="notice ${notice.tone}"><span>${notice.text}</span>
      <button type="button" class="quiet" onClick=${() => setApi({ notice: null })}>Dismiss</button></p>`
    }
  </div>`;
}
