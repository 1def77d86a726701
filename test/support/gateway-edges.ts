/** Every kind of edge with one edge file that has gateways, each before an application of its own, asked over sockets. */
import { randomBytes } from 'node:crypto';
import { createServer, request as httpRequest, type IncomingMessage, type ServerResponse } from 'node:http';
import { type ClientHttp2Session, connect as connectHttp2 } from 'node:http2';
import { Readable } from 'node:stream';
import type { JsonObject } from '@bufbuild/protobuf';
import { createChallenges } from '../../src/edge/answers/challenge/challenge.ts';
import type { EdgeVerdict } from '../../src/edge/decide/verdict.ts';
import { createEdge as createFetchEdge } from '../../src/edge/middleware/fetch/index.ts';
import { compileEdge } from '../../src/edge/middleware/node/edge-input.ts';
import { createEdge as createNodeEdge } from '../../src/edge/middleware/node/index.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { seal } from '../../src/engine/compiler/index.ts';
import type { RuleSet } from '../../src/rules/model/types.ts';
import { type Answer, ask, type Sent } from './ask.ts';
import { startTlsNode } from './edge-tls.ts';
import { listenLocally } from './embed.ts';
import { askDoor } from './ext-authz.ts';
import { envoyCheck, openDoorRig } from './ext-authz-rig.ts';
import { DOOR_SECRET, openTestDoor, startNginx, startSeenOrigin } from './http-door.ts';
import { openTestSpopDoor, startHaproxy, startPages } from './spop-door.ts';

/** The domain of the edge file, and the host that is asked for. */
export const GATEWAY_HOST = 'shop.localhost';

/** What an application got. */
export interface Reached {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string | readonly string[] | undefined>>;
}

/** What an edge can change of a forwarded exchange; what it cannot is named in `unenforced`. */
export interface EdgeAbilities {
  /** Headers of the request. */
  readonly request: boolean;
  /** Headers of the response. */
  readonly response: boolean;
  /** Path and query. */
  readonly rewrite: boolean;
  /** Answers 2xx of its own; else they are 403. */
  readonly ownSuccess: boolean;
  /** The status of a request with two Authorization headers; a `Request` has them as one. `null`: no client of Node sends them. */
  readonly doubled: 400 | 401 | null;
}

/** An edge before an application that answers 200. */
export interface GatewayEdge extends EdgeAbilities {
  ask(path: string, sent?: Sent): Promise<Answer>;
  /** What reached the application. */
  readonly reached: Reached[];
  /** The request log; `null`: an edge inside an application has none. */
  readonly entries: readonly RequestLogEntry[] | null;
  /** What the edge said of the last request that it decided. */
  unenforced(): readonly string[];
  readonly faults: readonly unknown[];
  close(): Promise<void>;
}

/** The text of the edge file for an application at this port. */
export type FileFor = (originPort: number) => string;

interface Compiled {
  readonly ruleSet: RuleSet;
  readonly bytes: Uint8Array;
}

function compiled(text: string): Compiled {
  const result = compileEdge(Buffer.from(text), 'edge.yaml');
  if (!result.ok) throw new Error(JSON.stringify(result.diagnostics));
  return { ruleSet: result.ruleSet, bytes: seal(result.plan, { revision: 2 }) };
}

const ALL: EdgeAbilities = { request: true, response: true, rewrite: true, ownSuccess: true, doubled: 400 };

/** What each application but that behind Envoy allows to pages of every origin. */
const OPEN_TO_PAGES = {
  'access-control-allow-origin': '*',
  'access-control-allow-credentials': 'true',
  'access-control-expose-headers': 'X-Secret',
};

function lastUnenforced(entries: readonly RequestLogEntry[]): readonly string[] {
  return entries.at(-1)?.unenforced ?? [];
}

/** An application and a plan that sends requests to it. */
async function place(fileFor: FileFor) {
  const origin = await startSeenOrigin(OPEN_TO_PAGES);
  const { ruleSet, bytes } = compiled(fileFor(origin.port));
  const reached = origin.seen as unknown as Reached[];
  return { origin, ruleSet, bytes, reached };
}

