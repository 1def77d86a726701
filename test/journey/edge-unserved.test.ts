/** Requests for hosts that a node does not serve: the answer, the log, and the lines of the start. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createEdge as createFetchEdge } from '../../src/edge/middleware/fetch/index.ts';
import { createEdge } from '../../src/edge/middleware/node/index.ts';
import { builtCli } from '../support/built.ts';
import { sealedPlan } from '../support/embed.ts';
import { findProgram, missingProgram, requires } from '../support/requires.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';
import { ask, startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-unserved-'));
let origin: Server;
let node: WorkerNode;

beforeAll(async () => {
  await builtCli();
  origin = createServer((_request, response) => void response.end('from the origin\n'));
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { port } = origin.address() as AddressInfo;
  const record = `type: A, destination: 127.0.0.1, scheme: Http, port: ${port}, proxied: true`;
  writeFileSync(
    join(folder, 'edge.yaml'),
    `domain: shop.test\nrecords:\n  - { name: '*.preview', ${record} }\n  - { name: www, ${record} }\n`,
  );
  node = await startWorkerNode(['--file', 'edge.yaml', '--data', 'data', '--log', 'decisions.jsonl'], {
    cwd: folder,
  });
}, 240_000);
afterAll(async () => {
  node.signal('SIGTERM');
  await node.ended;
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

const fieldsOf = (answer: { readonly text: string }): Record<string, unknown> => JSON.parse(answer.text);

/** The decision log; the node makes the file with the first line, within 200 ms. */
function logText(): string {
  const file = join(folder, 'decisions.jsonl');
  return existsSync(file) ? readFileSync(file, 'utf8') : '';
}

describe('a node with an edge file', () => {
  test('names the host, the hosts that it serves, and a command, to a client on this machine', async () => {
    const host = `localhost:${node.port}`;
    const answer = await ask({ port: node.port, path: '/', headers: { host } });
    expect(answer.status).toBe(421);
    const { served, ...fields } = fieldsOf(answer);
    expect(new Set(served as string[])).toEqual(new Set(['*.preview.shop.test', 'www.shop.test']));
    expect(fields).toEqual({
      error: 'this site is not served here',
      id: expect.any(String),
      host: 'localhost',
      try: `curl -H 'Host: www.shop.test' http://127.0.0.1:${node.port}/`,
    });
  });

  test.each(['localhost', 'localhost:81'])('names its own port for the Host `%s`', async (host) => {
    const answer = await ask({ port: node.port, path: '/', headers: { host } });
    expect(fieldsOf(answer)['try']).toBe(`curl -H 'Host: www.shop.test' http://127.0.0.1:${node.port}/`);
  });

  test('gives the same help for a host of its domain that has no record', async () => {
    const answer = await ask({ port: node.port, path: '/', headers: { host: 'api.shop.test' } });
    expect(answer.status).toBe(421);
    expect(fieldsOf(answer)).toMatchObject({ host: 'api.shop.test', try: expect.stringContaining('curl') });
    await node.said(
      /`api\.shop\.test` was answered with 421: its domain serves nothing now, or has no proxied record/,
    );
  });

  test('names only the host of the request where a proxy forwards for others', async () => {
    const headers = { host: 'localhost', 'x-forwarded-for': '203.0.113.7' };
    const answer = await ask({ port: node.port, path: '/', headers });
    expect(fieldsOf(answer)).toEqual({
      error: 'this site is not served here',
      id: expect.any(String),
      host: 'localhost',
    });
  });

  test('logs the first such request of a minute, and no other', async () => {
    const line =
      /a request for the host `localhost` was answered with 421: no domain here has this host; 1 domain is installed/g;
    await node.said(new RegExp(line.source));
    for (let at = 0; at < 20; at++)
      await ask({ port: node.port, path: '/', headers: { host: `h${at}.test` } });
    expect(node.err().match(/no domain here has this host/g)).toHaveLength(1);
  });

  test.each([
    ['elsewhere.test', 'unknown'],
    ['nothing.shop.test', 'record'],
  ])('logs the host `%s` and the reason `%s` of a 421', async (host, reason) => {
    const { headers } = await ask({ port: node.port, path: '/', headers: { host } });
    const id = String(headers['x-edgeplan-id']);
    const line = await until(
      () =>
        logText()
          .split('\n')
          .find((one) => one.includes(id)),
      'the line of the decision log',
    );
    expect(JSON.parse(line)).toMatchObject({ status: 421, unserved: { host, server_name: null, reason } });
  });

  test('prints the hosts that it serves at its start', () => {
    expect(node.out()).toContain('\nserves *.preview.shop.test, www.shop.test\n');
  });

  test('prints a command at its start that reaches a served host', requires(missingProgram('curl')), () => {
    const command = /^try: curl (.*)$/m.exec(node.out())![1]!;
    const args = [...command.matchAll(/'([^']*)'|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain!);
    // The origin is in this process: curl reaches the node, whose origin cannot answer while this waits.
    const { stdout } = spawnSync(
      findProgram('curl')!,
      ['-s', '-m', '1', '-o', '/dev/null', '-w', '%{http_code}', ...args],
      {
        encoding: 'utf8',
        env: { PATH: process.env['PATH'] ?? '', NO_PROXY: '*' },
      },
    );
    expect(args).toEqual(['-H', 'Host: www.shop.test', `http://127.0.0.1:${node.port}/`]);
    expect(stdout).not.toBe('421');
  });
});

