/**
 * Judges each address that a connection to an origin is about to be made to, after its name was resolved: special ones
 * are refused unless the operator allows them, and the node's own listeners always are (semantics §7).
 */
import { isIP, type LookupFunction } from 'node:net';
import { networkInterfaces } from 'node:os';
import {
  type AllowedOrigins,
  canonicalAddress,
  createSpecialJudge,
  specialKind,
} from '../../base/special-addresses.ts';
import { REFUSALS_LOGGED, REFUSALS_MS } from '../limits.ts';

export interface OriginBounds {
  readonly allowed: AllowedOrigins;
  /** The ports of the node's own listeners; may grow while it starts. */
  readonly ownPorts: ReadonlySet<number>;
  /** Gets a sentence about an origin that was refused, not about every one. */
  readonly onRefused: (sentence: string) => void;
}

/** The code of an error by which a connection was not begun. */
export const FORBIDDEN = 'EDGE_FORBIDDEN';

export interface OriginGuard {
  /** What is said against a host that is an address; `null` for a name, which `lookup` judges. */
  refusal(host: string, port: number): NodeJS.ErrnoException | null;
  /** As `net.connect` takes it, for connections to a port: answers with the addresses that may be connected to. */
  lookupFor(port: number): LookupFunction;
}

export function createGuard(bounds: OriginBounds, lookup: LookupFunction): OriginGuard {
  const judge = createSpecialJudge(bounds.allowed);
  const report = createReport(bounds.onRefused);

  function against(address: string, port: number): string | null {
    const canonical = canonicalAddress(address);
    // A zone id: only link-local addresses have any use for one.
    if (canonical === null) return `${address} is a link-local address; no option allows it`;
    if (bounds.ownPorts.has(port) && isOwnAddress(canonical)) {
      return `${canonical} port ${port} is a listener of this node; no option allows it`;
    }
    const kind = judge(canonical);
    return kind === null ? null : `${canonical} is a ${kind} address; --allow-origins ${canonical} allows it`;
  }

  function refused(host: string, reason: string): NodeJS.ErrnoException {
    report(host, reason);
    return Object.assign(new Error(`the origin ${host} is refused: ${reason}`), { code: FORBIDDEN });
  }

  return {
    refusal(host, port) {
      if (isIP(host) === 0) return null;
      const reason = against(host, port);
      return reason === null ? null : refused(host, reason);
    },
    lookupFor: (port) => (hostname, options, callback) => {
      lookup(hostname, { ...options, all: true }, (error, answered) => {
        if (error !== null) return callback(error, '');
        const all = answered as unknown as readonly { readonly address: string; readonly family: number }[];
        let reason: string | null = null;
        const good = all.filter(({ address }) => {
          const said = against(address, port);
          reason ??= said;
          return said === null;
        });
        const [first] = good;
        if (reason !== null && first === undefined) return callback(refused(hostname, reason), '');
        if (options.all === true) return callback(null, good);
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

/** Each origin once in a while, and a few of them: customers choose them, and visitors how often. */
function createReport(say: (sentence: string) => void): (host: string, reason: string) => void {
  const said = new Set<string>();
  let until = Number.NEGATIVE_INFINITY;
  return (host, reason) => {
    const now = performance.now();
    if (now >= until) {
      said.clear();
      until = now + REFUSALS_MS;
    }
    const sentence = `the origin ${host} is refused: ${reason}`;
    if (said.size >= REFUSALS_LOGGED || said.has(sentence)) return;
    said.add(sentence);
    say(sentence);
  };
}
