/** The bounds of lists whose entries have changed. */
import {
  MAX_NAMED_ENTRIES,
  MAX_PLAN_LIST_OCTETS,
  MAX_SCANNED_ENTRIES,
  MAX_SEALED_LIST,
} from '../../base/vocabulary/limits.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { ListRow } from '../store/tables/lists.ts';

/** Octets of all lists of a domain, and of an account: a plan names lists of both. */
const MAX_OWNED_OCTETS = MAX_PLAN_LIST_OCTETS / 2;

/** Which bound a list exceeds, as a sentence; `null`: none. One that shrinks is within them or nearer to them. */
export async function judgeSize(
  tx: Pick<ReadTransaction, 'lists'>,
  list: ListRow,
  before: ListRow,
): Promise<string | null> {
  if (list.entries > MAX_NAMED_ENTRIES && list.entries > before.entries)
    return `entries: must be at most ${MAX_NAMED_ENTRIES} in a list, and with these there were ${list.entries}`;
  if (list.scanned > MAX_SCANNED_ENTRIES && list.scanned > before.scanned) {
    const most = `entries: at most ${MAX_SCANNED_ENTRIES} may have a star elsewhere than at one end`;
    return `${most}, and with these there were ${list.scanned}; write whole values, starts or ends`;
  }
  if (list.octets <= before.octets) return null;
  if (list.octets > MAX_SEALED_LIST) return tooLarge('a list', MAX_SEALED_LIST, list.octets);
  const all = (await tx.lists.list(list)).reduce((sum, { octets }) => sum + octets, 0);
  return all > MAX_OWNED_OCTETS
    ? tooLarge('all lists of a domain, and of an account,', MAX_OWNED_OCTETS, all)
    : null;
}

function tooLarge(what: string, most: number, found: number): string {
  return `entries: ${what} must have at most ${most} octets when compiled, and with these there were ${found}`;
}
