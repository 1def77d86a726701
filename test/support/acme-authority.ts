/**
 * An ACME authority (RFC 8555, with the renewal information of RFC 9773) that issues X.509 certificates by a scripted clock.
 * In: a check of challenges, and faults that a test switches while it runs. Out: a directory on loopback, the root that its
 * certificates chain to, and records of what it did. `pebble.ts` is the authority that others wrote; its clock is the real one.
 */
import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as wait } from 'node:timers/promises';
import { account, newAccount } from './acme-authority/accounts.ts';
import { authorization, challenge } from './acme-authority/authorizations.ts';
import type { Answer, Call } from './acme-authority/call.ts';
import { certificate, renewalInfo, revokeCert } from './acme-authority/certificates.ts';
import { createIssuer } from './acme-authority/issuer.ts';
import { finalize, newOrder, order } from './acme-authority/orders.ts';
import { Problem, problemDocument, subproblemDocuments } from './acme-authority/problem.ts';
import { openSigned } from './acme-authority/signed-request.ts';
import {
  type AuthorityOptions,
  createFaults,
  createState,
  type Endpoint,
  type Faults,
  type Records,
  type State,
} from './acme-authority/state.ts';

export type { ChallengeCheck } from './acme-authority/state.ts';

export interface TestAuthority {
  readonly directoryUrl: string;
  /** The root's certificate in PEM. */
  readonly pem: string;
  readonly faults: Faults;
  readonly records: Records;
  /** Ends every fault. */
  clearFaults(): void;
  /** Destroys the connections; resolves when validations under way have ended too. */
  stop(): Promise<void>;
}

interface Route {
  readonly endpoint: Endpoint;
  readonly method: 'GET' | 'POST';
  readonly answer: (state: State, call: Call) => Answer;
}

/** By the first part of the path. */
const ROUTES: Readonly<Record<string, Route>> = {
  directory: { endpoint: 'directory', method: 'GET', answer: directory },
  'new-nonce': { endpoint: 'newNonce', method: 'GET', answer: () => ({ status: 204 }) },
  'new-account': { endpoint: 'newAccount', method: 'POST', answer: newAccount },
  account: { endpoint: 'account', method: 'POST', answer: account },
  'new-order': { endpoint: 'newOrder', method: 'POST', answer: newOrder },
  order: { endpoint: 'order', method: 'POST', answer: order },
  authorization: { endpoint: 'authorization', method: 'POST', answer: authorization },
  challenge: { endpoint: 'challenge', method: 'POST', answer: challenge },
  finalize: { endpoint: 'finalize', method: 'POST', answer: finalize },
  certificate: { endpoint: 'certificate', method: 'POST', answer: certificate },
  'revoke-cert': { endpoint: 'revokeCert', method: 'POST', answer: revokeCert },
  'renewal-info': { endpoint: 'renewalInfo', method: 'GET', answer: renewalInfo },
};
const UNKNOWN: Route = { endpoint: 'unknown', method: 'GET', answer: notFound };
const BODY_BYTES = 65_536;
/** Nonces beyond this many are forgotten, the oldest first. */
const NONCES = 10_000;

/** What the server has beside the state: counts of faults that are shares, and the end of all waiting. */
interface Running {
  readonly state: State;
  readonly stopping: AbortController;
  rejectedNonces: number;
  serverErrors: number;
}

/** Starts an authority on a port of its own. */
export async function startAuthority(options: AuthorityOptions): Promise<TestAuthority> {
  const state = createState(options, createIssuer(options.clock()));
  const running: Running = { state, stopping: new AbortController(), rejectedNonces: 0, serverErrors: 0 };
  const server = createServer((request, response) => {
    serve(running, { request, response }).catch(() => response.destroy());
  });
  server.on('connection', (socket) => {
    if (state.faults.down) socket.destroy();
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  state.base = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    directoryUrl: `${state.base}/directory`,
    pem: state.issuer.pem,
    faults: state.faults,
    records: state.records,
    clearFaults: () => void Object.assign(state.faults, createFaults()),
    stop: () => stop(running, server),
  };
}

async function stop({ state, stopping }: Running, server: Server): Promise<void> {
  stopping.abort();
  server.close();
  server.closeAllConnections();
  await Promise.all(state.validating);
}

interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
}

