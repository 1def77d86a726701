/**
 * What nodes ask for, with a node token in `Authorization: Bearer` instead of an API key:
 *
 * - `GET /nodes/feed` signed manifest pages as server-sent events; `Last-Event-ID` (or `?since=`) resumes after a gap
 * - `GET /nodes/manifest?since=…&wait=…` the same by long-poll, with ETag
 * - `GET /nodes/plans/{digest}` a sealed plan; never changes
 * - `GET /nodes/self` who the node is, the public key manifests are signed with, the clearance secret
 * - `POST /nodes/reports` acks, nacks with reasons, and traffic
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { z } from 'zod';
import { describeDiagnostic } from '../../base/diagnostic.ts';
import { readIssue } from '../../model/report.ts';
import { findBlob } from '../../publisher/blob.ts';
import type { Feed, FeedSink } from '../../publisher/feed.ts';
import { nodeOf } from '../../publisher/node-token.ts';
import type { PublisherLog } from '../../publisher/publisher.ts';
import type { NodeRow } from '../../store/rows.ts';
import type { Store } from '../../store/store.ts';
import { Refusal } from '../refusal.ts';
import type { SentBody } from '../run.ts';

export interface FeedServices {
  readonly store: Store;
  readonly feed: Feed;
  /** The signing key's public half, SubjectPublicKeyInfo in base64. */
  readonly publicKey: string;
  /** What clearance cookies are signed with, base64. */
  readonly clearance: string;
  readonly log: PublisherLog;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** Milliseconds between comments on a quiet feed, so that dead connections are noticed on both sides. */
const HEARTBEAT_MS = 15_000;
/** Seconds a long-poll waits at most, and unless told otherwise: below the idle limits of common proxies. */
const MOST_WAIT_SEC = 55;
const DEFAULT_WAIT_SEC = 25;
/** Milliseconds a reader gets to take the last event before its socket is cut. */
const FAREWELL_MS = 5_000;
/** Milliseconds between notes that a node was seen. */
const TOUCH_MS = 20_000;
/** Entries of one report. */
const MOST_REPORTS = 500;

const since = z.coerce.number().int().min(0).max(Number.MAX_SAFE_INTEGER);
const manifestQuery = z.strictObject({
  since: since.default(0),
  wait: z.coerce.number().min(0).max(MOST_WAIT_SEC).default(DEFAULT_WAIT_SEC),
});
const feedQuery = z.strictObject({ since: since.optional() });

const plain = (most: number): z.ZodString =>
  z
    .string()
    .max(most)
    .refine((text) => text.isWellFormed() && !text.includes('\0'), 'must be plain text');
const count = z.int().min(0);
const reportsBody = z.strictObject({
  reports: z
    .array(
      z.strictObject({
        domain: plain(253),
        revision: z.int().min(0),
        outcome: z.enum(['ack', 'nack']),
        reason: plain(1_000).default(''),
      }),
    )
    .max(MOST_REPORTS)
    .default([]),
  usage: z
    .array(
      z.strictObject({
        domain: plain(253),
        minute: count,
        requests: count,
        octets: count,
        gateway_requests: count.default(0),
      }),
    )
    .max(MOST_REPORTS)
    .default([]),
});

/** No API key is asked for here: `identify` asks for the node's token. */
function openTo(summary: string): {
  readonly config: { readonly open: true };
  readonly schema: { readonly summary: string; readonly tags: readonly string[] };
} {
  return { config: { open: true }, schema: { summary, tags: ['nodes'] } };
}

/** Adds the nodes' routes to the API's server; closing the server ends every stream with a reason. */
export function addFeedRoutes(app: FastifyInstance, services: FeedServices): void {
  const identify = createIdentify(services);
  app.addHook('preClose', async () => services.feed.stop());
  const events = openTo('Follow the manifest');
  app.get('/nodes/feed', { ...events, exposeHeadRoute: false }, async (request, reply) => {
    const node = await identify(request);
    const asked = read(feedQuery, request.query).since;
    const resumed = request.headers['last-event-id'];
    const from = resumed === undefined ? (asked ?? 0) : read(since, resumed);
    openStream(services, { node, from, reply });
  });
  const pages = openTo('Wait for a page of the manifest');
  app.get('/nodes/manifest', pages, async (request, reply) => {
    await identify(request);
    return answerManifest(services, request, reply);
  });
  const plans = openTo('Fetch a sealed plan');
  app.get<{ Params: { digest: string } }>('/nodes/plans/:digest', plans, async (request, reply) => {
    await identify(request);
    return answerPlan(services, request, reply);
  });
  const self = openTo('Learn who the node is and whom it should believe');
  app.get('/nodes/self', self, async (request, reply) => {
    const { id, name } = await identify(request);
    const { publicKey, clearance } = services;
    reply.header('cache-control', 'no-store');
    return { id, name, public_key: publicKey, clearance };
  });
  const reports = openTo('Say what became of plans');
  app.post('/nodes/reports', reports, async (request) => {
    const node = await identify(request);
    const sent = request.body as SentBody | null;
    return fileReports(services, node, read(reportsBody, sent?.value ?? {}));
  });
}

