/** `edgeplan account`: creates, lists, disables and enables accounts, which own domains and API keys; their contacts. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { createAccount, setAccountActive } from '../../control/accounts/keys.ts';
import { shellWord } from '../../workbench/simulation/shell-word.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { dataFolder, hasEmbeddedStore, openData, openExistingData, type StoreFlags } from '../open-data.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { withData, withStore } from '../with-store.ts';
import { accountContactCommand } from './account-contact.ts';

/** Options of `list`, as commander parses them. */
interface ListFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Creates an account and prints the next command. */
async function create(name: string, flags: StoreFlags): Promise<void> {
  // May create the store; the other account and key commands need an existing one.
  const isNew = flags.database === undefined && !hasEmbeddedStore(flags);
  const store = await openData(flags, 'tool');
  if (isNew) note(`a new store was made in ${resolve(dataFolder(flags))}`);
  try {
    const made = await createAccount(store, { name, now: Date.now() });
    if (!made.ok) throw new CommandFault(EXIT.no, made.reason);
    await write(`account \`${made.value.name}\` created, id ${made.value.id}\n`);
    note(`next: edgeplan key create ${shellWord(name)}${placeOf(flags)}`);
  } finally {
    await store.close();
  }
}

/** The options that name the store, for a command to paste; the password of a database is not printed. */
function placeOf({ data, database }: StoreFlags): string {
  if (database !== undefined) return ' --database …';
  return data === undefined ? '' : ` --data ${shellWord(data)}`;
}

/** Lists all accounts. */
async function list(flags: ListFlags): Promise<void> {
  const store = await openExistingData(flags);
  try {
    const accounts = await store.latest.accounts.list();
    if (flags.json === true) {
      const shown = accounts.map(({ id, name, active, created_at }) => ({
        id,
        name,
        active,
        created_at: new Date(created_at).toISOString(),
      }));
      await writeDocument('accounts', { accounts: shown });
      return;
    }
    const rows = accounts.map(({ id, name, active, created_at }) => [
      String(id),
      name,
      active ? 'active' : 'inactive',
      new Date(created_at).toISOString(),
    ]);
    await write(tableText(['id', 'name', 'state', 'created'], rows));
    if (accounts.length === 0) note('no accounts yet: edgeplan account create <name>');
  } finally {
    await store.close();
  }
}

/**
 * Disables or enables an account. The keys of an inactive account answer 401 from the next request on; its domains
 * stay served.
 */
async function setActive(name: string, active: boolean, flags: StoreFlags): Promise<void> {
  const state = active ? 'active' : 'inactive';
  const done = await withData(flags, (store) => setAccountActive(store, { name, active, now: Date.now() }));
  if (!done.ok) throw new CommandFault(EXIT.no, done.reason);
  const effect = active ? 'its keys are valid again' : 'its keys answer 401; its domains stay served';
  await write(`the account \`${name}\` is ${state}: ${effect}\n`);
}

/** Creates the command. */
export function accountCommand(): Command {
  return new Command('account')
    .description('Make, list, disable and enable accounts; works beside a running server.')
    .addCommand(
      withStore(new Command('create').description('Make an account.').argument('<name>')).action(create),
    )
    .addCommand(
      withStore(new Command('list').description('List accounts.'))
        .addOption(jsonOption('accounts'))
        .action(list),
    )
    .addCommand(accountContactCommand())
    .addCommand(
      withStore(
        new Command('disable')
          .description('Make an account inactive: its keys answer 401.')
          .argument('<name>'),
      ).action((name: string, flags: StoreFlags) => setActive(name, false, flags)),
    )
    .addCommand(
      withStore(
        new Command('enable').description('Make an inactive account active again.').argument('<name>'),
      ).action((name: string, flags: StoreFlags) => setActive(name, true, flags)),
    );
}
