/**
 * Reads `edge.yaml`: one domain with its records and rules, in the API's field names. Beyond the API's form a rule
 * may have a `key` (a stable name) and `records` (record names instead of ids), and ids are optional. The file is
 * lowered to the API's form and parsed by `rules/model/parse`, like every other rule set; each diagnostic carries its
 * line and column.
 */
import { normalizeName } from '../../base/addresses/host.ts';
import type { DiagnosticCode } from '../../base/diagnostics/codes/codes.ts';
import {
  type Diagnostic,
  type FieldPath,
  quoteValue,
  type SourcePlace,
} from '../../base/diagnostics/diagnostic.ts';
import { MAX_KEY_CHARACTERS } from '../../base/vocabulary/limits.ts';
import { APPLICATION_HOST } from '../../base/vocabulary/vocabulary.ts';
import { nearest } from '../model/nearest.ts';
import { parseRuleSet } from '../model/parse.ts';
import { absoluteName } from '../model/record-name.ts';
import { REGISTRY_LISTS } from '../model/registry/registry.ts';
import type { RuleSet } from '../model/types.ts';
import { asList, placed, toFilePath } from './edge-diagnostics.ts';
import { joinGateways } from './edge-gateways.ts';
import { isListFile, readFileLists } from './edge-lists.ts';
import { type EdgePart, joinParts, tooManyParts } from './edge-parts.ts';
import { readFileRegistry } from './edge-registry.ts';
import { keysOf } from './keys.ts';
import { byPlace, isMapping, readYaml, readYamlBytes, type YamlFile } from './yaml.ts';

/** The position of a rule in an edge file. */
export interface RuleSource {
  /** Its `key`, `null` if it has none. */
  readonly key: string | null;
  /** Its `name` (pools and routes), `null` if it has none. */
  readonly name: string | null;
  /** Position in `rules`, from 0; those of parts follow those of the edge file. */
  readonly index: number;
  /** The name of the file that has the rule: the edge file, or one of its parts. */
  readonly file: string;
  /** Line and column of the rule's mapping, from 1. */
  readonly line: number;
  readonly column: number;
}

/** The position of a record in an edge file. */
export interface RecordSource {
  /** Position in `records`, from 0. */
  readonly index: number;
  readonly file: string;
  readonly line: number;
  readonly column: number;
}

/** Maps ids and field paths of a rule set to places in its edge file. */
export interface EdgeSources {
  /** The name of the file in places, as the caller gave it. */
  readonly file: string;
  /** `fragment: true`: the file has some records and rules of a server's domain, by the server's ids. */
  readonly fragment: boolean;
  /** By rule id. */
  readonly rules: ReadonlyMap<number, RuleSource>;
  /** By record id. */
  readonly records: ReadonlyMap<number, RecordSource>;
  /**
   * Returns the place of a field, given as a path into the rule set; for an absent field, the place of the nearest
   * enclosing value.
   */
  at(path: FieldPath): SourcePlace;
  /** Whether the author wrote the field, which otherwise has its default. */
  writes(path: FieldPath): boolean;
}

/** A file that was read. With `ok: false` at least one diagnostic is an error. */
export type EdgeFile =
  | {
      readonly ok: true;
      readonly ruleSet: RuleSet;
      readonly sources: EdgeSources;
      readonly diagnostics: readonly Diagnostic[];
    }
  | { readonly ok: false; readonly sources: EdgeSources; readonly diagnostics: readonly Diagnostic[] };

/**
 * Reads the text of an edge file (YAML or JSON). Never throws for its content. `name` is the file name that places carry.
 * @example
 * ```ts
 * import { readFile } from 'node:fs/promises';
 * import { compile, formatDiagnostic, readEdgeFile, seal } from 'edgeplan/compiler';
 *
 * const file = readEdgeFile(await readFile('edge.yaml', 'utf8'), 'edge.yaml');
 * if (!file.ok) throw new Error(file.diagnostics.map(formatDiagnostic).join('\n'));
 * const bytes = seal(compile(file.ruleSet).plan, { revision: 1 });
 * console.log(bytes.length);
 * ```
 */
export function readEdgeFile(text: string, name: string): EdgeFile {
  return readEdge(readYaml(text, name), { lists: [], documents: [] });
}

/** The files beside an edge file that are no parts of it. */
interface BesideFiles {
  readonly lists: readonly EdgePart[];
  /** OpenAPI documents. */
  readonly documents: readonly EdgePart[];
}

