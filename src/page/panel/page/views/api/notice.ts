/** Sentences at the top of the page: what a change did, why one failed, why a call waits. */
import type { VNode } from 'preact';
import type { ApiState, Waiting } from '../../api/api-state.ts';
import { setApi } from '../../api/state.ts';
import { html } from '../html.ts';

/** Why calls wait, and for how long; nothing while none does. Screen readers hear the reason once, not each second. */
export function waitLine({ waiting }: { readonly waiting: Waiting | null }): VNode | null {
  if (waiting === null) return null;
  const { why, seconds } = waiting;
  return html`<p class="notice warn"><span>${why}; <span aria-hidden="true">trying again in ${seconds} s.</span><span class="unseen">trying again soon.</span></span></p>`;
}

/** The box; screen readers hear it as it changes. */
export function noticeBox({ api }: { readonly api: ApiState }): VNode {
  const { notice, waiting } = api;
  return html`<div role="status" class="notices">
    <${waitLine} waiting=${waiting} />
    ${
      notice !== null &&
      html`<p class="notice ${notice.tone}"><span>${notice.text}</span>
      <button type="button" class="quiet" onClick=${() => setApi({ notice: null })}>Dismiss</button></p>`
    }
  </div>`;
}
