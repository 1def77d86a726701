/** Parses the lines of JSON logs, and reads their fields. */
import { isObject } from '../../base/text/json-object.ts';
import { type AccessEntry, BLANK, type LineNote, type LineReader, unreadable } from './entry.ts';

/** The object of a line. */
export type JsonFields = Readonly<Record<string, unknown>>;

/** Makes a reader of lines from one of their objects. */
export function jsonReader(read: (fields: JsonFields) => AccessEntry | LineNote): LineReader {
  return (line) => {
    if (line.trim() === '') return BLANK;
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return unreadable('the line is not JSON; a write was cut short, or the format is another');
    }
    return isObject(value) ? read(value) : unreadable('the line is JSON but not an object');
  };
}

/** A field as text; empty for `-`, for what is absent, and for what is neither text nor number. */
export function textOf(value: unknown): string {
  if (typeof value === 'string') return value === '-' ? '' : value;
  return typeof value === 'number' ? String(value) : '';
}

/** The first of some fields that has a text. */
export function firstText(fields: JsonFields, names: readonly string[]): string {
  for (const name of names) {
    const text = textOf(fields[name]);
    if (text !== '') return text;
  }
  return '';
}

/** A status as number or text; 0: absent. */
export function statusOf(value: unknown): number {
  const status = Number(value);
  return Number.isInteger(status) && status >= 100 && status <= 999 ? status : 0;
}
