/** Resolves and checks record names, which are stored relative or absolute, `@` for the apex (semantics §2). */
import { normalizeName } from '../../base/addresses/host.ts';
import type { Problem } from './report.ts';
import type { DnsRecord } from './types.ts';

/**
 * The canonical absolute name of a record (lower case, ASCII, no trailing dot); `null` for a name that is invalid or
 * outside the domain. `domain` is canonical.
 * A name that equals the domain or ends in `.<domain>` is absolute, with or without a trailing dot. Any other name is
 * relative; with a trailing dot it is outside the domain.
 */
export function absoluteName(name: string, domain: string): string | null {
  if (name === '@') return domain;
  const canonical = normalizeName(name);
  if (canonical === null) return null;
  if (canonical === domain || canonical.endsWith(`.${domain}`)) return canonical;
  return name.endsWith('.') ? null : normalizeName(`${canonical}.${domain}`);
}

/** The problem of a record name in a domain, or `null`. A `*` is allowed only as the whole first label. */
export function judgeRecordName(name: string, domain: string): Problem | null {
  const absolute = absoluteName(name, domain);
  if (absolute === null) {
    const outside = name.endsWith('.') && normalizeName(name) !== null;
    const message = outside
      ? `must be a name inside \`${domain}\``
      : 'must be a name relative to the domain, or `@`';
    return { code: 'invalid_name', message };
  }
  if (!absolute.slice(1).includes('*') && (!absolute.startsWith('*') || absolute.startsWith('*.')))
    return null;
  const message = 'may hold `*` only as its whole first label (RFC 4592 §2.1.1)';
  return { code: 'invalid_name', message };
}

/** The problem of a CNAME or ALIAS record whose destination is its own name, or `null`. */
export function judgeOwnTarget(
  { name, type, destination }: Pick<DnsRecord, 'name' | 'type' | 'destination'>,
  domain: string,
): Problem | null {
  if (type !== 'CNAME' && type !== 'ALIAS') return null;
  if (absoluteName(name, domain) !== normalizeName(destination)) return null;
  const message = "must be another name: this is the record's own";
  return { code: 'own_target', message, remedy: 'write the name of the host that answers' };
}

// Which proxied names of a domain certificates cover. In: records, and the names of certificates. Pure.

/** The proxied names that none of the names in `covered` covers, in order. `domain`: its canonical name. */
export function uncoveredNames(
  records: readonly Pick<DnsRecord, 'name' | 'proxied'>[],
  { domain, covered }: { readonly domain: string; readonly covered: readonly string[] },
): readonly string[] {
  const names = records.flatMap(({ name, proxied }) => (proxied ? (absoluteName(name, domain) ?? []) : []));
  const known = new Set(covered);
  return [...new Set(names)].filter((name) => !isNameCovered(name, known)).sort();
}

/** Whether certificates cover a name; a wildcard matches exactly one label, the first (RFC 6125 §6.4.3). */
export function isNameCovered(name: string, covered: ReadonlySet<string>): boolean {
  return covered.has(name) || covered.has(`*${name.slice(name.indexOf('.'))}`);
}
