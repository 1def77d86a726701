/** Cloudflare's objects beside rulesets that guard paths: older firewall rules, zone lockdowns, IP access rules, Access applications. */
import { parseAsn } from '../../../base/addresses/asn.ts';
import { type AddressSet, readAddresses, uniteAddresses } from '../addresses.ts';
import { addEntry, type DraftEntry, markDifference, markMissing, markNeedless, tryDrop } from '../draft.ts';
import { filtersOf, type ImportedCondition, type ImportedFilter } from '../filter.ts';
import { addGuard } from '../guard.ts';
import {
  numberAt,
  objectAt,
  objectsAt,
  type SourceFields,
  type SourceObject,
  textAt,
  textsAt,
} from '../json-source.ts';
import { equalsText, startsWithText, wildcardText } from '../text-test.ts';
import { asnCondition } from './account-lists.ts';
import { pageUrlOf } from './page-rules.ts';
import { translateRule } from './translate-rule.ts';
import type { CloudflareImport } from './zone.ts';

/** Kinds of objects. */
const KINDS = ['firewall', 'lockdown', 'access_rule', 'access_app', 'page_rule'] as const;
type OlderKind = (typeof KINDS)[number];

/** The kind of an object; `null`: it is another. */
export function olderKind(value: SourceFields): OlderKind | null {
  if (Array.isArray(value['targets']) && Array.isArray(value['actions'])) return 'page_rule';
  if (Array.isArray(value['urls']) && Array.isArray(value['configurations'])) return 'lockdown';
  if (textAt(objectAt(value, 'filter'), 'expression') !== '' && textAt(value, 'action') !== '')
    return 'firewall';
  if (textAt(value, 'mode') !== '' && textAt(objectAt(value, 'configuration'), 'target') !== '')
    return 'access_rule';
  const isApp = 'aud' in value || 'session_duration' in value || Array.isArray(value['policies']);
  return isApp && (textAt(value, 'domain') !== '' || textAt(value, 'type') !== '') ? 'access_app' : null;
}

/** Translates the objects; those of other kinds are passed over. */
export function translateOlder(state: CloudflareImport, objects: readonly SourceObject[]): void {
  const of = (kind: OlderKind): readonly SourceObject[] =>
    objects.filter(({ value }) => olderKind(value) === kind);
  const byPriority = [...of('firewall')].sort((one, other) => priorityOf(one) - priorityOf(other));
  for (const object of of('access_rule')) translateAccessRule(state, object);
  for (const object of of('lockdown')) translateLockdown(state, object);
  for (const object of byPriority) translateFirewall(state, object);
  translateApps(state, of('access_app'));
}

/** Rules without a priority come last. */
function priorityOf({ value }: SourceObject): number {
  return numberAt(value, 'priority') ?? Number.MAX_SAFE_INTEGER;
}

/** An older firewall rule, as the custom rule that Cloudflare made of it. */
function translateFirewall(state: CloudflareImport, { place, value }: SourceObject): void {
  const filter = objectAt(value, 'filter');
  const expression = textAt(filter, 'expression');
  const written = textAt(value, 'action');
  const description = textAt(value, 'description');
  const name = description === '' ? '' : ` (${description})`;
  const entry = addEntry(state.draft, `${place}: firewall rule${name}`, `${written} if ${expression}`);
  if (value['paused'] === true || filter['paused'] === true) {
    markNeedless(entry, 'it is paused');
    return;
  }
  const phases = written === 'allow' ? { ruleset: 'current' } : {};
  const parameters = { ...phases, products: textsAt(value, 'products') };
  const isSkip = written === 'allow' || written === 'bypass';
  const action = isSkip ? 'skip' : written === 'simulate' ? 'log' : written;
  const rule = { action, expression, action_parameters: isSkip ? parameters : {} };
  translateRule(state, { phase: 'http_request_firewall_custom', rule, entry });
}

