/** The certificates of a node: read from a folder, and obtained into it. */
import type { Logger } from 'pino';
import { type Acme, startAcme, type TokenSink } from '../../proxy/tls/acme.ts';
import { type Certificates, openCertificates } from '../../proxy/tls/certificates.ts';
import { ACME_ASK_MS, ACME_MS, ACME_RETRY_MS, FILES_MS } from './limits.ts';
import type { AcmeStart, CertificateFolder } from './options.ts';

/** @throws the system's error when the folder cannot be read */
export function openFolder(
  { certificates, fallback }: CertificateFolder,
  log: Logger,
): Promise<Certificates> {
  return openCertificates({
    folder: certificates,
    fallback,
    pollMs: FILES_MS,
    onProblem: (problem) => log.warn({ ...problem }, 'a certificate cannot be used'),
  });
}

export interface Obtaining {
  readonly certificates: Certificates;
  readonly tokens: TokenSink;
  readonly log: Logger;
  /** A certificate is in the folder, and in `certificates`. */
  readonly onObtained: () => void;
}

/** Begins to obtain and renew certificates; what is obtained lands in the folder that is read anyway. */
export function obtain(
  { certificates: folder }: CertificateFolder,
  how: AcmeStart,
  { log, onObtained, ...rest }: Obtaining,
): Acme {
  return startAcme({
    ...rest,
    directoryUrl: how.directoryUrl,
    email: how.email,
    folder,
    names: () => how.names,
    checkMs: ACME_MS,
    retryMs: ACME_RETRY_MS,
    askMs: ACME_ASK_MS,
    clock: Date.now,
    onObtained(name) {
      log.info({ name }, 'a certificate was obtained');
      onObtained();
    },
    onProblem: (name, error) => log.warn({ name, err: error }, 'a certificate could not be obtained'),
  });
}
