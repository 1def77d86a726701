/** The certificates of a node: opens their folder, and orders certificates by ACME into it. */
import type { Logger } from 'pino';
import { type Acme, startAcme, type TokenSink } from '../proxy/tls/acme.ts';
import { type Certificates, openCertificates } from '../proxy/tls/certificates.ts';
import { ACME_ASK_MS, ACME_MS, ACME_RETRY_MS, FILES_MS } from './limits.ts';
import type { CertificateFolder, NodeAcmeOptions } from './options.ts';

/**
 * Opens the folder and follows its changes; logs certificates that cannot be used.
 * @throws the system's error when the folder cannot be read
 */
export function openCertificateFolder(
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

/** What an order needs besides the folder. */
export interface OrderParts {
  readonly certificates: Certificates;
  /** Receives the answers to HTTP-01 challenges. */
  readonly tokens: TokenSink;
  readonly log: Logger;
  /** Called when a new certificate is in the folder and in `certificates`. */
  readonly onObtained: () => void;
}

/** Starts to order and renew certificates by ACME; they are written into the folder that `certificates` follows. */
export function startOrders(
  { certificates: folder }: CertificateFolder,
  { directoryUrl, email, names }: NodeAcmeOptions,
  { log, onObtained, ...rest }: OrderParts,
): Acme {
  return startAcme({
    ...rest,
    directoryUrl,
    email,
    folder,
    names: () => names,
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
