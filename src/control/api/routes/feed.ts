/**
 * The operations for nodes, authenticated by a node token in `Authorization: Bearer` instead of an API key:
 *
 * - `GET /nodes/feed` signed manifest pages as server-sent events; `Last-Event-ID` (or `?since=`) resumes after a gap
 * - `GET /nodes/manifest?since=…&wait=…` the same by long-poll, with ETag
 * - `GET /nodes/plans/{digest}` a sealed plan of a domain of the node's groups; never changes
 * - `GET /nodes/lists/{digest}` a sealed list that such a plan names; never changes
 * - `GET /nodes/certificates/{domain}` the certificates of a domain of the node's groups, sealed to the node's key
 * - `GET /nodes/purges/{domain}?since=…` purges of single responses, signed
 * - `GET /nodes/self` name and groups of the node, and the public key that manifests are signed with
 * - `POST /nodes/reports` acks, nacks with reasons, and traffic
 */
import type { OutgoingHttpHeaders } from 'node:http';
import type { FastifyReply } from 'fastify';
import { z } from 'zod';
import { DEFAULT_GROUP, shareGroup } from '../../../base/vocabulary/node-groups.ts';
import {
  BOX_KEY_HEADER,
  DIGEST_HEADER,
  noteBoxKey,
  readBoxKeyHeader,
  sealSet,
} from '../../certificates/make-set.ts';
import { readMasters, sharedClearance } from '../../publishing/clearance.ts';
import type { FeedSink } from '../../publishing/feed.ts';
import { checkReports, fileReports, ReportRefusal, type ShownNode } from '../../publishing/nodes.ts';
import { readPurges, signedGroups } from '../../publishing/pages.ts';
import { findListBlob } from '../../publishing/plan-lists.ts';
import { findBlob } from '../../publishing/revisions.ts';
import type { NodeRow } from '../../store/tables/nodes.ts';
import { TrafficRefusal } from '../../traffic/fault.ts';
import { checkReported, storeReported } from '../../traffic/take-batch.ts';
import {
  feedQuery,
  manifestQuery,
  nodeSelf,
  purgesQuery,
  reportsBody,
  selfQuery,
  signedPage,
  signedPurges,
  since,
} from '../operation/feed-shapes.ts';
import { type NodeExchange, nodeOperation, OCTETS_TYPE, readSent } from '../operation/node-route.ts';
import { badRequest, notFound, Refusal } from '../operation/refusal.ts';
import type { NodeRouteServices } from '../operation/route.ts';

/** Milliseconds between comments on an idle feed, by which both sides detect a dead connection. */
const HEARTBEAT_MS = 15_000;
/** Milliseconds a client has to receive the last event before its socket is destroyed. */
const FAREWELL_MS = 5_000;
/** The content type of server-sent events (WHATWG HTML, "Server-sent events"). */
const STREAM_TYPE = 'text/event-stream; charset=utf-8';
/**
 * The epoch of the position to resume from. A header, since servers of earlier versions refuse unknown query
 * parameters.
 */
const EPOCH_HEADER = 'edgeplan-epoch';
/** `octets`: the node takes small plans and lists ahead of the page that names them, as events of type `octets`. */
const PUSH_HEADER = 'edgeplan-push';

/**
 * `GET /nodes/feed`: an event stream of manifest pages for the node's groups, from the position of `Last-Event-ID` on.
 */
export const follow = nodeOperation({
  summary: 'Follow the manifest',
  query: feedQuery,
  headers: z.object({
    'Last-Event-ID': since.optional().describe('the last page that came, before `since`'),
    [EPOCH_HEADER]: since.optional().describe('the epoch that position is of'),
    [PUSH_HEADER]: z
      .string()
      .optional()
      .describe(
        '`octets`: small plans and lists come ahead of the page that names them, as events of that name: the digest, a space, Base64',
      ),
  }),
  response: z.string(),
  produces: 'text/event-stream',
  async serve(services, { node, query, request, reply }) {
    const resumed = request.headers['last-event-id'];
    const from = resumed === undefined ? (query.since ?? 0) : readSent(since, resumed);
    if (request.method === 'HEAD')
      return reply.type(STREAM_TYPE).header('cache-control', 'no-store').send('');
    const sentEpoch = request.headers[EPOCH_HEADER];
    const epoch = sentEpoch === undefined ? null : readSent(since, sentEpoch);
    const takesOctets = request.headers[PUSH_HEADER] === 'octets';
    return openStream(services, { node, from, epoch, takesOctets, reply });
  },
});

/** The headers of conditional reads. */
const IF_NONE_MATCH = z.object({
  'If-None-Match': z.string().optional().describe('an `ETag`; 304 when the answer would be the same'),
});

