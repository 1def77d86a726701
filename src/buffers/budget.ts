/** A memory budget shared by several users of a process. */

/** A bounded number of octets. */
export interface Budget {
  /** `false`: there is no room. */
  take(octets: number): boolean;
  give(octets: number): void;
}

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
