/** Certificates made with the openssl command while tests run: self-signed, P-256. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import { missingProgram } from './requires.ts';

const run = promisify(execFile);

/** Why tests that need the command are left out; `null`: it is here. */
export const OPENSSL_MISSING = missingProgram('openssl');

export interface CertificateRequest {
  /** Entries of subjectAltName without `DNS:`; `*.` is a wildcard. */
  readonly names: readonly string[];
  readonly cert: string;
  readonly key: string;
  /** Default: 30. */
  readonly days?: number;
  readonly kind?: 'ec' | 'rsa' | 'rsa-512';
}

const KINDS = {
  ec: ['ec', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  rsa: ['rsa:2048'],
  'rsa-512': ['rsa:512'],
} as const;

/** Makes a certificate and its key at two paths. */
export async function makeCertificate(request: CertificateRequest): Promise<void> {
  const { names, cert, key, days = 30, kind = 'ec' } = request;
  mkdirSync(dirname(cert), { recursive: true });
  mkdirSync(dirname(key), { recursive: true });
  const subject = ['-subj', `/CN=${(names[0] ?? 'nobody').slice(0, 60)}`];
  const san =
    names.length === 0 ? [] : ['-addext', `subjectAltName=${names.map((name) => `DNS:${name}`).join(',')}`];
  const made = [
    'req',
    '-x509',
    '-newkey',
    ...KINDS[kind],
    '-nodes',
    '-days',
    String(days),
    ...subject,
    ...san,
  ];
  await run('openssl', [...made, '-keyout', key, '-out', cert]);
}
