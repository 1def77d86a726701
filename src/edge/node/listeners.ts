/** The HTTP and TLS listeners of a node of one process. */
import type { AddressInfo } from 'node:net';
import { listenHttp, type RunningListener } from '../listeners/http.ts';
import type { Acme, AcmeTokens } from '../listeners/tls/acme.ts';
import type { ContextCache } from '../listeners/tls/certificate-pairs.ts';
import type { Certificates } from '../listeners/tls/certificates.ts';
import { listenTls } from '../listeners/tls/listen.ts';
import { trustProxies } from '../proxy/visitor.ts';
import { joinCertificates, openCertificateFolder, startOrders } from './certificates.ts';
import type { FeedCertificates } from './feed-certificates.ts';
import type { NodeProcess } from './node-process.ts';
import type { EdgeNodeOptions } from './options.ts';

/** Milliseconds that running requests get to end when the node stops. */
export const GRACE_MS = 10_000;

/** Open listeners. */
export interface NodeListeners {
  readonly url: string;
  /** `null` without TLS. */
  readonly tlsUrl: string | null;
  /** Reads the certificates again. @throws the system's error when their folder cannot be read */
  reload(): Promise<void>;
  /** Asks clients to close their connections; every request is still served. */
  retire(): void;
  /** Stops listening and lets requests end within `GRACE_MS`. */
  stop(): Promise<void>;
}

/** What listeners need besides the node's process and options. */
export interface ListenerParts {
  /** Answers to HTTP-01 challenges, filled by the orders and read by the HTTP listener. */
  readonly tokens: AcmeTokens;
  /** The TLS contexts of the process. */
  readonly contexts: ContextCache;
  readonly feed: FeedCertificates;
  /** Called with the port of each listener before a request can arrive on it. */
  readonly onListening: (port: number) => void;
}

/** The configured ports of a node, without those that the system chooses. */
export function configuredPorts({ port, tls, operationsPort }: EdgeNodeOptions): Set<number> {
  return new Set([port, tls?.port ?? 0, operationsPort ?? 0].filter((configured) => configured !== 0));
}

/**
 * Opens the listeners and starts the ACME orders.
 * @throws as `listen` does, or the system's error for the folder of certificates; nothing is left open then
 */
export async function openListeners(
  { node, connections, handshakes }: Pick<NodeProcess, 'node' | 'connections' | 'handshakes'>,
  options: EdgeNodeOptions,
  { tokens, contexts, feed, onListening }: ListenerParts,
): Promise<NodeListeners> {
  const { handler, plans } = node;
  const { host, port, publicPort, tls, log } = options;
  const shared = {
    handler,
    trusted: trustProxies(options.trusted),
    proxies: options.proxies.length === 0 ? null : trustProxies(options.proxies),
    connections,
    stallMs: options.requestIdleMs,
    host,
  };
  const listeners: RunningListener[] = [];
  let files: Certificates | null = null;
  // A new certificate is in use already: the listener reads `files`.
  const onObtained = (): void => undefined;
  let acme: Acme | null = null;
  async function stop(): Promise<void> {
    acme?.stop();
    await Promise.all(listeners.map((listener) => listener.stop(GRACE_MS)));
    files?.close();
  }
  try {
    const plain = await listenHttp({ ...shared, port, publicPort });
    listeners.push(plain);
    onListening(plain.address.port);
    if (tls !== null) {
      const { folder } = tls;
      files = folder === null ? null : await openCertificateFolder(folder, log, contexts);
      const certificates = joinCertificates(files, feed);
      const ports = { port: tls.port, publicPort: tls.publicPort };
      const names = { plans, certificates, onRefused: handshakes.record };
      const secure = await listenTls({ ...shared, ...ports, ...names, ticketKeys: null });
      listeners.push(secure);
      onListening(secure.address.port);
      if (folder !== null && files !== null && tls.acme !== null) {
        acme = await startOrders(folder, tls.acme, { certificates: files, tokens, log, onObtained });
      }
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [plain, secure] = listeners;
  return {
    url: urlOf('http', plain!.address),
    tlsUrl: secure === undefined ? null : urlOf('https', secure.address),
    reload: async () => files?.reload(),
    retire() {
      for (const listener of listeners) listener.retire();
    },
    stop,
  };
}

/** `scheme://address:port`, with brackets around an IPv6 address (RFC 3986 §3.2.2). */
export function urlOf(scheme: string, { address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
