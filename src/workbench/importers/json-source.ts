/** Reads JSON exports: the objects of a file, out of the envelopes of APIs, and fields of any type without a throw. */
import { isObject } from '../../base/text/json-object.ts';
import { type ImportRefusal, refusedImport, type SourceFile } from './report.ts';

/** Octets of all files of one import together: hundreds of times a large configuration. */
export const MAX_SOURCE_OCTETS = 16 * 1024 * 1024;

/** An object of a JSON document. */
export type SourceFields = Readonly<Record<string, unknown>>;

/** One object of a source with its place. */
export interface SourceObject {
  /** `rules.json` or `rules.json[2]`. */
  readonly place: string;
  readonly value: SourceFields;
}

/** The objects of all files; envelopes of APIs and lists are opened. */
export function readObjects(files: readonly SourceFile[]): readonly SourceObject[] | ImportRefusal {
  const objects: SourceObject[] = [];
  for (const { name, text } of files) {
    if (text.length > MAX_SOURCE_OCTETS)
      return refusedImport(name, `is larger than ${MAX_SOURCE_OCTETS} octets`);
    let value: unknown;
    try {
      value = JSON.parse(text);
    } catch (error) {
      return refusedImport(
        name,
        `is no JSON: ${(error as Error).message}`,
        'export the rules from the API of the product',
      );
    }
    const opened = contentOf(value);
    const list = Array.isArray(opened) ? opened : [opened];
    for (const [index, one] of list.entries()) {
      const place = list.length === 1 ? name : `${name}[${index}]`;
      if (!isObject(one)) return refusedImport(place, 'is no object');
      objects.push({ place, value: one });
    }
  }
  return objects;
}

/** What is inside the envelope of an API: `{ result: … }`, or a page of a list, `{ Items: [...] }`. */
function contentOf(value: unknown): unknown {
  if (!isObject(value)) return value;
  if ('result' in value) return value['result'];
  return Array.isArray(value['Items']) ? value['Items'] : value;
}

/** A field that is an object; otherwise an empty one. */
export function objectAt(from: SourceFields, name: string): SourceFields {
  const value = from[name];
  return isObject(value) && !Array.isArray(value) ? value : {};
}

/** A field that is a list of objects; entries of other kinds are left out. */
export function objectsAt(from: SourceFields, name: string): readonly SourceFields[] {
  const value = from[name];
  return Array.isArray(value) ? value.filter((one): one is SourceFields => isObject(one)) : [];
}

/** A field as text; numbers are written out, other kinds are empty. */
export function textAt(from: SourceFields, name: string): string {
  const value = from[name];
  if (typeof value === 'number') return String(value);
  return typeof value === 'string' ? value : '';
}

/** A field that is a number, or a text of one; `null` for others. */
export function numberAt(from: SourceFields, name: string): number | null {
  const value = from[name];
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** A field that is a list of texts. */
export function textsAt(from: SourceFields, name: string): readonly string[] {
  const value = from[name];
  return Array.isArray(value) ? value.filter((one): one is string => typeof one === 'string') : [];
}
