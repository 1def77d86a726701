/** The division of a key's requests per minute among processes on one PostgreSQL. */
import type { Shares } from '../../store.ts';
import type { Session } from '../session.ts';

/** Milliseconds since the epoch, of the moment and not of the statement's beginning: it may have waited for a lock. */
const NOW = '(extract(epoch FROM clock_timestamp()) * 1000)::bigint';

/** The share of a process to which the others leave `room`, by what it requests. `/ 2` rounds down. */
const SLOTS = `greatest(asked.held, least(asked.wanted, room,
  asked.used + greatest(0, (room - asked.used + 1) / 2)))`;

/**
 * A key has one row, so its lock puts processes in order; what follows ON CONFLICT sees the row as it is under the lock.
 * Rows are locked in the order of keys, so that two statements cannot wait for each other.
 */
const DIVIDE = `
INSERT INTO request_shares AS known (key_id, holders)
SELECT key_id, jsonb_build_object($2::text, jsonb_build_object(
    'slots', ${SLOTS}, 'until', ${NOW} + $4::bigint, 'used', used, 'held', held, 'wanted', wanted))
  FROM json_to_recordset($1::json) AS asked (key_id bigint, used bigint, held bigint, wanted bigint),
    (SELECT $3::bigint AS room) others
  ORDER BY key_id
ON CONFLICT (key_id) DO UPDATE SET holders = (
  SELECT others.holders || jsonb_build_object($2::text, mine.entry
      || jsonb_build_object('slots', ${SLOTS}, 'until', ${NOW} + $4::bigint))
    FROM (SELECT excluded.holders -> $2::text AS entry) mine,
      jsonb_to_record(mine.entry) AS asked (used bigint, held bigint, wanted bigint),
      (SELECT coalesce(jsonb_object_agg(key, value), '{}') AS holders,
          $3::bigint - coalesce(sum((value ->> 'slots')::bigint), 0)::bigint AS room
        FROM jsonb_each(known.holders)
        WHERE key <> $2::text AND (value ->> 'until')::bigint > ${NOW}) others)
RETURNING key_id, (holders -> $2::text ->> 'slots')::bigint AS slots`;

/** The shares of the process called `holder`. */
export function postgresShares(holder: string, run: Session['run']): Shares {
  return {
    async divide(asks, { limit, countedMs }) {
      const rows = await run(DIVIDE, [JSON.stringify(asks), holder, limit, countedMs]);
      return new Map((rows as { key_id: number; slots: number }[]).map((row) => [row.key_id, row.slots]));
    },
  };
}
