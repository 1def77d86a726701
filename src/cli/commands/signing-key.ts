/**
 * `edgeplan signing-key`: shows and rotates the key that signs manifests. Works on the store, beside a running
 * server.
 */
import { Command } from 'commander';
import { SIGNING_OVERLAP_MS } from '../../control/publishing/limits.ts';
import {
  openKey,
  openSigner,
  readKeys,
  rotateKeys,
  type StoredKeys,
  signingAt,
} from '../../control/publishing/signer.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption, overlapOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';

/** Options of `rotate`, as commander parses them. */
interface RotateFlags extends StoreFlags {
  /** Milliseconds for which the previous key signs too. */
  readonly overlap: number;
  /** Retires all previous keys at once, without a transition. */
  readonly compromised?: boolean;
}

/** Creates a new key. */
async function rotate(flags: RotateFlags): Promise<void> {
  const compromised = flags.compromised === true;
  await withData(flags, async (store) => {
    const now = Date.now();
    await openSigner(store, Date.now);
    const rotation = await store.write((tx) =>
      rotateKeys(tx, { now, overlapMs: flags.overlap, compromised }),
    );
    if (!rotation.ok) {
      throw new CommandFault(
        EXIT.no,
        `the last rotations still overlap, the first until ${time(rotation.until)}`,
        {
          remedy: 'wait until then, or end all earlier keys with --overlap 0',
        },
      );
    }
    await printKeys(rotation.keys, now);
    note(
      compromised
        ? 'no node takes a change until it is started with this key as EDGEPLAN_NODE_TRUST or --trust; it serves on what it has'
        : 'nodes that follow trust it within 15 seconds, others when they follow again',
    );
  });
}

/** Options of `show`, as commander parses them. */
interface ShowFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Prints the key to trust and the others that sign. */
async function show(flags: ShowFlags): Promise<void> {
  await withData(flags, async (store) => {
    await openSigner(store, Date.now);
    const keys = (await readKeys(store.latest))!;
    if (flags.json === true) return writeDocument('signing-key', shown(keys, Date.now()));
    return printKeys(keys, Date.now());
  });
}

/** The keys as JSON: the one to trust, and the earlier ones that sign too, the latest first. */
function shown({ current, retiring, transitions }: StoredKeys, now: number): object {
  const { keyId, publicKey } = openKey(current);
  return {
    key_id: keyId,
    public_key: publicKey,
    also_signing: signingAt(retiring, now)
      .toReversed()
      .map(({ key, until }) => ({
        key_id: openKey(key).keyId,
        public_key: openKey(key).publicKey,
        until: time(until),
      })),
    transitions: transitions.length,
  };
}

/**
 * Prints the keys. stdout has the key to trust, as a line of a node's environment; everything else goes to stderr.
 */
async function printKeys({ current, retiring, transitions }: StoredKeys, now: number): Promise<void> {
  const { keyId, publicKey } = openKey(current);
  await write(`EDGEPLAN_NODE_TRUST=${publicKey}\n`);
  note(`key ${keyId} signs`);
  for (const { key, until } of signingAt(retiring, now).toReversed()) {
    note(`key ${openKey(key).keyId} signs too until ${time(until)}`);
  }
  if (transitions.length === 0) return;
  note(
    `nodes that trust one of the last ${transitions.length} keys before it accept it through the transitions`,
  );
}

/** A time as RFC 3339. */
function time(at: number): string {
  return new Date(at).toISOString();
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'signing-key rotate': ['edgeplan signing-key rotate', 'edgeplan signing-key rotate --compromised'],
  'signing-key show': ['edgeplan signing-key show', 'edgeplan signing-key show --json'],
};

/** Creates the command. */
export function signingKeyCommand(): Command {
  const overlap = overlapOption('how long the previous key signs too', { milliseconds: SIGNING_OVERLAP_MS });
  const rotation = new Command('rotate')
    .description('Sign with a new key, which nodes trust by a transition that the previous key signs.')
    .addOption(overlap)
    .option(
      '--compromised',
      'retire all previous keys at once: each node has to be started with the new one as --trust',
    );
  const command = new Command('signing-key')
    .description('Show and rotate the key that nodes trust; works beside a running server.')
    .addCommand(withStore(rotation).action(rotate))
    .addCommand(
      withStore(new Command('show').description('Print the key that nodes are to trust.'))
        .addOption(jsonOption('signing-key'))
        .action(show),
    );
  return withExamples(command, EXAMPLES);
}
