/** export and apply, as typed, between a file and servers on both databases. */
import { createHash } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { compile } from '../../src/engine/compiler/index.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { readEdgeFile } from '../../src/rules/files/edge-file.ts';
import { builtCli, shell } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { type Served, serve } from '../support/served.ts';

const SHOP = fileURLToPath(new URL('../../fixtures/shop/edge.yaml', import.meta.url));
const DATABASES = testDatabases();

beforeAll(builtCli, 120_000);

function save(server: Served, name: string, text: string): string {
  const file = join(server.folder, name);
  writeFileSync(file, text);
  return file;
}

describe.each(DATABASES)('export and apply on $kind', (database) => {
  let server: Served;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const made = await database.make();
    drop = made.drop;
    server = await serve({ database: made.database });
    await server.domain('example.com');
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await drop();
  });

  test('the shop, applied, exported and applied to another domain, exports to the same text', {
    timeout: 120_000,
  }, async () => {
    const dry = await server.run(['apply', '-f', SHOP, '--dry-run']);
    expect([dry.code, dry.err]).toEqual([1, '']);
    expect(dry.out).toContain('+ create record shop AAAA 2001:db8:20::20');
    expect(dry.out).toContain('+ create rule drop office-only, ');
    expect(dry.out).toContain('dry run: 51 to create, 0 to update, 0 to delete; nothing was changed\n');
    const first = await server.run(['apply', '-f', SHOP, '--no-lock']);
    expect([first.code, first.err]).toEqual([0, '']);
    expect(first.out).toMatch(/applied 51 changes; example\.com is out as revision \d+\n$/);
    for (const flags of [[], ['--prune'], ['--dry-run']]) {
      const again = await server.run(['apply', '-f', SHOP, '--no-lock', ...flags]);
      expect(again).toEqual({ code: 0, out: 'no changes: example.com matches the file\n', err: '' });
    }
    const exported = await server.run(['export', 'example.com']);
    expect([exported.code, exported.err]).toEqual([0, '']);
    const other = await serve();
    await other.domain('example.com');
    const applied = await other.run(['apply', '-f', '-'], exported.out);
    expect([applied.code, applied.err]).toEqual([0, '']);
    expect((await other.run(['export', 'example.com'])).out).toBe(exported.out);
    await other.stop();
  });

  test('export --ids compiles to the plan that the server publishes', async () => {
    const { out } = await server.run(['export', 'example.com', '--ids']);
    const [current] = (await server.call('GET', '/domains/example.com/plans/?limit=1')).body;
    const read = readEdgeFile(out, 'edge.yaml');
    if (!read.ok) throw new Error(JSON.stringify(read.diagnostics));
    const bytes = seal(compile(read.ruleSet).plan, { revision: current.revision });
    expect(createHash('sha256').update(bytes).digest('hex')).toBe(current.digest);
    const same = await server.run(['apply', '-f', '-', '--ids', '--prune'], out);
    expect(same).toEqual({ code: 0, out: 'no changes: example.com matches the file\n', err: '' });
  });
});

