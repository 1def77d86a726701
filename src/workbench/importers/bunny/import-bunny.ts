/**
 * Translates a pull zone of bunny.net, or its list of edge rules, to an edge file. bunny.net runs the rules in their order and every
 * one that matches; where the fixed order of types changes the outcome of a request, the report says so.
 */
import {
  addEntry,
  addRule,
  createDraft,
  type DraftEntry,
  type DraftOrigin,
  markDifference,
  markMissing,
  markNeedless,
} from '../draft.ts';
import { bothFilters, EVERY_REQUEST, type ImportedFilter, ruleFields } from '../filter.ts';
import { finishDraft } from '../finish-draft.ts';
import { addAlternatives } from '../guard.ts';
import { headerFields, literalValue } from '../header-changes.ts';
import type { Importer } from '../importer.ts';
import { numberAt, objectsAt, readObjects, type SourceFields, textAt } from '../json-source.ts';
import {
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
  type SourceFile,
  shownSource,
} from '../report.ts';
import { equalsText } from '../text-test.ts';
import { VALUES_NOTE } from '../value-test.ts';
import { ACTIONS, addRefusal, addTokenGuard, type BunnyImport, blockLists, guardZone } from './guards.ts';
import { nameAt, readTriggers } from './read-triggers.ts';

const CACHE_ACTIONS = [
  'OverrideCacheTime',
  'OverrideCacheTimePublic',
  'OverrideBrowserCacheTime',
  'IgnoreQueryString',
];

const NOTES: readonly string[] = [
  'a pattern of the request URL is read as one of the URL without its query, with regard to case; rules compare paths decoded, and `/a;x` also as `/a`',
  VALUES_NOTE,
];

/** One action with its condition. */
interface BunnyAction {
  readonly fields: SourceFields;
  readonly action: string;
  readonly entry: DraftEntry;
}

/** Translates the files: a pull zone, or edge rules. */
export function importBunny(
  files: readonly SourceFile[],
  options: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const objects = readObjects(files);
  if ('ok' in objects) return objects;
  const zones = objects.filter(
    ({ value }) => Array.isArray(value['EdgeRules']) || Array.isArray(value['Hostnames']),
  );
  const [zone] = zones;
  if (zones.length > 1) {
    const names = zones.map(({ value }) => `\`${textAt(value, 'Name') || textAt(value, 'Id')}\``);
    return refusedImport(
      null,
      `the files have ${zones.length} pull zones (${shownSource(names.join(', '))}), and a file is made of one`,
      'import one at a time: `GET /pullzone/:id` of the API',
    );
  }
  const loose = objects.filter(({ value }) => 'ActionType' in value);
  if (zone === undefined && loose.length === 0) {
    const remedy = 'export `GET /pullzone/:id` of the API';
    return refusedImport(
      objects[0]?.place ?? files[0]?.name ?? null,
      'has no pull zone and no edge rules',
      remedy,
    );
  }
  const value = zone?.value ?? {};
  const hosts = objectsAt(value, 'Hostnames')
    .map((one) => textAt(one, 'Value').toLowerCase())
    .filter((host) => host !== '' && !host.endsWith('.b-cdn.net'));
  const named = hosts.length === 0 && options.domain !== null ? [options.domain.toLowerCase()] : hosts;
  const state: BunnyImport = {
    draft: createDraft(),
    hosts: named,
    forwardsHost: value['AddHostHeader'] === true,
    redirects: [],
  };
  const origin = originOf(state, textAt(value, 'OriginUrl'));
  for (const host of named) state.draft.hosts.set(host, origin);
  blockLists(state, value);
  reportSettings(state, value);
  const rules = [...objectsAt(value, 'EdgeRules'), ...loose.map((one) => one.value)];
  guardZone(state, value, rules);
  translateRules(state, rules);
  state.draft.notes.push(...NOTES);
  return finishDraft(state.draft, options);
}

