/** The commands below `edgeplan notifications` that set where an account is notified, and of what. */
import { Argument, Command, Option } from 'commander';
import { visible } from '../../workbench/simulation/render-text.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { callApi, keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';

/** The options of every command here, as commander parses them. */
interface Flags extends ServerAccess {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** One address in the form of the API. */
interface Address {
  readonly address: string | null;
  readonly pending: string | null;
}

/** The addresses in the form of the API. */
interface Addresses {
  readonly email: Address;
  readonly phone: Address;
  readonly operator: boolean;
}

/** The options of `contact`. */
interface ContactFlags extends Flags {
  readonly email?: string;
  readonly phone?: string;
  /** The code that an address got. */
  readonly confirmEmail?: string;
  readonly confirmPhone?: string;
}

/** The text that removes an address. */
const NONE = 'none';

/** Sets or confirms addresses, and prints them. */
async function contact(flags: ContactFlags): Promise<void> {
  const value = (text: string): string | null => (text === NONE ? null : text);
  const change = {
    ...(flags.email === undefined ? {} : { email: value(flags.email) }),
    ...(flags.phone === undefined ? {} : { phone: value(flags.phone) }),
  };
  const path = '/notifications/contact';
  if (Object.keys(change).length > 0) await callApi(flags, { method: 'PUT', path, body: change });
  for (const [field, code] of [
    ['email', flags.confirmEmail],
    ['phone', flags.confirmPhone],
  ]) {
    const body = { field, code };
    if (code !== undefined) await callApi(flags, { method: 'POST', path: `${path}/confirm`, body });
  }
  const shown = (await callApi(flags, { method: 'GET', path })).body as Addresses;
  if (flags.json === true) return writeDocument('notification-contact', shown);
  await write(`email  ${addressText(shown.email)}\nphone  ${addressText(shown.phone)}\n`);
  for (const field of ['email', 'phone'] as const) {
    if (shown[field].pending === null) continue;
    note(`${visible(shown[field].pending)} got a code; send it back with --confirm-${field} <code>`);
  }
}

/** An address in use, and one that waits for its code. */
function addressText({ address, pending }: Address): string {
  return visible(`${address ?? NONE}${pending === null ? '' : ` (${pending} waits for its code)`}`);
}

/** A webhook in the form of the API. */
interface Endpoint {
  readonly id: number;
  readonly url: string;
  readonly created_at: string;
}

const WEBHOOKS = '/webhooks/';

/** Prints the webhooks. */
async function listWebhooks(flags: Flags): Promise<void> {
  const webhooks = (await callApi(flags, { method: 'GET', path: WEBHOOKS })).body as readonly Endpoint[];
  if (flags.json === true) return writeDocument('notification-webhooks', { webhooks });
  const rows = webhooks.map(({ id, url, created_at }) => [String(id), url, created_at.slice(0, 10)]);
  await write(tableText(['id', 'url', 'added'], rows));
  if (webhooks.length === 0) note('no webhooks: edgeplan notifications webhooks add <url>');
}

/** Adds a webhook and prints its secret, the only time. */
async function addWebhook(url: string, flags: ServerAccess): Promise<void> {
  const { body } = await callApi(flags, { method: 'POST', path: WEBHOOKS, body: { url } });
  const { id, secret } = body as { readonly id: number; readonly secret: string };
  await write(`${visible(secret)}\n`);
  note(`webhook ${id} added; its requests are signed with this secret, which is shown only here`);
}

/** Removes a webhook. */
async function removeWebhook(id: string, flags: ServerAccess): Promise<void> {
  if (!/^\d{1,10}$/.test(id)) throw usageFault(`\`${id}\` is no id of a webhook`);
  await callApi(flags, { method: 'DELETE', path: `${WEBHOOKS}${id}` });
  await write(`webhook ${id} removed\n`);
}

const CHANNELS = ['email', 'sms', 'webhook'] as const;
/** Whether a kind goes out on each channel; `null`: never. */
type Choice = Readonly<Record<(typeof CHANNELS)[number], boolean | null>>;

/** The preferences of one kind in the form of the API. */
interface KindPreference extends Choice {
  readonly kind: string;
  readonly meaning: string;
}

/** The options of `preferences`. */
interface PreferenceFlags extends Flags, Partial<Readonly<Record<keyof Choice, 'on' | 'off'>>> {}

/** Changes the preferences of one kind, and prints those of all, or of that kind. */
async function preferences(kind: string | undefined, flags: PreferenceFlags): Promise<void> {
  const path = '/notifications/preferences';
  const chosen = CHANNELS.flatMap((channel) =>
    flags[channel] === undefined ? [] : [[channel, flags[channel] === 'on'] as const],
  );
  if (chosen.length > 0) {
    if (kind === undefined) throw usageFault('name the kind to change, such as `domain.moved`');
    const body = { preferences: [{ kind, ...Object.fromEntries(chosen) }] };
    await callApi(flags, { method: 'PUT', path, body });
  }
  const answer = (await callApi(flags, { method: 'GET', path })).body;
  const all = (answer as { readonly preferences: readonly KindPreference[] }).preferences;
  const shown = kind === undefined ? all : all.filter((row) => row.kind === kind);
  if (shown.length === 0) throw new CommandFault(EXIT.no, `there is no kind \`${kind}\``);
  if (flags.json === true) return writeDocument('notification-preferences', { preferences: shown });
  const rows = shown.map((row) => [row.kind, ...CHANNELS.map((channel) => word(row[channel])), row.meaning]);
  await write(tableText(['kind', ...CHANNELS, 'sent when'], rows));
}

function word(enabled: boolean | null): string {
  if (enabled === null) return 'never';
  return enabled ? 'on' : 'off';
}

/** Adds the options by which a command reaches the server. */
function remote(command: Command): Command {
  return command.addOption(serverOption()).addOption(keyOption());
}

/** Creates `contact`. */
export function contactCommand(): Command {
  const command = new Command('contact')
    .description(
      'Show or set the addresses of the account; a new one gets a code, and is in use once it is confirmed.',
    )
    .option('--email <address>', `a new e-mail address; ${NONE} removes it`)
    .option('--phone <number>', `a new number for SMS, such as +4930123456; ${NONE} removes it`)
    .option('--confirm-email <code>', 'the code that the new address got')
    .option('--confirm-phone <code>', 'the code that the new number got')
    .addOption(jsonOption('notification-contact'));
  return remote(command).action(contact);
}

/** Creates `webhooks`. */
export function webhooksCommand(): Command {
  const list = new Command('list').description('List the webhooks of the account.');
  const add = new Command('add').description('Add a webhook and print its secret.').argument('<url>');
  const remove = new Command('remove').description('Remove a webhook.').argument('<id>');
  return new Command('webhooks')
    .description('Addresses that get notifications as HTTP requests (Standard Webhooks).')
    .addCommand(remote(list.addOption(jsonOption('notification-webhooks'))).action(listWebhooks))
    .addCommand(remote(add).action(addWebhook))
    .addCommand(remote(remove).action(removeWebhook));
}

/** Creates `preferences`. */
export function preferencesCommand(): Command {
  const command = new Command('preferences')
    .description('Show or change which notifications go out on which channel; the feed has all of them.')
    .addArgument(new Argument('[kind]', 'the kind to show or to change; without it all are shown'));
  for (const channel of CHANNELS)
    command.addOption(
      new Option(`--${channel} <on|off>`, `send the kind by ${channel}`).choices(['on', 'off']),
    );
  return remote(command.addOption(jsonOption('notification-preferences'))).action(preferences);
}
