/** Nodes as customers see them; the operations of nodes are in `feed.ts`. */
import { z } from 'zod';
import { currentOf, nodesOf } from '../../publishing/revisions.ts';
import type { ReadTransaction } from '../../store/store.ts';
import type { DomainRow } from '../../store/tables/domains.ts';
import type { ReportRow } from '../../store/tables/nodes.ts';
import { ok, operation } from '../operation/route.ts';

/**
 * Milliseconds after a node's last contact from which it is reported as away; a connected node renews it at least twice
 * in that time.
 */
const AWAY_AFTER_MS = 60_000;

/** A time as the API writes it; `null` stays `null`. */
const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());

/** `GET /nodes/`: all nodes that are not revoked; `online`: the last contact is at most `AWAY_AFTER_MS` ago. */
export const list = operation({
  summary: 'List the nodes',
  response: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      online: z.boolean(),
      created_at: z.iso.datetime(),
      last_seen_at: z.iso.datetime().nullable(),
    }),
  ),
  async handle(call) {
    const nodes = (await call.latest.nodes.list()).filter((node) => node.revoked_at === null);
    return ok(
      nodes.map(({ id, name, created_at, last_seen_at }) => ({
        id,
        name,
        online: last_seen_at !== null && call.now - last_seen_at <= AWAY_AFTER_MS,
        created_at: time(created_at),
        last_seen_at: time(last_seen_at),
      })),
    );
  },
});

/** `GET /domains/{domain}/nodes/`: the last report of each node of the domain's groups. */
export const onDomain = operation({
  summary: "List what each node of the domain's groups said last of its plan",
  response: z.array(
    z.object({
      id: z.int(),
      name: z.string(),
      /** The newest revision it has answered; `null`: none yet. */
      revision: z.int().nullable(),
      outcome: z.enum(['ack', 'nack']).nullable(),
      reason: z.string(),
      reported_at: z.iso.datetime().nullable(),
      /** Whether it runs the current revision. */
      current: z.boolean(),
    }),
  ),
  handle: (call) =>
    call.read(async (tx) => {
      const nodes = await nodesOf(tx, call.domain);
      const current = await currentOf(tx, call.domain);
      const reports = new Map((await reportsOn(tx, call.domain)).map((report) => [report.node_id, report]));
      return ok(
        nodes.map(({ id, name }) => {
          const report = reports.get(id);
          return {
            id,
            name,
            revision: report?.revision ?? null,
            outcome: report?.outcome ?? null,
            reason: report?.reason ?? '',
            reported_at: time(report?.at ?? null),
            current:
              report !== undefined && report.outcome === 'ack' && report.revision === current?.revision,
          };
        }),
      );
    }),
});

/** The last report of each node on a revision of this domain, without those on an earlier domain of the same name. */
async function reportsOn(
  tx: ReadTransaction,
  { id, name }: Pick<DomainRow, 'id' | 'name'>,
): Promise<readonly ReportRow[]> {
  const reports = await tx.nodes.latestReports(name);
  const own = new Set<number>();
  for (const revision of new Set(reports.map((report) => report.revision))) {
    if ((await tx.plans.get(id, revision)) !== null) own.add(revision);
  }
  return reports.filter(({ revision }) => own.has(revision));
}
