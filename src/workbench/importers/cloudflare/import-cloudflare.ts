/**
 * Translates rulesets of Cloudflare, as its API answers them, to an edge file. The phases of Cloudflare run in another order than
 * the types of edgeplan; where that changes the outcome of a request, the report says so.
 */
import { addEntry, addRule, createDraft, type DraftEntry, markMissing, markNeedless } from '../draft.ts';
import type { ImportedFact } from '../facts.ts';
import { EVERY_REQUEST, type ImportedFilter, ruleFields } from '../filter.ts';
import { finishDraft } from '../finish-draft.ts';
import type { Importer } from '../importer.ts';
import {
  numberAt,
  objectAt,
  objectsAt,
  readObjects,
  type SourceFields,
  type SourceObject,
  textAt,
} from '../json-source.ts';
import {
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
  type SourceFile,
} from '../report.ts';
import { endsWithText, equalsText, startsWithText } from '../text-test.ts';
import { VALUES_NOTE } from '../value-test.ts';
import { accountLists, isAccountList } from './account-lists.ts';
import { guardedHosts, olderKind, translateOlder } from './older-objects.ts';
import { addPageRedirects, addPageSettings, readPageRules } from './page-rules.ts';
import { translateRule } from './translate-rule.ts';
import { type CloudflareImport, literalHosts } from './zone.ts';

/** Phases in the order in which rules of the file are added. */
const PHASES: Readonly<Record<string, true>> = {
  http_request_dynamic_redirect: true,
  http_request_transform: true,
  http_request_origin: true,
  http_request_firewall_custom: true,
  http_ratelimit: true,
  http_request_redirect: true,
  http_request_cache_settings: true,
  http_request_late_transform: true,
  http_response_headers_transform: true,
};

/** Why rules of other phases are not carried over. */
const OTHER_PHASES: Readonly<Record<string, string>> = {
  http_request_firewall_managed: "managed rulesets are Cloudflare's own; write a rule of type waf",
  http_config_settings: 'settings by request have no equivalent',
  http_response_compression: 'the edge does not compress',
  http_custom_errors: 'write the page into a rule of type error_page',
};

const NOTES: readonly string[] = [
  'rules compare paths decoded, without `//`, dot segments and parameters (`/a;x` also matches as `/a`); Cloudflare compares them as its URL normalisation leaves them',
  VALUES_NOTE,
];

/** Translates the files: rulesets, items of bulk redirect lists, DNS records. */
export function importCloudflare(
  files: readonly SourceFile[],
  options: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const objects = readObjects(files);
  if ('ok' in objects) return objects;
  const draft = createDraft();
  const state: CloudflareImport = {
    draft,
    lists: accountLists(objects),
    redirects: [],
    rewrites: [],
    challenges: [],
    skips: [],
    zone: options.domain?.toLowerCase() ?? null,
  };
  const rulesets = objects.filter(({ value }) => 'phase' in value);
  const known = objects.filter(({ value }) => isKnown(value));
  if (known.length === 0) {
    const remedy =
      'export `GET /zones/:id/rulesets/:id`, the items of a redirect list, or `GET /zones/:id/dns_records`';
    return refusedImport(
      objects[0]?.place ?? files[0]?.name ?? null,
      'has no ruleset, no redirect list and no DNS records',
      remedy,
    );
  }
  for (const object of objects.filter(({ value }) => isRecord(value))) addRecord(state, object);
  const pageRules = readPageRules(
    state,
    objects.filter(({ value }) => olderKind(value) === 'page_rule'),
  );
  for (const phase of Object.keys(PHASES)) {
    for (const ruleset of rulesets.filter(({ value }) => value['phase'] === phase))
      translateRuleset(state, ruleset);
    if (phase === 'http_request_dynamic_redirect') addPageRedirects(state, pageRules);
    if (phase === 'http_request_firewall_custom') translateOlder(state, objects);
    if (phase === 'http_request_redirect') {
      translateBulkRedirects(state, objects.flatMap(redirectItems));
    }
  }
  addPageSettings(state, pageRules);
  for (const ruleset of rulesets)
    if (!Object.hasOwn(PHASES, textAt(ruleset.value, 'phase'))) loseRuleset(state, ruleset);
  for (const { value } of objects) {
    if (!isKnown(value))
      markMissing(
        addEntry(draft, 'object', JSON.stringify(value).slice(0, 200)),
        'it is no object that the importer reads',
      );
  }
  addHosts(state, objects, options);
  draft.notes.push(...NOTES);
  return finishDraft(draft, { ...options, domain: options.domain ?? state.zone });
}