async function serve(running: Running, { request, response }: Exchange): Promise<void> {
  const { state, stopping } = running;
  const { faults, records, options } = state;
  const url = `${state.base}${request.url ?? '/'}`;
  const route = ROUTES[url.slice(state.base.length + 1).split('/')[0] ?? ''] ?? UNKNOWN;
  const record = (status: number | null) =>
    void records.requests.push({ endpoint: route.endpoint, at: options.clock(), status });
  const body = await readBody(request);
  if (faults.down) {
    record(null);
    request.socket.destroy();
    return;
  }
  if (options.prompt === true && route.endpoint === 'authorization') await Promise.all(state.validating);
  const answer = answerOrProblem(running, { request, route, url, body });
  const isLost = faults.loseAnswers?.(route.endpoint) ?? false;
  record(isLost ? null : answer.status);
  if (faults.slowMs > 0) await wait(faults.slowMs, undefined, { signal: stopping.signal });
  if (isLost) request.socket.destroy();
  else send(state, { response, answer, isHead: request.method === 'HEAD' });
}

interface Received {
  readonly request: IncomingMessage;
  readonly route: Route;
  readonly url: string;
  readonly body: string | null;
}

function answerOrProblem(running: Running, received: Received): Answer {
  try {
    return answerOf(running, received);
  } catch (error) {
    const known =
      error instanceof Problem
        ? error
        : new Problem('serverInternal', { detail: String(error), status: 500 });
    const { status = 400, subproblems, retryAfter } = known.options;
    const body = {
      ...problemDocument(known.type, known.message),
      status,
      ...(subproblems === undefined ? {} : { subproblems: subproblemDocuments(subproblems) }),
    };
    const headers = retryAfter === undefined ? {} : { 'retry-after': retryAfter };
    return { status, body, headers: { 'content-type': 'application/problem+json', ...headers } };
  }
}

function answerOf(running: Running, { request, route, url, body }: Received): Answer {
  const { state } = running;
  const { method } = request;
  running.serverErrors += state.faults.serverError;
  if (running.serverErrors >= 1) {
    running.serverErrors--;
    throw new Problem('serverInternal', { detail: 'the authority has failed', status: 500 });
  }
  if (route.method === 'GET') {
    if (method !== 'GET' && method !== 'HEAD')
      throw new Problem('malformed', { detail: 'GET only', status: 405 });
    const answer = route.answer(state, { url, payload: null, signer: null });
    // 200 to HEAD, 204 to GET (RFC 8555 section 7.2).
    return route.endpoint === 'newNonce' && method === 'HEAD' ? { status: 200 } : answer;
  }
  if (method !== 'POST') throw new Problem('malformed', { detail: 'POST only', status: 405 });
  if (request.headers['content-type'] !== 'application/jose+json')
    throw new Problem('malformed', { detail: 'the body must be application/jose+json', status: 415 });
  if (body === null) throw new Problem('malformed', { detail: 'the body is too large', status: 413 });
  const { payload, signer } = openSigned(state, { body, url });
  running.rejectedNonces += state.faults.rejectNonces;
  if (running.rejectedNonces >= 1) {
    running.rejectedNonces--;
    throw new Problem('badNonce', { detail: 'the nonce is rejected by a fault of the test' });
  }
  return route.answer(state, { url, payload, signer });
}

/** The body as text; `null` if it is too large. */
async function readBody(request: IncomingMessage): Promise<string | null> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of request) {
    bytes += chunk.length;
    if (bytes <= BODY_BYTES) chunks.push(chunk);
  }
  return bytes > BODY_BYTES ? null : Buffer.concat(chunks).toString();
}

interface Sending {
  readonly response: ServerResponse;
  readonly answer: Answer;
  readonly isHead: boolean;
}

function send(state: State, { response, answer, isHead }: Sending): void {
  const { status, headers = {}, body } = answer;
  const text = typeof body === 'string' ? body : JSON.stringify(body ?? {});
  response.writeHead(status, {
    'content-type': 'application/json',
    'cache-control': 'no-store',
    'replay-nonce': createNonce(state),
    link: `<${state.base}/directory>;rel="index"`,
    ...headers,
  });
  response.end(isHead || status === 204 ? undefined : text);
}

function createNonce({ nonces }: State): string {
  const nonce = randomBytes(16).toString('base64url');
  nonces.add(nonce);
  for (const oldest of nonces) {
    if (nonces.size <= NONCES) break;
    nonces.delete(oldest);
  }
  return nonce;
}

function directory({ base, options }: State): Answer {
  const { caaIdentities = ['acme.test'] } = options;
  const body = {
    newNonce: `${base}/new-nonce`,
    newAccount: `${base}/new-account`,
    newOrder: `${base}/new-order`,
    revokeCert: `${base}/revoke-cert`,
    renewalInfo: `${base}/renewal-info`,
    meta: { caaIdentities, termsOfService: `${base}/terms`, externalAccountRequired: false },
  };
  return { status: 200, body };
}

function notFound(_state: State, { url }: Call): Answer {
  throw new Problem('malformed', { detail: `nothing is at \`${url}\``, status: 404 });
}
