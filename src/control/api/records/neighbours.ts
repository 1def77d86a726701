/**
 * Checks a record against the other records of its domain: no record exists twice, and an unproxied CNAME is the only
 * record of its name (RFC 1034 §3.6.2). The counts make each check constant in the number of records.
 */
import { absoluteName } from '../../../rules/model/record-name.ts';
import type { DnsRecord } from '../../../rules/model/types.ts';

/** A record before or after it has an id. */
export type Candidate = Omit<DnsRecord, 'id'> & { readonly id?: number };

/** A domain's records, as counts by name. */
export interface Neighbours {
  /** Why the record conflicts with the others, without the record of its own id; `null`: it does not. */
  judge(record: Candidate): string | null;
  /** Adds a record, in place of the one with its id. */
  put(record: Candidate): void;
}

/** All ASCII spellings of the names of a domain's records, in lower case (the inverse of `absoluteName`). */
export function spellingsOf(domain: string, names: readonly string[]): readonly string[] {
  return names.flatMap((name) => {
    const absolute = absoluteName(name, domain);
    if (absolute === null) return [name.toLowerCase()];
    const relative = absolute === domain ? '@' : absolute.slice(0, -domain.length - 1);
    return [absolute, `${absolute}.`, relative];
  });
}

/** Counts of the records of one name. PERF: a name may have thousands, and each new one is compared with all. */
interface NameCounts {
  records: number;
  /** Unproxied CNAME records, see `isBareAlias`. */
  bareAliases: number;
  /** Records by `dataOf`. */
  readonly byData: Map<string, number>;
}

/** The properties of a record that are counted. */
interface Counted {
  /** The canonical absolute name. */
  readonly name: string;
  readonly data: string;
  readonly bareAlias: boolean;
}

/** Creates the counts of a domain with these records. `domain` is its canonical name. */
export function neighboursOf(domain: string, records: readonly Candidate[]): Neighbours {
  const byName = new Map<string, NameCounts>();
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
      const equals = (there?.byData.get(data) ?? 0) - (own?.data === data ? 1 : 0);
      if (equals > 0) return SAME_RECORD;
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

/** The data of a record as resolvers see it; only MX has a preference. */
function dataOf({ type, destination, mx_priority }: Candidate): string {
  return JSON.stringify([type, destination, type === 'MX' ? mx_priority : null]);
}

/** The message for a record that is there. */
export const SAME_RECORD = 'the same record exists already';

/** The message for an unproxied CNAME at the apex. */
const APEX_ALIAS =
  'a CNAME that is not proxied must not stand at the apex, where SOA and NS are (RFC 1034 §3.6.2); use ALIAS';

/** Whether resolvers see a CNAME; for a proxied one they get the edge's addresses. */
function isBareAlias({ type, proxied }: Candidate): boolean {
  return type === 'CNAME' && !proxied;
}
