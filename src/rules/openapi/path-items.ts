/**
 * Path items of an OpenAPI document, read as operations. In: `paths` and the reader of `security`. Out: an operation for each method,
 * with its place in the document.
 */
import { type FieldPath, formatPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { isObject } from '../../base/text/json-object.ts';
import { MAX_METHOD_CHARACTERS, MAX_OPERATIONS } from '../../base/vocabulary/limits.ts';
import { TOKEN } from '../model/fields.ts';
import type { SchemaBody, SchemaBodyReader } from './bodies.ts';
import { MAX_ITEM_FIELDS, MAX_SCHEMA_PATHS } from './limits.ts';
import { type DocumentReading, followReferences, type Located } from './references.ts';
import { nameProblem, type OperationSecurity, readNames, type SecurityReader } from './security.ts';
import { readBasePaths } from './servers.ts';
import { readTemplate } from './templates.ts';

/** An operation of a gateway, as a document describes it. */
export interface SchemaOperation {
  readonly operation_id?: string;
  /** One method, in capital letters where OpenAPI names it. */
  readonly methods: readonly [string];
  /** The template below the base path of the gateway, as the document has it. */
  readonly path: string;
  readonly scopes?: readonly string[];
  readonly tags?: readonly string[];
  /** Absent: the document does not say, and the gateway's own `auth` applies. */
  readonly auth?: 'none' | 'required';
  /** Absent: any body. */
  readonly body?: SchemaBody;
  readonly source: 'schema';
}

/** An operation and the place of the object that describes it. */
export interface LocatedOperation {
  readonly operation: SchemaOperation;
  readonly path: FieldPath;
}

/** Fields of a path item that name a method; `query` is of OpenAPI 3.2. */
const METHODS: ReadonlyMap<string, string> = new Map(
  ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace', 'query'].map((name) => [
    name,
    name.toUpperCase(),
  ]),
);
/** The other fields of a path item. */
const OTHER_FIELDS: readonly string[] = ['$ref', 'summary', 'description', 'parameters', 'servers'];

/** The state of reading the paths of one document. */
interface PathsReading extends DocumentReading {
  readonly security: SecurityReader;
  readonly bodies: SchemaBodyReader;
  /** What an operation without `security` of its own needs. */
  readonly preset: OperationSecurity;
  /** Those of the document's `servers`. */
  readonly basePaths: readonly string[];
  readonly operations: LocatedOperation[];
  /** The place of each `operationId`. */
  readonly ids: Map<string, FieldPath>;
}

/** Reads all path items. */
export function readPathItems(
  paths: Readonly<Record<string, unknown>>,
  reading: Omit<PathsReading, 'operations' | 'ids'>,
): readonly LocatedOperation[] {
  const state: PathsReading = { ...reading, operations: [], ids: new Map() };
  const { report } = state;
  const templates = Object.keys(paths).filter((template) => !template.startsWith('x-'));
  if (templates.length > MAX_SCHEMA_PATHS) {
    const message = `must have at most ${MAX_SCHEMA_PATHS} paths`;
    const remedy = 'divide the document among several gateways';
    report.add('error', ['paths'], { code: 'too_many', message, found: `${templates.length}`, remedy });
    return [];
  }
  const shapes = new Map<string, string>();
  for (const template of templates) {
    if (report.full()) break;
    const path = ['paths', template];
    const read = readTemplate(template);
    if ('problem' in read) {
      report.add('error', path, read.problem);
      continue;
    }
    const first = shapes.get(read.shape);
    if (first !== undefined) {
      const message = `matches the same requests as ${quoteValue(first)}`;
      const remedy = 'write one path with all methods; names of parameters do not distinguish paths';
      report.add('error', path, { code: 'openapi_duplicate', message, remedy });
      continue;
    }
    shapes.set(read.shape, template);
    readPathItem(template, paths[template], state);
    if (state.operations.length > MAX_OPERATIONS) {
      const message = `must describe at most ${MAX_OPERATIONS} operations`;
      const remedy = 'divide the document among several gateways';
      report.add('error', ['paths'], { code: 'too_many', message, found: null, remedy });
      break;
    }
  }
  return state.operations;
}

/** Reads one path item with those that it refers to. */
function readPathItem(template: string, item: unknown, state: PathsReading): void {
  const { report } = state;
  const path = ['paths', template];
  // An empty value of YAML: a path that allows no method.
  if (item === null) return;
  if (!isObject(item)) {
    report.add('error', path, {
      code: 'invalid_type',
      message: 'must be an object',
      found: quoteValue(item),
    });
    return;
  }
  const layers = followReferences({ value: item, path }, state);
  const methods = new Map<string, FieldPath>();
  for (const layer of layers ?? []) {
    for (const { method, value, path: at } of methodsOf(layer, state)) {
      const first = methods.get(method);
      if (first === undefined) {
        methods.set(method, at);
        readOperation({ template, method, value, path: at }, state);
        continue;
      }
      const message = `describes the method a second time, after \`${formatPath(first)}\``;
      report.add('error', at, { code: 'openapi_duplicate', message, remedy: 'remove one of the two' });
    }
  }
}