/**
 * `GET /nodes/manifest`: the same pages by long-poll. 304 where `If-None-Match` matches and nothing changed within
 * `wait`.
 */
export const manifest = nodeOperation({
  summary: 'Wait for a page of the manifest',
  query: manifestQuery,
  headers: IF_NONE_MATCH,
  response: signedPage,
  async serve({ feed, store }, { node, query: { since: from, wait }, request, reply }) {
    let groups = node.node_groups;
    let page = await feed.page(from, groups);
    if (page.manifest.through === from && wait > 0) {
      const gone = new AbortController();
      reply.raw.on('close', () => gone.abort());
      await feed.changed(from, { timeoutMs: wait * 1_000, signal: gone.signal });
      // The node's groups may have changed since the last page.
      groups = (await store.latest.nodes.get(node.id))?.node_groups ?? groups;
      page = await feed.page(from, groups);
    }
    const tag = `"${page.manifest.through}${groups === DEFAULT_GROUP ? '' : `/${groups}`}"`;
    reply.header('etag', tag).header('cache-control', 'no-cache');
    if (request.headers['if-none-match'] !== tag || page.manifest.entries.length > 0) return page;
    return reply.code(304).send();
  },
});

/** What operations have in common that answer octets by their digest. */
const OCTETS_OF_DIGEST = {
  headers: IF_NONE_MATCH,
  response: z.string(),
  produces: OCTETS_TYPE,
  statuses: [404],
} as const;

/**
 * `GET /nodes/plans/{digest}`: the sealed octets, cacheable forever, since the digest names them. 404 for a plan of other
 * groups' domains only.
 */
export const plan = nodeOperation({
  summary: 'Fetch a sealed plan',
  ...OCTETS_OF_DIGEST,
  serve: ({ store: { latest }, octets }, call) =>
    sendOctets(call, {
      groupsWith: latest.plans.groupsWith,
      find: (digest) => octets.find(digest, () => findBlob(latest, digest)),
    }),
});

/** `GET /nodes/lists/{digest}`: likewise a sealed list that a stored plan of the node's groups names. */
export const list = nodeOperation({
  summary: 'Fetch a sealed list that a plan names',
  ...OCTETS_OF_DIGEST,
  serve: ({ store: { latest }, octets }, call) =>
    sendOctets(call, {
      groupsWith: latest.plans.groupsWithList,
      find: (digest) => octets.find(digest, () => findListBlob(latest, digest)),
    }),
});

/** Where octets of a digest are found, and which groups may read them. */
interface OctetsSource {
  readonly groupsWith: (digest: string) => Promise<readonly string[]>;
  readonly find: (digest: string) => Promise<Uint8Array | null>;
}

