/**
 * `edge.yaml`: a domain, its records and its rules in one file, in the API's own field names. On top of those a rule
 * may have a `key` (a stable name of its own) and `records` (names instead of ids), and ids may be left out. What is
 * read goes through the same door as every rule set (`model/parse`), and every mistake carries its line.
 */
import { type Diagnostic, type FieldPath, quoteValue, type SourcePlace } from '../base/diagnostic.ts';
import { normalizeName } from '../base/host.ts';
import { MAX_KEY_CHARACTERS } from '../base/limits.ts';
import { nearest } from '../model/nearest.ts';
import { parseRuleSet } from '../model/parse.ts';
import { absoluteName } from '../model/record-name.ts';
import type { RuleSet } from '../model/types.ts';
import { asList, placed, toFilePath } from './edge-diagnostics.ts';
import { keysOf } from './keys.ts';
import { byPlace, isMapping, readYaml, readYamlBytes, type YamlFile } from './yaml.ts';

/** Where a rule of a file stands. */
export interface RuleSource {
  /** Its `key`, `null` where it has none. */
  readonly key: string | null;
  /** Its `name` (pools and routes), `null` where it has none. */
  readonly name: string | null;
  /** Position in `rules`, from 0. */
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** Where a record of a file stands. */
export interface RecordSource {
  readonly index: number;
  readonly line: number;
  readonly column: number;
}

/** The way back from ids and fields to the file. */
export interface EdgeSources {
  readonly file: string;
  readonly rules: ReadonlyMap<number, RuleSource>;
  readonly records: ReadonlyMap<number, RecordSource>;
  /** The place of a field (a path into the rule set), or of the nearest one around it. */
  at(path: FieldPath): SourcePlace;
}

export type EdgeFile =
  | {
      readonly ok: true;
      readonly ruleSet: RuleSet;
      readonly sources: EdgeSources;
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly sources: EdgeSources; readonly diagnostics: readonly Diagnostic[] };

/** Reads an edge file's text (YAML or JSON). Never throws; `name` is how places call the file. */
export function readEdgeFile(text: string, name: string): EdgeFile {
  return readEdge(readYaml(text, name));
}

/** Reads an edge file's octets, which must be UTF-8. */
export function readEdgeBytes(bytes: Uint8Array, name: string): EdgeFile {
  return readEdge(readYamlBytes(bytes, name));
}

type Fields = Record<string, unknown>;

/** What the form on top of the API's is turned into, and what went wrong with it. */
interface Lowering {
  readonly yaml: YamlFile;
  readonly diagnostics: Diagnostic[];
  readonly rules: Map<number, RuleSource>;
  readonly records: Map<number, RecordSource>;
}

function readEdge(yaml: YamlFile): EdgeFile {
  const lowering: Lowering = {
    yaml,
    diagnostics: [...yaml.diagnostics],
    rules: new Map(),
    records: new Map(),
  };
  const { diagnostics } = lowering;
  const { rules, records } = lowering;
  const sources: EdgeSources = {
    file: yaml.name,
    rules,
    records,
    at: (path) => yaml.at(toFilePath(yaml, path)),
  };
  if (yaml.value === undefined) return { ok: false, sources, diagnostics };
  const slip = isMapping(yaml.value) ? Object.keys(yaml.value).find(meansDomain) : undefined;
  if (slip !== undefined && isMapping(yaml.value) && !Object.hasOwn(yaml.value, 'domain')) {
    const unknown = {
      code: 'unknown_field',
      message: 'is not a known field',
      remedy: 'did you mean `domain`?',
    };
    diagnostics.push({ severity: 'error', path: [slip], ...unknown, at: yaml.keyAt([slip]) });
    return { ok: false, sources, diagnostics };
  }
  if (!isMapping(yaml.value) || !Object.hasOwn(yaml.value, 'domain')) {
    const message = 'must be a mapping with `domain`, `records` and `rules`';
    report(lowering, [], { code: 'invalid_file', message, remedy: 'start with `domain: example.com`' });
    return { ok: false, sources, diagnostics };
  }
  const parsed = parseRuleSet(lower(yaml.value, lowering));
  for (const diagnostic of parsed.diagnostics) diagnostics.push(placed(diagnostic, yaml));
  diagnostics.sort(byPlace);
  const failed = diagnostics.some(({ severity }) => severity === 'error');
  if (!parsed.ok || failed) return { ok: false, sources, diagnostics };
  const keys = keysOf(parsed.ruleSet, {
    keyOf: (rule) => rules.get(rule)?.key ?? null,
    ruleIds: writtenIds(yaml.value['rules']),
    recordIds: writtenIds(yaml.value['records']),
  });
  const none = keys.rules.size === 0 && keys.records.size === 0;
  const ruleSet = none ? parsed.ruleSet : { ...parsed.ruleSet, keys };
  return { ok: true, ruleSet, sources, diagnostics };
}

/** The ids that the file itself says. */
function writtenIds(list: unknown): ReadonlySet<number> {
  const ids = Array.isArray(list) ? list.map((entry) => (isMapping(entry) ? entry['id'] : null)) : [];
  return new Set(ids.filter((id) => typeof id === 'number'));
}

function meansDomain(key: string): boolean {
  return nearest(key, ['domain']) !== null;
}

/** From the file's form to the rule set's: names become ids, and what only files have is taken out. */
function lower(file: Fields, lowering: Lowering): Fields {
  const domain = typeof file['domain'] === 'string' ? { name: file['domain'] } : file['domain'];
  const records = withIds(file['records']);
  noteRecords(records, lowering);
  const named = { records, domain: canonicalDomain(domain) };
  const rules = withIds(file['rules']);
  return {
    ...file,
    domain,
    records,
    rules: Array.isArray(rules) ? lowerRules(rules, named, lowering) : rules,
  };
}

/** The list with an id for every entry: those that have none get 1, 2, 3… in order, around the ones that are taken. */
function withIds(list: unknown): unknown {
  if (list === null || list === undefined) return [];
  if (!Array.isArray(list)) return list;
  const taken = new Set(list.map((entry) => (isMapping(entry) ? entry['id'] : undefined)));
  let next = 1;
  return list.map((entry) => {
    if (!isMapping(entry) || Object.hasOwn(entry, 'id')) return entry;
    while (taken.has(next)) next++;
    return { id: next++, ...entry };
  });
}

function noteRecords(records: unknown, { yaml, records: sources }: Lowering): void {
  if (!Array.isArray(records)) return;
  for (const [index, record] of records.entries()) {
    if (!isMapping(record) || typeof record['id'] !== 'number') continue;
    const { line, column } = yaml.at(['records', index]);
    sources.set(record['id'], { index, line, column });
  }
}

interface Named {
  readonly records: unknown;
  /** Canonical, or `null` when the file's is not well-formed. */
  readonly domain: string | null;
}

function canonicalDomain(domain: unknown): string | null {
  if (!isMapping(domain) || typeof domain['name'] !== 'string') return null;
  return normalizeName(domain['name']);
}

function lowerRules(rules: readonly unknown[], named: Named, lowering: Lowering): unknown[] {
  const keys = new Map<string, number>();
  const byName = recordsByName(named);
  return rules.map((rule, index) => {
    if (!isMapping(rule)) return rule;
    const { key, records, ...fields } = rule;
    const place = lowering.yaml.at(['rules', index]);
    const noted = key === undefined ? null : readKey(key, index, { keys, lowering });
    if (typeof fields['id'] === 'number') {
      const name = typeof fields['name'] === 'string' && fields['name'] !== '' ? fields['name'] : null;
      lowering.rules.set(fields['id'], { key: noted, name, index, line: place.line, column: place.column });
    }
    if (records === undefined) return fields;
    if (Object.hasOwn(fields, 'record_ids') || Object.hasOwn(fields, 'record_id')) {
      const message = 'must not stand beside record ids; one of the two says which records the rule is for';
      report(lowering, ['rules', index, 'records'], { code: 'records_twice', message });
      return fields;
    }
    return { ...fields, record_ids: resolve(records, index, { byName, named, lowering }) };
  });
}

function readKey(
  key: unknown,
  index: number,
  { keys, lowering }: { readonly keys: Map<string, number>; readonly lowering: Lowering },
): string | null {
  const path = ['rules', index, 'key'];
  if (typeof key !== 'string' || !/^[a-z0-9-]+$/.test(key) || key.length > MAX_KEY_CHARACTERS) {
    const message = `must be at most ${MAX_KEY_CHARACTERS} lower-case letters, digits and hyphens`;
    report(lowering, path, { code: 'invalid_key', message, found: quoteValue(key) });
    return null;
  }
  const first = keys.get(key);
  if (first !== undefined) {
    const { line } = lowering.yaml.at(['rules', first]);
    const message = `is the key of an earlier rule (line ${line}); keys must differ`;
    report(lowering, path, { code: 'duplicate_key', message, found: quoteValue(key) });
    return null;
  }
  keys.set(key, index);
  return key;
}

interface NamedRecord {
  readonly id: number;
  readonly type: unknown;
}

/** Records by their absolute name. */
function recordsByName({ records, domain }: Named): ReadonlyMap<string, readonly NamedRecord[]> {
  const byName = new Map<string, NamedRecord[]>();
  if (!Array.isArray(records) || domain === null) return byName;
  for (const record of records) {
    if (!isMapping(record) || typeof record['id'] !== 'number' || typeof record['name'] !== 'string')
      continue;
    const name = absoluteName(record['name'], domain);
    if (name === null) continue;
    const same = byName.get(name) ?? [];
    same.push({ id: record['id'], type: record['type'] });
    byName.set(name, same);
  }
  return byName;
}

interface Resolving {
  readonly byName: ReadonlyMap<string, readonly NamedRecord[]>;
  readonly named: Named;
  readonly lowering: Lowering;
}

/** Ids of `records: [shop, 'shop AAAA']`: every record of the name, or only those of the type. */
function resolve(records: unknown, index: number, { byName, named, lowering }: Resolving): number[] {
  const ids: number[] = [];
  const path = ['rules', index, 'records'];
  if (!Array.isArray(records)) {
    const message = 'must be a list of record names';
    const source = lowering.yaml.plainSource(path);
    const remedy = source === null ? {} : { remedy: asList(source) };
    report(lowering, path, { code: 'invalid_type', message, found: quoteValue(records), ...remedy });
    return ids;
  }
  for (const [position, entry] of records.entries()) {
    const [, name, type] = (typeof entry === 'string' ? /^(\S+)(?: +([A-Za-z]+))?$/.exec(entry) : null) ?? [];
    const absolute = name === undefined || named.domain === null ? null : absoluteName(name, named.domain);
    const found = (absolute === null ? [] : (byName.get(absolute) ?? [])).filter((record) => {
      return type === undefined || record.type === type.toUpperCase();
    });
    for (const record of found) ids.push(record.id);
    if (found.length > 0 || named.domain === null) continue;
    const meant = typeof entry === 'string' ? nearest(entry, knownNames(named)) : null;
    report(lowering, [...path, position], {
      code: 'unknown_record',
      message: 'is no record of this file; write its name, or its name and type like `shop AAAA`',
      found: quoteValue(entry),
      ...(meant === null ? {} : { remedy: `did you mean \`${meant}\`?` }),
    });
  }
  return ids;
}

function knownNames({ records }: Named): string[] {
  const names = Array.isArray(records)
    ? records.map((record) => (isMapping(record) ? record['name'] : null))
    : [];
  return names.filter((name) => typeof name === 'string');
}

function report(
  { yaml, diagnostics }: Lowering,
  path: FieldPath,
  problem: {
    readonly code: string;
    readonly message: string;
    readonly found?: string;
    readonly remedy?: string;
  },
): void {
  diagnostics.push({ severity: 'error', path, ...problem, at: yaml.at(path) });
}
