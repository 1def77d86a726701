/**
 * From no document to an enforced gateway, on a real server and both databases: traffic through a gateway without operations, the
 * operations that it shows, the recommendation, the drafted document, and the gateway that refuses everything else.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createPublisher } from '../../src/control/publishing/publisher.ts';
import { type Evaluator, loadPlan } from '../../src/engine/evaluator/index.ts';
import { send, startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { builtCli, edgeplan } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { type SentRequest, storeTraffic } from '../support/traffic-requests.ts';

const SILENT = {
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  debug: () => undefined,
};

type Line = readonly [method: string, path: string, status: number, times: number];

/** What the API has answered. */
const SERVED: readonly Line[] = [
  ['GET', '/v1/orders', 200, 40],
  ['POST', '/v1/orders', 201, 30],
  ...Array.from({ length: 30 }, (_, id): Line => ['GET', `/v1/orders/${1_000 + id}`, 200, 1]),
  ['DELETE', '/v1/orders/1001', 204, 3],
];
/** What a scanner has tried. */
const SCANNED: readonly Line[] = Array.from({ length: 500 }, (_, index) => [
  ...(['GET', `/v1/.x${index}/admin.php`, 404, 3] as const),
]);

describe.each(testDatabases())('discovered operations on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let folder: string;
  let gateway: number;

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function good(method: string, path: string, body?: unknown): Promise<any> {
    const answer = await subject.ask(method, path, body);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  async function upload(method: string, path: string, document: string): Promise<object> {
    const headers = {
      authorization: `Bearer ${subject.owner.key}`,
      'content-type': 'application/yaml',
    };
    const body = Buffer.from(document);
    const answer = await send(api.port, { method, path: subject.at(path), body, headers });
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  async function published(): Promise<Evaluator> {
    const publisher = createPublisher({ store: api.store, log: SILENT });
    await publisher.publishNow();
    await publisher.stop();
    const { digest } = (await api.store.latest.plans.current(subject.domain.name))!;
    return loadPlan((await api.store.latest.plans.blob(digest!))!);
  }
  const decide = (evaluator: Evaluator, method: string, target: string) =>
    evaluator.evaluate({
      ...{ scheme: 'https', method, host: subject.domain.name, target, headers: {}, ip: '192.0.2.9' },
      ...{ country: null, bot: null, body: null, now: api.now() },
    });

  beforeAll(async () => {
    await builtCli();
    folder = mkdtempSync(join(tmpdir(), 'edgeplan-discovery-'));
    api = await startApi(database, { tier: 'business' });
    subject = await addSubject(api);
    await good('POST', '/records/', { name: '@', type: 'A', destination: '192.0.2.1', proxied: true });
    const fields = { base_path: '/v1', name: 'orders', auth: { require: 'none' } };
    gateway = (await good('POST', '/gateways/', fields)).id;
    const evaluator = await published();
    const at = api.now() - 60_000;
    const sent = [...SERVED, ...SCANNED].flatMap(([method, path, status, times]): SentRequest[] => {
      const decided = decide(evaluator, method, path);
      return Array.from({ length: times }, () => ({ at, method, path, status, decided }));
    });
    await storeTraffic(api.store, subject.domain.id, sent);
  }, 600_000);
  afterAll(async () => {
    await api.close();
    rmSync(folder, { recursive: true, force: true });
  });

  test('are those that the origin has answered, drafted, and enforced', { timeout: 600_000 }, async () => {
    const discovered = `/gateways/${gateway}/operations/discovered`;
    const found = await good('GET', discovered);
    const orderId = [{ name: 'orderId', type: 'integer' }];
    const source = 'discovered';
    expect(found.operations).toEqual([
      { methods: ['GET'], path: '/orders', source, parameters: [], requests: 40 },
      { methods: ['POST'], path: '/orders', source, parameters: [], requests: 30 },
      { methods: ['DELETE'], path: '/orders/{orderId}', source, parameters: orderId, requests: 3 },
      { methods: ['GET'], path: '/orders/{orderId}', source, parameters: orderId, requests: 30 },
    ]);

    const recommended = (await good('GET', '/recommendations/')) as { id: string; evidence: object }[];
    const one = recommended.find(({ id }) => id === `unknown_operations:gateway/${gateway}`);
    expect(one).toMatchObject({
      evidence: { requests: 100, of: 3, operations: [{ operation: 'GET /orders', requests: 40 }, {}, {}] },
      fix: { edge_yaml: expect.stringContaining('on_unknown_operation: log') },
    });

    const file = join(folder, 'openapi.yaml');
    const env = { EDGEPLAN_SERVER: api.url, EDGEPLAN_KEY: subject.owner.key };
    const args = ['--domain', subject.domain.name, '--gateway', `${gateway}`, '-o', file];
    const drafted = await edgeplan(['gateway', 'draft', ...args], { cwd: folder, env });
    expect(drafted).toEqual({ code: 0, out: '', err: 'edgeplan: 4 operations\n' });
    const document = readFileSync(file, 'utf8');
    const checked = await upload('POST', `/gateways/${gateway}/schema/check`, document);
    expect(checked).toMatchObject({ valid: true, base_paths: ['/v1'], operations: 4, diagnostics: [] });
    await upload('PUT', `/gateways/${gateway}/schema`, document);
    expect((await good('GET', discovered)).operations).toEqual([]);

    const enforced = await published();
    for (const [method, path] of SERVED) expect(decide(enforced, method, path).action).toBe('forward');
    for (const [method, path] of SCANNED) expect(decide(enforced, method, path).status).toBe(404);
    expect(decide(enforced, 'DELETE', '/v1/orders').status).toBe(405);

    // Without its document the gateway refuses what it refused before.
    await good('DELETE', `/gateways/${gateway}/schema`);
    expect((await subject.ask('GET', `/gateways/${gateway}/schema`)).status).toBe(404);
    expect((await subject.ask('DELETE', `/gateways/${gateway}/schema`)).status).toBe(404);
    const left = (await good('GET', `/gateways/${gateway}/operations/`)) as readonly object[];
    expect(left).toHaveLength(4);
    for (const operation of left) expect(operation).not.toHaveProperty('source', 'schema');
    expect(decide(await published(), 'GET', SCANNED[0]![1]).status).toBe(404);
  });

  test('of a log describe every request that succeeded, and nothing else', { timeout: 600_000 }, async () => {
    const lines = [...SERVED, ...SCANNED].map(
      ([method, path, status]) =>
        `192.0.2.9 - - [01/Dec/2025:00:00:00 +0000] "${method} ${path} HTTP/1.1" ${status} 12 "-" "curl/8.5.0"`,
    );
    const args = ['gateway', 'draft', '--log', '-', '--base-path', '/v1', '--title', 'Orders'];
    const drafted = await edgeplan(args, { cwd: folder, env: {}, input: `${lines.join('\n')}\n` });
    expect(drafted.code, drafted.err).toBe(0);
    expect(drafted.err).toContain('500 requests without a success of the origin skipped');
    expect(drafted.out).toBe(DRAFT);
  });
});

const DRAFT = `openapi: 3.1.0
info:
  title: Orders
  version: "0"
servers:
  - url: /v1
paths:
  /orders:
    get:
      responses:
        "200":
          description: ""
    post:
      responses:
        "201":
          description: ""
  /orders/{orderId}:
    parameters:
      - name: orderId
        in: path
        required: true
        schema:
          type: integer
    delete:
      responses:
        "204":
          description: ""
    get:
      responses:
        "200":
          description: ""
`;
