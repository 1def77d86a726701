/**
 * `/docs/`: the reference page, the page of codes, their script, the OpenAPI document as YAML and as JSON, and the JSON Schemas of the
 * files. No key is needed; only GET and HEAD are answered.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { allowHeader } from '../../operation/checks.ts';
import { namesTag, tagOf } from '../../operation/etag.ts';
import { Refusal } from '../../operation/refusal.ts';
import { codesPage } from '../../reference/codes-page.ts';
import { SCRIPT } from '../../reference/script.ts';
import { PAGE_POLICY, SCRIPT_FILE } from '../../reference/shell.ts';
import { fileSchema, SCHEMA_FILES, SCHEMA_NAMES, type SchemaName } from '../../simulator/file-schemas.ts';
import { gzipped, isWorthCompressing, takesGzip } from '../compress.ts';
import type { Documents } from '../openapi.ts';
import { openDocuments } from './documents.ts';

/** A response that does not change while the server runs. */
interface Fixed {
  readonly text: string;
  readonly tag: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text in gzip; compressed at the first call. */
  readonly gzip: () => Promise<Buffer>;
}

/** `Cache-Control` of files under a stable name: clients revalidate each time (RFC 9111 §5.2.2.4), and get 304. */
const FRESH = 'no-cache';
/** `Cache-Control` of files with a digest in the name: another version has another name. */
const FOREVER = 'public, max-age=31536000, immutable';

/** Adds the routes to the server. The document is read at its first request; a failed read is tried again. */
export async function addReference(app: FastifyInstance): Promise<void> {
  let documents: Promise<Readonly<Record<keyof Documents, Fixed>>> | null = null;
  const document = async (kind: keyof Documents): Promise<Fixed> => {
    documents ??= openDocuments().then(fixedDocuments);
    try {
      return (await documents)[kind];
    } catch (error) {
      documents = null;
      throw error;
    }
  };
  const files: Readonly<Record<string, () => Fixed | Promise<Fixed>>> = {
    '/docs/': () => document('html'),
    '/docs/codes': once(() => page(codesPage())),
    '/docs/openapi.yaml': () => document('yaml'),
    '/docs/openapi.json': () => document('json'),
    [`/docs/${SCRIPT_FILE}`]: once(() =>
      fixed(SCRIPT, 'text/javascript; charset=utf-8', { 'cache-control': FOREVER }),
    ),
    ...Object.fromEntries(
      SCHEMA_NAMES.map((name) => [`/docs/${SCHEMA_FILES[name]}`, once(() => schemaFile(name))]),
    ),
  };
  for (const [path, file] of Object.entries(files)) {
    addOpen(app, path, async (request, reply) => sendFixed(await file(), { request, reply }));
  }
  addOpen(app, '/docs', (_request, reply) => reply.redirect('/docs/', 308));
}

/** The responses for the forms of the document. */
function fixedDocuments({ yaml, json, html }: Documents): Readonly<Record<keyof Documents, Fixed>> {
  const headers = { 'cache-control': FRESH };
  return {
    yaml: fixed(yaml, 'application/yaml; charset=utf-8', headers),
    json: fixed(json, 'application/json; charset=utf-8', headers),
    html: page(html),
  };
}

/** A page, with its policy. */
function page(text: string): Fixed {
  const policy = { 'content-security-policy': PAGE_POLICY, 'referrer-policy': 'no-referrer' };
  return fixed(text, 'text/html; charset=utf-8', { ...policy, 'cache-control': FRESH });
}

/** A response of this text, with the entity tag of its content. */
function fixed(text: string, type: string, headers: Fixed['headers']): Fixed {
  return {
    text,
    type,
    tag: tagOf(text),
    headers: { ...headers, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' },
    gzip: once(() => gzipped(text)),
  };
}

/** The JSON Schema of a file format, with CORS for every origin, since editors in a browser fetch it. */
function schemaFile(name: SchemaName): Fixed {
  const headers = { 'cache-control': FRESH, 'access-control-allow-origin': '*' };
  return fixed(fileSchema(name), 'application/schema+json; charset=utf-8', headers);
}

/** A function that makes its value at the first call and returns it at every call. */
function once<T>(make: () => T): () => T {
  let made: T | null = null;
  return () => {
    made ??= make();
    return made;
  };
}

/** The handler of a GET. */
type Answering = (request: FastifyRequest, reply: FastifyReply) => FastifyReply | Promise<FastifyReply>;

/**
 * Adds a route without authentication: GET and HEAD, OPTIONS with `Allow`, and a 405 for other methods before their
 * body is read.
 */
function addOpen(app: FastifyInstance, url: string, answer: Answering): void {
  const common = { url, config: { open: true }, schema: { hide: true } };
  const allow = allowHeader(['GET']);
  app.route({ ...common, method: 'GET', handler: async (request, reply) => answer(request, reply) });
  app.route({
    ...common,
    method: 'OPTIONS',
    handler: async (_request, reply) => reply.code(204).header('allow', allow).send(),
  });
  const refuse = async (): Promise<never> => {
    throw new Refusal(405, `this path takes ${allow}`, { allow });
  };
  const others = app.supportedMethods.filter((method) => !['GET', 'HEAD', 'OPTIONS'].includes(method));
  app.route({ ...common, method: others, onRequest: refuse, handler: refuse });
}

/** Sends a response, in gzip where the client accepts it, or a 304 where `If-None-Match` lists its tag. */
async function sendFixed(
  { text, tag, type, headers, gzip }: Fixed,
  { request, reply }: { readonly request: FastifyRequest; readonly reply: FastifyReply },
): Promise<FastifyReply> {
  reply.headers({ ...headers, etag: tag });
  const known = request.headers['if-none-match'];
  if (known !== undefined && namesTag(known, tag)) return reply.code(304).send();
  reply.type(type);
  if (!isWorthCompressing(text) || !takesGzip(request.headers['accept-encoding'])) return reply.send(text);
  // The octets differ, the meaning does not (RFC 9110 §8.8.1), as for every other answer.
  reply.headers({ etag: `W/${tag}`, 'content-encoding': 'gzip' });
  return reply.send(await gzip());
}
