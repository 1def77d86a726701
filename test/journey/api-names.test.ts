/** Which names a server registers that is open to strangers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/api-databases.ts';

let api: TestApi;
let ann: Person;

beforeAll(async () => {
  const [database] = await testDatabases();
  api = await startApi(database!, { privateNames: false });
  ann = await api.person('ann');
});
afterAll(() => api.close());

test.each([
  ['co.uk', '`co.uk` is a public suffix'],
  ['com.au', '`com.au` is a public suffix'],
  ['github.io', '`github.io` is a public suffix'],
  ['foo.local', '`.local` is no public suffix'],
  ['shop.test', '`.test` is no public suffix'],
  ['intranet.corp', '`.corp` is no public suffix'],
  ['1.0.0.127.in-addr.arpa.invalid', '`.invalid` is no public suffix'],
])('the name %s is refused', async (name, reason) => {
  const { status, body } = await ann.call('POST', '/domains/', { name });
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^name: /)]);
  expect(body.error).toContain(reason);
});

test.each(['example.com', 'example.co.uk', 'a.b.example.org', 'foo.github.io', 'bücher.de'])(
  'the name %s is registered',
  async (name) => {
    expect((await ann.call('POST', '/domains/', { name })).status).toBe(200);
  },
);
