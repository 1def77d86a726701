import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createProgram } from '../../src/cli/program.ts';
import { builtCli, edgeplan, type Run, shell } from '../support/built.ts';
import { missingProgram, requires } from '../support/requires.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
const SHOP = 'https://shop.example.com';

beforeAll(async () => {
  await builtCli();
  const { code } = await edgeplan(['init'], { cwd: folder });
  expect(code).toBe(0);
  await edgeplan(['compile', '-o', 'plan.edgeplan'], { cwd: folder });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

function save(name: string, content: string | Uint8Array): string {
  writeFileSync(join(folder, name), content);
  return name;
}

describe('the command', () => {
  it('shows its help and fails without a command', async () => {
    const { code, out, err } = await run();
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain('Usage: edgeplan');
    for (const name of ['init', 'simulate', 'test', 'lint', 'compile']) expect(err).toContain(`\n  ${name}`);
  });

  it('lists every command with a summary in one style', async () => {
    for (const group of [[], ['waf'], ['key']]) {
      const { out } = await run(...group, '--help');
      const listed = out.slice(out.indexOf(group.length === 0 ? '\nTry and write:\n' : '\nCommands:\n'));
      const said = [...listed.matchAll(/^ {2}[a-z-]+.*? {2,}(\S.*)$/gm)].map(([, text]) => text!);
      expect(said.length).toBeGreaterThan(2);
      expect(said.filter((text) => /^[A-Z]|\.$/.test(text))).toEqual([]);
    }
  });

  it('lists in its help what all commands say of themselves', async () => {
    const { out } = await run('--help');
    const program = await createProgram(undefined);
    program.configureOutput({ getOutHelpWidth: () => 80 });
    expect(out.startsWith(program.helpInformation())).toBe(true);
  });

  it('prints help and version on stdout for --help and --version', async () => {
    const help = await run('simulate', '--help');
    expect(help).toMatchObject({ code: 0, err: '' });
    expect(help.out).toContain('--origin-down');
    const fields = 'scheme method host target headers ip country bot body now cleared'.split(' ');
    for (const name of [...fields, 'ja4, ja4h']) expect(help.out).toContain(`\n  ${name.padEnd(9)}  `);
    expect(await run('--version')).toEqual({ code: 0, out: '0.1.0\n', err: '' });
  });

  it.each(['help simulat', 'simulat --help', 'help waf compil', 'waf help compil', 'waf compil --help'])(
    'suggests the nearest name where `%s` asks for the help of a command that does not exist',
    async (line) => {
      const { code, out, err } = await run(...line.split(' '));
      const name = line.includes('waf') ? 'compile' : 'simulate';
      expect({ code, out }).toEqual({ code: 2, out: '' });
      expect(err).toContain(`(Did you mean ${name}?)`);
    },
  );

  it('prints the same help for `help x y`, `x help y` and `x y --help`', async () => {
    const asked = await run('waf', 'compile', '--help');
    expect(asked).toMatchObject({ code: 0, err: '' });
    expect(await run('help', 'waf', 'compile')).toEqual(asked);
    expect(await run('waf', 'help', 'compile')).toEqual(asked);
  });

  it('suggests the nearest name for a mistyped flag or command', async () => {
    const flag = await run('simulate', SHOP, '--contry', 'DE');
    expect(flag).toMatchObject({ code: 2, out: '' });
    expect(flag.err).toContain('(Did you mean --country?)');
    const command = await run('simulat');
    expect(command.code).toBe(2);
    expect(command.err).toContain('(Did you mean simulate?)');
  });
});

describe('init', () => {
  it('writes a rule set that compiles without warnings', async () => {
    const { code, out, err } = await run('compile');
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('10 rules: 2 drop');
  });

  it('writes tests that pass', async () => {
    const { code, out } = await run('test');
    expect([code, out]).toEqual([0, expect.stringMatching(/\d+ passed/)]);
  });

  it('does not overwrite existing files', async () => {
    const place = mkdtempSync(join(tmpdir(), 'edgeplan-'));
    writeFileSync(join(place, 'edge.yaml'), 'mine');
    const { code, out } = await edgeplan(['init'], { cwd: place });
    expect(code).toBe(0);
    expect(out).toContain('kept  edge.yaml, which was there already');
    expect(readFileSync(join(place, 'edge.yaml'), 'utf8')).toBe('mine');
    expect(readFileSync(join(place, 'edge.test.yaml'), 'utf8')).toContain('tests:');
    rmSync(place, { recursive: true });
  });

  it('writes the schema that the first line of each file names, as the schema command prints it', async () => {
    for (const [name, file] of [
      ['edge', 'edge.yaml'],
      ['test', 'edge.test.yaml'],
    ] as const) {
      const text = readFileSync(join(folder, file), 'utf8');
      const schema = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text)?.[1] ?? '';
      const { code, out } = await run('schema', name);
      expect({ code, out }).toEqual({ code: 0, out: readFileSync(join(folder, schema), 'utf8') });
    }
  });

  it('reports a folder that is a file', async () => {
    const { code, err } = await run('init', save('a-file', ''));
    expect({ code, err }).toEqual({ code: 2, err: 'edgeplan: `a-file` is a file; name a folder\n' });
  });
});

describe('init elsewhere', () => {
  it('prints a next command that works from the current folder', async () => {
    const { code, out } = await run('init', "my edge's");
    expect(code).toBe(0);
    const next = /^next: npx edgeplan (.*)$/m.exec(out)?.[1] ?? '';
    const { out: shown } = await shell(`$EDGEPLAN ${next}`, { cwd: folder });
    expect(shown).toContain('✔ FORWARD  https://198.51.100.30/v2/orders');
  });

  it('leaves no partial file when the disk is full', async () => {
    const { code, err } = await shell('ulimit -f 1; $EDGEPLAN init small', { cwd: folder });
    expect({ code, err }).toEqual({
      code: 3,
      err: 'edgeplan: `small/edge.yaml` cannot be written: the file is too large\n',
    });
    expect(readdirSync(join(folder, 'small'))).toEqual([]);
  });

  const ROOT = process.getuid?.() === 0 ? 'tests run as root, which may write to every folder' : null;
  it('reports a folder without write permission', requires(ROOT), async () => {
    mkdirSync(join(folder, 'locked'), { mode: 0o555 });
    const { code, err } = await run('init', 'locked');
    expect({ code, err }).toEqual({
      code: 3,
      err: 'edgeplan: `locked/edge.yaml` may not be written: permission denied\n',
    });
  });
});

describe('simulate', () => {
  it('prints outcome, rule, place and dry run on stdout only', async () => {
    const { code, out, err } = await run(
      'simulate',
      `${SHOP}/api/orders?id=7`,
      '--country',
      'no',
      '--ip',
      '203.0.113.7',
    );
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out).toContain('✔ FORWARD  https://198.51.100.30/v2/orders?id=7');
    expect(out).toMatch(/◇ DRY RUN {2}drop #2 would have answered 403/);
    expect(out).toMatch(/origin_route #9 api-origin +chosen .*edge\.yaml:\d+/);
    expect(out).toContain('request 1 of 80 in 60 s for 203.0.113.7');
  });

  it('exits with 0 for a blocked request too', async () => {
    const { code, out } = await run('simulate', `${SHOP}/admin/`);
    expect(code).toBe(0);
    expect(out).toContain('✘ BLOCK  403\n     by drop #1 office-only');
  });

  it('prints a test case that passes', async () => {
    const { code, out } = await run('simulate', `${SHOP}/api/orders?id=7`, '--country', 'KP', '--as-test');
    expect(code).toBe(0);
    const { out: starter } = await shell('cat edge.test.yaml', { cwd: folder });
    const file = save('more.test.yaml', `${starter}${out}`);
    const tested = await run('test', file);
    expect(tested).toMatchObject({ code: 0, err: '' });
    expect(tested.out).toContain('✔ GET /api/orders?id=7 is forwarded by api-origin');
  });

  it('decides by a sealed plan as by its source, keys included', async () => {
    const args = [`${SHOP}/api/x`, '--json', '--at', '0'];
    const source = JSON.parse((await run('simulate', ...args)).out);
    const plan = JSON.parse((await run('simulate', ...args, '--file', 'plan.edgeplan')).out);
    expect(plan.plan.digest).toBe(source.plan.digest);
    expect(plan.decision).toEqual(source.decision);
    expect(plan.effective).toEqual(source.effective);
  });

  it('prints one JSON document', async () => {
    const { out } = await run('simulate', `${SHOP}/login`, '--json');
    const document = JSON.parse(out);
    expect(document.format).toBe('edgeplan.trace/v1');
    expect(document.decision).toMatchObject({
      action: 'challenge',
      status: 403,
      by: { type: 'captcha', key: 'login-captcha' },
    });
    expect(document.phases).toHaveLength(12);
    expect(document.plan.digest).toMatch(/^sha256:[0-9a-f]{64}$/);
    expect(document.assumptions).toContainEqual({
      input: 'challenge',
      value: 'not solved',
      affects: ['captcha/6'],
    });
    expect(document.timing.evaluate_us).toBeGreaterThanOrEqual(0);
  });

  it('accepts cleared challenges, origin statuses and options of curl', async () => {
    for (const solved of ['captcha/6', 'captcha/login-captcha']) {
      const passed = await run('simulate', `${SHOP}/login`, '--cleared', solved);
      expect(passed.out).toContain('✔ FORWARD');
    }
    const page = await run('simulate', `${SHOP}/`, '--status', '502');
    expect(page.out).toContain(
      '~ ERROR PAGE  a 502 from the origin shows its own page, error_page #10 branded-errors',
    );
    const pasted = await run(
      'simulate',
      'curl',
      '-sS',
      '--compressed',
      '-X',
      'DELETE',
      '-H',
      'Accept: */*',
      `${SHOP}/x`,
    );
    expect(pasted.out).toContain('DELETE https://shop.example.com/x');
    const host = await run('simulate', 'https://nowhere.test/', '-H', 'Host: shop.example.com', '--json');
    expect(JSON.parse(host.out).request.url).toBe(`${SHOP}/`);
  });

  it('accepts a method before the URL, and breaks a URL that is wider than the terminal', async () => {
    const url = `${SHOP}/${'long/'.repeat(20)}end`;
    const env = { COLUMNS: '60' };
    const { code, out } = await edgeplan(['simulate', 'DELETE', url], { cwd: folder, env });
    expect(code).toBe(0);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
    expect(out.replaceAll(/\n +/g, '')).toContain(`DELETE ${url}`);
  });

  it('classifies a User-Agent that only isbot recognises as a generic bot', async () => {
    const document = JSON.parse((await run('simulate', SHOP, '-A', 'python-requests/2.31', '--json')).out);
    expect(document.request.bot).toEqual({ kind: 'generic-bot', verified: false, from: 'generic' });
    const named = JSON.parse((await run('simulate', SHOP, '-A', 'GPTBot/1.2', '--json')).out);
    expect(named.request.bot).toEqual({ kind: 'gptbot', verified: false, from: 'user-agent' });
  });

  it('does not normalise the typed path', async () => {
    const { out } = await run('simulate', `${SHOP}/x/..%2fadmin/`);
    expect(out).toContain('✘ BLOCK  403');
  });

  it('reads the file of EDGEPLAN_FILE unless --file is given', async () => {
    const env = { EDGEPLAN_FILE: 'plan.edgeplan' };
    const args = ['simulate', SHOP, '--json'];
    const fromEnv = await edgeplan(args, { cwd: folder, env });
    expect(JSON.parse(fromEnv.out).plan.source).toBe('plan.edgeplan');
    const fromFlag = await edgeplan([...args, '--file', 'edge.yaml'], { cwd: folder, env });
    expect(JSON.parse(fromFlag.out).plan.source).toBe('edge.yaml');
  });
});

describe('simulate --why', () => {
  it('lists every check and a request that matches in a simulation', async () => {
    for (const name of ['office-only', '1', 'drop/1', 'drop/office-only']) {
      const { code, out } = await run('simulate', `${SHOP}/api/x`, '--why', name);
      expect(code).toBe(0);
      expect(out).toMatch(/^ {2}drop #1 office-only {2}priority 100 · enforce · enabled {3}edge\.yaml:\d+$/m);
      expect(out).toMatch(/✘ fail {2}path .*path_includes\[0\]$/m);
      expect(out).toMatch(
        /→ skipped: 1 of 5 checks failed\. It would match {2}https:\/\/shop\.example\.com\/admin$/m,
      );
    }
  });

  it('proposes only requests that match when they are simulated', async () => {
    const { out } = await run('simulate', `${SHOP}/api/x`, '--why', 'www-to-apex');
    const proposed = /It would match {2}(\S+)/.exec(out)?.[1] ?? '';
    const { out: seen } = await run('simulate', proposed, '--why', 'www-to-apex');
    expect(seen).toContain('→ redirected');
  });

  it('reports an unknown rule with the nearest names', async () => {
    const { code, out, err } = await run('simulate', SHOP, '--why', 'ofice-only');
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toBe('edgeplan: there is no rule `ofice-only`\n  did you mean office-only?\n');
    const far = await run('simulate', SHOP, '--why', '999');
    expect(far.err).toBe(
      'edgeplan: there is no rule `999`\n  the nearest ids are 8, 9, 10; --all lists every rule\n',
    );
    const none = await run('simulate', SHOP, '--why', '');
    expect(none).toMatchObject({
      code: 2,
      err: 'edgeplan: --why has no rule\n  write an id, a key or <type>/<id or key>; --all lists every rule\n',
    });
  });

  it('finds the rule of a plan by its key', async () => {
    const { code, out } = await run('simulate', SHOP, '-f', 'plan.edgeplan', '--why', 'office-only');
    expect(code).toBe(0);
    expect(out).toContain('drop #1 office-only');
  });
});

describe('mistakes', () => {
  const cases: readonly { what: string; args: readonly string[]; code: number; says: string }[] = [
    { what: 'no URL', args: ['simulate'], code: 2, says: 'no URL was given' },
    {
      what: 'a file where the URL belongs',
      args: ['simulate', 'edge.yaml', SHOP],
      code: 2,
      says: '`edge.yaml` is a file, not a URL\n  name the file with -f: edgeplan simulate -f edge.yaml https://',
    },
    {
      what: 'a form of output for two URLs',
      args: ['simulate', SHOP, SHOP, '--why', '1'],
      code: 2,
      says: '--why is for a single URL; 2 were given',
    },
    { what: 'a method alone', args: ['simulate', 'GET'], code: 2, says: 'no URL after the method `GET`' },
    { what: 'a method in lower case', args: ['simulate', 'get', SHOP], code: 2, says: 'write GET' },
    {
      what: 'a curl line with a pipe',
      args: ['simulate', `curl ${SHOP} | jq`],
      code: 2,
      says: '`|` needs quotes',
    },
    {
      what: 'a curl option that is not read',
      args: ['simulate', `curl ${SHOP} --form a=b`],
      code: 2,
      says: 'the curl option `--form` is not supported; leave it out',
    },
    {
      what: 'an action that is none',
      args: ['simulate', SHOP, '--fail-on', 'block,chalenge'],
      code: 2,
      says: '`chalenge` is not an action; did you mean challenge?',
    },
    {
      what: 'a body that names a file',
      args: ['simulate', SHOP, '-d', '@order.json'],
      code: 2,
      says: '`--data @order.json` names a file, which is not read',
    },
    {
      what: 'an edge file as signatures',
      args: ['waf', 'show', 'edge.yaml'],
      code: 2,
      says: '`edge.yaml` is an edge file and has no signatures',
    },
    {
      what: 'a signature that no set has',
      args: ['waf', 'show', '1'],
      code: 3,
      says: 'has no signature 1',
    },
    {
      what: 'a country that is none',
      args: ['simulate', SHOP, '--country', 'uk'],
      code: 2,
      says: '`uk` is not a country; did you mean GB?',
    },
    {
      what: 'two files',
      args: ['simulate', SHOP, '-f', 'edge.yaml', '-f', 'other.yaml'],
      code: 2,
      says: '`edge.yaml` was given before',
    },
    {
      what: 'two forms of output',
      args: ['simulate', SHOP, '--as-test', '--json'],
      code: 2,
      says: '--as-test and --json print different things',
    },
    {
      what: 'an edge file as requests',
      args: ['simulate', '--requests', 'edge.yaml'],
      code: 2,
      says: '`edge.yaml` is YAML; --requests takes a JSON object a line',
    },
    {
      what: 'an edge file as tests',
      args: ['test', 'edge.yaml'],
      code: 3,
      says: '`edge.yaml` is an edge file; write: edgeplan test -f edge.yaml',
    },
    {
      what: 'a file without its option to lint',
      args: ['lint', 'edge.yaml'],
      code: 2,
      says: 'name the file with -f: edgeplan lint -f edge.yaml',
    },
    {
      what: 'an address that is none',
      args: ['simulate', SHOP, '--ip', '1.2.3'],
      code: 2,
      says: '`1.2.3` is not an IPv4 or IPv6 address',
    },
    {
      what: 'a time that is none',
      args: ['simulate', SHOP, '--at', 'noon'],
      code: 2,
      says: '`noon` is not a time',
    },
    { what: 'a status that is none', args: ['simulate', SHOP, '--status', '200'], code: 2, says: '502:edge' },
    {
      what: 'a pool that is none',
      args: ['simulate', SHOP, '--origin-down', '80/0'],
      code: 2,
      says: 'there is no origin_pool `80`',
    },
    {
      what: 'a challenge nobody asks',
      args: ['simulate', SHOP, '--cleared', 'captcha/nope'],
      code: 2,
      says: '`captcha/nope` is not a challenge',
    },
    {
      what: 'a rate limit that the file does not have',
      args: ['simulate', SHOP, '--counted', 'rate_limit/nope=3'],
      code: 2,
      says: '`rate_limit/nope` is not a rate limit of `edge.yaml`\n  its rate limits are rate_limit/',
    },
    {
      what: 'requests counted before of several URLs',
      args: ['simulate', SHOP, SHOP, '--counted', 'rate_limit/nope=3'],
      code: 2,
      says: '--counted is for a single URL',
    },
    {
      what: 'a colour that is none',
      args: ['simulate', SHOP, '--color', 'red'],
      code: 2,
      says: 'auto, always, never',
    },
    {
      what: 'requests and a URL',
      args: ['simulate', SHOP, '--requests', '-'],
      code: 2,
      says: 'takes the place of a URL',
    },
    {
      what: 'requests and a fact',
      args: ['simulate', '--requests', '-', '--ip', '::1'],
      code: 2,
      says: '--ip is for a single one',
    },
    {
      what: 'no such file',
      args: ['simulate', SHOP, '-f', 'none.yaml'],
      code: 3,
      says: 'there is no file `none.yaml`',
    },
    {
      what: 'a directory',
      args: ['simulate', SHOP, '-f', '.'],
      code: 3,
      says: '`.` is a folder, not a file',
    },
    {
      what: 'requests that are not there',
      args: ['simulate', '--requests', 'none'],
      code: 3,
      says: 'there is no file `none`',
    },
    {
      what: 'a plan to compile',
      args: ['compile', '-f', 'plan.edgeplan'],
      code: 2,
      says: 'is already a plan',
    },
    ...['lint', 'test'].map((command) => ({
      what: `a plan to ${command}`,
      args: [command, '-f', 'plan.edgeplan'],
      code: 2,
      says: '`plan.edgeplan` is a sealed plan, which has no lines or keys; give the edge file',
    })),
    {
      what: 'a place that cannot be written',
      args: ['compile', '-o', 'no/such/place'],
      code: 3,
      says: '`no/such/place` cannot be written: there is no folder `no/such`',
    },
    {
      what: 'a folder to write to',
      args: ['compile', '-o', '.'],
      code: 3,
      says: '`.` cannot be written: it is a folder; name a file',
    },
  ];
  it.each(cases)('$what: one sentence, exit $code', async ({ args, code, says }) => {
    const answer = await run(...args);
    expect(answer).toMatchObject({ code, out: '' });
    expect(answer.err).toContain(says);
    expect(answer.err).not.toMatch(/\n +at /);
  });

  it('in a rule are printed with line, caret and remedy', async () => {
    const file = save('wrong.yaml', 'domain: example.com\nrecords: []\nrules:\n  - key: a\n    type: dorp\n');
    const { code, out, err } = await run('simulate', SHOP, '-f', file);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    const lines = err.split('\n');
    expect(lines[0]).toMatch(
      /^wrong\.yaml:5:11: error\[unknown_type\]: rules\[0\]\.type: must be one of .* found `dorp`$/,
    );
    expect(lines.slice(1, 6)).toEqual([
      '  5 |     type: dorp',
      '                ^',
      '  = did you mean `drop`?',
      'edgeplan codes unknown_type says more',
      'edgeplan: `wrong.yaml` does not compile: 1 error',
    ]);
  });

  it('in the encoding are printed with their line', async () => {
    const file = save(
      'latin1.yaml',
      new Uint8Array([...Buffer.from('domain: example.com\n# caf'), 0xe9, 0x0a]),
    );
    const { code, err } = await run('compile', '-f', file);
    expect(code).toBe(3);
    expect(err).toMatch(/^latin1\.yaml:2:6: error\[invalid_utf8\]: must be UTF-8 text/);
  });

  it('in the kind of file are not reported as a broken plan', async () => {
    const text = readFileSync(join(folder, 'edge.yaml'), 'utf8');
    const file = save('wide.yaml', Buffer.from(`\ufeff${text}`, 'utf16le'));
    for (const command of ['compile', 'lint']) {
      const { code, out, err } = await run(command, '-f', file);
      expect(code).toBe(3);
      expect(out + err).toMatch(
        /^wide\.yaml:1:\d: error\[invalid_utf8\]: must be UTF-8 text; this looks like UTF-16\n/,
      );
    }
  });

  it('in the bytes of a plan are reported by kind', async () => {
    const plan = readFileSync(join(folder, 'plan.edgeplan'));
    const changed = (at: number, to: number) => {
      const copy = Buffer.from(plan);
      copy[at] = to;
      return copy;
    };
    const damaged = changed(1000, (plan[1000] ?? 0) ^ 1);
    const broken = [
      { bytes: plan.subarray(0, 500), says: `the plan says it has ${plan.length} octets, these are 500` },
      { bytes: plan.subarray(0, 0), says: 'these are 0' },
      { bytes: damaged, says: 'the plan is damaged' },
      { bytes: changed(4, 99), says: 'the plan has version 99, this build reads' },
      { bytes: changed(0, 0), says: 'these bytes are not a plan' },
    ];
    for (const { bytes, says } of broken) {
      const { code, out, err } = await run('simulate', SHOP, '-f', save('broken.edgeplan', bytes));
      expect({ code, out }).toEqual({ code: 3, out: '' });
      expect(err).toMatch(/^edgeplan: `broken\.edgeplan` cannot be opened as a plan: .*\n$/);
      expect(err).toContain(says);
    }
  });
});

describe('colour and width', () => {
  const ESCAPE = '\u001b[';
  it('pipes get plain text, --color=always gets colour, and NO_COLOR applies to auto', async () => {
    expect((await run('simulate', SHOP)).out).not.toContain(ESCAPE);
    expect((await run('simulate', SHOP, '--color', 'always')).out).toContain(ESCAPE);
    const env = { EDGEPLAN_COLOR: 'always' };
    expect((await edgeplan(['simulate', SHOP], { cwd: folder, env })).out).toContain(ESCAPE);
    const never = await edgeplan(['simulate', SHOP, '--color', 'never'], { cwd: folder, env });
    expect(never.out).not.toContain(ESCAPE);
  });

  // `script` gives a command a terminal.
  it(
    'a terminal gets colour unless NO_COLOR is set',
    requires(missingProgram('script', 'bsdutils')),
    async () => {
      const line = `script -qec "$EDGEPLAN simulate ${SHOP}/" /dev/null`;
      const env = { TERM: 'xterm' };
      expect((await shell(line, { cwd: folder, env })).out).toContain(ESCAPE);
      expect((await shell(line, { cwd: folder, env: { ...env, NO_COLOR: '1' } })).out).not.toContain(ESCAPE);
    },
  );

  it('COLUMNS bounds the lines of the table', async () => {
    const { out } = await edgeplan(['simulate', `${SHOP}/api/x`], { cwd: folder, env: { COLUMNS: '60' } });
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(60);
  });
});

describe('compile', () => {
  it('writes the bytes it prints the digest of', async () => {
    const { out } = await run('compile', '-o', 'again.edgeplan');
    expect(readFileSync(join(folder, 'again.edgeplan'))).toEqual(readFileSync(join(folder, 'plan.edgeplan')));
    const { out: sum } = await shell('sha256sum again.edgeplan', { cwd: folder });
    expect(out).toContain(`sha256:${sum.slice(0, 64)}`);
  });

  it('leaves the old plan and no temporary file when the new one cannot be written', async () => {
    mkdirSync(join(folder, 'out'));
    writeFileSync(join(folder, 'out/plan.edgeplan'), 'the old one');
    const line = 'ulimit -f 1; $EDGEPLAN compile -o out/plan.edgeplan';
    const { code, out, err } = await shell(line, { cwd: folder });
    expect({ code, out, err }).toEqual({
      code: 3,
      out: '',
      err: 'edgeplan: `out/plan.edgeplan` cannot be written: the file is too large\n',
    });
    expect(readdirSync(join(folder, 'out'))).toEqual(['plan.edgeplan']);
    expect(readFileSync(join(folder, 'out/plan.edgeplan'), 'utf8')).toBe('the old one');
  });

  it('writes through links, to existing and new files, and preserves their mode', async () => {
    mkdirSync(join(folder, 'far'));
    writeFileSync(join(folder, 'far/old.edgeplan'), '', { mode: 0o640 });
    const plan = readFileSync(join(folder, 'plan.edgeplan'));
    for (const name of ['old', 'new']) {
      const link = join(folder, `${name}-link`);
      symlinkSync(`far/${name}.edgeplan`, link);
      expect((await run('compile', '-o', `${name}-link`)).code).toBe(0);
      expect(readlinkSync(link)).toBe(`far/${name}.edgeplan`);
      expect(readFileSync(join(folder, `far/${name}.edgeplan`))).toEqual(plan);
    }
    expect(statSync(join(folder, 'far/old.edgeplan')).mode & 0o777).toBe(0o640);
    expect(readdirSync(join(folder, 'far')).sort()).toEqual(['new.edgeplan', 'old.edgeplan']);
  });

  it('writes to a device without replacing it', async () => {
    const { code, out } = await shell('$EDGEPLAN compile -o /dev/stdout | head -c 4', { cwd: folder });
    expect({ code, out }).toEqual({ code: 0, out: 'EPLN' });
  });

  it('prints counts in the singular, and a small size in octets only', async () => {
    const input = 'domain: example.com\nrecords: []\nrules: []\n';
    const { out } = await edgeplan(['compile', '-f', '-'], { cwd: folder, input });
    expect(out).toMatch(/^ {2}size {6}(?:\d+ octets|[\d.]+ KiB \(\d+ octets\))$/m);
    expect(out).toMatch(/^ {2}indexes {3}(?:1 list|(?:0|[2-9]) lists), 0 rules checked for every request$/m);
  });

  it('prints the plan as JSON, from source and from a plan alike', async () => {
    const source = await run('compile', '--print');
    expect(source).toMatchObject({ code: 0, err: '' });
    expect((await run('compile', '--print', '-f', 'plan.edgeplan')).out).toBe(source.out);
    expect(() => JSON.parse(source.out)).not.toThrow();
  });

  it('reports output that cannot be written', async () => {
    const { code, err } = await shell('$EDGEPLAN compile --print > /dev/full', { cwd: folder });
    expect({ code, err }).toEqual({
      code: 3,
      err: 'edgeplan: the output cannot be written: the disk is full\n',
    });
  });

  it('reads an edge file from stdin', async () => {
    const input = readFileSync(join(folder, 'edge.yaml'));
    const { code, out } = await edgeplan(['compile', '-f', '-'], { cwd: folder, input });
    expect(code).toBe(0);
    expect(out).toContain('10 rules');
  });
});
