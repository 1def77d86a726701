/** What every answer says beside its body: the budget of the key, and gzip for clients that take it. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

let api: TestApi;
let ann: Person;

beforeAll(async () => {
  const [database] = testDatabases();
  api = await startApi(database!, { budget: 12 });
  ann = await api.person('ann');
});
afterAll(() => api.close());

const get = (path: string, headers: Record<string, string> = {}) =>
  fetch(`${api.url}${path}`, { headers: { authorization: `Bearer ${ann.key}`, ...headers } });

test('every answer to a key has its remaining budget, a refusal too', async () => {
  const statuses: number[] = [];
  const left: number[] = [];
  for (let request = 0; request < 14; request++) {
    const answer = await get(request % 3 === 0 ? '/domains/none.test' : '/domains/');
    statuses.push(answer.status);
    expect(answer.headers.get('ratelimit-policy')).toBe('"requests";q=12;w=60');
    const [, remaining, seconds] = /^"requests";r=(\d+);t=(\d+)$/.exec(
      answer.headers.get('ratelimit') ?? '',
    )!;
    left.push(Number(remaining));
    expect(Number(seconds)).toBeGreaterThan(0);
    expect(Number(seconds)).toBeLessThanOrEqual(60);
  }
  expect(left).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 0, 0]);
  expect(statuses.slice(-2)).toEqual([429, 429]);
  expect((await fetch(`${api.url}/domains/`)).headers.get('ratelimit')).toBeNull();
});

test('a long answer is compressed where the client accepts it, and either ETag form matches', async () => {
  const bob = await api.person('bob');
  await bob.call('POST', '/domains/', { name: 'shop.test' });
  const ips = Array.from({ length: 200 }, (_, at) => `192.0.2.${at}`);
  await bob.call('POST', '/domains/shop.test/rules/drop/', { ips });
  const ask = (headers: Record<string, string>) =>
    fetch(`${api.url}/domains/shop.test/rules/drop/`, {
      headers: { authorization: `Bearer ${bob.key}`, ...headers },
    });
  const plain = await ask({ 'accept-encoding': 'identity' });
  const text = await plain.text();
  const zipped = await ask({ 'accept-encoding': 'br;q=1, gzip;q=0.5' });
  expect([plain.headers.get('content-encoding'), zipped.headers.get('content-encoding')]).toEqual([
    null,
    'gzip',
  ]);
  expect(await zipped.text()).toBe(text);
  expect([plain.headers.get('vary'), zipped.headers.get('vary')]).toEqual([
    'accept-encoding',
    'accept-encoding',
  ]);
  expect(zipped.headers.get('etag')).toBe(`W/${plain.headers.get('etag')}`);
  for (const tag of [plain.headers.get('etag')!, zipped.headers.get('etag')!]) {
    expect((await ask({ 'if-none-match': tag })).status).toBe(304);
  }
  expect((await ask({ 'accept-encoding': 'gzip;q=0, *;q=0' })).headers.get('content-encoding')).toBeNull();
});

test('the document is served as JSON too', async () => {
  const answer = await fetch(`${api.url}/docs/openapi.json`);
  expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
  const document = (await answer.json()) as { readonly openapi: string; readonly paths: object };
  expect(document.openapi).toBe('3.1.0');
  expect(Object.keys(document.paths)).toContain('/domains/');
});
