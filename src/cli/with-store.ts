/** Shared by the operators' commands, which work on the store directly, beside a running server. */
import type { Command } from 'commander';
import { normalizeName } from '../base/addresses/host.ts';
import { StoreFault } from '../base/storage/fault.ts';
import type { DomainRow, NodeRow } from '../control/store/rows.ts';
import type { ReadTransaction, Store } from '../control/store/store.ts';
import { CommandFault, EXIT } from './exit.ts';
import { openExistingData, type StoreFlags, storeFault, storeOptions } from './open-data.ts';

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
