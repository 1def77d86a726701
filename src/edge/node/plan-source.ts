/** Connects a node to the source of its plans: an edge file, or a control plane with its secrets and traffic reports. */
import type { CacheReport } from '../../engine/plan/cache-report.ts';
import type { Clearance } from '../../engine/plan/manifest.ts';
import type { ChallengeSink } from '../following/install-challenges.ts';
import type { PlanSink } from '../following/plan-table.ts';
import { createLogShipper } from '../following/ship-logs.ts';
import { syncWithControlPlane } from '../following/sync.ts';
import { type NodeTraffic, openTraffic } from '../following/traffic/traffic.ts';
import type { SyncProgress } from '../proxy/log/sync-metrics.ts';
import { createOwnLookup } from '../proxy/origin/names.ts';
import { warnOfBlindRules } from './blind-rules.ts';
import { type FeedPairSink, receiveCertificates } from './feed-certificates.ts';
import { CATCH_UP_MS } from './limits.ts';
import type { EdgeNodeOptions, PlanOrigin } from './options.ts';

/** A source that is followed. */
export interface PlanSource {
  /** Takes the traffic counts for the control plane; `null`: no control plane. */
  readonly traffic: NodeTraffic | null;
  /** Sends reports of caches; `null`: no control plane. */
  readonly reportCache: ((report: CacheReport) => Promise<void>) | null;
  /** Reads the progress of sync; `null`: no control plane is followed. */
  readonly progress: (() => SyncProgress) | null;
  /** Checks for changes now. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

interface PlanReceivers {
  readonly plans: PlanSink;
  /** Receives the certificates that a control plane sends to a node with TLS. */
  readonly certificates: FeedPairSink;
  /** Receives the challenges of certificate authorities that a control plane sends. */
  readonly challenges: ChallengeSink;
  /** Called with the control plane's secret for clearances. */
  readonly onSecret: (clearance: Clearance) => void;
}

/**
 * Starts to follow the source.
 * @throws what the edge file is refused for; of a control plane only TrustFault and the system's errors: while it cannot
 * be reached, the plans on disk are served
 */
export async function followPlans(options: EdgeNodeOptions, receivers: PlanReceivers): Promise<PlanSource> {
  const { plans: origin, log } = options;
  const known = { signatures: options.signatures !== null, countries: options.countries !== null };
  const plans = warnOfBlindRules(receivers.plans, { known, warn: (sentence) => log.warn(sentence) });
  if (origin.kind === 'control') return followControlPlane(origin, options, { ...receivers, plans });
  const { check, stop } = await origin.follow(plans);
  return { traffic: null, reportCache: null, progress: null, check, stop: async () => stop() };
}

async function followControlPlane(
  { url, token, publicKey }: PlanOrigin & { readonly kind: 'control' },
  { data, log, tls, shipped, onCaughtUp, onTokenRefused }: EdgeNodeOptions,
  { plans, certificates, challenges, onSecret }: PlanReceivers,
): Promise<PlanSource> {
  const received = tls === null ? null : receiveCertificates(certificates);
  const sync = await syncWithControlPlane({
    url,
    token,
    ...(publicKey === null ? {} : { publicKey }),
    directory: data,
    lookup: createOwnLookup(),
    plans,
    ...(received === null ? {} : { certificates: received.sink }),
    challenges,
    onSecret,
    onCaughtUp,
    onTokenRefused,
    log,
  });
  // Before anything is served: what was purged while this node was off may be in its disk cache.
  await sync.caughtUp(CATCH_UP_MS);
  const traffic = await openTraffic({ control: sync.control, directory: data, log });
  const shipper = shipped === null ? null : createLogShipper({ control: sync.control, directory: data, log });
  return {
    traffic,
    reportCache: sync.control.reportCache,
    progress() {
      const { mode, ...state } = sync.state();
      const sent = received?.facts() ?? { count: 0, firstExpiry: null };
      return { ...state, certificates: sent, connected: mode !== 'away', traffic: traffic.state() };
    },
    // Changes arrive on the stream; a new stream uses the token that the file has now.
    check: async () => sync.reconnect(),
    async stop() {
      await traffic.stop();
      await shipper?.stop();
      await sync.stop();
    },
  };
}