async function sendOctets(
  { node, request, reply, params }: NodeExchange<undefined, undefined>,
  { groupsWith, find }: OctetsSource,
): Promise<unknown> {
  const digest = params['digest'] ?? '';
  const groups = /^[0-9a-f]{64}$/.test(digest) ? await groupsWith(digest) : [];
  const visible = groups.some((set) => shareGroup(set, node.node_groups));
  const bytes = visible ? await find(digest) : null;
  if (bytes === null) throw notFound();
  reply.header('etag', `"${digest}"`).header('cache-control', 'private, max-age=31536000, immutable');
  if (request.headers['if-none-match'] === `"${digest}"`) return reply.code(304).send();
  reply.type(OCTETS_TYPE);
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

/** The key of a node, which its certificates are sealed to. */
const boxKey = z
  .string()
  .describe("the node's X25519 public key, Base64 of 32 octets: certificates are sealed to it");

/** `GET /nodes/certificates/{domain}`: the set that the manifest names, sealed to the key of the node. */
export const certificates = nodeOperation({
  summary: 'Fetch the certificates of a domain, sealed for the node',
  headers: z.object({ [BOX_KEY_HEADER]: boxKey }),
  response: z.string(),
  produces: OCTETS_TYPE,
  statuses: [404],
  async serve({ store, log, secretsKey: ring = null }, { node, request, reply, params }) {
    const key = readBoxKeyHeader(request.headers[BOX_KEY_HEADER]);
    if (key === null) throw badRequest(`\`${BOX_KEY_HEADER}\` must be Base64 of 32 octets`);
    const answer = await sealSet({ store, ring, log }, node, { domain: params['domain'] ?? '', key });
    if (answer.kind === 'none') throw notFound();
    if (answer.kind === 'bad_key') throw badRequest(`\`${BOX_KEY_HEADER}\` is no usable X25519 key`);
    if (answer.kind === 'lost')
      throw new Refusal(503, 'the secrets key of these certificates is not on this server');
    await noteBoxKey({ store, log }, node, key);
    reply.header('cache-control', 'no-store').header(DIGEST_HEADER, answer.digest).type(OCTETS_TYPE);
    return answer.box;
  },
});

/** `GET /nodes/purges/{domain}`: purges of single responses above a position. 404 for a domain of other groups only. */
export const purges = nodeOperation({
  summary: 'Fetch the purges of single responses of a domain',
  query: purgesQuery,
  response: signedPurges,
  statuses: [404],
  async serve({ store, signer }, { node: { node_groups: groups }, params, query, reply }) {
    const domain = params['domain'] ?? '';
    const read = await store.read((tx) => readPurges(tx, { domain, since: query.since, groups }));
    if (read === null) throw notFound();
    reply.header('cache-control', 'no-store');
    return signer.signPurges(read);
  },
});

/** `GET /nodes/self`: lets a node check its token and pin the public key before it follows the feed. */
export const self = nodeOperation({
  summary: 'Learn who the node is and whom it should believe',
  query: selfQuery,
  headers: z.object({ [BOX_KEY_HEADER]: boxKey.optional() }),
  response: nodeSelf,
  async serve({ store, signer, clock, log }, { node, query: { nonce }, request, reply }) {
    const { id, name, node_groups } = node;
    const key = readBoxKeyHeader(request.headers[BOX_KEY_HEADER]);
    if (key !== null) await noteBoxKey({ store, log }, node, key);
    reply.header('cache-control', 'no-store');
    const clearance = sharedClearance(await readMasters(store.latest), clock());
    return signer.signSelf({ id, name, clearance, nonce, ...signedGroups(node_groups) });
  },
});

/** `POST /nodes/reports`: stores acks, nacks and traffic. 400 for counts that cannot be true. */
export const report = nodeOperation({
  summary: 'Say what became of plans, and what came in',
  body: reportsBody,
  response: z.object({ message: z.string() }),
  serve: (services, { node, body }) => takeReports(services, node, body),
});

/** A stream to open. */
interface Stream {
  readonly node: ShownNode;
  /** The position of the last page that the node has; 0: none. */
  readonly from: number;
  /** The epoch of the store that `from` is a position in; `null`: unknown. */
  readonly epoch: number | null;
  /** Whether small plans and lists come ahead of the page that names them. */
  readonly takesOctets: boolean;
  readonly reply: FastifyReply;
}

/** Takes the connection over from Fastify and streams events until either side ends it. */
function openStream(
  { feed, store, log, clock }: NodeRouteServices,
  { node, from, epoch, takesOctets, reply }: Stream,
): FastifyReply {
  reply.hijack();
  const { raw } = reply;
  // The client disconnected during authentication: `close` has been emitted already and will not be again.
  if (raw.destroyed) return reply;
  raw.writeHead(200, {
    ...(reply.getHeaders() as OutgoingHttpHeaders),
    'content-type': STREAM_TYPE,
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
    pushOctets({ data }) {
      if (!takesOctets) return;
      for (const part of ['event: octets\ndata: ', data, '\n\n']) raw.write(part);
    },
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
  const unfollow = feed.subscribe(node, { position: from, epoch }, sink);
  // A disconnected client is no error: it reconnects with its last event id.
  raw.on('error', () => undefined);
  raw.on('close', () => {
    clearInterval(heartbeat);
    unfollow();
  });
  return reply;
}

/** Stores reports. A nack changes no traffic: it is stored for operators and customers, and logged. */
async function takeReports(
  { store, log, clock, onReportRefused }: NodeRouteServices,
  node: NodeRow,
  { reports, ...traffic }: z.infer<typeof reportsBody>,
): Promise<{ readonly message: string }> {
  const now = clock();
  try {
    await checkReports(store.latest, node, reports);
    const checked = await store.read((tx) => checkReported(tx, node, { sent: traffic, now }));
    await store.write(async (tx) => {
      await fileReports(tx, node, { reports, now });
      await storeReported(tx, node, checked);
    });
  } catch (error) {
    if (!(error instanceof ReportRefusal || error instanceof TrafficRefusal)) throw error;
    log.warn({ node: node.name, err: error.message }, 'a report of a node was refused: it cannot be true');
    onReportRefused?.();
    throw badRequest(error.message);
  }
  for (const { domain, revision, outcome, reason } of reports) {
    if (outcome === 'nack') log.warn({ node: node.name, domain, revision, reason }, 'a node refused a plan');
  }
  return { message: `${reports.length} reports filed` };
}
