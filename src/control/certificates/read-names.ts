/** The DNS names of a certificate, in canonical form, and whether they are names of a domain. */
import type { X509Certificate } from 'node:crypto';
import { normalizeName } from '../../base/addresses/host.ts';

/**
 * The DNS names of subjectAltName, each once, in their order; those that are no host names are left out. Node writes the
 * entries as `DNS:a, DNS:b` and those with unusual characters as JSON strings (CVE-2021-44532).
 */
export function readNames(certificate: X509Certificate): readonly string[] {
  const text = certificate.subjectAltName ?? '';
  const names = new Set<string>();
  for (const entry of text.split(', ')) {
    if (!entry.startsWith('DNS:') || entry.startsWith('DNS:"')) continue;
    const name = canonical(entry.slice(4));
    if (name !== null) names.add(name);
  }
  return [...names];
}

function canonical(text: string): string | null {
  const isWildcard = text.startsWith('*.');
  const name = normalizeName(isWildcard ? text.slice(2) : text);
  if (name === null) return null;
  return isWildcard ? `*.${name}` : name;
}

/** Whether a name of a certificate is the domain, below it, or a wildcard that covers it. */
export function isNameOf(domain: string, name: string): boolean {
  const bare = name.startsWith('*.') ? name.slice(2) : name;
  if (bare === domain || bare.endsWith(`.${domain}`)) return true;
  return name.startsWith('*.') && domain.slice(domain.indexOf('.') + 1) === bare;
}
