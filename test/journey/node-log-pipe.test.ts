/** A decision log that goes into a pipe whose reader is not there, or behind. */
import { spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, startEdgeplan } from '../support/built.ts';
import { until } from '../support/until.ts';
import { ask } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-log-pipe-'));
const PATIENCE_MS = 60_000;

beforeAll(async () => {
  await builtCli();
  writeFileSync(
    join(folder, 'edge.yaml'),
    [
      'domain: shop.test',
      'records:',
      '  - { name: "@", type: A, destination: 127.0.0.1, proxied: true }',
      'rules:',
      '  - { type: drop, path_includes: ["/blocked"] }',
    ].join('\n'),
  );
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

interface Started {
  readonly child: ReturnType<typeof startEdgeplan>;
  readonly port: number;
  out(): string;
  readonly ended: Promise<unknown[]>;
}

async function start(log: string): Promise<Started> {
  const data = mkdtempSync(join(folder, 'data-'));
  const args = ['node', '--port', '0', '--file', 'edge.yaml', '--data', data, '--log', log];
  const child = startEdgeplan(args, { cwd: folder });
  const ended = once(child, 'close');
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  let err = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    err += text;
  });
  const lines = (): string => (log === '-' ? err : out);
  await until(() => /^plans from /m.test(lines()), 'the node', PATIENCE_MS);
  const port = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(lines())![1]);
  return { child, port, out: () => out, ended };
}

test('a node ends on SIGTERM although its log is not read', { timeout: 240_000 }, async () => {
  const file = join(folder, 'pipe');
  expect(spawnSync('mkfifo', [file]).status).toBe(0);
  const { child, port } = await start(file);
  expect((await ask({ port, path: '/blocked' })).status).toBe(403);
  child.kill('SIGTERM');
  try {
    await until(() => child.exitCode !== null, 'its end', PATIENCE_MS);
  } finally {
    child.kill('SIGKILL');
  }
  expect(child.exitCode).toBe(0);
});

test('a slow reader gets all buffered lines when the node ends', {
  timeout: 240_000,
}, async () => {
  const { child, port, out, ended } = await start('-');
  child.stdout.pause();
  const exited = once(child, 'exit');
  const lines = 2_000;
  for (let at = 0; at < lines; at += 50) {
    await Promise.all(Array.from({ length: 50 }, () => ask({ port, path: `/blocked?${'x'.repeat(500)}` })));
  }
  child.kill('SIGTERM');
  await Promise.race([exited, new Promise((resolve) => setTimeout(resolve, 800))]);
  child.stdout.resume();
  expect(await ended).toEqual([0, null]);
  const written = out().trimEnd().split('\n');
  expect(written).toHaveLength(lines);
  // Nothing else is on stdout: the lines of the start are on stderr.
  for (const line of written) expect(line).toMatch(/^\{"format":"edgeplan\.decision\/v1"/);
});
