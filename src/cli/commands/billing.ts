/**
 * `edgeplan billing`: imports what the operator's billing has written, beside a running server; prints to a customer what the
 * account has bought and owes, from a server.
 */
import { Command, Option } from 'commander';
import { type Diagnostic, describeDiagnostic, diagnosticFields } from '../../base/diagnostics/diagnostic.ts';
import { type BillingCounts, importBilling } from '../../control/billing/import.ts';
import { GIGABYTE } from '../../control/billing/quota-use.ts';
import { INVOICE_STATUSES, type InvoiceStatus } from '../../control/store/tables/billing.ts';
import { visible } from '../../workbench/simulation/render-text.ts';
import { linesOf } from '../../workbench/simulation/requests.ts';
import { type Examples, withExamples } from '../examples.ts';
import { EXIT } from '../exit.ts';
import { readChunks } from '../input/read-file.ts';
import { type StoreFlags, withData, withStore } from '../open-data.ts';
import { jsonOption } from '../options.ts';
import { note, write, writeDocument } from '../output.ts';
import { moneyText, tableText } from '../print/table.ts';
import { callApi, callPages, keyOption, type ServerAccess, serverOption } from '../remote/call-api.ts';

/** The options of `import`, as commander parses them. */
interface ImportFlags extends StoreFlags {
  /** Checks only. */
  readonly dryRun?: boolean;
  /** Prints JSON. */
  readonly json?: boolean;
}

/** The options of the commands that ask a server, as commander parses them. */
interface Flags extends ServerAccess {
  /** Prints JSON. */
  readonly json?: boolean;
}

/** Refused lines that the JSON document lists; all of them are counted. */
const MOST_PROBLEMS = 1_000;

/** Imports a file and prints what has changed. */
async function importFile(file: string, flags: ImportFlags): Promise<void> {
  const name = file === '-' ? 'stdin' : file;
  const dryRun = flags.dryRun === true;
  const problems: object[] = [];
  const refuse = (line: number, diagnostics: readonly Diagnostic[]): void => {
    for (const diagnostic of diagnostics) {
      if (flags.json !== true) note(`${name}:${line}: ${visible(describeDiagnostic(diagnostic))}`);
      else if (problems.length < MOST_PROBLEMS) problems.push({ line, ...diagnosticFields(diagnostic) });
    }
  };
  const lines = linesOf(readChunks(file));
  const counts = await withData(flags, (store) =>
    importBilling({ store, lines, refuse, dryRun, clock: Date.now }),
  );
  // A partial import is a negative result for scripts.
  if (counts.refused > 0) process.exitCode = EXIT.no;
  if (flags.json === true) await writeDocument('billing-import', { dry_run: dryRun, ...counts, problems });
  else await write(countsText(counts, dryRun));
}

/** The counts of an import as text. */
function countsText(counts: BillingCounts, dryRun: boolean): string {
  const { lines, written, unchanged, stale, refused, suspended, resumed } = counts;
  const would = dryRun ? ' (nothing was changed)' : '';
  const domains = (count: number): string => `${count} domain${count === 1 ? '' : 's'}`;
  return (
    `${lines} line${lines === 1 ? '' : 's'}: ${written} written, ${unchanged} unchanged, ` +
    `${stale} older than what is stored, ${refused} refused${would}\n` +
    `${domains(suspended)} suspended, ${domains(resumed)} resumed\n`
  );
}

/** A wallet as the API answers it. */
interface RemoteWallet {
  readonly balance: number;
  readonly currency: string | null;
  readonly updated_at: string | null;
  readonly suspended_domains: readonly string[];
}

/** Prints the wallet of the account. */
async function wallet(flags: Flags): Promise<void> {
  const { body } = await callApi(flags, { method: 'GET', path: '/wallet' });
  const found = body as RemoteWallet;
  if (flags.json === true) return writeDocument('wallet', found);
  const { balance, currency, updated_at, suspended_domains } = found;
  if (currency === null) return write('the account has no wallet\n');
  const lines = [`balance    ${moneyText(balance, currency)}`, `as of      ${updated_at}`];
  for (const domain of suspended_domains) lines.push(`suspended  ${domain}`);
  await write(`${lines.join('\n')}\n`);
}

/** The options of `invoices`. */
interface InvoiceFlags extends Flags {
  readonly status?: InvoiceStatus;
}

/** The part of an invoice that is printed as text. */
interface RemoteInvoice {
  readonly number: string;
  readonly domain: string | null;
  readonly status: InvoiceStatus;
  readonly currency: string;
  readonly total: number;
  readonly issued_at: string;
  readonly due_at: string | null;
}

