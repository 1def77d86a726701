/**
 * What a process does about requests for hosts that it does not serve: which hosts an answer 421 may list, and a sentence for
 * the log, at most once a minute for each reason.
 */
import { cutHost } from '../answers/unserved.ts';
import type { Plans } from '../following/served-domain.ts';

/** Why a host is not served. */
export type UnservedReason = 'unknown' | 'refused' | 'record' | 'handshake';

/** A requested host that is not served. */
export interface UnservedHost {
  /** As it was read, in lower case. */
  readonly host: string;
  /** The name in the TLS handshake; `null`: none. */
  readonly serverName: string | null;
  readonly reason: UnservedReason;
}

const REASONS: Readonly<Record<UnservedReason, string>> = {
  unknown: 'no domain here has this host',
  refused: 'its domain is not active, is suspended, or has a plan that cannot be opened',
  record: 'its domain serves nothing now, or has no proxied record for this host',
  handshake: 'the TLS connection was opened for another host',
};

/** Milliseconds between two reports of one reason. */
const REPORT_MS = 60_000;

/** What a process does about hosts that it does not serve. */
export interface Unserved {
  /** The hosts that a client on this machine gets, up to `most`; `null`: they are not listed. */
  hosts(most: number): readonly string[] | null;
  /** Records a request. */
  report(reason: UnservedReason, host: string): void;
}

export interface UnservedOptions {
  readonly plans: Pick<Plans, 'hosts' | 'size'>;
  /** Whether clients on this machine get the hosts; where plans are customers', their names are not listed. */
  readonly listed: boolean;
  /** Receives the sentence. */
  readonly onUnserved: (sentence: string) => void;
}

export function createUnserved({ plans, listed, onUnserved }: UnservedOptions): Unserved {
  const reportedAt = new Map<UnservedReason, number>();
  return {
    hosts: (most) => (listed ? plans.hosts(most) : null),
    report(reason, host) {
      const now = performance.now();
      if (now - (reportedAt.get(reason) ?? Number.NEGATIVE_INFINITY) < REPORT_MS) return;
      reportedAt.set(reason, now);
      const domains = plans.size === 1 ? '1 domain is' : `${plans.size} domains are`;
      onUnserved(
        `a request for the host \`${cutHost(host)}\` was answered with 421: ${REASONS[reason]}; ${domains} installed (reported at most once a minute)`,
      );
    },
  };
}
