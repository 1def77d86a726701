import { mkdtempSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCli, edgeplan, type Run } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
const UNTIDY = `rules:
    - {type: drop, key: office, ips: ['192.0.2.1']} # ours
domain: example.com
`;
const TIDY = `domain: example.com
rules:
  # ours
  - key: office
    type: drop
    ips: ["192.0.2.1"]
`;
const TESTS = `tests:
  - { request: GET https://example.com/, name: home, expect: forward }
`;

beforeAll(async () => {
  await builtCli();
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function fmt(args: readonly string[], stdin?: string): Promise<Run> {
  return edgeplan(['fmt', ...args], { cwd: folder, ...(stdin === undefined ? {} : { input: stdin }) });
}

function save(name: string, content: string): string {
  writeFileSync(join(folder, name), content);
  return name;
}

function read(name: string): string {
  return readFileSync(join(folder, name), 'utf8');
}

describe('fmt', () => {
  it('formats the edge file and its tests, and nothing the second time', async () => {
    save('edge.yaml', UNTIDY);
    save('edge.test.yaml', TESTS);
    expect(await fmt(['--check'])).toEqual({
      code: 1,
      out: 'edge.yaml\nedge.test.yaml\n',
      err: '2 files of 2 not formatted; edgeplan fmt formats them\n',
    });
    expect(read('edge.yaml')).toBe(UNTIDY);
    expect(await fmt([])).toEqual({
      code: 0,
      out: 'formatted edge.yaml\nformatted edge.test.yaml\n',
      err: '',
    });
    expect(read('edge.yaml')).toBe(TIDY);
    expect(await fmt([])).toEqual({ code: 0, out: '', err: '' });
    expect(await fmt(['--check'])).toEqual({ code: 0, out: '', err: '2 files formatted already\n' });
  });

  it('formats stdin to stdout', async () => {
    expect(await fmt(['-'], UNTIDY)).toEqual({ code: 0, out: TIDY, err: '' });
    expect((await fmt(['-', '--check'], UNTIDY)).code).toBe(1);
  });

  it('leaves a file with errors as it is, and formats the others', async () => {
    const broken = 'domain: example.com\nrules: [ { type: drop, ips: [no] } ]\n';
    save('broken.yaml', broken);
    save('other.yaml', UNTIDY);
    const { code, out, err } = await fmt(['broken.yaml', 'other.yaml']);
    expect({ code, out }).toEqual({ code: 3, out: 'formatted other.yaml\n' });
    expect(err).toContain('broken.yaml:2:30: error[invalid_ip]');
    expect(err).toContain('`broken.yaml` is left as it is: 1 error');
    expect(read('broken.yaml')).toBe(broken);
  });

  it('writes through a link and leaves the mode', async () => {
    save('target.yaml', UNTIDY);
    symlinkSync('target.yaml', join(folder, 'link.yaml'));
    const { mode } = statSync(join(folder, 'target.yaml'));
    expect((await fmt(['link.yaml'])).code).toBe(0);
    expect(read('target.yaml')).toBe(TIDY);
    expect(statSync(join(folder, 'target.yaml')).mode).toBe(mode);
  });

  it.each([
    [['-f', 'edge.yaml', 'edge.yaml'], 2, 'give one of the two'],
    [['-', 'edge.yaml'], 2, 'cannot be given with other files'],
    [['edge.json'], 2, 'is JSON'],
    [['no-such.yaml'], 3, 'there is no file'],
  ])('refuses %j', async (args, code, message) => {
    const run = await fmt(args);
    expect(run.code).toBe(code);
    expect(run.err).toContain(message);
  });
});
