/**
 * The CA of this server: its account, orders, and renewal windows. In: the directory's address and the store, which has the
 * account's encrypted key. Out: an acme-client with the account, opened at the first use.
 */
import { X509Certificate } from 'node:crypto';
import acme from 'acme-client';
import { isObject } from '../../../base/text/json-object.ts';
import type { Store } from '../../store/store.ts';
import type { KeyRing } from '../key-ring.ts';
import { answerFault, useCaTransport } from './ca-transport.ts';
import { openAccountKey, sealAccountKey } from './sealed-keys.ts';

/** The CA and the account at it. */
export interface AuthorityOptions {
  readonly store: Store;
  readonly ring: KeyRing;
  /** The address of the directory (RFC 8555 §7.1.1). */
  readonly directory: string;
  /** The account's address for mail of the CA; `null`: none. */
  readonly email: string | null;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A window in which the CA wants a certificate renewed, milliseconds since the epoch. */
export interface RenewalWindow {
  readonly start: number;
  readonly end: number;
}

/** The CA. */
export interface Authority {
  /** The client with the account. @throws CaFault, StoreFault, SecretsKeyFault */
  client(): Promise<acme.Client>;
  /** Makes the account again at the next use, with its key: the CA does not know it any more. */
  forget(): void;
  /** Whether the CA names renewal windows (RFC 9773). @throws CaFault */
  hasWindows(): Promise<boolean>;
  /** The window of a certificate, PEM; `null`: the CA names none for it. @throws CaFault */
  window(chain: string): Promise<RenewalWindow | null>;
}

export function createAuthority(options: AuthorityOptions): Authority {
  useCaTransport();
  let opened: Promise<acme.Client> | null = null;
  let isForgotten = false;
  const client = (): Promise<acme.Client> => {
    opened ??= openAccount(options, isForgotten).catch((error: unknown) => {
      opened = null;
      throw error;
    });
    return opened;
  };
  let directory: Promise<Readonly<Record<string, unknown>>> | null = null;
  const resources = (): Promise<Readonly<Record<string, unknown>>> => {
    directory ??= readJson(options.directory).catch((error: unknown) => {
      directory = null;
      throw error;
    });
    return directory;
  };
  return {
    client,
    forget() {
      isForgotten = true;
      opened = null;
      directory = null;
    },
    async hasWindows() {
      return typeof (await resources())['renewalInfo'] === 'string';
    },
    async window(chain) {
      const base = (await resources())['renewalInfo'];
      const id = readCertificateId(new X509Certificate(chain));
      if (typeof base !== 'string' || id === null) return null;
      return readWindow(await readJson(`${base.replace(/\/$/, '')}/${id}`));
    },
  };
}

/** Opens the account of the store, else makes one. Two processes that do so at once make two; the later one stays. */
async function openAccount(
  { store, ring, directory, email, clock }: AuthorityOptions,
  isForgotten: boolean,
): Promise<acme.Client> {
  const row = await store.latest.issuance.account(directory);
  const known = row === null ? null : openAccountKey(row, ring);
  if (row !== null && known !== null && !isForgotten)
    return new acme.Client({ directoryUrl: directory, accountKey: known, accountUrl: row.url });
  const key = known ?? (await acme.crypto.createPrivateEcdsaKey()).toString();
  const client = new acme.Client({ directoryUrl: directory, accountKey: key });
  await client.createAccount({
    termsOfServiceAgreed: true,
    ...(email === null ? {} : { contact: [`mailto:${email}`] }),
  });
  const sealed_key = sealAccountKey(directory, key, ring);
  const account = { directory, url: client.getAccountUrl(), sealed_key, created_at: clock() };
  await store.write((tx) => tx.issuance.putAccount(account));
  return client;
}

/** An answer that is no JSON object is like one of a gateway. @throws CaFault */
async function readJson(url: string): Promise<Readonly<Record<string, unknown>>> {
  const { data } = (await acme.axios.request({ url, method: 'get' })) as { readonly data: unknown };
  if (isObject(data)) return data;
  throw answerFault({ status: 502, retryAfter: null, body: data }, Date.now());
}

/** `null`: the answer has none, or one that ends before it begins (RFC 9773 §4.2). */
function readWindow(answer: Readonly<Record<string, unknown>>): RenewalWindow | null {
  const { suggestedWindow: window } = answer;
  if (!isObject(window)) return null;
  const [start, end] = [Date.parse(String(window['start'])), Date.parse(String(window['end']))];
  return start < end ? { start, end } : null;
}

/** The octets of the OID 2.5.29.35, authority key identifier (RFC 5280 §4.2.1.1), with tag and length. */
const AUTHORITY_KEY = Buffer.from([0x06, 0x03, 0x55, 0x1d, 0x23]);

/** `null`: the certificate names no key of its issuer. */
export function readCertificateId({ raw, serialNumber }: X509Certificate): string | null {
  const key = authorityKey(raw);
  if (key === null) return null;
  const serial = Buffer.from(serialNumber.length % 2 === 0 ? serialNumber : `0${serialNumber}`, 'hex');
  // DER writes a leading zero octet where the first bit is set, and the identifier has the octets of DER.
  const octets = serial[0]! >= 0x80 ? Buffer.concat([Buffer.of(0), serial]) : serial;
  return `${key.toString('base64url')}.${octets.toString('base64url')}`;
}

/** The keyIdentifier of the extension: an octet string that has a sequence whose first element has the tag 0x80. */
function authorityKey(der: Buffer): Buffer | null {
  for (let at = der.indexOf(AUTHORITY_KEY); at >= 0; at = der.indexOf(AUTHORITY_KEY, at + 1)) {
    const value = der.subarray(at + AUTHORITY_KEY.length);
    // All lengths are below 128: the key identifier has 20 or 32 octets, and other fields are rare and follow it.
    const [string, , sequence, , tag, length] = value;
    if (string !== 0x04 || sequence !== 0x30 || tag !== 0x80 || length === undefined) continue;
    if (6 + length <= value.length) return value.subarray(6, 6 + length);
  }
  return null;
}
