/** What lists of `allow` and `deny` refuse, around a location and for its other methods (`limit_except`), as drop rules. */
import {
  type AddressSet,
  ALL_ADDRESSES,
  isEmptySet,
  NO_ADDRESSES,
  readAddresses,
  subtractAddresses,
  uniteAddresses,
} from '../addresses.ts';
import { addDrop, addGuard, type DraftEntry, markClosed, markDifference, markNeedless } from '../draft.ts';
import { addressFilter, bothFilters, EVERY_REQUEST, type ImportedFilter } from '../filter.ts';
import { differ, type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import { guardsOf, isSatisfiedByAny, passwordsOf } from './guards.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { noteEarlier } from './redirects.ts';

/** Requests to which the same directives apply. */
export interface AccessScope {
  readonly filter: ImportedFilter;
  readonly earlier: readonly EarlierOutcome[];
  readonly differences: readonly string[];
}

/** Why a list under `satisfy any` refuses more than it denies. */
const NEEDS_PASSWORD =
  'everybody but its allowed addresses needs a password or the like, which no rule asks for';

/**
 * Adds the drop rule of a list of `allow` and `deny`, whose first match decides, for each scope. `passwords`: what lets others in as
 * well (`satisfy any`), so that all who are not allowed are refused.
 */
export function emitAccess(
  state: NginxImport,
  {
    list,
    passwords,
  }: { readonly list: readonly NginxDirective[]; readonly passwords: readonly NginxDirective[] },
  scopes: readonly AccessScope[],
): void {
  const entries = list.map((one) => entryOf(state, one));
  const refused = refusedAddresses(list, passwords.length > 0);
  if (typeof refused === 'string') {
    // The guard of its location refuses what the list may deny.
    for (const entry of entries) markClosed(entry, refused);
    return;
  }
  for (const password of passwords) {
    if (isEmptySet(refused)) markNeedless(entryOf(state, password), 'every address is allowed');
    else markClosed(entryOf(state, password), NEEDS_PASSWORD);
  }
  if (isEmptySet(refused)) {
    for (const entry of entries) markNeedless(entry, 'no address is denied');
    return;
  }
  const [first, ...others] = entries;
  if (passwords.length > 0) markClosed(first!, NEEDS_PASSWORD);
  for (const { filter, earlier, differences } of scopes) {
    const narrowed = bothFilters(filter, { ...EVERY_REQUEST, ...addressFilter(refused) });
    if (narrowed === null) continue;
    if (!addDrop(state.draft, first!, typeof narrowed === 'string' ? filter : narrowed)) continue;
    differ(first!, differences);
    noteEarlier(first!, filter, earlier);
  }
  for (const other of others) followEntry(other, first!);
}

/** An entry whose directive is a part of another. */
function followEntry(entry: DraftEntry, main: DraftEntry): void {
  entry.outcome = main.outcome;
  entry.reasons.push(...main.reasons.filter((reason) => !entry.reasons.includes(reason)));
  entry.becomes.push(...main.becomes);
}

/** The addresses that a list refuses: those that it denies, or all that it does not allow. A text: why it cannot be read. */
function refusedAddresses(list: readonly NginxDirective[], unlessAllowed: boolean): AddressSet | string {
  let decided = NO_ADDRESSES;
  let allowed = NO_ADDRESSES;
  let denied = NO_ADDRESSES;
  for (const { name, args } of list) {
    const [text = ''] = args;
    if (text === 'unix:') continue;
    const set = text === 'all' ? ALL_ADDRESSES : readAddresses(text);
    if (set === null) return `\`${text}\` is no address`;
    const own = subtractAddresses(set, decided);
    if (name === 'deny') denied = uniteAddresses([denied, own]);
    else allowed = uniteAddresses([allowed, own]);
    decided = uniteAddresses([decided, set]);
  }
  return unlessAllowed ? subtractAddresses(ALL_ADDRESSES, allowed) : denied;
}

/** Directives that nginx runs for the methods of `limit_except` alone. */
const REWRITING = ['return', 'rewrite', 'if'];

/** One location with a `limit_except`. */
export interface ExceptScope extends AccessScope {
  /** The block of the location, and those around it. */
  readonly blocks: readonly (readonly NginxDirective[])[];
}

/** Refuses what a `limit_except` refuses of the methods that it does not list. */
export function emitExcept(
  state: NginxImport,
  directive: NginxDirective,
  scopes: readonly ExceptScope[],
): void {
  const entry = entryOf(state, directive);
  const inner = directive.block ?? [];
  const list = inner.filter(({ name }) => name === 'allow' || name === 'deny');
  // HEAD is let in with GET.
  const values = directive.args.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method]));
  const others: ImportedFilter = { ...EVERY_REQUEST, facts: [{ member: 'methods', values, negated: true }] };
  for (const { filter, earlier, differences, blocks } of scopes) {
    const isAny = isSatisfiedByAny(blocks);
    const passwords = isAny ? passwordsOf([inner, ...blocks]) : [];
    const refused = refusedAddresses(list, passwords.length > 0);
    const [guard] = passwords.length > 0 && list.length > 0 ? [] : guardsOf([inner, []]);
    const reason = guard?.reason ?? (typeof refused === 'string' ? refused : null);
    const narrowed = bothFilters(filter, others);
    const own = narrowed === null || typeof narrowed === 'string' ? filter : narrowed;
    if (reason !== null || typeof refused === 'string') {
      addGuard(state.draft, entry, { reason: String(reason), filters: [own] });
      continue;
    }
    if (list.length > 0) stateOuter(entry, blocks);
    if (isEmptySet(refused) || list.length === 0) continue;
    const denied = bothFilters(own, { ...EVERY_REQUEST, ...addressFilter(refused) });
    if (denied === null || !addDrop(state.draft, entry, typeof denied === 'string' ? own : denied)) continue;
    if (passwords.length > 0) markClosed(entry, NEEDS_PASSWORD);
    differ(entry, differences);
    noteEarlier(entry, own, earlier);
  }
  if (entry.becomes.length === 0) markNeedless(entry, 'it refuses no method');
  for (const part of [...list, ...passwordsOf([inner, []])]) followEntry(entryOf(state, part), entry);
}

/** States what nginx does not apply to the methods of a `limit_except`, and the edge does. */
function stateOuter(entry: DraftEntry, blocks: readonly (readonly NginxDirective[])[]): void {
  if (blocks.some((block) => block.some(({ name }) => name === 'deny')))
    markDifference(entry, 'the list around it refuses other methods too; nginx replaces it');
  if (blocks[0]!.some(({ name }) => REWRITING.includes(name)))
    markDifference(
      entry,
      'nginx runs `return`, `rewrite` and `if` of its location for the listed methods alone',
    );
}
