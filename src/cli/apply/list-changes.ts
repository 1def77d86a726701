/** Plans the changes of lists: by name, before the rules that name them are written, and deletions after these are gone. */
import { same } from '../../rules/files/print-edge.ts';
import type { EntryList } from '../../rules/model/types.ts';
import { quantity } from '../../workbench/simulation/render-text.ts';
import type { RemoteDomain, RemoteList } from '../remote/remote-domain.ts';
import type { ChangeSummary } from './change.ts';
import type { DesiredState } from './desired-state.ts';

/** The change of a list. */
export type ListChange =
  | (ChangeSummary & { readonly noun: 'list'; readonly verb: 'create'; readonly after: EntryList })
  | (ChangeSummary & {
      readonly noun: 'list';
      readonly verb: 'update';
      readonly before: RemoteList;
      readonly after: EntryList;
    })
  | (ChangeSummary & { readonly noun: 'list'; readonly verb: 'delete'; readonly before: RemoteList });

/** Creations of lists, and updates of those whose entries differ. */
export function changesOfLists({ lists }: DesiredState, remote: RemoteDomain): readonly ListChange[] {
  return lists.flatMap((after): ListChange[] => {
    const before = remote.lists.find(({ name }) => name === after.name);
    if (before === undefined) {
      const fields = [
        { name: 'kind', after: after.kind },
        { name: 'entries', after: quantityOf(after.entries) },
      ];
      return [{ noun: 'list', verb: 'create', title: listTitle(after), fields, after }];
    }
    if (before.kind !== after.kind || before.isFed || same(before.entries, after.entries)) return [];
    const fields = [
      { name: 'entries', before: quantityOf(before.entries), after: differenceText(before, after) },
    ];
    return [{ noun: 'list', verb: 'update', title: listTitle(after), fields, before, after }];
  });
}

/** What `apply` leaves of lists as it is, as sentences. */
export function listConflicts({ lists }: DesiredState, remote: RemoteDomain): readonly string[] {
  return lists.flatMap((list) => {
    const before = remote.lists.find(({ name }) => name === list.name);
    if (before === undefined) return [];
    if (before.kind !== list.kind) {
      const kinds = `of kind ${before.kind} on the server and ${list.kind} in the file`;
      return [`list ${list.name} is ${kinds}; give it another name in the file`];
    }
    return before.isFed
      ? [`list ${list.name} has its entries from a feed; those of the file are not applied`]
      : [];
  });
}

function quantityOf({ length }: readonly unknown[]): string {
  return quantity(length, 'entry', 'entries');
}

/** `4 entries (+2 −1)`. */
function differenceText(before: EntryList, after: EntryList): string {
  const texts = (list: EntryList): Set<string> => new Set(list.entries.map((entry) => JSON.stringify(entry)));
  const [had, has] = [texts(before), texts(after)];
  const added = [...has].filter((text) => !had.has(text)).length;
  const gone = [...had].filter((text) => !has.has(text)).length;
  return `${quantityOf(after.entries)} (+${added} −${gone})`;
}

/** The deletion of a list. */
export function deleteList(before: RemoteList): ListChange {
  const fields = [
    { name: 'kind', before: before.kind },
    { name: 'entries', before: quantityOf(before.entries) },
  ];
  return { noun: 'list', verb: 'delete', title: listTitle(before), fields, before };
}

/** `list @office`. */
export function listTitle({ name }: Pick<EntryList, 'name'>): string {
  return `list @${name}`;
}
