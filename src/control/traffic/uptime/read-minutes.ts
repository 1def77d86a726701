/** Reads the monitored requests of domains as nodes reported them, in the form that uptime is judged by. */
import type { Store } from '../../store/store.ts';
import { readMonitoredMinutes } from '../read-traffic.ts';
import type { ReadMinutes } from './judge-due.ts';
import type { UptimeMinute } from './state.ts';

const MINUTE_MS = 60_000;

/** Reads from one snapshot: while a roll-up moves counts, two reads could miss them or see them twice. */
export function createReadMinutes(store: Pick<Store, 'read'>): ReadMinutes {
  return async (domainIds, { after, through }) => {
    const times = { from: (after + 1) * MINUTE_MS, to: (through + 1) * MINUTE_MS };
    const rows = await store.read((tx) => readMonitoredMinutes(tx, domainIds, times));
    const minutes = new Map<number, UptimeMinute[]>();
    for (const { domain_id, minute, monitored, monitored_errors } of rows) {
      if (monitored === 0) continue;
      const one = { minute, requests: monitored, errors: monitored_errors };
      const before = minutes.get(domain_id);
      if (before === undefined) minutes.set(domain_id, [one]);
      else before.push(one);
    }
    return minutes;
  };
}
