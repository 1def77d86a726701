/** Sealed lists of addresses, and sealed plans that name them by digest. */
import { createHash } from 'node:crypto';
import { compile } from '../../src/engine/compiler/compile.ts';
import { sealList } from '../../src/engine/compiler/seal-list.ts';
import { seal } from '../../src/engine/plan/seal.ts';
import { parseDomain, parseRecord, parseRule } from '../../src/rules/model/parse.ts';
import type { Rule, RuleList, RuleSet } from '../../src/rules/model/types.ts';

/** SHA-256, 64 hex digits. */
export function hexOf(octets: Uint8Array): string {
  return createHash('sha256').update(octets).digest('hex');
}

/** A sealed list of these addresses. */
export function addressList(...values: readonly string[]): Uint8Array {
  return sealList({ kind: 'ip', entries: values.map((value) => ({ value })) });
}

/** A list by the digest of its sealed form. */
export function byDigest(name: string, octets: Uint8Array): RuleList {
  return { name, kind: 'ip', digest: hexOf(octets) };
}

/** A domain with one record and drop rules, each with the addresses or `@name` that it drops. */
export function droppingSet(
  lists: readonly RuleList[],
  drops: readonly string[],
  name = 'example.com',
): RuleSet {
  const domain = parseDomain({ name });
  const fields = { id: 1, type: 'A', name: '@', destination: '198.51.100.1', proxied: true };
  const record = parseRecord(fields, name);
  if (!domain.ok || !record.ok) throw new Error('the sample does not parse');
  const rules = drops.map((entry, index) => {
    const rule = parseRule('drop', { path_includes: ['/*'], ips: [entry] });
    if (!rule.ok) throw new Error(JSON.stringify(rule.diagnostics));
    return { id: index + 1, type: 'drop', ...rule.fields } as Rule;
  });
  return { domain: domain.domain, records: [record.record], rules, lists };
}

/** The sealed plan of `droppingSet` with one list, `bad`. */
export function listedPlan(octets: Uint8Array, revision: number, name = 'example.com'): Uint8Array {
  return seal(compile(droppingSet([byDigest('bad', octets)], ['@bad'], name)).plan, { revision });
}