type Started = Promise<GatewayEdge>;

/** A node, asked over HTTP/1.1 in clear text. */
export async function nodeEdge(fileFor: FileFor): Started {
  const { node, edge } = await tlsNode(fileFor);
  return { ...edge, ask: (path, sent) => ask(node.httpPort, path, { from: null, ...sent }) };
}

/** A node, asked over HTTP/2. */
export async function http2Edge(fileFor: FileFor): Started {
  const { node, edge } = await tlsNode(fileFor);
  const session = connectHttp2(`https://127.0.0.1:${node.port}`, {
    servername: GATEWAY_HOST,
    rejectUnauthorized: false,
  });
  return {
    ...edge,
    doubled: null,
    ask: (path, sent) => askHttp2(session, path, sent),
    async close() {
      session.destroy();
      await edge.close();
    },
  };
}

async function tlsNode(fileFor: FileFor) {
  const { origin, bytes, reached } = await place(fileFor);
  const secret = randomBytes(32);
  const challenges = createChallenges({ secrets: () => ({ current: secret, previous: [] }), cost: 20 });
  const node = await startTlsNode({ names: [GATEWAY_HOST], originPort: origin.port, challenges });
  const entry = { revision: 2, digest: 'e'.repeat(64), purgeEpoch: 0, read: () => bytes };
  node.node.plans.set(GATEWAY_HOST, entry);
  const { entries, faults } = node;
  const edge: Omit<GatewayEdge, 'ask'> = {
    ...ALL,
    ...{ reached, entries, faults },
    unenforced: () => lastUnenforced(entries),
    async close() {
      await node.stop();
      await origin.close();
    },
  };
  return { node, edge };
}

function askHttp2(
  session: ClientHttp2Session,
  path: string,
  { method = 'GET', headers = {}, body }: Sent = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const pseudo = { ':authority': GATEWAY_HOST, ':path': path, ':method': method, ':scheme': 'https' };
    const stream = session.request({ ...pseudo, ...headers });
    let text = '';
    let head: Record<string, unknown> = {};
    stream.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    stream.on('response', (given) => {
      head = given;
    });
    stream.on('error', reject);
    stream.on('end', () =>
      resolve({ status: Number(head[':status']), headers: head as Answer['headers'], body: text }),
    );
    stream.end(body);
  });
}

/** nginx with `auth_request`, and the HTTP door beside it. */
export async function nginxEdge(fileFor: FileFor): Started {
  const { origin, bytes, reached } = await place(fileFor);
  const door = await openTestDoor({ plans: [bytes] });
  const proxy = await startNginx({ path: door.path, origin: origin.port });
  const { journal, faults } = door;
  return {
    ...{ request: false, response: false, rewrite: true, ownSuccess: true, doubled: 400 },
    ...{ reached, entries: journal, faults },
    ask: (path, sent) => ask(proxy.port, path, { from: null, ...sent }),
    unenforced: () => lastUnenforced(journal),
    async close() {
      await proxy.close();
      await door.close();
      await origin.close();
    },
  };
}

/** HAProxy with the SPOP door. */
export async function haproxyEdge(fileFor: FileFor): Started {
  const { origin, bytes, reached } = await place(fileFor);
  const agent = await openTestSpopDoor({ plans: [bytes] });
  const pages = await startPages(agent.tickets);
  const proxy = await startHaproxy({
    ...{ door: Number(agent.door.address.split(':').at(-1)), pages: pages.port, servers: origin.port },
    patient: true,
  });
  const { journal, faults } = agent;
  return {
    ...{ request: false, response: false, rewrite: true, ownSuccess: true, doubled: 400 },
    ...{ reached, entries: journal, faults },
    ask: (path, sent) => ask(proxy.port, path, { from: null, ...sent }),
    unenforced: () => lastUnenforced(journal),
    async close() {
      await proxy.close();
      await agent.door.stop(0);
      await pages.close();
      await origin.close();
    },
  };
}

/** The proxies that ask the HTTP door and pass its response on, in whose place the test asks. */
type Asking = 'envoy' | 'traefik' | 'caddy';

