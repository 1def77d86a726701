/**
 * Imports what the operator's billing has written: wallets and invoices as lines of JSON. In: numbered lines, as a stream. Out:
 * rows of the store, domains that are suspended or resumed with the wallet that decides it, in one transaction, and a count of
 * each outcome; every line that is refused is reported with its number and diagnostics, and the others apply all the same.
 *
 * An import is idempotent: of the lines about one wallet or invoice the one with the latest `at` decides. A wallet is that of
 * its account, an invoice that of its `id`. The same line again changes nothing, an older one is counted and ignored, and one
 * of the same `at` that differs is refused: the order of lines never decides. So a file can be imported again after an
 * interruption. Memory is constant: `LINES_AT_ONCE` lines at a time, a transaction each.
 */
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time.ts';
import type { UnsettledCounts } from '../store/repositories/billing.ts';
import type { Store, WriteTransaction } from '../store/store.ts';
import type { InvoiceRow, WalletRow } from '../store/tables/billing.ts';
import { LINES_AT_ONCE, MAX_AHEAD_MS, SETTLED_AT_ONCE } from './limits.ts';
import { type InvoiceLine, type ReadBillingLine, readLine, refused, type WalletLine } from './lines.ts';
import { settleAccounts, settleDomains } from './settle.ts';

/** A line of a file. */
export interface BillingLine {
  /** From 1. */
  readonly line: number;
  /** `null`: it is longer than a line may be. */
  readonly bytes: Uint8Array | null;
}

