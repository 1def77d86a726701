/** edge.lock against a real server: a key is the same rule, whatever is edited. */
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { builtCli, type Run, startEdgeplan } from '../support/built.ts';
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
  domain = `lock${++count}.test`;
  await server.domain(domain);
  rmSync(at('edge.lock'), { force: true });
});

function at(name: string): string {
  return join(server.folder, name);
}

function save(rules: string, name = 'edge.yaml'): void {
  writeFileSync(at(name), `domain: ${domain}\nrules:\n${rules}`);
}

function apply(...args: string[]): Promise<Run> {
  return server.run(['apply', ...args]);
}

/** The ids of the lock by key. */
function locked(): Readonly<Record<string, number>> {
  const { servers } = JSON.parse(readFileSync(at('edge.lock'), 'utf8'));
  return servers[server.url.replace(/\/$/, '')]?.[domain]?.rules ?? {};
}

/** The drop rules of the server. */
async function drops(): Promise<
  readonly { readonly id: number; readonly priority: number; countries: string[] }[]
> {
  return (await server.call('GET', `/domains/${domain}/rules/drop/`)).body;
}

describe('apply with a lock', () => {
  it('updates a rule of which all but the key has changed, and creates and deletes nothing', async () => {
    save('  - { key: one, type: drop, countries: [DE] }\n  - { key: two, type: drop, countries: [FR] }\n');
    expect((await apply()).code).toBe(0);
    const before = locked();
    expect(Object.keys(before)).toEqual(['drop/one', 'drop/two']);
    save(
      '  - { key: two, type: drop, priority: 7, countries: [DE] }\n' +
        '  - { key: one, type: drop, priority: 9, ips: [192.0.2.0/24] }\n',
    );
    const { out } = await apply('--prune');
    expect(out).toContain('applied 2 changes');
    expect(locked()).toEqual(before);
    expect((await drops()).map(({ id, priority }) => [id, priority]).sort()).toEqual(
      [
        [before['drop/two'], 7],
        [before['drop/one'], 9],
      ].sort(),
    );
    expect((await apply()).out).toContain('no changes');
  });

  it('gives a renamed key the rule of equal content, and forgets the old one', async () => {
    save('  - { key: old, type: drop, countries: [DE] }\n');
    await apply();
    const id = locked()['drop/old'];
    save('  - { key: new, type: drop, countries: [DE] }\n');
    expect((await apply()).out).toContain('no changes');
    expect(locked()).toEqual({ 'drop/new': id });
  });

  it('takes a key as new whose rule the server no longer has, and says so', async () => {
    save('  - { key: gone, type: drop, countries: [DE] }\n');
    await apply();
    const id = locked()['drop/gone'];
    await server.call('DELETE', `/domains/${domain}/rules/drop/${id}`);
    const { code, err } = await apply();
    expect(code).toBe(0);
    expect(err).toContain(`the server has no rule drop/${id}, which was drop/gone: taken as new`);
    expect(locked()['drop/gone']).not.toBe(id);
  });

  it('keeps the sections of other servers and domains, and changes nothing in a dry run', async () => {
    const other = { created_at: null, rules: { 'drop/x': 5 } };
    const servers = { 'https://other.test': { 'a.test': other } };
    writeFileSync(at('edge.lock'), JSON.stringify({ format: 'edgeplan.lock/v1', servers }));
    save('  - { key: one, type: drop, countries: [DE] }\n');
    const text = readFileSync(at('edge.lock'), 'utf8');
    await apply('--dry-run');
    expect(readFileSync(at('edge.lock'), 'utf8')).toBe(text);
    await apply();
    expect(JSON.parse(readFileSync(at('edge.lock'), 'utf8')).servers['https://other.test']).toEqual(
      servers['https://other.test'],
    );
    expect(Object.keys(locked())).toEqual(['drop/one']);
  });

  it('does not use the lock of an earlier domain of the same name', async () => {
    save('  - { key: one, type: drop, countries: [DE] }\n');
    await apply();
    const text = readFileSync(at('edge.lock'), 'utf8').replace(
      /"created_at": "\d{4}/g,
      '"created_at": "1999',
    );
    writeFileSync(at('edge.lock'), text);
    expect((await apply()).err).toContain(`is about an earlier ${domain} of the server: it is not used`);
    expect(readFileSync(at('edge.lock'), 'utf8')).not.toContain('1999');
  });

  it('writes no lock with --no-lock, for stdin, and without keys', async () => {
    save('  - { key: one, type: drop, countries: [DE] }\n');
    expect((await apply('--no-lock')).code).toBe(0);
    expect((await server.run(['apply', '-f', '-'], readFileSync(at('edge.yaml'), 'utf8'))).code).toBe(0);
    save('  - { type: drop, countries: [DE] }\n');
    expect((await apply()).code).toBe(0);
    expect(existsSync(at('edge.lock'))).toBe(false);
  });

  it('refuses a lock with a merge conflict before it changes anything', async () => {
    writeFileSync(at('edge.lock'), '<<<<<<< ours\n{}\n');
    save('  - { key: one, type: drop, countries: [DE] }\n');
    const { code, err } = await apply();
    expect({ code, said: err.includes('it has the marks of a merge conflict') }).toEqual({
      code: 3,
      said: true,
    });
    expect(await drops()).toEqual([]);
  });

  it('is true after a kill in the middle, and the next apply goes on from there', async () => {
    const rules = Array.from(
      { length: 120 },
      (_, index) =>
        `  - { key: r${index}, type: drop, priority: ${index + 1}, countries: [DE], path_includes: [/${index}] }\n`,
    );
    save(rules.join(''));
    const child = startEdgeplan(['apply'], { cwd: server.folder, env: { ...server.env } });
    const ended = new Promise((resolve) => child.on('close', resolve));
    await until(() => existsSync(at('edge.lock')) && Object.keys(locked()).length >= 10, 'some of the rules');
    child.kill('SIGKILL');
    await ended;
    const partial = locked();
    const stored = await drops();
    expect(stored.length).toBeLessThan(120);
    const priorities = new Map(stored.map(({ id, priority }) => [id, priority]));
    for (const [name, id] of Object.entries(partial))
      expect(priorities.get(id)).toBe(Number(name.slice('drop/r'.length)) + 1);
    // At most the rule that was just being made is not in the lock.
    expect(stored.length - Object.keys(partial).length).toBeLessThanOrEqual(1);
    expect((await apply()).code).toBe(0);
    expect(locked()).toMatchObject(partial);
    expect(Object.keys(locked())).toHaveLength(120);
    expect(await drops()).toHaveLength(120);
  });
});

