/** The traffic and uptime of `edgeplan serve`: the thread that merges counts, the roll-up, and the watch of uptime. */
import { type Retention, USUAL_RETENTION } from '../control/traffic/retention.ts';
import { createRollUp, type RollUp, type RollUpRound } from '../control/traffic/roll-up.ts';
import { createTrafficThread, type TrafficThread } from '../control/traffic/thread.ts';
import { notifyIncident } from '../control/traffic/uptime/notify-incident.ts';
import { createReadMinutes } from '../control/traffic/uptime/read-minutes.ts';
import { type UptimeWatch, watchUptime } from '../control/traffic/uptime/watch.ts';
import type { ServerOptions } from './server-options.ts';

type TrafficOptions = Pick<ServerOptions, 'store' | 'log' | 'trafficRetention'>;

/** The periods for which traffic is stored. */
export function retentionOf({ trafficRetention }: Pick<ServerOptions, 'trafficRetention'>): Retention {
  return trafficRetention ?? USUAL_RETENTION;
}

/** What opens, merges and removes the traffic of nodes. */
export interface ServerTraffic {
  readonly thread: TrafficThread;
  readonly rollUp: RollUp;
}

/** One process of a store without shares has it alone. */
export function createTraffic(options: TrafficOptions, onRound: (round: RollUpRound) => void): ServerTraffic {
  const { store, log } = options;
  const thread = createTrafficThread({ store });
  const rollUp = createRollUp({
    ...{ store, thread, log },
    retention: retentionOf(options),
    alone: store.shares === null,
    onRound,
  });
  return { thread, rollUp };
}

/** Judges uptime from what nodes reported. */
export function startUptime({ store, log }: TrafficOptions): UptimeWatch {
  return watchUptime({
    store,
    minutes: createReadMinutes(store),
    clock: Date.now,
    changed: (tx, change) => notifyIncident(tx, change, Date.now()),
    failed: (error) => log.warn({ err: error }, 'uptime not judged; will retry'),
  });
}
