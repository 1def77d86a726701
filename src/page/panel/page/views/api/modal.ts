/**
 * Dialogs, the browser's own, which keep the focus inside and close with Escape; sentences at the top of the page; times
 * by the browser's clock and language.
 */
import type { ComponentChildren, VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { ApiState, Waiting } from '../../api/documents.ts';
import { getApi, setApi } from '../../api/state.ts';
import { html } from '../parts.ts';

/** A dialog. */
export interface ModalProps {
  readonly title: string;
  readonly close: () => void;
  readonly wide?: boolean;
  readonly children?: ComponentChildren;
}

/** The dialog; it is open while it is drawn. */
export function modal({ title, close, wide, children }: ModalProps): VNode {
  const element = useRef<HTMLDialogElement>(null);
  // Before the next event: an Escape that follows the click at once closes the dialog.
  useLayoutEffect(() => {
    const dialog = element.current!;
    const opener = document.activeElement;
    dialog.showModal();
    return () => {
      dialog.close();
      // The row of a deleted object has gone with its button.
      const isThere = opener instanceof HTMLElement && opener.isConnected;
      (isThere ? opener : document.querySelector('main'))?.focus();
    };
  }, []);
  return html`<dialog ref=${element} class=${wide === true ? 'wide-dialog' : ''} aria-labelledby="dialog-title"
    onCancel=${(event: Event) => {
      event.preventDefault();
      close();
    }}>
    <div class="dialog-head"><h2 id="dialog-title">${title}</h2>
      <button type="button" class="quiet" aria-label="Close" onClick=${close}>✕</button></div>
    <div role="status"><${waitLine} waiting=${getApi().waiting} /></div>
    ${children}
  </dialog>`;
}

/** A question before something that cannot be taken back. */
export interface ConfirmProps {
  readonly title: string;
  readonly text: string;
  /** The word of the button. */
  readonly word: string;
  readonly act: () => Promise<void>;
  readonly close: () => void;
}

/** The question. */
export function confirmDialog({ title, text, word, act, close }: ConfirmProps): VNode {
  const [busy, setBusy] = useState(false);
  const run = async (): Promise<void> => {
    setBusy(true);
    await act();
    close();
  };
  return html`<${modal} title=${title} close=${close}>
    <p>${text}</p>
    <div class="dialog-end">
      <button type="button" class="quiet" onClick=${close} disabled=${busy}>Cancel</button>
      <button type="button" class="danger" onClick=${() => void run()} disabled=${busy}>${busy ? 'Working…' : word}</button>
    </div>
  <//>`;
}

// Sentences at the top of the page: what a change did, why one failed, why a call waits.

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

/** A time of today without its date, another one with it, and with the year where that is not this one. */
export function whenText(at: string): string {
  const [time, now] = [new Date(at), new Date()];
  const clock = { hour: '2-digit', minute: '2-digit', second: '2-digit' } as const;
  if (time.toDateString() === now.toDateString()) return time.toLocaleString([], clock);
  const day = { ...clock, month: 'short', day: 'numeric' } as const;
  return time.toLocaleString(
    [],
    time.getFullYear() === now.getFullYear() ? day : { ...day, year: 'numeric' },
  );
}