/** Whether the importer knows the kind of an object. */
function isKnown(value: SourceFields): boolean {
  const isOfLists = 'redirect' in value || isAccountList(value);
  return 'phase' in value || isOfLists || isRecord(value) || olderKind(value) !== null;
}

/** The items of bulk redirects: on their own, or in their list. */
function redirectItems(object: SourceObject): readonly SourceObject[] {
  const { place, value } = object;
  if (!isAccountList(value)) return 'redirect' in value ? [object] : [];
  return objectsAt(value, 'items').flatMap((item, index) =>
    'redirect' in item ? [{ place: `${place}.items[${index}]`, value: item }] : [],
  );
}

function isRecord(value: SourceFields): boolean {
  return (
    typeof value['type'] === 'string' &&
    typeof value['name'] === 'string' &&
    typeof value['content'] === 'string'
  );
}

/** Adds the host of a proxied DNS record. */
function addRecord(state: CloudflareImport, { place, value }: SourceObject): void {
  const name = textAt(value, 'name').toLowerCase();
  const type = textAt(value, 'type').toUpperCase();
  if (textAt(value, 'zone_name') !== '') state.zone ??= textAt(value, 'zone_name');
  const entry = addEntry(state.draft, place, `${name} ${type} ${textAt(value, 'content')}`);
  if (value['proxied'] !== true) {
    markNeedless(entry, 'it is not proxied; a zone file has it: `edgeplan import zone`');
    return;
  }
  const reason = !['A', 'AAAA', 'CNAME'].includes(type)
    ? `no record of type ${type} is proxied`
    : state.draft.hosts.has(name)
      ? 'another record of the name is carried over; add this one by hand'
      : null;
  if (reason !== null) {
    markMissing(entry, reason);
    return;
  }
  state.draft.hosts.set(name, { address: textAt(value, 'content') });
  entry.becomes.push('record');
}

function entryFor(
  state: CloudflareImport,
  { place, value }: SourceObject,
  index: number,
  rule: SourceFields,
): DraftEntry {
  const description = textAt(rule, 'description');
  const name = description === '' ? '' : ` (${description})`;
  const text = `${textAt(rule, 'action')} if ${textAt(rule, 'expression')}`;
  return addEntry(state.draft, `${place}: ${textAt(value, 'phase')}.rules[${index}]${name}`, text);
}

function translateRuleset(state: CloudflareImport, object: SourceObject): void {
  const rules = objectsAt(object.value, 'rules').map((rule, index) => ({
    rule,
    entry: entryFor(state, object, index, rule),
  }));
  const phase = textAt(object.value, 'phase');
  // The last cache rule that matches wins at Cloudflare, the first in edgeplan.
  const ordered =
    phase === 'http_request_cache_settings' || phase === 'http_request_origin' ? rules.reverse() : rules;
  for (const { rule, entry } of ordered) {
    if (rule['enabled'] === false) markNeedless(entry, 'it is disabled');
    else translateRule(state, { phase, rule, entry });
  }
}

/** Reports the rules of a phase that has no equivalent. */
function loseRuleset(state: CloudflareImport, object: SourceObject): void {
  const phase = textAt(object.value, 'phase');
  for (const [index, rule] of objectsAt(object.value, 'rules').entries()) {
    const entry = entryFor(state, object, index, rule);
    if (rule['enabled'] === false) markNeedless(entry, 'it is disabled');
    else markMissing(entry, OTHER_PHASES[phase] ?? `rules of the phase \`${phase}\` have no equivalent`);
  }
}