/** A method of a path item, with the value that describes its operation. */
interface WrittenOperation {
  readonly method: string;
  readonly value: unknown;
  readonly path: FieldPath;
}

/** The methods of a path item, with a message for each field that is not known. */
function methodsOf({ value, path }: Located, state: PathsReading): readonly WrittenOperation[] {
  const { report } = state;
  const fields = Object.keys(value);
  if (fields.length > MAX_ITEM_FIELDS) {
    const message = `must have at most ${MAX_ITEM_FIELDS} fields`;
    report.add('error', path, { code: 'too_many', message, found: `${fields.length}` });
    return [];
  }
  const found: WrittenOperation[] = [];
  for (const field of fields) {
    const at = [...path, field];
    const method = METHODS.get(field);
    if (method !== undefined) found.push({ method, value: value[field], path: at });
    else if (field === 'additionalOperations') found.push(...additional(value[field], at, report));
    else if (METHODS.has(field.toLowerCase())) {
      const remedy = `write \`${field.toLowerCase()}\``;
      report.add('error', at, {
        code: 'unknown_field',
        message: 'is not a known field',
        found: null,
        remedy,
      });
    } else if (!OTHER_FIELDS.includes(field) && !field.startsWith('x-')) {
      const message = 'is not a field of a path item and has no effect';
      report.add('warning', at, { code: 'openapi_ignored', message, remedy: 'remove it' });
    } else if (field === 'servers') checkServers(value[field], at, state);
  }
  return found;
}

/** Warns where a path or operation has servers of its own whose base paths are not those of the document. */
function checkServers(servers: unknown, path: FieldPath, { basePaths, report }: PathsReading): void {
  const own = readBasePaths(servers, path, report);
  if (own.every((base) => basePaths.includes(base))) return;
  const message = 'has no effect: a gateway has one base path, which is not that of these servers';
  const remedy = 'describe them in a document of their own';
  report.add('warning', path, { code: 'openapi_ignored', message, found: own.join(', '), remedy });
}

/** `additionalOperations` of OpenAPI 3.2: operations by method, as it is sent. */
function additional(
  value: unknown,
  path: FieldPath,
  report: DocumentReading['report'],
): readonly WrittenOperation[] {
  const names = isObject(value) ? Object.keys(value) : [];
  if (!isObject(value) || names.length > MAX_ITEM_FIELDS) {
    const message = `must be an object of at most ${MAX_ITEM_FIELDS} operations by their methods`;
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(value) });
    return [];
  }
  const valid: WrittenOperation[] = [];
  for (const method of names) {
    const at = [...path, method];
    if (TOKEN.test(method) && method.length <= MAX_METHOD_CHARACTERS)
      valid.push({ method, value: value[method], path: at });
    else report.add('error', at, { code: 'invalid_token', message: 'is no method', found: null });
  }
  return valid;
}

/** Reads one operation. */
function readOperation(
  { template, method, value, path }: WrittenOperation & { readonly template: string },
  state: PathsReading,
): void {
  const { report, operations } = state;
  if (!isObject(value) || Object.hasOwn(value, '$ref')) {
    const message = 'must be an operation: an object without `$ref`';
    report.add('error', path, { code: 'invalid_type', message, found: quoteValue(value) });
    return;
  }
  const { operationId, requestBody, tags, security } = value;
  const id = operationId === undefined ? null : readId(operationId, [...path, 'operationId'], state);
  const names = tags === undefined ? [] : readNames(tags, [...path, 'tags'], { report, what: 'tags' });
  const { auth, scopes } =
    security === undefined ? state.preset : state.security.read(security, [...path, 'security']);
  if (Object.hasOwn(value, 'servers')) checkServers(value['servers'], [...path, 'servers'], state);
  const body = requestBody === undefined ? null : state.bodies.read(requestBody, [...path, 'requestBody']);
  const operation: SchemaOperation = {
    ...(id === null ? {} : { operation_id: id }),
    methods: [method],
    path: template,
    ...(scopes.length === 0 ? {} : { scopes }),
    ...(names.length === 0 ? {} : { tags: names }),
    ...(auth === null ? {} : { auth }),
    ...(body === null ? {} : { body }),
    source: 'schema',
  };
  operations.push({ operation, path });
}

/** An `operationId` that no other operation has; `null`: it has a mistake, which is reported. */
function readId(id: unknown, path: FieldPath, { ids, report }: PathsReading): string | null {
  const problem = nameProblem(id, 'ids');
  if (problem !== null || typeof id !== 'string') {
    if (problem !== null) report.add('error', path, { ...problem, found: quoteValue(id) });
    return null;
  }
  const first = ids.get(id);
  if (first !== undefined) {
    const message = `is the \`operationId\` of \`${formatPath(first)}\` too, and consumers are limited by it`;
    const remedy = 'give each operation an `operationId` of its own';
    report.add('error', path, { code: 'openapi_duplicate', message, found: quoteValue(id), remedy });
    return null;
  }
  ids.set(id, path.slice(0, -1));
  return id;
}