/** Translates the rules in the order in which bunny.net runs them. */
function translateRules(state: BunnyImport, rules: readonly SourceFields[]): void {
  const placed = rules.map((rule, index) => ({ rule, index, order: numberAt(rule, 'OrderIndex') ?? index }));
  placed.sort((one, other) => one.order - other.order || one.index - other.index);
  const actions: { readonly rule: SourceFields; readonly one: BunnyAction }[] = [];
  for (const { rule, index } of placed) {
    const all = [rule, ...objectsAt(rule, 'ExtraActions')];
    for (const [extra, fields] of all.entries()) {
      const action = nameAt(fields, 'ActionType', ACTIONS);
      const description = textAt(rule, 'Description');
      const name = description === '' ? '' : ` (${description})`;
      const place = `EdgeRules[${index}]${extra === 0 ? '' : `.ExtraActions[${extra - 1}]`}${name}`;
      const parameters = [textAt(fields, 'ActionParameter1'), textAt(fields, 'ActionParameter2')].join(' ');
      const entry = addEntry(state.draft, place, `${action} ${parameters}`);
      if (rule['Enabled'] === false) markNeedless(entry, 'it is disabled');
      else actions.push({ rule, one: { fields, action, entry } });
    }
  }
  const isCache = ({ one }: { readonly one: BunnyAction }): boolean => CACHE_ACTIONS.includes(one.action);
  for (const { rule, one } of actions.filter((action) => !isCache(action))) translate(state, rule, one);
  // The last action that sets a time wins at bunny.net, the first rule in edgeplan.
  for (const { rule, one } of actions.filter(isCache).reverse()) translate(state, rule, one);
}

function translate(state: BunnyImport, rule: SourceFields, action: BunnyAction): void {
  const { entry } = action;
  const conditional = {
    ...readTriggers(rule, { hosts: state.hosts }),
    unmet: 'no request meets its triggers',
  };
  if (action.action === 'BlockRequest') addRefusal(state, entry, conditional);
  else if (action.action === 'EnableTokenAuthentication') addTokenGuard(state, entry, conditional);
  else {
    const emitted = (filter: ImportedFilter): string | null => emit(state, action, filter);
    addAlternatives(state.draft, entry, { ...conditional, emit: emitted });
  }
}

/** Adds the rule of one alternative; a text is the reason why it cannot. */
function emit(state: BunnyImport, action: BunnyAction, filter: ImportedFilter): string | null {
  switch (action.action) {
    case 'ForceSSL':
      return emitUpgrade(state, action.entry, filter);
    case 'Redirect':
      return emitRedirect(state, action, filter);
    case 'OriginUrl':
      return emitOrigin(state, action, filter);
    case 'SetResponseHeader':
    case 'SetRequestHeader':
      return emitHeader(state, action, filter);
    default:
      return CACHE_ACTIONS.includes(action.action)
        ? emitCache(state, action, filter)
        : `the action \`${action.action}\` has no equivalent`;
  }
}

/** A redirect of each host to https, which the edge skips on https as one to the request's own URL. */
function emitUpgrade(state: BunnyImport, entry: DraftEntry, filter: ImportedFilter): string | null {
  if (state.hosts.length === 0) return 'no host is known; export the pull zone with its hostnames';
  for (const host of state.hosts) {
    const own = bothFilters(filter, { ...EVERY_REQUEST, hostIncludes: [equalsText(host)] });
    if (own === null || typeof own === 'string') continue;
    const fields = { target: `https://${host}`, status_code: 301, preserve_path: true, preserve_query: true };
    addRule(state.draft, entry, 'redirect', { ...ruleFields(own), ...fields });
  }
  state.redirects.push({ filter, place: entry.place });
  return null;
}

