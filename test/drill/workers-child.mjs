/**
 * A worker of a node: one sealed plan, no cache, no challenges. Started by `startPrimary`, which says the plan's file and
 * the name of its domain. Answered by the worker itself: `/pid`, so that a test sees who answers; `/last`, the last change
 * it was told; `/stuck`, never, since it does nothing any more. Its decision log goes to stdout. It begins once the file
 * that `BEGIN_WHEN` names is there.
 */
import { existsSync, readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { createHttpAcceptor } from '../../dist/edge/listeners/http.js';
import { combineRequestLogs, createDecisionLog } from '../../dist/edge/proxy/log/decision-log.js';
import { createNodeMetrics } from '../../dist/edge/proxy/log/metrics.js';
import { createNode } from '../../dist/edge/proxy/node.js';
import { trustProxies } from '../../dist/edge/proxy/visitor.js';
import { joinPrimary } from '../../dist/edge/workers/worker.js';

const onFault = (error) => console.error(error);
let last = null;

async function begin({ index, settings: { plan, domain, crash } }) {
  const { BEGIN_WHEN: gate } = process.env;
  while (gate !== undefined && !existsSync(gate)) await wait(20);
  if (crash) throw Object.assign(new Error('there is nothing to serve'), { code: 'ENOENT' });
  const log = createDecisionLog({ file: null, rate: 1, onFault });
  let node = null;
  const metrics = createNodeMetrics({
    plans: () => ({ installed: node.plans.size, opened: node.plans.opened }),
    originsDown: () => node.origins.down(),
    log: log.stats,
  });
  node = createNode({
    challenges: {
      cleared: () => [],
      withoutOwn: (cookies) => cookies,
      ask: () => ({ status: 403, headers: [], body: 'asked' }),
      answerOwn: () => ({ status: 404, headers: [], body: null }),
    },
    classifier: { country: () => null, asn: () => null, bot: () => undefined },
    requestLog: combineRequestLogs([metrics, log], onFault),
    cache: null,
    waf: null,
    nodeId: null,
    perOrigin: 16,
    anyCertificate: false,
    originBounds: { allowed: { prefixes: [], local: true }, ownPorts: new Set(), onRefused: () => undefined },
    openOctets: 1_000_000,
    onFault,
  });
  const read = () => readFileSync(plan);
  node.plans.set(domain, { revision: 0, digest: '0'.repeat(64), purgeEpoch: 0, read });
  const request = (incoming, response) => {
    const { url } = incoming.message;
    if (url === '/pid') response.end(String(process.pid));
    else if (url === '/last') response.end(JSON.stringify(last));
    else if (url === '/stuck') for (;;);
    else node.handler.request(incoming, response);
  };
  const acceptor = createHttpAcceptor({
    handler: { ...node.handler, request },
    trusted: trustProxies([]),
    proxies: null,
    listener: { scheme: 'http', port: 80 },
  });
  const apply = (change) => {
    last = change;
  };
  return {
    accept: (_, socket) => acceptor.accept(socket),
    isProbing: node.probing,
    registry: metrics.registry,
    prepare(change) {
      if (change.token === `not ${index}`) throw new Error('it does not like it');
      return () => apply(change);
    },
    apply,
    reload: async () => undefined,
    async drain(graceMs) {
      await acceptor.stop(graceMs);
      await node.close();
      await log.close();
    },
  };
}

joinPrimary({ begin, onFault });
