/** Zones of `edgeplan serve`: what name servers transfer from it, what strangers get, and what a kill -9 leaves. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { everyDatabase, testDatabases } from '../support/databases.ts';
import { a, fromTable, ns, type ScriptedServer, startDnsServer } from '../support/dns-server.ts';
import { until } from '../support/publish-setup.ts';
import { missingProgram, requires } from '../support/requires.ts';
import { serve } from '../support/served.ts';
import {
  CATALOG,
  kdig,
  NAMESERVERS,
  newZoneKey,
  recordLines,
  servedSerial,
  serveZones,
  transferred,
  type ZonesServed,
} from '../support/zones-served.ts';

const PATIENCE_MS = 60_000;
const KDIG = requires(missingProgram('kdig', 'knot-dnsutils'));

/** Adds a domain with records. */
async function addDomain(
  served: ZonesServed,
  name: string,
  records: readonly object[] = [],
): Promise<readonly { readonly id: number }[]> {
  await served.domain(name);
  const made: { readonly id: number }[] = [];
  for (const record of records) {
    const answer = await served.call('POST', `/domains/${name}/records/`, record);
    expect(answer).toMatchObject({ status: 200 });
    made.push(answer.body);
  }
  return made;
}

async function hasRecord(served: ZonesServed, zone: string, line: string): Promise<void> {
  const isThere = async (): Promise<boolean> => (await transferred(served, zone)).includes(line);
  await until(isThere, `${line} in ${zone}`, PATIENCE_MS);
}

