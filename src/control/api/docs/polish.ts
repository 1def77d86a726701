/**
 * Rewrites the generated document for readers: names without suffixes, each refusal once, types without artefacts of the
 * generator, groups in order, and an example for every body that has one. In: the document of the plugins. Out: the
 * served document.
 */
import { assert } from '../../../base/diagnostics/assert.ts';
import {
  isJsonObject,
  type Json,
  type JsonObject,
  mapObjects,
  objectAt,
} from '../../../base/text/json-object.ts';
import { MAX_BODY_OCTETS, PUBLISH_WAIT_MS } from '../operation/limits.ts';
import { EXAMPLES, TAG_GROUPS } from './intro.ts';

/** The field of a generated operation that lists its refusals; `polishOperation` replaces it with responses. */
export const REFUSED = 'x-refused';

/** The start of a reference to a schema. */
const SCHEMA_PATH = '#/components/schemas/';

/** Applies all steps, in order. Each returns a new document. */
export function polish(document: JsonObject): JsonObject {
  const steps = [withOperations, withResponses, withPlainTypes, withoutUnused, withPlainNames, withTags];
  return steps.reduce((polished, step) => step(polished), document);
}

/** Changes every operation. */
function withOperations(document: JsonObject): JsonObject {
  const paths = Object.entries(objectAt(document, 'paths')).map(([path, methods]) => {
    const operations = Object.entries(isJsonObject(methods) ? methods : {});
    return [path, Object.fromEntries(operations.map(([method, one]) => [method, polishOperation(one)]))];
  });
  return { ...document, paths: Object.fromEntries(paths) };
}

/** Adds refusals and the example to an operation; the summary describes the successful answers. */
function polishOperation(operation: Json): Json {
  if (!isJsonObject(operation)) return operation;
  const { [REFUSED]: refused = [], ...rest } = operation;
  const description = rest['summary'] ?? '';
  const answers = Object.entries(objectAt(rest, 'responses')).map(([status, response]) => [
    status,
    { ...(isJsonObject(response) ? response : {}), description },
  ]);
  const refusals = (refused as readonly number[]).map((status) => {
    const known = REFUSALS[status];
    assert(known !== undefined, `the reference does not describe status ${status}`);
    return [status, { $ref: `#/components/responses/${known.name}` }];
  });
  const example = EXAMPLES[String(rest['operationId'])];
  return {
    ...rest,
    ...(example === undefined ? {} : { requestBody: withExample(rest, example) }),
    responses: Object.fromEntries([...answers, ...refusals]),
  };
}

/** The request body of an operation with an example for each content type. */
function withExample(operation: JsonObject, example: Json): JsonObject {
  const body = objectAt(operation, 'requestBody');
  const content = Object.entries(objectAt(body, 'content')).map(([type, media]) => [
    type,
    { ...(isJsonObject(media) ? media : {}), example },
  ]);
  return { ...body, content: Object.fromEntries(content) };
}

/** Adds the schema and the responses of refusals to the components. */
function withResponses(document: JsonObject): JsonObject {
  const components = objectAt(document, 'components');
  const schemas = { ...objectAt(components, 'schemas'), Error: ERROR_SCHEMA };
  return { ...document, components: { ...components, schemas, responses: refusalResponses() } };
}

/** Simplifies every schema: no bounds that mean nothing, and short nullable types. */
function withPlainTypes(document: JsonObject): JsonObject {
  return mapObjects(document, (object) => nullableType(withoutSafeBounds(object))) as JsonObject;
}

/** Removes bounds at the safe integers: zod adds them to every integer, and they limit nothing. */
function withoutSafeBounds({ minimum, maximum, ...rest }: JsonObject): JsonObject {
  return {
    ...rest,
    ...(minimum === undefined || minimum === Number.MIN_SAFE_INTEGER ? {} : { minimum }),
    ...(maximum === undefined || maximum === Number.MAX_SAFE_INTEGER ? {} : { maximum }),
  };
}

/** `anyOf: [{ type: 'x' }, { type: 'null' }]` → `type: ['x', 'null']`. */
function nullableType({ anyOf, ...rest }: JsonObject): JsonObject {
  if (anyOf === undefined) return rest;
  const [first, second, ...more] = Array.isArray(anyOf) ? (anyOf as readonly Json[]) : [];
  const simple = isJsonObject(first) && typeof first['type'] === 'string' && first['enum'] === undefined;
  if (!simple || !isJsonObject(second) || second['type'] !== 'null' || more.length > 0)
    return { anyOf, ...rest };
  return { ...first, type: [first['type']!, 'null'], ...rest };
}

/**
 * Removes named schemas without a reference, again and again until all are referred to: the generator writes each schema
 * twice, as input and as output.
 */
function withoutUnused(document: JsonObject): JsonObject {
  const components = objectAt(document, 'components');
  const named = Object.entries(objectAt(components, 'schemas'));
  const text = JSON.stringify(document);
  const used = named.filter(([name]) => text.includes(`"${SCHEMA_PATH}${name}"`));
  const rest = { ...document, components: { ...components, schemas: Object.fromEntries(used) } };
  return used.length === named.length ? rest : withoutUnused(rest);
}

/**
 * Renames `XInput` to `X` where no other schema has that name, and sorts schemas by name: the generator lists them in
 * the order in which modules were loaded, which differs between programs.
 */
