/**
 * Fields of a form over the API: those of one control, by the field reference, with what is wrong with them; and those
 * with fields of their own: an object as a group, a list or a map as rows that are added and removed.
 */
import type { VNode } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FormField } from '../../../documents.ts';
import { entryOf, type FormEntry, type FormText, listOf, listText } from '../../api/form-texts.ts';
import { described, html, typedIn } from '../parts.ts';

/** A choice of a list. */
export interface Option {
  readonly value: string;
  readonly label: string;
}

/** The field with its text. */
interface FormFieldProps {
  readonly field: FormField;
  /** Its path in the form. */
  readonly path: string;
  /** Where its name alone is not the label. */
  readonly label?: string;
  /** The description of a field in a row: that of all rows. Absent: the field shows its own. */
  readonly noteId?: string | undefined;
  readonly text: string | boolean;
  readonly mistake: string | undefined;
  readonly change: (text: string | boolean) => void;
  readonly disabled: boolean;
  /** What the entries of a list may be, where the page knows better than the reference. */
  readonly options?: readonly Option[];
}

/** Characters from which a text gets several lines. */
const LONG_TEXT = 4_000;
/** Characters up to which a text is in a narrow control. */
const SHORT_TEXT = 8;

/** Names whose words alone would not say what is meant. */
const LABELS: Readonly<Record<string, string>> = {
  record_ids: 'Records',
  content: 'Pages',
  'content.key': 'Code',
  'content.value': 'HTML',
  set: 'Replaced headers',
  add: 'Added headers',
  remove: 'Removed headers',
  'set.key': 'Name',
  'add.key': 'Name',
  ips: 'IP addresses',
  ja4: 'JA4',
  ja4h: 'JA4H',
  asns: 'AS numbers',
  query: 'Query parameters',
  user_agents: 'User-Agents',
  op: 'Comparison',
  acl: 'Allowed operations',
  keys: 'Public keys',
  'metadata.key': 'Name',
  'required_claims.key': 'Claim',
};
/** Words that are not written in lower case. */
const SPELLED: Readonly<Record<string, string>> = {
  ip: 'IP',
  ja4: 'JA4',
  ja4h: 'JA4H',
  ttl: 'TTL',
  mx: 'MX',
  lb: 'LB',
  id: 'ID',
  ids: 'IDs',
  jwks: 'JWKS',
  url: 'URL',
};

/** `path_includes` as people read it. @param within the field whose object it is in */
function labelOfField(name: string, within = ''): string {
  const label = LABELS[`${within}.${name}`] ?? LABELS[name];
  if (label !== undefined) return label;
  // Members of a JWK have no other names than those of RFC 7517.
  if (within === 'keys') return name;
  const words = name.split('_').map((word) => SPELLED[word] ?? word);
  const [first = '', ...others] = words;
  return [first.slice(0, 1).toUpperCase() + first.slice(1), ...others].join(' ');
}

/** The choices of a list or a text; `null`: it is free. */
function optionsOf({ field, options }: FormFieldProps): readonly Option[] | null {
  if (options !== undefined) return options;
  return (
    field.options?.map((value) => ({ value: String(value), label: value === '' ? 'none' : String(value) })) ??
    null
  );
}

/** An example as the control takes it. */
function exampleOf(field: FormField): string {
  return Array.isArray(field.example) ? listText(field, field.example) : String(field.example ?? '');
}

/** Checkboxes for the entries of a list. */
function choices(props: FormFieldProps, all: readonly Option[]): VNode {
  const chosen = listOf(props.field, String(props.text));
  const toggle = (value: string, on: boolean): void => {
    const next = all.map((one) => one.value).filter((one) => (one === value ? on : chosen.includes(one)));
    props.change(listText(props.field, next));
  };
  return html`<div class="options">${all.map(
    ({
      value,
      label,
    }) => html`<label class="check" key=${value}><input type="checkbox" checked=${chosen.includes(value)} disabled=${props.disabled}
      onChange=${(event: Event) => toggle(value, (event.target as HTMLInputElement).checked)} /> ${label}</label>`,
  )}</div>`;
}

/** The id of the description. */
function idOfNote({ path, noteId }: FormFieldProps): string {
  return noteId ?? `of-${path}-note`;
}