/** Reads the octets of an edge file, of its parts and of the files of its lists, which must be UTF-8. Never throws. */
export function readEdgeBytes(bytes: Uint8Array, name: string, files: readonly EdgePart[] = []): EdgeFile {
  const main = readYamlBytes(bytes, name);
  const documents = files.filter(({ schema }) => schema !== undefined);
  const others = files.filter(({ schema }) => schema === undefined);
  const parts = others.filter((file) => !isListFile(file));
  const beside = { lists: others.filter(isListFile), documents };
  const excess = tooManyParts(bytes, name, parts);
  if (excess !== null)
    return readEdge({ ...main, value: undefined, diagnostics: [...main.diagnostics, excess] }, beside);
  return readEdge(
    joinParts(
      main,
      parts.map((part) => readYamlBytes(part.octets, part.name)),
    ),
    beside,
  );
}

type Fields = Record<string, unknown>;

/** The state of lowering: what was read from the file and which mistakes it has. */
interface Lowering {
  readonly yaml: YamlFile;
  readonly diagnostics: Diagnostic[];
  readonly rules: Map<number, RuleSource>;
  readonly records: Map<number, RecordSource>;
}

/** Checks that the file has a domain, then lowers, parses and names its rules. */
function readEdge(file: YamlFile, beside: BesideFiles): EdgeFile {
  const { yaml, diagnostics: ofGateways, restate } = joinGateways(file, beside.documents);
  const lowering: Lowering = {
    yaml,
    diagnostics: [...yaml.diagnostics, ...ofGateways],
    rules: new Map(),
    records: new Map(),
  };
  const { diagnostics } = lowering;
  const { rules, records } = lowering;
  const sources: EdgeSources = {
    file: yaml.name,
    fragment: isMapping(yaml.value) && yaml.value['fragment'] === true,
    rules,
    records,
    at: (path) => yaml.at(toFilePath(yaml, path)),
    writes: (path) => has(yaml.value, path),
  };
  // Which of two values is meant is unknown, so what follows from the first would mislead.
  const isRepeated = yaml.diagnostics.some(({ code }) => code === 'duplicate_key');
  if (yaml.value === undefined || isRepeated) return { ok: false, sources, diagnostics };
  const misspelt = isMapping(yaml.value) ? Object.keys(yaml.value).find(resemblesDomain) : undefined;
  if (misspelt !== undefined && isMapping(yaml.value) && !Object.hasOwn(yaml.value, 'domain')) {
    const unknown = {
      code: 'unknown_field',
      message: 'is not a known field',
      remedy: 'did you mean `domain`?',
    } as const;
    diagnostics.push({ severity: 'error', path: [misspelt], ...unknown, at: yaml.keyAt([misspelt]) });
    return { ok: false, sources, diagnostics };
  }
  if (!isMapping(yaml.value) || !Object.hasOwn(yaml.value, 'domain')) {
    const message = 'must be a mapping with `domain`, `records` and `rules`';
    const isTestFile = isMapping(yaml.value) && Object.hasOwn(yaml.value, 'tests');
    const remedy = isTestFile
      ? 'this is a file of tests: `edgeplan test -f edge.yaml` runs it'
      : 'start with `domain: example.com`';
    report(lowering, [], { code: 'invalid_file', message, remedy });
    return { ok: false, sources, diagnostics };
  }
  checkFragment(yaml.value, lowering);
  const lowered = lower(yaml.value, lowering);
  const ruleKeys = new Map([...rules].flatMap(([id, { key }]) => (key === null ? [] : [[id, key]])));
  const { lists, diagnostics: mistaken } = readFileLists(yaml, beside.lists);
  const { registry, names, diagnostics: misplaced } = readFileRegistry(yaml);
  diagnostics.push(...mistaken, ...misplaced);
  const parsed = parseRuleSet(lowered, {
    ...{ ruleKeys, lists, registry, names },
    partial: sources.fragment,
  });
  for (const diagnostic of parsed.diagnostics) diagnostics.push(placed(diagnostic, yaml));
  const stated = diagnostics.map((one) => ({ ...one, path: restate(one.path) })).sort(byPlace);
  const failed = stated.some(({ severity }) => severity === 'error');
  if (!parsed.ok || failed) return { ok: false, sources, diagnostics: stated };
  const keys = keysOf(parsed.ruleSet, {
    keyOf: (rule) => rules.get(rule)?.key ?? null,
    ruleIds: writtenIds(yaml.value['rules']),
    recordIds: writtenIds(yaml.value['records']),
  });
  const none = keys.rules.size === 0 && keys.records.size === 0;
  const ruleSet = none ? parsed.ruleSet : { ...parsed.ruleSet, keys };
  return { ok: true, ruleSet, sources, diagnostics: stated };
}

