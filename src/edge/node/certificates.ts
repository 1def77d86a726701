/**
 * The certificates of a node: those of a folder, into which ACME writes as well, and those of the control plane's feed. In:
 * the folder and the feed. Out: one source for handshakes.
 */
import type { Logger } from 'pino';
import type { Acme, TokenSink } from '../listeners/tls/acme.ts';
import { type ContextCache, isValid } from '../listeners/tls/certificate-pairs.ts';
import { type Certificates, openCertificates } from '../listeners/tls/certificates.ts';
import type { HandshakeCertificates } from '../listeners/tls/listen.ts';
import type { FeedCertificates } from './feed-certificates.ts';
import type { CertificateFolder, NodeAcmeOptions } from './options.ts';

/** Milliseconds between polls of watched files: for file systems that report no changes. */
export const FILES_MS = 30_000;
/** Milliseconds between checks whether a certificate has to be ordered or renewed: renewals have weeks of time. */
const ACME_MS = 12 * 3_600_000;
/** Milliseconds until a failed order is tried again: below the hourly failure limits of public authorities. */
const ACME_RETRY_MS = 10 * 60_000;
/** Milliseconds between polls of a pending order. */
const ACME_ASK_MS = 2_000;

/**
 * Opens the folder and follows its changes; logs certificates that cannot be used.
 * @param contexts the TLS contexts of the process; absent: the folder has its own
 * @throws the system's error when the folder cannot be read
 */
export function openCertificateFolder(
  { certificates, fallback }: CertificateFolder,
  log: Logger,
  contexts?: ContextCache,
): Promise<Certificates> {
  return openCertificates({
    folder: certificates,
    fallback,
    pollMs: FILES_MS,
    onProblem: (problem) => log.warn({ ...problem }, 'a certificate cannot be used'),
    ...(contexts === undefined ? {} : { contexts }),
  });
}

/**
 * One source of both. For a name a certificate of the folder precedes those of the feed: it is the word of the machine's
 * operator, who can so replace one that the control plane sends, also while that is away. An expired one precedes nothing:
 * it would end the service of a domain whose customer has a valid one. The folder's certificate for names without one is
 * the last.
 * @param files `null`: the node has no folder
 */
export function joinCertificates(
  files: Pick<Certificates, 'find' | 'covering'> | null,
  feed: Pick<FeedCertificates, 'find'>,
): HandshakeCertificates {
  return {
    find(name, domain) {
      if (name === null) return files?.find(null) ?? null;
      const own = files?.covering(name) ?? null;
      const now = Date.now();
      if (own !== null && isValid(own, now)) return own;
      const sent = domain === null ? null : feed.find(name, domain);
      if (sent !== null && (own === null || isValid(sent, now))) return sent;
      return own ?? files?.find(name) ?? null;
    },
  };
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

/**
 * Starts to order and renew certificates by ACME, which is loaded here only; they are written into the folder that
 * `certificates` follows.
 */
export async function startOrders(
  { certificates: folder }: CertificateFolder,
  { directoryUrl, email, names }: NodeAcmeOptions,
  { log, onObtained, ...rest }: OrderParts,
): Promise<Acme> {
  const { startAcme } = await import('../listeners/tls/acme.ts');
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
