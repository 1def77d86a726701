/**
 * Nodes in one process that follow a control plane and decide whether the gateway of a domain takes a key. Started with the address,
 * the domain and a token for each node; prints `ready` when all have plans. For each line `{ digest, isTaken }` it prints the moments
 * at which the nodes came to take the key, or to take it no longer, as milliseconds since the epoch.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { createPlanTable } from '../../src/edge/following/plan-table.ts';
import { syncWithControlPlane } from '../../src/edge/following/sync.ts';

interface Watched {
  readonly digest: string;
  readonly isTaken: boolean;
}

const [url = '', domain = '', ...tokens] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), 'edgeplan-bench-nodes-'));
process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
process.once('SIGTERM', () => process.exit());

let watched: Watched | null = null;
/** By node. */
let moments: (number | null)[] = [];
const nodes = await Promise.all(tokens.map((token, node) => start(token, node)));

async function start(token: string, node: number) {
  const plans = createPlanTable({
    evaluatorOptions: () => ({}),
    onChange: () => queueMicrotask(() => look(node)),
    onFault: (name, error) => process.stderr.write(`${name}: ${String(error)}\n`),
    openOctets: 64 * 1024 * 1024,
  });
  const quiet = (): void => undefined;
  const complain = (fields: object, message: string): void =>
    void process.stderr.write(`${message} ${JSON.stringify(fields)}\n`);
  await syncWithControlPlane({
    ...{ url, token: () => token, directory: join(folder, String(node)), plans, onSecret: quiet },
    log: { info: quiet, warn: complain, error: complain },
  });
  return plans;
}

/** Whether a node's gateway finds a key; `null`: the node has no plan yet. */
function takes(node: number, digest: Uint8Array): boolean | null {
  const found = nodes[node]!.find(domain);
  if (found === null || found === 'refused') return null;
  const request = { scheme: 'https', method: 'GET', host: domain, target: '/v1/orders', headers: {} };
  const wanted = found.evaluator.credentialsWanted(request);
  return wanted === null ? null : wanted.registry.key(digest) !== null;
}

function look(node: number): void {
  if (watched === null || (moments[node] ?? null) !== null) return;
  if (takes(node, Buffer.from(watched.digest, 'hex')) !== watched.isTaken) return;
  moments[node] = performance.timeOrigin + performance.now();
  if (moments.some((moment) => moment === null)) return;
  watched = null;
  process.stdout.write(`${JSON.stringify(moments)}\n`);
}

function lookAtAll(): void {
  for (let node = 0; node < nodes.length; node++) look(node);
}

const anyDigest = new Uint8Array(32);
while (nodes.some((_, node) => takes(node, anyDigest) === null))
  await new Promise((resolve) => setTimeout(resolve, 50));
process.stdout.write('ready\n');
for await (const line of createInterface(process.stdin)) {
  moments = nodes.map(() => null);
  watched = JSON.parse(line) as Watched;
  lookAtAll();
}
