/** `edgeplan secrets-key`: rotates the key that private keys in the store are encrypted with, beside a running server. */
import { readFileSync } from 'node:fs';
import { Command } from 'commander';
import { type KeyRing, newKeyText, SecretsKeyFault } from '../../control/certificates/key-ring.ts';
import { type Resealed, resealIssuance, resealKeys } from '../../control/certificates/stored-keys.ts';
import { resealHeaders } from '../../control/lists/feed/sealed-header.ts';
import type { Store } from '../../control/store/store.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, inputFault, usageFault } from '../exit.ts';
import { withData, withStore } from '../open-data.ts';
import {
  KEY_VARIABLE,
  locateSecretsKey,
  openSecretsKey,
  type SecretsKeyFlags,
  secretsKeyOption,
  writeKeyFile,
} from '../open-secrets-key.ts';
import { note, write } from '../output.ts';

/**
 * Makes a new key in the file and encrypts every private key under it. The key before stays in the file until the next
 * rotation: it decrypts what a rotation that was cut short did not encrypt again, and what a request was about to store.
 * Where the key is in the environment, only encrypts under the first of its keys.
 */
async function rotate(flags: SecretsKeyFlags): Promise<void> {
  const location = locateSecretsKey(flags);
  const ring = openSecretsKey(location);
  if (ring === null)
    throw usageFault(
      'nothing names a secrets key',
      `name its file with --secrets-key, or set ${KEY_VARIABLE}`,
    );
  await withData(flags, async (store) => {
    // What an interrupted rotation has left: the key before the current one leaves the file below.
    const rest = await reseal(store, ring);
    if (location.kind !== 'file') return report(ring, rest);
    const [current] = readFileSync(location.file, 'latin1').trim().split(/\s+/);
    await writeKeyFile(location.file, [newKeyText(), current!]);
    await report(ring, await reseal(store, ring));
  });
}

/** Encrypts under the current key. @throws CommandFault when private keys would be lost with the older key */
async function reseal(store: Store, ring: KeyRing): Promise<Resealed> {
  try {
    const certificates = await resealKeys(store, ring);
    const issuance = await resealIssuance(store, ring);
    const headers = await resealHeaders(store, ring);
    const done = {
      resealed: certificates.resealed + issuance.resealed + headers.resealed,
      lost: certificates.lost + issuance.lost + headers.lost,
    };
    if (done.lost > 0)
      note(
        `warning: ${quantity(done.lost, 'private key')} cannot be decrypted with ${ring.where}; they are left as they are`,
      );
    return done;
  } catch (error) {
    if (!(error instanceof SecretsKeyFault)) throw error;
    throw inputFault(error.message, { cause: error });
  }
}

async function report(ring: KeyRing, { resealed, lost }: Resealed): Promise<void> {
  await write(`${quantity(resealed, 'private key')} encrypted under key ${ring.current().id}\n`);
  note(
    'servers read the new key when they need it; copy it to every server of the database, and to the backup',
  );
  if (lost > 0)
    throw new CommandFault(EXIT.no, `${quantity(lost, 'private key')} cannot be decrypted`, {
      remedy: 'have these certificates uploaded again; edgeplan serve logs how many domains have them',
    });
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'secrets-key rotate': [
    'edgeplan secrets-key rotate --data ./edgeplan-data',
    'edgeplan secrets-key rotate --database postgres://edgeplan@db.example.net/edgeplan --secrets-key /etc/edgeplan/secrets.key',
  ],
};

/** Creates the command. */
export function secretsKeyCommand(): Command {
  const rotation = new Command('rotate').description(
    'Encrypt the private keys of certificates under a new secrets key; can be interrupted and run again.',
  );
  const command = new Command('secrets-key')
    .description(
      'Rotate the key that private keys in the store are encrypted with; works beside a running server.',
    )
    .addCommand(withStore(rotation).addOption(secretsKeyOption()).action(rotate));
  return withExamples(command, EXAMPLES);
}