/** The control. */
function control(props: FormFieldProps): VNode {
  const { field, path, noteId, text, change, disabled, mistake } = props;
  const id = `of-${path}`;
  const options = optionsOf(props);
  const common = {
    id,
    disabled,
    value: text,
    'aria-invalid': mistake === undefined ? null : 'true',
    'aria-describedby': `${idOfNote(props)} ${id}-mistake`,
    autocomplete: 'off',
    autocapitalize: 'off',
    spellcheck: false,
    // Rows without examples: beside each other they would be taken for values.
    placeholder: noteId === undefined || field.required ? exampleOf(field) : '',
    onInput: (event: Event) => change(typedIn(event)),
  };
  if (isGroup(props)) return choices(props, options ?? []);
  if (options !== null)
    return html`<select ...${common} onInput=${null} onChange=${common.onInput}>
      ${!options.some(({ value }) => value === text) && html`<option value="">choose one</option>`}
      ${options.map(({ value, label }) => html`<option key=${value} value=${value}>${label}</option>`)}</select>`;
  if (field.kind === 'texts' || (field.kind === 'text' && (field.most ?? 0) > LONG_TEXT))
    return html`<textarea ...${common} rows=${Math.min(12, Math.max(2, String(text).split('\n').length))}></textarea>`;
  return html`<input type="text" ...${common} inputmode=${field.kind === 'integer' ? 'numeric' : null} />`;
}

/** Whether the field is a list of checkboxes. */
function isGroup(props: FormFieldProps): boolean {
  return (props.field.kind === 'texts' || props.field.kind === 'integers') && optionsOf(props) !== null;
}

/** Whether a few characters are enough for the control. */
function isNarrow({ kind, options, most, pattern }: FormField): boolean {
  if (options !== null) return options.every((one) => String(one).length <= SHORT_TEXT);
  return kind === 'integer' || pattern !== null || (most ?? SHORT_TEXT + 1) <= SHORT_TEXT;
}

/** The field. */
function formField(props: FormFieldProps): VNode {
  const { field, path, noteId, text, mistake, change, disabled } = props;
  const id = `of-${path}`;
  const label = props.label ?? labelOfField(field.name);
  const note = html`${noteId === undefined && noteOfField(field, id)}${mistakeOf(mistake, id)}`;
  if (field.kind === 'boolean')
    return html`<div class="form-field"><label class="check"><input type="checkbox" role="switch" id=${id} checked=${text === true} disabled=${disabled}
      aria-describedby=${idOfNote(props)} onChange=${(event: Event) => change((event.target as HTMLInputElement).checked)} /> ${label}</label>${note}</div>`;
  if (isGroup(props))
    return html`<fieldset class="form-field" aria-describedby=${idOfNote(props)}><legend>${label}</legend>${control(props)}${note}</fieldset>`;
  return html`<div class=${`form-field${isNarrow(field) ? ' narrow' : ''}`}><label for=${id}>${label}${field.required && html` <span class="needed">needed</span>`}</label>${control(props)}${note}</div>`;
}

/** The description of a field. @param id of what it describes */
function noteOfField(field: FormField, id: string): VNode {
  return html`<p class="note" id=${`${id}-note`}>${described(noteOf(field))}</p>`;
}

/** What is wrong with a control or a group. @param id of it */
function mistakeOf(mistake: string | undefined, id: string): VNode {
  return html`<p class="refused" id=${`${id}-mistake`} role="alert">${mistake}</p>`;
}

/** The description as a sentence. */
function noteOf({ description, kind, options }: FormField): string {
  const list = kind === 'texts' && options === null ? ' One on each line.' : '';
  return description === '' ? list : `${description}.${list}`;
}

// Fields of a form: those of one control, and those with fields of their own: an object as a group, a list or a map as rows that are
// added and removed.

/** The field with what is in it, and the mistakes of the form by path. */
interface AnyFieldProps extends Omit<FormFieldProps, 'text' | 'mistake' | 'change'> {
  readonly text: FormText;
  readonly mistakes: ReadonlyMap<string, string>;
  readonly change: (text: FormText) => void;
}

/** A field of any kind. */
export function anyField(props: AnyFieldProps): VNode {
  const { text, mistakes, path } = props;
  if (typeof text !== 'object') return formField({ ...props, text, mistake: mistakes.get(path) });
  if (Array.isArray(text)) return html`<${listField} ...${props} />`;
  return props.field.omitted ? html`<${foldedField} ...${props} />` : html`<${objectField} ...${props} />`;
}

/** The label, the description and the mistakes of a field with fields of its own. */
function heading({ field, path, mistakes }: AnyFieldProps): VNode {
  return html`<legend>${labelOfField(field.name)}${field.required && html` <span class="needed">needed</span>`}</legend>
    ${noteOfField(field, `of-${path}`)}${mistakeOf(mistakes.get(path), `of-${path}`)}`;
}

