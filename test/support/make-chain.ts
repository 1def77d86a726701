/** Chains of certificates made with the openssl command while tests run: root, intermediate, leaf. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** The kinds of keys, as `openssl genpkey` makes them. */
const KEYS = {
  'P-256': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-256'],
  'P-384': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-384'],
  'P-521': ['-algorithm', 'EC', '-pkeyopt', 'ec_paramgen_curve:P-521'],
  Ed25519: ['-algorithm', 'ED25519'],
  'RSA 1024': ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:1024'],
  'RSA 2048': ['-algorithm', 'RSA', '-pkeyopt', 'rsa_keygen_bits:2048'],
} as const;

/** The kind of a leaf's key. */
export type LeafKey = keyof typeof KEYS;

/** A leaf to make. */
export interface LeafRequest {
  /** Entries of subjectAltName without `DNS:`; none: no such extension. */
  readonly names: readonly string[];
  readonly key?: LeafKey;
  readonly days?: number;
  /** Further lines of extensions. */
  readonly extensions?: readonly string[];
}

/** PEM texts. */
export interface MadeLeaf {
  readonly certificate: string;
  readonly key: string;
  /** Leaf and intermediate. */
  readonly chain: string;
}

/** A CA with an intermediate. */
export interface TestAuthority {
  readonly root: string;
  readonly intermediate: string;
  leaf(request: LeafRequest): MadeLeaf;
}

const openssl = (...words: readonly string[]): void => {
  execFileSync('openssl', words, { stdio: 'ignore' });
};

/** Makes an authority whose files are in a folder. */
export function makeAuthority(folder: string): TestAuthority {
  mkdirSync(folder, { recursive: true });
  const at = (name: string): string => join(folder, name);
  const text = (name: string): string => readFileSync(at(name), 'utf8');
  const ca = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];
  openssl('genpkey', ...KEYS['P-256'], '-out', at('root.key'));
  openssl(
    ...['req', '-x509', '-key', at('root.key'), '-subj', '/CN=Test Root', '-days', '3650'],
    ...['-addext', ca[1]!, '-out', at('root.pem')],
  );
  let made = 0;
  const sign = (
    name: string,
    {
      subject,
      issuer,
      days,
      lines,
    }: {
      readonly subject: string;
      readonly issuer: string;
      readonly days: number;
      readonly lines: readonly string[];
    },
  ): void => {
    openssl('req', '-new', '-key', at(`${name}.key`), '-subj', subject, '-out', at(`${name}.csr`));
    writeFileSync(at(`${name}.ext`), `${lines.join('\n')}\n`);
    openssl(
      ...[
        'x509',
        '-req',
        '-in',
        at(`${name}.csr`),
        '-CA',
        at(`${issuer}.pem`),
        '-CAkey',
        at(`${issuer}.key`),
      ],
      ...['-CAcreateserial', '-days', String(days), '-extfile', at(`${name}.ext`), '-out', at(`${name}.pem`)],
    );
  };
  openssl('genpkey', ...KEYS['P-256'], '-out', at('intermediate.key'));
  sign('intermediate', { subject: '/O=Test/CN=Test Intermediate', issuer: 'root', days: 1_000, lines: ca });
  const intermediate = text('intermediate.pem');
  return {
    root: text('root.pem'),
    intermediate,
    leaf({ names, key = 'P-256', days = 90, extensions = [] }) {
      made += 1;
      const name = `leaf${made}`;
      openssl('genpkey', ...KEYS[key], '-out', at(`${name}.key`));
      const san = names.length === 0 ? [] : [`subjectAltName=${names.map((one) => `DNS:${one}`).join(',')}`];
      const lines = ['basicConstraints=CA:FALSE', ...san, ...extensions];
      sign(name, { subject: `/CN=${names[0] ?? 'nobody'}`, issuer: 'intermediate', days, lines });
      const certificate = text(`${name}.pem`);
      return { certificate, key: text(`${name}.key`), chain: certificate + intermediate };
    },
  };
}
