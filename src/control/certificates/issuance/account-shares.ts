/**
 * How much of the allowance of orders is left to others: an account that has ordered much lately gets nothing of the last
 * half. So a customer with many names, or one who requests again and again, delays nobody else. Counted in each process.
 */
import type { OrderAllowance } from '../../store/issuance-repositories.ts';
import { MAX_COUNTED_ACCOUNTS, USUAL_SHARE } from './limits.ts';

/** The orders of accounts. */
export interface AccountShares {
  /** Orders of the allowance that an account leaves to others. */
  reservedFor(account: number): number;
  /** Counts an order. */
  ordered(account: number): void;
}

export function createAccountShares({ everyMs, burst }: OrderAllowance, clock: () => number): AccountShares {
  /** As the allowance itself: when the orders of an account would be made good, one in each `everyMs`. */
  const spentUntil = new Map<number, number>();
  return {
    reservedFor(account) {
      const orders = ((spentUntil.get(account) ?? 0) - clock()) / everyMs;
      return orders > burst * USUAL_SHARE ? Math.floor(burst / 2) : 0;
    },
    ordered(account) {
      const now = clock();
      const before = Math.min(spentUntil.get(account) ?? 0, now + burst * everyMs);
      // Moved to the end: those that ordered longest ago are forgotten first.
      spentUntil.delete(account);
      spentUntil.set(account, Math.max(before, now) + everyMs);
      const [oldest] = spentUntil.keys();
      if (spentUntil.size > MAX_COUNTED_ACCOUNTS && oldest !== undefined) spentUntil.delete(oldest);
    },
  };
}