describe('apply', () => {
  let server: Served;
  beforeAll(async () => {
    server = await serve();
  }, 60_000);
  afterAll(() => server.stop());

  const head = (domain: string): string =>
    `domain: ${domain}\nrecords:\n  - { name: shop, type: A, destination: 198.51.100.20, proxied: true }\n`;

  test('apply prints each field before and after, and changes nothing else', async () => {
    await server.domain('fields.test');
    const rules = (limit: number, ips: string): string =>
      `${head('fields.test')}rules:\n` +
      `  - { key: api, type: rate_limit, priority: 10, path_includes: [/api/*], limit: ${limit} }\n` +
      `  - { key: office, type: drop, priority: 20, ip_match_type: exclude, ips: [${ips}] }\n`;
    expect((await server.run(['apply', '-f', '-'], rules(10, '192.0.2.1'))).code).toBe(0);
    const ids = async (): Promise<number[]> =>
      (await server.call('GET', '/domains/fields.test/rules/drop/')).body.map(
        (rule: { id: number }) => rule.id,
      );
    const before = await ids();
    const edited = await server.run(['apply', '-f', '-', '--prune'], rules(20, '192.0.2.2, 192.0.2.3'));
    expect(edited).toMatchObject({ code: 0, err: '' });
    expect(edited.out).toMatch(
      /~ update rule rate_limit\/\d+ \(rate_limit api, stdin:5\)\n {4}limit: 10 → 20\n/,
    );
    expect(edited.out).toMatch(/ips:\n {6}- 192\.0\.2\.1\n {6}\+ 192\.0\.2\.2\n {6}\+ 192\.0\.2\.3\n/);
    expect(edited.out).toContain('applied 2 changes; fields.test is out as revision ');
    expect(await ids()).toEqual(before);
  });

  test('apply deletes only with --prune, and lists what it leaves', async () => {
    await server.domain('prune.test');
    const whole = `${head('prune.test')}  - { name: old, type: CNAME, destination: a.test }\nrules:\n  - { type: drop, records: [shop], countries: [RU] }\n`;
    expect((await server.run(['apply', '-f', '-'], whole)).code).toBe(0);
    const bare = 'domain: prune.test\nrecords:\n  - { name: old, type: A, destination: 198.51.100.1 }\n';
    const left = await server.run(['apply', '-f', '-', '--dry-run'], bare);
    expect(left.err).toMatch(/left alone \(--prune deletes them\): record shop A .*, rule drop\/\d+\n/);
    const pruned = await server.run(['apply', '-f', '-', '--prune'], bare);
    expect(pruned).toMatchObject({ code: 0, err: '' });
    expect(pruned.out).toMatch(/type: CNAME → A\n/);
    expect(pruned.out.indexOf('- delete rule drop/')).toBeLessThan(
      pruned.out.indexOf('- delete record shop A'),
    );
    expect((await server.call('GET', '/domains/prune.test/records/')).body).toHaveLength(1);
    const again = await server.run(['apply', '-f', '-', '--prune'], bare);
    expect(again.out).toBe('no changes: prune.test matches the file\n');
  });

  test('apply changes settings, and no state', async () => {
    await server.domain('settings.test');
    const file = 'domain: { name: settings.test, sec_no_sniff: true, status: moved }\n';
    const applied = await server.run(['apply', '-f', '-'], file);
    expect(applied).toMatchObject({
      code: 0,
      err: "edgeplan: `status` of the domain is the server's own: not applied\n",
    });
    expect(applied.out).toContain('~ update domain settings.test\n    sec_no_sniff: false → true\n');
    const shown = (await server.call('GET', '/domains/settings.test')).body;
    expect([shown.sec_no_sniff, shown.status]).toEqual([true, 'active']);
  });

  test('apply stops at the first refusal and lists what was and was not applied', async () => {
    await server.domain('stop.test');
    const clash =
      'domain: stop.test\nrecords:\n' +
      '  - { name: a, type: A, destination: 198.51.100.1 }\n' +
      '  - { name: a, type: CNAME, destination: b.test }\n' +
      'rules:\n  - { key: no-ru, type: drop, countries: [RU] }\n';
    const stopped = await server.run(['apply', '-f', '-'], clash);
    expect(stopped.code).toBe(4);
    expect(stopped.err).toContain('applied:\n  + create record a A 198.51.100.1\nnot applied:\n');
    expect(stopped.err).toContain('  + create record a CNAME b.test\n  + create rule drop no-ru, stdin:6\n');
    expect(stopped.err).toContain('edgeplan: record a CNAME b.test: the server answered 409: a CNAME ');
  });

  test('apply warns where equal priorities would run in another order', async () => {
    await server.domain('order.test');
    const rules = (...countries: string[]): string =>
      `domain: order.test\nrules:\n${countries.map((one) => `  - { type: drop, countries: [${one}] }\n`).join('')}`;
    expect((await server.run(['apply', '-f', '-'], rules('RU', 'BY'))).err).toBe('');
    const between = await server.run(['apply', '-f', '-', '--dry-run'], rules('RU', 'NO', 'BY'));
    expect(between.err).toBe(
      'warning: drop, stdin:4 and drop, stdin:5 share priority 100 and run in the other order on the server; give them different priorities\n',
    );
  });

  test('export pipes into simulate, and a missing domain is reported', async () => {
    await server.domain('pipe.test');
    await server.run(
      ['apply', '-f', '-'],
      `${head('pipe.test')}rules:\n  - { type: drop, path_includes: [/admin/*] }\n`,
    );
    const piped = await shell(
      '$EDGEPLAN export pipe.test | $EDGEPLAN simulate -f - https://shop.pipe.test/admin/',
      {
        cwd: server.folder,
        env: server.env,
      },
    );
    expect(piped).toMatchObject({ code: 0, err: '' });
    expect(piped.out).toContain('✘ BLOCK  403');
    const file = save(server, 'out.yaml', '');
    expect((await server.run(['export', 'pipe.test', '-o', file])).code).toBe(0);
    expect(readFileSync(file, 'utf8')).toContain('name: pipe.test');
    const unknown = await server.run(['export', 'nobody.test']);
    expect(unknown).toEqual({
      code: 4,
      out: '',
      err:
        `edgeplan: the key has access to no domain \`nobody.test\` on \`${server.url}\`\n` +
        '  check --server and --key; POST /domains/ creates a domain\n',
    });
    expect((await server.run(['apply', '-f', '-'], 'domain: pipe.test\nrules: 7\n')).code).toBe(3);
  });
});
