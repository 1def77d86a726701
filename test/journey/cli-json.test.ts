/** `--json` of the commands that list or change what a server has, and lists that are too long for a screen. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';

let server: Served;

beforeAll(async () => {
  await builtCli();
  server = await serve({ tier: 'enterprise' });
  await server.domain('shop.test');
  await server.node('eu-1');
}, 120_000);
afterAll(() => server.stop());

/** Keys of all objects in a value. */
function keysOf(value: unknown): readonly string[] {
  if (typeof value !== 'object' || value === null) return [];
  const own = Array.isArray(value) ? [] : Object.keys(value);
  return [...own, ...Object.values(value).flatMap(keysOf)];
}

function zone(count: number): string {
  const lines = Array.from({ length: count }, (_, index) => `n${index} 300 IN A 192.0.2.${index % 250}`);
  writeFileSync(
    join(server.folder, 'zone'),
    `$ORIGIN shop.test.\n${lines.join('\n')}\nbad 300 IN A nowhere\n`,
  );
  return 'zone';
}

function edgeFile(count: number): string {
  const records = Array.from(
    { length: count },
    (_, index) => `  - { name: m${index}, type: TXT, destination: 'text ${index}' }`,
  );
  writeFileSync(join(server.folder, 'edge.yaml'), `domain: shop.test\nrecords:\n${records.join('\n')}\n`);
  return 'edge.yaml';
}

describe('--json', () => {
  test.each([
    ['accounts', ['account', 'list'], 'store'],
    ['keys', ['key', 'list'], 'store'],
    ['domain', ['domain', 'show', 'shop.test'], 'store'],
    ['subscription', ['subscription', 'show', 'shop.test'], 'store'],
    ['nodes', ['node-token', 'list'], 'store'],
    ['node-groups', ['node-group', 'list'], 'store'],
    ['signing-key', ['signing-key', 'show'], 'store'],
    ['clearance-secrets', ['clearance', 'show'], 'store'],
    ['signatures', ['waf', 'show'], 'none'],
    ['publication', ['publish', 'shop.test'], 'server'],
    ['publication-of-all', ['publish', '--all'], 'store'],
  ] as const)(
    'prints one object of the format edgeplan.%s/1, with fields in snake_case',
    async (name, words, place) => {
      const where = place === 'store' ? server.data : [];
      const { code, out } = await server.run([...words, '--json', ...where]);
      expect(code).toBe(0);
      const document = JSON.parse(out);
      expect(document.format).toBe(`edgeplan.${name}/v1`);
      expect(keysOf(document).filter((key) => /[A-Z]/.test(key) && !/[ -]/.test(key))).toEqual([]);
      const help = await server.run([...words.slice(0, words[0] === 'publish' ? 1 : 2), '--help']);
      expect(help.out.replace(/\s+/g, ' ')).toContain(`edgeplan.${name}/v1`);
    },
  );

  test('of rollback names both revisions', async () => {
    const published = JSON.parse((await server.run(['publish', 'shop.test', '--json'])).out);
    const { out } = await server.run(['rollback', 'shop.test', String(published.revision), '--json']);
    expect(JSON.parse(out)).toEqual({
      format: 'edgeplan.rollback/v1',
      domain: 'shop.test',
      revision: published.revision + 1,
      content_of: published.revision,
    });
  });
});

describe('import of many records', () => {
  test('lists the first 20, counts them by type, and names every problem; --all lists all', async () => {
    const args = ['import', 'zone', 'shop.test', '--zone', zone(30), '--dry-run'];
    const short = await server.run(args);
    expect(short.code).toBe(1);
    expect(short.out.match(/^n\d+ /gm)).toHaveLength(20);
    expect(short.out).toContain('… and 10 more (--all lists them); of all: 30 A\n');
    expect(short.err).toMatch(/^zone:32: not imported: /);
    const all = await server.run([...args, '--all']);
    expect(all.out.match(/^n\d+ /gm)).toHaveLength(30);
    expect(all.out).not.toContain('… and');
    const document = JSON.parse((await server.run([...args, '--json'])).out);
    expect(document).toMatchObject({
      format: 'edgeplan.import/v1',
      domain: 'shop.test',
      dry_run: true,
      revision: null,
      imported: 30,
      skipped: 1,
    });
    expect(document.records).toHaveLength(30);
  });
});

