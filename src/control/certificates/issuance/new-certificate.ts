/** A certificate that is to be obtained: its row, which is not issued yet, and its order. */
import { retryMs } from '../../../base/platform/tasks.ts';
import type { CertificateRow } from '../../store/rows.ts';
import type { WriteTransaction } from '../../store/store.ts';
import { REFUSED_RETRY } from './limits.ts';

/** What is to be obtained. */
export interface WantedCertificate {
  readonly domainId: number;
  readonly names: readonly string[];
  /** Why the CA has refused the names before; `null`: it has not, and the order is due at once. */
  readonly refused: string | null;
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Inserts both. @throws StoreFault */
export async function insertWanted(
  tx: WriteTransaction,
  { domainId, names, refused, now }: WantedCertificate,
): Promise<CertificateRow> {
  const names_json = JSON.stringify(names);
  const row = await tx.certificates.insert({
    ...{ domain_id: domainId, source: 'acme', names_json, created_at: now, noticed: '' },
    ...{ status: refused === null ? 'pending' : 'failed', error: refused ?? '' },
    ...{ issuer: '', key_type: '', sha256: '', not_before: 0, not_after: 0, renew_at: null },
    ...{ chain: null, sealed_key: null },
  });
  const due_at = refused === null ? now : Math.round(now + retryMs(0, REFUSED_RETRY));
  const failures = refused === null ? 0 : 1;
  await tx.issuance.insert({
    certificate_id: row.id,
    ...{ domain_id: domainId, names_json, due_at, failures },
  });
  return row;
}
