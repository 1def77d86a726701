/** Named lists of addresses in a store, as the API's writes leave them: rows, uses and work for the publisher. */
import { packEntries } from '../../src/control/store/repositories/list-entries.ts';
import type { ListOwner } from '../../src/control/store/repositories/lists.ts';
import type { Store } from '../../src/control/store/store.ts';
import { SERVICE } from '../../src/control/store/tables/accounts.ts';
import type { DomainRow } from '../../src/control/store/tables/domains.ts';
import type { ListRow } from '../../src/control/store/tables/lists.ts';
import type { RuleRow } from '../../src/control/store/tables/rules.ts';

/** What has a store. */
interface Stored {
  readonly store: Store;
}

/** A list with these addresses; nothing names it yet. */
export async function addList(
  { store }: Stored,
  owner: ListOwner,
  { name, values }: { readonly name: string; readonly values: readonly string[] },
): Promise<ListRow> {
  const created_at = Date.now();
  return store.write(async (tx) => {
    const list = await tx.lists.insert({ ...owner, name, kind: 'ip', created_at });
    return (await tx.lists.replaceEntries(list.id, packed(values), created_at))!;
  });
}

const packed = (values: readonly string[]) =>
  packEntries(
    'ip',
    values.map((value) => ({ value })),
  );

/** Replaces the addresses, with a row for each domain that the change reaches. Returns how many. */
export async function changeList(
  { store }: Stored,
  list: ListRow,
  values: readonly string[],
): Promise<number> {
  const at = Date.now();
  return store.write(async (tx) => {
    const reached = await tx.lists.reached(list);
    await tx.lists.replaceEntries(list.id, packed(values), at);
    await tx.outbox.appendLists(reached, { ...SERVICE, at, reason: `list \`${list.name}\` replaced` });
    return reached.length;
  });
}

/** Adds a rule that drops the addresses of a list, everywhere or below a path. */
export async function addListDrop(
  { store }: Stored,
  domain: DomainRow,
  { list, path = '/*' }: { readonly list: string; readonly path?: string },
): Promise<RuleRow> {
  const at = Date.now();
  return store.write(async (tx) => {
    const rule = await tx.rules.insert({
      domain_id: domain.id,
      type: 'drop',
      priority: 100,
      body: JSON.stringify({ path_includes: [path], ips: [`@${list}`] }),
      record_ids: [],
      lists: [{ name: list, kind: 'ip' }],
      created_at: at,
      updated_at: at,
    });
    const row = { ...SERVICE, domain_id: domain.id, domain: domain.name, at, reason: `rule for @${list}` };
    await tx.outbox.append(row);
    return rule;
  });
}
