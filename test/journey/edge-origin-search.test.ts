/** Origins by the names that only the system completes, as those of services in Kubernetes. */
import { execFile, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { build } from 'esbuild';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { missingProgram, requires } from '../support/requires.ts';

const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const CHILD = join(ROOT, 'dist/support/search-domain-child.js');
const NO_NAMESPACES =
  missingProgram('ip', 'iproute2') ??
  (spawnSync('unshare', ['-mn', 'ip', 'link']).status === 0
    ? null
    : 'network namespaces are not allowed here');

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-search-'));
beforeAll(async () => {
  const entryPoints = [join(ROOT, 'test/support/search-domain-child.ts')];
  const shape = { bundle: true, platform: 'node', format: 'esm', packages: 'external' } as const;
  await build({ entryPoints, outfile: CHILD, logLevel: 'error', ...shape });
});
afterAll(() => rmSync(folder, { recursive: true }));

test(
  'a name that the DNS does not have is completed by the search domains',
  requires(NO_NAMESPACES),
  async () => {
    const names = ['api.default', 'no.such.test'];
    const args = ['-mn', process.execPath, CHILD, join(folder, 'resolv.conf'), ...names];
    const { stdout } = await promisify(execFile)('unshare', args);
    expect(JSON.parse(stdout)).toEqual([
      { kind: 'addresses', six: [], four: ['192.0.2.7'], validMs: expect.any(Number) },
      { kind: 'none', reason: expect.stringContaining('no.such.test') },
    ]);
  },
);
