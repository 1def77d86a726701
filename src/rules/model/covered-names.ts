/** Which proxied names of a domain certificates cover. In: records, and the names of certificates. Pure. */
import { absoluteName } from './record-name.ts';
import type { DnsRecord } from './types.ts';

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
