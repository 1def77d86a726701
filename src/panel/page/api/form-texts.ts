/**
 * The text of a form and the values in it. In: the fields of the field reference, an object, what was typed. Out: the fields that
 * differ from the object, for a partial update; mistakes by field.
 */
import type { FormField } from '../../documents.ts';

/** What each control of a form has: text, or whether it is checked. */
export type FormTexts = Readonly<Record<string, string | boolean>>;

/** Values by name, and mistakes by name. */
export interface ReadForm {
  readonly values: Readonly<Record<string, unknown>>;
  readonly mistakes: ReadonlyMap<string, string>;
}

/** A value, or what is wrong with its text. */
type Read = { readonly value: unknown } | { readonly mistake: string };

/** The text of a value in its control. */
export function textOf(field: FormField, value: unknown): string | boolean {
  if (field.kind === 'boolean') return value === true;
  if (value === null || value === undefined) return '';
  if (field.kind === 'texts' || field.kind === 'integers')
    return (value as readonly unknown[]).map(String).join('\n');
  if (field.kind === 'object' || field.kind === 'objects') return JSON.stringify(value, null, 2);
  return String(value);
}

/** The texts of an object; fields that it has not are as they are by default. */
export function textsOf(fields: readonly FormField[], object: Readonly<Record<string, unknown>>): FormTexts {
  return Object.fromEntries(
    fields.map((field) => [field.name, textOf(field, object[field.name] ?? field.fallback)]),
  );
}

/** The entries of a list: one on each line. */
export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Reads the fields whose text differs from that of `before`. */
export function readForm(fields: readonly FormField[], texts: FormTexts, before: FormTexts): ReadForm {
  const values: Record<string, unknown> = {};
  const mistakes = new Map<string, string>();
  for (const field of fields) {
    const text = texts[field.name]!;
    if (text === before[field.name]) {
      if (field.required && text === '') mistakes.set(field.name, 'is needed');
      continue;
    }
    const read = readField(field, text);
    if ('value' in read) values[field.name] = read.value;
    else mistakes.set(field.name, read.mistake);
  }
  return { values, mistakes };
}

function readField(field: FormField, text: string | boolean): Read {
  if (typeof text === 'boolean') return { value: text };
  switch (field.kind) {
    case 'boolean':
      return { value: text === 'true' };
    case 'integer':
      return readInteger(field, text.trim());
    case 'text':
      return field.required && text === '' ? { mistake: 'is needed' } : { value: text };
    case 'texts':
      return readList(field, linesOf(text));
    case 'integers': {
      const lines = linesOf(text);
      const wrong = lines.find((line) => !/^\d{1,10}$/.test(line));
      return wrong === undefined
        ? readList(field, lines.map(Number))
        : { mistake: `\`${wrong}\` is not a number` };
    }
    case 'object':
    case 'objects':
      return readJson(field, text);
    default:
      return field.kind satisfies never;
  }
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

function readJson({ nullable, fallback, kind }: FormField, text: string): Read {
  if (text.trim() === '') return { value: nullable ? null : (fallback ?? (kind === 'objects' ? [] : {})) };
  try {
    return { value: JSON.parse(text) as unknown };
  } catch (error) {
    return { mistake: `is not JSON: ${error instanceof Error ? error.message : String(error)}` };
  }
}

/** The fields that a refusal of the server names, with what it says of each; the rest is under the empty name. */
export function mistakesOf(error: string, fields: readonly FormField[]): ReadonlyMap<string, string> {
  const mistakes = new Map<string, string>();
  for (const part of error.split(/; (?=\w+(?:[.[][^:]*)?: )/)) {
    const name = /^(\w+)/.exec(part)?.[1] ?? '';
    const known = fields.some((field) => field.name === name);
    const text = known ? part.slice(name.length).replace(/^: /, '') : part;
    const key = known ? name : '';
    mistakes.set(key, mistakes.has(key) ? `${mistakes.get(key)}; ${text}` : text);
  }
  return mistakes;
}
