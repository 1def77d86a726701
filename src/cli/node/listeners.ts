/** The listeners of a node of one process. */
import type { AddressInfo } from 'node:net';
import { listenHttp, type RunningListener } from '../../edge/serve.ts';
import type { Acme, AcmeTokens } from '../../edge/tls/acme.ts';
import type { Certificates } from '../../edge/tls/certificates.ts';
import { listenTls } from '../../edge/tls/listen.ts';
import { trustProxies } from '../../edge/visitor.ts';
import { obtain, openFolder } from './certificates.ts';
import { GRACE_MS } from './limits.ts';
import type { NodeStart } from './options.ts';
import type { Serving } from './serving.ts';

export interface Listeners {
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

export async function openListeners(
  { node, connections }: Pick<Serving, 'node' | 'connections'>,
  options: NodeStart,
  tokens: AcmeTokens,
): Promise<Listeners> {
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
    listeners.push(await listenHttp({ ...shared, port, publicPort }));
    if (tls !== null) {
      certificates = await openFolder(tls, log);
      const where = { port: tls.port, publicPort: tls.publicPort };
      listeners.push(await listenTls({ ...shared, ...where, plans, certificates, ticketKeys: null }));
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
