/**
 * The node beside nginx and HAProxy: processor time a request, by wrk over loopback, the same origin behind all. What
 * they serve is compared before anything is timed.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  agreeInAll,
  agreeOn,
  hasHaproxy,
  makeCertificate,
  type Server,
  startConfirming,
  startCounting,
  startHaproxy,
  startOrigin,
  startOurs,
  startTheirs,
} from './harness/edge-servers.ts';
import { hasNginx } from './harness/nginx.ts';
import { type Asked, compared, hasWrk, type Pair } from './harness/wrk.ts';
import type { BenchOptions, Row } from './row.ts';
import { mixedRules } from './subjects/node-rules.ts';

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  if (!hasNginx() || !hasWrk()) {
    const note = 'install `nginx` and `wrk` for this group';
    return [{ name: 'the node beside nginx', value: Number.NaN, goal: null, unit: '', note }];
  }
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-bench-node-'));
  const servers: Server[] = [];
  try {
    makeCertificate(folder);
    const started = async (starting: Promise<Server>): Promise<Server> => {
      const server = await starting;
      servers.push(server);
      return server;
    };
    const origin = await started(startOrigin());
    const theirs = await started(startTheirs(origin.port, folder));
    const bare = { folder, port: origin.port, rules: [] };
    const ours = await started(startOurs('node', bare));
    const haproxy = hasHaproxy() ? await started(startHaproxy(origin.port, folder)) : null;
    await agreeOn([theirs, ours]);
    const rows: Row[] = [];
    const compare = async (name: string, a: Server, b: Server, how: Asked): Promise<void> => {
      rows.push(await compared(name, { pairs: [{ a, b }], how, options }));
    };
    await compare('nginx ÷ node, proxied 66 B', theirs, ours, { path: '/small', goal: { atLeast: 0.4 } });
    await compare('nginx ÷ node, proxied 64 KB', theirs, ours, { path: '/large', goal: { atLeast: 0.9 } });
    await compare('nginx ÷ node, cache hit', theirs, ours, { path: '/cached/small', goal: { atLeast: 0.9 } });
    await compare('nginx ÷ node, TLS keep-alive', theirs, ours, {
      path: '/small',
      tls: true,
      goal: { atLeast: 0.5 },
    });
    const pairs: Pair[] = [];
    for (let pair = 0; pair < (options.quick ? 1 : PAIRS); pair++) {
      const a = await started(startOurs('node', bare));
      const b = await started(startOurs('node with 1,000 rules', { ...bare, rules: mixedRules(1_000) }));
      await agreeInAll(a, b);
      pairs.push({ a, b });
    }
    const how = { path: '/small', goal: { atLeast: 0.97 } };
    rows.push(await compared('node ÷ node with 1,000 mixed rules', { pairs, how, options }));
    rows.push(await counting({ folder, port: origin.port, rules: mixedRules(50) }, { started, options }));
    if (haproxy !== null) {
      await compare('HAProxy ÷ node, proxied 66 B', haproxy, ours, { path: '/small', goal: null });
    }
    return rows;
  } finally {
    await Promise.all(servers.map((server) => server.stop()));
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Counting {
  readonly started: (starting: Promise<Server>) => Promise<Server>;
  readonly options: BenchOptions;
}

/** What the counts of §10 cost: pairs of one program, of which the first counts nothing. */
async function counting(
  node: Parameters<typeof startCounting>[1],
  { started, options }: Counting,
): Promise<Row> {
  const control = await startConfirming();
  try {
    const pairs: Pair[] = [];
    for (let pair = 0; pair < (options.quick ? 1 : PAIRS); pair++) {
      const a = await started(startCounting('without counts', node, null));
      const b = await started(startCounting('with counts', node, control.url));
      await agreeInAll(a, b);
      pairs.push({ a, b });
    }
    const how = { path: '/small', goal: { atLeast: 0.98 } };
    return await compared('node without traffic counts ÷ node with them, 50 rules', { pairs, how, options });
  } finally {
    control.stop();
  }
}

/**
 * Pairs of nodes, one without rules and one with them, neither of which has done anything that the other has not: what a
 * process has compiled, and how well, differs by a fifth from one start to the next.
 */
const PAIRS = 3;
