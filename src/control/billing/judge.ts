/**
 * Judges a valid line by what is stored: of two lines about one wallet or invoice the one with the later `at` decides, and of
 * two with the same `at` neither may differ. In: rows. Out: an outcome, or the diagnostics of a refusal.
 */
import { type Diagnostic, quoteValue } from '../../base/diagnostics/diagnostic.ts';
import { timeText } from '../../base/text/time-text.ts';
import type { InvoiceRow, WalletRow } from '../store/billing-rows.ts';
import { refused } from './lines.ts';

/** What happens to a valid line. */
export type LineOutcome = 'written' | 'unchanged' | 'stale';

/** The judgement of one line: its outcome, or why it is refused. */
export type JudgedLine = LineOutcome | readonly Diagnostic[];

/** An invoice without the id that the store gives it. */
export type NewInvoice = Omit<InvoiceRow, 'id'>;

/** Judges a wallet. One of the same `at` may have another id: the wallet is the account's. */
export function judgeWallet(before: WalletRow | undefined, row: WalletRow): JudgedLine {
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
export function judgeInvoice(before: NewInvoice | undefined, row: NewInvoice): JudgedLine {
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
export function unknownAccount(name: string): readonly Diagnostic[] {
  return refused({
    code: 'unknown_account',
    path: ['account'],
    message: 'must be the name of an account',
    found: quoteValue(name),
  }).diagnostics;
}

/** The refusal of an invoice whose id is that of another account's. */
export function foreignInvoice(id: string): readonly Diagnostic[] {
  return refused({
    code: 'foreign_invoice',
    path: ['id'],
    message: 'is the id of an invoice of another account',
    found: quoteValue(id),
  }).diagnostics;
}

/** The refusal of a line that is ahead of the clock. `at` in milliseconds since the epoch. */
export function futureLine(at: number): readonly Diagnostic[] {
  return refused({
    code: 'future_line',
    path: ['at'],
    message: 'is more than a day ahead of the clock of this machine',
    found: quoteValue(timeText(at)),
  }).diagnostics;
}
