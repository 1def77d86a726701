/** `edgeplan replay` over a log that is larger than the memory it may use, and its progress on a terminal. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { createWriteStream, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { missingProgram, requires } from '../support/requires.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-large-'));
const LINES = 800_000;
const AGENT = 'Mozilla/5.0 (X11; Linux x86_64; rv:130.0) Gecko/20100101 Firefox/130.0';
/** Of 112 MB of log, a good half. */
const HEAP = { NODE_OPTIONS: '--max-old-space-size=64' };

/** Lines a hundred a second, each visitor with a log-in every ten seconds. */
function* lines(): Generator<string> {
  for (let at = 0; at < LINES; at += 1_000) {
    const texts = Array.from({ length: 1_000 }, (_, index) => {
      const line = at + index;
      const time = new Date(Date.UTC(2026, 0, 31) + Math.floor(line / 100) * 1_000).toUTCString();
      const [, day, month, year, clock] = time.split(' ');
      const path = line % 10 === 0 ? '/login' : `/products/${line}`;
      return `203.0.${(line >> 3) % 113}.${line % 100} - - [${day}/${month}/${year}:${clock} +0000] "GET ${path} HTTP/1.1" 200 1 "-" "${AGENT}"\n`;
    });
    yield texts.join('');
  }
}

beforeAll(async () => {
  await builtCli();
  await pipeline(lines, createWriteStream(join(folder, 'access.log')));
  const records = [{ name: '@', type: 'A', destination: '192.0.2.1', proxied: true }];
  const rules = [
    { key: 'rate', type: 'rate_limit', limit: 2, window_sec: 3_600, path_includes: ['/login'] },
    { key: 'some', type: 'drop', path_includes: ['/products/*7'] },
  ];
  writeFileSync(join(folder, 'edge.yaml'), JSON.stringify({ domain: 'example.com', records, rules }));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('a log of 112 MB', () => {
  it('is replayed within 64 MiB of heap, with one rule set or two', { timeout: 600_000 }, async () => {
    for (const before of [[], ['--before', 'edge.yaml']]) {
      const args = ['replay', '--log', 'access.log', '--json', ...before];
      const { code, out, err } = await edgeplan(args, { cwd: folder, env: HEAP });
      expect({ code, err }).toEqual({ code: 0, err: expect.stringContaining('800,000 lines in') });
      expect(JSON.parse(out)).toMatchObject({ compared: LINES, lines: LINES, late: 0, changed: 0 });
    }
  });

  it('is compared by its statuses within the same', { timeout: 600_000 }, async () => {
    const args = ['replay', '--log', 'access.log', '--json', '--compare-status'];
    const { code, out } = await edgeplan(args, { cwd: folder, env: HEAP });
    expect(code).toBe(1);
    const { compared, changed, verdicts } = JSON.parse(out);
    expect({ compared, sum: changed + verdicts.same }).toEqual({ compared: LINES, sum: LINES });
    expect(changed).toBeGreaterThan(LINES / 20);
  });

  it('is read as five logs at once within the same', { timeout: 600_000 }, async () => {
    const parts = Array.from({ length: 5 }, (_, part) => `part-${part}.log`);
    const streams = parts.map((part) => createWriteStream(join(folder, part)));
    let at = 0;
    for (const chunk of lines()) {
      const stream = streams[at++ % streams.length]!;
      if (!stream.write(chunk)) await once(stream, 'drain');
    }
    await Promise.all(streams.map((stream) => new Promise<void>((resolve) => stream.end(() => resolve()))));
    const args = ['replay', '--json', ...parts.flatMap((part) => ['--log', part])];
    const { code, out } = await edgeplan(args, { cwd: folder, env: HEAP });
    expect(code).toBe(0);
    const whole = await edgeplan(['replay', '--json', '--log', 'access.log'], { cwd: folder });
    const counts = (text: string): unknown =>
      JSON.parse(text).outcomes.map(({ outcome, lines: count }: { outcome: string; lines: number }) => [
        outcome,
        count,
      ]);
    expect(counts(out)).toEqual(counts(whole.out));
  });
});

describe('on a terminal', requires(missingProgram('script', 'bsdutils')), () => {
  it('progress is a line that is written again, and removed before the report', { timeout: 600_000 }, () => {
    const command = `${process.execPath} ${MAIN} replay --log access.log`;
    const { stdout } = spawnSync('script', ['-qec', command, '/dev/null'], { cwd: folder, encoding: 'utf8' });
    expect(stdout).toMatch(
      /\r\u001b\[K\[#* *\] +\d+ % {2}[\d,]+ lines, [\d,]+ a second, \d+ s left\r\u001b\[K/,
    );
    expect(stdout).toContain('\r\u001b[K800,000 requests replayed with edge.yaml');
  });
});
