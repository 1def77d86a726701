/** The state of certificates at a time, which the store does not have: it follows from their ends. Pure. */
import { timeText } from '../../base/text/time.ts';
import { uncoveredNames } from '../../rules/model/record-name.ts';
import type { CertificateRow, RecordRow } from '../store/rows.ts';
import { EXPIRING_MS } from './limits.ts';

/** The states of one certificate. */
export const SHOWN_STATES = ['pending', 'active', 'failed', 'expired', 'revoked'] as const;
/** One of SHOWN_STATES. */
export type ShownState = (typeof SHOWN_STATES)[number];

/** The states of all certificates of a domain together. */
export const SSL_STATUSES = ['none', 'pending', 'active', 'expiring', 'expired', 'failed'] as const;
/** One of SSL_STATUSES. */
export type SslStatus = (typeof SSL_STATUSES)[number];

const DAY_MS = 86_400_000;

/** The state of a certificate at a time, milliseconds since the epoch. */
export function stateAt({ status, not_after }: CertificateRow, now: number): ShownState {
  return status === 'active' && not_after <= now ? 'expired' : status;
}

/** Whether a certificate was issued: an obtained one is not before its first order succeeds. */
export function isIssued({ not_after }: Pick<CertificateRow, 'not_after'>): boolean {
  return not_after > 0;
}

/** What the state of a domain follows from. */
export interface SslFacts {
  readonly certificates: readonly CertificateRow[];
  readonly records: readonly Pick<RecordRow, 'name' | 'proxied'>[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** The certificates of a domain in short. */
export interface SslSummary {
  readonly status: SslStatus;
  readonly expires_at?: string;
  readonly days_remaining?: number;
  readonly uncovered_hostnames?: string[];
}

/** The states in the order in which one of them describes the domain; `revoked` ones count as none. */
const RANKS: readonly ShownState[] = ['active', 'expired', 'pending', 'failed'];

/**
 * The state of the certificate in force that expires last, else of the last that has expired, else of one that is pending
 * or has failed; and the proxied names that none in force covers.
 */
export function summarizeSsl(domain: string, { certificates, records, now }: SslFacts): SslSummary {
  const stated = certificates.map((row) => ({ row, state: stateAt(row, now) }));
  const covered = stated.flatMap(({ row, state }) =>
    state === 'active' ? (JSON.parse(row.names_json) as string[]) : [],
  );
  const uncovered = uncoveredNames(records, { domain, covered });
  const open = uncovered.length === 0 ? {} : { uncovered_hostnames: [...uncovered] };
  const best = RANKS.flatMap((rank) =>
    stated
      .filter(({ state }) => state === rank)
      .sort((left, right) => right.row.not_after - left.row.not_after)
      .slice(0, 1),
  ).at(0);
  if (best === undefined || best.state === 'revoked') return { status: 'none', ...open };
  const { state } = best;
  const { not_after: end } = best.row;
  if (!isIssued(best.row)) return { status: state, ...open };
  return {
    status: state === 'active' && end <= now + EXPIRING_MS ? 'expiring' : state,
    expires_at: timeText(end),
    days_remaining: Math.max(0, Math.floor((end - now) / DAY_MS)),
    ...open,
  };
}