/** Without DNS records the hosts are those that expressions and URLs name, and the domain itself. */
function addHosts(
  state: CloudflareImport,
  objects: readonly SourceObject[],
  { domain }: ImporterOptions,
): void {
  const { hosts } = state.draft;
  if (hosts.size > 0) return;
  if (domain !== null) hosts.set(domain.toLowerCase(), null);
  const expressions = objects.flatMap(({ value }) => [
    ...objectsAt(value, 'rules').map((rule) => textAt(rule, 'expression')),
    textAt(objectAt(value, 'filter'), 'expression'),
  ]);
  for (const host of [...expressions.flatMap(literalHosts), ...objects.flatMap(guardedHosts)])
    if (!hosts.has(host)) hosts.set(host, null);
}

// Translates the items of a bulk redirect list: one redirect for each source URL.

/** Translates items; the longest path is added first, as the most specific item wins. */
function translateBulkRedirects(state: CloudflareImport, items: readonly SourceObject[]): void {
  const entries = items.map((item) => {
    const redirect = objectAt(item.value, 'redirect');
    const source = textAt(redirect, 'source_url');
    const entry = addEntry(state.draft, item.place, `${source} → ${textAt(redirect, 'target_url')}`);
    return { redirect, source, entry };
  });
  const ordered = [...entries].sort((one, other) => other.source.length - one.source.length);
  for (const { redirect, source, entry } of ordered) {
    const filter = filterOf(
      source,
      redirect['subpath_matching'] === true,
      redirect['include_subdomains'] === true,
    );
    if (typeof filter === 'string') {
      markMissing(entry, filter);
      continue;
    }
    const keepsSuffix = redirect['preserve_path_suffix'] !== false && redirect['subpath_matching'] === true;
    const isRoot = /^[^/]+\/?$/.test(source.replace(/^https?:\/\//, ''));
    if (keepsSuffix && !isRoot) {
      markMissing(
        entry,
        'a redirect appends the whole path, and this item only what follows its source path',
      );
      continue;
    }
    addRule(state.draft, entry, 'redirect', {
      ...ruleFields(filter),
      target: textAt(redirect, 'target_url'),
      status_code: numberAt(redirect, 'status_code') ?? 301,
      preserve_query: redirect['preserve_query_string'] === true,
      preserve_path: keepsSuffix,
    });
    const host = /^(?:https?:\/\/)?([^/]+)/.exec(source)?.[1]?.toLowerCase();
    if (host !== undefined && ![...state.draft.hosts.values()].some((origin) => origin !== null))
      state.draft.hosts.set(host, null);
  }
}

/** The filter of a source URL; a text is the reason why it has none. */
function filterOf(source: string, isPrefix: boolean, hasSubdomains: boolean): ImportedFilter | string {
  const [, scheme, host = '', path = '/'] = /^(?:(https?):\/\/)?([^/?]+)(\/[^?]*)?$/.exec(source) ?? [];
  if (host === '') return 'a source with a query has no equivalent';
  if (/[%\\]|[^\u0021-\u007e]/.test(path))
    return 'Cloudflare compares percent-encoded paths, rules decoded ones';
  const name = host.toLowerCase();
  const hosts = hasSubdomains ? [equalsText(name), endsWithText(`.${name}`)] : [equalsText(name)];
  const base = path.replace(/\/$/, '');
  const paths = isPrefix ? [equalsText(path), startsWithText(`${base}/`)] : [equalsText(path)];
  const pathIncludes = isPrefix && base === '' ? null : paths;
  const facts: readonly ImportedFact[] =
    scheme === undefined ? [] : [{ member: 'schemes', values: [scheme], negated: false }];
  return { ...EVERY_REQUEST, hostIncludes: hosts, pathIncludes, facts };
}

/** The importer of Cloudflare. */
export const CLOUDFLARE: Importer = {
  name: 'cloudflare',
  files: 'JSON of rulesets, bulk redirect lists, page rules, DNS records; - is stdin',
  summary: 'translate rulesets of Cloudflare to an edge file',
  description:
    'Translates what the API answers for rulesets (custom rules, rate limiting, redirects, URL rewrites, changes of headers, ' +
    'origin and cache rules), lists with their items, page rules and DNS records, which name the origins.',
  examples: [
    'edgeplan import cloudflare rulesets.json dns-records.json -o edge.yaml',
    'edgeplan import cloudflare rulesets.json --domain example.com --origin origin.example.net --json',
  ],
  translate: importCloudflare,
};
