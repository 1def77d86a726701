/** The form beside the URL: what is known of the visitor, the message, and the conditions at the edge. */
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { BOT_KINDS } from '../../../../base/vocabulary/vocabulary.ts';
import { EMPTY_FORM, type RequestForm } from '../form.ts';
import { type PageState, setForm, setState } from '../state.ts';
import { conditionFields } from './condition-fields.ts';
import { idOfField, textField, typedIn } from './fields.ts';
import { html } from './html.ts';

/** Proposed User-Agents: a browser, programs, bots of each kind of behaviour. */
const AGENTS = [
  'Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  'curl/8.11.0',
  'python-requests/2.32.3',
  'GPTBot/1.2',
  'ClaudeBot/1.0',
  'Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)',
];

/** Addresses of the documentation blocks (RFC 5737, RFC 3849). */
const ADDRESSES = ['203.0.113.7', '198.51.100.7', '192.0.2.7', '2001:db8::7'];

/** A group of fields. */
interface GroupProps {
  readonly form: RequestForm;
  readonly title: string;
  readonly names: readonly (keyof RequestForm)[];
  readonly open: boolean;
  readonly children?: unknown;
}

/** A group that can be folded; folded, it says how many of its fields are filled in. It stays open when its last field is emptied. */
function group({ form, title, names, open, children }: GroupProps): VNode {
  const given = names.filter((name) => form[name] !== EMPTY_FORM[name]).length;
  const opened = useRef(open);
  opened.current ||= open;
  return html`<details class="group" open=${opened.current}>
    <summary><h3>${title}</h3>${given > 0 && html`<span class="count">${given} set</span>`}</summary>
    <div class="fields">${children}</div>
  </details>`;
}

/** The kind of the bot and whether it is verified. */
function botField({ form }: { readonly form: RequestForm }): VNode {
  const [kind = '', mark] = form.bot.split(':');
  const set = (next: string, verified: boolean): void =>
    setForm({ bot: next === '' || next === 'none' || !verified ? next : `${next}:verified` });
  const isKind = kind !== '' && kind !== 'none';
  return html`<div class="field">
      <label for=${idOfField('bot')}>Bot</label>
      <select id=${idOfField('bot')} value=${kind} onChange=${(event: Event) => set(typedIn(event), mark === 'verified')}>
        <option value="">by User-Agent</option>
        <option value="none">no bot</option>
        ${BOT_KINDS.map((one) => html`<option value=${one}>${one}</option>`)}
      </select>
    </div>
    <div class="field end"><label class=${isKind ? 'check' : 'check off'}>
      <input type="checkbox" disabled=${!isKind} checked=${mark === 'verified'}
        onChange=${(event: Event) => set(kind, (event.target as HTMLInputElement).checked)} /> verified
    </label></div>`;
}

/** Sets the body; a request with a body is a POST unless another method was chosen. */
function setBody(form: RequestForm, body: string): void {
  setForm({ body, method: body !== '' && form.method === 'GET' ? 'POST' : form.method });
}

/** Groups are open where they are beside the result, and folded where they would be between the result and its reasons. */
const WIDE = matchMedia('(min-width: 60rem)').matches;

/** The form. */
export function factsForm({ state }: { readonly state: PageState }): VNode {
  const { form } = state;
  const isEmpty = Object.entries(form).every(
    ([name, value]) => name === 'url' || value === EMPTY_FORM[name as keyof RequestForm],
  );
  const isOpen = (names: readonly (keyof RequestForm)[]): boolean =>
    names.some((name) => form[name] !== EMPTY_FORM[name]);
  const conditions = ['at', 'status', 'node', 'cleared', 'counted', 'down'] as const;
  return html`<aside class="facts" aria-label="Request">
    <${group} form=${form} title="Visitor" names=${['ip', 'country', 'agent', 'bot', 'ja4', 'ja4h']} open=${WIDE}>
      <${textField} form=${form} name="ip" label="IP address" placeholder="203.0.113.7" list=${ADDRESSES} />
      <${textField} form=${form} name="country" label="Country" placeholder="DE" />
      <${textField} form=${form} name="agent" label="User-Agent" placeholder="none" list=${AGENTS} wide />
      <${botField} form=${form} />
      <${textField} form=${form} name="ja4" label="JA4" placeholder="t13d1516h2_…" wide />
      <${textField} form=${form} name="ja4h" label="JA4H" placeholder="ge11nn…" wide />
    <//>
    <${group} form=${form} title="Headers and body" names=${['headers', 'body']} open=${WIDE || isOpen(['headers', 'body'])}>
      <${textField} form=${form} name="headers" label="Headers, one a line" placeholder="Accept-Language: de" rows=${2} wide />
      <div class="field wide">
        <label for=${idOfField('body')}>Body</label>
        <textarea id=${idOfField('body')} rows="2" spellcheck=${false} placeholder="none" value=${form.body}
          onInput=${(event: Event) => setBody(form, typedIn(event))}></textarea>
      </div>
    <//>
    <${group} form=${form} title="At the edge" names=${conditions} open=${isOpen(conditions)}>
      <${textField} form=${form} name="at" label="Clock" placeholder="now" wide />
      <${textField} form=${form} name="status" label="Origin answers" placeholder="502, 502:edge" />
      <${textField} form=${form} name="node" label="Node id" placeholder="unknown" />
      <${conditionFields} state=${state} />
    <//>
    <button type="button" class="quiet" disabled=${isEmpty}
      onClick=${() => setState({ form: { ...EMPTY_FORM, url: form.url } })}>Clear all but the URL</button>
  </aside>`;
}