describe('export with a lock', () => {
  it('writes the keys of the rules, so that the file is the one that was applied', async () => {
    save('  - { key: one, type: drop, countries: [DE] }\n  - { key: two, type: drop, countries: [FR] }\n');
    await apply();
    expect((await server.run(['export', domain, '-o', 'edge.yaml'])).code).toBe(0);
    const text = readFileSync(at('edge.yaml'), 'utf8');
    expect(text).toContain('  - key: one\n    type: drop\n    countries: [DE]\n  - key: two\n');
    expect((await apply()).out).toContain('no changes');
    expect((await server.run(['export', domain])).out).not.toContain('key:');
  });
});

describe('apply of a tree', () => {
  it('goes over every domain, and the worst exit code counts', async () => {
    const second = `second${count}.test`;
    await server.domain(second);
    for (const [name, of] of [
      ['one', domain],
      ['two', second],
      ['zero', 'unknown.test'],
    ]) {
      mkdirSync(at(`tree${count}/${name}`), { recursive: true });
      const text = `domain: ${of}\nrules:\n  - { key: k, type: drop, countries: [DE] }\n`;
      writeFileSync(at(`tree${count}/${name}/edge.yaml`), text);
    }
    const first = await apply('-f', `tree${count}`);
    expect(first.code).toBe(4);
    expect(first.out.match(/applied 1 change/g)).toHaveLength(2);
    expect(first.err).toContain('3 domains, 1 failed');
    rmSync(at(`tree${count}/zero`), { recursive: true });
    const again = await apply('-f', `tree${count}`, '--json', '--dry-run');
    expect(again.code).toBe(0);
    const lines = again.out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map((line) => [line.format, line.domain, line.changes])).toEqual([
      ['edgeplan.apply/v1', domain, []],
      ['edgeplan.apply/v1', second, []],
    ]);
    expect(existsSync(at(`tree${count}/two/edge.lock`))).toBe(true);
  });
});