describe.each(testDatabases())('zones on $kind', KDIG, (database) => {
  let served: ZonesServed;
  let made: Awaited<ReturnType<typeof database.make>>;
  beforeAll(async () => {
    await builtCli();
    made = await database.make();
    served = await serveZones({ database: made.database });
  }, 120_000);
  afterAll(async () => {
    await served?.stop();
    await made?.drop();
  });

  test('a new domain is in the catalog, with the nameservers, edge addresses and records', async () => {
    await addDomain(served, 'shop.test', [
      { name: '@', type: 'A', destination: '198.51.100.7', proxied: true },
      { name: 'mail', type: 'A', destination: '198.51.100.9', proxied: false },
      { name: '@', type: 'MX', destination: 'mail.shop.test', mx_priority: 10 },
      { name: '@', type: 'TXT', destination: '"v=spf1 -all"' },
    ]);
    await hasRecord(served, 'shop.test', 'shop.test. 300 TXT "v=spf1 -all"');
    expect(await transferred(served, 'shop.test')).toEqual(
      [
        'mail.shop.test. 300 A 198.51.100.9',
        'shop.test. 300 A 192.0.2.1',
        'shop.test. 300 AAAA 2001:db8::1',
        'shop.test. 300 MX 10 mail.shop.test.',
        'shop.test. 300 NS ns1.edge.test.',
        'shop.test. 300 NS ns2.edge.test.',
        'shop.test. 300 TXT "v=spf1 -all"',
      ].sort(),
    );
    const members = await transferred(served, CATALOG);
    expect(members).toContain(`version.${CATALOG}. 3600 TXT "2"`);
    expect(members.filter((line) => line.endsWith(' PTR shop.test.'))).toHaveLength(1);
  });

  test('a changed record is an incremental transfer of that record alone', async () => {
    const [record] = await addDomain(served, 'steps.test', [
      { name: 'www', type: 'A', destination: '198.51.100.1', proxied: false },
      // A small zone is transferred whole: that is shorter than a step with its four SOA records.
      ...Array.from({ length: 20 }, (_, at) => ({
        ...{ name: `host${at}`, type: 'A', destination: '198.51.100.2', proxied: false },
      })),
    ]);
    await hasRecord(served, 'steps.test', 'host19.steps.test. 300 A 198.51.100.2');
    const before = await servedSerial(served, 'steps.test');
    await served.call('PUT', `/domains/steps.test/records/${record!.id}`, { destination: '198.51.100.3' });
    await hasRecord(served, 'steps.test', 'www.steps.test. 300 A 198.51.100.3');
    const text = await kdig(
      served.zones,
      ['steps.test', `IXFR=${before}`, '+noall', '+answer'],
      served.zoneKey,
    );
    const lines = recordLines(text).filter((line) => !/ SOA | TSIG /.test(line));
    expect(lines).toEqual(['www.steps.test. 300 A 198.51.100.1', 'www.steps.test. 300 A 198.51.100.3']);
    expect(await servedSerial(served, 'steps.test')).toBeGreaterThan(before!);
  });

  test('a deleted domain leaves the catalog and cannot be transferred', async () => {
    await addDomain(served, 'leaving.test');
    await hasRecord(served, 'leaving.test', 'leaving.test. 300 NS ns1.edge.test.');
    await served.call('DELETE', '/domains/leaving.test');
    await until(
      async () => (await servedSerial(served, 'leaving.test')) === null,
      'the zone to be removed',
      PATIENCE_MS,
    );
    expect((await transferred(served, CATALOG)).join('\n')).not.toContain('leaving.test');
  });

  test('a stranger, a wrong key and a wrong secret are refused', async () => {
    await addDomain(served, 'closed.test');
    await hasRecord(served, 'closed.test', 'closed.test. 300 NS ns1.edge.test.');
    const question = ['closed.test', 'AXFR'];
    const { name } = served.zoneKey;
    expect(await kdig(served.zones, question)).toMatch(/REFUSED/);
    expect(await kdig(served.zones, question, newZoneKey('other'))).toMatch(/BADKEY/);
    expect(await kdig(served.zones, question, newZoneKey(name))).toMatch(/BADSIG/);
    expect(await kdig(served.zones, ['closed.test', 'A', '+notcp'])).toMatch(/REFUSED/);
  });

  test('a domain without a zone is a 409 that says why', async () => {
    await addDomain(served, 'elsewhere.test');
    await hasRecord(served, 'elsewhere.test', 'elsewhere.test. 300 NS ns1.edge.test.');
    await served.call('PUT', '/domains/elsewhere.test', { dns_mode: 'external' });
    await until(
      async () => (await servedSerial(served, 'elsewhere.test')) === null,
      'the zone to be removed',
      PATIENCE_MS,
    );
    const answer = await served.call('GET', '/domains/elsewhere.test/zone');
    expect([answer.status, JSON.stringify(answer.body)]).toEqual([
      409,
      expect.stringContaining('has no zone: it is not managed'),
    ]);
  });

  test('zones show has the version, and what is not in it', async () => {
    await addDomain(served, 'shown.test', [
      { name: '@', type: 'NS', destination: 'ns.elsewhere.test' },
      { name: 'www', type: 'A', destination: '198.51.100.1', proxied: false },
    ]);
    await hasRecord(served, 'shown.test', 'www.shown.test. 300 A 198.51.100.1');
    const { out, code } = await served.run(['zones', 'show', 'shown.test']);
    expect(code).toBe(0);
    expect(out).toMatch(/^serial +\d+$/m);
    expect(out).toMatch(/^records +3$/m);
    expect(out).toMatch(/^dnssec +unknown: no secondary is configured$/m);
    expect(out).toMatch(/^shown\.test +NS /m);
  });

  test('kill -9 while records are written: serials never fall, and every acknowledged record is served', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'edgeplan-kill-'));
    const own = await database.make();
    const zoneKey = newZoneKey();
    let highest = 0;
    const acknowledged: string[] = [];
    try {
      for (let round = 0; round < 3; round++) {
        const one = await serveZones({ database: own.database, zoneKey });
        if (round === 0) await one.domain('killed.test');
        const serial = await until(() => servedSerial(one, 'killed.test'), 'the zone', PATIENCE_MS);
        expect(serial).toBeGreaterThanOrEqual(highest);
        let over = false;
        const writes = (async () => {
          for (let at = 0; !over; at++) {
            const name = `r${round}-${at}`;
            const answer = await one
              .call('POST', '/domains/killed.test/records/', {
                ...{ name, type: 'A', destination: '198.51.100.1', proxied: false },
              })
              .catch(() => null);
            if (answer?.status === 200) acknowledged.push(`${name}.killed.test. 300 A 198.51.100.1`);
          }
        })();
        const end = Date.now() + 400 + round * 150;
        while (Date.now() < end) {
          const seen = await servedSerial(one, 'killed.test');
          expect(seen).toBeGreaterThanOrEqual(highest);
          highest = seen!;
        }
        process.kill(one.pid, 'SIGKILL');
        over = true;
        await writes;
        await one.stop();
      }
      const last = await serveZones({ database: own.database, zoneKey });
      const lines = async (): Promise<boolean> => {
        const there = new Set(await transferred(last, 'killed.test'));
        return acknowledged.every((line) => there.has(line));
      };
      expect(acknowledged.length).toBeGreaterThan(10);
      await until(lines, 'every acknowledged record', PATIENCE_MS);
      expect(await servedSerial(last, 'killed.test')).toBeGreaterThanOrEqual(highest);
      await last.stop();
    } finally {
      await own.drop();
      rmSync(folder, { recursive: true, force: true });
    }
  }, 120_000);

  test('an ALIAS is answered with the addresses of its target, and follows them', async () => {
    const table = { 'target.test A': a('target.test', '198.51.100.21') };
    const resolver = await startDnsServer('127.0.0.1', 0, fromTable(table));
    const own = await database.make();
    const one = await serveZones({
      database: own.database,
      args: ['--resolver', `127.0.0.1:${resolver.port}`],
    });
    try {
      await addDomain(one, 'alias.test', [
        { name: '@', type: 'ALIAS', destination: 'target.test', proxied: false },
      ]);
      await hasRecord(one, 'alias.test', 'alias.test. 60 A 198.51.100.21');
      expect((await one.call('GET', '/domains/alias.test/zone')).body).toMatchObject({ problems: 0 });
    } finally {
      await one.stop();
      await own.drop();
      await resolver.stop();
    }
  });
});

