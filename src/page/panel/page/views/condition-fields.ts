/** The fields of the form that a plan gives: challenges that were solved, requests that were counted, origins that are down. */
import type { VNode } from 'preact';
import { refOf } from '../../../../workbench/simulation/document.ts';
import { type RequestForm, wordsOf } from '../form.ts';
import type { FormCondition, LimitEntry } from '../form-conditions.ts';
import { type PageState, setForm } from '../state.ts';
import { idOfField, typedIn } from './fields.ts';
import { html } from './html.ts';

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
export function conditionFields({ state }: { readonly state: PageState }): VNode | null {
  const { form, conditions } = state;
  if (conditions === null) return null;
  const common = { form, met: metBy(state) };
  return html`<${wordFields} ...${common} name="cleared" title="Challenges solved" entries=${conditions.challenges} />
    <${countFields} ...${common} entries=${conditions.limits} />
    <${wordFields} ...${common} name="down" title="Origins down" entries=${conditions.origins} />`;
}
