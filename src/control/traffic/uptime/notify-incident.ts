/** Notifies the owner of a domain of an outage that began or ended, in the transaction that stores it. */
import { timeText } from '../../../base/text/time.ts';
import { notify } from '../../notices/notify.ts';
import type { WriteTransaction } from '../../store/store.ts';
import type { IncidentChange } from './judge-due.ts';

/** A domain whose owner has turned alerts off has incidents and no notifications. @param now milliseconds since the epoch */
export async function notifyIncident(
  tx: WriteTransaction,
  { kind, domain, incident }: IncidentChange,
  now: number,
): Promise<void> {
  if (!domain.outage_alerts) return;
  const about = { incident_id: incident.id, since: timeText(incident.began_at) };
  if (kind === 'opened') {
    const { requests, errors } = incident;
    const data = { ...about, window_min: domain.uptime_window_min, requests, errors };
    await notify(tx, { kind: 'outage.opened', data, domain, now });
    return;
  }
  const until = timeText(incident.resolved_at ?? now);
  const data = { ...about, until, cause: incident.resolution ?? 'recovered' };
  await notify(tx, { kind: 'outage.resolved', data, domain, now });
}
