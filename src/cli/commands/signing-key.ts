/** `edgeplan signing-key`: the key that signs what nodes serve. Works on the data itself, beside a running server. */
import { Command } from 'commander';
import { SIGNING_OVERLAP_MS } from '../../publisher/limits.ts';
import { openSigner } from '../../publisher/signer.ts';
import { openKey, readKeys, rotateKeys, type StoredKeys, signingAt } from '../../publisher/signing-keys.ts';
import { CommandFault, EXIT } from '../exit.ts';
import type { StoreFlags } from '../open-data.ts';
import { overlapOption } from '../options.ts';
import { note, write } from '../output.ts';
import { withData, withStore } from '../with-store.ts';

interface RotateFlags extends StoreFlags {
  readonly overlap: number;
  readonly compromised?: boolean;
}

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
        `the last rotations overlap still, the first until ${time(rotation.until)}`,
        {
          remedy: 'wait for it, or end all keys before with --overlap 0',
        },
      );
    }
    await tell(rotation.keys, now);
    note(
      compromised
        ? 'no node takes a change until it is started with this key as EDGEPLAN_NODE_TRUST or --trust; it serves on what it has'
        : 'nodes that follow trust it within 15 seconds, others when they follow again',
    );
  });
}

async function show(flags: StoreFlags): Promise<void> {
  await withData(flags, async (store) => {
    await openSigner(store, Date.now);
    await tell((await readKeys(store.latest))!, Date.now());
  });
}

/** The key to trust goes to stdout as a node's environment takes it; the rest is for the person. */
async function tell({ current, retiring, transitions }: StoredKeys, now: number): Promise<void> {
  const { keyId, publicKey } = openKey(current);
  await write(`EDGEPLAN_NODE_TRUST=${publicKey}\n`);
  note(`key ${keyId} signs`);
  for (const { key, until } of signingAt(retiring, now).toReversed()) {
    note(`key ${openKey(key).keyId} signs too until ${time(until)}`);
  }
  if (transitions.length === 0) return;
  note(`nodes that trust one of the last ${transitions.length} keys before it find their way by themselves`);
}

function time(at: number): string {
  return new Date(at).toISOString();
}

/** The command, to be added to a program. */
export function signingKeyCommand(): Command {
  const overlap = overlapOption('how long the key before signs too', { milliseconds: SIGNING_OVERLAP_MS });
  const rotation = new Command('rotate')
    .description('Sign with a new key, which nodes trust since the key before says so.')
    .addOption(overlap)
    .option(
      '--compromised',
      'retire all keys before at once: each node has to be given the new one with --trust',
    );
  return new Command('signing-key')
    .description('Show and rotate the key that nodes trust; works beside a running server.')
    .addCommand(withStore(rotation).action(rotate))
    .addCommand(
      withStore(new Command('show').description('Print the key that nodes are to trust.')).action(show),
    );
}
