/** `edgeplan restore`: a store goes back to a backup, in an epoch of its own, so that nodes follow it. */

import { existsSync } from 'node:fs';
import { chmod, copyFile, link, mkdtemp, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { beginEpoch } from '../../publisher/epoch.ts';
import { quantity } from '../../simulator/render-text.ts';
import { StoreFault } from '../../store/fault.ts';
import { openStore } from '../../store/open.ts';
import { flush } from '../../store/sqlite/backup.ts';
import { foldLog } from '../../store/sqlite/fold-log.ts';
import { inspectCopy } from '../../store/sqlite/inspect.ts';
import { takeFolder } from '../../store/sqlite/take-folder.ts';
import { CommandFault, EXIT, inputFault, usageFault } from '../exit.ts';
import { writeFault } from '../file-fault.ts';
import { dataFolder, openExistingData, type StoreFlags, storeFault, storeOptions } from '../open-data.ts';
import { write } from '../output.ts';

interface Flags extends StoreFlags {
  readonly from?: string;
  readonly force?: boolean;
}

const EPOCH_SAYS = 'nodes read all of it as they connect, and cached answers count as purged';

async function run(flags: Flags): Promise<void> {
  if (flags.from === undefined) return restoreInPlace(flags);
  if (flags.database !== undefined) {
    const remedy = 'pg_restore first, then edgeplan restore --database … without --from';
    throw usageFault('--from is for the embedded store', remedy);
  }
  const folder = resolve(dataFolder(flags));
  const { domains, revisions, epoch } = await restoreFrom(flags.from, folder, flags.force === true);
  await write(
    `${folder}: ${quantity(domains, 'domain')} and ${quantity(revisions, 'revision')} of ${flags.from}, in epoch ${epoch}; ${EPOCH_SAYS}\n` +
      'keys, tokens and memberships revoked since the backup are valid again: revoke them before you serve it\n',
  );
}

/** For a database that something else restored. */
async function restoreInPlace(flags: Flags): Promise<void> {
  const store = await openExistingData(flags);
  try {
    await write(`epoch ${await beginEpoch(store, Date.now())} begins; ${EPOCH_SAYS}\n`);
  } finally {
    await store.close();
  }
}

interface Restored {
  readonly domains: number;
  readonly revisions: number;
  readonly epoch: number;
}

/**
 * Puts a copy of the backup into the folder under its name once it is whole and in its new epoch: a restore that is
 * killed leaves what was there.
 */
async function restoreFrom(from: string, folder: string, force: boolean): Promise<Restored> {
  if (!existsSync(from)) throw inputFault(`there is no backup \`${from}\``);
  const release = lock(folder);
  try {
    const target = join(folder, 'edgeplan.db');
    if (existsSync(target) && !force) {
      const remedy = '--force replaces it; the old store stays beside it as edgeplan.db.replaced';
      throw new CommandFault(EXIT.no, `there is a store in \`${folder}\` already`, { remedy });
    }
    const draft = await mkdtemp(join(folder, '.edgeplan-restore-'));
    try {
      const copy = join(draft, 'edgeplan.db');
      await copyFile(from, copy);
      await chmod(copy, 0o600);
      const { domains, revisions } = inspectCopy(copy);
      const store = await openStore({ database: draft });
      const epoch = await beginEpoch(store, Date.now()).finally(() => store.close());
      // The epoch is in the log, which stays behind in the draft.
      foldLog(copy);
      await flush(copy);
      if (existsSync(target)) await replace(copy, target);
      else await rename(copy, target);
      await flush(folder);
      return { domains, revisions, epoch };
    } finally {
      await rm(draft, { recursive: true, force: true });
    }
  } catch (error) {
    if (error instanceof StoreFault) throw storeFault(error);
    if (error instanceof CommandFault || !(error instanceof Error && 'syscall' in error)) throw error;
    throw writeFault(folder, error);
  } finally {
    release();
  }
}

/** A served folder is refused. */
function lock(folder: string): () => void {
  try {
    return takeFolder(folder);
  } catch (error) {
    if (error instanceof StoreFault) throw storeFault(error);
    throw writeFault(folder, error);
  }
}

/**
 * Gives the copy its name in one step; the store that had it stays beside it. INVARIANT: no write-ahead log of the old
 * database lies beside the new one, which SQLite would take for its own.
 */
async function replace(copy: string, target: string): Promise<void> {
  writeLogBack(target);
  const old = `${target}.replaced`;
  for (const part of ['-wal', '-shm']) {
    await rm(`${old}${part}`, { force: true });
    if (existsSync(`${target}${part}`)) await rename(`${target}${part}`, `${old}${part}`);
  }
  await rm(old, { force: true });
  await link(target, old);
  await rename(copy, target);
}

/** So that the old store is whole in one file. */
function writeLogBack(file: string): void {
  try {
    foldLog(file);
  } catch (error) {
    // A store that cannot be opened is why it is replaced.
    if (!(error instanceof StoreFault)) throw error;
  }
}

/** The command, to be added to a program. */
export function restoreCommand(): Command {
  const command = new Command('restore')
    .summary('go back to a backup, so that nodes follow')
    .description(
      'Puts a backup into a data folder that nobody serves, and begins a new epoch: revisions and positions start again ' +
        'below those that nodes have, which nodes would otherwise take for a step back. Without --from the store that is ' +
        'there begins a new epoch, as after pg_restore.',
    )
    .option('--from <file>', 'the backup, as `edgeplan backup` wrote it')
    .option('--force', 'replace the store that is there');
  for (const option of storeOptions()) command.addOption(option);
  return command.action(run);
}