/** The fields of an object. `row`: the name of the list whose entry it is. */
function innerFields({ field, text, path, ...props }: AnyFieldProps, row?: string): readonly VNode[] {
  const { was, texts } = text as FormEntry;
  // Nothing else of an object that is off has an effect; its mistakes are shown all the same.
  const isOff = texts['enabled'] === false && ![...props.mistakes.keys()].some((one) => one.startsWith(path));
  return field.fields
    .filter(({ name }) => !isOff || name === 'enabled')
    .map(
      (
        inner,
      ) => html`<${anyField} ...${props} key=${inner.name} field=${inner} path=${`${path}.${inner.name}`} text=${texts[inner.name]}
        label=${labelOfField(inner.name, field.name)} noteId=${row && `of-${row}-${inner.name}`}
        change=${(next: FormText) => props.change({ was, texts: { ...texts, [inner.name]: next } })} />`,
    );
}

/** Whether anything is in the fields of an object. */
function hasContent({ texts }: FormEntry): boolean {
  return Object.values(texts).some((text) => {
    if (typeof text !== 'object') return text !== '' && text !== false;
    return Array.isArray(text) ? text.length > 0 : hasContent(text as FormEntry);
  });
}

/** An object that may be absent: folded while nothing is in it, and open where a mistake is. */
function foldedField(props: AnyFieldProps): VNode {
  const { field, path, text, mistakes } = props;
  const [isOpen, setOpen] = useState(hasContent(text as FormEntry));
  const isWrong = [...mistakes.keys()].some((one) => one === path || one.startsWith(`${path}.`));
  useLayoutEffect(() => {
    if (isWrong) setOpen(true);
  }, [isWrong]);
  const id = `of-${path}`;
  return html`<details class="form-field folded entries" open=${isOpen} onToggle=${(event: Event) => {
    setOpen((event.currentTarget as HTMLDetailsElement).open);
  }}>
    <summary id=${`${id}-fold`}>${labelOfField(field.name)}</summary>
    ${noteOfField(field, id)}${mistakeOf(mistakes.get(path), id)}
    <div class="form-fields" role="group" aria-labelledby=${`${id}-fold`} aria-describedby=${`${id}-note`}>${innerFields(props)}</div></details>`;
}

/** An object. */
function objectField(props: AnyFieldProps): VNode {
  return html`<fieldset class="form-field entries" aria-describedby=${`of-${props.path}-note`}>${heading(props)}
    <div class="form-fields">${innerFields(props)}</div></fieldset>`;
}

/** What the fields of an entry are, once for all rows. */
function legendOf({ name, fields }: FormField): VNode {
  return html`<details class="folded"><summary>What the fields mean</summary><dl class="meanings">${fields.map(
    (inner) =>
      html`<div><dt>${labelOfField(inner.name, name)}</dt><dd id=${`of-${name}-${inner.name}`}>${described(inner.description)}</dd></div>`,
  )}</dl></details>`;
}

/** A list of objects, or a map. */
function listField(props: AnyFieldProps): VNode {
  const { field, path, mistakes, change, disabled } = props;
  const entries = props.text as readonly FormEntry[];
  const isNullable = field.kind === 'nullable';
  const one = labelOfField(field.name).replace(/s$/, '');
  const nameOf = (index: number): string => (isNullable ? one : `${one} ${index + 1}`);
  const list = useRef<HTMLFieldSetElement>(null);
  /** The entry that gets the focus once it is drawn; its number past the last is the button below. */
  const next = useRef<number | null>(null);
  useLayoutEffect(() => {
    if (next.current === null) return;
    const row = list.current!.querySelectorAll('.entry, .add')[next.current];
    (row?.querySelector<HTMLElement>('input, select, textarea') ?? (row as HTMLElement)).focus();
    next.current = null;
  }, [entries.length]);
  const replace = (index: number, ...by: readonly FormEntry[]): void => {
    if (by.length === 0 || index === entries.length) next.current = index;
    change(entries.toSpliced(index, 1, ...by));
  };
  return html`<fieldset class="form-field entries" ref=${list} aria-describedby=${`of-${path}-note`}>${heading(props)}
    ${entries.map((entry, index) => {
      const at = `${path}[${index}]`;
      return html`<fieldset class="entry" key=${index}><legend>${nameOf(index)}</legend>
        ${innerFields({ ...props, text: entry, path: at, change: (text) => replace(index, text as FormEntry) }, field.name)}
        <button type="button" class="quiet" aria-label=${`Remove ${nameOf(index).toLowerCase()}`} disabled=${disabled} onClick=${() => replace(index)}>Remove</button>
        ${mistakeOf(mistakes.get(at), `of-${at}`)}</fieldset>`;
    })}
    <div class="entries-end"><button type="button" class="quiet add" disabled=${disabled || entries.length === (isNullable ? 1 : field.most)}
      onClick=${() => replace(entries.length, entryOf(field))}>Add ${one.toLowerCase()}</button>${legendOf(field)}</div>
  </fieldset>`;
}
