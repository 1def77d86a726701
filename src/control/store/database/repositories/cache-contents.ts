/** What nodes report of their caches: the last report of each process about each of its domains. */
import { sql } from 'kysely';
import type {
  CacheReads,
  CacheTotals,
  CacheUrls,
  CacheWrites,
  StoredCacheReport,
} from '../../cache-repositories.ts';
import type { Session } from '../session.ts';
import { int, type ListedColumns, listed, listedRows, raw, statement } from '../statement.ts';

const ROW_COLUMNS: ListedColumns = {
  domain_id: 'bigint',
  entries: 'bigint',
  octets: 'bigint',
  disk_files: 'bigint',
  disk_octets: 'bigint',
  urls_json: 'text',
};

const totals = statement<{ domain_id: number; oldest: number }, CacheTotals>((builder, p) =>
  builder
    .selectFrom('cache_contents')
    .innerJoin('nodes', 'nodes.id', 'cache_contents.node_id')
    .select([
      'domain_id',
      'node_id',
      'process',
      'at',
      'entries',
      'octets',
      'disk_files',
      'disk_octets',
      'nodes.name as node',
    ])
    .where('domain_id', '=', p.domain_id)
    .where('at', '>=', p.oldest)
    .where('nodes.revoked_at', 'is', null)
    .orderBy('nodes.name')
    .orderBy('process'),
);

/** The running sum leaves out the row itself, so that the first row is always there. */
const urls = statement((builder, p: { domain_id: number; oldest: number; characters: number }) =>
  raw<CacheUrls>(
    sql`select node_id, process, at, entries, urls_json from (
        select node_id, process, at, entries, urls_json,
          sum(length(urls_json)) over newest - length(urls_json) as before
        from cache_contents join nodes on nodes.id = node_id
        where domain_id = ${int(p.domain_id)} and at >= ${int(p.oldest)} and revoked_at is null
        window newest as (order by at desc, node_id, process)
      ) as counted where before < ${int(p.characters)}
      order by at desc, node_id, process`,
    builder,
  ),
);

/**
 * As with parts of traffic, the insert waits for a removal of the domain on PostgreSQL. It comes before the removals, so that
 * no lock on a row of a domain is taken before the one on the domain.
 */
const put = statement(
  (builder, p: Pick<StoredCacheReport, 'node_id' | 'process' | 'run' | 'at'> & { rows: string }, flavour) =>
    raw<never>(
      sql`insert into cache_contents
          (domain_id, node_id, process, run, at, entries, octets, disk_files, disk_octets, urls_json)
        select domains.id, ${int(p.node_id)}, ${int(p.process)}, ${int(p.run)}, ${int(p.at)},
          entries, octets, disk_files, disk_octets, urls_json
        from (${listed(p.rows, ROW_COLUMNS, flavour)}) as given
        join domains on domains.id = given.domain_id
        ${flavour.database === 'sqlite' ? sql`where true` : sql`for key share of domains`}
        on conflict (domain_id, node_id, process) do update set
          run = excluded.run, at = excluded.at, entries = excluded.entries, octets = excluded.octets,
          disk_files = excluded.disk_files, disk_octets = excluded.disk_octets, urls_json = excluded.urls_json`,
      builder,
    ),
);

const dropOutdated = statement((builder, p: Pick<StoredCacheReport, 'node_id' | 'process' | 'run'>) =>
  builder
    .deleteFrom('cache_contents')
    .where('node_id', '=', p.node_id)
    .where('process', '=', p.process)
    .where(({ eb, or, and }) =>
      or([eb('run', '<>', p.run), and([eb('entries', '=', 0), eb('disk_files', '=', 0)])]),
    ),
);

const dropOld = statement((builder, p: { oldest: number }) =>
  builder.deleteFrom('cache_contents').where('at', '<', p.oldest),
);

/** The part of the repository of caches. */
export function cacheContents(
  session: Session,
): Pick<CacheReads, 'totals' | 'urls'> & Pick<CacheWrites, 'report'> {
  return {
    totals: (domainId, oldest) => totals(session, { domain_id: domainId, oldest }),
    urls: (domainId, bounds) => urls(session, { domain_id: domainId, ...bounds }),
    async report({ rows, oldest, ...report }) {
      await put(session, { ...report, rows: listedRows(rows, ROW_COLUMNS) });
      await dropOutdated(session, report);
      await dropOld(session, { oldest });
    },
  };
}