function read<T>(schema: z.ZodType<T>, value: unknown): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  const told = result.error.issues
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
  throw new Refusal(400, told.join('; '));
}

/** Answers the node behind a request's token, and notes now and then that it was there. */
function createIdentify({ store, log, clock }: FeedServices): (request: FastifyRequest) => Promise<NodeRow> {
  const seen = new Map<number, number>();
  return async (request) => {
    const token = /^Bearer +([^ ]+) *$/i.exec(request.headers.authorization ?? '')?.[1] ?? '';
    const node = await nodeOf(store.latest, token);
    if (node === null) throw new Refusal(401, 'invalid node token', { 'www-authenticate': 'Bearer' });
    const now = clock();
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

interface Stream {
  readonly node: NodeRow;
  readonly from: number;
  readonly reply: FastifyReply;
}

/** Takes the connection over: from here on it is a stream of events until either side ends it. */
function openStream({ feed, store, log, clock }: FeedServices, { node, from, reply }: Stream): void {
  reply.hijack();
  const { raw } = reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-accel-buffering': 'no',
  });
  raw.write('retry: 1000\n\n');
  const heartbeat = setInterval(() => {
    raw.write(': still here\n\n');
    store
      .write((tx) => tx.nodes.touch(node.id, clock()))
      .catch((error: unknown) =>
        log.warn({ err: error, node: node.name }, 'cannot note that a node was seen'),
      );
  }, HEARTBEAT_MS);
  const sink: FeedSink = {
    push: ({ manifest }, text) => {
      raw.write(`id: ${manifest.through}\nevent: manifest\ndata: ${text}\n\n`);
    },
    backlog: () => raw.writableLength,
    drained: () =>
      new Promise((resolve) => {
        if (!raw.writableNeedDrain || raw.destroyed) return resolve();
        const done = (): void => {
          raw.off('drain', done).off('close', done);
          resolve();
        };
        raw.on('drain', done).on('close', done);
      }),
    end: (reason) => {
      raw.end(`event: end\ndata: ${JSON.stringify({ error: reason })}\n\n`);
      setTimeout(() => raw.destroy(), FAREWELL_MS).unref();
    },
  };
  const unfollow = feed.follow(node.id, from, sink);
  // A reader that went away is no error: it comes back with its last event id.
  raw.on('error', () => undefined);
  raw.on('close', () => {
    clearInterval(heartbeat);
    unfollow();
  });
}

async function answerManifest(
  { feed }: FeedServices,
  request: FastifyRequest,
  reply: FastifyReply,
): Promise<unknown> {
  const { since: from, wait } = read(manifestQuery, request.query);
  let page = await feed.page(from);
  if (page.manifest.through === from && wait > 0) {
    const gone = new AbortController();
    reply.raw.on('close', () => gone.abort());
    await feed.changed(from, { timeoutMs: wait * 1_000, signal: gone.signal });
    page = await feed.page(from);
  }
  const tag = `"${page.manifest.through}"`;
  reply.header('etag', tag).header('cache-control', 'no-cache');
  if (request.headers['if-none-match'] !== tag || page.manifest.entries.length > 0) return page;
  return reply.code(304).send();
}

async function answerPlan(
  { store }: FeedServices,
  request: FastifyRequest<{ Params: { digest: string } }>,
  reply: FastifyReply,
): Promise<unknown> {
  const { digest } = request.params;
  const bytes = /^[0-9a-f]{64}$/.test(digest) ? await findBlob(store.latest, digest) : null;
  if (bytes === null) throw new Refusal(404, 'not found');
  reply.header('etag', `"${digest}"`).header('cache-control', 'private, max-age=31536000, immutable');
  if (request.headers['if-none-match'] === `"${digest}"`) {
    return reply.code(304).send();
  }
  reply.type('application/octet-stream');
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** A nack changes no traffic: it is kept for people, and said in the log. */
async function fileReports(
  { store, log, clock }: FeedServices,
  node: NodeRow,
  { reports, usage }: z.infer<typeof reportsBody>,
): Promise<{ readonly message: string }> {
  const at = clock();
  for (const { domain, revision, outcome, reason } of reports) {
    if (outcome === 'nack') log.warn({ node: node.name, domain, revision, reason }, 'a node refused a plan');
  }
  const ids = new Map<string, number>();
  for (const name of new Set(usage.map(({ domain }) => domain))) {
    const domain = await store.latest.domains.byName(name);
    if (domain !== null) ids.set(name, domain.id);
  }
  const traffic = usage.flatMap(({ domain, ...figures }) => {
    const domain_id = ids.get(domain);
    return domain_id === undefined ? [] : [{ domain_id, ...figures }];
  });
  await store.write(async (tx) => {
    await tx.nodes.report(reports.map((report) => ({ ...report, node_id: node.id, at })));
    if (traffic.length > 0) await tx.usage.add(traffic);
  });
  return { message: `${reports.length} reports filed` };
}
