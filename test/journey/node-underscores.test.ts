/** `edgeplan node --keep-underscores`: which headers with `_` in their names reach an origin (semantics §7). */
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { builtCli } from '../support/built.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const HOST = 'shop.test';
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-node-underscores-'));

/** Names that no edge sets or strips. */
const OWN = ['User_Id', 'X_Api_Version', '_leading', 'Content_Type'] as const;
/** With `-` for `_`, headers that the edge sets, appends to, or strips. */
const ALIASES = [
  ...['X_Forwarded_For', 'X-Forwarded_Proto', 'x_forwarded-host', 'X_Real_IP', 'True_Client_IP'],
  ...['X_Original_URL', 'X_Rewrite_URL', 'X_Edgeplan_Id', 'CDN_Loop', 'X_HTTP_Method_Override'],
  ...['Content_Length', 'Transfer_Encoding', 'Keep_Alive', 'Proxy_Connection', 'Proxy_Authorization'],
  ...['If_None_Match', 'If_Modified_Since', 'If_Range', 'Accept_Encoding'],
] as const;

/** Answers with the header lines that it got. */
const origin = createServer((request, response) => {
  response.end(JSON.stringify(request.rawHeaders));
});

beforeAll(async () => {
  await builtCli();
  origin.listen(0, '127.0.0.1');
  await once(origin, 'listening');
  writeFileSync(
    join(folder, 'edge.yaml'),
    `domain: ${HOST}
records:
  - { name: '@', type: A, destination: 127.0.0.1, scheme: Http, port: ${(origin.address() as AddressInfo).port}, proxied: true }
rules: []
`,
  );
}, 180_000);
afterAll(() => {
  origin.closeAllConnections();
  origin.close();
  rmSync(folder, { recursive: true, force: true });
});

describe.each([
  ['without the option', [], false],
  ['with the option', ['--keep-underscores'], true],
  ['with the option and workers', ['--keep-underscores', '--workers', '2'], true],
  ['with the option, from a trusted proxy', ['--keep-underscores', '--trust-proxy', '127.0.0.0/8'], true],
  ['without the option, from a trusted proxy', ['--trust-proxy', '127.0.0.0/8'], false],
] as const)('a node %s', (name, args, kept) => {
  let node: WorkerNode;
  beforeAll(async () => {
    const data = join(folder, name.replaceAll(/\W/g, '-'));
    node = await startWorkerNode(['--file', 'edge.yaml', '--data', data, ...args], { cwd: folder });
  }, 90_000);
  afterAll(async () => {
    node.signal('SIGTERM');
    expect(await node.ended).toBe(0);
  }, 60_000);

  /** The headers that the origin gets, by their names as sent. */
  async function received(headers: Record<string, string>): Promise<ReadonlyMap<string, string>> {
    const answer = await ask(node.port, '/', { host: HOST, from: null, headers });
    expect(answer.status).toBe(200);
    const raw: readonly string[] = JSON.parse(answer.body);
    return new Map(raw.flatMap((line, at) => (at % 2 === 0 ? [[line, raw[at + 1]!] as const] : [])));
  }

  test.each(OWN)(`${kept ? 'passes on' : 'drops'} %s`, async (header) => {
    expect((await received({ [header]: 'kept' })).get(header)).toBe(kept ? 'kept' : undefined);
  });

  test.each(ALIASES)('never passes on %s', async (header) => {
    const got = await received({ [header]: '7' });
    expect([...got.keys()].filter((one) => one.includes('_'))).toEqual([]);
  });

  test('passes on the header with `-` beside it', async () => {
    const got = await received({ User_Id: '7', 'User-Id': '8', X_Forwarded_For: '192.0.2.1' });
    expect(got.get('User-Id')).toBe('8');
    expect(got.get('User_Id')).toBe(kept ? '7' : undefined);
    expect(got.get('X-Forwarded-For')).toBe('127.0.0.1');
  });
});
