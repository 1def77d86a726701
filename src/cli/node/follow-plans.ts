/** Who brings a node its plans: an edge file, or a control plane, which also says the secret and is told of traffic. */
import type { Clearance } from '../../plan/manifest.ts';
import type { SyncProgress } from '../../proxy/log/sync-metrics.ts';
import type { PlanSink } from '../../sync/plan-table.ts';
import { syncWithControlPlane } from '../../sync/sync.ts';
import { createUsage, type Usage } from '../../sync/usage.ts';
import { serveEdgeFile } from '../watch-file.ts';
import type { NodeStart, NodeToken } from './options.ts';
import { openTokenFile } from './token-file.ts';

export interface PlanSource {
  /** Where traffic is counted; `null`: nobody is told of it. */
  readonly usage: Usage | null;
  /** How the control plane is followed; `null`: there is none. */
  readonly following: (() => SyncProgress) | null;
  /** Looks now whether there is something new. */
  look(): Promise<void>;
  stop(): Promise<void>;
}

interface Follows {
  readonly plans: PlanSink;
  readonly onSecret: (clearance: Clearance) => void;
}

/** Begins to follow; under `file` the file must be right. */
export async function followPlans(
  { plans: from, data, log, onInstalled, onRefused, onCaughtUp, onTokenRefused }: NodeStart,
  { plans, onSecret }: Follows,
): Promise<PlanSource> {
  if (from.kind === 'file') {
    const { file, colour } = from;
    const { check, stop } = await serveEdgeFile({ file, colour, plans, onInstalled, onRefused });
    return { usage: null, following: null, look: check, stop: async () => stop() };
  }
  const token = tokenOf(from.token, log);
  const follower = await syncWithControlPlane({
    url: from.url,
    token,
    ...(from.publicKey === null ? {} : { publicKey: from.publicKey }),
    directory: data,
    plans,
    onSecret,
    onCaughtUp,
    onTokenRefused,
    log,
  });
  const usage = createUsage({ control: follower.control, directory: data, log });
  return {
    usage,
    following() {
      const { mode, silentMs, pending, refused, disk, unreported } = follower.state();
      return { connected: mode !== 'away', silentMs, pending, refused, disk, unreported, rows: usage.rows() };
    },
    // Changes arrive on the stream; a new stream uses the token that the file has now.
    look: async () => follower.reconnect(),
    async stop() {
      await usage.stop();
      await follower.stop();
    },
  };
}

function tokenOf(token: NodeToken, log: NodeStart['log']): () => string {
  if (token.kind === 'text') return () => token.text;
  return openTokenFile(token.file, (sentence) => log.warn(sentence)).read;
}
