/** What `--json` prints: one object, whose `format` names its kind and its version. */
import { terminalJson } from '../../base/text/json-object.ts';

/** The value of `format`; the number rises when a field is removed or changes its meaning. */
export function jsonFormat(name: string): string {
  return `edgeplan.${name}/v1`;
}

/** The text of a document, `format` first. Field names are in snake_case. */
export function jsonDocument(name: string, fields: object): string {
  return `${terminalJson({ format: jsonFormat(name), ...fields }, 2)}\n`;
}