/** Whether plain data has a value at a path. */
function has(value: unknown, [step, ...rest]: FieldPath): boolean {
  if (step === undefined) return true;
  const known = Array.isArray(value) || isMapping(value) ? Object.hasOwn(value, step) : false;
  return known && has((value as Readonly<Record<string | number, unknown>>)[step], rest);
}

/** The ids that are written in the file, as opposed to those that `withIds` assigns. */
function writtenIds(list: unknown): ReadonlySet<number> {
  const ids = Array.isArray(list) ? list.map((entry) => (isMapping(entry) ? entry['id'] : null)) : [];
  return new Set(ids.filter((id) => typeof id === 'number'));
}

/** Whether a key is a likely misspelling of `domain`. */
function resemblesDomain(key: string): boolean {
  return nearest(key, ['domain']) !== null;
}

/** Checks the mark of a fragment, and that each of its entries has the id by which `apply` finds the object. */
function checkFragment(file: Fields, lowering: Lowering): void {
  if (!Object.hasOwn(file, 'fragment')) return;
  if (file['fragment'] !== true) {
    const message = 'must be `true`, or left out';
    report(lowering, ['fragment'], { code: 'invalid_type', message, found: quoteValue(file['fragment']) });
    return;
  }
  for (const list of ['records', 'rules']) {
    const entries = file[list];
    for (const [index, entry] of Array.isArray(entries) ? entries.entries() : []) {
      if (!isMapping(entry) || Object.hasOwn(entry, 'id')) continue;
      const message = 'is missing: an entry of a fragment has the id that its object has on the server';
      report(lowering, [list, index, 'id'], { code: 'missing_field', message });
    }
  }
}

/** Converts the file's form to the API's: record names become ids, and fields that only files have are removed. */
function lower({ fragment: _, lists: _lists, ...written }: Fields, lowering: Lowering): Fields {
  const file = Object.fromEntries(Object.entries(written).filter(([name]) => !isRegistryList(name)));
  const domain = typeof file['domain'] === 'string' ? { name: file['domain'] } : file['domain'];
  const records = lowerRecords(withIds(file['records']), lowering);
  collectRecordPlaces(records, lowering);
  const named = { records, domain: canonicalDomain(domain) };
  const rules = withIds(file['rules']);
  return {
    ...file,
    domain,
    records,
    rules: Array.isArray(rules) ? lowerRules(rules, named, lowering) : rules,
  };
}

function isRegistryList(name: string): boolean {
  return (REGISTRY_LISTS as readonly string[]).includes(name);
}

/** Gives every entry of a list an id: entries without one get 1, 2, 3 … in order, skipping ids that are written. */
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

/**
 * Lowers each record without `type` and `destination`: the application that embeds the edge answers its host. It is
 * proxied, since only requests for proxied names reach the edge.
 */
function lowerRecords(records: unknown, lowering: Lowering): unknown {
  if (!Array.isArray(records)) return records;
  return records.map((record, index) => {
    if (!isMapping(record) || Object.hasOwn(record, 'type') || Object.hasOwn(record, 'destination'))
      return record;
    if (record['proxied'] === false) {
      const message =
        'must not be `false` without a `destination`: the application answers only what the edge gets';
      const remedy = 'leave `proxied` out, or give `type` and `destination`';
      report(lowering, ['records', index, 'proxied'], { code: 'not_proxied', message, remedy });
    }
    return { proxied: true, ...record, type: 'ALIAS', destination: APPLICATION_HOST };
  });
}

/** Stores the place of each record by its id. */
function collectRecordPlaces(records: unknown, { yaml, records: sources }: Lowering): void {
  if (!Array.isArray(records)) return;
  for (const [index, record] of records.entries()) {
    if (!isMapping(record) || typeof record['id'] !== 'number') continue;
    sources.set(record['id'], { index, ...yaml.at(['records', index]) });
  }
}

