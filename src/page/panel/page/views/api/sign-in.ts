/** The sign-in: an API key, which stays in the memory of this page. */
import type { VNode } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ApiState } from '../../api/api-state.ts';
import { signIn } from '../../api/session.ts';
import { typedIn } from '../fields.ts';
import { html } from '../html.ts';
import { waitLine } from './notice.ts';

/** Keys begin so (API document, "API key"). */
const PREFIX = 'svc_';

/** What is wrong with the text before any server sees it; `null`: nothing. */
function mistakeIn(text: string): string | null {
  if (text === '') return 'Type or paste an API key.';
  if (!/^[\x21-\x7e]+$/.test(text))
    return 'A key has letters, digits and underscores only. Was more than the key pasted?';
  return text.startsWith(PREFIX) ? null : `A key begins with ${PREFIX}.`;
}

/** The form. */
export function signInView({ api }: { readonly api: ApiState }): VNode {
  const [key, setKey] = useState('');
  const [mistake, setMistake] = useState<string | null>(null);
  const opening = api.session === 'opening';
  const input = useRef<HTMLInputElement>(null);
  // Also after a refused key and after the end of a session, when what had the focus is gone.
  useEffect(() => {
    if (!opening) input.current!.focus();
  }, [opening]);
  const submit = (event: Event): void => {
    event.preventDefault();
    const text = key.trim();
    const found = mistakeIn(text);
    setMistake(found);
    if (found !== null) return;
    setKey('');
    void signIn(text);
  };
  const problem = mistake ?? api.refused;
  return html`<main class="sign-in">
    <h1>edgeplan</h1>
    <p class="lead">See what the edge does with any request, and why. Change the rules, and see the difference.</p>
    <form onSubmit=${submit}>
      <label for="key">API key</label>
      <input id="key" ref=${input} type="password" value=${key} autocomplete="off" autocapitalize="off" spellcheck=${false}
        placeholder="svc_…" aria-invalid=${problem === null ? null : 'true'} aria-describedby="key-note key-problem"
        onInput=${(event: Event) => setKey(typedIn(event))} disabled=${opening} />
      <p id="key-problem" class="refused" role="alert">${opening ? null : problem}</p>
      <button type="submit" class="primary" disabled=${opening}>${opening ? 'Signing in…' : 'Sign in'}</button>
      <p id="key-note" class="note">The key stays in the memory of this page until you close it, reload it or sign out. It is sent to this server only.${' '}
        <code>edgeplan try</code> prints a key; <code>edgeplan key create</code> makes one.</p>
    </form>
    <div role="status"><${waitLine} waiting=${api.waiting} /></div>
    <p class="note"><a href="../docs/">API reference</a></p>
  </main>`;
}
