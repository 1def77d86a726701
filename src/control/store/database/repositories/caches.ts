/**
 * Purges of single responses. Their number per domain is bounded: the oldest are removed, and the name's entry of the
 * manifest has the highest position that was.
 */
import { sql } from 'kysely';
import { MAX_PURGES, MAX_PURGES_OCTETS } from '../../../../base/vocabulary/limits.ts';
import type { CacheReads, CacheWrites } from '../../cache-repositories.ts';
import { lockDomain } from '../lock-domain.ts';
import type { Session } from '../session.ts';
import { int, one, raw, statement, textsIn } from '../statement.ts';
import { cacheContents } from './cache-contents.ts';
import { nextPosition } from './next-position.ts';

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

/** The repository of a session. */
export function caches(session: Session): CacheReads & CacheWrites {
  return {
    ...cacheContents(session),
    purges: (domainId, above) => purges(session, { domain_id: domainId, above }),
    async purge({ id, name }, { kind, values, at }) {
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
