import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
const EDGE = `domain: example.com
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { key: office, type: drop, path_includes: [/admin*], ip_match_type: exclude, ips: [198.51.100.0/24] }
  - { key: sub, type: captcha, path_includes: ["/x/*"], host_pattern: example.com }
`;
const TESTS = `tests:
  - name: the office
    request: GET https://example.com/admin
    expect: block 403 by drop/office
    cases:
      - { name: from home, with: { ip: 203.0.113.1 } }
      - { name: from work, with: { ip: 198.51.100.1 }, expect: forward }
`;

beforeAll(async () => {
  await builtCli();
  save('edge.yaml', EDGE);
  save('edge.test.yaml', TESTS);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

function save(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return name;
}

describe('test', () => {
  it('runs the tests beside the edge file', async () => {
    expect(await run('test')).toEqual({
      code: 0,
      err: '',
      out: '  ✔ the office › from home\n  ✔ the office › from work\n\n  2 passed · 2 requests\n',
    });
  });

  it('lists the mistakes that no test notices, and fails below --mutate-min', async () => {
    const { code, out, err } = await run('test', '--mutate-min', '90');
    expect({ code, err }).toEqual({
      code: 1,
      err: expect.stringContaining('below the 90 % of --mutate-min'),
    });
    expect(out).toMatch(/ {2}mutation {2}\d+ mutants · \d+ killed · \d+ survived · \d+ equivalent/);
    expect(out).toMatch(/○ captcha\/sub: removed {3}edge\.yaml:6\n/);
    expect(out).toContain('expect: challenge 403 by captcha/sub');
  }, 60_000);

  it('fails with the reason and both lines', async () => {
    const { code, out, err } = await run(
      'test',
      save('bad.yaml', TESTS.replace('from work,', 'from a café,').replace('198.51.100.1 ', '203.0.113.9 ')),
    );
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toContain('✘ the office › from a café   bad.yaml:7');
    expect(out).toContain('expected  forward\n      got       block 403 by drop/office\n');
    expect(out).toMatch(/because {3}drop\/office matched: .*outside the allowlist.* {3}edge\.yaml:5\n/);
    expect(out).toContain('1 passed, 1 failed · 2 requests');
  });

  it('filters by name', async () => {
    expect((await run('test', '--filter', 'WORK')).out).toContain('1 passed');
    const { code, err } = await run('test', '--filter', 'nothing');
    expect({ code, err }).toEqual({
      code: 2,
      err: 'edgeplan: no test has `nothing` in its name\n  nothing was checked\n',
    });
  });

  it('measures coverage, and fails below --fail-under', async () => {
    const { code, out, err } = await run('test', '--fail-under', '80');
    expect(code).toBe(1);
    expect(out).toContain(
      '  coverage  rules 1 of 2 · list entries 2 of 4 · 50 %\n    ○ captcha/sub never matched   edge.yaml:6\n',
    );
    expect(err).toBe('edgeplan: coverage is 50 %, below the 80 % of --fail-under\n');
    expect((await run('test', '--fail-under', '50')).code).toBe(0);
    expect((await run('test', '--fail-under', 'most')).code).toBe(2);
  });

  it('prints one JSON document', async () => {
    const { code, out } = await run('test', '--json', '--coverage');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      format: 'edgeplan.tests/v1',
      passed: 2,
      failed: 0,
      coverage: { percent: 50 },
    });
  });

  it('refuses tests with mistakes, each with its line and remedy', async () => {
    const { code, out, err } = await run(
      'test',
      save('typo.yaml', TESTS.replace('drop/office', 'drop/ofice')),
    );
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err).toContain(
      'typo.yaml:4:13: error[unknown_rule]: tests[0].expect: there is no rule `drop/ofice`',
    );
    expect(err).toContain('= write `drop/office`');
  });

  it('refuses an edge file that does not compile, and files that are not there', async () => {
    const broken = save('broken.yaml', EDGE.replace('captcha', 'captch'));
    expect(await run('test', '--file', broken, 'edge.test.yaml')).toMatchObject({ code: 3, out: '' });
    expect((await run('test', 'absent.yaml')).err).toBe('edgeplan: there is no file `absent.yaml`\n');
  });
});

