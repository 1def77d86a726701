/**
 * Which lists the plans of a node name, so that the file of a list is removed with the last plan that names it. Plain data and its
 * transitions; plans and lists by digest.
 */

/** The uses of lists. */
export interface ListUses {
  /** Whether a plan names the list. */
  has(list: string): boolean;
  /** The lists of a plan; empty: it names none, or is unknown. */
  of(plan: string): readonly string[];
  /** Records the lists of a plan. */
  add(plan: string, lists: readonly string[]): void;
  /** Ends the uses of a plan. @returns the lists that no other plan names */
  remove(plan: string): readonly string[];
}

export function createListUses(): ListUses {
  /** Plans without lists are in none of the two. */
  const byPlan = new Map<string, readonly string[]>();
  const plans = new Map<string, Set<string>>();
  return {
    has: (list) => plans.has(list),
    of: (plan) => byPlan.get(plan) ?? [],
    add(plan, lists) {
      if (lists.length === 0 || byPlan.has(plan)) return;
      byPlan.set(plan, lists);
      for (const list of lists) {
        const users = plans.get(list);
        if (users === undefined) plans.set(list, new Set([plan]));
        else users.add(plan);
      }
    },
    remove(plan) {
      const lists = byPlan.get(plan) ?? [];
      byPlan.delete(plan);
      return lists.filter((list) => {
        const users = plans.get(list)!;
        users.delete(plan);
        return users.size === 0 && plans.delete(list);
      });
    },
  };
}
