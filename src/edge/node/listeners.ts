/** The HTTP and TLS listeners of a node of one process. */
import type { AddressInfo } from 'node:net';
import type { InheritedSocket, OpenSocket } from '../handover/sockets.ts';
import { listenHttp, type RunningListener } from '../listeners/http.ts';
import type { Acme, AcmeTokens } from '../listeners/tls/acme.ts';
import type { ContextCache } from '../listeners/tls/certificate-pairs.ts';
import type { Certificates } from '../listeners/tls/certificates.ts';
import { listenTls } from '../listeners/tls/listen.ts';
import { trustProxies } from '../proxy/visitor.ts';
import { joinCertificates, openCertificateFolder, startOrders } from './certificates.ts';
import type { FeedCertificates } from './feed-certificates.ts';
import type { NodeProcess } from './node-process.ts';
import { type EdgeNodeOptions, HTTP, HTTPS, OPERATIONS } from './options.ts';

/** Milliseconds that running requests get to end when the node stops. */
export const GRACE_MS = 10_000;

/** Open listeners. */
export interface NodeListeners {
  readonly url: string;
  /** `null` without TLS. */
  readonly tlsUrl: string | null;
  /** The listening sockets. */
  readonly sockets: readonly OpenSocket[];
  /** Orders certificates by ACME from now on, where that is configured. @throws the system's error of their folder */
  startOrders(): Promise<void>;
  /** Orders no more certificates. */
  stopOrders(): void;
  /** Accepts no more connections; those accepted are served on. */
  unlisten(): void;
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
  /** The 48 octets that encrypt session tickets. */
  readonly ticketKeys: Buffer;
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
  { tokens, contexts, feed, ticketKeys, onListening }: ListenerParts,
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
  const sockets: OpenSocket[] = [];
  let files: Certificates | null = null;
  // A new certificate is in use already: the listener reads `files`.
  const onObtained = (): void => undefined;
  let acme: Acme | null = null;
  const add = (name: string, listener: RunningListener, configured: number): void => {
    listeners.push(listener);
    sockets.push({ name, place: placeOf(options, name, configured), server: listener.server });
    onListening(listener.address.port);
  };
  const socketOf = (name: string): InheritedSocket | null => options.sockets.get(name) ?? null;
  async function stop(): Promise<void> {
    acme?.stop();
    await Promise.all(listeners.map((listener) => listener.stop(GRACE_MS)));
    files?.close();
  }
  async function startNodeOrders(): Promise<void> {
    if (tls === null || tls.folder === null || files === null || tls.acme === null) return;
    acme = await startOrders(tls.folder, tls.acme, { certificates: files, tokens, log, onObtained });
  }
  try {
    add(HTTP, await listenHttp({ ...shared, port, publicPort, socket: socketOf(HTTP) }), port);
    if (tls !== null) {
      files = tls.folder === null ? null : await openCertificateFolder(tls.folder, log, contexts);
      const certificates = joinCertificates(files, feed);
      const place = { port: tls.port, publicPort: tls.publicPort, socket: socketOf(HTTPS) };
      const names = { plans, certificates, onRefused: handshakes.record };
      add(HTTPS, await listenTls({ ...shared, ...place, ...names, ticketKeys }), tls.port);
      await startNodeOrders();
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [plain, secure] = listeners;
  return {
    url: urlOf('http', plain!.address),
    tlsUrl: secure === undefined ? null : urlOf('https', secure.address),
    sockets,
    startOrders: startNodeOrders,
    stopOrders: () => acme?.stop(),
    unlisten() {
      for (const listener of listeners) listener.unlisten();
    },
    reload: async () => files?.reload(),
    retire() {
      for (const listener of listeners) listener.retire();
    },
    stop,
  };
}

/**
 * The configured address of a listener; `null`: its socket is systemd's.
 * @param port the configured port
 */
export function placeOf(
  { host, operationsAddress, sockets }: Pick<EdgeNodeOptions, 'host' | 'operationsAddress' | 'sockets'>,
  name: string,
  port: number,
): OpenSocket['place'] {
  if (sockets.get(name)?.isFixed === true) return null;
  return { host: name === OPERATIONS ? operationsAddress : host, port };
}

/** `scheme://address:port`, with brackets around an IPv6 address (RFC 3986 §3.2.2). */
export function urlOf(scheme: string, { address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