describe('a delegation on one machine', () => {
  const SET = NAMESERVERS.join(',');
  let world: ScriptedServer;
  beforeAll(async () => {
    await builtCli();
    // The resolver and the registry in one.
    world = await startDnsServer(
      '127.0.0.1',
      0,
      fromTable({
        'test NS': ns('test', 'a.nic.test'),
        'a.nic.test A': a('a.nic.test', '127.0.0.1'),
        'mine.test NS': ns('mine.test', ...NAMESERVERS),
      }),
    );
  });
  afterAll(() => world.stop());

  /** The status of a domain once its delegation was checked. */
  async function statusWith(args: readonly string[]): Promise<string> {
    const resolver = ['--resolver', `127.0.0.1:${world.port}`, '--nameserver-port', String(world.port)];
    const one = await serve({ trustNames: false, args: [...resolver, '--ns-set', SET, ...args] });
    try {
      await one.call('POST', '/domains/', { name: 'mine.test' });
      const checked = await one.call('POST', '/domains/mine.test/check-ns');
      return checked.status === 200 ? (await one.call('GET', '/domains/mine.test')).body.status : 'unchecked';
    } finally {
      await one.stop();
    }
  }

  test('is found at private addresses that --allow-nameservers covers, and nowhere else', async () => {
    expect(await statusWith(['--allow-nameservers', '127.0.0.0/8'])).toBe('active');
    expect(await statusWith([])).not.toBe('active');
    expect(await statusWith(['--allow-nameservers', '10.0.0.0/8'])).not.toBe('active');
  });
});

