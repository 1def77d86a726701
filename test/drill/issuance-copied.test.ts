/** A database with obtained certificates that is copied without its secrets key: the server starts and obtains them again. */
import { cpSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startAuthority, type TestAuthority } from '../support/acme-authority.ts';
import { builtCli } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';
import { until } from '../support/until.ts';

const DAY = 86_400_000;
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-copied-'));
const [data, copy] = [join(folder, 'data'), join(folder, 'copy')];
let ca: TestAuthority;
let server: Served | null = null;

beforeAll(async () => {
  await builtCli();
  ca = await startAuthority({ clock: Date.now, lifeMs: 90 * DAY, resolve: async () => null });
}, 600_000);
afterAll(async () => {
  await server?.stop();
  await ca?.stop();
  rmSync(folder, { recursive: true, force: true });
});

const start = async (database: string) => {
  server = await serve({ database, args: ['--acme', ca.directoryUrl] });
  return server;
};
/** The certificates, once all are active. */
const active = (domain: string) =>
  until(async () => {
    const { out } = await server!.run(['ssl', 'list', domain, '--json']);
    const { certificates } = JSON.parse(out) as {
      certificates: readonly { status: string; names: string[] }[];
    };
    return certificates.length > 0 && certificates.every(({ status }) => status === 'active')
      ? certificates
      : null;
  }, `the certificates of ${domain}`);

test('a server whose secrets key is lost logs that, starts, and obtains its certificates again', async () => {
  const first = await start(data);
  const names = ['one.test', 'two.test'];
  for (const name of names) {
    await first.domain(name);
    const record = { type: 'A', name: 'www', destination: '198.51.100.7', proxied: true };
    expect((await first.call('POST', `/domains/${name}/records/`, record)).status).toBe(200);
  }
  for (const name of names) expect((await active(name)).map((one) => one.names)).toEqual([[`www.${name}`]]);
  expect(ca.records.issued).toHaveLength(2);
  await first.stop();
  cpSync(data, copy, { recursive: true, filter: (path) => !path.endsWith('secrets.key') });

  // With its key nothing is obtained again.
  await start(data);
  for (const name of names) await active(name);
  await server!.stop();
  expect(ca.records.issued).toHaveLength(2);

  const second = await start(copy);
  for (const name of names) await active(name);
  expect(ca.records.issued).toHaveLength(4);
  expect(ca.records.accounts).toHaveLength(2);
  const line = second
    .logged()
    .split('\n')
    .find((one) => one.includes('private keys of certificates cannot be decrypted'));
  expect(line).toContain('"certificates":2,"domains":2');
  expect(await second.metric('edgeplan_certificate_orders_total{outcome="issued"}')).toBe(2);
});
