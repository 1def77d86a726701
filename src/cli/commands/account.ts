/** `edgeplan account`: creates, lists, disables and enables accounts, which own domains and API keys; their contacts. */
import { resolve } from 'node:path';
import { Command } from 'commander';
import { createAccount, setAccountActive } from '../../control/accounts/keys.ts';
import {
  type ContactChannel,
  confirmedContact,
  emptyContact,
  readAddress,
} from '../../control/notices/contact.ts';
import type { WriteTransaction } from '../../control/store/store.ts';
import { shellWord } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import {
  dataFolder,
  hasEmbeddedStore,
  openData,
  openExistingData,
  type StoreFlags,
  withData,
  withStore,
} from '../open-data.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';

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

/** Examples of the help. */
const EXAMPLES: Examples = {
  'account create': ['edgeplan account create acme', 'edgeplan account create acme --data ./edgeplan-data'],
  'account list': ['edgeplan account list', 'edgeplan account list --json'],
  'account contact': [
    'edgeplan account contact acme --email alerts@acme.example',
    'edgeplan account contact ops --email ops@example.net --operator',
    'edgeplan account contact acme --json',
  ],
  'account disable': ['edgeplan account disable acme'],
  'account enable': ['edgeplan account enable acme'],
};

/** Creates the command. */
export function accountCommand(): Command {
  const command = new Command('account')
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
  return withExamples(command, EXAMPLES);
}

// `edgeplan account contact`: shows and sets where an account is notified, on the word of the operator.

/** The options of the command, as commander parses them. */
interface Flags extends StoreFlags {
  /** An e-mail address, or `none`. */
  readonly email?: string;
  /** A phone number, or `none`. */
  readonly phone?: string;
  /** Whether the account receives what concerns operators; absent: as it is. */
  readonly operator?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The text that removes an address. */
const NONE = 'none';

/** Sets or removes one address. @throws CommandFault when it is no address */
async function setAddress(
  tx: WriteTransaction,
  account_id: number,
  { channel, text }: { readonly channel: ContactChannel; readonly text: string },
): Promise<void> {
  if (text === NONE) {
    await tx.contacts.remove(account_id, channel);
    return;
  }
  const read = readAddress(channel, text);
  if ('problem' in read) throw usageFault(`\`${text}\` ${read.problem}`);
  const before = (await tx.contacts.get(account_id, channel)) ?? emptyContact(account_id, channel);
  await tx.contacts.put(confirmedContact(before, read.address));
}

/** Changes what is given, and prints what the account has then. */
async function run(name: string, flags: Flags): Promise<void> {
  const { email, phone, operator } = flags;
  const shown = await withData(flags, (store) =>
    store.write(async (tx) => {
      const account = await tx.accounts.byName(name);
      if (account === null) throw new CommandFault(EXIT.no, `there is no account \`${name}\``);
      if (email !== undefined) await setAddress(tx, account.id, { channel: 'email', text: email });
      if (phone !== undefined) await setAddress(tx, account.id, { channel: 'sms', text: phone });
      if (operator !== undefined) await tx.contacts.setOperator(account.id, operator);
      const rows = await tx.contacts.list(account.id);
      const addressOf = (channel: ContactChannel): string | null =>
        rows.find((row) => row.channel === channel)?.address || null;
      return {
        account: name,
        email: addressOf('email'),
        phone: addressOf('sms'),
        operator: (await tx.contacts.operators()).includes(account.id),
        webhooks: (await tx.contacts.webhooks(account.id)).map(({ url }) => new URL(url).origin),
      };
    }),
  );
  if (flags.json === true) {
    await writeDocument('contact', shown);
    return;
  }
  const lines = [
    `account   ${shown.account}`,
    `email     ${shown.email ?? 'none'}`,
    `phone     ${shown.phone ?? 'none'}`,
    `operator  ${shown.operator ? 'yes: it receives what concerns operators' : 'no'}`,
    `webhooks  ${shown.webhooks.join(' ') || 'none'}`,
  ];
  await write(`${lines.join('\n')}\n`);
}

/** Creates the command. */
function accountContactCommand(): Command {
  return withStore(
    new Command('contact')
      .description('Show or set where an account is notified; an address set here needs no confirmation.')
      .argument('<name>'),
  )
    .option('--email <address>', `its e-mail address; ${NONE} removes it`)
    .option('--phone <number>', `its number for SMS, such as +4930123456; ${NONE} removes it`)
    .option('--operator', 'it receives what concerns operators, such as lost nodes')
    .option('--no-operator', 'it does not')
    .addOption(jsonOption('contact'))
    .action(run);
}
