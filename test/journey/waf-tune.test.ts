/** `edgeplan waf tune` over the log of a node: what it proposes is pasted into the rule, and then nothing ordinary is blocked. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecisionLine } from '../../src/edge/proxy/log/line.ts';
import { ask } from '../support/ask.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { startWorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-waf-tune-'));
const HOST = 'shop.test';
const HOUR = 3_600_000;
const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/142.0.0.0 Safari/537.36';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const EDITORS = 24;
/** What people write in articles, and what a scanner sends. */
const TEXT = `body=${encodeURIComponent('<p onclick="alert(1)">click <script>alert(1)</script></p>')}`;
const PROBES = ["' union select password from users--", '<script>alert(1)</script>', '../../../etc/passwd'];

const FILE = (port: number, mode: string, exclusions: string): string => `domain: ${HOST}
records:
  - { name: '@', type: A, destination: 127.0.0.1, port: ${port}, scheme: Http, proxied: true }
rules:
  - key: attacks
    type: waf
    action_mode: ${mode}
    exclusions:${exclusions === '' ? ' []' : `\n${exclusions}`}
`;

const origin = createServer((request, response) => {
  response.statusCode = request.url?.startsWith('/articles/') === true ? 200 : 404;
  request.resume().on('end', () => response.end('origin'));
});

/** Serves with a mode of the rule, and returns the statuses of what was sent and the lines of the log. */
async function serve(
  mode: string,
  exclusions: string,
): Promise<{ readonly statuses: readonly number[]; readonly lines: readonly DecisionLine[] }> {
  const log = `${mode}.jsonl`;
  writeFileSync(join(folder, `${mode}.yaml`), FILE((origin.address() as AddressInfo).port, mode, exclusions));
  const args = ['--file', `${mode}.yaml`, '--data', `data-${mode}`, '--log', log, '--log-rate', '1'];
  const node = await startWorkerNode([...args, '--trust-proxy', '127.0.0.1'], { cwd: folder });
  const statuses: number[] = [];
  const send = async (path: string, sent: Parameters<typeof ask>[2]): Promise<void> => {
    statuses.push((await ask(node.port, path, { host: HOST, ...sent })).status);
  };
  for (let person = 0; person < EDITORS; person++) {
    const from = `198.51.100.${person}`;
    const headers = { ...FORM, 'sec-fetch-site': 'same-origin', 'user-agent': BROWSER };
    await send('/articles/', { from, headers: { 'user-agent': BROWSER } });
    await send(`/articles/${person}`, { from, headers, method: 'POST', body: TEXT });
  }
  for (let index = 0; index < 12; index++) {
    const query = encodeURIComponent(PROBES[index % PROBES.length]!);
    await send(`/s${index}/x.php?id=${query}`, { from: '203.0.113.9', headers: { 'user-agent': 'curl/8' } });
  }
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
  const lines = readFileSync(join(folder, log), 'utf8').trim().split('\n');
  return { statuses, lines: lines.map((line) => JSON.parse(line)) };
}

/** The lines over six hours, as on a working day. */
function spread(lines: readonly DecisionLine[]): string {
  return lines
    .map((line, index) => {
      const at = Date.parse(line.time) - HOUR * (6 - Math.floor((6 * index) / lines.length));
      const time = new Date(at).toISOString();
      return `${JSON.stringify({ ...line, time, request: { ...line.request, now: at } })}\n`;
    })
    .join('');
}

const tune = (...args: readonly string[]): Promise<Run> =>
  edgeplan(['waf', 'tune', ...args], { cwd: folder });

let watched: readonly DecisionLine[];

