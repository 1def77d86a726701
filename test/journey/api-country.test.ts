/** The country of an origin, looked up at the write in a geo database that the operator configured. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { createLog } from '../../src/base/telemetry/redacting-log.ts';
import { type RunningServer, startServer } from '../../src/cli/start-server.ts';
import { createAccount, createKey } from '../../src/control/accounts/keys.ts';
import { REQUESTS_PER_MINUTE } from '../../src/control/accounts/request-budget.ts';
import { createClient, dataOf } from '../../src/control/client/index.ts';
import { openStore } from '../../src/control/store/database/open.ts';
import { writeMmdb } from '../support/mmdb.ts';
import { TEST_ORIGINS } from '../support/origin-bounds.ts';

describe('with a geo database', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-country-'));
  let server: RunningServer;
  let api: ReturnType<typeof createClient>;
  const params = { path: { domain: 'shop.example' } };

  beforeAll(async () => {
    const countries = join(folder, 'countries.mmdb');
    writeFileSync(countries, writeMmdb({ '203.0.113.0/24': { country: { iso_code: 'NO' } } }));
    const store = await openStore({ database: join(folder, 'data') });
    server = await startServer({
      store,
      host: '127.0.0.1',
      port: 0,
      operationsPort: 0,
      tier: 'enterprise',
      overQuota: 'serve',
      nameserverSets: [],
      resolvers: [],
      trustNames: true,
      privateNames: true,
      allowedOrigins: { prefixes: TEST_ORIGINS, local: false },
      requestsPerMinute: REQUESTS_PER_MINUTE,
      countries,
      log: createLog('silent', () => undefined),
    });
    const now = Date.now();
    await createAccount(store, { name: 'ann', now });
    const made = await createKey(store, { account: 'ann', name: 'test', expiry: null, readOnly: false, now });
    if (!made.ok) throw new Error(made.reason);
    api = createClient({ baseUrl: `${server.url}/`, key: made.value.key });
    await dataOf(api.POST('/domains/', { body: { name: 'shop.example' } }));
  });
  afterAll(async () => {
    await server.stop();
    rmSync(folder, { recursive: true, force: true });
  });

  test.each([
    ['203.0.113.9', 'DE', 'NO'],
    ['198.51.100.1', 'DE', 'DE'],
    ['origin.example.net', 'DE', 'DE'],
    ['origin.example.net', '', ''],
  ])('%s written with `%s` is stored with `%s`', async (address, country, stored) => {
    const body = { address, country, path_includes: ['/a'] };
    const rule = await dataOf(api.POST('/domains/{domain}/rules/origin_route/', { params, body }));
    expect(rule.country).toBe(stored);
  });

  test('an update of the origin’s address sets its country again', async () => {
    const body = { address: 'origin.example.net', country: 'DE' };
    const { id } = await dataOf(api.POST('/domains/{domain}/rules/origin_route/', { params, body }));
    const at = { path: { ...params.path, ruleId: id } };
    const moved = { params: at, body: { address: '203.0.113.200' } };
    const rule = await dataOf(api.PUT('/domains/{domain}/rules/origin_route/{ruleId}', moved));
    expect(rule).toMatchObject({ address: '203.0.113.200', country: 'NO' });
  });
});
