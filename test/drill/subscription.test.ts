/** subscription, as typed, beside a running server on both databases. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { everyDatabase } from '../support/databases.ts';
import { until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';

const DATABASES = everyDatabase();
beforeAll(builtCli, 120_000);

describe.each(DATABASES)('subscription on $kind', (database) => {
  let server: Served;
  let drop: () => Promise<void>;
  beforeAll(async () => {
    const made = await database.make();
    drop = made.drop;
    server = await serve({ database: made.database, tier: 'free' });
    await server.domain('shop.test');
  }, 60_000);
  afterAll(async () => {
    await server.stop();
    await drop();
  });

  const run = (...args: readonly string[]): Promise<Run> =>
    edgeplan(['subscription', ...args, ...server.data], { cwd: server.folder });
  const waf = async (): Promise<number> =>
    (await server.call('POST', '/domains/shop.test/rules/waf/', {})).status;

  test('a subscription changes what the API allows, and its change is in the audit log', async () => {
    expect((await run('show', 'shop.test')).out).toContain('tier       none of its own');
    expect(await waf()).toBe(403);
    const set = await run(
      'set',
      'shop.test',
      '--tier',
      'pro',
      '--until',
      '2999-01-31',
      '--override',
      'max_records=7',
    );
    expect(set).toEqual({
      code: 0,
      out:
        'domain     shop.test\nstate      active\ntier       pro\n' +
        'until      2999-01-31T00:00:00.000Z\noverrides  max_records=7\n',
      err: '',
    });
    expect(await waf()).toBe(200);
    expect((await run('show', 'shop.test')).out).toMatch(
      /^allows\n {2}max_records +7\n {2}max_traffic_gb +1000\n/m,
    );
    const features = (await server.call('GET', '/domains/shop.test/features')).body;
    expect([features.plan_slug, features.max_records]).toEqual(['pro', 7]);
    await run('set', 'shop.test', '--override', 'max_records=', '--override', 'disabled_rule_types=waf');
    expect(await waf()).toBe(403);
    const shown = JSON.parse((await run('show', 'shop.test', '--json')).out);
    expect(shown.subscription).toEqual({
      tier: 'pro',
      active: true,
      until: '2999-01-31T00:00:00.000Z',
      overrides: { disabled_rule_types: ['waf'] },
      in_force: true,
    });
    expect((await run('set', 'shop.test', '--until', '2020-01-01')).out).toContain('pro, not in force');
    expect((await run('remove', 'shop.test')).code).toBe(0);
    expect((await run('remove', 'shop.test')).code).toBe(1);
    const audit = (await server.run(['audit', 'shop.test', '--limit', '4'])).out;
    expect(audit).toMatch(/operator or service {2}subscription\.remove/);
    expect(audit).toContain('    until: 2999-01-31T00:00:00.000Z → 2020-01-01T00:00:00.000Z\n');
  });

  test('the plan has whether WebSockets are part of the subscription', async () => {
    const off = async (): Promise<boolean> => {
      const answer = await server.call('GET', '/domains/shop.test/plans/?limit=1');
      const { revision } = answer.body[0];
      const plan = await server.call('GET', `/domains/shop.test/plans/${revision}`);
      return plan.body.plan.domain.websockets_off;
    };
    await run('set', 'shop.test', '--tier', 'pro');
    await until(async () => !(await off()), 'WebSockets');
    await run('set', 'shop.test', '--override', 'ws_enabled=false');
    await until(off, 'none');
    await run('set', 'shop.test', '--override', 'ws_enabled=');
    await until(async () => !(await off()), 'WebSockets again');
    await run('remove', 'shop.test');
    await until(off, 'none of the free tier');
  });

  test('suspends and resumes, published each time', async () => {
    const newest = async (): Promise<{ reason: string; digest: string | null }> =>
      (await server.call('GET', '/domains/shop.test/plans/?limit=1')).body[0];
    expect((await run('set', 'shop.test', '--state', 'suspended')).out).toContain(
      'the edge refuses its visitors',
    );
    expect((await server.call('GET', '/domains/shop.test')).body.suspended).toBe(true);
    await until(async () => (await newest()).reason === 'the domain was suspended', 'the tombstone');
    expect((await newest()).digest).toBeNull();
    expect((await run('set', 'shop.test', '--state', 'active')).out).toContain('state      active\n');
    await until(async () => (await newest()).reason === 'the domain is no longer suspended', 'the plan');
    expect((await newest()).digest).not.toBeNull();
    const [entry] = (await server.call('GET', '/domains/shop.test/audit/?limit=1')).body;
    expect(entry).toMatchObject({ action: 'domain.resume', user_id: null, before: { suspended: true } });
  });

  test('an impossible subscription is refused with its reason', async () => {
    expect((await run('show', 'nobody.test')).err).toBe('edgeplan: there is no domain `nobody.test`\n');
    expect((await run('set', 'shop.test', '--until', '2999-01-01')).err).toContain('has no subscription yet');
    expect((await run('set', 'shop.test')).code).toBe(2);
    expect((await run('set', 'shop.test', '--tier', 'gold')).code).toBe(2);
    const slip = await run('set', 'shop.test', '--override', 'max_record=5');
    expect([slip.code, slip.err]).toEqual([2, expect.stringContaining('did you mean `max_records`?')]);
  });
});