/** Starts Envoy's HTTP filter, or one of the others: the test does what it does with a response of the door. */
export function forwardAuthEdge(proxy: Asking): (fileFor: FileFor) => Started {
  return (fileFor) => startForwardAuth(proxy, fileFor);
}

async function startForwardAuth(proxy: Asking, fileFor: FileFor): Started {
  const { origin, bytes } = await place(fileFor);
  const door = await openTestDoor({ plans: [bytes] });
  const reached: Reached[] = [];
  const { journal, faults } = door;
  return {
    ...{ request: false, response: false, rewrite: false, ownSuccess: false, doubled: 400 },
    ...{ reached, entries: journal, faults },
    async ask(path, sent = {}) {
      const { method = 'GET', headers = {} } = sent;
      const answer = await askHttpDoor(proxy, door.path, { ...sent, path });
      if (answer.status !== 200) return answer;
      const { cookie: _, ...others } = headers;
      const cookie = answer.headers['x-edgeplan-cookie'] ?? '';
      reached.push({
        method,
        url: path,
        headers: { ...others, ...(cookie === '' ? {} : { cookie: String(cookie) }) },
      });
      return { status: 200, headers: {}, body: 'origin' };
    },
    unenforced: () => lastUnenforced(journal),
    async close() {
      await door.close();
      await origin.close();
    },
  };
}

function askHttpDoor(
  proxy: Asking,
  socketPath: string,
  { path: target, method = 'GET', headers = {} }: Sent & { readonly path: string },
): Promise<Answer> {
  const facts = {
    ...{ host: GATEWAY_HOST, 'user-agent': 'test/1', 'x-edgeplan-door': DOOR_SECRET },
    ...{ 'x-forwarded-proto': 'https', 'x-forwarded-for': '203.0.113.7' },
  };
  const line = {
    'x-forwarded-method': method,
    'x-forwarded-host': GATEWAY_HOST,
    'x-forwarded-uri': target,
  };
  const isEnvoy = proxy === 'envoy';
  const sent = { ...facts, ...(isEnvoy ? {} : line), ...headers };
  const path = isEnvoy ? `/envoy${target}` : `/${proxy}`;
  return new Promise((resolve, reject) => {
    const options = { socketPath, path, method: isEnvoy ? method : 'GET', headers: sent };
    const request = httpRequest({ ...options, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      );
    });
    request.on('error', reject);
    request.end();
  });
}

/** Envoy's gRPC filter, in whose place the test asks the door and applies the CheckResponse. */
export async function envoyGrpcEdge(fileFor: FileFor): Started {
  const { origin, ruleSet } = await place(fileFor);
  const rig = await openDoorRig({ ruleSet });
  const reached: Reached[] = [];
  const { entries, faults } = rig;
  return {
    ...ALL,
    ...{ reached, entries, faults },
    async ask(path, { method = 'GET', headers = {} } = {}) {
      const check = envoyCheck({ method, host: GATEWAY_HOST, target: path, headers: oneCookie(headers) });
      const response = await askDoor(rig.session, check);
      const denied = response['denied_response'] as JsonObject | undefined;
      if (denied !== undefined) {
        const { code } = denied['status'] as { readonly code: number };
        const fields = changed({}, denied['headers'] as unknown as readonly Option[]);
        return { status: code, headers: fields, body: String(denied['body'] ?? '') };
      }
      const ok = response['ok_response'] as JsonObject | undefined;
      if (ok === undefined) return { status: 403, headers: {}, body: 'no decision' };
      const sent = changed(oneCookie(headers), ok['headers'] as unknown as readonly Option[]);
      for (const name of (ok['headers_to_remove'] ?? []) as string[]) delete sent[name];
      reached.push({ method, url: String(sent[':path'] ?? path), headers: sent });
      const added = ok['response_headers_to_add'] as unknown as readonly Option[] | undefined;
      return { status: 200, headers: changed({}, added), body: 'origin' };
    },
    unenforced: () => lastUnenforced(entries),
    async close() {
      await rig.close();
      await origin.close();
    },
  };
}