const [, shared] = everyDatabase();
describe(
  'two processes on one PostgreSQL',
  requires(missingProgram('kdig', 'knot-dnsutils'), shared === undefined ? 'no PostgreSQL answers' : null),
  () => {
    test('serve the same serials and contents, whichever publishes', async () => {
      await builtCli();
      const made = await shared!.make();
      const zoneKey = newZoneKey();
      const processes = [
        await serveZones({ database: made.database, zoneKey }),
        await serveZones({ database: made.database, zoneKey }),
      ];
      try {
        await processes[0]!.domain('both.test');
        for (let at = 0; at < 20; at++) {
          await processes[0]!.call('POST', '/domains/both.test/records/', {
            ...{ name: `r${at}`, type: 'A', destination: '198.51.100.1', proxied: false },
          });
        }
        for (const one of processes) await hasRecord(one, 'both.test', 'r19.both.test. 300 A 198.51.100.1');
        const same = async (): Promise<boolean> => {
          const serials = await Promise.all(processes.map((one) => servedSerial(one, 'both.test')));
          return serials[0] === serials[1];
        };
        await until(same, 'one serial', PATIENCE_MS);
        const [first, second] = await Promise.all(processes.map((one) => transferred(one, 'both.test')));
        expect(second).toEqual(first);
        const catalogs = await Promise.all(processes.map((one) => transferred(one, CATALOG)));
        expect(catalogs[1]).toEqual(catalogs[0]);
      } finally {
        for (const one of processes) await one.stop();
        await made.drop();
      }
    }, 120_000);
  },
);

describe('options of zones', () => {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-zone-options-'));
  const keys = join(folder, 'keys');
  const bad = join(folder, 'bad');
  beforeAll(async () => {
    await builtCli();
    writeFileSync(keys, `edge:${newZoneKey().secret}\n`);
    writeFileSync(bad, 'hmac-sha256:edge:c2hvcnQ=\n');
  });
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  const zones = ['--zones', '127.0.0.1:0'];
  const sets = ['--ns-set', 'ns1.edge.test,ns2.edge.test'];
  const edge = ['--edge-addresses', '192.0.2.1'];
  test.each([
    ['no nameserver set', [...zones, ...edge, '--tsig-keys', keys], 2, '--zones needs --ns-set'],
    ['no edge address', [...zones, ...sets, '--tsig-keys', keys], 2, '--zones needs --edge-addresses'],
    ['no keys', [...zones, ...sets, ...edge], 2, '--zones needs --tsig-keys'],
    ['a host name', ['--zones', 'localhost:53'], 2, 'an address with an optional port'],
    ['an edge name', ['--edge-addresses', 'edge.test'], 2, 'is no address'],
    ['secondaries alone', ['--secondaries', '192.0.2.1#edge'], 2, 'no effect without --zones'],
    ['keys alone', ['--tsig-keys', keys], 2, '--tsig-keys has no effect without --zones'],
    [
      'a secondary without a key',
      [...zones, ...sets, ...edge, '--tsig-keys', keys, '--secondaries', '192.0.2.1'],
      2,
      'names no key',
    ],
    [
      'a secondary with an unknown key',
      [...zones, ...sets, ...edge, '--tsig-keys', keys, '--secondaries', '192.0.2.1#other'],
      2,
      'the keys file has edge',
    ],
    [
      'a short secret',
      [...zones, ...sets, ...edge, '--tsig-keys', bad],
      3,
      'line 1: the secret of `edge` is too short',
    ],
    [
      'a keys file that is not there',
      [...zones, ...sets, ...edge, '--tsig-keys', join(folder, 'none')],
      3,
      'none',
    ],
    ['a catalog that is no name', ['--catalog-zone', 'a b'], 2, 'a name such as'],
  ] as const)('%s is refused with a remedy', async (_, args, code, message) => {
    const data = ['--data', join(folder, 'data'), '--port', '0', '--ops-port', '0'];
    const result = await edgeplan(['serve', ...data, ...args], { cwd: folder });
    expect(result.err).toContain(message);
    expect(result.code).toBe(code);
    expect(result.err).not.toContain('c2hvcnQ');
  });

  test('a port that is taken is named', async () => {
    const one = await serveZones({ secondaries: [] });
    try {
      const port = one.zones.port;
      const data = ['--data', join(folder, 'taken'), '--port', '0', '--ops-port', '0'];
      const args = ['--zones', `127.0.0.1:${port}`, ...sets, ...edge, '--tsig-keys', keys];
      const result = await edgeplan(['serve', ...data, ...args], { cwd: folder });
      expect(result.err).toContain(`port ${port} is taken`);
      expect(result.err).toContain('--zones');
    } finally {
      await one.stop();
    }
  });
});
