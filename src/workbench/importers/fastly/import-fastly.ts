/**
 * Translates a version of a Fastly VCL service, as its API answers it, to an edge file: domains, backends, ACLs, conditions,
 * request settings, response objects, cache settings and rate limiters. Of custom VCL only what refuses requests is carried over.
 */
import {
  type AddressSet,
  NO_ADDRESSES,
  readAddresses,
  subtractAddresses,
  uniteAddresses,
} from '../addresses.ts';
import { addRule, createDraft, type DraftEntry, markDifference, markMissing, removeRules } from '../draft.ts';
import { bothFilters, EVERY_REQUEST, filtersOf, type ImportedFilter, ruleFields } from '../filter.ts';
import { finishDraft } from '../finish-draft.ts';
import type { Importer } from '../importer.ts';
import { numberAt, objectAt, objectsAt, readObjects, type SourceFields, textAt } from '../json-source.ts';
import {
  type ImportedEdge,
  type ImporterOptions,
  type ImportRefusal,
  refusedImport,
  type SourceFile,
} from '../report.ts';
import { equalsText } from '../text-test.ts';
import { VALUES_NOTE } from '../value-test.ts';
import { addHeader, changedHeaders, headerCondition } from './headers.ts';
import { addLimit } from './rate-limit.ts';
import { type FastlyAcls, readStatement } from './read-statement.ts';
import {
  aclsOfVcl,
  entryFor,
  type FastlyImport,
  translateRefusals,
  translateResponse,
  vclOf,
} from './refusals.ts';

const NOTES: readonly string[] = [
  'rules compare paths decoded, without `//`, dot segments and parameters (`/a;x` also matches as `/a`); Fastly compares them as sent',
  VALUES_NOTE,
];

/** Objects of a version without an equivalent. */
const OTHERS: Readonly<Record<string, string>> = {
  vcls: 'custom VCL has no equivalent',
  snippets: 'custom VCL has no equivalent',
  gzips: 'the edge does not compress',
  dictionaries: 'dictionaries are read by custom VCL',
  directors: 'write a rule of type origin_pool',
  healthchecks: 'write the check into a rule of type origin_pool',
};

/** Translates the version of a service that the files hold. */
export function importFastly(
  files: readonly SourceFile[],
  options: ImporterOptions,
): ImportedEdge | ImportRefusal {
  const objects = readObjects(files);
  if ('ok' in objects) return objects;
  const versions = objects.map(({ value }) => {
    const active = objectAt(value, 'active_version');
    return Object.keys(active).length > 0 ? active : value;
  });
  const found = versions.filter((one) => Array.isArray(one['domains']) || Array.isArray(one['backends']));
  if (found.length > 1)
    return refusedImport(null, 'the files hold more than one version of a service', 'import one at a time');
  const [version] = found;
  if (version === undefined) {
    const remedy = 'export `GET /service/:id/details` of the API';
    return refusedImport(objects[0]?.place ?? files[0]?.name ?? null, 'has no version of a service', remedy);
  }
  const hosts = objectsAt(version, 'domains').map((one) => textAt(one, 'name').toLowerCase());
  const settings = objectsAt(version, 'request_settings');
  const state: FastlyImport = {
    draft: createDraft(),
    acls: aclsOf(version),
    changed: changedHeaders(version, vclOf(version)),
    conditions: new Map(objectsAt(version, 'conditions').map((one) => [textAt(one, 'name'), one])),
    hosts,
    forcesTls: settings.some((one) => numberAt(one, 'force_ssl') === 1),
  };
  for (const host of hosts) state.draft.hosts.set(host, null);
  translateBackends(state, objectsAt(version, 'backends'));
  const byPriority = (one: SourceFields): number =>
    priorityOf(state.conditions.get(textAt(one, 'request_condition')) ?? {});
  const responses = [...objectsAt(version, 'response_objects')].sort(
    (one, other) => byPriority(one) - byPriority(other),
  );
  for (const one of responses) translateResponse(state, one);
  translateRefusals(state, version);
  for (const one of settings)
    translate(state, 'request_settings', one, { condition: 'request_condition', emit: emitSettings });
  for (const one of objectsAt(version, 'rate_limiters'))
    translate(state, 'rate_limiters', one, { condition: '', emit: emitLimit });
  for (const one of objectsAt(version, 'cache_settings'))
    translate(state, 'cache_settings', one, { condition: 'cache_condition', emit: emitCache });
  const headers = [...objectsAt(version, 'headers')].sort(
    (one, other) => priorityOf(one) - priorityOf(other),
  );
  for (const one of headers)
    translate(state, 'headers', one, { condition: headerCondition(one), emit: emitHeader });
  for (const [name, reason] of Object.entries(OTHERS)) {
    for (const one of objectsAt(version, name)) markMissing(entryFor(state, name, one), reason);
  }
  reportUnknown(state, version);
  state.draft.notes.push(...NOTES);
  return finishDraft(state.draft, options);
}

