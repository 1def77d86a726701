/** `edgeplan account contact`: shows and sets where an account is notified, on the word of the operator. */
import { Command } from 'commander';
import {
  type ContactChannel,
  confirmedContact,
  emptyContact,
  readAddress,
} from '../../control/notices/contact.ts';
import type { WriteTransaction } from '../../control/store/store.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import type { StoreFlags } from '../open-data.ts';
import { jsonOption } from '../options.ts';
import { write, writeDocument } from '../output.ts';
import { withData, withStore } from '../with-store.ts';

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
export function accountContactCommand(): Command {
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
