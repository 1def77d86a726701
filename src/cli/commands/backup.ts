/** `edgeplan backup`: copies the embedded store while a server runs. */
import { existsSync } from 'node:fs';
import { chmod, mkdtemp, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { Command } from 'commander';
import { StoreFault } from '../../base/storage/fault.ts';
import { LOCK_FILE, lockFolder } from '../../base/storage/sqlite.ts';
import { type CopyReport, flush, inspectCopy } from '../../control/store/database/sqlite/backup.ts';
import type { Store } from '../../control/store/store.ts';
import { sizeText } from '../../rules/files/size.ts';
import { quantity, shellWord } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault, writeFault } from '../exit.ts';
import { openExistingData, type StoreFlags, storeFault, storeOptions } from '../open-data.ts';
import { locateSecretsKey } from '../open-secrets-key.ts';
import { note, write } from '../output.ts';

/** The options of the command, as commander parses them. */
interface Flags extends StoreFlags {
  /** The path of the copy. */
  readonly to: string;
  /** Replaces an existing file. */
  readonly force?: boolean;
}

/** Copies the store and prints what the copy contains. */
async function run(flags: Flags): Promise<void> {
  if (flags.database !== undefined)
    throw usageFault(
      'a PostgreSQL database is backed up with pg_dump',
      'pg_dump --format=custom --file=edgeplan.dump …',
    );
  const target = resolve(flags.to);
  await checkTarget(flags.to, target, flags.force === true);
  const store = await openExistingData(flags);
  try {
    const report = await copyTo(store, { target, force: flags.force === true });
    const { domains, revisions, newest } = report;
    await write(
      `${flags.to}: ${sizeText(report.octets)}, ${quantity(domains, 'domain')}, ${quantity(revisions, 'revision')}` +
        `${newest === null ? '' : ` up to ${new Date(newest).toISOString()}`}; checked\n` +
        `to serve it: edgeplan restore --from ${shellWord(flags.to)} --data <folder>, then edgeplan serve --data <folder>\n`,
    );
    const key = locateSecretsKey(flags);
    const [sealed] = await store.latest.certificates.withKeys(0, 1);
    if (sealed !== undefined && key.kind === 'file')
      note(
        `private keys of certificates are encrypted in it: copy \`${key.file}\` as well, to a place of its own`,
      );
  } finally {
    await store.close();
  }
}

/** Checks the target: only a regular file may be replaced, and only with `--force`. @throws CommandFault */
async function checkTarget(name: string, target: string, force: boolean): Promise<void> {
  let found: Awaited<ReturnType<typeof stat>>;
  try {
    found = await stat(target);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return;
    throw writeFault(name, error);
  }
  if (!found.isFile()) throw usageFault(`\`${name}\` is no file that could be replaced; name a file`);
  if (!force)
    throw new CommandFault(EXIT.no, `\`${name}\` exists already`, { remedy: '--force replaces it' });
}

/**
 * Copies the store to a temporary folder beside the target, checks the copy, and renames it. The target is a
 * complete and checked copy, or unchanged.
 */
async function copyTo(
  store: Store,
  { target, force }: { readonly target: string; readonly force: boolean },
): Promise<CopyReport> {
  const { folder, release } = await draftFolder(target);
  try {
    const draft = join(folder, 'edgeplan.db');
    await store.backup(draft);
    const report = inspectCopy(draft);
    // The copy contains digests of keys and the signing key, so only the owner may read it.
    await chmod(draft, 0o600);
    await flush(draft);
    // Checked again: the file may have been created during the copy.
    if (!force) await checkTarget(target, target, false);
    await rename(draft, target);
    await flush(dirname(target));
    return report;
  } catch (error) {
    if (error instanceof CommandFault) throw error;
    if (!(error instanceof StoreFault)) throw writeFault(target, error);
    // The store reports a full disk as its own fault.
    throw error.code === 'full' ? writeFault(target, { code: 'ENOSPC', cause: error }) : storeFault(error);
  } finally {
    release();
    await rm(folder, { recursive: true, force: true });
  }
}

/** How the names of temporary folders begin. */
const DRAFT = '.edgeplan-backup-';

/** The temporary folder of one backup. */
interface DraftFolder {
  readonly folder: string;
  /** Releases its lock. */
  readonly release: () => void;
}

/** Creates the temporary folder with its lock, after those of killed backups are removed. */
async function draftFolder(target: string): Promise<DraftFolder> {
  const parent = dirname(target);
  try {
    await removeAbandoned(parent);
    const folder = await mkdtemp(join(parent, DRAFT));
    return { folder, release: lockFolder(folder) };
  } catch (error) {
    throw writeFault(target, error);
  }
}

/** Removes the temporary folders of killed backups: the system has released their locks. */
async function removeAbandoned(parent: string): Promise<void> {
  // A folder that may be written and not listed.
  const names = await readdir(parent).catch(() => []);
  for (const name of names) {
    const folder = join(parent, name);
    if (!name.startsWith(DRAFT) || !existsSync(join(folder, LOCK_FILE))) continue;
    try {
      lockFolder(folder)();
    } catch {
      // Another backup writes it.
      continue;
    }
    await rm(folder, { recursive: true, force: true });
  }
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  backup: ['edgeplan backup --to edgeplan-backup.db --data ./edgeplan-data'],
};

/** Creates the command. */
export function backupCommand(): Command {
  const command = new Command('backup')
    .summary('copy the embedded store, while it is served too')
    .description(
      'Writes a consistent copy of the embedded store to a file, whole and on the disk or not at all, and checks it. Reads ' +
        'and writes of a running server go on meanwhile.',
    )
    .requiredOption('--to <file>', 'the copy')
    .option('--force', 'replace a file that is there');
  for (const option of storeOptions()) command.addOption(option);
  return withExamples(command.action(run), EXAMPLES);
}
