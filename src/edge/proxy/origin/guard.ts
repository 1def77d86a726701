/**
 * Protects against requests to internal servers (SSRF). In: the address of a connection to an origin, after its name was
 * resolved. Out: whether it may be made: special addresses are refused unless the operator allows them, and the node's own
 * listeners always (semantics §7).
 */
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  type AllowedOrigins,
  canonicalAddress,
  createSpecialJudge,
  specialKind,
} from '../../../base/addresses/special-addresses.ts';
import { REFUSALS_LOGGED, REFUSALS_MS } from '../limits.ts';

export interface OriginBounds {
  readonly allowed: AllowedOrigins;
  /** The ports of the node's own listeners; may grow while it starts. */
  readonly ownPorts: ReadonlySet<number>;
  /** Called with a sentence about an origin that was refused: once an origin, for a limited number of them. */
  readonly onRefused: (sentence: string) => void;
}

/** The error code of a connection that the guard refused. */
export const FORBIDDEN = 'EDGE_FORBIDDEN';

export interface OriginGuard {
  /** Why a host that is an address is refused; `null`: it is allowed, or it is a name, which `lookupFor` checks. */
  refusal(host: string, port: number): NodeJS.ErrnoException | null;
  /** A `lookup` for `net.connect` to a port: returns only addresses that are allowed. */
  lookupFor(port: number): LookupFunction;
}

export function createGuard(bounds: OriginBounds, lookup: LookupFunction): OriginGuard {
  const refusedKind = createSpecialJudge(bounds.allowed);
  const report = createReport(bounds.onRefused);

  /** Why an address is refused; `null`: it is allowed. */
  function reasonAgainst(address: string, port: number): string | null {
    const canonical = canonicalAddress(address);
    // The address has a zone id, which only link-local addresses need.
    if (canonical === null) return `${address} is a link-local address; no option allows it`;
    if (bounds.ownPorts.has(port) && isOwnAddress(canonical)) {
      return `${canonical} port ${port} is a listener of this node; no option allows it`;
    }
    const kind = refusedKind(canonical);
    return kind === null ? null : `${canonical} is a ${kind} address; --allow-origins ${canonical} allows it`;
  }

  function refused(host: string, reason: string): NodeJS.ErrnoException {
    report(host, reason);
    return Object.assign(new Error(`the origin ${host} is refused: ${reason}`), { code: FORBIDDEN });
  }

  return {
    refusal(host, port) {
      if (isIP(host) === 0) return null;
      const reason = reasonAgainst(host, port);
      return reason === null ? null : refused(host, reason);
    },
    lookupFor: (port) => (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, resolved) => {
        if (error !== null) return callback(error, '');
        const all = resolved as unknown as readonly { readonly address: string; readonly family: number }[];
        let reason: string | null = null;
        const allowed = all.filter(({ address }) => {
          const refusal = reasonAgainst(address, port);
          reason ??= refusal;
          return refusal === null;
        });
        const [first] = allowed;
        if (reason !== null && first === undefined) return callback(refused(hostname, reason), '');
        if (options.all === true) return callback(null, allowed);
        callback(null, first!.address, first!.family);
      });
    },
  };
}

/** Whether an address is one of this machine. */
function isOwnAddress(canonical: string): boolean {
  const kind = specialKind(canonical);
  if (kind === 'loopback' || kind === 'unspecified') return true;
  return Object.values(networkInterfaces()).some((bound) =>
    bound?.some(({ address }) => canonicalAddress(address) === canonical),
  );
}

/** Reports each origin once in `REFUSALS_MS`, and a limited number: customers choose origins, and visitors how often. */
function createReport(report: (sentence: string) => void): (host: string, reason: string) => void {
  const reported = new Set<string>();
  let until = Number.NEGATIVE_INFINITY;
  return (host, reason) => {
    const now = performance.now();
    if (now >= until) {
      reported.clear();
      until = now + REFUSALS_MS;
    }
    const sentence = `the origin ${host} is refused: ${reason}`;
    if (reported.size >= REFUSALS_LOGGED || reported.has(sentence)) return;
    reported.add(sentence);
    report(sentence);
  };
}
