/**
 * The text of a form and the values in it. In: the fields of the field reference, an object, what was typed. Out: the fields that
 * differ from the object, for a partial update; mistakes by path, as in `origins[1].address`.
 */
import type { FormField } from '../../documents.ts';

type Plain = Readonly<Record<string, unknown>>;

/** An object in a form: the value that it was read from, whose other fields a save repeats, and the texts of its fields. */
export interface FormEntry {
  readonly was: Plain;
  readonly texts: FormTexts;
}

/** What a field of a form has: text, whether it is checked, an object, or the entries of a list or a map; null is no entry. */
export type FormText = string | boolean | FormEntry | readonly FormEntry[];

/** The texts of an object by field. */
export interface FormTexts {
  readonly [name: string]: FormText;
}

/** Values by name, and mistakes by path. */
export interface ReadForm {
  readonly values: Plain;
  readonly mistakes: ReadonlyMap<string, string>;
}

/** Where the fields of an object are in the form, and where their mistakes go. */
interface Place {
  /** The path of the object with the dot after it; empty: the form itself. */
  readonly above: string;
  readonly mistakes: Map<string, string>;
}

/** A value, or what is wrong with its text. */
type Read = { readonly value: unknown } | { readonly mistake: string };

/** The text of a number or a boolean where a text is possible too; a text of this form is in quotes. */
const LITERAL = /^(?:true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,15})?)$/;

/** The text of a value in its control. */
function textOf(field: FormField, value: unknown): FormText {
  switch (field.kind) {
    case 'boolean':
      return value === true;
    case 'object':
      return entryOf(field, (value ?? {}) as Plain);
    case 'nullable':
      return value == null ? [] : [entryOf(field, value as Plain)];
    case 'scalar':
      return typeof value === 'string' && LITERAL.test(value) ? `"${value}"` : String(value ?? '');
    case 'objects':
      return ((value ?? []) as readonly Plain[]).map((one) => entryOf(field, one));
    case 'map':
      return Object.entries((value ?? {}) as Plain).map(([key, one]) => entryOf(field, { key, value: one }));
    case 'texts':
    case 'integers':
      return listText(field, (value ?? []) as readonly unknown[]);
    default:
      return String(value ?? '');
  }
}

/** An object of a field, or an entry of its list; without a value a new one, with the defaults. */
export function entryOf({ fields }: FormField, was: Plain = {}): FormEntry {
  return { was, texts: textsOf(fields, was) };
}

/** The texts of an object; fields that it has not are as they are by default. */
export function textsOf(fields: readonly FormField[], object: Plain): FormTexts {
  return Object.fromEntries(
    fields.map((field) => [field.name, textOf(field, object[field.name] ?? field.fallback)]),
  );
}

/** The text of a list: numbers in a line, texts one on each. */
export function listText({ kind }: FormField, entries: readonly unknown[]): string {
  return entries.join(kind === 'integers' ? ', ' : '\n');
}

/** The entries in the text of a list. */
export function listOf({ kind }: FormField, text: string): readonly string[] {
  return text
    .split(kind === 'integers' ? /[\s,]+/ : '\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Reads the fields whose text differs from that of `before`. A field with fields of its own is read whole. */
export function readForm(fields: readonly FormField[], texts: FormTexts, before: FormTexts): ReadForm {
  const mistakes = new Map<string, string>();
  return { values: readFields(fields, { texts, before }, { above: '', mistakes }), mistakes };
}

function readFields(
  fields: readonly FormField[],
  { texts, before }: { readonly texts: FormTexts; readonly before: FormTexts },
  { above, mistakes }: Place,
): Plain {
  const values: Record<string, unknown> = {};
  for (const field of fields) {
    const { name, required } = field;
    const [text, path] = [texts[name]!, `${above}${name}`];
    if (JSON.stringify(text) === JSON.stringify(before[name])) {
      if (required && (text as { readonly length?: number }).length === 0) mistakes.set(path, 'is needed');
    } else if (typeof text === 'object') values[name] = readEntries(field, text, { above: path, mistakes });
    else {
      const read = readField(field, text);
      if ('value' in read) values[name] = read.value;
      else mistakes.set(path, read.mistake);
    }
  }
  return values;
}

/** Reads an object, a list of them or a map. */
function readEntries(
  field: FormField,
  entry: FormEntry | readonly FormEntry[],
  { above, mistakes }: Place,
): unknown {
  const read = ({ was, texts }: FormEntry, path: string): Plain => {
    const typed = { texts, before: textsOf(field.fields, was) };
    const values = { ...was, ...readFields(field.fields, typed, { above: `${path}.`, mistakes }) };
    const isLeftOut = ({ name, omitted }: FormField): boolean => omitted && isEmpty(values[name]);
    const absent = new Set(field.fields.filter(isLeftOut).map(({ name }) => name));
    return Object.fromEntries(Object.entries(values).filter(([name]) => !absent.has(name)));
  };
  if (!isList(entry)) return read(entry, above);
  const all = entry.map((one, index) => read(one, `${above}[${index}]`));
  if (field.kind === 'nullable') return all[0] ?? null;
  if (field.required && all.length === 0) mistakes.set(above, 'is needed');
  if (field.kind === 'objects') return all;
  const keys = all.map(({ key }) => key);
  for (const [index, key] of keys.entries())
    if (keys.indexOf(key) < index) mistakes.set(`${above}[${index}].key`, 'is there twice');
  return Object.fromEntries(all.map(({ key, value }) => [key as string, value ?? '']));
}

/** Whether a value says nothing: no text, no entry, no field. */
function isEmpty(value: unknown): boolean {
  return typeof value === 'object' ? Object.keys(value ?? {}).length === 0 : (value ?? '') === '';
}

function isList(text: FormText | undefined): text is readonly FormEntry[] {
  return Array.isArray(text);
}

/** Reads a field of one control. */
function readField(field: FormField, text: string | boolean): Read {
  if (typeof text === 'boolean') return { value: text };
  switch (field.kind) {
    case 'integer':
      return readInteger(field, text.trim());
    case 'texts':
      return readList(field, listOf(field, text));
    case 'integers': {
      const entries = listOf(field, text);
      const wrong = entries.find((one) => !/^(?:\d{1,10}|@.+)$/.test(one));
      return wrong === undefined
        ? readList(
            field,
            entries.map((one) => (one.startsWith('@') ? one : Number(one))),
          )
        : { mistake: `\`${wrong}\` is not a number` };
    }
    case 'choice':
      return { value: text === '' ? undefined : text === 'true' };
    case 'scalar':
      return { value: readScalar(text) };
    default:
      return readText(field, text);
  }
}

function readScalar(text: string): string | number | boolean {
  if (LITERAL.test(text)) return JSON.parse(text) as number | boolean;
  const quoted = /^"([^"]*)"$/.exec(text)?.[1];
  return quoted !== undefined && LITERAL.test(quoted) ? quoted : text;
}

