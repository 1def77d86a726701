/**
 * Translates page rules: of those that match a request the one of the highest priority acts alone, so that the rules of each
 * leave out the requests of those before it (Cloudflare, "Page Rules").
 */
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import {
  addEntry,
  addRule,
  type DraftEntry,
  markClosed,
  markDifference,
  markMissing,
  markNeedless,
  markOpened,
  tryRule,
} from '../draft.ts';
import { areDisjoint, EVERY_REQUEST, type ImportedFilter, MAX_CASELESS_KEYS, ruleFields } from '../filter.ts';
import {
  numberAt,
  objectAt,
  objectsAt,
  type SourceFields,
  type SourceObject,
  textAt,
} from '../json-source.ts';
import { equalsText, passes, wildcardText } from '../text-test.ts';
import { noteRewrites } from './firewall-rule.ts';
import {
  otherSetting,
  type PageUrl,
  readForward,
  readPageCache,
  readPageUrl,
  withoutUrls,
} from './read-page-rule.ts';
import type { CloudflareImport } from './zone.ts';

/** A page rule that is in use. */
export interface PageRule {
  readonly place: string;
  readonly text: string;
  /** A text is the reason why its URL has no filter. */
  readonly url: PageUrl | string;
  /** Values of its settings, by their ids. */
  readonly settings: ReadonlyMap<string, SourceFields>;
  /** Types of rules that the file has for all its requests. */
  readonly types: Set<RuleType>;
  /** The file redirects all its plain http to https. */
  upgraded: boolean;
}

/** The URL of a page rule as it is written. */
export function pageUrlOf(value: SourceFields): string {
  return objectsAt(value, 'targets')
    .map((one) => textAt(objectAt(one, 'constraint'), 'value'))
    .join(' ');
}

/** Reads page rules, those of the highest priority first; a disabled one is reported. */
export function readPageRules(
  state: CloudflareImport,
  objects: readonly SourceObject[],
): readonly PageRule[] {
  const active = objects.filter(({ place, value }) => {
    if (textAt(value, 'status') !== 'disabled') return true;
    markNeedless(addEntry(state.draft, place, `page rule ${pageUrlOf(value)}`), 'it is disabled');
    return false;
  });
  const priority = ({ value }: SourceObject): number => numberAt(value, 'priority') ?? 0;
  active.sort((one, other) => priority(other) - priority(one));
  return active.map(({ place, value }) => ({
    place,
    text: pageUrlOf(value),
    url: readPageUrl(pageUrlOf(value), active.length > MAX_CASELESS_KEYS),
    settings: new Map(objectsAt(value, 'actions').map((one) => [textAt(one, 'id'), one])),
    types: new Set(),
    upgraded: false,
  }));
}

/** Adds the redirects of page rules, which Cloudflare evaluates before its firewall. */
export function addPageRedirects(state: CloudflareImport, rules: readonly PageRule[]): void {
  for (const [index, rule] of rules.entries()) {
    const earlier = rules.slice(0, index);
    const forward = rule.settings.get('forwarding_url');
    if (forward !== undefined) {
      const value = objectAt(forward, 'value');
      const entry = entryOf(state, rule, `forwarding_url ${textAt(value, 'url')}`);
      addForward(state, entry, { rule, earlier, value });
    }
    if (rule.settings.has('always_use_https'))
      addUpgrade(state, entryOf(state, rule, 'always_use_https'), { rule, earlier });
  }
}

/** Adds what page rules set for the cache, the origin and challenges; rules of newer kinds come before them. */
export function addPageSettings(state: CloudflareImport, rules: readonly PageRule[]): void {
  for (const [index, rule] of rules.entries()) {
    const scope = { rule, earlier: rules.slice(0, index) };
    addCache(state, scope);
    addOrigin(state, scope);
    if (textAt(rule.settings.get('security_level') ?? {}, 'value') === 'under_attack')
      addChallenge(state, scope);
    for (const id of rule.settings.keys()) reportSetting(state, rule, id);
  }
}

/** A page rule and those that act before it. */
interface PageScope {
  readonly rule: PageRule;
  readonly earlier: readonly PageRule[];
}

function entryOf({ draft }: CloudflareImport, { place, text }: PageRule, setting: string): DraftEntry {
  return addEntry(draft, `${place}: page rule`, `${text}: ${setting}`);
}

