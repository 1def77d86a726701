/**
 * The node's own key pair for sealed boxes (X25519), in the file `box.key` of the node's folder, made at the first start. The
 * private key never leaves the node; the control plane gets the public one with each request for certificates.
 */
import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { boxKeyOctets } from '../../../base/platform/cryptography.ts';
import { writeDurably } from '../../../base/platform/durable-file.ts';
import { errorMessage, type SyncLog } from '../log.ts';

/** The node's key pair. */
export interface BoxKeyPair {
  readonly privateKey: KeyObject;
  /** The 32 octets of the public key in base64. */
  readonly publicKey: string;
}

/**
 * Reads the key, or makes and stores one. A damaged key is replaced: boxes of the old one cannot be opened, and their sets
 * are fetched again. A key that cannot be stored is used until the node ends.
 * @throws the system's error when the file exists and cannot be read
 */
export async function openBoxKeyPair(directory: string, log: SyncLog): Promise<BoxKeyPair> {
  const file = join(directory, 'box.key');
  const text = readStored(file);
  const stored = text === null ? null : parseKey(text);
  if (stored !== null) return pairOf(stored);
  if (text !== null) {
    log.warn({ file }, "the node's key for certificates is damaged; a new one replaces it");
  }
  const { privateKey } = generateKeyPairSync('x25519');
  try {
    // The file has mode 0600.
    await writeDurably(file, privateKey.export({ format: 'pem', type: 'pkcs8' }));
  } catch (error) {
    log.warn(
      { file, err: errorMessage(error) },
      "the node's key for certificates cannot be stored; the next start makes another one",
    );
  }
  return pairOf(privateKey);
}

function pairOf(privateKey: KeyObject): BoxKeyPair {
  return { privateKey, publicKey: boxKeyOctets(createPublicKey(privateKey)).toString('base64') };
}

/** `null`: there is no file. */
function readStored(file: string): string | null {
  try {
    return readFileSync(file, 'latin1');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return null;
  }
}

/** `null`: the text is no private key of X25519. */
function parseKey(pem: string): KeyObject | null {
  try {
    const key = createPrivateKey(pem);
    return key.asymmetricKeyType === 'x25519' ? key : null;
  } catch {
    // The message of OpenSSL says nothing that the caller's does not.
    return null;
  }
}
