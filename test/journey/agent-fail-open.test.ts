/**
 * `edgeplan agent --fail-open` as a process whose plans never arrive, as its control plane is away: each door forwards with a mark
 * what the agent cannot decide, and refuses what breaks its contract. Without the flag nothing passes.
 */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, startEdgeplan } from '../support/built.ts';
import { askDoor, call, connectDoor, framed } from '../support/ext-authz.ts';
import { envoyCheck } from '../support/ext-authz-rig.ts';
import { freePort } from '../support/free-ports.ts';
import {
  type AgentFrame,
  argumentsOf,
  helloFrame,
  NULL,
  notifyFrame,
  spopClient,
} from '../support/spop-frames.ts';
import { until } from '../support/until.ts';
import { askHttp, type DoorReply } from '../support/upgraded-agent.ts';

const SECRET = 'a-secret-of-more-than-sixteen-octets';
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-open-'));
const closing: (() => unknown)[] = [];

beforeAll(async () => {
  await builtCli();
  writeFileSync(join(folder, 'door.secret'), SECRET);
}, 120_000);
afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Agent {
  readonly http: number;
  readonly operations: number;
  readonly spop: string;
  readonly grpc: string;
  text(): string;
}

/** An agent whose control plane does not exist. */
async function start(...more: readonly string[]): Promise<Agent> {
  const [http, operations, control] = [await freePort(), await freePort(), await freePort()];
  const at = mkdtempSync(join(folder, 'agent-'));
  const [spop, grpc] = [`unix:${at}/spop.sock`, `unix:${at}/grpc.sock`];
  const child = startEdgeplan(
    [
      ...[
        'agent',
        '--control',
        `http://127.0.0.1:${control}`,
        '--token',
        `edn_${'A'.repeat(43)}`,
        '--data',
        join(at, 'data'),
      ],
      ...['--forward-auth', `127.0.0.1:${http}`, '--secret-file', 'door.secret'],
      ...['--spop', spop, '--ext-authz', grpc, '--ops-port', String(operations), ...more],
    ],
    { cwd: folder },
  );
  let text = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
  }
  closing.push(async () => {
    if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close');
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`the agent ended: ${text}`);
    return /^process \d+$/m.test(text);
  }, 'the start of the agent');
  return { http, operations, spop, grpc, text: () => text };
}

const FACTS = {
  'X-Edgeplan-Door': SECRET,
  'X-Forwarded-Method': 'GET',
  'X-Forwarded-Proto': 'https',
  'X-Forwarded-Host': 'shop.test',
  'X-Forwarded-Uri': '/a?b=c',
  'X-Forwarded-For': '192.0.2.7',
};

function get(
  port: number,
  path: string,
  headers: Readonly<Record<string, string | string[]>> = {},
): Promise<DoorReply> {
  return askHttp(`tcp://127.0.0.1:${port}`, { path, headers });
}

/** The variables that HAProxy gets of two requests: a whole one, and one without its port. */
async function variablesAt(address: string): Promise<readonly AgentFrame['values'][]> {
  const client = await spopClient(address);
  closing.push(() => void client.socket.destroy());
  client.send(helloFrame());
  client.send(notifyFrame(argumentsOf(), { stream: 1n }));
  client.send(notifyFrame(argumentsOf({ port: NULL }), { stream: 2n }));
  await until(() => client.frames.length === 3, 'two ACKs');
  const acks = client.frames.slice(1);
  return [1n, 2n].map((stream) => acks.find((one) => one.stream === stream)!.values);
}

describe('an agent without plans', () => {
  test('with --fail-open forwards with a mark, and refuses what breaks the contract of a door', async () => {
    const agent = await start('--fail-open');
    expect(agent.text()).toContain('--fail-open: requests that the agent cannot decide');

    for (const path of ['/nginx', '/caddy', '/traefik', '/envoy/a?b=c']) {
      const { status, headers } = await get(agent.http, path, { ...FACTS, Cookie: 'a=1' });
      expect([path, status, headers['x-edgeplan-action'], headers['x-edgeplan-fault']]).toEqual([
        path,
        200,
        'forward',
        'no_plan',
      ]);
      expect([headers['x-edgeplan-target'], headers['x-edgeplan-cookie']]).toEqual(['/a?b=c', 'a=1']);
    }
    for (const broken of [
      { ...FACTS, 'X-Edgeplan-Door': `${SECRET}x` },
      { ...FACTS, 'X-Forwarded-Uri': ['/a', '/a'] },
      { ...FACTS, X_Forwarded_Uri: '/b' },
      { ...FACTS, 'X-Forwarded-For': '' },
    ]) {
      expect((await get(agent.http, '/caddy', broken)).status, JSON.stringify(broken)).toBe(403);
    }
    // The agent is no origin.
    expect((await get(agent.http, '/.well-known/edgeplan/solve', FACTS)).status).toBe(503);

    const [whole, broken] = await variablesAt(agent.spop);
    expect(whole).toMatchObject({ action: 'forward', fault: 'no_plan' });
    expect(whole).not.toHaveProperty('err');
    expect(broken).toEqual({ err: 355 });

    const session = connectDoor(agent.grpc);
    closing.push(() => session.destroy());
    const checked = await askDoor(session, envoyCheck({ headers: { 'x-edgeplan-fault': 'forged' } }));
    expect(checked).toHaveProperty('ok_response');
    expect(headersOf(checked['ok_response'])).toMatchObject({ 'x-edgeplan-fault': 'no_plan' });
    expect((await call(session, framed(Buffer.from([0xff, 0xff])))).status).toBe(3);

    const metrics = (await get(agent.operations, '/metrics')).body;
    for (const [door, count] of [
      ['HTTP', 5],
      ['SPOP', 1],
      ['ext_authz', 1],
    ]) {
      expect(metrics).toContain(
        `edgeplan_agent_door_events{door="${door}",event="unfiltered.no_plan"} ${count}`,
      );
    }
    await until(() => agent.text().includes('forwarded a request without a decision'), 'the log');
    expect(agent.text().split('forwarded a request without a decision').length).toBe(2);
  });

  test('without the flag each door refuses, and names the fault', async () => {
    const agent = await start();
    expect(agent.text()).not.toContain('--fail-open');
    const { status, headers } = await get(agent.http, '/caddy', FACTS);
    expect([status, headers['x-edgeplan-action'], headers['x-edgeplan-fault']]).toEqual([503, '', 'no_plan']);
    expect((await variablesAt(agent.spop))[0]).toEqual({ err: 355, fault: 'no_plan' });
    const session = connectDoor(agent.grpc);
    closing.push(() => session.destroy());
    const checked = await askDoor(session, envoyCheck({}));
    expect(checked).toHaveProperty('error_response');
    expect(headersOf(checked['error_response'])).toMatchObject({ 'x-edgeplan-fault': 'no_plan' });
    const metrics = (await get(agent.operations, '/metrics')).body;
    expect(metrics).toContain('edgeplan_agent_door_events{door="HTTP",event="unfiltered.no_plan"} 0');
  });
});

interface Options {
  readonly headers?: readonly { readonly header: { readonly key: string; readonly value?: string } }[];
}

/** The headers that a response sets. */
function headersOf(response: unknown): Readonly<Record<string, string>> {
  const { headers = [] } = response as Options;
  return Object.fromEntries(headers.map(({ header: { key, value = '' } }) => [key, value]));
}
