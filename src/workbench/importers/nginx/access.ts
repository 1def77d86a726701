/** Translates `allow`, `deny` and `limit_req` to drop and rate_limit rules. */
import {
  type AddressSet,
  ALL_ADDRESSES,
  isEmptySet,
  NO_ADDRESSES,
  readAddresses,
  subtractAddresses,
  uniteAddresses,
} from '../addresses.ts';
import { addDrop, addRule, markClosed, markDifference, markMissing, markNeedless } from '../draft.ts';
import { addressFilter, bothFilters, EVERY_REQUEST, type ImportedFilter, placeFields } from '../filter.ts';
import { differ, type EarlierOutcome, entryOf, type NginxImport } from './context.ts';
import type { NginxDirective } from './parse-nginx.ts';
import { noteEarlier } from './redirects.ts';

/** Requests to which the same directives apply. */
export interface AccessScope {
  readonly filter: ImportedFilter;
  readonly earlier: readonly EarlierOutcome[];
  readonly differences: readonly string[];
}

/** Adds the drop rule of a list of `allow` and `deny`, whose first match decides, for each scope. */
export function emitAccess(
  state: NginxImport,
  list: readonly NginxDirective[],
  scopes: readonly AccessScope[],
): void {
  const entries = list.map((one) => entryOf(state, one));
  const refused = refusedAddresses(list);
  if (typeof refused === 'string') {
    // The guard of its location refuses what the list may deny.
    for (const entry of entries) markClosed(entry, refused);
    return;
  }
  if (isEmptySet(refused)) {
    for (const entry of entries) markNeedless(entry, 'no address is denied');
    return;
  }
  const [first, ...others] = entries;
  for (const { filter, earlier, differences } of scopes) {
    const narrowed = bothFilters(filter, { ...EVERY_REQUEST, ...addressFilter(refused) });
    if (narrowed === null) continue;
    if (!addDrop(state.draft, first!, typeof narrowed === 'string' ? filter : narrowed)) continue;
    differ(first!, differences);
    noteEarlier(first!, filter, earlier);
  }
  for (const other of others) {
    other.outcome = first!.outcome;
    other.reasons.push(...first!.reasons.filter((reason) => !other.reasons.includes(reason)));
    other.becomes.push(...first!.becomes);
  }
}

/** The addresses that a list denies; a text is the reason why it cannot be read. */
function refusedAddresses(list: readonly NginxDirective[]): AddressSet | string {
  let decided = NO_ADDRESSES;
  let refused = NO_ADDRESSES;
  for (const { name, args } of list) {
    const [text = ''] = args;
    if (text === 'unix:') continue;
    const set = text === 'all' ? ALL_ADDRESSES : readAddresses(text);
    if (set === null) return `\`${text}\` is no address`;
    if (name === 'deny') refused = uniteAddresses([refused, subtractAddresses(set, decided)]);
    decided = uniteAddresses([decided, set]);
  }
  return refused;
}

/** Adds the rate_limit rule of one `limit_req` for each scope. */
export function emitLimit(
  state: NginxImport,
  directive: NginxDirective,
  scopes: readonly AccessScope[],
  status: number,
): void {
  const entry = entryOf(state, directive);
  const option = (name: string): string | undefined =>
    directive.args.find((one) => one.startsWith(`${name}=`))?.slice(name.length + 1);
  const zone = state.zones.get(option('zone') ?? '');
  if (zone === undefined) {
    markMissing(entry, `no \`limit_req_zone\` has the name \`${option('zone') ?? ''}\``);
    return;
  }
  const zoneEntry = entryOf(state, zone);
  const key = zone.args[0] ?? '';
  const rate = zone.args.find((one) => one.startsWith('rate=')) ?? '';
  if (!['$binary_remote_addr', '$remote_addr'].includes(key)) {
    markMissing(zoneEntry, `requests are counted by address only, not by \`${key}\``);
    markMissing(entry, `its zone counts by \`${key}\`, and rules count by address only`);
    return;
  }
  const [, amount = '', unit = ''] = /^rate=(\d+)r\/([sm])$/.exec(rate) ?? [];
  const burst = Number(option('burst') ?? 0);
  const window_sec = unit === 'm' ? 60 : 1;
  const isDelayed = burst > 0 && !directive.args.includes('nodelay');
  for (const { filter } of scopes) {
    const fields = { ...placeFields(filter), limit: Number(amount), window_sec, burst };
    if (!addRule(state.draft, entry, 'rate_limit', fields)) return;
  }
  const per = unit === 'm' ? 'minute' : 'second';
  markDifference(
    entry,
    `nginx lets ${burst + 1} requests through at once and then one each 1/${amount} ${per} (leaky bucket); the rule lets ${Number(amount) + burst} through in any ${window_sec} s (sliding window)`,
  );
  if (isDelayed)
    markDifference(entry, 'nginx delays requests of the burst; the edge lets them through at once');
  if (status !== 429) markDifference(entry, `the edge answers 429; nginx answers ${status}`);
  if (scopes.length > 1)
    markDifference(entry, 'nginx counts all its locations together; each rule counts on its own');
  if (scopes.some(({ earlier }) => earlier.length > 0))
    markDifference(entry, 'requests that are redirected count too');
}