/** A HeaderValueOption. */
interface Option {
  readonly header: { readonly key: string; readonly value?: string; readonly raw_value?: string };
  readonly append_action?: number;
}

type Fields = Record<string, string | string[]>;

/** Envoy joins cookies. */
function oneCookie(headers: Fields): Fields {
  const { cookie } = headers;
  return Array.isArray(cookie) ? { ...headers, cookie: cookie.join('; ') } : headers;
}

/** The fields as Envoy changes them: action 0 appends, the others replace. */
function changed(fields: Fields, options: readonly Option[] = []): Record<string, string> {
  const result: Record<string, string> = {};
  for (const [name, value] of Object.entries(fields)) result[name] = [value].flat().join(', ');
  for (const { header, append_action = 0 } of options) {
    const { key, value, raw_value } = header;
    const text =
      raw_value === undefined ? (value ?? '') : Buffer.from(raw_value, 'base64').toString('latin1');
    const before = result[key];
    result[key] = append_action === 0 && before !== undefined ? `${before}, ${text}` : text;
  }
  return result;
}

/** The middleware of Node's servers. */
export async function nodeMiddleware(fileFor: FileFor): Started {
  const { bytes } = compiled(fileFor(80));
  const verdicts: EdgeVerdict[] = [];
  const faults: unknown[] = [];
  const reached: Reached[] = [];
  const edge = await createNodeEdge({
    ...{ plans: [bytes], signatures: null, botDns: false },
    onDecision: (verdict) => verdicts.push(verdict),
    onFault: (error) => faults.push(error),
  });
  const app = (request: IncomingMessage, response: ServerResponse): void => {
    reached.push({ method: request.method!, url: request.url!, headers: request.headers });
    request.resume();
    response.writeHead(200, OPEN_TO_PAGES).end('origin');
  };
  const { port, close } = await listenLocally(createServer(edge.wrap(app)));
  return {
    ...ALL,
    ...{ reached, entries: null, faults },
    ask: (path, sent) => ask(port, path, { from: null, ...sent }),
    unenforced: () => verdicts.at(-1)?.unenforced ?? [],
    async close() {
      await close();
      await edge.close();
    },
  };
}

/** The middleware of `fetch` handlers, behind a server that makes a `Request` of each message. */
export async function fetchMiddleware(fileFor: FileFor): Started {
  const { bytes } = compiled(fileFor(80));
  const verdicts: EdgeVerdict[] = [];
  const faults: unknown[] = [];
  const reached: Reached[] = [];
  const edge = createFetchEdge({
    plans: [bytes],
    onDecision: (verdict) => verdicts.push(verdict),
    onFault: (error) => faults.push(error),
  });
  const server = createServer(async (message, response) => {
    const answer = await edge.handle(requestOf(message), { ip: '203.0.113.7' }, (request) => {
      const { pathname, search } = new URL(request.url);
      const headers = Object.fromEntries(request.headers);
      reached.push({ method: request.method, url: `${pathname}${search}`, headers });
      return new Response('origin', { headers: OPEN_TO_PAGES });
    });
    response.writeHead(answer.status, [...answer.headers].flat());
    response.end(Buffer.from(await answer.arrayBuffer()));
  });
  const { port, close } = await listenLocally(server);
  return {
    ...ALL,
    ...{ doubled: 401, reached, entries: null, faults, close },
    ask: (path, sent) => ask(port, path, { from: null, ...sent }),
    unenforced: () => verdicts.at(-1)?.unenforced ?? [],
  };
}

function requestOf(message: IncomingMessage): Request {
  const { method = 'GET', url = '/', rawHeaders } = message;
  const headers = new Headers();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]!;
    if (!/^(?:connection|transfer-encoding)$/i.test(name)) headers.append(name, rawHeaders[at + 1]!);
  }
  const hasBody = method !== 'GET' && method !== 'HEAD' && message.headers['content-length'] !== undefined;
  const body = hasBody ? (Readable.toWeb(message) as ReadableStream) : null;
  return new Request(`http://${GATEWAY_HOST}${url}`, {
    method,
    headers,
    body,
    duplex: 'half',
  } as RequestInit);
}
