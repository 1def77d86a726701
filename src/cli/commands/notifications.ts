/** `edgeplan notifications`: prints the feed of an account, marks it as read, sends a test, and sets where it goes. */
import { Argument, Command, InvalidArgumentError, Option } from 'commander';
import { visible } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT, usageFault } from '../exit.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';
import { callApi, keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';

/** The options of the command, as commander parses them. */
interface Flags extends ServerAccess {
  /** Only what is unread. */
  readonly unread?: boolean;
  /** Marks what is printed as read. */
  readonly read?: boolean;
  /** The largest number of notifications. */
  readonly limit: number;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The part of an API notification that is printed as text. */
interface Entry {
  readonly id: number;
  readonly severity: string;
  readonly message: string;
  readonly text: readonly string[];
  readonly actions: readonly string[];
  readonly created_at: string;
  readonly read_at: string | null;
  readonly deliveries: readonly Delivery[];
}

/** How a notification was sent. */
interface Delivery {
  readonly channel: string;
  readonly webhook_id: number | null;
  readonly state: string;
  readonly error: string | null;
}

/** A page of the feed. */
interface Page {
  readonly notifications: readonly Entry[];
  readonly next_cursor: number | null;
  readonly unread: number;
}

/** The default of `--limit`, and its maximum: a page of the API. */
const USUAL_LIMIT = 20;
const MAX_LIMIT = 100;

/** Prints the feed, newest first. */
async function run(flags: Flags): Promise<void> {
  const unread = flags.unread === true ? '&unread=true' : '';
  const path = `/notifications/?limit=${flags.limit}${unread}`;
  const page = (await callApi(flags, { method: 'GET', path })).body as Page;
  const { notifications } = page;
  if (flags.json === true) await writeDocument('notifications', page);
  else await write(notifications.map(entryText).join('\n'));
  if (notifications.length === 0) note(flags.unread === true ? 'nothing unread' : 'no notifications yet');
  else if (page.next_cursor !== null) note(`there are older ones; --limit ${MAX_LIMIT} prints more`);
  if (flags.read !== true || notifications.length === 0) return;
  const ids = notifications.map(({ id }) => id);
  await callApi(flags, { method: 'POST', path: '/notifications/read', body: { ids } });
  note(`${ids.length} marked as read`);
}

/** One notification as text: a line, then the details. */
function entryText({ id, severity, message, text, actions, created_at, read_at, deliveries }: Entry): string {
  const time = created_at.replace('T', ' ').replace(/(?:\.\d+)?Z$/, 'Z');
  const lines = [
    `${id}  ${time}  ${severity}${read_at === null ? '  unread' : ''}`,
    `  ${message}`,
    ...text.flatMap((paragraph) => paragraph.split('\n')).map((line) => `  ${line}`),
    ...actions.map((line) => `  - ${line}`),
    ...deliveries.map((delivery) => `  ${deliveryText(delivery)}`),
  ];
  return `${lines.map(visible).join('\n')}\n`;
}

/** How a notification was sent, as one line. */
function deliveryText({ channel, webhook_id, state, error }: Delivery): string {
  const target = webhook_id === null ? channel : `${channel} ${webhook_id}`;
  return `${target}: ${state}${error === null ? '' : ` (${error})`}`;
}

/** Sends a test to every contact of the account. */
async function test(flags: ServerAccess): Promise<void> {
  const sent = (await callApi(flags, { method: 'POST', path: '/notifications/test' })).body as Entry;
  const targets = sent.deliveries.map(deliveryText);
  await write(`${['test is on its way', ...targets.map((line) => `  ${visible(line)}`)].join('\n')}\n`);
  if (targets.length === 0)
    note('the account has no contact: edgeplan notifications contact --email <address> sets one');
  else note('edgeplan notifications list --limit 1 shows whether it arrived');
}

/** Parses `--limit`. */
function readLimit(text: string): number {
  const limit = /^\d{1,3}$/.test(text) ? Number(text) : 0;
  if (limit >= 1 && limit <= MAX_LIMIT) return limit;
  throw new InvalidArgumentError(`write a whole number from 1 to ${MAX_LIMIT}.`);
}

/** Creates `list`. */
function listCommand(): Command {
  return new Command('list')
    .description('Print notifications, newest first, and how each was delivered.')
    .option('--unread', 'only those that are unread')
    .option('--read', 'mark those that are printed as read')
    .addOption(
      new Option('--limit <count>', 'notifications, at most').argParser(readLimit).default(USUAL_LIMIT),
    )
    .addOption(jsonOption('notifications'))
    .addOption(serverOption())
    .addOption(keyOption())
    .action(run);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'notifications list': [
    'edgeplan notifications list --unread --read',
    'edgeplan notifications list --limit 100 --json',
  ],
  'notifications test': ['edgeplan notifications test'],
  'notifications contact': [
    'edgeplan notifications contact --email alerts@example.com',
    'edgeplan notifications contact --confirm-email 04711815',
  ],
  'notifications webhooks list': ['edgeplan notifications webhooks list --json'],
  'notifications webhooks add': ['edgeplan notifications webhooks add https://hooks.example.com/edgeplan'],
  'notifications webhooks remove': ['edgeplan notifications webhooks remove 7'],
  'notifications preferences': [
    'edgeplan notifications preferences',
    'edgeplan notifications preferences domain.activated --email off --webhook on',
  ],
};

/** Creates the command. */
export function notificationsCommand(): Command {
  const command = new Command('notifications')
    .summary('what happened to the domains and keys of an account, and where it is sent')
    .description('Reads the notifications of an account, and sets where and of what it is notified.')
    .addCommand(listCommand())
    .addCommand(
      new Command('test')
        .description('Send a test to every contact of the account.')
        .addOption(serverOption())
        .addOption(keyOption())
        .action(test),
    )
    .addCommand(contactCommand())
    .addCommand(webhooksCommand())
    .addCommand(preferencesCommand());
  return withExamples(command, EXAMPLES);
}

// The commands below `edgeplan notifications` that set where an account is notified, and of what.

/** The options of every command here, as commander parses them. */
interface SettingFlags extends ServerAccess {
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
interface ContactFlags extends SettingFlags {
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
async function listWebhooks(flags: SettingFlags): Promise<void> {
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
interface PreferenceFlags extends SettingFlags, Partial<Readonly<Record<keyof Choice, 'on' | 'off'>>> {}

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
function contactCommand(): Command {
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
function webhooksCommand(): Command {
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
function preferencesCommand(): Command {
  const command = new Command('preferences')
    .description('Show or change which notifications go out on which channel; the feed has all of them.')
    .addArgument(new Argument('[kind]', 'the kind to show or to change; without it all are shown'));
  for (const channel of CHANNELS)
    command.addOption(
      new Option(`--${channel} <on|off>`, `send the kind by ${channel}`).choices(['on', 'off']),
    );
  return remote(command.addOption(jsonOption('notification-preferences'))).action(preferences);
}
