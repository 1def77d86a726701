/** Lines of the operator's billing for tests, and their import. */
import { type BillingCounts, type BillingLine, importBilling } from '../../src/control/billing/import.ts';
import type { Store } from '../../src/control/store/store.ts';

/** The time of the first line, in milliseconds since the epoch. */
export const BILLED = Date.UTC(2026, 0, 1);

/** A time some milliseconds after BILLED as lines write it. */
export function billedAt(after: number): string {
  return new Date(BILLED + after).toISOString();
}

/** A wallet's line. */
export function walletLine(account: string, balance: number, change: object = {}): object {
  return {
    kind: 'wallet',
    id: `wallet of ${account}`,
    account,
    balance,
    currency: 'EUR',
    at: billedAt(0),
    ...change,
  };
}

/** An invoice's line. */
export function invoiceLine(account: string, id: string, change: object = {}): object {
  return {
    kind: 'invoice',
    id,
    account,
    number: '2026-1',
    status: 'open',
    currency: 'EUR',
    total: 100,
    issued_at: billedAt(0),
    at: billedAt(0),
    ...change,
  };
}

/** Lines as a file. */
export function billingFile(lines: readonly object[]): string {
  return lines.map((line) => `${JSON.stringify(line)}\n`).join('');
}

/** What an import has done, and its refusals as `<line> <code> <path>`. */
export interface Imported extends BillingCounts {
  readonly refusals: readonly string[];
}

/** Imports lines. */
export async function importLines(
  store: Store,
  lines: readonly object[],
  { dryRun = false, clock = Date.now }: { readonly dryRun?: boolean; readonly clock?: () => number } = {},
): Promise<Imported> {
  const refusals: string[] = [];
  async function* parts(): AsyncGenerator<readonly BillingLine[]> {
    yield lines.map((line, at) => ({ line: at + 1, bytes: Buffer.from(JSON.stringify(line)) }));
  }
  const counts = await importBilling({
    ...{ store, dryRun, clock },
    lines: parts(),
    refuse: (line, diagnostics) => {
      for (const { code, path } of diagnostics) refusals.push(`${line} ${code} ${path.join('.')}`);
    },
  });
  return { ...counts, refusals };
}
