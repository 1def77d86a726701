/** An origin that speaks TLS, with a certificate of its own for one name. */
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeCertificate } from './make-certificate.ts';

export interface TlsOrigin {
  readonly server: Server;
  readonly port: number;
  close(): void;
}

export interface TlsOriginOptions {
  /** Default: answers `ok`. */
  readonly answer?: RequestListener;
  /** Default: any free port of 127.0.0.1. */
  readonly listen?: { readonly port: number; readonly host: string };
}

export async function startTlsOrigin(
  name: string,
  { answer, listen = { port: 0, host: '127.0.0.1' } }: TlsOriginOptions = {},
): Promise<TlsOrigin> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-tls-origin-'));
  const [cert, key] = [join(folder, 'origin.crt'), join(folder, 'origin.key')];
  await makeCertificate({ names: [name], cert, key });
  const tls = { cert: readFileSync(cert), key: readFileSync(key) };
  rmSync(folder, { recursive: true });
  const server = createServer(tls, answer ?? ((_request, response) => response.end('ok')));
  server.listen(listen);
  await once(server, 'listening');
  return {
    server,
    port: (server.address() as AddressInfo).port,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