describe('apply of many changes', () => {
  test('shows the first 50 and counts the others; --all shows all, --json has all', async () => {
    const args = ['apply', '-f', edgeFile(60), '--dry-run'];
    const short = await server.run(args);
    expect(short.code).toBe(1);
    expect(short.out.match(/^\+ create record/gm)).toHaveLength(50);
    expect(short.out).toContain('… and 10 more changes (--all shows them); of all: 60 records to create\n');
    expect((await server.run([...args, '--all'])).out.match(/^\+ create record/gm)).toHaveLength(60);
    const planned = JSON.parse((await server.run([...args, '--json'])).out);
    expect(planned).toMatchObject({
      format: 'edgeplan.apply/v1',
      domain: 'shop.test',
      dry_run: true,
      applied: 0,
      revision: null,
    });
    expect(planned.changes).toHaveLength(60);
    expect(planned.changes[0]).toMatchObject({ verb: 'create', noun: 'record' });
  });

  test('applied with --json reports the number of changes and the revision', async () => {
    const done = await server.run(['apply', '-f', edgeFile(3), '--json']);
    expect(done.code).toBe(0);
    expect(JSON.parse(done.out)).toMatchObject({ dry_run: false, applied: 3, revision: expect.any(Number) });
    const again = JSON.parse((await server.run(['apply', '-f', edgeFile(3), '--json'])).out);
    expect(again).toMatchObject({ changes: [], applied: 0 });
  });

  test('without changes names the number of objects that only the server has', async () => {
    const bare = await server.run(['apply', '-f', edgeFile(1)]);
    expect([bare.code, bare.out]).toEqual([
      0,
      'nothing to create or update; 2 objects of the server are not in the file (--prune deletes them)\n',
    ]);
  });

  test('stopped by a refusal with --json reports the state of each change and the refusal', async () => {
    const key = (await server.run(['key', 'create', 'owner', '--read-only', ...server.data])).out.trim();
    const stopped = await server.run(['apply', '-f', edgeFile(5), '--json', '--key', key]);
    expect(stopped.code).toBe(4);
    const document = JSON.parse(stopped.out);
    expect(document).toMatchObject({ applied: 0, revision: null, error: { status: 403 } });
    expect(document.error.message).toMatch(/^record m3 TXT.*: the server answered 403: /);
    expect(document.changes.map(({ state }: { state: string }) => state)).toEqual(['failed', 'not_tried']);
    expect((await server.run(['apply', '-f', edgeFile(5), '--dry-run', '--json', '--key', key])).code).toBe(
      1,
    );
  });

  test('to a domain without access, or to no API, exits with 4 and prints its object', async () => {
    writeFileSync(join(server.folder, 'other.yaml'), 'domain: nobody.test\n');
    const args = ['apply', '-f', 'other.yaml', '--dry-run'];
    const unknown = await server.run([...args, '--json']);
    expect(unknown.code).toBe(4);
    expect(JSON.parse(unknown.out)).toMatchObject({
      domain: 'nobody.test',
      changes: [],
      error: { message: expect.stringContaining('no domain `nobody.test`'), status: 404 },
    });
    const strange = await server.run([...args, '--server', server.operations]);
    expect(strange).toEqual({
      code: 4,
      out: '',
      err:
        `edgeplan: \`${server.operations}\` is not an edgeplan API: its answer 404 has no JSON\n` +
        '  edgeplan serve prints the address of its API; --server or EDGEPLAN_SERVER sets it\n',
    });
  });
});
