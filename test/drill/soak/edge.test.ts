/**
 * A node as a process under mixed traffic for the time in `EDGEPLAN_SOAK` (`3m`, `30m`, `1800s`), its plan changed
 * every few seconds: no wrong answer, nothing that grows, and nothing left open in the end. Its memory is measured while
 * no request is under way: bodies under way vary by 20 MB with the speed of the machine.
 */
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { builtCli } from '../../support/built.ts';
import { makeCertificate } from '../../support/make-certificate.ts';
import { requires } from '../../support/requires.ts';
import { FULL } from '../../support/size.ts';
import { until } from '../../support/until.ts';
import { type Left, startSoakedNode } from './soaked-node.ts';
import { SOAK_HOST, startSoakOrigin, startTraffic } from './traffic.ts';

const PER_SECOND = 300;
/** Requests before the time begins: they fill the caches, and what a node compiles at its first requests is compiled. */
const WARM = 10_000;
/** Plan changes between two measurements of the memory. */
const TURNS = 5;
/** Octets by which the memory in use after a collection may grow from the second third of the time to the last. */
const FLAT = 4 * 1024 * 1024;
/** Files and sockets that may be open in the end beyond those at the start: idle connections to the origin. */
const SPARE = 8;

function minutesAsked(): number {
  const asked = process.env['EDGEPLAN_SOAK'] ?? (FULL ? '2m' : '');
  const [, count = '0', unit] = /^(\d+)([ms])$/.exec(asked) ?? [];
  return unit === 's' ? Number(count) / 60 : Number(count);
}

function planText(originPort: number, turn: number): string {
  return `domain: ${SOAK_HOST}
records:
  - { id: 1, name: '@', type: A, destination: 127.0.0.1, port: ${originPort}, scheme: Http, proxied: true, timeout: 20 }
rules:
  - { id: 1, type: drop, path_includes: ['/blocked'] }
  - { id: 2, type: captcha, path_includes: ['/members/*'] }
  - { id: 3, type: waf, path_includes: ['/form'], paranoia: 1, threshold: 5, body_cap_kb: 64 }
  - { id: 4, type: cache, path_includes: ['/cached/*'] }
  - { id: 5, type: rate_limit, path_includes: ['/page'], limit: 1000000, window_sec: 60 }
  - { id: 6, type: drop, path_includes: ['/turn-${turn}'] }
`;
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function mean(numbers: readonly number[]): number {
  return sum(numbers) / numbers.length;
}

const minutes = minutesAsked();

const NOT_ASKED = minutes === 0 ? 'EDGEPLAN_SOAK is not set (2m in `npm run test:full`)' : null;

test(`${minutes} minutes of mixed traffic`, {
  ...requires(NOT_ASKED),
  timeout: minutes * 60_000 + 900_000,
}, async () => {
  await builtCli();
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-soak-'));
  mkdirSync(join(folder, 'certs'));
  const [cert, key] = [join(folder, 'certs', 'soak.crt'), join(folder, 'certs', 'soak.key')];
  await makeCertificate({ names: [SOAK_HOST], cert, key });
  const origin = await startSoakOrigin();
  const { port } = origin.address() as AddressInfo;
  const file = join(folder, 'edge.yaml');
  writeFileSync(file, planText(port, 0));
  const node = await startSoakedNode({ folder, file, args: ['--log', join(folder, 'log')] });
  try {
    const before = await node.left();
    const traffic = startTraffic(node, PER_SECOND);
    await until(() => sum(Object.values(traffic.done)) >= WARM, 'the node is warm', 600_000);
    const rests: Left[] = [];
    const ends = Date.now() + minutes * 60_000;
    for (let turn = 1; Date.now() < ends; turn++) {
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      // As editors do: the node must not read half a file.
      writeFileSync(`${file}.new`, planText(port, turn));
      renameSync(`${file}.new`, file);
      if (turn % TURNS !== 0) continue;
      await traffic.pause();
      rests.push(await node.left());
      traffic.resume();
    }
    await traffic.stop();
    const third = Math.floor(rests.length / 3);
    const middle = mean(rests.slice(third, 2 * third).map(({ held }) => held));
    const last = mean(rests.slice(2 * third).map(({ held }) => held));
    const seen = { done: traffic.done, middle, last, rests: rests.length, end: rests.at(-1) };
    process.stdout.write(`${JSON.stringify(seen, null, 1)}\n`);
    expect(traffic.problems).toEqual([]);
    // It reports a host that nobody serves once a minute.
    expect(node.said.filter((line) => !line.includes('was answered with 421'))).toEqual([]);
    expect(last - middle).toBeLessThan(FLAT);
    await until(
      async () => (await node.left()).files <= before.files + SPARE,
      'everything is closed',
      30_000,
    );
    expect((await node.left()).resources).toBeLessThanOrEqual(before.resources + SPARE);
  } finally {
    node.child.kill('SIGTERM');
    await once(node.child, 'close');
    origin.closeAllConnections();
    origin.close();
    rmSync(folder, { recursive: true, force: true });
  }
});
