/** `edgeplan restore`: restores a store from a backup, in a new epoch, so that nodes accept its lower revisions. */
import { existsSync } from 'node:fs';
import { chmod, copyFile, mkdtemp, open, readdir, rename, rm } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { StoreFault } from '../../base/storage/fault.ts';
import { takeFolder } from '../../base/storage/sqlite.ts';
import { beginEpoch } from '../../control/publishing/pages.ts';
import { openStore } from '../../control/store/database/open.ts';
import {
  flush,
  foldLog,
  inspectCopy,
  replacementSteps,
  undoReplacement,
} from '../../control/store/database/sqlite/backup.ts';
import { APPLICATION_ID } from '../../control/store/database/sqlite/migrate.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, inputFault, readFault, usageFault, writeFault } from '../exit.ts';
import { dataFolder, openExistingData, type StoreFlags, storeFault, storeOptions } from '../open-data.ts';
import { write } from '../output.ts';

/** The options of the command, as commander parses them. */
interface Flags extends StoreFlags {
  /** The backup; absent: the store was restored by other means. */
  readonly from?: string;
  /** Replaces an existing store. */
  readonly force?: boolean;
}

/** What a new epoch means for nodes. */
const EPOCH_EFFECT = 'nodes read all of it when they connect, and cached responses count as purged';

/** Restores a backup, or begins a new epoch in place. */
async function run(flags: Flags): Promise<void> {
  if (flags.from === undefined) return restoreInPlace(flags);
  if (flags.database !== undefined) {
    const remedy = 'pg_restore first, then edgeplan restore --database … without --from';
    throw usageFault('--from is for the embedded store', remedy);
  }
  const folder = resolve(dataFolder(flags));
  const { domains, revisions, epoch } = await restoreFrom(flags.from, folder, flags.force === true);
  await write(
    `${folder}: ${quantity(domains, 'domain')} and ${quantity(revisions, 'revision')} of ${flags.from}, in epoch ${epoch}; ${EPOCH_EFFECT}\n` +
      'keys, tokens and memberships revoked since the backup are valid again: revoke them before you serve it\n',
  );
}

/** Begins a new epoch in a database that was restored by other means. */
async function restoreInPlace(flags: Flags): Promise<void> {
  const store = await openExistingData(flags);
  try {
    await write(`epoch ${await beginEpoch(store, Date.now())} begins; ${EPOCH_EFFECT}\n`);
  } finally {
    await store.close();
  }
}

/** What was restored. */
interface Restored {
  readonly domains: number;
  readonly revisions: number;
  readonly epoch: number;
}

/**
 * Copies the backup into the folder, begins its new epoch, and renames it; a restore that is killed leaves the
 * folder unchanged.
 */
async function restoreFrom(from: string, folder: string, force: boolean): Promise<Restored> {
  // Before the folder is created: a wrong file leaves nothing behind.
  await checkBackup(from);
  const release = lock(folder);
  try {
    const target = join(folder, 'edgeplan.db');
    if (existsSync(target) && !force) {
      const remedy = '--force replaces it; the old store stays beside it as edgeplan.db.replaced';
      throw new CommandFault(EXIT.no, `there is a store in \`${folder}\` already`, { remedy });
    }
    await removeAbandoned(folder);
    await undoReplacement(target);
    // In the same folder, so that the rename stays within one file system.
    const draft = await mkdtemp(join(folder, DRAFT));
    try {
      const copy = join(draft, 'edgeplan.db');
      await copyFile(from, copy);
      await chmod(copy, 0o600);
      const { domains, revisions } = inspectCopy(copy);
      const store = await openStore({ database: draft });
      const epoch = await beginEpoch(store, Date.now()).finally(() => store.close());
      // The new epoch is in the write-ahead log, which stays in the temporary folder, so it is merged first.
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

/** How the names of temporary folders begin. */
const DRAFT = '.edgeplan-restore-';

/** Removes the temporary folders of killed restores; the lock of the folder excludes a running one. */
async function removeAbandoned(folder: string): Promise<void> {
  for (const name of await readdir(folder))
    if (name.startsWith(DRAFT)) await rm(join(folder, name), { recursive: true, force: true });
}

/** Octets of the header of a SQLite file (https://www.sqlite.org/fileformat2.html, section 1.3). */
const HEADER_OCTETS = 100;
/** Where the header has the application id. */
const APPLICATION_ID_AT = 68;

/** Reads the header of the backup. @throws CommandFault when the file is not a database of edgeplan */
async function checkBackup(from: string): Promise<void> {
  if (!existsSync(from)) throw inputFault(`there is no backup \`${from}\``);
  const header = Buffer.alloc(HEADER_OCTETS);
  try {
    const file = await open(from);
    await file.read(header, 0, HEADER_OCTETS).finally(() => file.close());
  } catch (error) {
    throw readFault(from, error);
  }
  const isDatabase = header.toString('latin1', 0, 16) === 'SQLite format 3\0';
  if (isDatabase && header.readUInt32BE(APPLICATION_ID_AT) === APPLICATION_ID) return;
  const what = isDatabase ? 'is a database, but not one of edgeplan' : 'is no database';
  throw inputFault(`\`${from}\` ${what}`, { remedy: 'give --from a file that edgeplan backup wrote' });
}

/** Locks the folder. @throws CommandFault when a server uses it */
function lock(folder: string): () => void {
  try {
    return takeFolder(folder);
  } catch (error) {
    if (error instanceof StoreFault) throw storeFault(error);
    throw writeFault(folder, error);
  }
}

/** Replaces the store; the old one stays beside it. */
async function replace(copy: string, target: string): Promise<void> {
  writeLogBack(target);
  for (const step of replacementSteps(copy, target)) await step();
}

/** Merges the write-ahead log, so that the old store is complete in one file. */
function writeLogBack(file: string): void {
  try {
    foldLog(file);
  } catch (error) {
    // A store that cannot be opened may be the reason for the restore.
    if (!(error instanceof StoreFault)) throw error;
  }
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  restore: [
    'edgeplan restore --from edgeplan-backup.db --data ./edgeplan-data --force',
    'edgeplan restore --database postgres://edgeplan@db.example.net/edgeplan',
  ],
};

/** Creates the command. */
export function restoreCommand(): Command {
  const command = new Command('restore')
    .summary('go back to a backup, so that nodes follow')
    .description(
      'Restores a backup into a data folder that no server uses, and begins a new epoch: revisions and positions restart ' +
        'below those that nodes have, which nodes accept only in a new epoch. Without --from the existing store begins a ' +
        'new epoch, as after pg_restore.',
    )
    .option('--from <file>', 'the backup, as `edgeplan backup` wrote it')
    .option('--force', 'replace the store that is there');
  for (const option of storeOptions()) command.addOption(option);
  return withExamples(command.action(run), EXAMPLES);
}
