/** The method and the URL. A curl line that is pasted there fills the whole form. */
import type { VNode } from 'preact';
import type { PageState } from '../state.ts';
import { setForm, setState } from '../state.ts';
import { idOfField, typedIn } from './fields.ts';
import { html } from './html.ts';

/** Methods that are proposed. */
const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS'] as const;

/** Whether a text is a curl command line (`workbench/simulation/curl-line.ts` reads it). */
function isCurl(text: string): boolean {
  return /^\s*curl(?:\.exe)?\s/.test(text);
}

/** Fills the form from a curl line. */
async function fill(line: string, { form }: PageState): Promise<void> {
  const { formOfCurl } = await import('../engine.ts');
  const read = formOfCurl(line, form);
  if (read.ok) setState({ form: read.value, pasteError: null });
  else setState({ pasteError: read.error });
}

/** The bar. */
export function addressBar({ state }: { readonly state: PageState }): VNode {
  const { form, pasteError } = state;
  const methods = METHODS.some((method) => method === form.method) ? METHODS : [form.method, ...METHODS];
  const paste = (event: ClipboardEvent): void => {
    const pasted = event.clipboardData?.getData('text') ?? '';
    if (!isCurl(pasted)) return;
    event.preventDefault();
    void fill(pasted, state);
  };
  const type = (event: Event): void => {
    const text = typedIn(event);
    setState({ pasteError: null });
    setForm({ url: text });
  };
  const submit = (event: Event): void => {
    event.preventDefault();
    if (isCurl(form.url)) void fill(form.url, state);
  };
  return html`<form class="address" onSubmit=${submit}>
    <div class="address-line">
      <label class="unseen" for=${idOfField('method')}>Method</label>
      <select id=${idOfField('method')} value=${form.method} onChange=${(event: Event) => setForm({ method: typedIn(event) })}>
        ${methods.map((method) => html`<option value=${method}>${method}</option>`)}
      </select>
      <label class="unseen" for=${idOfField('url')}>URL, or a curl line</label>
      <input id=${idOfField('url')} type="text" inputmode="url" value=${form.url} onInput=${type} onPaste=${paste}
        placeholder="https://example.com/path, or paste a curl line" autocomplete="off" autocapitalize="off" spellcheck=${false}
        aria-describedby=${pasteError === null ? null : 'paste-error'} />
    </div>
    ${pasteError !== null && html`<p id="paste-error" class="refused" role="alert">${pasteError}</p>`}
  </form>`;
}