/** Lists that the importer reads. */
const KNOWN = [
  'domains',
  'backends',
  'acls',
  'acl_entries',
  'conditions',
  'response_objects',
  'request_settings',
  'rate_limiters',
  'cache_settings',
  'headers',
];

/** Header objects without a priority have this one. */
const DEFAULT_PRIORITY = 100;

function priorityOf(one: SourceFields): number {
  return numberAt(one, 'priority') ?? DEFAULT_PRIORITY;
}

/** Reports lists of other kinds, such as logging endpoints. */
function reportUnknown(state: FastlyImport, version: SourceFields): void {
  for (const name of Object.keys(version)) {
    if (KNOWN.includes(name) || Object.hasOwn(OTHERS, name)) continue;
    for (const one of objectsAt(version, name))
      markMissing(entryFor(state, name, one), 'edgeplan has no equivalent');
  }
}

/** ACLs with their entries, which the API answers apart; a negated entry takes addresses out. */
function aclsOf(version: SourceFields): FastlyAcls {
  const loose = objectsAt(version, 'acl_entries');
  const acls = new Map<string, AddressSet | null>(aclsOfVcl(vclOf(version)));
  for (const acl of objectsAt(version, 'acls')) {
    const inside = objectsAt(acl, 'entries');
    const entries =
      inside.length > 0 ? inside : loose.filter((one) => textAt(one, 'acl_id') === textAt(acl, 'id'));
    const included: AddressSet[] = [];
    const negated: AddressSet[] = [];
    let isRead = entries.length > 0 || Array.isArray(acl['entries']);
    for (const entry of entries) {
      const subnet = textAt(entry, 'subnet');
      const set = readAddresses(`${textAt(entry, 'ip')}${subnet === '' ? '' : `/${subnet}`}`);
      if (set === null) isRead = false;
      else (numberAt(entry, 'negated') === 1 || entry['negated'] === true ? negated : included).push(set);
    }
    const all = included.length === 0 ? NO_ADDRESSES : uniteAddresses(included);
    acls.set(textAt(acl, 'name'), isRead ? subtractAddresses(all, uniteAddresses(negated)) : null);
  }
  return acls;
}

type Emit = (
  state: FastlyImport,
  source: { readonly one: SourceFields; readonly entry: DraftEntry },
  filter: ImportedFilter,
) => string | null;

/** Translates one object: a rule for each alternative of its condition. */
function translate(
  state: FastlyImport,
  list: string,
  one: SourceFields,
  { condition: field, emit }: { readonly condition: string; readonly emit: Emit },
): void {
  const entry = entryFor(state, list, one);
  const alternatives = readFilters(state, textAt(one, field), entry);
  if (alternatives === null) return;
  for (const filter of alternatives) {
    const reason = emit(state, { one, entry }, filter);
    if (reason === null) continue;
    removeRules(state.draft, entry);
    markMissing(entry, reason);
    return;
  }
}

/** The filters of a condition; without a name every request. `null`: it cannot be written, and the entry says why. */
function readFilters(state: FastlyImport, name: string, entry: DraftEntry): readonly ImportedFilter[] | null {
  if (name === '') return [EVERY_REQUEST];
  const condition = state.conditions.get(name);
  if (condition === undefined) {
    markMissing(entry, `no condition has the name \`${name}\``);
    return null;
  }
  const read = readStatement(textAt(condition, 'statement'), state);
  if (!read.ok) {
    markMissing(entry, `its condition cannot be read: ${read.reason}`);
    return null;
  }
  const alternatives = filtersOf(read.condition);
  if (!alternatives.ok || alternatives.filters.length === 0) {
    markMissing(entry, alternatives.ok ? 'no request meets its condition' : alternatives.reason);
    return null;
  }
  for (const difference of read.differences) markDifference(entry, difference);
  return alternatives.filters;
}