/** The filters for rules of a type; `null`: the entry says why there are none. */
function filtersFor(
  entry: DraftEntry,
  { rule, earlier }: PageScope,
  type: RuleType,
): readonly ImportedFilter[] | null {
  const { url } = rule;
  if (typeof url === 'string') {
    markMissing(entry, url);
    return null;
  }
  const taken: PageUrl[] = [];
  for (const other of earlier) {
    if (typeof other.url === 'string') {
      markDifference(entry, `requests of ${other.place}, whose URL has no filter, are among its own`);
      continue;
    }
    if (areDisjoint(url.lowered, other.url.lowered)) continue;
    // The first rule of a type wins in the file too, and what is redirected reaches no rule behind it.
    if (other.types.has(type) || other.types.has('redirect')) continue;
    if (other.url.scheme === 'http') {
      if (other.upgraded) continue;
      markDifference(entry, `plain http of ${other.place} is among its own`);
      continue;
    }
    taken.push(other.url);
  }
  const filters = withoutUrls(url, taken);
  if (typeof filters === 'string') {
    // A challenge of more requests opens nothing.
    (type === 'captcha' ? markClosed : markMissing)(entry, filters);
    return type === 'captcha' ? [url.filter] : null;
  }
  if (filters.length === 0) markNeedless(entry, 'page rules of a higher priority match all its requests');
  for (const difference of url.differences) markDifference(entry, difference);
  return filters;
}

/** Adds a rule for each filter; whether all were added. */
function addRules(
  state: CloudflareImport,
  entry: DraftEntry,
  { scope, type, fields }: { readonly scope: PageScope; readonly type: RuleType; readonly fields: object },
): boolean {
  const filters = filtersFor(entry, scope, type);
  if (filters === null) return false;
  for (const filter of filters) {
    if (!addRule(state.draft, entry, type, { ...ruleFields(filter), ...fields })) return false;
    noteRewrites(entry, filter, state.rewrites);
    if (type === 'redirect') state.redirects.push({ filter, place: entry.place });
  }
  scope.rule.types.add(type);
  return true;
}

/** Refuses a URL of plain http alone; a URL of https alone acts on both. */
function hasScheme(entry: DraftEntry, { url }: PageRule): boolean {
  if (typeof url === 'string' || url.scheme === null) return true;
  if (url.scheme === 'http') {
    markMissing(entry, 'it is of plain http alone, and rules have no filter on the scheme');
    return false;
  }
  markDifference(entry, 'it acts on plain http too; Cloudflare acts on https alone');
  return true;
}

function addForward(
  state: CloudflareImport,
  entry: DraftEntry,
  { value, ...scope }: PageScope & { readonly value: SourceFields },
): void {
  const { rule } = scope;
  const { url } = rule;
  if (typeof url === 'string') {
    markMissing(entry, url);
    return;
  }
  const forward = readForward(textAt(value, 'url'), url);
  if (typeof forward === 'string') {
    markMissing(entry, forward);
    return;
  }
  const isUpgrade = forward.preserve_path && forward.target === `https://${url.host}`;
  // A redirect to the own URL acts on plain http alone.
  if (!(isUpgrade && url.scheme === 'http') && !hasScheme(entry, rule)) return;
  const status_code = numberAt(value, 'status_code') ?? numberAt(value, 'statusCode') ?? 302;
  if (!addRules(state, entry, { scope, type: 'redirect', fields: { ...forward, status_code } })) return;
  // What it does not redirect may be redirected by others.
  if (isUpgrade) rule.types.delete('redirect');
  rule.upgraded = isUpgrade;
  if (forward.preserve_path && /[a-z]/i.test(url.path))
    markDifference(entry, 'the path is appended with the case that the visitor sent');
}

