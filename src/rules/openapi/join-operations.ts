/**
 * Joins the operations of a document with the other operations of a gateway. An operation of the document that another one replaces,
 * with its method and a template of the same shape, is left out: what is written by hand decides.
 */
import { parseTemplate, templateShape } from '../../base/paths/path-template.ts';
import type { SchemaOperation } from './path-items.ts';

/** The operations of the document that the gateway takes, and those that others replace. */
export interface JoinedOperations {
  readonly taken: readonly SchemaOperation[];
  readonly overridden: readonly SchemaOperation[];
}

/** Divides the operations of a document. `others`: those of the gateway that are not of a document. */
export function joinOperations(
  others: readonly WrittenPlace[],
  document: readonly SchemaOperation[],
): JoinedOperations {
  const places = new Set(others.flatMap(operationPlaces));
  const isOverridden = (one: SchemaOperation): boolean =>
    operationPlaces(one).some((place) => places.has(place));
  return {
    taken: document.filter((one) => !isOverridden(one)),
    overridden: document.filter(isOverridden),
  };
}

/** What an operation is found by. */
export interface WrittenPlace {
  readonly methods: readonly string[];
  readonly path: string;
}

/** Each method with the shape of the template, such as `GET "orders"/""{}""`. */
export function operationPlaces({ methods, path }: WrittenPlace): readonly string[] {
  const parsed = parseTemplate(path);
  const shape = parsed.ok ? templateShape(parsed.segments) : path;
  return methods.map((method) => `${method} ${shape}`);
}
