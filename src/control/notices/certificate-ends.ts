/**
 * Notifies the members of domains of certificates that expire in 14 days, and of those that have expired; once each. A
 * certificate needs no replacement if others cover its names for longer, and an obtained one only where it is not renewed.
 */
import { isNameCovered } from '../../rules/model/covered-names.ts';
import type { EndingCertificate } from '../store/certificate-repositories.ts';
import type { CertificateRow } from '../store/rows.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import { CERTIFICATE_END_MS, CERTIFICATES_AT_ONCE, RENEWAL_LATE_MS } from './limits.ts';
import { notify } from './notify.ts';

const DAY_MS = 86_400_000;

/**
 * Writes the notifications that are due at a time, milliseconds since the epoch. Returns how many certificates had one.
 * @throws StoreFault
 */
export async function noticeCertificateEnds(store: Store, now: number): Promise<number> {
  let noticed = 0;
  for (const [noticing, before] of [
    ['expired', now],
    ['expiring', now + CERTIFICATE_END_MS],
  ] as const) {
    const ask = { before, late: now - RENEWAL_LATE_MS, noticed: noticing, limit: CERTIFICATES_AT_ONCE };
    for (const row of await store.latest.certificates.ending(ask)) {
      if (await store.write((tx) => notice(tx, row, { noticing, now }))) noticed += 1;
    }
  }
  return noticed;
}

interface Noticing {
  readonly noticing: 'expiring' | 'expired';
  readonly now: number;
}

/** Whether a notification was written. A certificate that is gone or noticed by now, or replaced by others, has none. */
async function notice(
  tx: WriteTransaction,
  { id, domain_id, noticed }: EndingCertificate,
  { noticing, now }: Noticing,
): Promise<boolean> {
  const domain = await tx.domains.get(domain_id);
  const rows = await tx.certificates.list(domain_id);
  const row = rows.find((one) => one.id === id);
  if (domain === null || row === undefined || row.noticed !== noticed || row.status !== 'active')
    return false;
  await tx.certificates.setNoticed({ id, domain_id, noticed: noticing });
  const names = JSON.parse(row.names_json) as string[];
  if (names.length === 0 || isReplaced(names, rows, now)) return false;
  const common = { names, source: row.source, not_after: new Date(row.not_after).toISOString() };
  if (noticing === 'expired') await notify(tx, { kind: 'certificate.expired', data: common, domain, now });
  else {
    const days = Math.max(0, Math.floor((row.not_after - now) / DAY_MS));
    await notify(tx, { kind: 'certificate.expiring', data: { ...common, days }, domain, now });
  }
  return true;
}

/** Whether certificates that end later than those to notice cover all names. */
function isReplaced(names: readonly string[], rows: readonly CertificateRow[], now: number): boolean {
  const later = rows.filter(
    ({ status, not_after }) => status === 'active' && not_after > now + CERTIFICATE_END_MS,
  );
  const covered = new Set(later.flatMap(({ names_json }) => JSON.parse(names_json) as string[]));
  return names.every((name) => isNameCovered(name, covered));
}