/** Adds the rules that refuse what meets a condition. */
function refuse(state: CloudflareImport, entry: DraftEntry, condition: ImportedCondition): void {
  const close = (filter: ImportedFilter): string | null => {
    return tryDrop(state.draft, entry, filter);
  };
  const unmet = 'no request meets its condition';
  addGuard(state.draft, entry, { condition, differences: [], unmet, closing: 'refused', emit: close, close });
}

/** The hosts without a star that a lockdown, an Access application or a page rule names. */
export function guardedHosts({ value }: SourceObject): readonly string[] {
  const kind = olderKind(value);
  if (kind === 'page_rule') return [hostOf(pageUrlOf(value))].filter((host) => /^[^*]+\.[^*]+$/.test(host));
  const urls = kind === 'lockdown' ? textsAt(value, 'urls') : kind === 'access_app' ? urlsOf(value) : [];
  return urls.map(hostOf).filter((host) => /^[^*]+\.[^*]+$/.test(host));
}

/** The URLs of an Access application. */
function urlsOf(app: SourceFields): readonly string[] {
  const listed = textsAt(app, 'self_hosted_domains');
  return listed.length > 0 ? listed : [textAt(app, 'domain')].filter((url) => url !== '');
}

/** The host of a URL with or without a scheme, in lower case. */
function hostOf(url: string): string {
  return /^(?:https?:\/\/|\*:\/\/)?([^/:]*)/.exec(url)![1]!.toLowerCase();
}

/** Whether the file can have requests of a host: it is of the zone, and where there are records, one is proxied. */
function isServed({ zone, draft }: CloudflareImport, host: string): boolean {
  if (host.includes('*')) return true;
  if (zone !== null && host !== zone && !host.endsWith(`.${zone}`)) return false;
  if (draft.hosts.size === 0 || draft.hosts.has(host)) return true;
  return [...draft.hosts.keys()].some((name) => name.startsWith('*.') && host.endsWith(name.slice(1)));
}

/** A URL in which `*` is any text, as a condition; a path without a star at its end has all paths below with `isPrefix`. */
function urlCondition(url: string, isPrefix: boolean): ImportedCondition {
  const [, path = ''] = /^(?:https?:\/\/|\*:\/\/)?[^/]*(\/[^?]*)?/.exec(url) ?? [];
  const name = hostOf(url);
  const hostTest = name.includes('*') ? wildcardText(name) : equalsText(name);
  const of: ImportedCondition[] = [{ kind: 'host', tests: [hostTest] }];
  const base = path.replace(/\/$/, '');
  if (path.includes('*'))
    of.push({ kind: 'path', tests: [wildcardText(path), ...(isPrefix ? [wildcardText(`${path}/*`)] : [])] });
  else if (isPrefix && base !== '')
    of.push({ kind: 'path', tests: [equalsText(base), startsWithText(`${base}/`)] });
  else if (!isPrefix && path !== '') of.push({ kind: 'path', tests: [equalsText(path)] });
  return { kind: 'all', of };
}

/** A zone lockdown: URLs that only its addresses may have. */
function translateLockdown(state: CloudflareImport, { place, value }: SourceObject): void {
  const urls = textsAt(value, 'urls');
  const entry = addEntry(state.draft, `${place}: lockdown`, urls.join(' '));
  if (value['paused'] === true) {
    markNeedless(entry, 'it is paused');
    return;
  }
  const texts = objectsAt(value, 'configurations').map((one) => textAt(one, 'value'));
  const sets = texts.map(readAddresses).filter((set): set is AddressSet => set !== null);
  // An entry that is no address lets fewer visitors in.
  if (sets.length < texts.length) markDifference(entry, 'entries that are no addresses let nobody in');
  const allowed: ImportedCondition = { kind: 'ip', addresses: uniteAddresses(sets) };
  refuse(state, entry, {
    kind: 'any',
    of: urls.map((url) => ({ kind: 'all', of: [urlCondition(url, false), { kind: 'not', of: allowed }] })),
  });
}

