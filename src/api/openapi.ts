/** The OpenAPI 3.1 document, generated from the very schemas that validate. */
import swagger from '@fastify/swagger';
import type { FastifyInstance, FastifySchema } from 'fastify';
import { jsonSchemaTransform, jsonSchemaTransformObject } from 'fastify-type-provider-zod';
import { stringify } from 'yaml';
import { z } from 'zod';
import { onlyReads } from './checks.ts';
import { WRITE_QUERY } from './query.ts';
import type { Route } from './route.ts';
import { errorShape } from './shapes.ts';

/** Given (API document, "Versioning"). */
const API_VERSION = '1.0.0';

/** Prepares the document; routes added from now on are in it, and it is served at `/docs/openapi.yaml`. */
export async function documentRoutes(app: FastifyInstance): Promise<void> {
  await app.register(swagger, {
    openapi: {
      openapi: '3.1.0',
      info: { title: 'Edge Management REST API', version: API_VERSION },
      components: {
        securitySchemes: {
          bearer: { type: 'http', scheme: 'bearer' },
          header: { type: 'apiKey', in: 'header', name: 'X-Api-Key' },
        },
      },
      security: [{ bearer: [] }, { header: [] }],
    },
    transform: jsonSchemaTransform,
    transformObject: (parts) => withoutUnused(jsonSchemaTransformObject(parts)),
  });
  let text: string | null = null;
  app.get(
    '/docs/openapi.yaml',
    { config: { open: true }, schema: { hide: true } },
    async (_request, reply) => {
      text ??= stringify(app.swagger(), { aliasDuplicateObjects: false });
      return reply.type('application/yaml; charset=utf-8').send(text);
    },
  );
}

type Document = ReturnType<typeof jsonSchemaTransformObject>;

/** Every named schema comes twice, as input and as output; what nothing refers to is left out, until nothing more is. */
function withoutUnused(document: Document): Document {
  const { components } = document as {
    readonly components?: { readonly schemas?: Readonly<Record<string, unknown>> };
  };
  const named = Object.entries(components?.schemas ?? {});
  const text = JSON.stringify(document);
  const used = named.filter(([name]) => text.includes(`"#/components/schemas/${name}"`));
  const rest = { ...document, components: { ...components, schemas: Object.fromEntries(used) } } as Document;
  return used.length === named.length ? rest : withoutUnused(rest);
}

const STATUSES: Readonly<Record<number, string>> = {
  400: 'malformed or invalid',
  401: 'missing, malformed, revoked or expired key, or inactive owner',
  403: 'read-only key, insufficient role, or not in the plan',
  404: 'not found, or not visible',
  409: 'conflicts with the state of things',
  412: 'the object is not what If-Match says',
  413: 'the body is too large',
  415: 'the content type is not supported',
  429: 'too many requests',
  503: 'the store is not available',
  504: 'stored, but not published in time',
};

/** What a route looks like in the document. */
export function schemaOf(route: Route): FastifySchema & { readonly hide?: boolean } {
  const names = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name!);
  const query = { ...(onlyReads(route.method) ? {} : WRITE_QUERY.shape), ...route.query?.shape };
  return {
    operationId: operationId(route),
    summary: route.summary,
    tags: [tagOf(route.path)],
    ...(names.length === 0 ? {} : { params: z.object(Object.fromEntries(names.map(parameter))) }),
    ...(Object.keys(query).length === 0 ? {} : { querystring: z.object(query) }),
    ...documentBody(route),
    response: { 200: documentAnswer(route), ...documentErrors(route) },
  } as FastifySchema;
}

function parameter(name: string): [string, z.ZodType] {
  return [name, name === 'domain' ? z.string().describe('the name of the domain') : z.int().min(1)];
}

function documentBody({ body }: Route): { readonly body?: z.ZodType; readonly consumes?: readonly string[] } {
  if (body === undefined) return {};
  if (body.kind === 'text') return { body: z.string(), consumes: body.types };
  return { body: body.schema };
}

function documentAnswer({ produces, response, summary }: Route): unknown {
  if (produces === undefined) return response;
  return { description: summary, content: { [produces]: { schema: response } } };
}

function documentErrors(route: Route): Readonly<Record<number, unknown>> {
  const write = !onlyReads(route.method);
  const statuses = new Set([
    ...[400, 401, 404, 429, 503],
    ...(write ? [403, 412, 413, 415, 504] : route.permission === null || route.hides === true ? [] : [403]),
    ...(write && route.path.includes('{domain}') && route.whileDisabled !== true ? [409] : []),
    ...(route.statuses ?? []),
  ]);
  return Object.fromEntries(
    [...statuses].map((status) => [
      status,
      {
        description: STATUSES[status] ?? 'refused',
        content: { 'application/json': { schema: errorShape } },
      },
    ]),
  );
}

/** `put /domains/{domain}/members/{userId}` → `putDomainsMembersByUserId`. */
function operationId({ method, path }: Route): string {
  const words = path
    .split('/')
    .filter((part) => part !== '' && part !== '{domain}')
    .flatMap((part) => (part.startsWith('{') ? ['by', part.slice(1, -1)] : part.split(/[-_]/)));
  const one =
    path.startsWith('/domains/{domain}') && words[0] === 'domains' ? ['domain', ...words.slice(1)] : words;
  return method.toLowerCase() + one.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

function tagOf(path: string): string {
  const [first = '', , third = ''] = path.split('/').slice(1);
  return third === '' || /^[a-z-]+$/.test(third) === false ? first : third;
}