/** Invoices that are printed: years of monthly ones. */
const MOST_INVOICES = 1_000;

/** Prints the invoices of the account, newest first. */
async function invoices(flags: InvoiceFlags): Promise<void> {
  const status = flags.status === undefined ? '' : `?status=${flags.status}`;
  const { entries, more } = await callPages(flags, { path: `/invoices/${status}`, most: MOST_INVOICES });
  if (more) note(`only the newest ${MOST_INVOICES} are listed`);
  if (flags.json === true) return writeDocument('invoices', { invoices: entries });
  const rows = (entries as readonly RemoteInvoice[]).map((one) => [
    one.number,
    one.status,
    moneyText(one.total, one.currency),
    one.issued_at.slice(0, 10),
    one.due_at?.slice(0, 10) ?? 'none',
    one.domain ?? '',
  ]);
  await write(tableText(['number', 'status', 'total', 'issued', 'due', 'domain'], rows));
  if (entries.length === 0) note('no invoices');
}

/** The part of a subscription that is printed as text. */
interface RemoteSubscription {
  readonly domain: string;
  readonly plan_slug: string;
  readonly ends_at: string | null;
  readonly max_traffic_gb: number | null;
  readonly traffic_octets: number;
  readonly traffic_percent: number | null;
  readonly suspended_for: readonly string[];
}

/** Domains that are printed. */
const MOST_DOMAINS = 10_000;

/** Prints what the domains of the account have bought, with their traffic. */
async function subscriptions(flags: Flags): Promise<void> {
  const { entries, more } = await callPages(flags, { path: '/subscriptions/', most: MOST_DOMAINS });
  if (more) note(`only the first ${MOST_DOMAINS} domains are listed`);
  if (flags.json === true) return writeDocument('subscriptions', { subscriptions: entries });
  const rows = (entries as readonly RemoteSubscription[]).map((one) => [
    one.domain,
    one.plan_slug,
    one.ends_at?.slice(0, 10) ?? 'none',
    `${(one.traffic_octets / GIGABYTE).toFixed(1)} of ${one.max_traffic_gb ?? 'unlimited'} GB`,
    one.traffic_percent === null ? '' : `${one.traffic_percent} %`,
    one.suspended_for.length === 0 ? 'active' : `suspended: ${one.suspended_for.join(', ')}`,
  ]);
  await write(tableText(['domain', 'tier', 'ends', 'traffic', 'used', 'state'], rows));
  if (entries.length === 0) note('the account has no domains');
}

/** A command that asks a server. */
function remote(name: string, description: string): Command {
  return new Command(name)
    .description(description)
    .addOption(jsonOption(name))
    .addOption(serverOption())
    .addOption(keyOption());
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  'billing import': [
    'edgeplan billing import billing.jsonl --dry-run',
    'export-from-billing | edgeplan billing import - --database postgres://control@db.example.net/edgeplan',
  ],
  'billing wallet': ['edgeplan billing wallet', 'edgeplan billing wallet --json'],
  'billing invoices': ['edgeplan billing invoices', 'edgeplan billing invoices --status open --json'],
  'billing subscriptions': ['edgeplan billing subscriptions'],
};

/** Creates the command. */
export function billingCommand(): Command {
  const command = new Command('billing')
    .description('Import wallets and invoices; print the wallet, invoices and subscriptions of an account.')
    .addCommand(
      withStore(
        new Command('import')
          .summary('import wallets and invoices of your billing; works beside a running server')
          .description(
            'Reads lines of JSON, a wallet or an invoice each. Of two lines about one wallet or invoice the one with the later ' +
              '`at` counts, so a file can be imported again. A wallet below zero suspends the domains of its account, zero or ' +
              'more resumes them. Lines that are refused are printed on stderr; the exit code is then 1.',
          )
          .argument('<file>', 'the file; - is stdin'),
      )
        .option('--dry-run', 'run every check and change nothing')
        .addOption(jsonOption('billing-import'))
        .action(importFile),
    )
    .addCommand(remote('wallet', "Print the account's balance.").action(wallet))
    .addCommand(
      remote('invoices', "Print the account's invoices, newest first.")
        .addOption(new Option('--status <status>', 'only these').choices(INVOICE_STATUSES))
        .action(invoices),
    )
    .addCommand(
      remote('subscriptions', "Print what the account's domains have bought, and their traffic.").action(
        subscriptions,
      ),
    );
  return withExamples(command, EXAMPLES);
}
