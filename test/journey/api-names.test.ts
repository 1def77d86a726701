/** Which names a server registers that is open to strangers. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Person, startApi, type TestApi } from '../support/api.ts';
import { testDatabases } from '../support/databases.ts';

let api: TestApi;
let ann: Person;

beforeAll(async () => {
  const [database] = testDatabases();
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
  ['foo.onion', '`.onion` is of the Tor network'],
  ['a.b.foo.onion', '`.onion` is of the Tor network'],
  ['1.0.0.127.in-addr.arpa', '`.in-addr.arpa` finds the names of IPv4 addresses'],
  ['in-addr.arpa', '`.in-addr.arpa` finds the names of IPv4 addresses'],
  ['8.b.d.0.1.0.0.2.ip6.arpa', '`.ip6.arpa` finds the names of IPv6 addresses'],
  ['printer.home.arpa', '`.home.arpa` is of each home network alone'],
  ['home.arpa', '`.home.arpa` is of each home network alone'],
  ['resolver.arpa', '`.arpa` is for the infrastructure of the Internet'],
  ['1.e164.arpa', '`.arpa` is for the infrastructure of the Internet'],
  ['shop.localhost', '`.localhost` is no public suffix'],
  ['shop.example', '`.example` is no public suffix'],
  ['shop.alt', '`.alt` is no public suffix'],
  ['shop.internal', '`.internal` is no public suffix'],
  ['intranet.corp', '`.corp` is no public suffix'],
  ['1.0.0.127.in-addr.arpa.invalid', '`.invalid` is no public suffix'],
])('the name %s is refused', async (name, reason) => {
  const { status, body } = await ann.call('POST', '/domains/', { name });
  expect([status, body.error]).toEqual([400, expect.stringMatching(/^name: /)]);
  expect(body.error).toContain(reason);
  if (reason.startsWith('`.')) expect(body.error).toContain('--allow-private-names');
});

test.each(['example.com', 'example.co.uk', 'a.b.example.org', 'foo.github.io', 'bücher.de'])(
  'the name %s is registered',
  async (name) => {
    expect((await ann.call('POST', '/domains/', { name })).status).toBe(200);
  },
);
