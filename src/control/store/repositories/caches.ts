/**
 * Caches of nodes: purges of single responses, and the last report of each process about each of its domains. The number
 * of purges per domain is bounded: the oldest are removed, and the entry of a name in the manifest has the highest
 * position that was.
 */
import { sql } from 'kysely';
import { MAX_PURGES, MAX_PURGES_OCTETS } from '../../../base/vocabulary/limits.ts';
import { lockDomain } from '../database/lock-domain.ts';
import {
  int,
  type ListedColumns,
  listed,
  listedRows,
  one,
  raw,
  type Session,
  statement,
  textsIn,
} from '../database/statement.ts';
import type { CacheContentsRow } from '../tables/nodes.ts';
import type { CachePurgeRow, ManifestRow } from '../tables/plans.ts';
import { nextPosition } from './challenges.ts';

/** The same without the URLs, with the name of the node. */
export type CacheTotals = Omit<CacheContentsRow, 'urls_json' | 'run'> & { readonly node: string };

/** The URLs of one process. */
export type CacheUrls = Pick<CacheContentsRow, 'node_id' | 'process' | 'at' | 'entries' | 'urls_json'>;

/** One report of the cache of a process. */
export interface StoredCacheReport {
  readonly node_id: number;
  readonly process: number;
  readonly run: number;
  readonly at: number;
  /** Reports of before, of any node, are removed. */
  readonly oldest: number;
  /** Rows without files and entries are removed. */
  readonly rows: readonly Pick<
    CacheContentsRow,
    'domain_id' | 'entries' | 'octets' | 'disk_files' | 'disk_octets' | 'urls_json'
  >[];
}

// What nodes report of their caches: the last report of each process about each of its domains.

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
const putContents = statement(
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

const purges = statement((builder, p: { domain_id: number; above: number }) =>
  builder
    .selectFrom('cache_purges')
    .select(['kind', 'value', 'position'])
    .where('domain_id', '=', p.domain_id)
    .where('position', '>', p.above)
    .orderBy('position')
    .orderBy('kind')
    .orderBy('value'),
);

interface Put {
  readonly domain_id: number;
  readonly kind: string;
  /** A JSON array. */
  readonly values: string;
  readonly position: number;
}

const put = statement((builder, p: Put, flavour) =>
  raw<never>(
    sql`insert into cache_purges (domain_id, kind, value, "position")
      select distinct ${int(p.domain_id)}, cast(${p.kind} as text), given.value, ${int(p.position)}
      from ${textsIn(p.values, flavour)} as given where true
      on conflict (domain_id, kind, value) do update set "position" = excluded."position"`,
    builder,
  ),
);

/** The position of the newest purge that is beyond the bounds; `null`: none is. */
const overflow = statement((builder, p: { domain_id: number; most: number; octets: number }) =>
  raw<{ readonly floor: number | null }>(
    sql`select max("position") as floor from (
        select "position", row_number() over newest as place, sum(length(value)) over newest as octets
        from cache_purges where domain_id = ${int(p.domain_id)}
        window newest as (order by "position" desc, kind, value)
      ) as counted where place > ${int(p.most)} or octets > ${int(p.octets)}`,
    builder,
  ),
);

const dropThrough = statement((builder, p: { domain_id: number; floor: number }) =>
  builder.deleteFrom('cache_purges').where('domain_id', '=', p.domain_id).where('position', '<=', p.floor),
);

interface Marked {
  readonly domain: string;
  readonly domain_id: number;
  readonly position: number;
  readonly floor: number;
  readonly at: number;
}

const mark = statement((builder, p: Marked) =>
  builder
    .updateTable('manifest')
    .set(({ eb, ref }) => ({
      purge_through: int(p.position),
      purge_floor: eb
        .case()
        .when('purge_floor', '<', int(p.floor))
        .then(int(p.floor))
        .else(ref('purge_floor'))
        .end(),
      position: p.position,
      at: p.at,
    }))
    .where('domain', '=', p.domain)
    .where('domain_id', '=', p.domain_id)
    .returningAll(),
);

/** Reads of purges and reports. */
export function cacheReads(session: Session) {
  return {
    /** What the caches of nodes that are not revoked have stored of a domain, reported at `oldest` or later; by name and process. */
    totals: (domainId: number, oldest: number): Promise<readonly CacheTotals[]> =>
      totals(session, { domain_id: domainId, oldest }),
    /** Their URLs, the newest reports first, as many as have `characters` together, and at least one. */
    urls: (
      domainId: number,
      bounds: { readonly oldest: number; readonly characters: number },
    ): Promise<readonly CacheUrls[]> => urls(session, { domain_id: domainId, ...bounds }),
    /** Purges of a domain above a position, by position. */
    purges: (domainId: number, above: number): Promise<readonly CachePurgeRow[]> =>
      purges(session, { domain_id: domainId, above }),
  };
}

/** Writes of purges and reports. */
export function cacheWrites(session: Session) {
  return {
    /**
     * Replaces what a process has reported of the domains of `rows`, and removes what its earlier runs have reported. Rows of
     * domains that do not exist any more are left out.
     */
    async report({ rows, oldest, ...report }: StoredCacheReport): Promise<void> {
      await putContents(session, { ...report, rows: listedRows(rows, ROW_COLUMNS) });
      await dropOutdated(session, report);
      await dropOld(session, { oldest });
    },
    /**
     * Stores purges of a domain under a new position of the manifest, and removes its oldest ones beyond `MAX_PURGES` and
     * `MAX_PURGES_OCTETS`, which raises the floor. The entry of a name that another domain has in the manifest is not
     * changed: nodes have nothing of this domain. Publications of all domains wait from here to the commit.
     */
    async purge(
      { id, name }: { readonly id: number; readonly name: string },
      {
        kind,
        values,
        at,
      }: { readonly kind: CachePurgeRow['kind']; readonly values: readonly string[]; readonly at: number },
    ): Promise<ManifestRow | null> {
      await lockDomain(session, id);
      session.note('manifest');
      const { position } = (await one(session, nextPosition, {}))!;
      await put(session, { domain_id: id, kind, values: JSON.stringify(values), position });
      const bounds = { domain_id: id, most: MAX_PURGES, octets: MAX_PURGES_OCTETS };
      const floor = (await one(session, overflow, bounds))?.floor ?? 0;
      if (floor > 0) await dropThrough(session, { domain_id: id, floor });
      return one(session, mark, { domain: name, domain_id: id, position, floor, at });
    },
  };
}
