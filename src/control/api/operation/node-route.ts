/**
 * The type of routes for nodes, which `control/api/routes.ts` lists too. A node authenticates with a node token instead of an API
 * key, so the checks of `checks.ts` do not apply: an invalid token is 401 at every path, then comes 405, then 400.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { describeDiagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { readIssue } from '../../../rules/model/report.ts';
import { nodeOf, type ShownNode } from '../../publishing/nodes.ts';
import { badRequest, unauthorized } from './refusal.ts';
import type { ApiRoute, Method, NodeRouteServices } from './route.ts';

/** One operation without its method and path. */
export interface NodeOperation<Query = unknown, Body = unknown> {
  /** One line for the OpenAPI document. */
  readonly summary: string;
  readonly query?: z.ZodType<Query>;
  /** The schema of the JSON body; absent: the request has no body. */
  readonly body?: z.ZodType<Body>;
  /** Describes a body of octets; absent: the body is JSON, or the request has no body. */
  readonly octets?: string;
  /** The content type of those octets. Default: `OCTETS_TYPE`. */
  readonly consumes?: string;
  /** Request headers, for the OpenAPI document only. */
  readonly headers?: z.ZodObject;
  /** The body of the 200; for another content type see `produces`. */
  readonly response: z.ZodType;
  /** The content type of the 200 where it is not JSON. */
  readonly produces?: string;
  /** Statuses of this operation besides those of every operation for nodes, for the OpenAPI document. */
  readonly statuses?: readonly number[];
  /** Returns the body, or the reply where the handler has sent it. */
  serve(services: NodeRouteServices, exchange: NodeExchange<Query, Body>): Promise<unknown>;
}

/** The content type of a body of octets. */
export const OCTETS_TYPE = 'application/octet-stream';

/** A body of octets, not inflated. */
export interface SentOctets {
  readonly octets: Uint8Array;
  readonly isGzip: boolean;
}

/** A node's request as its handler sees it. */
export interface NodeExchange<Query, Body> {
  /** The node that the token identifies. */
  readonly node: ShownNode;
  /** Percent-decoded segments by name. */
  readonly params: Readonly<Record<string, string>>;
  /** The output of the operation's schemas; `undefined` where it has none. */
  readonly query: Query;
  readonly body: Body;
  /** The body of an operation with `octets`; `null`: of any other. */
  readonly octets: SentOctets | null;
  /** For headers, conditions and streams. */
  readonly request: FastifyRequest;
  readonly reply: FastifyReply;
}

/** An operation with its method and path. */
export interface NodeRoute extends NodeOperation {
  readonly method: Method;
  readonly path: string;
  /** Marks the route as one for nodes, see `isNodeRoute`. */
  readonly permission: 'node';
}

/** One line of `control/api/routes.ts`. */
export type AnyRoute = ApiRoute | NodeRoute;

/** Whether a route is for nodes. */
export function isNodeRoute(route: AnyRoute): route is NodeRoute {
  return route.permission === 'node';
}

/** Types the handler by its query and body; the table has all operations without these types. */
export function nodeOperation<Query = undefined, Body = undefined>(
  parts: NodeOperation<Query, Body>,
): NodeOperation {
  return parts as object as NodeOperation;
}

/** Reads a query or a body by its schema. @throws Refusal 400 that lists the mistakes */
export function readSent<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const sentences = result.error.issues
    .slice(0, 5)
    .flatMap((issue) => readIssue(issue, value, {}))
    .map(({ path, problem: { code, message, found } }) =>
      describeDiagnostic({
        code,
        severity: 'error',
        path,
        message,
        ...(typeof found === 'string' ? { found } : {}),
      }),
    );
  throw badRequest(sentences.join('; '));
}

/** Milliseconds between two writes of a node's time of last contact, so that polls do not write a row each. */
const TOUCH_MS = 20_000;

/**
 * Creates the authentication of nodes, which returns the token's node and stores its last contact at most every
 * `TOUCH_MS`. @throws Refusal 401
 */
export function createIdentify({
  store,
  log,
  clock,
}: NodeRouteServices): (headers: IncomingHttpHeaders) => Promise<ShownNode> {
  const seen = new Map<number, number>();
  return async (headers) => {
    const token = /^Bearer +([^ ]+) *$/i.exec(headers.authorization ?? '')?.[1] ?? '';
    const now = clock();
    const node = await nodeOf(store.latest, { token, now });
    if (node === null) throw unauthorized('invalid node token', token !== '');
    if (now - (seen.get(node.id) ?? 0) >= TOUCH_MS) {
      seen.set(node.id, now);
      store
        .write((tx) => tx.nodes.touch(node.id, now))
        .catch((error: unknown) =>
          log.warn({ err: error, node: node.name }, 'cannot note that a node was seen'),
        );
    }
    return node;
  };
}
