/** `edgeplan fields` over the built command line, and records without a destination in every command. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { RULE_TYPES } from '../../src/base/vocabulary/vocabulary.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
beforeAll(builtCli, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder, env: { COLUMNS: '80' } });
}

describe('fields', () => {
  it('lists every type without an argument', async () => {
    const { code, out } = await run('fields');
    expect(code).toBe(0);
    const names = out.split('\n').flatMap((line) => /^\S+/.exec(line)?.[0] ?? []);
    expect(names).toEqual([
      ...RULE_TYPES,
      ...['rule', 'conditions', 'record', 'domain'],
      ...['consumer', 'usage_plan', 'token_issuer', 'edge.yaml', 'edge.test.yaml'],
    ]);
  });

  it('prints no line that is wider than the terminal', async () => {
    for (const type of ['drop', 'origin_pool', 'rule', 'edge.test.yaml']) {
      const { out } = await run('fields', type);
      expect(out.split('\n').filter((line) => line.length > 80)).toEqual([]);
    }
  });

  it('prints one field in full, also one that every rule has', async () => {
    const { out } = await run('fields', 'drop', 'path_includes');
    expect(out).toMatch(/^path_includes\n/);
    expect(out).toContain('example  path_includes: ["/admin", "/admin/*"]');
  });

  it('prints JSON in its format', async () => {
    const { out } = await run('fields', 'rate_limit', '--json');
    const { format, types } = JSON.parse(out);
    expect(format).toBe('edgeplan.fields/v1');
    expect(types[0].fields[0]).toEqual({
      name: 'limit',
      type: 'whole number from 1 to 1000000',
      required: true,
      minimum: 1,
      maximum: 1_000_000,
      description: 'requests allowed per window and key',
      examples: [100],
    });
  });

  it.each([
    ['block', 'drop'],
    ['ratelimit', 'rate_limit'],
    ['firewall', 'waf'],
    ['setings', 'domain'],
  ])('leads from `%s` to `%s` and ends with 2', async (name, meant) => {
    const { code, err } = await run('fields', name);
    expect([code, err]).toEqual([2, expect.stringContaining(`did you mean \`edgeplan fields ${meant}\`?`)]);
  });

  it.each([
    ['rate_limit', 'window', 'window_sec'],
    ['fingerprint', 'ja4', 'match_ja4'],
  ])('of `%s` leads from `%s` to `%s`', async (type, name, meant) => {
    const { code, err } = await run('fields', type, name);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`did you mean \`edgeplan fields ${type} ${meant}\`?`),
    ]);
  });

  it('ends with 2 for a path field of a type without paths', async () => {
    const { code, err } = await run('fields', 'fingerprint', 'path_includes');
    expect([code, err]).toEqual([2, expect.stringContaining('`fingerprint` has no field `path_includes`')]);
  });
});

describe('a record without a destination', () => {
  const file = 'edge.yaml';
  beforeAll(() => {
    writeFileSync(
      join(folder, file),
      'domain: example.com\nrecords: [{ name: shop }]\nrules: [{ type: captcha, records: [shop] }]\n',
    );
  });

  it('is answered by the application in a simulation, after the rules', async () => {
    const challenged = await run('simulate', 'https://shop.example.com/');
    expect(challenged.out).toContain('challenge');
    const passed = await run('simulate', 'https://shop.example.com/cart', '--cleared', 'captcha/1');
    expect(passed.out).toContain('FORWARD  application:/cart');
    expect(passed.out).toContain('shop.example.com is answered by the application');
    expect(passed.out).not.toContain('application.invalid');
  });

  it('is in a test as the simulation prints it', async () => {
    const url = 'https://shop.example.com/cart?x=1';
    const { out } = await run('simulate', url, '--cleared', 'captcha/1', '--as-test');
    expect(out).toContain('expect: forward to application:/cart?x=1');
    writeFileSync(join(folder, 'edge.test.yaml'), `tests:\n${out}`);
    const tested = await run('test');
    expect([tested.code, tested.err]).toEqual([0, '']);
  });

  it('is a note of lint, which ends with 0', async () => {
    const { code, out } = await run('lint');
    expect([code, out]).toEqual([0, expect.stringContaining('is answered by the application')]);
  });

  it('is refused by a node with the line and the remedy', async () => {
    const { code, err } = await run('node', '--file', file, '--port', '0', '--data', join(folder, 'data'));
    expect([code, err]).toEqual([
      3,
      expect.stringMatching(/edge\.yaml:2: the record `shop` has no `destination`/),
    ]);
    expect(err).toContain('give the record `type` and `destination`');
  });

  it('is refused by apply before the server is asked', async () => {
    const { code, err } = await edgeplan(['apply', '--server', 'http://127.0.0.1:9', '--file', file], {
      cwd: folder,
      env: { EDGEPLAN_KEY: `svc_${'a'.repeat(65)}` },
    });
    expect([code, err]).toEqual([3, expect.stringContaining('the DNS records of a server need one')]);
  });
});