describe('prove', () => {
  const INVARIANTS = `invariants:
  - name: the office alone
    when: { path: /admin*, ip: { not: 198.51.100.0/24 } }
    never: forward
`;

  it('proves invariants, after the tests and alone', async () => {
    const file = save('proved.yaml', TESTS + INVARIANTS);
    expect(await run('prove', file)).toEqual({
      code: 0,
      err: '',
      out: '  ✔ the office alone   proved: never forward\n\n  1 passed · 1 invariant\n',
    });
    const { code, out } = await run('test', file);
    expect({ code, end: out.split('\n').at(-2) }).toEqual({
      code: 0,
      end: '  3 passed · 2 requests · 1 invariant',
    });
  });

  it('shows a request that breaks an invariant, which simulate confirms', async () => {
    const file = save('broken.yaml', INVARIANTS.replace('/admin*', '/a*'));
    const { code, out } = await run('prove', file);
    expect(code).toBe(1);
    const [, request = ''] = /^ +(https\S+ --ip \S+) {3}broken\.yaml:2$/m.exec(out) ?? [];
    expect(out).toContain('claimed   never forward\n      got       forward to 192.0.2.1\n');
    const simulated = await run('simulate', '--json', ...request.split(' '));
    expect(JSON.parse(simulated.out)).toMatchObject({ decision: { action: 'forward' } });
  });

  it('reports in every format', async () => {
    const file = save('broken.yaml', INVARIANTS.replace('/admin*', '/a*'));
    const json = await run('prove', file, '--reporter', 'json');
    expect(JSON.parse(json.out)).toMatchObject({
      failed: 1,
      invariants: 1,
      tests: [{ claim: 'never forward', failures: [{ what: 'invariant', expected: 'never forward' }] }],
    });
    expect((await run('prove', file, '--reporter', 'junit')).out).toContain(
      '<failure message="expected never forward',
    );
    expect((await run('prove', file, '--reporter', 'github')).out).toContain(
      '::error file=broken.yaml,line=2',
    );
  });

  it('says what is missing', async () => {
    const { code, err } = await run('prove');
    expect({ code, err }).toEqual({
      code: 2,
      err: 'edgeplan: there are no invariants\n  write `invariants:` into the test file\n',
    });
    expect((await run('prove', save('wrong.yaml', INVARIANTS.replace('forward', 'forwrd')))).err).toContain(
      'wrong.yaml:4:12: error[invalid_value]: invariants[0].never: must be one of',
    );
  });
});

