import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));

const RULES: Readonly<Record<string, string>> = {
  'own/10-first.conf': `SecComponentSignature "OWN/1"
SecRule TX:paranoia_level "@lt 2" "id:1,phase:2,nolog,pass,skipAfter:END"
SecRule ARGS "@rx (?i)union\\s+select" "id:2,phase:2,block,tag:'attack-sqli',msg:'SQL'"
SecMarker END
Include more/*.inc
`,
  'own/more/a.inc': `SecRule REQUEST_HEADERS:User-Agent "@pmFromFile agents.data" "id:3,phase:1,deny,tag:'attack-scanner'"\n`,
  'own/more/agents.data': '# scanners\nnikto\nsqlmap\n',
  'own/20-response.conf': 'SecRule RESPONSE_BODY "@rx x" "id:4,phase:4,pass"\n',
  'no-data/rules/a.conf': 'SecRule ARGS "@pmf gone.data" "id:1,phase:2,block"\n',
  'no-setup/rules/REQUEST-901-INITIALIZATION.conf': 'SecMarker M\n',
  'crs/crs-setup.conf.example': 'SecAction "id:900000,phase:1,pass,nolog,setvar:tx.crs_setup_version=4"\n',
  'crs/plugins/x-before.conf': 'SecRule ARGS "@rx before" "id:11,phase:1,pass"\n',
  'crs/plugins/x-after.conf': 'SecRule ARGS "@rx after" "id:13,phase:1,pass"\n',
  'crs/rules/REQUEST-901-INITIALIZATION.conf':
    'SecRule &TX:crs_setup_version "@eq 0" "id:901001,phase:1,deny"\nSecRule ARGS "@rx rule" "id:12,phase:1,pass"\n',
  'plugin/README.md': '# A plugin',
  'plugin/plugins/p-before.conf': 'SecRule ARGS "@rx before" "id:22,phase:1,pass"\n',
  'plugin/plugins/p-after.conf': 'SecRule ARGS "@rx after" "id:23,phase:1,pass"\n',
  'plugin/plugins/p-config.conf': 'SecRule ARGS "@rx config" "id:21,phase:1,pass"\n',
  'bad.conf': 'SecRule ARGS "@rx a(?R)" "id:7,phase:2,block"\n',
};