describe('a node that follows a control plane', () => {
  let server: Served;
  let following: WorkerNode;
  beforeAll(async () => {
    server = await serve();
    await server.domain('customer.test');
    const env = { ...(await server.node('one')), EDGEPLAN_CONTROL: server.url };
    following = await startWorkerNode(['--data', 'followed'], { cwd: folder, env });
  }, 240_000);
  afterAll(async () => {
    following.signal('SIGTERM');
    await following.ended;
    await server.stop();
  });

  test('never names customers’ hosts, to a client on this machine neither', async () => {
    const answer = await ask({ port: following.port, path: '/', headers: { host: 'localhost' } });
    expect(answer.status).toBe(421);
    expect(answer.text).not.toContain('customer');
    expect(fieldsOf(answer)).toEqual({
      error: 'this site is not served here',
      id: expect.any(String),
      host: 'localhost',
      try: `curl -H 'Host: HOST' http://127.0.0.1:${following.port}/`,
    });
  });
});

describe('an embedded edge', () => {
  const PLAN = sealedPlan({});
  const HELP = {
    error: 'this site is not served here',
    host: 'localhost',
    try: expect.stringContaining('curl'),
  };

  test('gives the help before a `node:http` application', async () => {
    const edge = await createEdge({ plans: [PLAN], botDns: false });
    const server = createServer(edge.wrap((_request, response) => void response.end('from the application')));
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as AddressInfo;
    const answer = await ask({ port, path: '/', headers: { host: 'localhost' } });
    expect(answer.status).toBe(421);
    const fields = fieldsOf(answer);
    expect(fields).toMatchObject(HELP);
    expect(fields['served']).not.toEqual([]);
    server.close();
    await edge.close();
  });

  test.each([
    ['127.0.0.1', HELP],
    ['203.0.113.7', { error: 'this site is not served here', host: 'localhost', id: expect.any(String) }],
  ])('gives a visitor at %s before a `fetch` handler what it may know', async (ip, fields) => {
    const edge = createFetchEdge({ plans: [PLAN] });
    const response = await edge.handle(
      new Request('http://localhost:8080/'),
      { ip },
      () => new Response('no'),
    );
    expect(response.status).toBe(421);
    const body = await response.json();
    if (ip === '127.0.0.1') expect(body).toMatchObject(fields);
    else expect(body).toEqual(fields);
  });
});
