/** `edgeplan usage` as a process against an API on a real socket. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { storeTraffic } from '../support/traffic-requests.ts';

let api: TestApi;
let subject: Subject;
let folder: string;
let gateway: number;

beforeAll(async () => {
  await builtCli();
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-usage-'));
  api = await startApi(testDatabases()[0]!);
  subject = await addSubject(api);
  const auth = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
  gateway = (await subject.ask('POST', '/gateways/', { auth })).body.id;
  expect((await subject.ask('POST', '/consumers/', { username: 'acme' })).status).toBe(200);
  // Of 40 requests 30 are admitted, 10 of which an agent has decided; 10 without a consumer are refused.
  const use = { gateway, operation: 'listOrders', key: null };
  const requests = Array.from({ length: 40 }, (_, index) => {
    const isAdmitted = index % 4 !== 0;
    return {
      at: api.now() - index * 60_000,
      status: isAdmitted ? (index % 4 === 1 ? 0 : 200) : 401,
      gateway: { ...use, consumer: isAdmitted ? 'acme' : '', isAdmitted },
    };
  });
  await storeTraffic(api.store, subject.domain.id, requests);
}, 600_000);
afterAll(async () => {
  await api.close();
  rmSync(folder, { recursive: true, force: true });
});

function run(...args: readonly string[]): Promise<Run> {
  const env = { EDGEPLAN_SERVER: api.url, EDGEPLAN_KEY: subject.owner.key, COLUMNS: '80' };
  return edgeplan(['usage', subject.domain.name, ...args], { cwd: folder, env });
}

test('prints the requests to a gateway by consumer', async () => {
  const { code, out, err } = await run('--gateway', String(gateway));
  expect({ code, err }).toEqual({ code: 0, err: '' });
  const lines = out.split('\n');
  expect(lines[0]).toMatch(new RegExp(`^${subject.domain.name} gateway ${gateway} {2}.* UTC, by `));
  expect(lines.slice(2).filter((line) => line !== '')).toEqual([
    expect.stringMatching(/^requests {2}40 +\S+$/),
    'admitted  30 (75.0 %)',
    'refused   10',
    expect.stringMatching(/^by consumer +requests +share +refused$/),
    expect.stringMatching(/^acme +30 +75\.0 % +0$/),
    expect.stringMatching(/^none +10 +25\.0 % +10$/),
  ]);
});

test('prints the requests of a consumer as JSON, those that an agent has decided with the status `unknown`', async () => {
  const { code, out, err } = await run('--consumer', 'acme', '--by', 'status', '--json');
  expect({ code, err }).toEqual({ code: 0, err: '' });
  expect(JSON.parse(out)).toMatchObject({
    ...{ domain: subject.domain.name, of: 'consumer acme', by: 'status' },
    totals: { requests: 30, admitted: 30 },
    values: [
      { value: '200', requests: 20, admitted: 20 },
      { value: 'unknown', requests: 10, admitted: 10 },
    ],
  });
});

test('refuses an unknown consumer and a call without one of the two', async () => {
  const unknown = await run('--consumer', 'nobody');
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('has no consumer `nobody`')]);
  const neither = await run();
  expect([neither.code, neither.err]).toEqual([2, expect.stringContaining('name one of the two')]);
});
