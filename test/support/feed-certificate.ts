/** Certificates as sets have them, made while tests run, and handshakes that show which one a node uses. */
import { X509Certificate } from 'node:crypto';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect, type TLSSocket } from 'node:tls';
import type { SetCertificate } from '../../src/engine/plan/manifest.ts';
import { makeCertificate } from './make-certificate.ts';

let last = 0;

/** A self-signed certificate; each has an id and a serial number of its own. */
export async function feedCertificate(
  names: readonly string[],
  {
    days = 30,
    source = 'custom',
  }: { readonly days?: number; readonly source?: SetCertificate['source'] } = {},
): Promise<SetCertificate> {
  const folder = mkdtempSync(join(tmpdir(), 'edgeplan-feed-certificate-'));
  const [cert, key] = [join(folder, 'a.crt'), join(folder, 'a.key')];
  await makeCertificate({ names, cert, key, days });
  const made = { id: ++last, source, chain: readFileSync(cert, 'latin1'), key: readFileSync(key, 'latin1') };
  rmSync(folder, { recursive: true });
  return made;
}

/** The fingerprint of a certificate's leaf. */
export function printOf({ chain }: Pick<SetCertificate, 'chain'>): string {
  return new X509Certificate(chain).fingerprint256;
}

/** A connection with SNI, after its handshake. @throws the handshake's error */
export function handshake(port: number, servername: string): Promise<TLSSocket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: '127.0.0.1', port, servername, rejectUnauthorized: false });
    socket.once('secureConnect', () => resolve(socket));
    socket.once('error', reject);
  });
}

/** The fingerprint of the certificate of a handshake; `null`: it was refused. */
export async function servedPrint(port: number, servername: string): Promise<string | null> {
  try {
    const socket = await handshake(port, servername);
    const print = socket.getPeerX509Certificate()?.fingerprint256 ?? null;
    socket.destroy();
    return print;
  } catch {
    return null;
  }
}
