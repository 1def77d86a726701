/** Guards of a pull zone of bunny.net: rules that refuse, block lists, and token authentication, which the edge does not verify. */
import { readAddresses, uniteAddresses } from '../addresses.ts';
import {
  addEntry,
  addRule,
  type DraftEntry,
  type ImportDraft,
  markDifference,
  markMissing,
  tryDrop,
} from '../draft.ts';
import type { ImportedFact } from '../facts.ts';
import {
  areDisjoint,
  dropFields,
  EVERY_REQUEST,
  filtersOf,
  type ImportedCondition,
  type ImportedFilter,
} from '../filter.ts';
import { addGuard, type GuardRules } from '../guard.ts';
import { objectsAt, type SourceFields, textsAt } from '../json-source.ts';
import { equalsText } from '../text-test.ts';
import { nameAt, readTriggers } from './read-triggers.ts';

/** The state of one import. */
export interface BunnyImport {
  readonly draft: ImportDraft;
  readonly hosts: readonly string[];
  /** The Host header of the visitor reaches origins. */
  readonly forwardsHost: boolean;
  readonly redirects: { readonly filter: ImportedFilter; readonly place: string }[];
}

/** Actions by their number in the API. */
export const ACTIONS: readonly string[] = [
  'ForceSSL',
  'Redirect',
  'OriginUrl',
  'OverrideCacheTime',
  'BlockRequest',
  'SetResponseHeader',
  'SetRequestHeader',
  'ForceDownload',
  'DisableTokenAuthentication',
  'EnableTokenAuthentication',
  'OverrideCacheTimePublic',
  'IgnoreQueryString',
  'DisableOptimizer',
  'ForceCompression',
  'SetStatusCode',
  'BypassPermaCache',
  'OverrideBrowserCacheTime',
];

/** The condition of a request without a valid token. */
const WITHOUT_TOKEN: ImportedCondition = {
  kind: 'not',
  of: {
    kind: 'unknown',
    text: 'a valid token',
    reason: 'has no equivalent: no rule verifies tokens of bunny.net',
  },
};

/** Adds the rules that refuse what meets a condition. */
export function addRefusal(
  state: BunnyImport,
  entry: DraftEntry,
  conditional: Pick<GuardRules, 'condition' | 'differences' | 'unmet'>,
): void {
  const close = (filter: ImportedFilter): string | null => emitBlock(state, entry, filter);
  addGuard(state.draft, entry, { ...conditional, closing: 'refused', emit: close, close });
}

/** Adds the rules in place of token authentication for what meets a condition. */
export function addTokenGuard(
  state: BunnyImport,
  entry: DraftEntry,
  conditional: Pick<GuardRules, 'condition' | 'differences' | 'unmet'>,
): void {
  const { condition } = conditional;
  addRefusal(state, entry, { ...conditional, condition: { kind: 'all', of: [condition, WITHOUT_TOKEN] } });
}

function emitBlock(
  { draft, redirects }: BunnyImport,
  entry: DraftEntry,
  filter: ImportedFilter,
): string | null {
  const refused = tryDrop(draft, entry, filter);
  if (refused !== null) return refused;
  const earlier = redirects.find((one) => !areDisjoint(filter, one.filter));
  if (earlier !== undefined)
    markDifference(
      entry,
      `requests that ${earlier.place} redirects are refused; bunny.net redirects them first`,
    );
  return null;
}

/** The settings that guard the root path and POST requests, or with a token all paths but those of rules that switch it off. */
export function guardZone(state: BunnyImport, zone: SourceFields, rules: readonly SourceFields[]): void {
  if (zone['BlockRootPathAccess'] === true) {
    const filter = { ...EVERY_REQUEST, pathIncludes: [equalsText('/')] };
    addRule(
      state.draft,
      addEntry(state.draft, 'BlockRootPathAccess', 'true'),
      'drop',
      dropFields(filter) as object,
    );
  }
  if (zone['BlockPostRequests'] === true) {
    const facts: readonly ImportedFact[] = [{ member: 'methods', values: ['POST'], negated: false }];
    const entry = addEntry(state.draft, 'BlockPostRequests', 'true');
    addRule(state.draft, entry, 'drop', dropFields({ ...EVERY_REQUEST, facts }));
  }
  if (zone['ZoneSecurityEnabled'] !== true) return;
  const open = rules.flatMap((rule) => {
    const actions = [rule, ...objectsAt(rule, 'ExtraActions')].map((one) =>
      nameAt(one, 'ActionType', ACTIONS),
    );
    const isOpen = rule['Enabled'] !== false && actions.includes('DisableTokenAuthentication');
    return isOpen
      ? [{ kind: 'not' as const, of: readTriggers(rule, { hosts: state.hosts, exempts: true }).condition }]
      : [];
  });
  const readable = open.filter((condition) => filtersOf(condition).ok);
  const entry = addEntry(state.draft, 'ZoneSecurityEnabled', 'token authentication');
  addTokenGuard(state, entry, {
    condition: { kind: 'all', of: readable },
    differences: [],
    unmet: 'rules switch it off for every request',
  });
}

/** The countries and addresses that the pull zone blocks. */
export function blockLists({ draft }: BunnyImport, zone: SourceFields): void {
  const countries = textsAt(zone, 'BlockedCountries');
  if (countries.length > 0) {
    addRule(draft, addEntry(draft, 'BlockedCountries', countries.join(' ')), 'drop', { countries });
  }
  const ips = textsAt(zone, 'BlockedIps');
  if (ips.length === 0) return;
  const entry = addEntry(draft, 'BlockedIps', ips.join(' '));
  const sets = ips.map(readAddresses);
  const known = sets.filter((set) => set !== null);
  if (known.length > 0) {
    const filter = { ...EVERY_REQUEST, ipIncludes: uniteAddresses(known) };
    addRule(draft, entry, 'drop', dropFields(filter) as object);
  }
  const unread = ips.filter((_, index) => sets[index] === null);
  if (unread.length > 0) markMissing(entry, `\`${unread.join(' ')}\` is no address`);
}
