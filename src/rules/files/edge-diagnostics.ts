/**
 * Restates the diagnostics of a rule set for the edge file it was written in: the line and column, what a rule or record
 * looks like in a file, and remedies for text that YAML reads as another type.
 */
import type { Diagnostic, FieldPath } from '../../base/diagnostics/diagnostic.ts';
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { REGISTRY_LISTS } from '../model/registry/registry.ts';
import { unknownField } from '../model/report.ts';
import { ruleForm } from '../model/rule.ts';
import { isMapping, type YamlFile } from './yaml.ts';

/**
 * Converts a path into the rule set to a path into the file: `record_ids` is `records` if the rule names
 * records.
 */
export function toFilePath(yaml: YamlFile, path: FieldPath): FieldPath {
  // A file has the lists of the registry at its top.
  if (path[0] === 'registry') return path.slice(1);
  if (path[2] !== 'record_ids' || !isMapping(yaml.value)) return path;
  const rules = yaml.value['rules'];
  const rule = Array.isArray(rules) ? rules[path[1] as number] : undefined;
  return isMapping(rule) && Object.hasOwn(rule, 'records') ? [...path.slice(0, 2), 'records'] : path;
}

/**
 * The diagnostic with its place in the file, the file's wording, and a remedy if the YAML text suggests known. An
 * unknown field is placed at its key, everything else at its value.
 */
export function placed(diagnostic: Diagnostic, yaml: YamlFile): Diagnostic {
  const path = toFilePath(yaml, diagnostic.path);
  const at = diagnostic.code === 'unknown_field' ? yaml.keyAt(path) : yaml.at(path);
  const reworded = {
    ...diagnostic,
    ...asMapping(diagnostic, yaml),
    ...inRule(diagnostic, yaml),
    ...inRecord(diagnostic),
    ...inShape(diagnostic, yaml),
  };
  const remedy = reworded.remedy ?? remedyFor(reworded, yaml.plainSource(path));
  return { ...reworded, at, ...(remedy === null ? {} : { remedy }) };
}

/** Fields that only a rule of a file has. */
const FILE_FIELDS = ['key', 'records'] as const;

/** The remedy for an unknown field of a rule: in a file, `key` and `records` are known too. */
function inRule(
  { code, path, remedy: given }: Diagnostic,
  yaml: YamlFile,
): Pick<Diagnostic, 'remedy'> | null {
  const [list, index, name] = path;
  if (code !== 'unknown_field' || list !== 'rules' || path.length !== 3 || !isMapping(yaml.value))
    return null;
  const rules = yaml.value['rules'];
  const rule: unknown = Array.isArray(rules) ? rules[index as number] : undefined;
  if (!isMapping(rule) || typeof name !== 'string') return null;
  const type = RULE_TYPES.find((known) => known === rule['type']);
  if (type === undefined) return null;
  const known = [...FILE_FIELDS, ...Object.keys(ruleForm(type).fields)];
  const { problem, lists } = unknownField({ name, value: rule[name], known });
  // A list of the known fields is given once per rule.
  const { remedy } = problem;
  return remedy === undefined || (lists && given === undefined) ? null : { remedy };
}

/** The remedy for a mapping in place of a list, and for a rule whose type is a key of it. */
function inShape({ code, path, message }: Diagnostic, yaml: YamlFile): Pick<Diagnostic, 'remedy'> | null {
  const [list, index, name] = path;
  if (!isMapping(yaml.value)) return null;
  if (path.length === 1 && message === 'must be a list' && isMapping(yaml.value[String(list)]))
    return { remedy: 'start each entry with `- `' };
  if (code !== 'missing_field' || list !== 'rules' || name !== 'type') return null;
  const rules = yaml.value['rules'];
  const rule: unknown = Array.isArray(rules) ? rules[index as number] : undefined;
  const type = RULE_TYPES.find((known) => isMapping(rule) && Object.hasOwn(rule, known));
  return type === undefined ? null : { remedy: `write \`type: ${type}\`, and the fields beside it` };
}

/** The remedy for a record with only one of `type` and `destination`. */
function inRecord({ code, path }: Diagnostic): Pick<Diagnostic, 'remedy'> | null {
  const [list, , name] = path;
  if (code !== 'missing_field' || list !== 'records' || path.length !== 3) return null;
  if (name !== 'type' && name !== 'destination') return null;
  const other = name === 'type' ? 'destination' : 'type';
  return {
    remedy: `add it; without \`${other}\` too, the application that embeds the edge answers the host`,
  };
}

/** Rewords `must be an object`, the API's message, for a rule or record of a file: there it is a mapping. */
function asMapping(
  { path, message }: Diagnostic,
  yaml: YamlFile,
): Pick<Diagnostic, 'message' | 'remedy'> | null {
  if (path.length !== 2 || message !== 'must be an object') return null;
  if ((REGISTRY_LISTS as readonly unknown[]).includes(path[0])) return { message: 'must be a mapping' };
  if (path[0] !== 'rules') return { message: 'must be a mapping with `name`, `type` and `destination`' };
  const type = RULE_TYPES.find((known) => known === yaml.plainSource(path));
  return {
    message: 'must be a mapping with `type` and the fields of that type',
    ...(type === undefined ? {} : { remedy: `write \`- { type: ${type}, … }\`` }),
  };
}

/** The remedy for a single value in place of a list: the value in brackets, cut to 60 characters. */
export function asList(source: string): string {
  if (source === '') return 'write `[]`, or remove the line';
  const entry = /[,[\]{}#:]/.test(source) ? JSON.stringify(source) : source;
  return `write \`[${entry.slice(0, 60)}]\``;
}

/**
 * The remedy for unquoted text that YAML reads as another type: `false`, `12`, an empty value. `null`: no
 * suggestion.
 */
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

/** The parser's message for a value that must be a boolean (`rules/model/parse`). */
const FLAG = 'must be `true` or `false`';

/** The remedy for words that YAML 1.1 reads as booleans and YAML 1.2 reads as text. */
function readsAsFlag(source: string): string | null {
  if (/^(?:yes|on|y)$/i.test(source)) return 'write `true`';
  return /^(?:no|off|n)$/i.test(source) ? 'write `false`' : null;
}