beforeAll(async () => {
  await builtCli();
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  const { statuses, lines } = await serve('dry_run', '');
  expect(statuses).not.toContain(403);
  watched = lines;
  writeFileSync(join(folder, 'day.jsonl'), spread(lines));
}, 180_000);
afterAll(async () => {
  origin.closeAllConnections();
  await new Promise((resolve) => origin.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

describe('waf tune', () => {
  test('separates the false positives from the attacks, and counts what the log has', async () => {
    const { code, out, err } = await tune('--log', 'day.jsonl', '--json');
    expect([code, err]).toEqual([0, expect.stringMatching(/^edgeplan: 60 lines in/)]);
    const { format, rules, requests, inspected } = JSON.parse(out);
    expect([format, requests]).toEqual(['edgeplan.waf-tuning/v1', watched.length]);
    expect(inspected).toBeGreaterThan(EDITORS);
    const would = watched.filter(({ matches }) => matches.some(({ effect }) => effect === 'block'));
    expect(rules).toMatchObject([{ rule: 'waf/attacks', domain: HOST, threshold: 5, blocked: would.length }]);
    const [{ groups, released, released_attacks }] = rules;
    expect([released, released_attacks]).toEqual([EDITORS, 0]);
    for (const group of groups) {
      const isBody = group.target === 'ARGS:body';
      expect(group).toMatchObject({ verdict: isBody ? 'false_positive' : 'attack' });
      const naive = would.filter(({ matches }) =>
        matches.some(({ waf }) =>
          waf?.matches?.some(({ id, target }) => id === group.id && target === group.target),
        ),
      );
      expect(group.requests).toBeLessThanOrEqual(naive.length);
      if (!isBody) continue;
      expect([group.requests, group.visitors, group.paths]).toEqual([EDITORS, EDITORS, ['/articles/*']]);
      expect(group.exclusions[0].exclusion).toMatchObject({ target: 'ARGS:body', path: '/articles/*' });
    }
  });

  test('writes a fragment that, pasted into the rule, enforces it without a block of the editors', async () => {
    const { code, out } = await tune('--log', 'day.jsonl', '--rule', 'attacks', '-o', 'exclusions.yaml');
    expect(code).toBe(0);
    expect(out).toContain('likely false positive: ');
    expect(out).toContain(`+ ${EDITORS} visitors of ${EDITORS} on /articles/*`);
    expect(out).toContain('likely attack: ');
    expect(out).toContain('with the exclusions for likely false positives: ');
    const fragment = readFileSync(join(folder, 'exclusions.yaml'), 'utf8');
    expect(fragment).toMatch(/^# likely false positive: \d+ in ARGS:body on \/articles\/\*, /m);
    expect(fragment).toMatch(/^- \{ id: \d+, target: "ARGS:body", path: "\/articles\/\*" \}$/m);
    const pasted = fragment
      .split('\n')
      .map((line) => `      ${line}`)
      .join('\n');
    const { statuses } = await serve('enforce', pasted);
    const scanned = statuses.slice(2 * EDITORS);
    expect(statuses.slice(0, 2 * EDITORS)).toEqual(Array(2 * EDITORS).fill(200));
    expect(scanned).toEqual(Array(scanned.length).fill(403));
  }, 120_000);

  test('reads gzip, several logs and stdin', async () => {
    const text = readFileSync(join(folder, 'day.jsonl'), 'utf8');
    const lines = text.split('\n');
    const [first, second] = [lines.slice(0, 30).join('\n'), lines.slice(30).join('\n')];
    writeFileSync(join(folder, 'one.gz'), gzipSync(first));
    writeFileSync(join(folder, 'two.jsonl'), second);
    const whole = (await tune('--log', 'day.jsonl', '--json')).out;
    expect((await tune('--log', 'one.gz', '--log', 'two.jsonl', '--json')).out).toBe(whole);
    const input = text;
    const piped = await edgeplan(['waf', 'tune', '--log', '-', '--json'], { cwd: folder, input });
    expect(piped.out).toBe(whole);
  });

  test.each([
    ['no log', 'nginx.log', [], /nginx\.log:1: the line is not JSON/],
    ['a log without waf rules', 'plain.jsonl', [], /none of \d+ decisions has a match of a waf rule/],
    ['an empty log', 'empty.jsonl', [], /the log holds no decision/],
    [
      'an unknown rule',
      'day.jsonl',
      ['--rule', 'other'],
      /no match of `other`\n {2}it has those of waf\/attacks/,
    ],
    ['an unknown domain', 'day.jsonl', ['--domain', 'a.test'], /no line is of `a\.test`/],
    ['no file', 'none.jsonl', [], /there is no file `none\.jsonl`/],
  ])('ends with 3 and the reason for %s', async (_, log, args, reason) => {
    writeFileSync(join(folder, 'nginx.log'), '192.0.2.1 - - [27/Nov/2026] "GET / HTTP/1.1" 200 5\n');
    writeFileSync(join(folder, 'empty.jsonl'), '');
    const bare = watched.slice(0, 3).map((line) => JSON.stringify({ ...line, matches: [], waf: null }));
    writeFileSync(join(folder, 'plain.jsonl'), `${bare.join('\n')}\n`);
    const { code, err, out } = await tune('--log', log, ...args);
    expect([code, out]).toEqual([3, '']);
    expect(err).toMatch(reason);
  });

  test('names the line that cannot be read, and goes on', async () => {
    const text = readFileSync(join(folder, 'day.jsonl'), 'utf8');
    writeFileSync(join(folder, 'torn.jsonl'), `${text.slice(0, 50)}\n${text}`);
    const { code, err } = await tune('--log', 'torn.jsonl', '--json');
    expect(code).toBe(0);
    expect(err).toContain('1 line could not be read; the first: torn.jsonl:1: the line is not JSON');
  });

  test.each([
    ['--min-visitors', '0'],
    ['--threshold', 'x'],
  ])('refuses %s %s', async (option, value) => {
    const { code, err } = await tune('--log', 'day.jsonl', option, value);
    expect(code).toBe(2);
    expect(err).toContain('a whole number from 1 to');
  });
});
