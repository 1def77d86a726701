/**
 * Refuses special addresses (loopback, private, metadata and others) wherever a write names an origin (semantics §7).
 * Nodes check again when they connect, after they resolved names.
 */
import { canonicalAddress, type SpecialJudge } from '../../base/addresses/special-addresses.ts';
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import type { RuleOrigin } from '../../rules/model/common.ts';
import type { DnsRecord } from '../../rules/model/types.ts';
import { wrongInput } from './operation/read-request.ts';
import type { Refusal } from './operation/refusal.ts';

/** An address that the edge would connect to, and the field it was written in. */
export interface WrittenOrigin extends RuleOrigin {
  /** The remedy for the customer; the server option that allows the address is for the operator. */
  readonly instead?: string;
}

/** A record's destination where the edge connects to it; an unproxied record may have any address. */
export function originsOfRecord({
  proxied,
  destination,
}: Pick<DnsRecord, 'proxied' | 'destination'>): readonly WrittenOrigin[] {
  const instead = 'set `proxied` to `false`, or';
  return proxied ? [{ path: ['destination'], address: destination, instead }] : [];
}

/** The 400 that lists special addresses among the origins; `null` when all origins are allowed. */
export function refuseSpecial(
  specialOrigin: SpecialJudge,
  origins: readonly WrittenOrigin[],
): Refusal | null {
  const diagnostics = origins.flatMap(({ path, address, instead }): readonly Diagnostic[] => {
    const kind = specialOrigin(address);
    if (kind === null) return [];
    const option = `start the server with --allow-origins ${canonicalAddress(address)}`;
    return [
      {
        code: 'special_address',
        severity: 'error',
        path,
        message: `must be a public address, and this one is ${kind}`,
        found: quoteValue(address),
        remedy: instead === undefined ? option : `${instead} ${option}`,
      },
    ];
  });
  return diagnostics.length === 0 ? null : wrongInput(diagnostics);
}
