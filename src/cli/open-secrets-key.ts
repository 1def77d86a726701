/**
 * Opens the secrets key, which private keys of certificates are encrypted with: from `--secrets-key`, else from
 * EDGEPLAN_SECRETS_KEY, else from a file beside the embedded store, which the first start of a server makes.
 */
import { existsSync, readFileSync, statSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Option } from 'commander';
import { syncFolder, writeAtomically } from '../base/platform/durable-file.ts';
import {
  type KeyRing,
  type KeySource,
  newKeyText,
  openKeyRing,
  SecretsKeyFault,
} from '../control/certificates/key-ring.ts';
import { inputFault, reasonOf, usageFault, writeFault } from './exit.ts';
import { dataFolder, type StoreFlags } from './open-data.ts';

/** The variable with the key itself, and with the one before it during a rotation. */
export const KEY_VARIABLE = 'EDGEPLAN_SECRETS_KEY';
/** The name of the file beside the embedded store. */
const KEY_FILE = 'secrets.key';
/** Permission bits of others than the owner. */
const OTHERS = 0o077;

/** The options that name a store and its secrets key. */
export interface SecretsKeyFlags extends StoreFlags {
  readonly secretsKey?: string;
}

/** `--secrets-key`. */
export function secretsKeyOption(): Option {
  return new Option(
    '--secrets-key <file>',
    `what private keys of certificates are encrypted with (default: ${KEY_FILE} beside the embedded store, made at the first start; or the key itself in ${KEY_VARIABLE})`,
  );
}

/** Where the secrets key is. */
export type KeyLocation =
  | { readonly kind: 'file'; readonly file: string }
  | { readonly kind: 'variable' }
  /** PostgreSQL, and nothing names a key. */
  | { readonly kind: 'none' };

/** Where the flags and the environment place the key. */
export function locateSecretsKey(flags: SecretsKeyFlags): KeyLocation {
  if (flags.secretsKey !== undefined) return { kind: 'file', file: flags.secretsKey };
  if ((process.env[KEY_VARIABLE] ?? '') !== '') return { kind: 'variable' };
  return flags.database === undefined
    ? { kind: 'file', file: join(dataFolder(flags), KEY_FILE) }
    : { kind: 'none' };
}

/**
 * Opens the key for a server; makes the file that an embedded store lacks. Servers that share a PostgreSQL database need
 * one and the same key, so none is made there. `null`: the server has no secrets key.
 * @throws CommandFault when the key cannot be read, or has another form
 */
export async function openServerKey(flags: SecretsKeyFlags): Promise<KeyRing | null> {
  const location = locateSecretsKey(flags);
  if (location.kind === 'file' && flags.database === undefined && !existsSync(location.file))
    await writeKeyFile(location.file, [newKeyText()]);
  return openSecretsKey(location);
}

/** Opens a key that exists; `null`: nothing names one. @throws CommandFault */
export function openSecretsKey(location: KeyLocation): KeyRing | null {
  if (location.kind === 'none') return null;
  const source = location.kind === 'file' ? fileSource(location.file) : variableSource();
  try {
    return openKeyRing(source);
  } catch (error) {
    if (!(error instanceof SecretsKeyFault)) throw error;
    const reason = error.cause === undefined ? '' : `: ${reasonOf(error.cause)}`;
    const options = { remedy: remedyFor(location), cause: error };
    throw location.kind === 'variable'
      ? usageFault(error.message, options.remedy)
      : inputFault(`${error.message}${reason}`, options);
  }
}

function remedyFor(location: KeyLocation): string {
  return location.kind === 'file'
    ? 'copy the file of another server or of the backup; the very first one: openssl rand -base64 32 > <file>, mode 0600'
    : 'openssl rand -base64 32 prints a key; after a rotation the key before it follows a space';
}

/** Whether others than its owner may read a file of keys, as a warning; `null`: they may not. */
export function keyFileWarning(location: KeyLocation): string | null {
  if (location.kind !== 'file') return null;
  const { mode } = statSync(location.file);
  if ((mode & OTHERS) === 0) return null;
  return `others than its owner may read the secrets key in \`${location.file}\`: chmod 600`;
}

/** Writes a file of keys, the current one first, whole and on the disk or not at all. @throws CommandFault */
export async function writeKeyFile(file: string, keys: readonly string[]): Promise<void> {
  const before = await stat(file).catch(() => null);
  try {
    await writeAtomically(file, async (handle) => {
      await handle.writeFile(`${keys.join('\n')}\n`);
      // A rotation by root must not take the file from the user of the server.
      if (before !== null && process.getuid?.() === 0) await handle.chown(before.uid, before.gid);
    });
    await syncFolder(dirname(file));
  } catch (error) {
    throw writeFault(file, error);
  }
}

function fileSource(file: string): KeySource {
  return { where: `\`${file}\``, read: () => readFileSync(file, 'latin1') };
}

function variableSource(): KeySource {
  return { where: KEY_VARIABLE, read: () => process.env[KEY_VARIABLE] ?? '' };
}