/** With a server and a key of their own: a key makes 300 requests a minute. */
describe('a lock and the addresses of a server', () => {
  let first: Served;
  beforeAll(async () => {
    first = server;
    server = await serve({ tier: 'enterprise' });
  }, 120_000);
  afterAll(async () => {
    await server.stop();
    server = first;
  });

  it('means the same rules through another address of the server', async () => {
    save('  - { key: one, type: drop, countries: [DE] }\n');
    await apply();
    const before = readFileSync(at('edge.lock'), 'utf8');
    const other = `http://localhost:${server.port}`;
    save('  - { key: one, type: drop, priority: 3, countries: [FR], ips: [192.0.2.0/24] }\n');
    const edited = await apply('--server', other);
    expect([edited.code, edited.out]).toEqual([0, expect.stringContaining('applied 1 change')]);
    expect((await drops()).map(({ countries }) => countries)).toEqual([['FR']]);
    expect(readFileSync(at('edge.lock'), 'utf8')).toBe(before);
    save(
      '  - { key: one, type: drop, priority: 3, countries: [FR], ips: [192.0.2.0/24] }\n' +
        '  - { key: two, type: drop, countries: [PL] }\n',
    );
    await apply('--server', `${other}/`);
    expect(Object.keys(locked())).toEqual(['drop/one', 'drop/two']);
    expect((await apply()).out).toContain('no changes');
  });

  it('makes one section of those that an earlier release wrote for several addresses of a server', async () => {
    save('  - { key: one, type: drop, countries: [DE] }\n  - { key: two, type: drop, countries: [FR] }\n');
    await apply();
    const lock = JSON.parse(readFileSync(at('edge.lock'), 'utf8'));
    const servers = lock.servers as Record<string, Record<string, { created_at: string; rules: object }>>;
    const [address, domains] = Object.entries(servers)[0]!;
    const { created_at, rules } = domains[domain]!;
    const [one, two] = Object.entries(rules).map((entry) => Object.fromEntries([entry]));
    const elsewhere = { [domain]: { created_at, rules: two } };
    lock.servers = { [address]: { [domain]: { created_at, rules: one } }, 'http://a.test': elsewhere };
    writeFileSync(at('edge.lock'), JSON.stringify(lock));
    save('  - { key: one, type: drop, countries: [PL] }\n  - { key: two, type: drop, countries: [NL] }\n');
    expect((await apply()).out).toContain('applied 2 changes');
    expect(await drops()).toHaveLength(2);
    expect(locked()).toEqual(rules);
    expect(readFileSync(at('edge.lock'), 'utf8')).not.toContain('a.test');
  });

  it('does not take the lock of another server whose domain has the same name', async () => {
    save('  - { key: one, type: drop, countries: [DE] }\n');
    await apply();
    const text = readFileSync(at('edge.lock'), 'utf8');
    const url = server.url.replace(/\/$/, '');
    const moved = text.replace(url, 'http://a.test').replace(/"created_at": "\d{4}/, '"created_at": "1999');
    writeFileSync(at('edge.lock'), moved);
    save('  - { key: one, type: drop, countries: [DE] }\n');
    expect((await apply()).err).not.toContain('earlier');
    expect(readFileSync(at('edge.lock'), 'utf8')).toContain('"1999');
    expect(Object.keys(locked())).toEqual(['drop/one']);
  });
});
