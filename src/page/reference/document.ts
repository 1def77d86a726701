/** The parts of the OpenAPI document that the reference shows, as types, and look-ups in it. */
import { assert } from '../../base/diagnostics/assert.ts';
import type { Json, JsonObject } from '../../base/text/json-object.ts';

/** A JSON Schema of the document, in the constructs that the generator writes. */
export interface Schema {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly default?: Json;
  readonly example?: Json;
  readonly examples?: readonly Json[];
  readonly enum?: readonly Json[];
  readonly const?: Json;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean | Schema;
  readonly anyOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
}

/** A parameter in path, query or header. */
export interface Parameter {
  readonly in: string;
  readonly name: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

/** Bodies by content type. */
export type ContentTypes = Readonly<Record<string, { readonly schema: Schema; readonly example?: Json }>>;

/** A response, or a reference to one. */
export interface ResponseObject {
  readonly $ref?: string;
  readonly description?: string;
  readonly headers?: Readonly<Record<string, { readonly description?: string; readonly schema: Schema }>>;
  readonly content?: ContentTypes;
}

/** An operation with its place. */
export interface ApiOperation {
  readonly method: string;
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: ContentTypes };
  readonly responses: Readonly<Record<string, ResponseObject>>;
  readonly security?: readonly Readonly<Record<string, unknown>>[];
}

/** The document. */
export interface ApiDocument {
  readonly info: { readonly title: string; readonly version: string; readonly description: string };
  readonly paths: Readonly<Record<string, Readonly<Record<string, Omit<ApiOperation, 'method' | 'path'>>>>>;
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly 'x-tagGroups': readonly { readonly name: string; readonly tags: readonly string[] }[];
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
  };
}

/** A document in these types; `polish` has written it. */
export function apiDocument(document: JsonObject): ApiDocument {
  assert('x-tagGroups' in document && 'components' in document, 'the document is a polished one');
  return document as unknown as ApiDocument;
}

/** Every operation, in the order of the document. */
export function operationsOf({ paths }: ApiDocument): readonly ApiOperation[] {
  return Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, one]) => ({ ...one, method: method.toUpperCase(), path })),
  );
}

/** The name at the end of a reference. */
export function referredName($ref: string): string {
  return $ref.slice($ref.lastIndexOf('/') + 1);
}

/** A schema, or the one it refers to. */
export function resolveSchema(schema: Schema, { components }: ApiDocument): Schema {
  return schema.$ref === undefined ? schema : components.schemas[referredName(schema.$ref)]!;
}

/** Whether an operation takes the token of a node instead of an API key. */
export function isForNodes({ security }: ApiOperation): boolean {
  return security?.some((one) => 'nodeToken' in one) === true;
}

// Decides where the fields of each named schema are shown: at the one body that has them, so that a reader of an operation
// sees them in place, or among the shared objects where operations of several groups have them.

/** The body where a schema is shown, as `<operation id>.body` or `<operation id>.<status>`; others are shared. */
export type Homes = ReadonlyMap<string, string>;

interface Use {
  readonly name: string;
  readonly tag: string;
  readonly body: string;
  /** The body is the object itself, not a list of such objects. */
  readonly direct: boolean;
}

/** The homes of all schemas that have one. */
export function homesOf(document: ApiDocument): Homes {
  const uses = operationsOf(document).flatMap(usesOf);
  const homes = new Map<string, string>();
  for (const name of Object.keys(document.components.schemas)) {
    const all = uses.filter((use) => use.name === name);
    const one = all.find(({ direct }) => direct) ?? all[0];
    if (one !== undefined && all.every(({ tag }) => tag === one.tag)) homes.set(name, one.body);
  }
  return homes;
}

function usesOf({ operationId, tags, requestBody, responses }: ApiOperation): readonly Use[] {
  const bodies: readonly (readonly [string, ContentTypes | undefined])[] = [
    ['body', requestBody?.content],
    ...Object.entries(responses).map(([status, { content }]) => [status, content] as const),
  ];
  return bodies.flatMap(([where, content]) =>
    Object.values(content ?? {}).flatMap(({ schema }) => {
      const use = useOf(schema);
      return use === null ? [] : [{ ...use, tag: tags[0] ?? '', body: `${operationId}.${where}` }];
    }),
  );
}

function useOf(schema: Schema): Pick<Use, 'name' | 'direct'> | null {
  if (schema.$ref !== undefined) return { name: referredName(schema.$ref), direct: true };
  const inner = schema.items?.$ref;
  return inner === undefined ? null : { name: referredName(inner), direct: false };
}
