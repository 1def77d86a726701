/**
 * The parts that several views share: templates (htm's tagged templates, which make Preact's nodes and need no `eval`),
 * fields of the form, mistakes of the text, marks of rules with lint findings.
 */
import htm from 'htm';
import { h, type VNode } from 'preact';
import type { FindingDocument } from '../../documents.ts';
import type { RequestForm } from '../form.ts';
import type { SourceState } from '../source.ts';
import { setForm } from '../state.ts';

/** Makes the node of a template with one root. */
type Template = (strings: TemplateStringsArray, ...values: readonly unknown[]) => VNode;

// The types of htm are those of its CommonJS file; bundlers take the module.
export const html = (htm as unknown as { bind(create: typeof h): Template }).bind(h);

/** The text, with its values in monospace. */
export function described(text: string): readonly (string | VNode)[] {
  return text.split('`').map((part, index) => (index % 2 === 1 ? html`<code>${part}</code>` : part));
}

// Fields of the form: a label with its control, bound to one field of the state.

/** One field. */
export interface FieldProps {
  readonly form: RequestForm;
  readonly name: keyof RequestForm;
  readonly label: string;
  readonly placeholder?: string;
  /** Proposed values. */
  readonly list?: readonly string[];
  /** Whether the field takes the whole width of its group. */
  readonly wide?: boolean;
  /** Lines; absent: one line that ends with Enter. */
  readonly rows?: number;
}

/** The id of a field's control. */
export function idOfField(name: keyof RequestForm): string {
  return `field-${name}`;
}

/** Moves the focus to a field, whose group it opens; of several controls, to the first. */
export function focusField(name: keyof RequestForm): void {
  const field = document.getElementById(idOfField(name));
  const group = field?.closest('details');
  if (group !== null && group !== undefined) group.open = true;
  (field?.querySelector('input') ?? field)?.focus();
}

/** The value of an event's control. */
export function typedIn(event: Event): string {
  return (event.target as HTMLInputElement | HTMLTextAreaElement | HTMLSelectElement).value;
}

/** A text field. */
export function textField({ form, name, label, placeholder = '', list, wide, rows }: FieldProps): VNode {
  const id = idOfField(name);
  const common = {
    id,
    name,
    value: form[name],
    placeholder,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    onInput: (event: Event) => setForm({ [name]: typedIn(event) }),
  };
  const proposals = list === undefined ? null : `${id}-list`;
  return html`<div class=${wide === true ? 'field wide' : 'field'}>
    <label for=${id}>${label}</label>
    ${rows === undefined ? html`<input type="text" ...${common} list=${proposals} />` : html`<textarea ...${common} rows=${rows}></textarea>`}
    ${proposals !== null && html`<datalist id=${proposals}>${list?.map((value) => html`<option value=${value} />`)}</datalist>`}
  </div>`;
}

// Mistakes and findings: why the text has no plan now, each mistake with its line and its remedy, and the marks of rules
// with lint findings. The last plan goes on deciding.

/** Mistakes that are listed; the rest is counted. */
const MOST_LISTED = 20;

/** `edge.yaml:12:7`. */
export function placeText({ at }: FindingDocument): string | null {
  return at === null ? null : `${at.file.split('/').at(-1)}:${at.line}:${at.column}`;
}

/** A mistake in one sentence, without its place and remedy. */
function sentenceOf({ path, message, found }: FindingDocument): VNode {
  return html`${path !== '' && html`<code>${path}</code>${' '}`}${described(message)}${found !== null && html`, found <code>${found.replace(/^`(.*)`$/s, '$1')}</code>`}`;
}

/** What lint found about a rule, with what to do. */
export function findingLine({ finding }: { readonly finding: FindingDocument }): VNode {
  const { severity, remedy } = finding;
  return html`<p class="finding ${severity}">${sentenceOf({ ...finding, path: '' })}${remedy !== null && html`; <span class="remedy">${described(remedy)}</span>`}</p>`;
}

/** The box. */
export function mistakesBox({ source }: { readonly source: SourceState }): VNode | null {
  const { mistakes, plans, title } = source;
  if (mistakes.length === 0) return null;
  const left = mistakes.length - MOST_LISTED;
  const [newest] = plans;
  return html`<section class="mistakes" aria-label="Mistakes in ${title}" role="alert">
    <h2>${title} does not compile</h2>
    <p>${newest === undefined ? 'Its first plan appears here once it does.' : `Plan ${newest.label}, the last one that compiled, decides below.`}</p>
    <ul>${mistakes.slice(0, MOST_LISTED).map(
      (one) => html`<li><span class="place">${placeText(one)}</span>
        <span>${sentenceOf(one)}${one.remedy !== null && html`<span class="remedy">${described(one.remedy)}</span>`}</span></li>`,
    )}</ul>
    ${left > 0 && html`<p>${left} more; the terminal lists them.</p>`}
  </section>`;
}

/** Severities from the worst. */
const SEVERITIES = ['error', 'warning', 'info'] as const;

/** The mark; nothing without findings. */
export function marks({ findings }: { readonly findings: readonly FindingDocument[] }): VNode | null {
  const worst = SEVERITIES.find((severity) => findings.some((one) => one.severity === severity));
  if (worst === undefined) return null;
  const text = `${findings.length} lint ${findings.length === 1 ? 'finding' : 'findings'}`;
  return html`<span class="mark ${worst}" title=${text}><span aria-hidden="true">!</span><span class="unseen">${text}</span></span>`;
}
