/** Certificates of domains, and the digests of their sets. */
import { lockDomain } from '../database/lock-domain.ts';
import { one, type Session, statement } from '../database/statement.ts';
import type { CertificateOnFile, CertificateRow } from '../tables/certificates.ts';

/** A certificate to insert. */
export type NewCertificate = Omit<CertificateOnFile, 'id'>;

/** A certificate that ends soon, with its domain as far as a notification names it. */
export interface EndingCertificate extends CertificateRow {
  readonly domain: string;
}

/** The columns of a CertificateRow: lists of domains need no chains. */
const HEAD = [
  'certificates.id',
  'certificates.domain_id',
  'certificates.source',
  'certificates.names_json',
  'certificates.issuer',
  'certificates.key_type',
  'certificates.sha256',
  'certificates.not_before',
  'certificates.not_after',
  'certificates.status',
  'certificates.error',
  'certificates.renew_at',
  'certificates.noticed',
  'certificates.created_at',
] as const;

const list = statement<{ domain_id: number }, CertificateRow>((builder, p) =>
  builder.selectFrom('certificates').select(HEAD).where('domain_id', '=', p.domain_id).orderBy('id'),
);

const onFile = statement<{ domain_id: number }, CertificateOnFile>((builder, p) =>
  builder.selectFrom('certificates').selectAll().where('domain_id', '=', p.domain_id).orderBy('id'),
);

const withKeys = statement<{ after: number; limit: number }, CertificateOnFile>((builder, p) =>
  builder
    .selectFrom('certificates')
    .selectAll()
    .where('id', '>', p.after)
    .where('sealed_key', 'is not', null)
    .orderBy('id')
    .limit(p.limit),
);

const digest = statement((builder, p: { domain_id: number }) =>
  builder.selectFrom('certificate_sets').select('digest').where('domain_id', '=', p.domain_id),
);

/** Through the index over the end; of two notices the earlier is of a certificate that has not expired. */
const ending = statement<{ before: number; late: number; noticed: string; limit: number }, EndingCertificate>(
  (builder, p) =>
    builder
      .selectFrom('certificates')
      .innerJoin('domains', 'domains.id', 'certificates.domain_id')
      .select([...HEAD, 'domains.name as domain'])
      .where('certificates.not_after', '<', p.before)
      .where(({ eb, or }) =>
        or([
          eb('certificates.source', '=', 'custom'),
          eb('certificates.error', '<>', ''),
          eb('certificates.renew_at', 'is', null),
          eb('certificates.renew_at', '<', p.late),
        ]),
      )
      .where('certificates.status', '=', 'active')
      .where('certificates.chain', 'is not', null)
      .where('certificates.noticed', '<>', 'expired')
      .where('certificates.noticed', '<>', p.noticed as CertificateRow['noticed'])
      .orderBy('certificates.not_after')
      .limit(p.limit),
);

const insert = statement((builder, p: NewCertificate) =>
  builder
    .insertInto('certificates')
    .values({
      domain_id: p.domain_id,
      source: p.source,
      names_json: p.names_json,
      issuer: p.issuer,
      key_type: p.key_type,
      sha256: p.sha256,
      not_before: p.not_before,
      not_after: p.not_after,
      status: p.status,
      error: p.error,
      renew_at: p.renew_at,
      noticed: p.noticed,
      created_at: p.created_at,
      chain: p.chain,
      sealed_key: p.sealed_key,
    })
    .returning('id'),
);

const replace = statement(
  (builder, p: Pick<CertificateOnFile, 'id' | 'domain_id' | 'chain' | 'sealed_key'>) =>
    builder
      .updateTable('certificates')
      .set({ chain: p.chain, sealed_key: p.sealed_key, status: 'active', error: '' })
      .where('domain_id', '=', p.domain_id)
      .where('id', '=', p.id),
);

const remove = statement((builder, p: { domain_id: number; id: number }) =>
  builder
    .deleteFrom('certificates')
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id)
    .returning('id'),
);

const setState = statement((builder, p: Pick<CertificateRow, 'id' | 'domain_id' | 'status' | 'error'>) =>
  builder
    .updateTable('certificates')
    .set({ status: p.status, error: p.error })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id),
);

const reseal = statement(
  (builder, p: { id: number; domain_id: number; before: Uint8Array; after: Uint8Array }) =>
    builder
      .updateTable('certificates')
      .set({ sealed_key: p.after })
      .where('domain_id', '=', p.domain_id)
      .where('id', '=', p.id)
      .where('sealed_key', '=', p.before)
      .returning('id'),
);

const issue = statement(
  (builder, p: Omit<CertificateOnFile, 'source' | 'status' | 'error' | 'noticed' | 'created_at'>) =>
    builder
      .updateTable('certificates')
      .set({
        names_json: p.names_json,
        issuer: p.issuer,
        key_type: p.key_type,
        sha256: p.sha256,
        not_before: p.not_before,
        not_after: p.not_after,
        renew_at: p.renew_at,
        chain: p.chain,
        sealed_key: p.sealed_key,
        status: 'active',
        error: '',
        noticed: '',
      })
      .where('domain_id', '=', p.domain_id)
      .where('id', '=', p.id),
);