/** An import. */
export interface BillingImport {
  readonly store: Store;
  readonly lines: AsyncIterable<readonly BillingLine[]>;
  /** Receives each refused line. */
  readonly refuse: (line: number, diagnostics: readonly Diagnostic[]) => void;
  /** Runs every check and commits nothing. */
  readonly dryRun: boolean;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** The outcome of an import. */
export interface BillingCounts extends Readonly<Record<LineOutcome, number>> {
  /** Lines that are not blank. */
  readonly lines: number;
  readonly refused: number;
  /** Domains that the edge stops serving, and those that it serves again. */
  readonly suspended: number;
  readonly resumed: number;
}

/** A line that was read, with its number. */
interface Numbered {
  readonly number: number;
  readonly read: ReadBillingLine;
}

/** A valid line. */
type ValidLine = WalletLine | InvoiceLine;

/** Imports all lines. @throws StoreFault; the transactions before it are committed */
export async function importBilling(work: BillingImport): Promise<BillingCounts> {
  const counts = { lines: 0, written: 0, unchanged: 0, stale: 0, refused: 0, suspended: 0, resumed: 0 };
  const flush = async (lines: readonly Numbered[]): Promise<void> => {
    const valid = lines.flatMap(({ read }) => (read.ok ? [read.line] : []));
    const { judged, settled } = valid.length === 0 ? NOTHING : await applyBatch(work, valid);
    const judgements = judged.values();
    for (const { number, read } of lines) {
      const outcome = read.ok ? (judgements.next().value as JudgedLine) : read.diagnostics;
      if (typeof outcome === 'string') counts[outcome]++;
      else {
        counts.refused++;
        work.refuse(number, outcome);
      }
    }
    counts.lines += lines.length;
    counts.suspended += settled.suspended;
    counts.resumed += settled.resumed;
  };
  let lines: Numbered[] = [];
  for await (const part of work.lines) {
    for (const { line: number, bytes } of part) {
      const read = readLine(bytes);
      if (read === null) continue;
      // Refused lines wait for those before them, so that they are reported in order.
      lines.push({ number, read });
      if (lines.length < LINES_AT_ONCE) continue;
      await flush(lines);
      lines = [];
    }
  }
  if (lines.length > 0) await flush(lines);
  return counts;
}

/** The judgements of a batch by place, and what its wallets have settled. */
interface Applied {
  readonly judged: readonly JudgedLine[];
  readonly settled: UnsettledCounts;
}

const NOTHING: Applied = { judged: [], settled: { suspended: 0, resumed: 0 } };

/** Applies valid lines in one transaction; domains beyond `SETTLED_AT_ONCE` follow in further ones. */
async function applyBatch(work: BillingImport, batch: readonly ValidLine[]): Promise<Applied> {
  const { store, clock, dryRun } = work;
  // Accounts are neither renamed nor removed, so they need no lock here.
  const accounts = await store.latest.accounts.idsOf([...new Set(batch.map(({ account }) => account))]);
  const named = batch.flatMap(({ account }) => accounts.get(account) ?? []);
  const accountIds = [...new Set(named)].sort((left, right) => left - right);
  const options = { accountIds, limit: SETTLED_AT_ONCE, now: clock() };
  if (dryRun) {
    return store.write(
      async (tx) => {
        const judged = await writeLines(tx, batch, { accounts, ...options });
        return { judged, settled: await tx.suspensions.countUnsettled(accountIds) };
      },
      { discard: true },
    );
  }
  const first = await store.write(async (tx) => {
    const judged = await writeLines(tx, batch, { accounts, ...options });
    return { judged, settled: await settleDomains(tx, options) };
  });
  let { domains, suspended, resumed } = first.settled;
  while (domains === SETTLED_AT_ONCE) {
    const more = await settleAccounts(store, { ...options, now: clock() });
    domains = more.domains;
    suspended += more.suspended;
    resumed += more.resumed;
  }
  return { judged: first.judged, settled: { suspended, resumed } };
}

/** The accounts of a batch, and when it is applied. */
interface Batch {
  /** Ids by name. */
  readonly accounts: ReadonlyMap<string, number>;
  /** All of them, ascending. */
  readonly accountIds: readonly number[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Writes what is new of a batch, one statement for wallets and one for invoices. Returns the judgements by place. */
async function writeLines(
  tx: WriteTransaction,
  batch: readonly ValidLine[],
  { accounts, accountIds, now }: Batch,
): Promise<readonly JudgedLine[]> {
  // The accounts first: their lock comes before that of any domain, and two imports of one account take turns.
  const wallets = new Map((await tx.wallets.lock(accountIds)).map((row) => [row.account_id, row]));
  const refs = new Set(batch.flatMap((line) => (line.kind === 'invoice' ? [line.id] : [])));
  const found = refs.size === 0 ? [] : await tx.invoices.byRefs([...refs]);
  const invoices = new Map<string, NewInvoice>(found.map((row) => [row.ref, row]));
  const newWallets = new Map<number, WalletRow>();
  const newInvoices = new Map<string, NewInvoice>();
  const judged = batch.map((line): JudgedLine => {
    const account_id = accounts.get(line.account);
    if (account_id === undefined) return unknownAccount(line.account);
    if (line.at > now + MAX_AHEAD_MS) return futureLine(line.at);
    if (line.kind === 'wallet') {
      const row = walletRow(line, account_id);
      const outcome = judgeWallet(wallets.get(account_id), row);
      if (outcome !== 'written') return outcome;
      wallets.set(account_id, row);
      newWallets.set(account_id, row);
      return outcome;
    }
    const row = invoiceRow(line, account_id);
    const before = invoices.get(row.ref);
    if (before !== undefined && before.account_id !== account_id) return foreignInvoice(row.ref);
    const outcome = judgeInvoice(before, row);
    if (outcome !== 'written') return outcome;
    invoices.set(row.ref, row);
    newInvoices.set(row.ref, row);
    return outcome;
  });
  await tx.wallets.put([...newWallets.values()]);
  const written = new Set(await tx.invoices.put([...newInvoices.values()]));
  // An import of another account has inserted such an id since it was read.
  return judged.map((outcome, at) => {
    const line = batch[at]!;
    return outcome === 'written' && line.kind === 'invoice' && !written.has(line.id)
      ? foreignInvoice(line.id)
      : outcome;
  });
}

/** A line as a row. */
function walletRow({ id, balance, currency, at }: WalletLine, account_id: number): WalletRow {
  return { account_id, ref: id, balance, currency, at };
}

/** A line as a row. */
function invoiceRow(line: InvoiceLine, account_id: number): NewInvoice {
  const { kind: _kind, id, account: _account, lines, ...fields } = line;
  const charges = lines.map(({ description, amount }) => ({ description, amount }));
  return { ...fields, ref: id, account_id, lines_json: JSON.stringify(charges) };
}

// Judges a valid line by what is stored: of two lines about one wallet or invoice the one with the later `at` decides, and of
// two with the same `at` neither may differ. In: rows. Out: an outcome, or the diagnostics of a refusal.

/** What happens to a valid line. */
type LineOutcome = 'written' | 'unchanged' | 'stale';

/** The judgement of one line: its outcome, or why it is refused. */
type JudgedLine = LineOutcome | readonly Diagnostic[];

/** An invoice without the id that the store gives it. */
type NewInvoice = Omit<InvoiceRow, 'id'>;

/** Judges a wallet. One of the same `at` may have another id: the wallet is the account's. */
function judgeWallet(before: WalletRow | undefined, row: WalletRow): JudgedLine {
  return judge(before, row, ['balance', 'currency']);
}

/** Fields of an invoice that two lines of one time must share. */
const INVOICE_FIELDS = [
  'number',
  'domain',
  'status',
  'currency',
  'total',
  'period_start',
  'period_end',
  'issued_at',
  'due_at',
  'paid_at',
  'lines_json',
] as const satisfies readonly (keyof NewInvoice)[];

/** Judges an invoice by the one with its id, of the same account. */
function judgeInvoice(before: NewInvoice | undefined, row: NewInvoice): JudgedLine {
  return judge(before, row, INVOICE_FIELDS);
}

/** Compares a row with the stored one. */
function judge<Row extends { readonly at: number }>(
  before: Row | undefined,
  row: Row,
  fields: readonly (keyof Row & string)[],
): JudgedLine {
  if (before === undefined || row.at > before.at) return 'written';
  if (row.at < before.at) return 'stale';
  const differing = fields.filter((field) => row[field] !== before[field]);
  return differing.length === 0 ? 'unchanged' : conflictingLine(row.at, differing);
}

/** The refusal of a line of the same time that differs in these columns. */
function conflictingLine(at: number, columns: readonly string[]): readonly Diagnostic[] {
  const fields = columns.map((column) => `\`${column === 'lines_json' ? 'lines' : column}\``).join(', ');
  return refused({
    code: 'conflicting_line',
    path: ['at'],
    message: `is the time of a line with another ${fields}, so neither is the newer one`,
    found: quoteValue(timeText(at)),
    remedy: 'send it with a later `at`',
  }).diagnostics;
}

/** The refusal of a line about an account that does not exist. */
function unknownAccount(name: string): readonly Diagnostic[] {
  return refused({
    code: 'unknown_account',
    path: ['account'],
    message: 'must be the name of an account',
    found: quoteValue(name),
  }).diagnostics;
}

/** The refusal of an invoice whose id is that of another account's. */
function foreignInvoice(id: string): readonly Diagnostic[] {
  return refused({
    code: 'foreign_invoice',
    path: ['id'],
    message: 'is the id of an invoice of another account',
    found: quoteValue(id),
  }).diagnostics;
}

/** The refusal of a line that is ahead of the clock. `at` in milliseconds since the epoch. */
function futureLine(at: number): readonly Diagnostic[] {
  return refused({
    code: 'future_line',
    path: ['at'],
    message: 'is more than a day ahead of the clock of this machine',
    found: quoteValue(timeText(at)),
  }).diagnostics;
}
