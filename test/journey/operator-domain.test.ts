/** `edgeplan domain` and `edgeplan account disable`, as typed, beside a running server on both databases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { testDatabases } from '../support/databases.ts';
import { type Served, serve } from '../support/served.ts';

const DATABASES = testDatabases();
beforeAll(builtCli, 120_000);

describe.each(DATABASES)('an operator on $kind', (database) => {
  let server: Served;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const made = await database.make();
    drop = made.drop;
    server = await serve({ database: made.database });
    await server.domain('shop.test');
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await drop();
  });

  const run = (...args: readonly string[]): Promise<Run> =>
    edgeplan([...args, ...server.data], { cwd: server.folder });
  const status = async (): Promise<string> => (await server.call('GET', '/domains/shop.test')).body.status;
  const tombstone = async (): Promise<boolean> => {
    const [newest] = (await server.call('GET', '/domains/shop.test/plans/')).body;
    return newest.digest === null;
  };

  test('bans a domain, which its owner cannot enable, and lifts the ban', { timeout: 240_000 }, async () => {
    expect(await run('domain', 'ban', 'shop.test', '--reason', 'phishing')).toEqual({
      code: 0,
      out: 'shop.test is banned\n',
      err: '',
    });
    expect(await status()).toBe('banned');
    await expect.poll(tombstone).toBe(true);
    expect((await server.call('POST', '/domains/shop.test/enable')).status).toBe(409);
    const [entry] = (await server.call('GET', '/domains/shop.test/audit/')).body;
    expect([entry.action, entry.after]).toEqual([
      'domain.ban',
      expect.objectContaining({ reason: 'phishing' }),
    ]);
    expect((await run('domain', 'disable', 'shop.test', '--reason', 'x')).code).toBe(1);
    const lifted = await run('domain', 'unban', 'shop.test', '--proven', '--reason', 'cleaned up');
    expect(lifted.out).toBe('shop.test is active\n');
    await expect.poll(tombstone).toBe(false);
    const log = await edgeplan(['audit', 'shop.test', '--server', server.url], {
      cwd: server.folder,
      env: { EDGEPLAN_KEY: server.key },
    });
    expect(log).toMatchObject({ code: 0, err: '' });
    expect(log.out).toMatch(/domain\.ban *\n {4}status: active → banned\n {4}reason: phishing\n/);
    expect(log.out).toMatch(/domain\.unban *\n {4}status: banned → active\n {4}reason: cleaned up\n/);
  });

  test('moves domains and nodes between groups', { timeout: 240_000 }, async () => {
    const created = await run('node-token', 'create', 'eu-1', '--group', 'us,eu');
    expect([created.code, created.out]).toEqual([0, expect.stringMatching(/^EDGEPLAN_NODE_TOKEN=edn_/)]);
    expect((await run('node-token', 'list')).out).toMatch(/eu-1 +eu,us +never seen/);
    expect(await run('domain', 'group', 'shop.test', 'eu')).toEqual({
      code: 0,
      out: 'shop.test is in eu\n',
      err: 'nodes that follow a server get or remove its plan within seconds\n',
    });
    expect(JSON.parse((await run('domain', 'show', 'shop.test', '--json')).out)).toMatchObject({
      node_groups: ['eu'],
    });
    const [entry] = (await server.call('GET', '/domains/shop.test/audit/')).body;
    expect([entry.action, entry.before, entry.after]).toEqual([
      'domain.group',
      { node_groups: ['default'] },
      { node_groups: ['eu'] },
    ]);
    const reason = async (): Promise<string> =>
      (await server.call('GET', '/domains/shop.test/plans/')).body[0].reason;
    await expect.poll(reason).toBe('node groups changed');
    expect(await run('node-group', 'set-node', 'eu-1', 'us')).toMatchObject({ out: '`eu-1` is in us\n' });
    const list = await run('node-group', 'list');
    expect(list.out).toMatch(/^group +nodes +domains\neu +0 +1\nus +1 +0\n$/);
    expect(list.err).toContain('warning: no node is in `eu`');
    expect((await run('domain', 'group', 'shop.test', 'default')).err).toContain('served nowhere');
    expect((await run('node-group', 'set-node', 'nobody', 'us')).code).toBe(1);
    const wrong = await run('domain', 'group', 'shop.test', 'EU');
    expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('such as eu,us')]);
  });

  test('disables a domain, which its owner may enable', { timeout: 240_000 }, async () => {
    expect((await run('domain', 'disable', 'shop.test', '--reason', 'asked for')).out).toBe(
      'shop.test is disabled\n',
    );
    const shown = JSON.parse((await run('domain', 'show', 'shop.test', '--json')).out);
    expect(shown).toMatchObject({ domain: 'shop.test', status: 'disabled', suspended: false });
    const back = await run('domain', 'enable', 'shop.test', '--proven', '--reason', 'asked for');
    expect([back.out, back.err]).toEqual(['shop.test is active\n', '']);
    expect((await run('domain', 'disable', 'shop.test', '--reason', 'asked for')).code).toBe(0);
    // Without --proven the domain has to be checked again.
    const checked = await run('domain', 'enable', 'shop.test', '--reason', 'asked for');
    expect(checked.out).toBe('shop.test is pending\n');
    expect(checked.err).toMatch(/^next: .*POST \/domains\/shop\.test\/check-ns checks it at once\n$/);
  });

  test('disables an account: its keys answer 401 at once, and its domains log it', {
    timeout: 240_000,
  }, async () => {
    const name = JSON.parse((await run('domain', 'show', 'shop.test', '--json')).out).owner as string;
    expect((await run('account', 'disable', name)).code).toBe(0);
    expect((await server.call('GET', '/domains/')).status).toBe(401);
    expect((await run('account', 'disable', name)).err).toContain('is inactive already');
    expect((await run('account', 'enable', name)).code).toBe(0);
    expect((await server.call('GET', '/domains/')).status).toBe(200);
    expect((await run('account', 'disable', 'nobody')).code).toBe(1);
    const log = (await server.call('GET', '/domains/shop.test/audit/?limit=2')).body;
    const [enabled, disabled] = log;
    expect(enabled).toMatchObject({ action: 'account.enable', user_id: null, after: { active: true } });
    expect(disabled).toMatchObject({ action: 'account.disable', user_id: null, after: { active: false } });
    expect(disabled.subject).toBe(`account/${(await server.call('GET', '/domains/shop.test')).body.user_id}`);
  });

  test('requires a reason and an existing domain', { timeout: 240_000 }, async () => {
    expect((await run('domain', 'ban', 'shop.test')).code).toBe(2);
    expect((await run('domain', 'ban', 'shop.test', '--reason', ' ')).code).toBe(2);
    expect(await run('domain', 'ban', 'none.test', '--reason', 'x')).toMatchObject({
      code: 1,
      err: 'edgeplan: there is no domain `none.test`\n',
    });
  });
});
