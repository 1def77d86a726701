/** Notifications as answers of the API: their schemas, and how rows become them. */
import { z } from 'zod';
import { timeText } from '../../base/text/time.ts';
import { DELIVERY_STATES, type DeliveryRow, NOTIFY_CHANNELS, type NotificationRow } from '../store/rows.ts';
import type { ReadTransaction } from '../store/store.ts';
import { SEVERITIES } from './kind.ts';
import { publicId, readNotification } from './kinds.ts';

/** How a notification reached one target. */
const DELIVERY = z
  .object({
    channel: z.enum(NOTIFY_CHANNELS).describe('how it is sent'),
    webhook_id: z.int().nullable().describe('the webhook; `null`: the address or number of the account'),
    state: z
      .enum(DELIVERY_STATES)
      .describe('`waiting`: it is attempted, or attempted again; `skipped`: it is not attempted'),
    tries: z.int().describe('attempts so far'),
    next_at: z.iso.datetime().nullable().describe('the next attempt; `null`: none'),
    delivered_at: z.iso.datetime().nullable().describe('when the target accepted it; `null`: not yet'),
    error: z
      .string()
      .nullable()
      .describe('why the last attempt failed, or it was skipped; `null`: nothing failed'),
  })
  .meta({ id: 'NotificationDelivery' });

/** One entry of the feed. */
export const NOTIFICATION = z
  .object({
    id: z.int().describe('the id of the notification; later ones have higher ids'),
    message_id: z
      .string()
      .describe('the id that e-mails, SMS and webhooks carry, the same at each attempt')
      .meta({ examples: ['ntf_17_mi3x2k1s'] }),
    kind: z
      .string()
      .describe('what happened')
      .meta({ examples: ['domain.activated'] }),
    severity: z.enum(SEVERITIES).describe('`critical`: act now; `warning`: act soon; `info`: nothing to do'),
    domain: z.string().nullable().describe('the domain that it is about; `null`: none'),
    message: z.string().describe('what happened, as one line'),
    text: z.array(z.string()).describe('the details, a paragraph each; what a person wrote has its lines'),
    actions: z.array(z.string()).describe('what to do, in order; empty: nothing'),
    data: z.record(z.string(), z.unknown()).describe('the details as fields, which differ by kind'),
    created_at: z.iso.datetime().describe('when it happened'),
    read_at: z.iso.datetime().nullable().describe('when it was marked as read; `null`: it is unread'),
    deliveries: z.array(DELIVERY).describe('how it was sent; empty: it is in the feed only'),
  })
  .meta({ id: 'Notification' });

/** A time, or `null`. */
function time(at: number | null): string | null {
  return at === null ? null : timeText(at);
}

/** A delivery in the form of the API. */
function showDelivery(row: DeliveryRow): z.output<typeof DELIVERY> {
  return {
    channel: row.channel,
    webhook_id: row.channel === 'webhook' ? row.target_id : null,
    state: row.state,
    tries: row.tries,
    next_at: row.state === 'waiting' ? timeText(row.next_at) : null,
    delivered_at: time(row.delivered_at),
    error: row.last_error === '' ? null : row.last_error,
  };
}

/** Notifications in the form of the API, with their deliveries. */
export async function showNotifications(
  tx: ReadTransaction,
  rows: readonly NotificationRow[],
): Promise<z.output<typeof NOTIFICATION>[]> {
  const deliveries = rows.length === 0 ? [] : await tx.notifications.deliveriesOf(rows.map(({ id }) => id));
  return rows.map((row) => {
    const { kind, data, letter } = readNotification(row);
    return {
      id: row.id,
      message_id: publicId(row),
      kind: row.kind,
      severity: kind?.severity ?? 'info',
      domain: row.domain === '' ? null : row.domain,
      message: letter.headline,
      text: [...letter.paragraphs, ...(letter.written ?? []).map(({ lines }) => lines.join('\n'))],
      actions: [...letter.steps],
      data: data as Record<string, unknown>,
      created_at: timeText(row.created_at),
      read_at: time(row.read_at),
      deliveries: deliveries.filter(({ notification_id }) => notification_id === row.id).map(showDelivery),
    };
  });
}
