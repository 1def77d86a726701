/** A node with a cache, in front of an origin of the test's own, over real sockets. */
import { once } from 'node:events';
import { createServer, type RequestListener, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createCache } from '../../src/edge/cache/cache.ts';
import type { Classifier } from '../../src/edge/decide/request-context.ts';
import type { Installed } from '../../src/edge/following/plan-table.ts';
import { listenHttp } from '../../src/edge/listeners/http.ts';
import type { MarkdownRenderer } from '../../src/edge/markdown/renderer.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { createNode, type EdgeNode } from '../../src/edge/proxy/node.ts';
import type { Challenges } from '../../src/edge/proxy/services.ts';
import { trustProxies } from '../../src/edge/proxy/visitor.ts';
import { compile, parseRuleSet, seal } from '../../src/engine/compiler/index.ts';
import type { PurgeList } from '../../src/engine/plan/purges.ts';
import { LOCAL_ORIGINS } from './origin-bounds.ts';

/** The name that the node serves. */
export const CACHE_HOST = 'cache.test';

const NO_CHALLENGES: Challenges = {
  cleared: () => [],
  withoutOwn: (cookies) => cookies,
  ask: () => ({ status: 403, headers: [], body: 'challenge' }),
  answerOwn: () => ({ status: 404, headers: [], body: null }),
};
const NOBODY: Classifier = { country: () => null, asn: () => null, bot: () => undefined };

export interface CacheNodeOptions {
  readonly originPort: number;
  /** Fields of the cache rule; absent: `standard` for every path. */
  readonly rule?: Readonly<Record<string, unknown>>;
  /** Rules beside the cache rule. */
  readonly rules?: readonly Readonly<Record<string, unknown>>[];
  readonly domain?: Readonly<Record<string, unknown>>;
  readonly memoryOctets?: number;
  readonly directory?: string | null;
  readonly clock?: () => number;
  /** At the start; absent: none. */
  readonly purges?: PurgeList;
  readonly markdown?: MarkdownRenderer;
}

export interface CacheNode {
  readonly port: number;
  readonly node: EdgeNode;
  readonly entries: RequestLogEntry[];
  readonly faults: unknown[];
  /** Installs the plan anew, as after a change of the domain. */
  install(options: {
    readonly rule?: Readonly<Record<string, unknown>>;
    readonly purgeEpoch?: number;
    readonly purges?: PurgeList;
  }): void;
  /** Installs purges of single responses, as they arrive between two plans. */
  purge(purges: PurgeList): void;
  stop(): Promise<void>;
}

export async function startCacheNode(options: CacheNodeOptions): Promise<CacheNode> {
  const entries: RequestLogEntry[] = [];
  const faults: unknown[] = [];
  const clock = options.clock === undefined ? {} : { clock: options.clock };
  const cache = createCache({
    memoryOctets: options.memoryOctets ?? 64 * 1024 * 1024,
    directory: options.directory ?? null,
    onFault: (error) => faults.push(error),
    ...clock,
  });
  const node = createNode({
    challenges: NO_CHALLENGES,
    classifier: NOBODY,
    requestLog: { done: (entry) => entries.push(entry) },
    cache,
    ...(options.markdown === undefined ? {} : { markdown: options.markdown }),
    waf: null,
    nodeId: null,
    perOrigin: 128,
    anyCertificate: false,
    originBounds: LOCAL_ORIGINS,
    openOctets: 1e8,
    onFault: (error) => faults.push(error),
  });
  let revision = 0;
  const none: PurgeList = { through: 0, floor: 0, purges: [] };
  let last: Installed;
  const purgesOf = (list: PurgeList) => ({ through: list.through, digest: 'y', read: () => list });
  const install: CacheNode['install'] = ({
    rule = options.rule ?? {},
    purgeEpoch = 0,
    purges = options.purges ?? none,
  }) => {
    const bytes = planOf(options, rule);
    const purged = { purgeEpoch, purges: purgesOf(purges) };
    last = { revision: ++revision, digest: 'x', ...purged, read: () => bytes };
    node.plans.set(CACHE_HOST, last);
  };
  install({});
  const { handler } = node;
  const listening = { trusted: trustProxies([]), publicPort: 80, host: '127.0.0.1', port: 0 };
  const listener = await listenHttp({ handler, ...listening });
  return {
    port: listener.address.port,
    node,
    entries,
    faults,
    install,
    purge(purges) {
      last = { ...last, purges: purgesOf(purges) };
      node.plans.set(CACHE_HOST, last);
    },
    stop: async () => {
      await listener.stop(0);
      await node.close();
    },
  };
}

function planOf({ originPort, domain, rules = [] }: CacheNodeOptions, rule: object): Uint8Array {
  const record = { id: 1, name: '@', type: 'A', destination: '127.0.0.1', proxied: true };
  const parsed = parseRuleSet({
    domain: { name: CACHE_HOST, ...domain },
    records: [{ ...record, scheme: 'Http', port: originPort, timeout: 5 }],
    rules: [{ id: 1, type: 'cache', path_includes: ['/*'], ...rule }, ...rules],
  });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return seal(compile(parsed.ruleSet).plan, { revision: 1 });
}

/** An origin that answers as told. */
export async function startCacheOrigin(
  answer: RequestListener,
): Promise<{ readonly port: number; readonly server: Server }> {
  const server = createServer(answer);
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { port: (server.address() as AddressInfo).port, server };
}
