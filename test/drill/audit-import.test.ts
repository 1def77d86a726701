/** audit and import, as typed, against a served data folder. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';

let server: Served;
beforeAll(async () => {
  await builtCli();
  server = await serve();
}, 120_000);
afterAll(() => server.stop());

const ZONE = `$ORIGIN zone.test.
$TTL 1h
@    IN SOA ns1.zone.test. hostmaster.zone.test. 1 2 3 4 5
@    IN NS  ns1.zone.test.
www  IN A   192.0.2.10
www  IN A   192.0.2.10
mail IN MX  10 mx.zone.test.
bad  IN A   999.1.2.3
loc  IN LOC 52 22 23.000 N 4 53 32.000 E -2.00m
`;

describe('import', () => {
  test('imports the valid records, and reports the others line by line', async () => {
    await server.domain('zone.test');
    const file = join(server.folder, 'zone.test.zone');
    writeFileSync(file, ZONE);
    const dry = await server.run(['import', 'zone', 'zone.test', '--zone', file, '--dry-run']);
    expect(dry.out).toContain('2 would be imported, 2 not imported, 2 not needed\n');
    expect((await server.call('GET', '/domains/zone.test/records/')).body).toEqual([]);
    const done = await server.run(['import', 'zone', 'zone.test', '--zone', file]);
    expect(done.code).toBe(1);
    expect(done.out).toMatch(
      /^name +type +edge +data\nwww +A +dns only +192\.0\.2\.10\nmail +MX +dns only +mx\.zone\.test\n2 imported, 2 not imported, 2 not needed; zone\.test is out as revision \d+\n$/,
    );
    const lines = done.err.trimEnd().split('\n');
    expect(lines.map((line) => line.slice(file.length).split(' ')[0])).toEqual([':4:', ':6:', ':8:', ':9:']);
    expect(lines[2]).toContain('takes an IPv4 address, found `999.1.2.3`');
    const json = await server.run(
      ['import', 'zone', 'zone.test', '--zone', '-', '--json'],
      'new.zone.test. A 192.0.2.1\n',
    );
    expect([json.code, JSON.parse(json.out).imported]).toEqual([0, 1]);
  });

  test('reports arguments that cannot be used', async () => {
    const nothing = await server.run(
      ['import', 'zone', 'zone.test', '--zone', '-'],
      '@ IN NS ns1.zone.test.\n',
    );
    expect([nothing.code, nothing.err]).toEqual([
      4,
      expect.stringContaining('the zone file holds no record that can be taken over; line 1: NS records'),
    ]);
    expect((await server.run(['import', 'zone', 'zone.test', '--zone', 'no.zone'])).err).toBe(
      'edgeplan: there is no file `no.zone`\n',
    );
    expect((await server.run(['import', 'zone', 'zone.test'])).code).toBe(2);
  });
});

describe('audit', () => {
  test('prints time, author and action, with each field before and after', async () => {
    await server.domain('audit.test');
    const path = '/domains/audit.test/rules/drop/';
    const { id } = (await server.call('POST', path, { countries: ['RU'] })).body;
    await server.call('PUT', `${path}${id}`, { countries: ['BY'], priority: 5 });
    await server.call('DELETE', `${path}${id}`);
    const { code, out, err } = await server.run(['audit', 'audit.test']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const blocks = out.split(/^(?=\d{4}-)/m);
    expect(
      blocks.map((block) =>
        block
          .split('  ')
          .slice(1, 4)
          .map((part) => part.trimEnd().split('\n')[0]),
      ),
    ).toEqual([
      ['owner (key 1)', 'rule.delete', `drop/${id}`],
      ['owner (key 1)', 'rule.update', `drop/${id}`],
      ['owner (key 1)', 'rule.create', `drop/${id}`],
      ['owner (key 1)', 'domain.checked', ''],
      ['owner (key 1)', 'domain.create', ''],
    ]);
    expect(blocks[1]).toContain('    priority: 100 → 5\n');
    expect(blocks[1]).toContain('    countries:\n      - RU\n      + BY\n');
    expect(blocks[1]).not.toContain('updated_at');
    expect(blocks[2]).toContain('    countries: [RU]\n');
    expect(blocks[2]).not.toContain('host_includes');
    const json = await server.run(['audit', 'audit.test', '--json', '--limit', '2']);
    const entries = json.out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(entries.map(({ action }) => action)).toEqual(['rule.delete', 'rule.update']);
    expect(entries[1]).toMatchObject({
      format: 'edgeplan.audit/v1',
      user: 'owner',
      key_id: 1,
      subject: `drop/${id}`,
      after: { priority: 5 },
    });
  });

  test('reads backwards page by page, up to a limit or a time', { timeout: 120_000 }, async () => {
    await server.domain('long.test');
    const records = Array.from({ length: 400 }, (_, n) => `r${n} IN A 192.0.2.${n % 250}`).join('\n');
    await server.run(['import', 'zone', 'long.test', '--zone', '-'], records);
    const ids = (await server.call('GET', '/domains/long.test/records/')).body.map(
      ({ id }: { id: number }) => id,
    );
    for (const comment of ['a', 'b', 'c']) {
      const updates = ids.map((id: number) => ({ id, comment }));
      await server.call('POST', '/domains/long.test/records/batch-update', { updates });
    }
    const count = async (...flags: readonly string[]): Promise<number> =>
      (await server.run(['audit', 'long.test', '--json', ...flags])).out.split('\n').length - 1;
    const imported = await server.run(['audit', 'zone.test', '--limit', '1']);
    expect(imported.out).toContain('    entries:\n      + id ');
    expect(imported.out).toContain('name new, type A, destination 192.0.2.1');
    expect(await count('--limit', '5000')).toBe(1_203);
    expect(await count('--limit', '1100')).toBe(1_100);
    expect(await count()).toBe(50);
    expect(await count('--since', '1h')).toBe(50);
    const later = await server.run(['audit', 'long.test', '--since', '2999-01-01']);
    expect(later).toEqual({ code: 0, out: '', err: 'nothing in the audit log\n' });
    expect((await server.run(['audit', 'long.test', '--since', 'yesterday'])).code).toBe(2);
    expect((await server.run(['audit', 'nobody.test'])).code).toBe(4);
  });
});
