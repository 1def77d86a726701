/** Generates the OpenAPI 3.1 document from the schemas that validate requests. */
import swagger from '@fastify/swagger';
import Fastify, { type FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { stringify } from 'yaml';
import { z } from 'zod';
import type { JsonObject } from '../../base/text/json-object.ts';
import { INTRODUCTION, NODE_TAG, operationId, tagOf } from './docs/intro.ts';
import { polish, REFUSED } from './docs/polish.ts';
import { isRead, onlyReads } from './operation/checks.ts';
import { type AnyRoute, isNodeRoute, type NodeRoute, OCTETS_TYPE } from './operation/node-route.ts';
import { urlOf, WRITE_QUERY } from './operation/read-request.ts';
import type { ApiRoute } from './operation/route.ts';

/** The version of the API. Given (API document, "Versioning"). */
const API_VERSION = '1.0.0';

/** The document in the type of its plugin. */
type Swagger = ReturnType<typeof jsonSchemaTransformObject>;

/** The document in its two notations. */
export interface Documents {
  readonly yaml: string;
  readonly json: string;
}

/** Writes the document of these routes: half a second of work. */
export async function documentRoutes(routes: readonly AnyRoute[]): Promise<Documents> {
  const app = Fastify();
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: {
        title: 'Edge Management REST API',
        version: API_VERSION,
        description: INTRODUCTION,
        license: { name: 'Apache-2.0', identifier: 'Apache-2.0' } as { name: string },
      },
      servers: [{ url: '/', description: 'the server this document comes from' }],
      components: {
        securitySchemes: {
          bearer: {
            type: 'http',
            scheme: 'bearer',
            description: 'an API key as `Authorization: Bearer svc_…`',
          },
          header: { type: 'apiKey', in: 'header', name: 'X-Api-Key', description: 'the same key, as it is' },
          nodeToken: { type: 'http', scheme: 'bearer', description: 'the token of a node; no API key' },
        },
      },
      security: [{ bearer: [] }, { header: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (parts) => polish(jsonSchemaTransformObject(parts) as JsonObject) as unknown as Swagger,
  });
  app.after(() => {
    for (const route of routes) app.route(documented(route));
  });
  await app.ready();
  const document = app.swagger();
  await app.close();
  return {
    yaml: stringify(document, { aliasDuplicateObjects: false }),
    json: JSON.stringify(document),
  };
}

/** A route of a server that never listens: only its schema is used. */
function documented(route: AnyRoute) {
  return {
    ...urlOf(route),
    schema: schemaOf(route),
    validatorCompiler: () => () => true,
    serializerCompiler: () => (value: unknown) => JSON.stringify(value),
    handler: async () => undefined,
  };
}

/** The operation of a route in the document. */
function schemaOf(route: AnyRoute): FastifySchema {
  return isNodeRoute(route) ? schemaForNodes(route) : schemaForKeys(route);
}

/** The parts that every operation has: id, summary, and the parameters of its path. */
function commonSchema({ method, path, summary }: AnyRoute) {
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const params = z.object(Object.fromEntries(names.map(parameter)));
  return { operationId: operationId(method, path), summary, ...(names.length === 0 ? {} : { params }) };
}

/** The operation of a route for nodes. */
function schemaForNodes(route: NodeRoute): FastifySchema {
  const { query, body, octets, headers, statuses = [] } = route;
  const hasBody = body !== undefined || octets !== undefined;
  const refused = [400, 401, ...statuses, ...(hasBody ? [413, 415] : []), 503];
  return {
    ...commonSchema(route),
    description: 'Needs the token of a node, not an API key.',
    tags: [NODE_TAG],
    security: [{ nodeToken: [] }],
    ...(query === undefined ? {} : { querystring: query }),
    ...(headers === undefined ? {} : { headers }),
    ...documentNodeBody(route),
    response: { 200: documentAnswer(route) },
    [REFUSED]: [...refused].sort((left, right) => left - right),
  } as FastifySchema;
}

/** The request body of an operation for nodes, where it has one. */
function documentNodeBody({ body, octets, consumes = OCTETS_TYPE }: NodeRoute): {
  readonly body?: z.ZodType;
  readonly consumes?: readonly string[];
} {
  if (octets !== undefined) return { body: z.string().describe(octets), consumes: [consumes] };
  return body === undefined ? {} : { body };
}

/** The operation of a route for customers. */
function schemaForKeys(route: ApiRoute): FastifySchema {
  const { method, path } = route;
  const query = { ...(isRead(route) ? {} : WRITE_QUERY.shape), ...route.query?.shape };
  return {
    ...commonSchema(route),
    description: describe(route),
    tags: [tagOf(path)],
    ...(Object.keys(query).length === 0 ? {} : { querystring: z.object(query) }),
    ...documentHeaders(method),
    ...documentBody(route),
    response: { [route.status ?? 200]: documentAnswer(route) },
    [REFUSED]: refusedWith(route),
  } as FastifySchema;
}

/** The description of an operation: the permission it needs, and the checks besides. */
function describe({ permission, hides, gate, whileDisabled }: ApiRoute): string {
  const sentences = [
    permission === null ? 'Any key may.' : `Needs the permission \`${permission}\` on the domain.`,
    ...(hides === true ? ['A role without it is answered 404.'] : []),
    ...(gate === undefined ? [] : ["The domain's subscription must allow it."]),
    ...(whileDisabled === true ? ['Also on a disabled domain.'] : []),
  ];
  return sentences.join(' ');
}

/** Parameters of paths that are no numeric id. */
const PARAMETERS: Readonly<Record<string, z.ZodType>> = {
  domain: z.string().describe('the name of the domain').meta({ example: 'example.com' }),
  decisionId: z.string().describe('the id of the decision, a UUID'),
  listName: z.string().describe('the name of the list, without `@`').meta({ example: 'scanners' }),
  digest: z.string().describe('the SHA-256 of the sealed plan, 64 lower-case hex digits'),
};

/** The name and schema of a parameter in a path. */
function parameter(name: string): [string, z.ZodType] {
  return [name, PARAMETERS[name] ?? z.int().min(1)];
}

/** The schema of a header that carries an entity tag. */
const tag = (what: string): z.ZodType => z.string().optional().describe(what);
const READ_HEADERS = z.object({ 'If-None-Match': tag('an `ETag`; 304 when the answer would be the same') });
const WRITE_HEADERS = z.object({
  'If-Match': tag('the `ETag` a GET answered; 412 when it has changed since'),
});

/** The conditional headers of a method. A POST has none, since the new object has no entity tag yet. */
function documentHeaders(method: string): { readonly headers?: z.ZodType } {
  if (method === 'POST') return {};
  return { headers: onlyReads(method) ? READ_HEADERS : WRITE_HEADERS };
}

/** The request body of an operation, where it has one. */
function documentBody({ body }: ApiRoute): {
  readonly body?: z.ZodType;
  readonly consumes?: readonly string[];
} {
  if (body === undefined) return {};
  if (body.kind === 'text') return { body: z.string(), consumes: body.types };
  if (body.kind === 'large' && body.types !== undefined) return { body: body.schema, consumes: body.types };
  return { body: body.schema };
}

/** The successful answer: a schema for JSON, else its content type with the schema. */
function documentAnswer({ produces, response, summary }: AnyRoute): unknown {
  if (produces === undefined) return response;
  return { description: summary, content: { [produces]: { schema: response } } };
}

/** The statuses that an operation can refuse with, ascending; `polish` adds their descriptions. */
function refusedWith(route: ApiRoute): readonly number[] {
  const write = !isRead(route);
  const statuses = new Set([
    ...[400, 401, 404, 429, 503],
    ...(write
      ? [403, 412, 413, 415, 504]
      : route.asks === true
        ? [403, 413, 415]
        : route.permission === null || route.hides === true
          ? []
          : [403]),
    ...(write && route.path.includes('{domain}') && route.whileDisabled !== true ? [409] : []),
    ...(route.statuses ?? []),
  ]);
  return [...statuses].sort((left, right) => left - right);
}