function withPlainNames(document: JsonObject): JsonObject {
  const components = objectAt(document, 'components');
  const schemas = objectAt(components, 'schemas');
  const plain = (name: string): string => {
    const short = name.endsWith('Input') ? name.slice(0, -'Input'.length) : name;
    return Object.hasOwn(schemas, short) ? name : short;
  };
  const renamed = Object.fromEntries(
    Object.entries(schemas)
      .map(([name, schema]): [string, Json] => [plain(name), schema])
      .sort(([left], [right]) => (left < right ? -1 : 1)),
  );
  return mapObjects({ ...document, components: { ...components, schemas: renamed } }, (object) => {
    const { $ref } = object;
    if (typeof $ref !== 'string' || !$ref.startsWith(SCHEMA_PATH)) return object;
    return { ...object, $ref: SCHEMA_PATH + plain($ref.slice(SCHEMA_PATH.length)) };
  }) as JsonObject;
}

/** Adds the used tags with their descriptions and groups. The reference page lists the tags of `x-tagGroups`. */
function withTags(document: JsonObject): JsonObject {
  const carried = new Set(
    Object.values(objectAt(document, 'paths')).flatMap((methods) =>
      Object.values(methods as JsonObject).flatMap((one) => (one as JsonObject)['tags'] as readonly string[]),
    ),
  );
  const known = TAG_GROUPS.map(({ name, tags }) => ({
    name,
    tags: tags.filter((tag) => carried.has(tag.name)),
  }));
  const listed = new Set(known.flatMap(({ tags }) => tags.map(({ name }) => name)));
  const others = [...carried].filter((name) => !listed.has(name)).map((name) => ({ name }));
  const groups = [...known, { name: 'More', tags: others }].filter(({ tags }) => tags.length > 0);
  return {
    ...document,
    tags: groups.flatMap(({ tags }) => tags.map((tag) => ({ ...tag }))),
    'x-tagGroups': groups.map(({ name, tags }) => ({ name, tags: tags.map((tag) => tag.name) })),
  };
}

// Describes the refusals in the document: one response object for each status, which every operation refers to.

/** The description of one status. */
interface RefusalDescription {
  /** The name in `components.responses`. */
  readonly name: string;
  readonly description: string;
  /** A message of the API with this status. */
  readonly example: string;
  readonly headers?: JsonObject;
}

/** The description of every status that an operation can refuse with. */
export const REFUSALS: Readonly<Record<number, RefusalDescription>> = {
  400: {
    name: 'BadRequest',
    description: 'malformed or invalid; the sentence names the field and what is wrong with it',
    example: 'limit: must be a whole number, found `ten`',
  },
  401: {
    name: 'Unauthorized',
    description: 'missing, malformed, revoked or expired key, or inactive owner',
    example: 'invalid API key',
    headers: {
      'WWW-Authenticate': {
        description: '`Bearer` where no key was sent, `Bearer error="invalid_token"` where it opens nothing',
        required: true,
        schema: { type: 'string' },
      },
    },
  },
  403: {
    name: 'Forbidden',
    description: 'read-only key, insufficient role, or not in the plan',
    example: 'read-only API key',
  },
  404: { name: 'NotFound', description: 'not found, or not visible', example: 'not found' },
  409: {
    name: 'Conflict',
    description: 'conflicts with the state of things',
    example: 'domain is disabled',
  },
  412: {
    name: 'PreconditionFailed',
    description: 'the object is not what `If-Match` says',
    example: 'the object is not what `If-Match` says',
  },
  413: {
    name: 'ContentTooLarge',
    description: 'the body is too large',
    example: `the body must be at most ${MAX_BODY_OCTETS} octets`,
  },
  415: {
    name: 'UnsupportedMediaType',
    description: 'the content type is not supported',
    example: 'the content type must be `application/json`',
  },
  429: {
    name: 'TooManyRequests',
    description: 'too many requests; nothing was done',
    example: 'rate limit exceeded',
    headers: {
      'Retry-After': {
        description:
          'seconds until a request is let through again; absent: a quota is used up, which `quota` names',
        required: false,
        schema: { type: 'integer', minimum: 1 },
      },
    },
  },
  503: {
    name: 'ServiceUnavailable',
    description: 'the store is not available; the sentence says whether anything was changed',
    example: 'the store is not available at the moment; nothing was changed',
  },
  504: {
    name: 'NotPublishedInTime',
    description: 'stored, but not published in time',
    example: `the change is stored, but no revision that covers it was out within ${PUBLISH_WAIT_MS / 1_000} s`,
  },
};

/** The schema of the body of every refusal. */
const ERROR_SCHEMA: JsonObject = {
  type: 'object',
  properties: {
    error: { type: 'string', description: 'for people: what is wrong, where, and what helps' },
    quota: { type: 'string', description: 'the quota that is used up, of a 429 for it alone' },
  },
  required: ['error'],
  additionalProperties: false,
};

/** The value of `components.responses`. */
function refusalResponses(): JsonObject {
  const responses = Object.values(REFUSALS).map(({ name, description, example, headers }) => {
    const json = { schema: { $ref: '#/components/schemas/Error' }, example: { error: example } };
    const content = { 'application/json': json };
    return [name, { description, ...(headers === undefined ? {} : { headers }), content }];
  });
  return Object.fromEntries(responses);
}
