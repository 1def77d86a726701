/**
 * Request bodies of an OpenAPI document: their media types, and the schemas of those of JSON, each with what it refers to. In: the
 * `requestBody` of an operation. Out: the body of an operation of a gateway. A schema that is not evaluated is left out with a
 * warning, and its bodies are not compared.
 */
import { type FieldPath, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { compileSchema } from '../../base/json-schema/compile-schema.ts';
import { isObject } from '../../base/text/json-object.ts';
import {
  MAX_BODY_SCHEMA,
  MAX_BODY_SCHEMA_DEPTH,
  MAX_BODY_TYPES,
  MAX_GATEWAY_SCHEMAS,
} from '../../base/vocabulary/limits.ts';
import {
  createPatternJudge,
  isDeeper,
  isJsonType,
  misspeltKeyword,
  roundedNumber,
} from '../model/gateway/bodies.ts';
import { MEDIA_RANGE } from '../model/gateway/operations.ts';
import type { Problem } from '../model/report.ts';
import { bundleSchema } from './bundle-schema.ts';
import { type DocumentReading, followReferences } from './references.ts';

/** A body, as an operation of a gateway has it. */
export interface SchemaBody {
  readonly required?: boolean;
  readonly content: readonly { readonly type: string; readonly schema?: Readonly<Record<string, unknown>> }[];
}

/** Reads bodies of one document. */
export interface SchemaBodyReader {
  /** `null`: any body. */
  read(value: unknown, path: FieldPath): SchemaBody | null;
}

/** Creates the reader of a document. `version`: `openapi` of it. */
export function createBodyReader(reading: DocumentReading, version: string): SchemaBodyReader {
  const state: BodiesReading = {
    ...reading,
    isOldDialect: version.startsWith('3.0.'),
    placePattern: createPatternJudge(),
    known: new Map(),
    examined: new Set(),
    total: 0,
  };
  return { read: (value, path) => readBody(value, path, state) };
}

interface BodiesReading extends DocumentReading {
  /** Of 3.0, whose schemas are a dialect of their own. */
  readonly isOldDialect: boolean;
  readonly placePattern: ReturnType<typeof createPatternJudge>;
  /** Schemas by their JSON, and whether they compile. */
  readonly known: Map<string, boolean>;
  /** Places that are reported, or have nothing to report; at most `MAX_EXAMINED`. */
  readonly examined: Set<string>;
  /** Characters of all of them. */
  total: number;
}

function readBody(value: unknown, path: FieldPath, state: BodiesReading): SchemaBody | null {
  const { report } = state;
  if (!isObject(value)) {
    const message = 'must be an object with `content`';
    report.add('warning', path, { code: 'openapi_body', message, found: quoteValue(value) });
    return null;
  }
  const located = followReferences({ value, path }, state)?.at(-1);
  const content = located?.value['content'];
  if (located === undefined) return null;
  const at = [...located.path, 'content'];
  if (!isObject(content)) {
    const message = 'must be an object with a media type each, so bodies are not compared';
    report.add('warning', at, { code: 'openapi_body', message, found: quoteValue(content) });
    return null;
  }
  const entries = Object.keys(content).map((name) => ({ name, type: (name.split(';', 1)[0] ?? '').trim() }));
  const unread = entries.find(({ type }) => type !== '*/*' && !MEDIA_RANGE.test(type));
  if (unread !== undefined || entries.length > MAX_BODY_TYPES) {
    const many = `has more than ${MAX_BODY_TYPES} media types`;
    const message = `${unread === undefined ? many : 'has what is no media type'}, so bodies are not compared`;
    const found = unread === undefined ? null : quoteValue(unread.type);
    report.add('warning', at, { code: 'openapi_body', message, found });
    return null;
  }
  if (entries.length === 0) return null;
  const read = (entry: WrittenType): ReadType => ({
    ...entry,
    schema: isJsonType(entry.type) ? readSchema(content[entry.name], [...at, entry.name], state) : null,
  });
  const json = jsonOfRange(entries)
    .map(read)
    .filter(({ schema }) => schema !== null);
  return {
    ...(located.value['required'] === true ? { required: true } : {}),
    content: distinctTypes([...json, ...entries.map(read)], at, state).map(({ type, schema }) =>
      schema === null ? { type } : { type, schema },
    ),
  };
}

/** A media type without parameters, and the member of `content` that describes it. */
interface WrittenType {
  readonly name: string;
  readonly type: string;
}

interface ReadType extends WrittenType {
  readonly schema: Readonly<Record<string, unknown>> | null;
}

const JSON_TYPE = 'application/json';

/** JSON of a range, which is compared with the schema of the range; none if the document lists it, or has no such range. */
function jsonOfRange(entries: readonly WrittenType[]): readonly WrittenType[] {
  const named = (type: string) => entries.find((one) => one.type.toLowerCase() === type);
  const range = named('application/*') ?? named('*/*');
  const isListed = named(JSON_TYPE) !== undefined || entries.length === MAX_BODY_TYPES;
  return range === undefined || isListed ? [] : [{ name: range.name, type: JSON_TYPE }];
}

/** One entry for each media type. Several that differ in parameters alone are compared if they have one schema. */
function distinctTypes(
  entries: readonly ReadType[],
  path: FieldPath,
  { report }: BodiesReading,
): readonly ReadType[] {
  const distinct = new Map<string, ReadType>();
  for (const entry of entries) {
    const key = entry.type.toLowerCase();
    const earlier = distinct.get(key);
    if (earlier === undefined) distinct.set(key, entry);
    else if (JSON.stringify(entry.schema) !== JSON.stringify(earlier.schema)) {
      const message = `has another schema than ${quoteValue(earlier.name)}, and parameters do not distinguish types, so bodies are not compared`;
      report.add('warning', [...path, entry.name], { code: 'openapi_body', message, found: null });
      distinct.set(key, { ...earlier, schema: null });
    }
  }
  return [...distinct.values()];
}

/** The schema of a media type with all that it refers to; `null`: it has none that is evaluated. */
function readSchema(
  media: unknown,
  path: FieldPath,
  state: BodiesReading,
): Readonly<Record<string, unknown>> | null {
  const { isOldDialect, report, root } = state;
  const isMedia = isObject(media);
  // Without a schema, and with `true`, every value is valid.
  if (isMedia && (media['schema'] === undefined || media['schema'] === true)) return null;
  const at = isMedia ? [...path, 'schema'] : path;
  if (!isMedia || !isObject(media['schema'])) {
    const message = 'must be an object, so bodies are not compared';
    const found = quoteValue(isMedia ? media['schema'] : media);
    report.add('warning', at, { code: 'openapi_body', message, found });
    return null;
  }
  const { schema, problems, unknown, inert, pathOf } = bundleSchema(
    { schema: media['schema'], path: at },
    { root, isOldDialect },
  );
  const warn = (where: FieldPath, message: string, remedy?: string): void => {
    const problem = {
      code: 'openapi_body',
      message: `${message}, so bodies are not compared`,
      found: null,
    } as const;
    report.add('warning', where, remedy === undefined ? problem : { ...problem, remedy });
  };
  warnOfMisspelt(unknown, state);
  const remedy = isOldDialect ? NULLABLE_REMEDY : "write `type: [string, 'null']`";
  for (const { path: where, message } of inert)
    warnOnce(where, { code: 'openapi_ignored', message, found: null, remedy }, state);
  for (const { path: where, message } of problems) warn(where, message);
  if (problems.length > 0) return null;
  const text = JSON.stringify(schema);
  const earlier = state.known.get(text);
  if (earlier !== undefined) return earlier ? schema : null;
  if (isDeeper(schema, MAX_BODY_SCHEMA_DEPTH)) {
    warn(at, `is nested more than ${MAX_BODY_SCHEMA_DEPTH} deep with what it refers to`);
    return null;
  }
  if (text.length > MAX_BODY_SCHEMA || state.total + text.length > MAX_GATEWAY_SCHEMAS) {
    const all = `all schemas together have more than ${MAX_GATEWAY_SCHEMAS} characters of JSON`;
    warn(
      at,
      text.length > MAX_BODY_SCHEMA
        ? `has more than ${MAX_BODY_SCHEMA} characters of JSON with what it refers to`
        : all,
    );
    return null;
  }
  const compiled = compileSchema(schema, state.placePattern);
  for (const { path: place, value } of compiled.rounded) warnOnce(pathOf(place), roundedNumber(value), state);
  state.known.set(text, compiled.ok);
  if (compiled.ok) {
    state.total += text.length;
    return schema;
  }
  for (const problem of compiled.problems) warn(pathOf(problem.path), problem.message, problem.remedy);
  return null;
}

const NULLABLE_REMEDY = 'write it beside `type`, in each schema that the value must match';

/** Maximum number of places of schemas of a document that are examined for warnings. */
const MAX_EXAMINED = 1_000;

/** Warns of misspelt keywords, once each: several schemas may refer to the one that has it. */
function warnOfMisspelt(unknown: readonly FieldPath[], { examined, report }: BodiesReading): void {
  for (const path of unknown) {
    if (!isFirst(path, examined)) continue;
    const problem = misspeltKeyword(String(path.at(-1)));
    if (problem !== null) report.add('warning', path, problem);
  }
}

function warnOnce(path: FieldPath, problem: Problem, { examined, report }: BodiesReading): void {
  if (isFirst(path, examined)) report.add('warning', path, problem);
}

/** Whether a place is examined for the first time, and within the bound. */
function isFirst(path: FieldPath, examined: Set<string>): boolean {
  const place = JSON.stringify(path);
  if (examined.has(place) || examined.size >= MAX_EXAMINED) return false;
  examined.add(place);
  return true;
}
