/** The listeners of a node of one process. */
import type { AddressInfo } from 'node:net';
import { listenHttp, type RunningListener } from '../../proxy/listen/http.ts';
import type { Acme, AcmeTokens } from '../../proxy/tls/acme.ts';
import type { Certificates } from '../../proxy/tls/certificates.ts';
import { listenTls } from '../../proxy/tls/listen.ts';
import { trustProxies } from '../../proxy/visitor.ts';
import { obtain, openFolder } from './certificates.ts';
import { GRACE_MS } from './limits.ts';
import type { NodeStart } from './options.ts';
import type { NodeProcess } from './services.ts';

export interface NodeListeners {
  readonly url: string;
  /** `null` without TLS. */
  readonly tlsUrl: string | null;
  /** Looks at the certificates. @throws the system's error when their folder cannot be read */
  reload(): Promise<void>;
  /** Asks clients to leave; every request is still served. */
  retire(): void;
  /** Lets requests in flight end. */
  stop(): Promise<void>;
}

export interface ListenerParts {
  readonly tokens: AcmeTokens;
  /** Called with the port of each listener, before any other work. */
  readonly onListening: (port: number) => void;
}

/** The ports a node is to listen on, those left to the system aside. */
export function chosenPorts({ port, tls, operationsPort }: NodeStart): Set<number> {
  return new Set([port, tls?.port ?? 0, operationsPort ?? 0].filter((one) => one !== 0));
}

export async function openListeners(
  { node, connections }: Pick<NodeProcess, 'node' | 'connections'>,
  options: NodeStart,
  { tokens, onListening }: ListenerParts,
): Promise<NodeListeners> {
  const { handler, plans } = node;
  const { host, port, publicPort, tls, log } = options;
  const shared = {
    handler,
    trusted: trustProxies(options.trusted),
    proxies: options.proxies.length === 0 ? null : trustProxies(options.proxies),
    connections,
    host,
  };
  const listeners: RunningListener[] = [];
  let certificates: Certificates | null = null;
  // What is obtained is in use when it is told.
  const onObtained = (): void => undefined;
  let acme: Acme | null = null;
  async function stop(): Promise<void> {
    acme?.stop();
    await Promise.all(listeners.map((listener) => listener.stop(GRACE_MS)));
    certificates?.close();
  }
  try {
    const plain = await listenHttp({ ...shared, port, publicPort });
    listeners.push(plain);
    onListening(plain.address.port);
    if (tls !== null) {
      certificates = await openFolder(tls, log);
      const where = { port: tls.port, publicPort: tls.publicPort };
      const secure = await listenTls({ ...shared, ...where, plans, certificates, ticketKeys: null });
      listeners.push(secure);
      onListening(secure.address.port);
      acme = tls.acme === null ? null : obtain(tls, tls.acme, { certificates, tokens, log, onObtained });
    }
  } catch (error) {
    await stop();
    throw error;
  }
  const [plain, secure] = listeners;
  return {
    url: urlOf('http', plain!.address),
    tlsUrl: secure === undefined ? null : urlOf('https', secure.address),
    reload: async () => certificates?.reload(),
    retire() {
      for (const listener of listeners) listener.retire();
    },
    stop,
  };
}

export function urlOf(scheme: string, { address, port }: Pick<AddressInfo, 'address' | 'port'>): string {
  return `${scheme}://${address.includes(':') ? `[${address}]` : address}:${port}`;
}
