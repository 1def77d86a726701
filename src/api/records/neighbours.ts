/** What the other records of a domain have to say about one: nothing stands there twice, and a CNAME stands alone. */
import { absoluteName } from '../../model/record-name.ts';
import type { DnsRecord } from '../../model/types.ts';

/** A record before or after it has an id. */
export type Candidate = Omit<DnsRecord, 'id'> & { readonly id?: number };

export interface Neighbours {
  /** Why the record cannot stand beside the others, itself left out; `null` when it can. */
  judge(record: Candidate): string | null;
  /** Takes a record in, in place of the one with its id. */
  put(record: Candidate): void;
}

/** Every way in which plain ASCII can spell the names of a domain's records, lower case (`absoluteName` read backwards). */
export function spellingsOf(domain: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const absolute = absoluteName(name, domain);
    if (absolute === null) return [name.toLowerCase()];
    const relative = absolute === domain ? '@' : absolute.slice(0, -domain.length - 1);
    return [absolute, `${absolute}.`, relative];
  });
}

/** The records of one name, counted: a name may have thousands, and each new one is held against all of them. */
interface Standing {
  records: number;
  bareAliases: number;
  readonly byData: Map<string, number>;
}

/** One record as it is counted. */
interface Counted {
  readonly name: string;
  readonly data: string;
  readonly bareAlias: boolean;
}

/** The neighbours in a domain that holds `records`. */
export function neighboursOf(domain: string, records: readonly Candidate[]): Neighbours {
  const byName = new Map<string, Standing>();
  const byId = new Map<number, Counted>();
  const read = (record: Candidate): Counted => ({
    name: absoluteName(record.name, domain) ?? record.name,
    data: dataOf(record),
    bareAlias: isBareAlias(record),
  });
  function count({ name, data, bareAlias }: Counted, by: 1 | -1): void {
    const there = byName.get(name) ?? { records: 0, bareAliases: 0, byData: new Map<string, number>() };
    byName.set(name, there);
    there.records += by;
    if (bareAlias) there.bareAliases += by;
    there.byData.set(data, (there.byData.get(data) ?? 0) + by);
  }
  const neighbours: Neighbours = {
    judge(record) {
      const { name, data, bareAlias } = read(record);
      const there = byName.get(name);
      const before = record.id === undefined ? undefined : byId.get(record.id);
      const own = before?.name === name ? before : null;
      const twins = (there?.byData.get(data) ?? 0) - (own?.data === data ? 1 : 0);
      if (twins > 0) return 'the same record exists already';
      if (bareAlias && name === domain) return APEX_ALIAS;
      const others = (there?.records ?? 0) - (own === null ? 0 : 1);
      const bareAliases = (there?.bareAliases ?? 0) - (own?.bareAlias === true ? 1 : 0);
      if (others === 0 || (!bareAlias && bareAliases === 0)) return null;
      return 'a CNAME that is not proxied must be the only record of its name (RFC 1034 §3.6.2)';
    },
    put(record) {
      const counted = read(record);
      if (record.id !== undefined) {
        const old = byId.get(record.id);
        if (old !== undefined) count(old, -1);
        byId.set(record.id, counted);
      }
      count(counted, 1);
    },
  };
  for (const record of records) neighbours.put(record);
  return neighbours;
}

/** What resolvers see of a record; a preference only of the type that has one. */
function dataOf({ type, destination, mx_priority }: Candidate): string {
  return JSON.stringify([type, destination, type === 'MX' ? mx_priority : null]);
}

const APEX_ALIAS =
  'a CNAME that is not proxied must not stand at the apex, where SOA and NS are (RFC 1034 §3.6.2); use ALIAS';

/** A CNAME that resolvers see; a proxied one is answered with the edge's own addresses. */
function isBareAlias({ type, proxied }: Candidate): boolean {
  return type === 'CNAME' && !proxied;
}
