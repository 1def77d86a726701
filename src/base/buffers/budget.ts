/** A memory budget that several users of a process share: counts octets, and allocates nothing itself. */

/** A bounded number of octets. */
export interface Budget {
  /** Reserves octets. @returns `false`: fewer are left */
  take(octets: number): boolean;
  /** Returns reserved octets. */
  give(octets: number): void;
}

/** @param octets the octets that may be reserved at a time */
export function createBudget(octets: number): Budget {
  let left = octets;
  return {
    take: (wanted) => {
      if (wanted > left) return false;
      left -= wanted;
      return true;
    },
    give: (back) => {
      left += back;
    },
  };
}
