/** Lists of an account: each with its items beside its name and kind, as `GET …/rules/lists/:id` and its `items` answer them. */
import { MAX_LIST_ENTRIES } from '../../../base/vocabulary/limits.ts';
import { type AddressSet, readAddresses, uniteAddresses } from '../addresses.ts';
import type { ImportedCondition } from '../filter.ts';
import {
  numberAt,
  objectAt,
  objectsAt,
  type SourceFields,
  type SourceObject,
  textAt,
} from '../json-source.ts';
import { equalsText, wildcardText } from '../text-test.ts';

/** Items by the name of the list. */
export type AccountLists = ReadonlyMap<string, readonly SourceFields[]>;

/** Kinds of lists. */
const KINDS = ['ip', 'hostname', 'asn', 'redirect'];

/** Whether an object is a list with its items. */
export function isAccountList(value: SourceFields): boolean {
  return (
    Array.isArray(value['items']) && textAt(value, 'name') !== '' && KINDS.includes(textAt(value, 'kind'))
  );
}

/** The lists of the files. */
export function accountLists(objects: readonly SourceObject[]): AccountLists {
  const lists = objects.filter(({ value }) => isAccountList(value));
  return new Map(lists.map(({ value }) => [textAt(value, 'name'), objectsAt(value, 'items')]));
}

/** The condition that a value is in a list, as `$name` writes it; a text is the reason why it has none. */
export function inAccountList(
  lists: AccountLists,
  { name, field }: { readonly name: string; readonly field: 'ip' | 'hostname' | 'asn' },
): ImportedCondition | string {
  const items = lists.get(name);
  if (items === undefined) return 'names a list of the account, whose entries are not in the file';
  const unread = 'names a list with an entry of another kind';
  if (field === 'ip') {
    const sets = items.map((item) => readAddresses(textAt(item, 'ip')));
    const known = sets.filter((set): set is AddressSet => set !== null);
    return known.length < sets.length ? unread : { kind: 'ip', addresses: uniteAddresses(known) };
  }
  if (field === 'asn') {
    const numbers = items.map((item) => numberAt(item, 'asn'));
    return numbers.some((number) => number === null) ? unread : asnCondition(numbers as readonly number[]);
  }
  const hosts = items.map((item) => textAt(objectAt(item, 'hostname'), 'url_hostname').toLowerCase());
  if (hosts.includes('')) return unread;
  const tests = hosts.map((host) => (host.includes('*') ? wildcardText(host) : equalsText(host)));
  return { kind: 'host', tests };
}

/** The condition that the network of the visitor is one of these. */
export function asnCondition(numbers: readonly number[]): ImportedCondition {
  const of: ImportedCondition[] = [];
  for (let at = 0; at < numbers.length; at += MAX_LIST_ENTRIES) {
    const values = numbers.slice(at, at + MAX_LIST_ENTRIES).map(String);
    of.push({ kind: 'fact', fact: { member: 'asns', values, negated: false } });
  }
  return of.length === 1 ? of[0]! : { kind: 'any', of };
}
