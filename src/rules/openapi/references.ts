/**
 * Follows `$ref` inside an OpenAPI document: JSON pointers (RFC 6901) in the fragment of a URI. In: the document and a reference. Out: the
 * value with its path, or a diagnostic that names what is wrong.
 */
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import type { Report } from '../model/report.ts';
import { MAX_REFERENCE_CHARACTERS, MAX_REFERENCE_DEPTH } from './limits.ts';

/** An object of the document and where it is. */
export interface Located {
  readonly value: Readonly<Record<string, unknown>>;
  readonly path: FieldPath;
}

/** The document and the mistakes found in it. */
export interface DocumentReading {
  readonly root: Readonly<Record<string, unknown>>;
  readonly report: Report;
}

/**
 * The object and those that its `$ref` leads to, in order; the last has no `$ref`. `null`: a reference is wrong, which is reported
 * at that reference.
 */
export function followReferences(
  start: Located,
  { root, report }: DocumentReading,
): readonly Located[] | null {
  const layers: Located[] = [start];
  const seen: string[] = [];
  for (let layer = start; Object.hasOwn(layer.value, '$ref'); ) {
    const path = [...layer.path, '$ref'];
    const reference = layer.value['$ref'];
    if (typeof reference === 'string' && seen.includes(reference)) {
      const circle = [...seen.slice(seen.indexOf(reference)), reference].map(quoteValue).join(' → ');
      const message = `is a circle of references: ${circle}`;
      report.add('error', path, { code: 'openapi_reference', message, remedy: 'write the object once' });
      return null;
    }
    if (seen.length >= MAX_REFERENCE_DEPTH) {
      const message = `is a chain of more than ${MAX_REFERENCE_DEPTH} references`;
      report.add('error', path, { code: 'openapi_reference', message, remedy: 'refer to the last object' });
      return null;
    }
    const target = targetOf(reference, root);
    if ('message' in target) {
      report.add('error', path, { code: 'openapi_reference', found: quoteValue(reference), ...target });
      return null;
    }
    seen.push(reference as string);
    layers.push(target);
    layer = target;
  }
  return layers;
}

/** The object that a reference names, or why it names none. */
function targetOf(
  reference: unknown,
  root: DocumentReading['root'],
): Located | { readonly message: string; readonly remedy?: string } {
  if (typeof reference !== 'string') return { message: 'must be text' };
  if (reference.length > MAX_REFERENCE_CHARACTERS)
    return { message: `must be at most ${MAX_REFERENCE_CHARACTERS} characters long` };
  if (!reference.startsWith('#')) {
    const message = 'refers to another document, and only this one is read';
    return { message, remedy: 'join the documents first, for example with `redocly bundle`' };
  }
  const pointer = decodeFragment(reference.slice(1));
  if (pointer === null || !pointer.startsWith('/'))
    return { message: 'must be a JSON pointer such as `#/components/pathItems/name`' };
  const steps = pointer
    .slice(1)
    .split('/')
    .map((step) => step.replaceAll('~1', '/').replaceAll('~0', '~'));
  let value: unknown = root;
  const path: (string | number)[] = [];
  for (const step of steps) {
    const entry = entryOf(value, step);
    if (entry === null) return { message: 'refers to nothing in this document' };
    ({ value } = entry);
    path.push(entry.step);
  }
  return isObject(value) ? { value, path } : { message: 'refers to a value that is no object' };
}

/** The entry of an object or list; `null`: it has none of this name. */
function entryOf(
  value: unknown,
  step: string,
): { readonly value: unknown; readonly step: string | number } | null {
  if (Array.isArray(value)) {
    const index = /^(?:0|[1-9]\d{0,6})$/.test(step) ? Number(step) : -1;
    return index >= 0 && index < value.length ? { value: value[index], step: index } : null;
  }
  return isObject(value) && Object.hasOwn(value, step) ? { value: value[step], step } : null;
}

/** The fragment of a URI without its percent-encoding; `null`: it is malformed. */
function decodeFragment(fragment: string): string | null {
  try {
    return decodeURIComponent(fragment);
  } catch {
    // The only error of `decodeURIComponent` is a malformed text.
    return null;
  }
}
