/**
 * The gateways of an edge file: the list `gateways`, whose entries are rules of that type, and the OpenAPI documents beside the file that
 * `schema` names. In: the file, joined with its parts, and the documents. Out: the same file with the gateways among its rules and the
 * operations of the documents among theirs; every place is that of the gateway in the file.
 */
import { type Diagnostic, type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { joinOperations, type WrittenPlace } from '../openapi/join-operations.ts';
import type { SchemaOperation } from '../openapi/path-items.ts';
import type { EdgePart } from './edge-parts.ts';
import { readOpenApiBytes } from './openapi-file.ts';
import { isMapping, type YamlFile } from './yaml.ts';

/** A file whose rules have the gateways. */
export interface JoinedGateways {
  readonly yaml: YamlFile;
  /** Mistakes of gateways and documents, with their places. */
  readonly diagnostics: readonly Diagnostic[];
  /** The path in the file of a path in the joined one: `gateways[0]` of the rule after the others. */
  restate(path: FieldPath): FieldPath;
}

type Fields = Readonly<Record<string, unknown>>;

/** Joins the gateways. `documents`: the files beside the edge file that `schema` names. */
export function joinGateways(file: YamlFile, documents: readonly EdgePart[]): JoinedGateways {
  const diagnostics: Diagnostic[] = [];
  const unchanged = { yaml: file, diagnostics, restate: (path: FieldPath) => path };
  if (!isMapping(file.value)) return unchanged;
  const { gateways: written = null, ...value } = file.value;
  if (written !== null && !Array.isArray(written)) {
    const message = 'must be a list of gateways';
    diagnostics.push(
      problem(file, ['gateways'], { code: 'invalid_type', message, found: quoteValue(written) }),
    );
  }
  const gateways: readonly unknown[] = Array.isArray(written) ? written : [];
  const rules = value['rules'] ?? [];
  if (!Array.isArray(rules)) return { ...unchanged, yaml: { ...file, value } };
  const read = new Map<string, readonly SchemaOperation[] | null>();
  const start = rules.length;
  const restate = ([list, index, ...rest]: FieldPath): FieldPath =>
    list === 'rules' && typeof index === 'number' && index >= start
      ? ['gateways', index - start, ...rest]
      : [list, index, ...rest].filter((step) => step !== undefined);
  const joined = [
    ...rules,
    ...gateways.map((entry, index) => typed(entry, { file, index, diagnostics })),
  ].map((rule, index) =>
    withDocument(rule, { file, path: restate(['rules', index]), documents, read, diagnostics }),
  );
  const yaml: YamlFile = {
    ...file,
    value: { ...value, ...(value['rules'] === undefined && joined.length === 0 ? {} : { rules: joined }) },
    at: (path) => file.at(restate(path)),
    keyAt: (path) => file.keyAt(restate(path)),
    plainSource: (path) => file.plainSource(restate(path)),
  };
  return { yaml, diagnostics, restate };
}

/** A gateway as a rule; its type is implied. */
function typed(
  entry: unknown,
  { file, index, diagnostics }: { file: YamlFile; index: number; diagnostics: Diagnostic[] },
): unknown {
  if (!isMapping(entry)) return entry;
  const { type = 'gateway', ...fields } = entry;
  if (type !== 'gateway') {
    const message = 'must be `gateway`, or left out';
    const found = {
      code: 'invalid_value',
      message,
      found: quoteValue(type),
      remedy: 'write it in `rules`',
    } as const;
    diagnostics.push(problem(file, ['gateways', index, 'type'], found));
  }
  return { type: 'gateway', ...fields };
}

/** What `withDocument` works with. */
interface DocumentPlace {
  readonly file: YamlFile;
  /** Of the gateway in the file. */
  readonly path: FieldPath;
  readonly documents: readonly EdgePart[];
  /** Operations of the documents so far, by name: several gateways may name one. */
  readonly read: Map<string, readonly SchemaOperation[] | null>;
  readonly diagnostics: Diagnostic[];
}

/** A gateway with the operations of its document; any other rule as it is. */
function withDocument(rule: unknown, place: DocumentPlace): unknown {
  if (!isMapping(rule) || rule['type'] !== 'gateway' || !Object.hasOwn(rule, 'schema')) return rule;
  const { schema, ...fields } = rule;
  const found = documentOperations(schema, place);
  const { operations: own = [] } = fields;
  // Operations that are no list are refused as they are.
  if (found === null || !Array.isArray(own)) return fields;
  const { taken } = joinOperations(own.filter(isPlace), found);
  return { ...fields, operations: [...own, ...taken] };
}

function isPlace(value: unknown): value is WrittenPlace {
  if (!isMapping(value)) return false;
  const { methods, path }: Fields = value;
  return typeof path === 'string' && Array.isArray(methods);
}

/** The operations of the document that `schema` names; `null`: it is missing or has mistakes, which are reported. */
function documentOperations(schema: unknown, place: DocumentPlace): readonly SchemaOperation[] | null {
  const { file, documents, diagnostics } = place;
  const path = [...place.path, 'schema'];
  const name = typeof schema === 'string' ? schemaName(schema) : null;
  if (name === null) {
    const message =
      'must be the name of an OpenAPI document beside the edge file: `.yaml`, `.yml` or `.json`';
    const remedy = 'write for example `schema: openapi.yaml`';
    diagnostics.push(
      problem(file, path, { code: 'schema_file', message, found: quoteValue(schema), remedy }),
    );
    return null;
  }
  const earlier = place.read.get(name);
  if (earlier !== undefined) return earlier;
  const document = documents.find((one) => one.schema === name);
  if (document === undefined) {
    const message = 'is no file beside the edge file';
    const remedy = 'write the file, or remove `schema` and list `operations`';
    diagnostics.push(
      problem(file, path, { code: 'schema_file', message, found: quoteValue(schema), remedy }),
    );
    return null;
  }
  const read = readOpenApiBytes(document.octets, document.name);
  diagnostics.push(...read.diagnostics);
  const operations = read.ok ? read.operations.map(({ operation }) => operation) : null;
  place.read.set(name, operations);
  return operations;
}

/** The name of a document below the folder of the edge file, without `./`; `null`: it is no such name. */
function schemaName(text: string): string | null {
  const name = text.replace(/^(?:\.\/)+/, '');
  const isBelow = !/^[/\\]|^[A-Za-z]:|(?:^|[/\\])\.\.(?:[/\\]|$)|[\u0000-\u001f]/.test(name);
  return isBelow && name.length <= MAX_SCHEMA_NAME && /\.(?:ya?ml|json)$/.test(name) ? name : null;
}

/** Maximum length, in characters, of the name of a document: file systems allow no longer ones without folders. */
const MAX_SCHEMA_NAME = 255;
/** Maximum number of documents of one edge file: as many as of its parts. */
const MAX_SCHEMAS = 256;

/** `schema` in a text, with its value. */
const NAMED = /\bschema["']?[ \t]*:[ \t]*["']?([^\s"',{}[\]#]{1,256})/g;

/**
 * The names of the documents that the text of an edge file may name, without reading it: a name in a comment is one too, and then the
 * document is not used.
 */
export function schemaNames(text: string): readonly string[] {
  const names = new Set<string>();
  for (const [, value] of text.matchAll(NAMED)) {
    const name = schemaName(value!);
    if (name !== null) names.add(name);
    if (names.size === MAX_SCHEMAS) break;
  }
  return [...names];
}

function problem(
  file: YamlFile,
  path: FieldPath,
  { code, message, found, remedy }: Pick<Diagnostic, 'code' | 'message' | 'found' | 'remedy'>,
): Diagnostic {
  return {
    code,
    severity: 'error',
    path,
    message,
    ...(found === undefined ? {} : { found }),
    ...(remedy === undefined ? {} : { remedy }),
    at: file.at(path),
  };
}