/** Redirects plain http to https of the same host, for each host that the records name. */
function addUpgrade(state: CloudflareImport, entry: DraftEntry, scope: PageScope): void {
  const { rule } = scope;
  const { url } = rule;
  if (typeof url !== 'string' && url.scheme === 'https') {
    markNeedless(entry, 'it is of https alone');
    return;
  }
  const filters = filtersFor(entry, scope, 'redirect');
  if (filters === null || typeof url === 'string') return;
  const isPattern = url.host.includes('*');
  const [test] = url.lowered.hostIncludes ?? [];
  const known = [...state.draft.hosts.keys()].filter((host) => !host.startsWith('*.'));
  const hosts = isPattern ? known.filter((host) => test === undefined || passes(test, host)) : [url.host];
  for (const host of hosts) {
    const target = { target: `https://${host}`, preserve_path: true, preserve_query: true, status_code: 301 };
    for (const filter of filters) {
      if (filter.hostExcludes.some((one) => passes(one, host))) continue;
      const own = { ...filter, hostIncludes: [equalsText(host)], hostExcludes: [] };
      addRule(state.draft, entry, 'redirect', { ...ruleFields(own), ...target });
    }
  }
  rule.upgraded = !isPattern || (known.length > 0 && known.length === state.draft.hosts.size);
  if (!rule.upgraded)
    markMissing(
      entry,
      'a redirect has a literal target, so that hosts of wildcard records are not redirected to https; name them one by one',
    );
}

function addCache(state: CloudflareImport, scope: PageScope): void {
  const { rule } = scope;
  const read = readPageCache(rule.settings);
  if (read === null) return;
  const entry = entryOf(state, rule, read.shown);
  if (read.needless !== null) markNeedless(entry, read.needless);
  else if (read.reason !== null) markMissing(entry, read.reason);
  else if (hasScheme(entry, rule)) {
    for (const difference of read.differences) markDifference(entry, difference);
    addRules(state, entry, { scope, type: 'cache', fields: read.fields });
  }
}

function addOrigin(state: CloudflareImport, scope: PageScope): void {
  const { rule } = scope;
  const { url, settings } = rule;
  const text = (id: string): string => textAt(settings.get(id) ?? {}, 'value');
  const [resolved, host_header] = [text('resolve_override'), text('host_header_override')];
  if (resolved === '' && host_header === '') return;
  const shown = [
    ...(resolved === '' ? [] : [`resolve_override ${resolved}`]),
    ...(host_header === '' ? [] : [`host_header_override ${host_header}`]),
  ];
  const entry = entryOf(state, rule, shown.join(', '));
  const own = typeof url === 'string' ? undefined : state.draft.hosts.get(url.host);
  const address = resolved === '' ? (own?.address ?? '') : resolved;
  if (address === '') {
    markMissing(entry, 'an origin_route rule names an address, and no record names that of its hosts');
    return;
  }
  if (!hasScheme(entry, rule)) return;
  const fields = { address, host_header, scheme: 'https' };
  if (addRules(state, entry, { scope, type: 'origin_route', fields }))
    markDifference(entry, 'the edge connects by https; Cloudflare as the SSL mode of the zone says');
}

/** "I'm under attack" challenges every visitor; it guards, so that a URL without a filter is challenged for all of its host. */
function addChallenge(state: CloudflareImport, scope: PageScope): void {
  const { rule } = scope;
  const entry = entryOf(state, rule, 'security_level under_attack');
  const { url } = rule;
  markDifference(entry, 'the edge asks its own challenge, and verified search crawlers pass it');
  if (typeof url !== 'string' && url.scheme !== 'http') {
    if (url.scheme === 'https') markDifference(entry, 'plain http is challenged too');
    addRules(state, entry, { scope, type: 'captcha', fields: {} });
    return;
  }
  const host = /^(?:[^/]*:\/\/)?([^/:?]*)/.exec(rule.text)![1]!.toLowerCase();
  const wide = {
    ...EVERY_REQUEST,
    hostIncludes: [host.includes('*') ? wildcardText(host) : equalsText(host)],
  };
  markClosed(entry, typeof url === 'string' ? url : 'rules have no filter on the scheme');
  markClosed(entry, `every request of \`${host}\` is challenged, until a rule is written by hand`);
  const failure = tryRule(state.draft, entry, 'captcha', ruleFields(wide));
  if (failure !== null) markOpened(entry, failure);
}

/** Reports a setting that has no rule. */
function reportSetting(state: CloudflareImport, rule: PageRule, id: string): void {
  const value = textAt(rule.settings.get(id)!, 'value');
  const other = otherSetting(id, value);
  if (other === null) return;
  const entry = entryOf(state, rule, value === '' ? id : `${id} ${value}`);
  (other.isNeedless ? markNeedless : markMissing)(entry, other.text);
}
