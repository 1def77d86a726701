/**
 * Files that the server answers without a key: the API reference and the page. In: texts or octets that do not change while the
 * server runs. Out: routes for GET, HEAD and OPTIONS, with entity tags and gzip.
 */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { gzipped, isWorthCompressing, namesTag, tagOf, takesGzip } from './answer-fields.ts';
import { allowHeader } from './checks.ts';
import { Refusal } from './refusal.ts';

/** A response that does not change while the server runs. */
export interface OpenFile {
  readonly text: string | Uint8Array;
  readonly tag: string;
  readonly type: string;
  readonly headers: Readonly<Record<string, string>>;
  /** The text or the octets in gzip; compressed at the first call. */
  readonly gzip: () => Promise<Buffer>;
}

/** `Cache-Control` of files under a stable name: clients revalidate each time (RFC 9111 §5.2.2.4), and get 304. */
export const FRESH = 'no-cache';
/** `Cache-Control` of files with a digest in the name: another version has another name. */
export const FOREVER = 'public, max-age=31536000, immutable';

/** A response of this content, with the entity tag of its content. */
export function openFile(text: OpenFile['text'], type: string, headers: OpenFile['headers']): OpenFile {
  return {
    text,
    type,
    tag: tagOf(text),
    headers: { ...headers, vary: 'accept-encoding', 'x-content-type-options': 'nosniff' },
    gzip: once(() => gzipped(text)),
  };
}

/** A function that makes its value at the first call and returns it at every call. */
export function once<T>(make: () => T): () => T {
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
export function addOpen(app: FastifyInstance, url: string, answer: Answering): void {
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
export async function sendFile(
  { text, tag, type, headers, gzip }: OpenFile,
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
