/**
 * `edgeplan clearance`: shows and rotates the secrets that clearance cookies are signed with. Works beside a
 * running server.
 */
import { Command } from 'commander';
import { sha256Hex } from '../../base/platform/cryptography.ts';
import {
  acceptedAt,
  type Master,
  type Masters,
  openClearance,
  readMasters,
  rotateClearance,
} from '../../control/publishing/clearance.ts';
import { CLEARANCE_OVERLAP_MS } from '../../control/publishing/limits.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption, overlapOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';

/** Options of `rotate`, as commander parses them. */
interface RotateFlags extends StoreFlags {
  /** Milliseconds for which cookies of the previous secret are accepted. */
  readonly overlap: number;
}

/** Creates a new secret. */
async function rotate(flags: RotateFlags): Promise<void> {
  await withData(flags, async (store) => {
    const now = Date.now();
    await openClearance(store, now);
    const rotation = await store.write((tx) => rotateClearance(tx, { now, overlapMs: flags.overlap }));
    if (!rotation.ok) {
      const message = `the last rotations still overlap, the first until ${time(rotation.until)}`;
      throw new CommandFault(EXIT.no, message, {
        remedy:
          'wait until then, or end all earlier secrets with --overlap 0: visitors solve their challenge again',
      });
    }
    await write(tableOf(rotation.masters, now));
    note('nodes that follow a server sign with the new secret within seconds, the others once they do');
  });
}

/** Options of `show`, as commander parses them. */
interface ShowFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Lists the secrets by fingerprint. */
async function show(flags: ShowFlags): Promise<void> {
  await withData(flags, async (store) => {
    const now = Date.now();
    await openClearance(store, now);
    const masters = await readMasters(store.latest);
    if (flags.json !== true) return write(tableOf(masters, now));
    return writeDocument('clearance-secrets', { secrets: shown(masters, now) });
  });
}

/** The secrets as JSON; the first one signs. */
function shown({ current, previous }: Masters, now: number): readonly object[] {
  const accepted = acceptedAt(previous, now).map((master) => ({
    fingerprint: fingerprint(master),
    since: time(master.since),
    state: 'accepted',
    until: time(master.until),
    shared_by_all_domains: master.shared,
  }));
  const signing = { state: 'signs', until: null, shared_by_all_domains: false };
  return [{ fingerprint: fingerprint(current), since: time(current.since), ...signing }, ...accepted];
}

/** The secrets that sign or are accepted. */
function tableOf({ current, previous }: Masters, now: number): string {
  const rows = [
    [fingerprint(current), time(current.since), 'signs'],
    ...acceptedAt(previous, now).map((master) => [
      fingerprint(master),
      time(master.since),
      `accepted until ${time(master.until)}${master.shared ? ', shared by all domains' : ''}`,
    ]),
  ];
  return tableText(['secret', 'since', 'state'], rows);
}

/** Identifies a secret without helping to guess it: 64 bits of the SHA-256 of 256 random bits. */
function fingerprint({ secret }: Master): string {
  return sha256Hex(Buffer.from(secret, 'base64')).slice(0, 16);
}

/** A time as RFC 3339. */
function time(at: number): string {
  return new Date(at).toISOString();
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'clearance rotate': ['edgeplan clearance rotate', 'edgeplan clearance rotate --overlap 0'],
  'clearance show': ['edgeplan clearance show', 'edgeplan clearance show --json'],
};

/** Creates the command. */
export function clearanceCommand(): Command {
  const overlap = overlapOption('how long cookies of the secret before are accepted', {
    milliseconds: CLEARANCE_OVERLAP_MS,
  });
  const rotation = new Command('rotate').description(
    'Sign with a new secret, from which nodes get one a domain.',
  );
  const command = new Command('clearance')
    .description('Show and rotate the secret of clearance cookies; works beside a running server.')
    .addCommand(withStore(rotation).addOption(overlap).action(rotate))
    .addCommand(
      withStore(new Command('show').description('List the secrets by fingerprint.'))
        .addOption(jsonOption('clearance-secrets'))
        .action(show),
    );
  return withExamples(command, EXAMPLES);
}
