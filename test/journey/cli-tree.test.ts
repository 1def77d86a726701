/** Domains in several files, and several domains in one tree. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';

let folder: string;

const edge = (domain: string) => `domain: ${domain}
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - key: office
    type: drop
    path_includes: [/admin, /admin/*]
    countries: [DE]
`;
const PART = 'rules:\n  - { type: drop, key: shop, records: [shop], countries: [FR] }\n';
const RECORDS = 'records:\n  - { name: shop, type: A, destination: 192.0.2.2, proxied: true }\n';
const TESTS = `tests:
  - name: shop
    request: GET https://shop.a.test/
    with: { country: FR }
    expect: block 403 by drop/shop
`;

beforeAll(() => builtCli(), 120_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
  save('a/edge.yaml', edge('a.test'));
  save('a/edge.d/10-shop.yaml', PART);
  save('a/edge.d/05-records.yaml', RECORDS);
  save('a/edge.d/README.md', 'not a part');
  save('a/edge.d/.draft.yaml', 'domain: not read');
  save('a/edge.test.yaml', TESTS);
  save('b/c/edge.yaml', edge('b.test'));
});
afterEach(() => rmSync(folder, { recursive: true }));

function save(name: string, text: string): void {
  mkdirSync(dirname(join(folder, name)), { recursive: true });
  writeFileSync(join(folder, name), text);
}

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

describe('a domain in several files', () => {
  it('is simulated, tested and compiled with its parts', async () => {
    const { out } = await run('simulate', '-f', 'a/edge.yaml', 'https://shop.a.test/', '--country', 'FR');
    expect(out).toContain('by drop #2 shop · country FR is in countries [FR] · edge.d/10-shop.yaml:2');
    expect((await run('test', '-f', 'a/edge.yaml')).out).toContain('1 passed');
    expect((await run('compile', '-f', 'a/edge.yaml')).out).toContain('2 rules: 2 drop');
  });

  it('has mistakes at their files', async () => {
    save('a/edge.d/20-more.yaml', 'domain: x.test\n');
    const { code, err } = await run('compile', '-f', 'a/edge.yaml');
    expect(code).toBe(3);
    expect(err).toContain('a/edge.d/20-more.yaml:1:1: error[misplaced_field]: domain: must not be in a part');
    expect(err).toContain('  1 | domain: x.test\n');
  });

  it('is formatted file by file', async () => {
    expect((await run('fmt', '--check', '-f', 'a/edge.yaml')).out).toBe('a/edge.d/10-shop.yaml\n');
    expect((await run('fmt', 'a/edge.d/10-shop.yaml')).out).toBe('formatted a/edge.d/10-shop.yaml\n');
    expect(readFileSync(join(folder, 'a/edge.d/10-shop.yaml'), 'utf8')).toBe(
      'rules:\n  - key: shop\n    type: drop\n    records: [shop]\n    countries: [FR]\n',
    );
    save('a/edge.d/10-shop.yaml', PART.replace('[shop]', '[nothing]'));
    expect((await run('fmt', 'a/edge.d/10-shop.yaml')).code).toBe(3);
  });
});

describe('several domains in one tree', () => {
  it('are linted with one report, and the worst exit code', async () => {
    expect(await run('lint', '-f', '.')).toEqual({
      code: 0,
      out: '',
      err: 'a/edge.yaml: 2 rules, no findings\nb/c/edge.yaml: 1 rule, no findings\n',
    });
    save('a/edge.yaml', 'domain: [');
    save('b/c/edge.yaml', edge('b.test').replace('/admin, ', ''));
    const { code, out } = await run('lint', '-f', '.', '--json');
    expect(code).toBe(3);
    const { findings } = JSON.parse(out) as { readonly findings: readonly { at: { file: string } }[] };
    expect(findings.map(({ at }) => at.file)).toEqual(['a/edge.yaml', 'b/c/edge.yaml']);
  });

  it('are tested together; one that is broken does not stop the others', async () => {
    const both = await run('test', '-f', '.');
    expect({ code: both.code, err: both.err }).toEqual({ code: 0, err: '1 domain of 2 without tests\n' });
    save('b/c/edge.test.yaml', TESTS.replace('shop.a', 'shop.b').replace('FR', 'XX'));
    const broken = await run('test', '-f', '.');
    expect(broken.code).toBe(3);
    expect(broken.out).toContain('1 passed · 1 request');
    expect(broken.err).toContain('1 of 2 domains cannot be tested');
    const covered = await run('test', '-f', 'a', '--coverage');
    expect(covered.out).toContain('rules 1 of 2');
  });

  it('are compiled into a folder', async () => {
    mkdirSync(join(folder, 'out'));
    expect((await run('compile', '-f', '.', '-o', 'out')).code).toBe(0);
    const plan = await run('compile', '-f', 'out/b.test.edgeplan', '--print');
    expect(plan.code).toBe(0);
    const refused = await run('compile', '-f', '.', '-o', 'plan.edgeplan');
    expect({ code: refused.code, named: refused.err.includes('-o must name a folder') }).toEqual({
      code: 2,
      named: true,
    });
  });

  it('are formatted together', async () => {
    expect(await run('fmt', '.')).toEqual({ code: 0, out: 'formatted a/edge.d/10-shop.yaml\n', err: '' });
    expect((await run('fmt', '--check', '-f', '.')).err).toBe('5 files formatted already\n');
  });

  it.each([
    [['lint', '-f', 'a/edge.d'], 3, 'there is no `edge.yaml` in `a/edge.d`'],
    [['test', '-f', '.', 'a/edge.test.yaml'], 2, 'test files are for one domain'],
    [['compile', '-f', '.', '--print'], 2, '--print prints one plan, and -f names 2 domains'],
    [['diff', 'a', 'b'], 3, '`a` is a folder'],
  ])('refuses %j', async (args, code, message) => {
    const refused = await run(...args);
    expect({ code: refused.code, named: refused.err.includes(message) }).toEqual({ code, named: true });
  });
});