beforeAll(async () => {
  await builtCli();
  mkdirSync(join(folder, 'empty'));
  for (const [name, text] of Object.entries(RULES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: string[]): Promise<Run> {
  return edgeplan(['waf', ...args], { cwd: folder });
}

describe('compile', () => {
  it('writes the program and prints its statistics and what was left out', async () => {
    const { code, out, err } = await run('compile', 'own', '--output', 'own.bin');
    expect(code).toBe(0);
    expect(out).toMatch(
      / {2}digest {4}sha256:[0-9a-f]{64}\n {2}name {6}OWN\/1\n {2}rules {5}1, 2, 2, 2 at paranoia 1 to 4\n/,
    );
    expect(err).toBe(
      'info[seclang_responses_left_out]: 1 rule of phases 3 to 5 left out: signatures inspect requests only\n',
    );
    expect(readFileSync(join(folder, 'own.bin')).subarray(0, 4).toString()).toBe('EPSG');
  });

  it('writes the same bytes for the same text', async () => {
    await run('compile', 'own', '--output', 'again.bin');
    expect(readFileSync(join(folder, 'again.bin'))).toEqual(readFileSync(join(folder, 'own.bin')));
  });

  it('prints the program as JSON', async () => {
    const { out } = await run('compile', 'own', '--print');
    const program = JSON.parse(out);
    expect(program.levels.map((level: { rules: readonly unknown[] }) => level.rules.length)).toEqual([
      1, 2, 2, 2,
    ]);
    expect(program.literals).toContain('sqlmap');
  });

  it('reads the files of the Core Rule Set in order', async () => {
    const { out } = await run('compile', 'crs', '--print');
    const [first] = JSON.parse(out).levels;
    expect(first.rules.map(({ id }: { id: number }) => id)).toEqual([11, 12, 13]);
  });

  it('reads the files of a plugin of the Core Rule Set in order', async () => {
    const { out } = await run('compile', 'plugin', '--print');
    const [first] = JSON.parse(out).levels;
    expect(first.rules.map(({ id }: { id: number }) => id)).toEqual([21, 22, 23]);
  });

  it('leaves out the rules of --without', async () => {
    expect((await run('compile', 'bad.conf')).code).toBe(3);
    expect(await run('compile', 'bad.conf', '--without', '7')).toMatchObject({ code: 0, err: '' });
  });

  it.each([
    ['nowhere', 'error[seclang_no_directory]: there is no such file or directory, found `nowhere`'],
    ['empty', 'error[seclang_no_rules]: the directory holds no `.conf` file, found `empty`'],
    [
      'no-setup',
      'error[seclang_no_setup]: the Core Rule Set has no `crs-setup.conf`, and denies every request without one, found `no-setup`',
    ],
    [
      'no-data',
      'no-data/rules/a.conf:1:1: error[seclang_unsupported]: the data file does not exist, found `gone.data`',
    ],
    [
      'bad.conf',
      'bad.conf:1:1: error[seclang_pattern]: rule 7: recursion is not supported: `(?R)`, found `a(?R)`',
    ],
  ])('%s: prints what is missing', async (path, expected) => {
    const { code, out, err } = await run('compile', path);
    expect({ code, out }).toEqual({ code: 3, out: '' });
    expect(err.split('\n')[0]).toBe(expected);
    expect(err).toContain(`edgeplan: \`${path}\` does not compile: 1 error\n`);
  });

  it('prints the first errors of a file that is not SecLang, and their number', async () => {
    writeFileSync(join(folder, 'letter.conf'), 'dear reader\n'.repeat(300));
    const { code, err } = await run('compile', 'letter.conf');
    expect(code).toBe(3);
    expect(err.match(/^letter\.conf:\d+:/gm)).toHaveLength(20);
    expect(err).toContain(
      '\nand 280 more\nedgeplan codes seclang_directive says more\nedgeplan: `letter.conf` does not compile: 300 errors\n',
    );
  });

  it('accepts only ids in --without', async () => {
    expect(await run('compile', 'own', '--without', 'x')).toMatchObject({ code: 2, out: '' });
    expect(await run('compile')).toMatchObject({ code: 2, out: '' });
  });
});

describe('show', () => {
  it('counts rules by paranoia, phase and category, patterns and literals', async () => {
    const { code, out } = await run('show', 'own');
    expect(code).toBe(0);
    expect(out).toContain('OWN/1\n\nparanoia  headers  body  rules  patterns');
    expect(out).toMatch(/\n1 {9}1 {8}0 {5}1 {6}0 /);
    expect(out).toMatch(/\n2 {9}1 {8}1 {5}2 {6}1 /);
    expect(out).toMatch(/\nsqli {6}0 {11}1 {11}1 {11}1\n/);
    expect(out).toContain('patterns  1: 1 with an automaton, 0 with a guard, 1 with required literals; ');
    expect(out).toContain('phrases   1 list\n');
  });

  it('shows the same for a sealed program as for its text', async () => {
    const [sealed, source] = await Promise.all([run('show', 'own.bin'), run('show', 'own')]);
    expect(sealed).toEqual({ code: 0, out: source.out, err: '' });
  });

  it('reads the Core Rule Set from --crs or EDGEPLAN_CRS', async () => {
    const named = await run('show', '--crs', 'crs', '--json');
    const environment = await edgeplan(['waf', 'show', '--json'], {
      cwd: folder,
      env: { EDGEPLAN_CRS: 'crs' },
    });
    expect(JSON.parse(named.out).levels[0]).toMatchObject({ paranoia: 1, headers: 3, body: 0 });
    expect(environment.out).toBe(named.out);
  });

  it('shows the starter set where no path is given', async () => {
    const { code, out } = await run('show');
    expect(code).toBe(0);
    expect(out).toMatch(/^edgeplan-starter\/1\n/);
    expect(await run('show', '--without', '7')).toMatchObject({ code: 2, out: '' });
  });

  it('refuses a damaged program with both checksums', async () => {
    const bytes = readFileSync(join(folder, 'own.bin'));
    bytes[40]! ^= 1;
    writeFileSync(join(folder, 'damaged.bin'), bytes);
    const { code, err } = await run('show', 'damaged.bin');
    expect(code).toBe(3);
    expect(err).toMatch(
      /`damaged\.bin` cannot be opened: the signature program is damaged: its checksum is [0-9a-f]{8} where/,
    );
  });
});
