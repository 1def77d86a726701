/** The uptime of a domain: its present state with the reasons, availability by hour, and incidents. */
import { z } from 'zod';
import { timeText } from '../../../base/text/time.ts';
import { type IncidentRow, RESOLUTIONS } from '../../store/tables/uptime.ts';
import { readHours } from '../../traffic/uptime/read-hours.ts';
import { explainUptime, readState, UPTIME_STATUSES } from '../../traffic/uptime/state.ts';
import { MAX_PAGE, USUAL_PAGE } from '../operation/limits.ts';
import { queryNumber } from '../operation/read-request.ts';
import { ok, operation } from '../operation/route.ts';

const HOUR_MS = 3_600_000;
const MINUTE_MS = 60_000;
/** Hours of an answer, at most: as long as counts by hour are stored by default (semantics §10). */
const MAX_HOURS = 35 * 24;
/** Hours of an answer without `hours`. */
const USUAL_HOURS = 24;

const time = z.iso.datetime();

/** An outage. */
const INCIDENT = z
  .object({
    id: z
      .int()
      .describe('the id of the incident; later incidents have higher ones')
      .meta({ examples: [7] }),
    began_at: time.describe('the start of the first minute that was down'),
    opened_at: time.describe('when the settings of the domain made it an incident'),
    resolved_at: time.nullable().describe('when it resolved; `null`: it is open'),
    resolution: z
      .enum(RESOLUTIONS)
      .nullable()
      .describe('`recovered`: the origin answers again; `no_traffic`: 24 hours without a monitored request'),
    requests: z
      .int()
      .describe('monitored requests from `began_at` on')
      .meta({ examples: [240] }),
    errors: z
      .int()
      .describe('those of them that the origin did not answer, or answered with 500 or more')
      .meta({ examples: [231] }),
  })
  .meta({ id: 'Incident' });

/** The uptime of a domain. */
const UPTIME = z
  .object({
    status: z
      .enum(UPTIME_STATUSES)
      .describe('`down`: an incident is open; `unknown`: no monitored request of late; `up`: neither'),
    reasons: z
      .array(z.string())
      .describe('why an incident is open, and what ends it; or why none is')
      .meta({ examples: [['1 of 3 minutes with requests in the last 5 minutes were not down']] }),
    judged_through: time.nullable().describe('the end of the last judged minute; `null`: none was'),
    incident: INCIDENT.nullable().describe('the open incident'),
    availability: z
      .number()
      .nullable()
      .describe(
        'the share of monitored requests without an error over the hours, 0 to 1; `null`: there were none',
      )
      .meta({ examples: [0.9987] }),
    requests: z
      .int()
      .describe('monitored requests over the hours')
      .meta({ examples: [120_433] }),
    errors: z
      .int()
      .describe('errors over the hours')
      .meta({ examples: [157] }),
    hours: z
      .array(
        z.object({
          at: time.describe('the start of the hour'),
          requests: z
            .int()
            .describe('monitored requests')
            .meta({ examples: [5_012] }),
          errors: z
            .int()
            .describe('errors')
            .meta({ examples: [3] }),
          availability: z
            .number()
            .nullable()
            .describe('as above, of this hour')
            .meta({ examples: [0.9994] }),
        }),
      )
      .describe('each hour, the oldest first; the last one is not over'),
  })
  .meta({ id: 'Uptime' });

/** `GET /domains/{domain}/uptime/`. */
export const uptime = operation({
  summary: 'The uptime of a domain: whether an incident is open and why, and availability by hour',
  query: z.object({
    hours: queryNumber(1, MAX_HOURS).describe(`hours up to now; without it ${USUAL_HOURS}`),
  }),
  response: UPTIME,
  async handle({ domain, query, now, read }) {
    const count = (query['hours'] as number | undefined) ?? USUAL_HOURS;
    const to = Math.floor(now / HOUR_MS) * HOUR_MS + HOUR_MS;
    const from = to - count * HOUR_MS;
    return read(async (tx) => {
      const row = await tx.uptime.state(domain.id);
      const [open] = await tx.uptime.incidents(domain.id, { limit: 1 });
      const known = new Map((await readHours(tx, domain.id, { from, to })).map((hour) => [hour.at, hour]));
      const hours = Array.from({ length: count }, (_, at) => {
        const start = from + at * HOUR_MS;
        const { requests = 0, errors = 0 } = known.get(start) ?? {};
        return { at: timeText(start), requests, errors, availability: availability(requests, errors) };
      });
      const requests = hours.reduce((sum, hour) => sum + hour.requests, 0);
      const errors = hours.reduce((sum, hour) => sum + hour.errors, 0);
      return ok({
        ...explainUptime(row === null ? null : readState(row.state_json), domain),
        judged_through: row === null ? null : timeText((row.through + 1) * MINUTE_MS),
        incident: open === undefined || open.resolved_at !== null ? null : showIncident(open),
        availability: availability(requests, errors),
        requests,
        errors,
        hours,
      });
    });
  },
});

/** `GET /domains/{domain}/uptime/incidents/`: the newest first, page by page. */
export const incidents = operation({
  summary: 'The incidents of a domain, newest first; `before` an incident id goes on from there',
  query: z.object({
    before: queryNumber(1, Number.MAX_SAFE_INTEGER).describe('only incidents with a lower id'),
    limit: queryNumber(1, MAX_PAGE).describe(`incidents, at most; without it ${USUAL_PAGE}`),
  }),
  response: z.array(INCIDENT),
  async handle({ domain, query, latest }) {
    const { before, limit } = query as { readonly before?: number; readonly limit?: number };
    const page = { limit: limit ?? USUAL_PAGE, ...(before === undefined ? {} : { before }) };
    return ok((await latest.uptime.incidents(domain.id, page)).map(showIncident));
  },
});

function showIncident(row: IncidentRow): z.output<typeof INCIDENT> {
  return {
    id: row.id,
    began_at: timeText(row.began_at),
    opened_at: timeText(row.opened_at),
    resolved_at: row.resolved_at === null ? null : timeText(row.resolved_at),
    resolution: row.resolution,
    requests: row.requests,
    errors: row.errors,
  };
}

/** The share without an error; `null` without requests. */
function availability(requests: number, errors: number): number | null {
  return requests === 0 ? null : Math.round((1 - errors / requests) * 1_000_000) / 1_000_000;
}