function readText({ required, nullable, pattern, description }: FormField, text: string): Read {
  if (required && text === '') return { mistake: 'is needed' };
  if (nullable && text === '') return { value: null };
  return pattern === null || new RegExp(pattern).test(text)
    ? { value: text }
    : { mistake: `must be ${description}` };
}

function readInteger({ minimum, maximum, nullable, required, fallback }: FormField, text: string): Read {
  if (text === '') {
    if (nullable) return { value: null };
    return required ? { mistake: 'is needed' } : { value: fallback };
  }
  const value = /^-?\d{1,15}$/.test(text) ? Number(text) : Number.NaN;
  if (Number.isNaN(value)) return { mistake: `\`${text}\` is not a whole number` };
  if ((minimum !== null && value < minimum) || (maximum !== null && value > maximum))
    return {
      mistake: `must be ${minimum ?? 'at most'}${minimum !== null && maximum !== null ? ' to ' : ' '}${maximum ?? 'or more'}`,
    };
  return { value };
}

function readList({ most }: FormField, entries: readonly (string | number)[]): Read {
  if (most !== null && entries.length > most)
    return { mistake: `has ${entries.length} entries; ${most} is the most` };
  return { value: entries };
}

/** A path as the server writes it, with the key of a map's entry, and in the form, with the place of the entry. */
interface Spelled {
  readonly server: string;
  readonly form: string;
}

/** The paths of a form, each after those that contain it. */
function pathsOf(
  fields: readonly FormField[],
  texts: FormTexts,
  above: Spelled = { server: '', form: '' },
): readonly Spelled[] {
  return fields.flatMap((field) => {
    const text = texts[field.name];
    const own = { server: `${above.server}${field.name}`, form: `${above.form}${field.name}` };
    const inner = ({ texts: typed }: FormEntry, at: Spelled): readonly Spelled[] => [
      at,
      ...pathsOf(field.fields, typed, { server: `${at.server}.`, form: `${at.form}.` }),
    ];
    if (typeof text !== 'object') return [own];
    if (!isList(text)) return inner(text, own);
    const entries = text.flatMap((entry, index) => {
      const form = `${own.form}[${index}]`;
      if (field.kind === 'nullable') return inner(entry, { server: own.server, form });
      const step = field.kind === 'map' ? JSON.stringify(entry.texts['key']) : index;
      return inner(entry, { server: `${own.server}[${step}]`, form });
    });
    return [own, ...entries];
  });
}

/** The parts of the form that a refusal of the server names, with what it says of each; the rest is under the empty path. */
export function mistakesOf(
  error: string,
  fields: readonly FormField[],
  texts: FormTexts,
): ReadonlyMap<string, string> {
  const mistakes = new Map<string, string>();
  const paths = pathsOf(fields, texts);
  for (const part of error.split(/; (?=\w+(?:[.[][^:]*)?: )/)) {
    const { server, form } = paths.findLast(
      (one) => part.startsWith(one.server) && /^(?:[.[]|: )/.test(part.slice(one.server.length)),
    ) ?? { server: '', form: '' };
    const text = part.slice(server.length).replace(/^: /, '');
    mistakes.set(form, mistakes.has(form) ? `${mistakes.get(form)}; ${text}` : text);
  }
  return mistakes;
}
