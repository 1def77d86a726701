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

/** The neighbours in a domain that holds `records`. */
export function neighboursOf(domain: string, records: readonly Candidate[]): Neighbours {
  const byName = new Map<string, Candidate[]>();
  const nameById = new Map<number, string>();
  const nameOf = (record: Candidate): string => absoluteName(record.name, domain) ?? record.name;
  const neighbours: Neighbours = {
    judge(record) {
      const others = (byName.get(nameOf(record)) ?? []).filter((other) => !isSame(other, record));
      const twin = others.find((other) => dataOf(other) === dataOf(record));
      if (twin !== undefined) return 'the same record exists already';
      if (isBareAlias(record) && nameOf(record) === domain) return APEX_ALIAS;
      if (others.length === 0 || ![record, ...others].some(isBareAlias)) return null;
      return 'a CNAME that is not proxied must be the only record of its name (RFC 1034 §3.6.2)';
    },
    put(record) {
      const name = nameOf(record);
      if (record.id !== undefined) {
        const old = nameById.get(record.id);
        if (old !== undefined)
          byName.set(
            old,
            byName.get(old)!.filter((other) => other.id !== record.id),
          );
        nameById.set(record.id, name);
      }
      const there = byName.get(name);
      if (there === undefined) byName.set(name, [record]);
      else there.push(record);
    },
  };
  for (const record of records) neighbours.put(record);
  return neighbours;
}

function isSame(one: Candidate, other: Candidate): boolean {
  return one === other || (one.id !== undefined && one.id === other.id);
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