describe('lint', () => {
  it('prints findings with place, message and remedy, and fails on warnings', async () => {
    const { code, out, err } = await run('lint');
    expect({ code, err }).toEqual({ code: 1, err: '' });
    expect(out).toContain(
      'edge.yaml:6:48: warning[bare_path_missed]: rules[1].path_includes[0]: does not match `/x` itself, only paths below it, found `/x/*`',
    );
    expect(out).toContain('= add `example.com` to `host_includes`');
    expect((await run('lint', '--fail-on', 'error')).code).toBe(0);
  });

  it('prints the findings as JSON', async () => {
    const { out } = await run('lint', '--json');
    expect(JSON.parse(out).findings.map(({ code }: { code: string }) => code)).toEqual([
      'bare_path_missed',
      'deprecated_field',
    ]);
  });

  it('reports no findings for correct rules', async () => {
    const fine = save('fine.yaml', EDGE.split('\n').slice(0, 5).join('\n'));
    expect(await run('lint', '--file', fine)).toEqual({
      code: 0,
      out: '',
      err: '1 rule, no findings\n',
    });
  });

  it('reports deprecated fields that only the file has', async () => {
    const old = save('old.yaml', EDGE.replace('key: office,', 'key: office, record_id: 1,'));
    const { out } = await run('lint', '--file', old);
    expect(out).toContain('old.yaml:5:31: warning[deprecated_field]: rules[0].record_id: is deprecated');
    expect(out).toContain('= write `record_ids: [1]`');
  });

  it('notes a missing key where an edit resets state, and exits with 0', async () => {
    const limit = '  - { type: rate_limit, limit: 5, path_includes: [/login, /login/*] }\n';
    const keyless = save('keyless.yaml', EDGE.split('\n').slice(0, 5).join('\n').concat('\n', limit));
    const { code, out } = await run('lint', '--file', keyless);
    expect(code).toBe(0);
    expect(out).toContain(
      'keyless.yaml:6:5: info[missing_key]: rules[1].key: is missing, so the rule is identified by its content',
    );
    expect(out).toContain('= add a name that does not change');
    const named = save(
      'named.yaml',
      readFileSync(join(folder, keyless), 'utf8').replace('limit: 5,', 'key: a, limit: 5,'),
    );
    expect(await run('lint', '--file', named)).toMatchObject({ code: 0, out: '' });
  });

  it('prints a finding once that the file reader reports too', async () => {
    const twice = save('twice.yaml', EDGE.replace('/admin*', '/admin?a*'));
    const { out } = await run('lint', '--file', twice, '--json');
    expect(
      JSON.parse(out).findings.filter(({ code }: { code: string }) => code === 'query_in_path'),
    ).toHaveLength(1);
  });

  it('prints the errors of a file that does not compile', async () => {
    const broken = save('broken.yaml', EDGE.replace('captcha', 'captch'));
    const { code, out, err } = await run('lint', '--file', broken);
    expect({ code, err }).toEqual({ code: 3, err: 'edgeplan: `broken.yaml` does not compile: 1 error\n' });
    expect(out).toContain('broken.yaml:6:');
  });

  it('lints the shop', async () => {
    const shop = new URL('../../fixtures/shop/edge.yaml', import.meta.url);
    save('shop.yaml', readFileSync(shop, 'utf8'));
    expect((await run('lint', '--file', 'shop.yaml', '--fail-on', 'error')).code).toBe(0);
  });
});

describe('--reporter', () => {
  it('prints annotations, and writes JUnit XML to a file beside them', async () => {
    const bad = save('bad.yaml', TESTS.replace('198.51.100.1 ', '203.0.113.9 '));
    const report = join(folder, 'report.xml');
    const { code, out } = await run('test', bad, '--reporter', 'github', '--reporter', `junit=${report}`);
    expect(code).toBe(1);
    expect(out).toMatch(/^::error file=bad\.yaml,line=7,col=\d+,title=the office › from work::/);
    expect(readFileSync(report, 'utf8')).toMatch(
      /<testsuites name="edgeplan test" tests="2" failures="1" errors="0"/,
    );
  });

  it('names files from the root of the repository', async () => {
    const env = { GITHUB_WORKSPACE: join(folder, '..') };
    const { out } = await edgeplan(['lint', '--reporter', 'github'], { cwd: folder, env });
    expect(out).toMatch(/^::warning file=edgeplan-\w+\/edge\.yaml,line=6,/);
  });

  it('reports the errors of a file that does not compile', async () => {
    const { code, out } = await run(
      'test',
      '-f',
      save('broken.yaml', 'domain: ['),
      'x',
      '--reporter',
      'github',
    );
    expect(code).toBe(3);
    expect(out).toMatch(/^::error file=broken\.yaml,line=1,col=\d+,title=invalid_yaml::/);
  });

  it.each([
    [['--reporter', 'xml'], 'write one of human, json, junit, github'],
    [['--reporter', 'junit='], 'has no file after the ='],
    [['--json', '--reporter', 'junit'], 'both print to stdout'],
    [['--reporter', 'junit=a', '--reporter', 'json=a'], 'two reporters write `a`'],
  ])('refuses %j', async (args, message) => {
    const { code, err } = await run('lint', ...args);
    expect({ code, refused: err.includes(message) }).toEqual({ code: 2, refused: true });
  });
});
