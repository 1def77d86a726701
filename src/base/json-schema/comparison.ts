/** What the checks of a schema share: the state of one comparison, and the places that are reported. */
import type { JsonValue } from './read-value.ts';

/** A place of a body that its schema does not allow. */
export interface BodyError {
  /** A JSON pointer as the fragment of a URI, such as `#/items/0/name`; at most `MAX_POINTER` characters, cut at a slash. */
  readonly pointer: string;
  /** Without text of the body. */
  readonly detail: string;
}

/** Maximum number of places that are reported. */
const MAX_ERRORS = 5;
/** Maximum length, in characters, of a pointer, since visitors choose the names. */
const MAX_POINTER = 256;

/** The state of one comparison. */
export interface SchemaRun {
  steps: number;
  /** `null`: the outcome counts alone, as below `not`. */
  errors: BodyError[] | null;
  /** Members and indexes from the root. */
  readonly path: (string | number)[];
}

/** Whether a value is valid; reports why not. */
export type SchemaCheck = (value: JsonValue, run: SchemaRun) => boolean;

/** Whether a further error is of no use. */
export function isDecided({ errors }: SchemaRun): boolean {
  return errors === null || errors.length >= MAX_ERRORS;
}

/** Takes steps before the work they are for. `false`: no steps are left, and the outcome is of no use. */
export function spend(run: SchemaRun, steps: number): boolean {
  run.steps -= steps;
  return run.steps >= 0;
}

/** Reports what is wrong at the current place. */
export function wrong({ errors, path }: SchemaRun, detail: string): false {
  if (errors !== null && errors.length < MAX_ERRORS) errors.push({ pointer: pointerOf(path), detail });
  return false;
}

function pointerOf(path: SchemaRun['path']): string {
  let pointer = '#';
  for (const step of path) {
    const text = String(step);
    if (text.length > MAX_POINTER) break;
    const next = `${pointer}/${encodeURIComponent(text.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    if (next.length > MAX_POINTER) break;
    pointer = next;
  }
  return pointer;
}
