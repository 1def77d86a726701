/** Copies a database in use: one consistent snapshot, which is complete and durable or does not exist at all. */
import { constants, promises as files } from 'node:fs';
import { dirname, resolve } from 'node:path';
import { StoreFault } from '../../../../base/storage/fault.ts';
import { openChannel } from './channel.ts';

/**
 * Copies `from` into the new file `to`. VACUUM INTO reads one snapshot, without blocking writers, in a thread of its own.
 * SQLite does not flush what it writes that way, so this function does, and only then gives the copy its name.
 */
export async function backupDatabase(from: string, to: string): Promise<void> {
  const target = resolve(to);
  const draft = `${target}.${process.pid}.part`;
  try {
    await refuseExisting(target);
    const channel = await openChannel(from);
    try {
      await channel.send('VACUUM INTO ?', [draft]);
    } finally {
      await channel.close();
    }
    await flush(draft);
    // `link` fails where `rename` would replace a file made meanwhile.
    await files.link(draft, target);
    await flush(dirname(target));
  } catch (error) {
    if (error instanceof StoreFault) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new StoreFault('unavailable', `the copy \`${target}\` cannot be written: ${reason}`, {
      cause: error,
    });
  } finally {
    await files.rm(draft, { force: true });
  }
}

/** Throws if the target exists: a backup never replaces a file. */
async function refuseExisting(target: string): Promise<void> {
  const exists = await files.access(target, constants.F_OK).then(
    () => true,
    () => false,
  );
  if (exists) throw new StoreFault('conflict', `\`${target}\` exists already`, { subject: 'file' });
}

/** Waits until a file, or a folder's list of files, is on the disk. */
export async function flush(path: string): Promise<void> {
  const handle = await files.open(path, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
