/** `edgeplan key`: creates, lists and revokes API keys. The API itself cannot create or revoke keys. */
import { Command, InvalidArgumentError, Option } from 'commander';
import {
  type AlsoWrite,
  createKey,
  EXPIRY_DAYS,
  type ExpiryDays,
  type KeyReport,
  reportKeys,
  revokeKey,
} from '../../control/accounts/keys.ts';
import { notifyKeyCreated, notifyKeyRevoked } from '../../control/notices/notify.ts';
import { type Examples, withExamples } from '../examples.ts';
import { CommandFault, EXIT } from '../exit.ts';
import { openExistingData, type StoreFlags, withStore } from '../open-data.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { tableText } from '../print/table.ts';

/** Options of `create`, as commander parses them. */
interface CreateFlags extends StoreFlags {
  /** What the key is for. */
  readonly name: string;
  /** Days of validity; `null`: no expiry. */
  readonly expires: ExpiryDays;
  /** Restricts the key to GET, HEAD and OPTIONS. */
  readonly readOnly?: boolean;
}

/** Options of `list`, as commander parses them. */
interface ListFlags extends StoreFlags {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Creates a key. stdout has only the key, so that a script can read it; everything else goes to stderr. */
async function create(account: string, flags: CreateFlags): Promise<void> {
  const store = await openExistingData(flags);
  try {
    const made = await createKey(store, {
      account,
      name: flags.name,
      expiry: flags.expires,
      readOnly: flags.readOnly === true,
      now: Date.now(),
      also: notifyKeyCreated,
    });
    if (!made.ok) throw new CommandFault(EXIT.no, made.reason);
    const { key, row } = made.value;
    await write(`${key}\n`);
    // stderr: the key itself is the only output on stdout.
    const kind = row.read_only ? 'read-only key' : 'key';
    const end = row.expires_at === null ? 'never expires' : `expires ${day(row.expires_at)}`;
    note(`${kind} ${row.id} of \`${account}\`, ${end}; it is shown only once`);
  } finally {
    await store.close();
  }
}

/** Lists the keys of one account or all. */
async function list(account: string | undefined, flags: ListFlags): Promise<void> {
  const store = await openExistingData(flags);
  try {
    const now = Date.now();
    const reports = await reportKeys(store, { account: account ?? null, now });
    // `null`: the account does not exist; an account without keys has an empty list.
    if (reports === null) throw new CommandFault(EXIT.no, `there is no account \`${account}\``);
    if (flags.json === true) {
      await writeDocument('keys', { keys: reports.map(shown) });
      return;
    }
    // The last column is the number of requests of the last 30 days.
    const rows = reports.map((report) => [
      String(report.key.id),
      report.account.name,
      report.key.name,
      report.key.read_only ? 'read-only' : 'full',
      state(report, now),
      report.key.last_used_at === null ? 'never' : new Date(report.key.last_used_at).toISOString(),
      String(report.uses.reduce((sum, use) => sum + use.requests, 0)),
    ]);
    await write(tableText(['id', 'account', 'name', 'access', 'state', 'last used', '30 days'], rows));
    if (rows.length === 0) note('no keys yet: edgeplan key create <account>');
  } finally {
    await store.close();
  }
}

/** The state of a key in words. */
function state({ key, account }: KeyReport, now: number): string {
  if (key.revoked_at !== null) return `revoked ${day(key.revoked_at)}`;
  if (key.expires_at !== null && key.expires_at <= now) return `expired ${day(key.expires_at)}`;
  if (!account.active) return 'account inactive';
  return key.expires_at === null ? 'active' : `active until ${day(key.expires_at)}`;
}

/** A key as JSON. */
function shown({ account, key, uses }: KeyReport): object {
  const time = (at: number | null): string | null => (at === null ? null : new Date(at).toISOString());
  return {
    id: key.id,
    account: account.name,
    name: key.name,
    read_only: key.read_only,
    created_at: time(key.created_at),
    expires_at: time(key.expires_at),
    revoked_at: time(key.revoked_at),
    last_used_at: time(key.last_used_at),
    requests: uses.map((use) => ({ date: day(use.day * 86_400_000), requests: use.requests })),
  };
}

/** A date as `2026-01-31`, UTC. */
function day(at: number): string {
  return new Date(at).toISOString().slice(0, 10);
}

/** Revokes a key. @throws CommandFault when it does not exist or is revoked */
async function revoke(id: number, flags: StoreFlags): Promise<void> {
  const store = await openExistingData(flags);
  try {
    const now = Date.now();
    const also: AlsoWrite = (tx, row) => notifyKeyRevoked(tx, row, now);
    if (await revokeKey(store, { id, now, also })) {
      await write(`key ${id} revoked\n`);
      return;
    }
    // Nothing was revoked: either no such key, or an earlier revocation.
    const key = await store.latest.keys.get(id);
    throw new CommandFault(EXIT.no, key === null ? `there is no key ${id}` : `key ${id} is already revoked`);
  } finally {
    await store.close();
  }
}

/** Parses `--expires`. */
function readExpiry(text: string): ExpiryDays {
  // Only fixed periods, as the API documents them (`EXPIRY_DAYS`).
  const days = text === 'none' ? null : Number(text);
  const found = EXPIRY_DAYS.find((choice) => choice === days);
  if (found === undefined) throw new InvalidArgumentError('write none, 30, 90 or 365 (days).');
  return found;
}

/** Parses the number of a key. */
function readKeyId(text: string): number {
  if (!/^[1-9]\d{0,9}$/.test(text))
    throw new InvalidArgumentError('a key is named by its number; edgeplan key list shows it.');
  return Number(text);
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'key create': [
    'export EDGEPLAN_KEY=$(edgeplan key create acme)',
    'edgeplan key create acme --name dashboard --expires 90 --read-only',
  ],
  'key list': ['edgeplan key list', 'edgeplan key list acme --json'],
  'key revoke': ['edgeplan key revoke 7'],
};

/** Creates the command. */
export function keyCommand(): Command {
  const command = new Command('key')
    .description('Make, list and revoke API keys; works beside a running server.')
    .addCommand(
      withStore(new Command('create').description('Make a key and print it, once.').argument('<account>'))
        .option('--name <text>', 'what the key is for', 'key')
        .addOption(
          new Option('--expires <days>', 'none, 30, 90 or 365').argParser(readExpiry).default(null, 'none'),
        )
        .option('--read-only', 'GET, HEAD and OPTIONS only')
        .action(create),
    )
    .addCommand(
      withStore(new Command('list').description('List keys, revoked ones too.').argument('[account]'))
        .addOption(jsonOption('keys'))
        .action(list),
    )
    .addCommand(
      withStore(
        new Command('revoke')
          .description('Revoke a key, at once.')
          .argument('<id>', 'the number of the key', readKeyId),
      ).action(revoke),
    );
  return withExamples(command, EXAMPLES);
}
