/** From the revocation of a key, once the API has answered, until each of fifty nodes refuses it. */
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { consumers, digestOf } from './data/gateways.ts';
import { makeInstallation } from './data/installation.ts';
import { ruleSetOf } from './data/written.ts';
import { delayRows } from './harness/delays.ts';
import { type Load, openLoad, requestOctets } from './harness/load.ts';
import { endWithUs, startServe, stop } from './harness/process.ts';
import type { BenchOptions, Row } from './row.ts';

const NODES = 50;
const REVOCATIONS = 100;
/** Revocations before the first that counts. */
const WARM_UP = 15;
/** Other consumers of the domain, each with a key. */
const CONSUMERS = 1_000;
const QUICK = { nodes: 5, revocations: 2, warmUp: 0, others: 10 };
const FULL = { nodes: NODES, revocations: REVOCATIONS, warmUp: WARM_UP, others: CONSUMERS };

const FOLLOWERS = fileURLToPath(new URL('subjects/following-nodes.js', import.meta.url));
const DOMAIN = 'shop.example';

export async function measureRevocations({ quick }: BenchOptions): Promise<readonly Row[]> {
  const size = quick ? QUICK : FULL;
  const ruleSet = ruleSetOf({ domain: DOMAIN, records: ['@', 'api'], rules: [] });
  const installation = await makeInstallation({ ruleSets: [ruleSet], nodes: size.nodes });
  const served = await startServe(installation.folder);
  try {
    const load = await openLoad({ port: served.port, connections: 1, sleepless: false });
    const api = apiOf(load, installation.key);
    const keys = await prepare(api, size.others);
    const nodes = await startNodes(served.port, installation.nodes);
    try {
      return rowsOf(await revoke({ ...size, api, keys, nodes }), size);
    } finally {
      load.close();
      await nodes.stop();
    }
  } finally {
    await served.stop();
    installation.remove();
  }
}

/** What keys are created and revoked with. */
interface Revoking {
  readonly api: Api;
  /** The path of the keys. */
  readonly keys: string;
  readonly nodes: FollowingNodes;
  readonly revocations: number;
  readonly warmUp: number;
}

/** Milliseconds of each node and revocation. */
async function revoke({ api, keys, nodes, revocations, warmUp }: Revoking): Promise<number[]> {
  const delays: number[] = [];
  for (let number = -warmUp; number < revocations; number++) {
    const { id, value: key } = (await api('POST', keys, {})) as { id: number; value: string };
    await nodes.watch({ key, isTaken: true });
    const refused = nodes.watch({ key, isTaken: false });
    await api('DELETE', `${keys}${id}`);
    const answered = performance.timeOrigin + performance.now();
    // A node may refuse it before the client has read that it is revoked.
    const times = (await refused).map((at) => Math.max(0, at - answered));
    if (number >= 0) delays.push(...times);
  }
  return delays;
}

type Api = (method: string, path: string, body?: unknown) => Promise<unknown>;

function apiOf(load: Load, token: string): Api {
  return async (method, path, body) => {
    const whole = `/domains/${DOMAIN}${path}`;
    const answer = await load.ask(requestOctets({ method, path: whole, token, body }));
    if (answer.status >= 300) throw new Error(`${method} ${whole}: ${answer.status} ${answer.body}`);
    return answer.body === '' ? null : JSON.parse(answer.body);
  };
}

/** Creates the gateway and the consumers. Returns the path of the keys of one more. */
async function prepare(api: Api, others: number): Promise<string> {
  const { usage_plans = [], consumers: listed = [] } = consumers(others);
  for (const plan of usage_plans) await api('POST', '/usage-plans/', plan);
  for (const { keys, ...consumer } of listed as readonly { readonly keys: readonly object[] }[]) {
    const { id } = (await api('POST', '/consumers/', consumer)) as { id: number };
    await api('POST', `/consumers/${id}/keys/`, keys[0]);
  }
  const auth = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
  await api('POST', '/gateways/', { base_path: '/v1', auth });
  const { id } = (await api('POST', '/consumers/', { username: 'partner' })) as { id: number };
  return `/consumers/${id}/keys/`;
}

/** What nodes are asked: to say when each of them takes a key, or takes it no longer. */
interface Watched {
  readonly key: string;
  readonly isTaken: boolean;
}

interface FollowingNodes {
  /** The moment of each node, milliseconds since the epoch. */
  watch(wanted: Watched): Promise<readonly number[]>;
  stop(): Promise<void>;
}

async function startNodes(port: number, tokens: readonly string[]): Promise<FollowingNodes> {
  const child = spawn(process.execPath, [FOLLOWERS, `http://127.0.0.1:${port}`, DOMAIN, ...tokens], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  endWithUs(child);
  const lines = createInterface(child.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<string> => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the nodes of the bench have ended');
    return value as string;
  };
  if ((await next()) !== 'ready') throw new Error('the nodes of the bench did not start');
  return {
    async watch({ key, isTaken }) {
      const digest = Buffer.from(digestOf(key)).toString('hex');
      child.stdin.write(`${JSON.stringify({ digest, isTaken })}\n`);
      return JSON.parse(await next()) as readonly number[];
    },
    stop: () => stop(child),
  };
}

function rowsOf(delays: readonly number[], { nodes, others }: typeof FULL): readonly Row[] {
  return delayRows(delays, {
    note: `${nodes} nodes in one process, ${others} other consumers, ${delays.length} refusals; the registry is sealed, fetched and opened in that time`,
    shares: [
      { name: 'revocation answered → key refused at a node, median', share: 0.5 },
      { name: 'the same, 99th percentile', share: 0.99, goal: { atMost: 100 } },
    ],
  });
}
