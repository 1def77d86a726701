/** `edgeplan notifications`: prints the feed of an account, marks it as read, sends a test, and sets where it goes. */
import { Command, InvalidArgumentError, Option } from 'commander';
import { visible } from '../../workbench/simulation/render-text.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { callApi, keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';
import { contactCommand, preferencesCommand, webhooksCommand } from './notification-settings.ts';

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

/** Creates the command. */
export function notificationsCommand(): Command {
  return new Command('notifications')
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
}
