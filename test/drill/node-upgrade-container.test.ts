/** `edgeplan node --upgrade` of the main process of a container, made of a process namespace: it is refused, and the node serves on. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';
import { requires } from '../support/requires.ts';
import { until } from '../support/until.ts';
import { ask } from '../support/worker-node.ts';

const MAIN = fileURLToPath(new URL('../../dist/cli/main.js', import.meta.url));
const NAMESPACE = ['unshare', '--pid', '--fork', '--kill-child', '--mount-proc'];
const NO_NAMESPACE =
  spawnSync(NAMESPACE[0]!, [...NAMESPACE.slice(1), 'true']).status === 0
    ? null
    : 'process namespaces need root and unshare of util-linux';
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-upgrade-container-'));
const file = join(folder, 'edge.yaml');

beforeAll(async () => {
  await builtCli();
  writeFileSync(
    file,
    "domain: { name: shop.test }\nrecords:\n  - { name: '@', type: A, destination: 127.0.0.1, proxied: true }\n",
  );
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

test.each([
  ['process 1', [], 'this is the first process of a container, which ends with it'],
  [
    'the child of a shell that is process 1',
    // The last command would replace the shell.
    ['sh', '-c', '"$@"; exit "$?"', 'sh'],
    'process 1, `sh`, ends with this process',
  ],
])(
  '%s refuses, with what to do instead',
  { ...requires(NO_NAMESPACE), timeout: 120_000 },
  async (_, entry, reason) => {
    const data = mkdtempSync(join(folder, 'data-'));
    const args = ['node', '--file', file, '--data', data, '--port', '0', '--drain', '0'];
    const [program, ...rest] = [...NAMESPACE, ...entry, process.execPath, MAIN, ...args];
    const child = spawn(program!, rest, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'] });
    let text = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
    }
    try {
      await until(() => /^plans from /m.test(text) || child.exitCode !== null, 'the node');
      const port = Number(/listening on http:\/\/127\.0\.0\.1:(\d+)/.exec(text)![1]);
      const run = await edgeplan([...args, '--upgrade'], { cwd: folder });
      expect([run.code, run.err]).toEqual([4, expect.stringContaining(reason)]);
      expect(run.err).toContain('replace the container instead');
      const { status } = await ask({ port, path: '/', headers: { host: 'other.test' } });
      expect([status, child.exitCode]).toEqual([421, null]);
    } finally {
      // The namespace ends with it.
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close');
    }
  },
);