function emitRedirect(
  state: BunnyImport,
  { fields, entry }: BunnyAction,
  filter: ImportedFilter,
): string | null {
  const target = textAt(fields, 'ActionParameter1');
  if (/%\{|\{\{|\$/.test(target)) return 'a redirect target is literal text, and this one has variables';
  const status = numberAt(fields, 'ActionParameter2');
  const redirect = { target, status_code: status ?? 301, preserve_query: false };
  if (!addRule(state.draft, entry, 'redirect', { ...ruleFields(filter), ...redirect })) return null;
  if (status === null) markDifference(entry, 'it states no status, so that the rule has 301');
  state.redirects.push({ filter, place: entry.place });
  return null;
}

/** Variables of bunny.net that are variables of rules, in lower case. */
const VARIABLES: ReadonlyMap<string, string> = new Map(
  Object.entries({
    '{{hostname}}': '${host}',
    '{{country_code}}': '${client_country}',
    '{{request_method}}': '${method}',
    '%{requestheaders.host}': '${host}',
    '%{url.hostname}': '${host}',
    '%{request.method}': '${method}',
    '%{user.ip}': '${client_ip}',
    '%{user.countrycode}': '${client_country}',
  }),
);

function emitHeader(
  state: BunnyImport,
  { fields, action, entry }: BunnyAction,
  filter: ImportedFilter,
): string | null {
  const parts = textAt(fields, 'ActionParameter2').split(/(\{\{[^{}]*\}\}|%\{[^{}]*\})/);
  const written = parts.map((part, index) =>
    index % 2 === 0 ? literalValue(part) : VARIABLES.get(part.replace(/\s/g, '').toLowerCase()),
  );
  const unread = parts.find((_, index) => written[index] === undefined);
  if (unread !== undefined) return `\`${unread}\` has no equivalent in the value of a header`;
  const side = action === 'SetResponseHeader' ? 'response' : 'request';
  const name = textAt(fields, 'ActionParameter1');
  const read = headerFields([{ side, op: 'set', name, value: written.join('') }]);
  if (read.fields === null) return read.refused[0]!;
  if (!addRule(state.draft, entry, 'headers', { ...ruleFields(filter), ...read.fields })) return null;
  if (side === 'response') markDifference(entry, 'answers of the edge itself have the header too');
  if (written.includes('${client_country}'))
    markDifference(entry, 'the header is left out where the country is unknown');
  return null;
}

/** The origin of a URL; `null` for a text that is no URL, or a URL with a path. */
function readOrigin(
  url: string,
): { readonly address: string; readonly port: number | null; readonly scheme: string } | null {
  const [, scheme, host, port] = /^(https?):\/\/([^/:]+)(?::(\d+))?\/?$/.exec(url) ?? [];
  return scheme === undefined
    ? null
    : { address: host!, port: port === undefined ? null : Number(port), scheme };
}

/** The origin of the pull zone. */
function originOf(state: BunnyImport, url: string): DraftOrigin | null {
  if (url === '') return null;
  const origin = readOrigin(url);
  const entry = addEntry(state.draft, 'OriginUrl', url);
  if (origin === null) {
    markMissing(entry, 'a record forwards to a host, without a path before that of the visitor');
    return null;
  }
  entry.becomes.push('record');
  const { address, port, scheme } = origin;
  const hostHeader = state.forwardsHost ? '' : address;
  return { address, port, scheme: scheme === 'https' ? 'Https' : 'Http', hostHeader };
}

function emitOrigin(
  state: BunnyImport,
  { fields, entry }: BunnyAction,
  filter: ImportedFilter,
): string | null {
  const origin = readOrigin(textAt(fields, 'ActionParameter1'));
  if (origin === null) return 'an origin is a host, without a path before that of the visitor';
  const host_header = state.forwardsHost ? '' : origin.address;
  addRule(state.draft, entry, 'origin_route', { ...ruleFields(filter), ...origin, host_header });
  return null;
}

function emitCache(
  state: BunnyImport,
  { fields, action, entry }: BunnyAction,
  filter: ImportedFilter,
): string | null {
  const place = ruleFields(filter);
  const seconds = numberAt(fields, 'ActionParameter1');
  if (action === 'IgnoreQueryString') {
    if (!addRule(state.draft, entry, 'cache', { ...place, query_mode: 'none' })) return null;
    markDifference(entry, 'the origin gets no query either');
  } else {
    if (seconds === null || seconds < 0) return 'it states no time';
    const ttl = action === 'OverrideCacheTime' ? cacheFor(seconds) : { browser_ttl_sec: seconds };
    if (!addRule(state.draft, entry, 'cache', { ...place, ...ttl })) return null;
  }
  markDifference(entry, 'bunny.net joins all cache actions that match; the edge takes one rule');
  return null;
}

function cacheFor(seconds: number): object {
  return seconds === 0 ? { mode: 'bypass' } : { mode: 'force', edge_ttl_sec: seconds };
}

/** Settings of a pull zone that decide requests and have no equivalent. */
const SETTINGS = [
  'AllowedReferrers',
  'BlockedReferrers',
  'BlockNoneReferrer',
  'BudgetRedirectedCountries',
  'ConnectionLimitPerIPCount',
  'RequestLimit',
  'WAFEnabled',
];

/** Reports those settings that are in use. */
function reportSettings({ draft }: BunnyImport, zone: SourceFields): void {
  for (const name of SETTINGS) {
    const value = zone[name];
    const isUnused = Array.isArray(value) ? value.length === 0 : value === false || value === 0;
    if (value === undefined || value === null || isUnused) continue;
    markMissing(
      addEntry(draft, name, JSON.stringify(value)),
      'this setting of the pull zone has no equivalent',
    );
  }
}

/** The importer of bunny.net. */
export const BUNNY: Importer = {
  name: 'bunny',
  files: 'JSON of a pull zone or of edge rules; - is stdin',
  summary: 'translate a pull zone of bunny.net to an edge file',
  description:
    'Translates what the API answers for a pull zone: its origin, hosts and block lists, and its edge rules that block, ' +
    'redirect, choose an origin, set headers or times in the cache.',
  examples: [
    'edgeplan import bunny pull-zone.json -o edge.yaml',
    'edgeplan import bunny edge-rules.json --domain example.com --json',
  ],
  translate: importBunny,
};
