/** publish, rollback and node-token, as typed, against a served data folder. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { send } from '../support/api.ts';
import { builtCli, edgeplan, type Run, startEdgeplan } from '../support/built.ts';
import { freePort } from '../support/free-ports.ts';
import { ALLOW_ORIGINS } from '../support/origin-bounds.ts';
import { until } from '../support/publish-setup.ts';
import { startNode } from './feed-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-publish-'));
const data = ['--data', join(folder, 'data')];
let server: ReturnType<typeof startEdgeplan>;
let port = 0;
let key = '';

function run(args: readonly string[], env: Record<string, string> = {}): Promise<Run> {
  const server = { EDGEPLAN_SERVER: `http://127.0.0.1:${port}`, EDGEPLAN_KEY: key };
  return edgeplan(args, { cwd: folder, env: { ...server, ...env } });
}

beforeAll(async () => {
  await builtCli();
  const ports = ['--port', '0', '--ops-port', '0', ...ALLOW_ORIGINS];
  server = startEdgeplan(['serve', ...data, ...ports, '--trust-names', '--log-level', 'error'], {
    cwd: folder,
  });
  let said = '';
  server.stdout.setEncoding('utf8').on('data', (text: string) => {
    said += text;
  });
  const listening = await until(() => /listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(said), 'the server');
  port = Number(listening[1]);
  expect((await run(['account', 'create', 'owner', ...data])).code).toBe(0);
  key = (await run(['key', 'create', 'owner', ...data])).out.trim();
}, 120_000);

afterAll(async () => {
  const ended = new Promise((resolve) => server.on('close', resolve));
  server.kill('SIGTERM');
  await ended;
  rmSync(folder, { recursive: true, force: true });
});

const EDGE = `domain: waiting.test
records:
  - { name: shop, type: A, destination: 192.0.2.1, proxied: true }
`;

describe('nodes and plans from the command line', () => {
  test('a node serves what is published, published again, and rolled back', async () => {
    const made = await run(['node-token', 'create', 'fra-1', ...data]);
    expect(made.err).toContain('shown only once');
    const [, token, publicKey] = /^EDGEPLAN_NODE_TOKEN=(\S+)\nEDGEPLAN_NODE_TRUST=(\S+)\n$/.exec(made.out)!;
    const node = await startNode({ port, token: token!, publicKey: publicKey! });
    const headers = { authorization: `Bearer ${key}` };
    const created = await send(port, {
      method: 'POST',
      path: '/domains/',
      body: { name: 'shop.test' },
      headers,
    });
    expect(created.status).toBe(200);
    await send(port, { method: 'POST', path: '/domains/shop.test/check-ns', headers });
    const first = await until(() => {
      const held = node.held.get('shop.test');
      return held?.evaluator === null ? null : held;
    }, 'the plan');
    const again = await run(['publish', 'shop.test']);
    expect([again.code, again.out]).toEqual([0, `shop.test is out as revision ${first.revision + 1}\n`]);
    const back = await run(['rollback', 'shop.test', String(first.revision)]);
    expect([back.code, back.out.split('\n')[0]]).toEqual([
      0,
      `shop.test is out as revision ${first.revision + 2}, with the content of revision ${first.revision}`,
    ]);
    await until(() => node.held.get('shop.test')?.revision === first.revision + 2, 'the rollback');
    expect((await run(['node-token', 'list', ...data])).out).toMatch(
      /^id +name +groups +state\n1 +fra-1 +default +seen /,
    );
    expect((await run(['node-token', 'revoke', 'fra-1', ...data])).code).toBe(0);
    await until(() => node.closed, 'the end');
    expect(node.farewell).toBe('this node token was revoked');
    expect(node.problems).toEqual([]);
  });

  test('every domain is published again by the running server', async () => {
    const headers = { authorization: `Bearer ${key}` };
    for (const name of ['all-1.test', 'all-2.test']) {
      const made = await send(port, { method: 'POST', path: '/domains/', body: { name }, headers });
      expect(made.status).toBe(200);
      await send(port, { method: 'POST', path: `/domains/${name}/check-ns?wait=published`, headers });
    }
    const newest = async (): Promise<number> =>
      (await send(port, { method: 'GET', path: '/domains/all-2.test/plans/?limit=1', headers })).body[0]
        .revision;
    const before = await newest();
    const all = await run(['publish', '--all', '--wait', '30', ...data]);
    expect([all.code, all.out]).toEqual([0, expect.stringMatching(/^\d+ domains published again\n$/)]);
    expect(await newest()).toBe(before + 1);
    const asked = await run(['publish', '--all', ...data]);
    expect([asked.code, asked.out]).toEqual([
      0,
      expect.stringMatching(/^\d+ domains to be published again by the server of this store\n$/),
    ]);
  });

  test.each([
    [['publish'], /no domain was named/],
    [['publish', 'shop.test', '--all'], /`shop\.test` and --all exclude one another/],
    [['publish', 'shop.test', '--wait', '5'], /`--wait` goes with --all/],
    [['publish', '--all', '--wait', '0'], /whole seconds from 1 to 86400/],
  ])('%j is a mistake of usage', async (args, says) => {
    const { code, err } = await run(args);
    expect([code, err]).toEqual([2, expect.stringMatching(says)]);
  });

  test('waiting for all without a server ends with an error that names the remedy', async () => {
    const alone = ['--data', join(folder, 'alone')];
    expect((await run(['account', 'create', 'owner', ...alone])).code).toBe(0);
    const none = await run(['publish', '--all', ...alone]);
    expect([none.code, none.out]).toEqual([
      0,
      'no domain has a plan, so there is nothing to publish again\n',
    ]);
    const copy = join(folder, 'copy.db');
    expect((await run(['backup', '--to', copy, ...data])).code).toBe(0);
    const restored = ['--data', join(folder, 'restored')];
    expect((await run(['restore', '--from', copy, ...restored])).code).toBe(0);
    const late = await run(['publish', '--all', '--wait', '1', ...restored]);
    expect([late.code, late.err]).toEqual([
      4,
      expect.stringMatching(/not published again after 1 s\n.*a server has to run on this store/s),
    ]);
  });

  test.each([
    ['managed', 'waiting.test', 'pending', 'POST /domains/waiting.test/check-ns checks it at once'],
    ['external', 'proof.test', 'unverified', 'then POST /domains/proof.test/verify'],
  ])('a %s domain that is not active yet is published, and not served', async (...row) => {
    const [dns_mode, name, status, remedy] = row;
    const headers = { authorization: `Bearer ${key}` };
    const body = { name, dns_mode };
    expect((await send(port, { method: 'POST', path: '/domains/', body, headers })).status).toBe(200);
    const clause = (revision: number): string =>
      `${name} is published as revision ${revision}, but not served while it is ${status}\n`;
    const again = await run(['publish', name]);
    expect([again.code, again.out]).toEqual([0, clause(1)]);
    expect(again.err).toContain(remedy);
    writeFileSync(join(folder, 'waiting.zone'), `www.${name}. A 192.0.2.1\n`);
    const imported = await run(['import', 'zone', name, '--zone', 'waiting.zone']);
    expect(imported.out).toContain(`1 imported, 0 not imported; ${clause(2)}`);
    expect(imported.err).toContain(remedy);
    const zone = '@ SOA a. b. 1 2 3 4 5\n@ NS ns1.elsewhere.test.\n';
    writeFileSync(join(folder, 'waiting.zone'), `${zone}www.${name}. A 192.0.2.1\n`);
    const second = await run(['import', 'zone', name, '--zone', 'waiting.zone']);
    expect([second.code, second.out]).toEqual([
      0,
      expect.stringContaining('0 imported, 0 not imported, 2 not needed'),
    ]);
    expect(second.err).toContain(':3: not needed: the same record exists already');
    writeFileSync(
      join(folder, 'waiting.zone'),
      `www.${name}. A 192.0.2.1\nx CNAME ${name}\ny A 192.0.2.300\n`,
    );
    const third = await run(['import', 'zone', name, '--zone', 'waiting.zone', '--dry-run']);
    expect([third.code, third.out]).toEqual([
      1,
      expect.stringContaining('1 would be imported, 1 not imported, 1 not needed'),
    ]);
    expect(third.err).toContain(
      `:2: imported: the name is read as \`${name}.${name}\`, since it has no dot at its end`,
    );
    writeFileSync(join(folder, 'waiting.yaml'), EDGE.replace('waiting.test', name));
    const applied = await run(['apply', '-f', 'waiting.yaml']);
    expect(applied.out).toContain(`applied 1 change; ${clause(3)}`);
    expect(applied.err).toContain(remedy);
    const { body: plans } = await send(port, { method: 'GET', path: `/domains/${name}/plans/`, headers });
    expect(plans.map(({ digest }: { digest: string | null }) => digest)).toEqual([null, null, null]);
  });

  test('a command that cannot be run prints the reason in a sentence', async () => {
    expect((await run(['node-token', 'create', 'ber-1', ...data])).code).toBe(0);
    const twice = await run(['node-token', 'create', 'ber-1', ...data]);
    expect([twice.code, twice.err]).toEqual([1, 'edgeplan: there is already a node `ber-1`\n']);
    expect((await run(['node-token', 'create', 'a b', ...data])).code).toBe(2);
    expect((await run(['node-token', 'revoke', 'nobody', ...data])).code).toBe(1);
    const unknown = await run(['publish', 'nobody.test']);
    const sentence = `edgeplan: the key has access to no domain \`nobody.test\` on \`http://127.0.0.1:${port}\`\n`;
    expect([unknown.code, unknown.err]).toEqual([4, expect.stringContaining(sentence)]);
    expect((await run(['rollback', 'nobody.test', '1'])).err).toContain(sentence);
    const never = await run(['rollback', 'shop.test', '999']);
    expect([never.code, never.err]).toEqual([
      1,
      'edgeplan: `shop.test` has no revision 999\n  GET /domains/shop.test/plans/ lists those it has\n',
    ]);
    expect((await run(['rollback', 'shop.test', 'x'])).code).toBe(2);
    const keyless = await run(['publish', 'shop.test'], { EDGEPLAN_KEY: '' });
    expect([keyless.code, keyless.err]).toEqual([2, expect.stringContaining('no API key was given')]);
    const wrong = await run(['publish', 'shop.test'], { EDGEPLAN_KEY: 'svc_wrong' });
    expect([wrong.code, wrong.err]).toEqual([
      4,
      expect.stringMatching(/401: invalid API key\n.*EDGEPLAN_KEY/),
    ]);
    const free = await freePort();
    const away = await run(['publish', 'shop.test'], { EDGEPLAN_SERVER: `http://127.0.0.1:${free}` });
    expect([away.code, away.err]).toEqual([
      4,
      expect.stringContaining(`nothing listens at \`http://127.0.0.1:${free}\`\n  edgeplan serve starts`),
    ]);
    const strange = await run(['publish', 'shop.test'], { EDGEPLAN_SERVER: 'http://nowhere.invalid' });
    expect([strange.code, strange.err]).toEqual([4, expect.stringContaining('cannot be reached')]);
  });
});