/** What record names are resolved against. */
interface Named {
  /** The file's list of records, not validated yet. */
  readonly records: unknown;
  /** The canonical domain name; `null` when the name in the file is not well-formed. */
  readonly domain: string | null;
}

/** The domain name in lower case and ASCII; `null` when it is absent or malformed. */
function canonicalDomain(domain: unknown): string | null {
  if (!isMapping(domain) || typeof domain['name'] !== 'string') return null;
  return normalizeName(domain['name']);
}

/**
 * Lowers each rule and stores its place, key and name. An entry that is no mapping is left for the parser to
 * refuse.
 */
function lowerRules(rules: readonly unknown[], named: Named, lowering: Lowering): unknown[] {
  const keys = new Map<string, number>();
  const byName = recordsByName(named);
  return rules.map((rule, index) => {
    if (!isMapping(rule)) return rule;
    const { key, records, ...fields } = rule;
    const place = lowering.yaml.at(['rules', index]);
    const ruleKey = key === undefined ? null : readKey(key, index, { keys, lowering });
    if (typeof fields['id'] === 'number') {
      const name = typeof fields['name'] === 'string' && fields['name'] !== '' ? fields['name'] : null;
      lowering.rules.set(fields['id'], { key: ruleKey, name, index, ...place });
    }
    if (records === undefined) return fields;
    if (Object.hasOwn(fields, 'record_ids') || Object.hasOwn(fields, 'record_id')) {
      const message = 'must not be given together with record ids; write either record names or record ids';
      report(lowering, ['rules', index, 'records'], { code: 'records_twice', message });
      return fields;
    }
    return { ...fields, record_ids: resolve(records, index, { byName, named, lowering }) };
  });
}

/** Reads a rule's `key`; reports a malformed or repeated one and returns `null`. */
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
    const { file, line } = lowering.yaml.at(['rules', first]);
    const here = lowering.yaml.at(path).file;
    const where = file === here ? `line ${line}` : `${file}:${line}`;
    const message = `is the key of an earlier rule (${where}); keys must differ`;
    report(lowering, path, { code: 'duplicate_key', message, found: quoteValue(key) });
    return null;
  }
  keys.set(key, index);
  return key;
}

/** A record as far as references need it. */
interface NamedRecord {
  readonly id: number;
  /** In upper case. */
  readonly type: string;
}

/** Groups the records by absolute name. */
function recordsByName({ records, domain }: Named): ReadonlyMap<string, readonly NamedRecord[]> {
  const byName = new Map<string, NamedRecord[]>();
  if (!Array.isArray(records) || domain === null) return byName;
  for (const record of records) {
    if (!isMapping(record) || typeof record['id'] !== 'number' || typeof record['name'] !== 'string')
      continue;
    const name = absoluteName(record['name'], domain);
    if (name === null) continue;
    const same = byName.get(name) ?? [];
    same.push({ id: record['id'], type: String(record['type']).toUpperCase() });
    byName.set(name, same);
  }
  return byName;
}

/** What `resolve` works with. */
interface Resolving {
  readonly byName: ReadonlyMap<string, readonly NamedRecord[]>;
  readonly named: Named;
  readonly lowering: Lowering;
}

/**
 * Resolves `records: [shop, 'shop AAAA']` to ids: all records of the name, or those of the given type. A name
 * without records is reported with the nearest known one.
 */
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
    const closest = typeof entry === 'string' ? nearest(entry, knownNames(named)) : null;
    report(lowering, [...path, position], {
      code: 'unknown_record',
      message: 'is not a record of this file; write its name, or its name and type like `shop AAAA`',
      found: quoteValue(entry),
      ...(closest === null ? {} : { remedy: `did you mean \`${closest}\`?` }),
    });
  }
  return ids;
}

/** The names of all records, for suggestions. */
function knownNames({ records }: Named): string[] {
  const names = Array.isArray(records)
    ? records.map((record) => (isMapping(record) ? record['name'] : null))
    : [];
  return names.filter((name) => typeof name === 'string');
}

/** Adds an error with its place in the file. */
function report(
  { yaml, diagnostics }: Lowering,
  path: FieldPath,
  problem: {
    readonly code: DiagnosticCode;
    readonly message: string;
    readonly found?: string;
    readonly remedy?: string;
  },
): void {
  diagnostics.push({ severity: 'error', path, ...problem, at: yaml.at(path) });
}