const setNames = statement((builder, p: Pick<CertificateRow, 'id' | 'domain_id' | 'names_json'>) =>
  builder
    .updateTable('certificates')
    .set({ names_json: p.names_json })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id),
);

const setRenewal = statement((builder, p: Pick<CertificateRow, 'id' | 'domain_id' | 'renew_at'>) =>
  builder
    .updateTable('certificates')
    .set({ renew_at: p.renew_at })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id),
);

const setNoticed = statement((builder, p: Pick<CertificateRow, 'id' | 'domain_id' | 'noticed'>) =>
  builder
    .updateTable('certificates')
    .set({ noticed: p.noticed })
    .where('domain_id', '=', p.domain_id)
    .where('id', '=', p.id),
);

/** Certificates of domains. Each access by domain locks the domain in a write. */
export function certificateReads(session: Session) {
  return {
    /** By id. */
    async list(domainId: number): Promise<readonly CertificateRow[]> {
      await lockDomain(session, domainId);
      return list(session, { domain_id: domainId });
    },
    /** By id, with chains and sealed keys. */
    async onFile(domainId: number): Promise<readonly CertificateOnFile[]> {
      await lockDomain(session, domainId);
      return onFile(session, { domain_id: domainId });
    },
    /** Those with a sealed key, of all domains, with ids above `after`, by id. */
    withKeys: (after: number, limit: number): Promise<readonly CertificateOnFile[]> =>
      withKeys(session, { after, limit }),
    /** The digest of the set of a domain, as nodes get it once the domain is published; `null`: it has none. */
    async digest(domainId: number): Promise<string | null> {
      await lockDomain(session, domainId);
      return (await one(session, digest, { domain_id: domainId }))?.digest ?? null;
    },
    /**
     * Active certificates that end before `before` and whose `noticed` is not `noticed` or later, by their end: uploaded ones,
     * and obtained ones whose renewal fails, or was to be made before `late`.
     */
    ending: (ask: {
      readonly before: number;
      readonly late: number;
      readonly noticed: 'expiring' | 'expired';
      readonly limit: number;
    }): Promise<readonly EndingCertificate[]> => ending(session, ask),
  };
}

/** Changes of certificates. Each access by domain locks the domain in a write. */
export function certificateWrites(session: Session) {
  return {
    async insert(certificate: NewCertificate): Promise<CertificateRow> {
      await lockDomain(session, certificate.domain_id);
      const [row] = await insert(session, certificate);
      const { chain: _chain, sealed_key: _key, ...head } = certificate;
      return { ...head, id: row!.id };
    },
    /** Replaces chain, sealed key and state of a certificate. */
    async replace(
      certificate: Pick<CertificateOnFile, 'id' | 'domain_id' | 'chain' | 'sealed_key'>,
    ): Promise<void> {
      await lockDomain(session, certificate.domain_id);
      await replace(session, certificate);
    },
    async remove(domainId: number, id: number): Promise<boolean> {
      await lockDomain(session, domainId);
      return (await one(session, remove, { domain_id: domainId, id })) !== null;
    },
    /** Sets the state of a certificate, and the reason where it failed. */
    async setState(
      certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'status' | 'error'>,
    ): Promise<void> {
      await lockDomain(session, certificate.domain_id);
      await setState(session, certificate);
    },
    /** Replaces the sealed key of a certificate, if it still is `before`: false when it is not. */
    async reseal(
      { id, domain_id }: Pick<CertificateRow, 'id' | 'domain_id'>,
      keys: { readonly before: Uint8Array; readonly after: Uint8Array },
    ): Promise<boolean> {
      await lockDomain(session, domain_id);
      return (await one(session, reseal, { id, domain_id, ...keys })) !== null;
    },
    /** Gives an obtained certificate its content: it is active from now on, without an error. */
    async issue(
      certificate: Omit<CertificateOnFile, 'source' | 'status' | 'error' | 'noticed' | 'created_at'>,
    ): Promise<void> {
      await lockDomain(session, certificate.domain_id);
      await issue(session, certificate);
    },
    /** Sets the names that an obtained certificate is to have. */
    async setNames(certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'names_json'>): Promise<void> {
      await lockDomain(session, certificate.domain_id);
      await setNames(session, certificate);
    },
    /** Sets when a certificate is renewed. */
    async setRenewal(certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'renew_at'>): Promise<void> {
      await lockDomain(session, certificate.domain_id);
      await setRenewal(session, certificate);
    },
    async setNoticed(certificate: Pick<CertificateRow, 'id' | 'domain_id' | 'noticed'>): Promise<void> {
      await lockDomain(session, certificate.domain_id);
      await setNoticed(session, certificate);
    },
  };
}