/** The first backend without a condition is the origin of the records; those with one are routes. */
function translateBackends(state: FastlyImport, backends: readonly SourceFields[]): void {
  let main: SourceFields | null = null;
  for (const one of backends) {
    const entry = entryFor(state, 'backends', one);
    const condition = textAt(one, 'request_condition');
    const address =
      textAt(one, 'hostname') || textAt(one, 'address') || textAt(one, 'ipv4') || textAt(one, 'ipv6');
    const isTls = one['use_ssl'] === true || numberAt(one, 'use_ssl') === 1;
    const port = numberAt(one, 'port');
    const hostHeader = textAt(one, 'override_host');
    if (condition === '' && main === null) {
      main = one;
      const origin = { address, port, scheme: isTls ? ('Https' as const) : ('Http' as const), hostHeader };
      for (const host of state.hosts) state.draft.hosts.set(host, origin);
      entry.becomes.push('record');
      continue;
    }
    if (condition === '') {
      markMissing(
        entry,
        'another backend without a condition is the origin; write both into a rule of type origin_pool',
      );
      continue;
    }
    for (const filter of readFilters(state, condition, entry) ?? []) {
      const fields = { address, port, scheme: isTls ? 'https' : 'http', host_header: hostHeader };
      addRule(state.draft, entry, 'origin_route', { ...ruleFields(filter), ...fields });
    }
  }
}

/** Settings of a request without an equivalent. */
const SETTINGS = [
  'default_host',
  'hash_keys',
  'force_miss',
  'max_stale_age',
  'bypass_busy_wait',
  'geo_headers',
];

const emitSettings: Emit = (state, { one, entry }, filter) => {
  const isForced = numberAt(one, 'force_ssl') === 1;
  const isPassed = textAt(one, 'action') === 'pass';
  const others = SETTINGS.filter((name) => !['', '0'].includes(textAt(one, name)));
  if (!isForced && !isPassed) return `\`${others[0] ?? 'xff'}\` has no equivalent`;
  if (isForced) {
    for (const host of state.hosts) {
      const own = bothFilters(filter, { ...EVERY_REQUEST, hostIncludes: [equalsText(host)] });
      if (own === null || typeof own === 'string' || host.startsWith('*')) continue;
      const fields = {
        target: `https://${host}`,
        status_code: 301,
        preserve_path: true,
        preserve_query: true,
      };
      addRule(state.draft, entry, 'redirect', { ...ruleFields(own), ...fields });
    }
    if (state.hosts.some((host) => host.startsWith('*')))
      markDifference(entry, 'hosts of wildcard domains are not redirected');
  }
  if (isPassed) addRule(state.draft, entry, 'cache', { ...ruleFields(filter), mode: 'bypass' });
  for (const name of others) markDifference(entry, `\`${name}\` is not carried over`);
  return null;
};

const emitCache: Emit = (state, { one, entry }, filter) => {
  const ttl = numberAt(one, 'ttl');
  const action = textAt(one, 'action');
  if (action !== 'pass' && (ttl === null || ttl === 0)) return 'it sets neither a time nor `pass`';
  const fields = action === 'pass' ? { mode: 'bypass' } : { mode: 'force', edge_ttl_sec: ttl };
  if (!addRule(state.draft, entry, 'cache', { ...ruleFields(filter), ...fields })) return null;
  markDifference(
    entry,
    'Fastly decides it when the origin has answered, and joins all cache settings that match',
  );
  return null;
};

const emitHeader: Emit = (state, source, filter) => addHeader(state.draft, source, filter);

const emitLimit: Emit = (state, source, filter) => addLimit(state, source, filter);

/** The importer of Fastly. */
export const FASTLY: Importer = {
  name: 'fastly',
  files: 'JSON of a service or of a version; - is stdin',
  summary: 'translate a VCL service of Fastly to an edge file',
  description:
    'Translates what the API answers for the details of a service: domains, backends, ACLs, conditions, request settings, ' +
    'response objects, cache settings, headers and rate limiters. Of custom VCL only what refuses requests is carried over.',
  examples: [
    'edgeplan import fastly service-details.json -o edge.yaml',
    'edgeplan import fastly version.json --domain example.com --json',
  ],
  translate: importFastly,
};
