/** Options that name a store, and opening the store they name. */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { type Command, Option } from 'commander';
import { normalizeName } from '../base/addresses/host.ts';
import { StoreFault } from '../base/storage/fault.ts';
import { type OpenStoreOptions, openStore } from '../control/store/database/open.ts';
import type { ReadTransaction, Store } from '../control/store/store.ts';
import type { DomainRow } from '../control/store/tables/domains.ts';
import type { NodeRow } from '../control/store/tables/nodes.ts';
import { CommandFault, EXIT, inputFault, usageFault } from './exit.ts';

/** The options that name a store. */
export interface StoreFlags {
  /** The folder of an embedded store. */
  readonly data?: string;
  /** The address of a PostgreSQL database; excludes `data`. */
  readonly database?: string;
  /** A file with the password of the database, read for each connection. */
  readonly databasePasswordFile?: string;
}

/** The options `--data`, `--database` and `--database-password-file`; the first two exclude each other. */
export function storeOptions(): readonly Option[] {
  return [
    new Option('--data <folder>', 'where the embedded store is (default: edgeplan in your data folder)')
      .env('EDGEPLAN_DATA')
      .conflicts('database'),
    new Option('--database <address>', 'a PostgreSQL database, postgres://…').env('EDGEPLAN_DATABASE'),
    new Option('--database-password-file <file>', 'its password, read again for each connection').env(
      'EDGEPLAN_DATABASE_PASSWORD_FILE',
    ),
  ];
}

/** Opens the store that the flags name; creates an embedded one that does not exist. @throws CommandFault */
export async function openData(
  flags: StoreFlags,
  role: NonNullable<OpenStoreOptions['role']>,
): Promise<Store> {
  const database = flags.database ?? dataFolder(flags);
  const { databasePasswordFile: passwordFile } = flags;
  checkStoreFlags(flags);
  try {
    return await openStore({ database, role, ...(passwordFile === undefined ? {} : { passwordFile }) });
  } catch (error) {
    if (error instanceof StoreFault) throw storeFault(error);
    throw error;
  }
}

/** Checks the form of the options. @throws CommandFault */
export function checkStoreFlags(flags: StoreFlags): void {
  if (flags.database !== undefined && !/^postgres(?:ql)?:\/\//.test(flags.database))
    throw usageFault('a database is written postgres://user@host/name', 'a folder goes with --data');
  checkPassword(flags);
}

/** Checks the password options. @throws CommandFault when the address has a password too, or the store has none */
function checkPassword({ database, databasePasswordFile: file }: StoreFlags): void {
  if (file === undefined) return;
  const option = '--database-password-file';
  if (database === undefined)
    throw usageFault(`${option} goes with --database`, 'the embedded store has none');
  const url = URL.canParse(database) ? new URL(database) : null;
  if (url === null || (url.password === '' && !url.searchParams.has('password'))) return;
  throw usageFault(
    `the address of --database has a password, and so has ${option}`,
    'leave it out of the address',
  );
}

/**
 * Opens an existing store. Without this check, opening a folder without a store would create an empty one. @throws
 * CommandFault
 */
export async function openExistingData(flags: StoreFlags): Promise<Store> {
  if (flags.database === undefined && !hasEmbeddedStore(flags)) {
    const remedy = 'name another with --data; edgeplan account create <name> makes a store';
    throw inputFault(`there is no store in \`${dataFolder(flags)}\``, { remedy });
  }
  return openData(flags, 'tool');
}

/** Whether the folder that the flags name has an embedded store. */
export function hasEmbeddedStore(flags: StoreFlags): boolean {
  return existsSync(join(dataFolder(flags), 'edgeplan.db'));
}

/** Converts a fault of the store to one of the command. */
export function storeFault(fault: StoreFault): CommandFault {
  const remedy = remedyOf(fault);
  return new CommandFault(EXIT.server, fault.message, {
    cause: fault,
    ...(remedy === null ? {} : { remedy }),
  });
}

/** What helps against a fault of the store; `null`: its message says it all. */
function remedyOf({ code, cause, message }: StoreFault): string | null {
  if (code === 'too_new') return 'use the version of edgeplan that wrote it, or a later one';
  if (code !== 'unavailable' || !message.startsWith('postgresql: ')) return null;
  // SQLSTATE of PostgreSQL (appendix A of its manual): 3D000 invalid_catalog_name, class 28 the login.
  const state = String((cause as { readonly code?: unknown } | undefined)?.code ?? '');
  if (state === '3D000') return 'createdb <name> makes the database; --database names another';
  if (state.startsWith('28')) return 'check user and password of --database';
  return 'check host and port of --database, and that PostgreSQL runs';
}

/** The folder of the embedded store that the flags name. */
export function dataFolder({ data }: StoreFlags): string {
  return data ?? usualFolder();
}

/** `$XDG_DATA_HOME/edgeplan`, else `~/.local/share/edgeplan` (XDG Base Directory Specification). */
function usualFolder(): string {
  const given = process.env['XDG_DATA_HOME'] ?? '';
  if (isAbsolute(given)) return join(given, 'edgeplan');
  const home = homedir();
  if (isAbsolute(home)) return join(home, '.local', 'share', 'edgeplan');
  throw usageFault('there is no home folder to keep the data in', 'say where with --data');
}

// Shared by the operators' commands, which work on the store directly, beside a running server.

/** Adds the options that name a store to a command. */
export function withStore(command: Command): Command {
  for (const option of storeOptions()) command.addOption(option);
  return command;
}

/** Opens the existing store, runs `work`, and closes it. @throws CommandFault for faults of the store */
export async function withData<T>(flags: StoreFlags, work: (store: Store) => Promise<T>): Promise<T> {
  const store = await openExistingData(flags);
  try {
    // Awaited here, so that `finally` closes the store after the work.
    return await work(store);
  } catch (error) {
    throw error instanceof StoreFault ? storeFault(error) : error;
  } finally {
    await store.close();
  }
}

/** Finds a domain by name. @throws CommandFault when no domain has the name */
export async function findDomain(tx: Pick<ReadTransaction, 'domains'>, name: string): Promise<DomainRow> {
  const domain = await tx.domains.byName(normalizeName(name) ?? name);
  if (domain === null) throw new CommandFault(EXIT.no, `there is no domain \`${name}\``);
  return domain;
}

/** Finds a node by name. @throws CommandFault when no node has the name */
export async function findNode(tx: Pick<ReadTransaction, 'nodes'>, name: string): Promise<NodeRow> {
  const node = (await tx.nodes.list()).find((one) => one.name === name);
  if (node === undefined) throw new CommandFault(EXIT.no, `there is no node \`${name}\``);
  return node;
}
