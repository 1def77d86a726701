/**
 * A node of one process that counts its traffic, or does not: everything else of the two is the same. Started with an edge
 * file, a folder, and the address of a control plane for the counts or `-`. Prints where it listens.
 */
import { join } from 'node:path';
import { createLog } from '../../src/base/telemetry/redacting-log.ts';
import { serveEdgeFile } from '../../src/cli/watch-file.ts';
import { createControl } from '../../src/edge/following/control-plane.ts';
import { randomClearance } from '../../src/edge/following/secrets.ts';
import { createTrafficCounter } from '../../src/edge/following/traffic/counter.ts';
import { openTraffic } from '../../src/edge/following/traffic/traffic.ts';
import { listenHttp } from '../../src/edge/listeners/http.ts';
import { createFeedTokens } from '../../src/edge/node/feed-certificates.ts';
import { createClearanceSecrets, createNodeProcess } from '../../src/edge/node/node-process.ts';
import { OPEN_OCTETS, type ResourceShare } from '../../src/edge/node/resource-shares.ts';
import { createTrafficLog } from '../../src/edge/proxy/log/request-log.ts';
import { trustProxies } from '../../src/edge/proxy/visitor.ts';

const [file, folder, controlPlane] = process.argv.slice(2) as [string, string, string];

const share: ResourceShare = {
  ...{ trusted: [], proxies: [], countries: null, asns: null, botRanges: null, nodeId: null, resolvers: [] },
  ...{ anyCertificate: false, allowedOrigins: { prefixes: [], local: true }, certificates: null },
  ...{ keepUnderscores: false, requestIdleMs: 60_000, websocketIdleMs: 60_000, maxWebsockets: 100 },
  ...{ maxConnections: 10_000, maxAddressConnections: 10_000, perOrigin: 256 },
  ...{ bodyOctets: 2 ** 20, bufferOctets: 0, bufferFolder: join(folder, 'buffers'), minRate: 0 },
  ...{ cacheOctets: 2 ** 26, cacheFolder: null, diskShare: 1, openOctets: OPEN_OCTETS },
  markdown: { threads: 1, heldOctets: 2 ** 20 },
};
const log = createLog('warn', (line) => void process.stderr.write(line));
const traffic =
  controlPlane === '-'
    ? null
    : await openTraffic({
        control: createControl({ url: controlPlane, token: () => 'token' }),
        directory: folder,
        log,
      });
const serving = await createNodeProcess(share, {
  waf: null,
  secrets: createClearanceSecrets(randomClearance()),
  traffic: traffic === null ? null : createTrafficLog(createTrafficCounter({ send: traffic.add })),
  spans: null,
  tokens: new Map(),
  domainTokens: createFeedTokens(),
  listsHosts: true,
  ownPorts: new Set(),
  decisions: null,
  shipped: null,
  log,
  fileLog: log,
});
const { handler, plans } = serving.node;
const ignore = (): void => undefined;
await serveEdgeFile({ file, colour: 'never', plans, onInstalled: ignore, onRefused: ignore });
const { connections } = serving;
const place = { host: '127.0.0.1', port: 0, publicPort: null };
const listener = await listenHttp({
  handler,
  trusted: trustProxies([]),
  proxies: null,
  connections,
  ...place,
});
process.stdout.write(`listening on http://127.0.0.1:${listener.address.port}\n`);
process.on('SIGTERM', () => process.exit());
