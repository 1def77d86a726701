/** The form beside the URL: what is known of the visitor, the message, and the conditions at the edge. */
import type { VNode } from 'preact';
import { useRef } from 'preact/hooks';
import { BOT_KINDS } from '../../../../base/vocabulary/vocabulary.ts';
import { refOf } from '../../../../workbench/simulation/document.ts';
import type { FormCondition, LimitEntry } from '../engine.ts';
import { EMPTY_FORM, type RequestForm, wordsOf } from '../form.ts';
import { type PageState, setForm, setState } from '../state.ts';
import { html, idOfField, textField, typedIn } from './parts.ts';

// The fields of the form that a plan gives: challenges that were solved, requests that were counted, origins that are down.

/** Entries that are listed whatever the request is; of a longer list those that the request meets, and those that are set. */
const LISTED = 12;

/** The entries of a field, and the rules and records that the request meets. */
interface EntriesProps<Entry extends FormCondition> {
  readonly form: RequestForm;
  readonly entries: readonly Entry[];
  readonly met: ReadonlySet<string>;
}

/** The entries to show, and a sentence about the others. */
function listedOf<Entry extends FormCondition>(
  { entries, met }: EntriesProps<Entry>,
  isSet: (word: string) => boolean,
): { readonly listed: readonly Entry[]; readonly others: VNode | null } {
  if (entries.length <= LISTED) return { listed: entries, others: null };
  const listed = entries.filter(({ word, rule }) => met.has(rule) || isSet(word)).slice(0, LISTED);
  const many = entries.length - listed.length;
  return {
    listed,
    others: html`<p class="note">${many} more ${many === 1 ? 'appears' : 'appear'} with the requests they are about.</p>`,
  };
}

/** Checkboxes of a field that lists words. */
function wordFields(
  props: EntriesProps<FormCondition> & { readonly name: 'cleared' | 'down'; readonly title: string },
): VNode | null {
  const { form, name, title } = props;
  if (props.entries.length === 0) return null;
  const words = wordsOf(form[name]);
  const { listed, others } = listedOf(props, (word) => words.includes(word));
  const toggle = (word: string, isOn: boolean): void => {
    const without = words.filter((one) => one !== word);
    setForm({ [name]: (isOn ? [...without, word] : without).join(' ') });
  };
  return html`<fieldset class="wide" id=${idOfField(name)}><legend>${title}</legend>
    ${listed.map(
      ({
        word,
        label,
      }) => html`<label class="check" key=${word}><input type="checkbox" checked=${words.includes(word)}
        onChange=${(event: Event) => toggle(word, (event.target as HTMLInputElement).checked)} /> ${label}</label>`,
    )}${others}</fieldset>`;
}

/** The number of requests that each rate limit has counted before. */
function countFields(props: EntriesProps<LimitEntry>): VNode | null {
  const { form } = props;
  if (props.entries.length === 0) return null;
  const counts = new Map(
    wordsOf(form.counted).map((word) => {
      const at = word.indexOf('=');
      return at < 0 ? [word, ''] : [word.slice(0, at), word.slice(at + 1)];
    }),
  );
  const { listed, others } = listedOf(props, (word) => counts.has(word));
  const set = (word: string, requests: string): void => {
    const next = new Map(counts).set(word, requests.replace(/\s/g, ''));
    const given = [...next].filter(([, text]) => text !== '');
    setForm({ counted: given.map(([one, text]) => `${one}=${text}`).join(' ') });
  };
  return html`<fieldset class="wide" id=${idOfField('counted')}><legend>Requests counted before</legend>
    ${listed.map(
      ({
        word,
        label,
        allows,
      }) => html`<label class="amount" key=${word}><span>${label} <small>${allows}</small></span>
        <input type="text" inputmode="numeric" placeholder="0" autocomplete="off" value=${counts.get(word) ?? ''}
          onInput=${(event: Event) => set(word, typedIn(event))} /></label>`,
    )}${others}</fieldset>`;
}

/** The rules and records that the request meets, by `<type>/<id>`. */
function metBy({ answer }: PageState): ReadonlySet<string> {
  if (answer?.ok !== true) return new Set();
  const { phases, decision } = answer.document;
  const matched = phases.flatMap(({ rules }) => rules.filter(({ outcome }) => outcome === 'matched'));
  const acting = decision.by === null ? [] : [decision.by];
  return new Set([...matched, ...acting].map(refOf));
}

/** The fields; none until a plan is loaded. */
function conditionFields({ state }: { readonly state: PageState }): VNode | null {
  const { form, conditions } = state;
  if (conditions === null) return null;
  const common = { form, met: metBy(state) };
  return html`<${wordFields} ...${common} name="cleared" title="Challenges solved" entries=${conditions.challenges} />
    <${countFields} ...${common} entries=${conditions.limits} />
    <${wordFields} ...${common} name="down" title="Origins down" entries=${conditions.origins} />`;
}

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
    <${group} form=${form} title="Visitor" names=${['ip', 'country', 'asn', 'agent', 'bot', 'ja4', 'ja4h']} open=${WIDE}>
      <${textField} form=${form} name="ip" label="IP address" placeholder="203.0.113.7" list=${ADDRESSES} />
      <${textField} form=${form} name="country" label="Country" placeholder="DE" />
      <${textField} form=${form} name="asn" label="AS number" placeholder="64496" />
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
