/**
 * Restates the diagnostics of a rule set for the edge file it was written in: the line and column, what a rule or record
 * looks like in a file, and remedies for text that YAML reads as another type.
 */
import type { Diagnostic, FieldPath } from '../base/diagnostic.ts';
import { RULE_TYPES } from '../base/vocabulary.ts';
import { isMapping, type YamlFile } from './yaml.ts';

/** A path into the rule set as a path into the file, where records may stand by name. */
export function toFilePath(yaml: YamlFile, path: FieldPath): FieldPath {
  if (path[2] !== 'record_ids' || !isMapping(yaml.value)) return path;
  const rules = yaml.value['rules'];
  const rule = Array.isArray(rules) ? rules[path[1] as number] : undefined;
  return isMapping(rule) && Object.hasOwn(rule, 'records') ? [...path.slice(0, 2), 'records'] : path;
}

export function placed(diagnostic: Diagnostic, yaml: YamlFile): Diagnostic {
  const path = toFilePath(yaml, diagnostic.path);
  const at = diagnostic.code === 'unknown_field' ? yaml.keyAt(path) : yaml.at(path);
  const shaped = { ...diagnostic, ...asMapping(diagnostic, yaml) };
  const remedy = shaped.remedy ?? remedyFor(shaped, yaml.plainSource(path));
  return { ...shaped, at, ...(remedy === null ? {} : { remedy }) };
}

/** What a rule and a record are in a file, where the API says only that they are objects. */
function asMapping(
  { path, message }: Diagnostic,
  yaml: YamlFile,
): Pick<Diagnostic, 'message' | 'remedy'> | null {
  if (path.length !== 2 || message !== 'must be an object') return null;
  if (path[0] !== 'rules') return { message: 'must be a mapping with `name`, `type` and `destination`' };
  const type = RULE_TYPES.find((one) => one === yaml.plainSource(path));
  return {
    message: 'must be a mapping with `type` and the fields of that type',
    ...(type === undefined ? {} : { remedy: `write \`- { type: ${type}, … }\`` }),
  };
}

/** One entry where a list is wanted, as the list of it. */
export function asList(source: string): string {
  if (source === '') return 'write `[]`, or remove the line';
  const entry = /[,[\]{}#:]/.test(source) ? JSON.stringify(source) : source;
  return `write \`[${entry.slice(0, 60)}]\``;
}

/** Unquoted text that YAML reads as something else: `false`, `12`, an empty value. */
function remedyFor({ code, message, path }: Diagnostic, source: string | null): string | null {
  if (code !== 'invalid_type' || source === null) return null;
  if (message === FLAG) return readsAsFlag(source);
  if (message === 'must be a list') return asList(source);
  if (message !== 'must be text') return null;
  if (path.includes('countries') && /^(?:no|false|off)$/i.test(source))
    return 'write `"NO"` in quotes for Norway';
  if (source === '') return 'write text, or remove the line; a `#` starts a comment unless it is in quotes';
  return `write \`"${source.slice(0, 60)}"\` in quotes`;
}

const FLAG = 'must be `true` or `false`';

/** The words other versions of YAML take for booleans. */
function readsAsFlag(source: string): string | null {
  if (/^(?:yes|on|y)$/i.test(source)) return 'write `true`';
  return /^(?:no|off|n)$/i.test(source) ? 'write `false`' : null;
}
