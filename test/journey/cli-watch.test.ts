import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { builtCli, edgeplan, startEdgeplan } from '../support/built.ts';

const EDGE = `domain: example.com
records:
  - { name: "@", type: A, destination: 192.0.2.1, proxied: true }
rules:
  - { key: office, type: drop, path_includes: [/admin], countries: [DE] }
`;
const TESTS = `tests:
  - { name: the office, request: GET https://example.com/admin, with: { country: DE }, expect: block }
`;
const REQUESTS = '{"scheme":"https","host":"example.com","target":"/admin","country":"DE"}\n';

let folder: string;
let stop: (() => Promise<number | null>) | null;
let out: string;
let err: string;

beforeAll(() => builtCli(), 120_000);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
  save('edge.yaml', EDGE);
  save('edge.test.yaml', TESTS);
  stop = null;
});
afterEach(async () => {
  await stop?.();
  rmSync(folder, { recursive: true });
});

function save(name: string, text: string): void {
  writeFileSync(join(folder, name), text);
}

/** Starts a command that watches. */
function watch(...args: string[]): void {
  out = '';
  err = '';
  const child = startEdgeplan([...args, '--watch'], { cwd: folder });
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const ended = new Promise<number | null>((resolve) => {
    child.on('close', resolve);
  });
  stop = () => {
    child.kill('SIGINT');
    return ended;
  };
}

/** Waits for a number of finished runs, and returns what was printed since the last call. */
async function afterRuns(count: number): Promise<{ readonly out: string; readonly err: string }> {
  await expect.poll(() => err.split('; Ctrl-C ends\n').length - 1).toBeGreaterThanOrEqual(count);
  const printed = { out, err };
  out = '';
  err = '';
  return printed;
}

describe('--watch', () => {
  it('tests again after each change, also of a file that is broken, removed and made again', async () => {
    watch('test');
    const first = await afterRuns(1);
    expect(first.out).toContain('1 passed');
    expect(first.err).toBe('watching edge.yaml, edge.test.yaml; Ctrl-C ends\n');
    expect(first.out).not.toContain('\u001b[2J');
    save('draft', EDGE.replace('DE', 'FR'));
    renameSync(join(folder, 'draft'), join(folder, 'edge.yaml'));
    const replaced = await afterRuns(1);
    expect(replaced.out).toContain('1 failed');
    expect(replaced.err).toMatch(/^\[\d\d:\d\d:\d\d\] changed: edge\.yaml\n/);
    save('edge.yaml', 'domain: [');
    await expect.poll(() => err).toContain('does not compile');
    await afterRuns(1);
    rmSync(join(folder, 'edge.yaml'));
    await expect.poll(() => err).toContain('there is no file `edge.yaml`');
    await afterRuns(1);
    save('edge.yaml', EDGE);
    await expect.poll(() => out).toContain('1 passed');
    await afterRuns(1);
    save('edge.test.yaml', TESTS.replace('expect: block', 'expect: forward'));
    await expect.poll(() => out).toContain('1 failed');
    expect(await stop?.()).toBe(0);
  });

  it('lints again', async () => {
    watch('lint', '--reporter', 'github');
    expect((await afterRuns(1)).out).toContain('exact_path_guard');
    save('edge.yaml', EDGE.replace('[/admin]', '[/admin/*]'));
    await expect.poll(() => out).toContain('bare_path_missed');
  });

  it('simulates again when the file of requests changes', async () => {
    save('requests.jsonl', REQUESTS);
    watch('simulate', '--requests', 'requests.jsonl', '--fail-on', 'block');
    expect((await afterRuns(1)).out).toContain('BLOCK');
    save('requests.jsonl', REQUESTS.replace('/admin', '/'));
    await expect.poll(() => out).toContain('FORWARD');
    expect(await stop?.()).toBe(0);
  });

  it.each([
    [['lint', '-f', '-', '--watch'], '--watch needs files'],
    [['simulate', '--requests', '-', '--watch'], '--watch needs files'],
    [['test', '-', '--watch'], '--watch needs files'],
    [['simulate', 'https://example.com/', '--why', 'nothing', '--watch'], 'there is no rule `nothing`'],
  ])('ends with 2 for %j', async (args, message) => {
    const { code, err: printed } = await edgeplan(args, { cwd: folder });
    expect({ code, refused: printed.includes(message) }).toEqual({ code: 2, refused: true });
  });
});
