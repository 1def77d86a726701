/** `edgeplan draft` and `apply --draft` against a real server, which is also killed between a publication and its compile. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { builtCli, type Run } from '../support/built.ts';
import { until } from '../support/publish-setup.ts';
import { type Served, serve } from '../support/served.ts';

let server: Served;
let domain: string;
let count = 0;

beforeAll(async () => {
  await builtCli();
  server = await serve({ tier: 'enterprise' });
}, 120_000);
afterAll(() => server.stop());
beforeEach(async () => {
  domain = `draft${++count}.test`;
  await server.domain(domain);
});

function save(rules: string): void {
  const records = '  - { name: "@", type: A, destination: 198.51.100.1, proxied: true }\n';
  writeFileSync(join(server.folder, 'edge.yaml'), `domain: ${domain}\nrecords:\n${records}rules:\n${rules}`);
}

const run = (...args: string[]): Promise<Run> => server.run(args);
const draft = async () => (await server.call('GET', `/domains/${domain}/draft`)).body;
const action = async (path: string) => {
  const request = { host: domain, target: path, country: 'DE' };
  const { body } = await server.call('POST', `/domains/${domain}/simulate`, { request });
  return body.decision.action;
};

const ONE = '  - { key: one, type: drop, countries: [DE], path_includes: [/a] }\n';
const TWO = '  - { key: two, type: drop, countries: [DE], path_includes: [/b] }\n';

describe('a domain in manual mode', () => {
  it('shows, compares, publishes and discards its draft', async () => {
    save(ONE);
    expect((await run('apply')).code).toBe(0);
    expect((await run('draft', 'mode', domain)).out).toBe(`${domain} publishes every change at once\n`);
    const mode = await run('draft', 'mode', domain, 'manual');
    expect(mode.out).toBe(`${domain} collects changes of rules in a draft\n`);
    save(ONE + TWO);
    const applied = await run('apply', '--draft');
    expect(applied.out).toContain(`applied 1 change; changes of rules wait in the draft of ${domain}`);
    expect(applied.err).toContain(`edgeplan draft publish ${domain} publishes them`);
    expect(await action('/b')).toBe('forward');
    const shown = await run('draft', 'show', domain);
    expect(shown.out).toMatch(/^the draft of \S+ changes 1 rule since .*; published: revision \d+\n/);
    expect(shown.out).toMatch(/drop\/\d+ +created +\S+Z +\S+/);
    const compared = await run('draft', 'diff', domain);
    expect(compared.code).toBe(1);
    expect(compared.out).toContain('published → draft: 1 rule added');
    expect(compared.out).toMatch(/outcomes? changes?, (each )?with a request that shows it:/);
    expect(compared.out).toContain(`${domain}/b`);
    const { etag } = JSON.parse((await run('draft', 'show', domain, '--json')).out);
    expect(JSON.parse((await run('draft', 'diff', domain, '--json')).out)).toMatchObject({
      format: 'edgeplan.draft-diff/v1',
      same: false,
      etag,
    });
    const stale = await run('draft', 'publish', domain, '--if-match', '"another"');
    expect([stale.code, stale.err]).toEqual([4, expect.stringContaining('412')]);
    const out = await run('draft', 'publish', domain, '--if-match', etag);
    expect([out.code, out.out]).toEqual([0, expect.stringMatching(/is out as revision \d+\n$/)]);
    expect(await action('/b')).toBe('block');
    expect((await run('draft', 'diff', domain)).code).toBe(0);
    save(ONE);
    await run('apply', '--prune');
    expect((await draft()).changed).toBe(1);
    expect(await action('/b')).toBe('block');
    const gone = await run('draft', 'discard', domain);
    expect(gone.out).toBe('the changes of 1 rule were thrown away\n');
    expect((await draft()).changed).toBe(0);
    expect(await action('/b')).toBe('block');
  }, 120_000);

  it('apply publishes only with --publish, which refuses a draft that others have begun', async () => {
    save(ONE);
    const early = await run('apply', '--draft');
    expect([early.code, early.err]).toEqual([4, expect.stringContaining('draft mode')]);
    expect((await run('apply')).code).toBe(0);
    await run('draft', 'mode', domain, 'manual');
    save(ONE + TWO);
    const plain = JSON.parse((await run('apply', '--json')).out);
    expect(plain).toMatchObject({ applied: 1, revision: null, draft: (await draft()).edit, error: null });
    expect(await action('/b')).toBe('forward');
    await run('draft', 'discard', domain);
    expect((await run('apply', '--publish', '--draft')).code).toBe(2);
    const applied = await run('apply', '--publish', '--json');
    expect(JSON.parse(applied.out)).toMatchObject({ applied: 1, draft: null, error: null });
    expect(JSON.parse(applied.out).revision).toBeGreaterThan(1);
    expect(await action('/b')).toBe('block');
    await server.call('POST', `/domains/${domain}/rules/drop/`, {
      countries: ['DE'],
      path_includes: ['/c'],
    });
    save(ONE);
    const refused = await run('apply', '--prune', '--publish');
    expect([refused.code, refused.err]).toEqual([4, expect.stringContaining('changes 1 rule already')]);
    expect(refused.err).toContain(`edgeplan draft diff ${domain} shows them`);
    expect((await draft()).changed).toBe(1);
    const left = await run('apply', '--prune', '--draft', '--json');
    expect(JSON.parse(left.out)).toMatchObject({ revision: null, draft: (await draft()).edit });
    expect((await run('draft', 'mode', domain, 'automatic')).code).toBe(4);
  }, 120_000);
});

describe('a server that is killed', () => {
  it('loses no draft, and publishes one whose publication was answered', async () => {
    const data = mkdtempSync(join(tmpdir(), 'edgeplan-draft-'));
    const path = '/domains/kill.test';
    const rule = (target: string) => ({ countries: ['DE'], path_includes: [target] });
    let last = await serve({ tier: 'enterprise', database: data });
    /** Ends the process at once, and starts another on its data. */
    const restart = async (): Promise<void> => {
      process.kill(last.pid, 'SIGKILL');
      await last.stop();
      last = await serve({ tier: 'enterprise', database: data });
    };
    const blocks = async (target: string): Promise<boolean> => {
      const request = { host: 'kill.test', target, country: 'DE' };
      const { status, body } = await last.call('POST', `${path}/simulate`, { request });
      return status === 200 && body.decision.action === 'block';
    };
    try {
      await last.domain('kill.test');
      const record = { name: '@', type: 'A', destination: '198.51.100.1', proxied: true };
      await last.call('POST', `${path}/records/`, record);
      await last.call('PUT', `${path}/publishing`, { publish_mode: 'manual' });
      await last.call('POST', `${path}/rules/drop/`, rule('/a'));
      await restart();
      expect((await last.call('GET', `${path}/draft`)).body.changed).toBe(1);
      expect(await blocks('/a')).toBe(false);
      expect((await last.call('POST', `${path}/draft/publish`)).body.changed).toBe(1);
      await restart();
      await until(() => blocks('/a'), 'the publication');
      expect((await last.call('GET', `${path}/draft`)).body.changed).toBe(0);
    } finally {
      await last.stop();
      rmSync(data, { recursive: true, force: true });
    }
  }, 600_000);
});