/** An IP access rule: addresses or countries that are refused. */
function translateAccessRule(state: CloudflareImport, { place, value }: SourceObject): void {
  const configuration = objectAt(value, 'configuration');
  const [target, text, mode] = [
    textAt(configuration, 'target'),
    textAt(configuration, 'value'),
    textAt(value, 'mode'),
  ];
  const entry = addEntry(state.draft, `${place}: IP access rule`, `${mode} ${target} ${text}`);
  const addresses = target === 'country' ? null : readAddresses(text);
  if (mode !== 'block')
    markMissing(
      entry,
      mode === 'whitelist'
        ? 'visitors that other rules refuse are not let in'
        : `the mode \`${mode}\` has no equivalent`,
    );
  else if (addresses !== null) refuse(state, entry, { kind: 'ip', addresses });
  else if (target === 'asn' && parseAsn(text) !== null) refuse(state, entry, asnCondition([parseAsn(text)!]));
  else if (target === 'country' && /^[A-Z]{2}$/.test(text) && !['XX', 'T1'].includes(text))
    refuse(state, entry, { kind: 'country', codes: [text] });
  else markMissing(entry, `no rule has a filter on the ${target} \`${text}\``);
}

/** Types of Access applications that guard no host. */
const WITHOUT_HOST = [
  'saas',
  'app_launcher',
  'warp',
  'dash_sso',
  'bookmark',
  'biso',
  'infrastructure',
  'mcp',
];

/** Access applications: what one guards is refused, since the edge has no sign-in; public ones below it stay open. */
function translateApps(state: CloudflareImport, objects: readonly SourceObject[]): void {
  const apps = objects.map(({ place, value }) => {
    const urls = urlsOf(value);
    const entry = addEntry(
      state.draft,
      `${place}: Access application (${textAt(value, 'name')})`,
      urls.join(' '),
    );
    return { entry, urls, value, isPublic: isPublic(value) };
  });
  const open = apps.filter((app) => app.isPublic).flatMap(({ urls }) => urls);
  for (const { entry, urls, value, isPublic: isOpen } of apps) {
    if (WITHOUT_HOST.includes(textAt(value, 'type')) || urls.length === 0)
      markNeedless(entry, 'it guards no host');
    else if (isOpen) markNeedless(entry, 'it lets everybody in');
    else if (!urls.some((url) => isServed(state, hostOf(url))))
      markNeedless(entry, 'its host is not of the zone, or has no proxied record');
    else refuseApp(state, entry, { urls: urls.filter((url) => isServed(state, hostOf(url))), open });
  }
}

/** Whether a policy lets everybody in without a sign-in. */
function isPublic(app: SourceFields): boolean {
  return objectsAt(app, 'policies').some(
    (policy) =>
      textAt(policy, 'decision') === 'bypass' &&
      objectsAt(policy, 'include').some((one) => 'everyone' in one) &&
      objectsAt(policy, 'require').length === 0 &&
      objectsAt(policy, 'exclude').length === 0,
  );
}

function refuseApp(
  state: CloudflareImport,
  entry: DraftEntry,
  { urls, open }: { readonly urls: readonly string[]; readonly open: readonly string[] },
): void {
  const signedIn: ImportedCondition = {
    kind: 'unknown',
    text: 'a valid token of Access',
    reason: 'has no equivalent: the edge has no sign-in',
  };
  const guarded = urls.map((url): ImportedCondition => {
    const below = open.filter((one) => one !== url && one.startsWith(url.replace(/\/?\*?$/, '')));
    const exceptions = below.map((one): ImportedCondition => ({ kind: 'not', of: urlCondition(one, true) }));
    const outside = exceptions.filter((condition) => filtersOf(condition).ok);
    return { kind: 'all', of: [urlCondition(url, true), { kind: 'not', of: signedIn }, ...outside] };
  });
  refuse(state, entry, { kind: 'any', of: guarded });
}
