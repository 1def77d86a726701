/**
 * Compiles everything that shapes one domain to a plan. In: a rule set as the model made it. Out: the plan's sections,
 * ready to seal, and diagnostics. The stages below run in their order; each reads from the draft what the earlier ones
 * have written, and no other state is shared.
 */
import type { Diagnostic } from '../../base/diagnostics/diagnostic.ts';
import { describeArgument } from '../../base/diagnostics/options.ts';
import { buildAhoCorasick } from '../../base/octets/aho-corasick.ts';
import { SWITCH_LIST } from '../../base/vocabulary/switches.ts';
import { ALWAYS_ENFORCED, BOT_KINDS, DOMAIN_STATUSES } from '../../base/vocabulary/vocabulary.ts';
import type { Rule, RuleSet } from '../../rules/model/types.ts';
import {
  COUNTRIES,
  EJECTIONS,
  FLAG,
  FLAG_ACTION_SHIFT,
  META,
  MONITORED,
  NONE,
  OPERATION_SETTINGS,
  PATTERN_KIND,
  type Plan,
  RECENT,
  SLOT,
  typeNumber,
  WIDE_GATEWAYS,
} from '../plan/layout.ts';
import { layConditions } from './conditions.ts';
import {
  createDraft,
  orderRules,
  type PlanDraft,
  placePosting,
  placeString,
  placeWords,
  sealStrings,
} from './draft.ts';
import { fileRules } from './filing.ts';
import { KEY } from './filing-keys.ts';
import * as filters from './filters.ts';
import { hasOperationSettings, isWideGateway } from './gateways.ts';
import { layCidrIndexes, layTree, reversed, type TreeEntries } from './indexes.ts';
import { layLists } from './lists.ts';
import { groupRecords, isMonitored, layNames } from './names.ts';
import type { KnownPatterns } from './patterns.ts';
import { compilerOf, hasOwnEjection } from './rule-types.ts';

/** A plan and what its author should know. The plan is complete even if there are warnings. */
export interface CompileResult {
  readonly plan: Plan;
  readonly diagnostics: readonly Diagnostic[];
}

/** Options of a compile. */
export interface CompileOptions {
  /** Patterns that earlier compiles have left, and to which this one adds its own. Default: none. */
  readonly patterns?: KnownPatterns;
}

/**
 * The stages in their order: first the order of rules and the keys they are filed under, then the indexes, then the
 * rows that the indexes refer to.
 */
const STAGES: readonly { readonly name: string; readonly run: (draft: PlanDraft) => void }[] = [
  { name: 'order rules by phase, priority and id', run: orderRules },
  { name: 'group proxied records by name', run: groupRecords },
  { name: 'file each rule under its rarest key', run: fileRules },
  { name: 'lay address intervals', run: layCidrIndexes },
  { name: 'lay trees and literal machine', run: layLiteralIndexes },
  { name: 'lay countries, bots and the rest', run: laySmallIndexes },
  { name: 'lay names and records', run: layNames },
  { name: 'lay rules', run: laySlots },
  { name: 'lay conditions', run: layConditions },
  { name: 'lay lists', run: layLists },
  { name: 'lay keys', run: layKeys },
  { name: 'lay the domain', run: layDomain },
];

/**
 * Compiles a rule set. The same rule set gives the same plan, octet by octet.
 * @param ruleSet accepted by the model; what the model refuses makes an assertion fail here
 * @throws TypeError when it is no rule set
 * @example
 * ```ts
 * import { compile, formatDiagnostic, parseRuleSet, seal } from 'edgeplan/compiler';
 *
 * const parsed = parseRuleSet({
 *   domain: { name: 'example.com' },
 *   records: [{ id: 1, name: 'shop', type: 'A', destination: '198.51.100.20', proxied: true }],
 *   rules: [{ id: 7, type: 'drop', path_includes: ['/admin/*'] }],
 * });
 * if (!parsed.ok) throw new Error(parsed.diagnostics.map(formatDiagnostic).join('\n'));
 * const { plan, diagnostics } = compile(parsed.ruleSet);
 * for (const diagnostic of diagnostics) console.warn(formatDiagnostic(diagnostic));
 * const bytes = seal(plan, { revision: 1 });
 * ```
 */
export function compile(ruleSet: RuleSet, { patterns = new Map() }: CompileOptions = {}): CompileResult {
  checkRuleSet(ruleSet);
  const draft = createDraft(ruleSet, patterns);
  for (const stage of STAGES) stage.run(draft);
  return { plan: assemble(draft), diagnostics: draft.diagnostics };
}

/** @throws TypeError when plain JavaScript gives something else, such as what `parseRuleSet` returned */
function checkRuleSet(given: unknown): void {
  const fields = (typeof given === 'object' && given !== null ? given : {}) as Partial<RuleSet>;
  const isRuleSet = Array.isArray(fields.rules) && Array.isArray(fields.records);
  if (isRuleSet && typeof fields.domain === 'object') return;
  const remedy = 'give the `ruleSet` of what `parseRuleSet` or `readEdgeFile` returned, if it is `ok`';
  throw new TypeError(
    `compile takes a rule set, found ${describeArgument(given)} without its fields; ${remedy}`,
  );
}

/** Slots by literal, each list ascending. */
type Keys = ReadonlyMap<string, readonly number[]>;

/** Divides the filing keys by index. Returns the function from a prefix (KEY) to that index' literals, without the prefix. */
function splitKeys(draft: PlanDraft): (prefix: string) => Keys {
  const split = new Map<string, Map<string, readonly number[]>>();
  for (const prefix of Object.values(KEY)) split.set(prefix, new Map());
  for (const [key, slots] of draft.filing.byKey) split.get(key.slice(0, 2))?.set(key.slice(2), slots);
  return (prefix) => split.get(prefix) ?? new Map();
}

/** The entries with their literals reversed, for an index that is read from the end of a text. */
function backwards(entries: ReadonlyMap<string, readonly number[]>): ReadonlyMap<string, readonly number[]> {
  return new Map([...entries].map(([literal, slots]) => [reversed(literal), slots]));
}

/**
 * Lays the trees over paths, hosts and fingerprints, and the Aho–Corasick automaton over inner literals of paths. An
 * index without keys is NONE in `meta`.
 */
function layLiteralIndexes(draft: PlanDraft): void {
  const { meta } = draft;
  const keysUnder = splitKeys(draft);
  const tree = (exact: string, prefix: string): TreeEntries => ({
    exact: keysUnder(exact),
    prefix: keysUnder(prefix),
  });
  const hosts = tree(KEY.hostExact, KEY.hostSuffix);
  meta[META.pathTree] = layTree(draft, tree(KEY.pathExact, KEY.pathPrefix));
  meta[META.suffixTree] = layTree(draft, {
    exact: new Map(),
    prefix: backwards(keysUnder(KEY.pathSuffix)),
  });
  meta[META.hostTree] = layTree(draft, { exact: backwards(hosts.exact), prefix: backwards(hosts.prefix) });
  meta[META.ja4Tree] = layTree(draft, tree(KEY.ja4Exact, KEY.ja4Prefix));
  meta[META.ja4hTree] = layTree(draft, tree(KEY.ja4hExact, KEY.ja4hPrefix));
  layValueTrees(draft, keysUnder);
  // All inner literals are found in one pass over the path; `innerPostings` has a posting for each of them.
  const inner = [...keysUnder(KEY.pathInner)];
  meta[META.inner] = inner.length > 0 ? 1 : 0;
  if (inner.length === 0) return;
  draft.literals = buildAhoCorasick(inner.map(([literal]) => literal));
  meta[META.innerPostings] = placeWords(
    draft.words,
    inner.map(([, slots]) => placePosting(draft, slots)),
  );
}

/** Lays a tree over the values of each source that rules are filed by. */
function layValueTrees(draft: PlanDraft, keysUnder: (prefix: string) => Keys): void {
  const trees = new Map<
    string,
    { exact: Map<string, readonly number[]>; prefix: Map<string, readonly number[]> }
  >();
  for (const [part, prefix] of [
    ['exact', KEY.valueExact],
    ['prefix', KEY.valuePrefix],
  ] as const) {
    for (const [text, slots] of keysUnder(prefix)) {
      const end = text.indexOf('\0');
      const name = text.slice(0, end);
      const tree = trees.get(name) ?? { exact: new Map(), prefix: new Map() };
      trees.set(name, tree);
      tree[part].set(text.slice(end + 1), slots);
    }
  }
  for (const [name, tree] of trees) draft.valueTrees.set(name, layTree(draft, tree));
}

/**
 * Lays the indexes over small closed vocabularies (countries, bot kinds) as tables of postings, and the posting of
 * the rules that no index narrows.
 */
function laySmallIndexes(draft: PlanDraft): void {
  const { meta, words } = draft;
  const keysUnder = splitKeys(draft);
  const countries = keysUnder(KEY.country);
  if (countries.size > 0) {
    const postings = new Array<number>(COUNTRIES).fill(NONE);
    for (const [code, slots] of countries) postings[filters.countryNumber(code)] = placePosting(draft, slots);
    meta[META.countries] = placeWords(words, postings);
  }
  const bots = keysUnder(KEY.bot);
  if (bots.size > 0) {
    // The last row is of bots that are none of the named kinds.
    const kinds = [...BOT_KINDS, ''].map((kind) => placePosting(draft, bots.get(kind) ?? []));
    meta[META.bots] = placeWords(words, kinds);
  }
  meta[META.always] = placePosting(draft, draft.filing.always);
}

/** Lays the row of every rule, in evaluation order. */
function laySlots(draft: PlanDraft): void {
  draft.ejections = draft.rules.some(hasOwnEjection);
  draft.operationSettings = draft.rules.some(hasOperationSettings);
  draft.wideGateways = draft.operationSettings || draft.rules.some(isWideGateway);
  draft.slots = new Uint32Array(draft.rules.length * SLOT.size);
  for (const [slot, rule] of draft.rules.entries()) draft.slots.set(slotRow(draft, rule), slot * SLOT.size);
}

/**
 * Lays the keys that identify rules and records of an edge file, where an id is only a place (semantics §7). Rules: a
 * string number by slot. Records: pairs of id and string number.
 */
function layKeys(draft: PlanDraft): void {
  const { keys } = draft.ruleSet;
  if (keys === undefined) return;
  const string = (text: string): number => placeString(draft.strings, text);
  if (keys.rules.size > 0)
    draft.ruleKeys = Uint32Array.from(draft.rules, ({ id }) => string(keys.rules.get(id) ?? ''));
  draft.recordKeys = Uint32Array.from([...keys.records].flatMap(([id, key]) => [id, string(key)]));
}

/** The row of one rule (layout: `SLOT` in `engine/plan/layout.ts`). NONE if the rule's type has no such field. */
function slotRow(draft: PlanDraft, rule: Rule): readonly number[] {
  const row = new Array<number>(SLOT.size).fill(NONE);
  row[SLOT.id] = rule.id;
  row[SLOT.priority] = rule.priority;
  row[SLOT.flags] = flagsOf(rule);
  row[SLOT.scope] = filters.placeScope(draft, rule);
  row[SLOT.host] = filters.placeHost(draft, rule);
  row[SLOT.path] = filters.placePath(draft, rule);
  row[SLOT.need] = filters.neededCharacters(draft, rule);
  const { fields, filters: own } = compilerOf(rule);
  row[SLOT.fields] = fields(draft, rule);
  for (const { column, at } of own(draft, rule)) row[SLOT[column]] = at;
  return row;
}

/** The flags of a rule (`FLAG`), with the number of its action or mode above them. */
function flagsOf(rule: Rule): number {
  const { action, flags: own } = compilerOf(rule);
  let flags = typeNumber(rule.type) | (action(rule) << FLAG_ACTION_SHIFT) | own(rule);
  if (rule.action_mode === 'dry_run' && !ALWAYS_ENFORCED.includes(rule.type)) flags |= FLAG.dryRun;
  if (rule.enabled) flags |= FLAG.enabled;
  if (rule.host_pattern !== '') flags |= FLAG.hostPattern;
  return flags;
}

/** Lays the domain's name, state and edge settings into `meta`. */
function layDomain(draft: PlanDraft): void {
  const { domain } = draft.ruleSet;
  const { meta } = draft;
  // Times before 1970 become 0, which is past: some languages write `0001-01-01T00:00:00Z` for "no time".
  const until =
    domain.developer_mode_until === null ? 0 : Math.max(0, Date.parse(domain.developer_mode_until));
  meta[META.domain] = placeString(draft.strings, domain.name);
  meta[META.status] = DOMAIN_STATUSES.indexOf(domain.status);
  meta[META.suspended] = domain.suspended ? 1 : 0;
  // Two words, since milliseconds since the epoch need 41 bits.
  meta[META.developerLow] = until >>> 0;
  meta[META.developerHigh] = Math.floor(until / 2 ** 32);
  let switches = 0;
  for (const { name, bit } of SWITCH_LIST) {
    if (domain[name]) switches |= bit;
  }
  if (draft.groups.some(isMonitored)) switches |= MONITORED;
  if (draft.ejections) switches |= EJECTIONS;
  if (draft.recent) switches |= RECENT;
  if (draft.wideGateways) switches |= WIDE_GATEWAYS;
  if (draft.operationSettings) switches |= OPERATION_SETTINGS;
  meta[META.switches] = switches;
  meta[META.cacheCapMb] = domain.cache_cap_mb;
  meta[META.diskMaxGb] = domain.cache_l2_max_gb;
  meta[META.diskTtlDays] = domain.cache_l2_ttl_days;
}

/** Makes the sections of the plan from the draft's pools and lists. */
function assemble(draft: PlanDraft): Plan {
  const dfas: number[] = [];
  const patterns = draft.patterns.list.flatMap((pattern) => {
    let data = 0;
    if (pattern.kind === PATTERN_KIND.dfa && pattern.dfa !== null) {
      data = dfas.length;
      for (const word of pattern.dfa) dfas.push(word);
    } else if (pattern.kind === PATTERN_KIND.pieces) {
      const pieces = pattern.pieces.map((piece) => placeString(draft.strings, piece));
      data = placeWords(draft.words, [pieces.length, ...pieces]);
    } else if (pattern.kind === PATTERN_KIND.list) {
      data = draft.lists.get(pattern.source.slice(1))!;
    } else data = placeString(draft.strings, pattern.text);
    return [
      pattern.kind,
      placeString(draft.strings, pattern.source),
      data,
      filters.keyCharacters(pattern.keys),
    ];
  });
  // Rows of two words, offset in `postingSlots` and count: a list starts where the one before it ends.
  const postings = draft.postings.lists.reduce<number[]>((rows, list) => {
    rows.push((rows.at(-2) ?? 0) + (rows.at(-1) ?? 0), list.length);
    return rows;
  }, []);
  return {
    // Plans that need no word of the newest version have none.
    meta: draft.newest ? draft.meta : draft.meta.slice(0, META.size),
    slots: draft.slots,
    words: Uint32Array.from(draft.words.words),
    patterns: Uint32Array.from(patterns),
    ...sealStrings(draft.strings),
    postings: Uint32Array.from(postings),
    postingSlots: Uint32Array.from(draft.postings.lists.flat()),
    nodes: Uint32Array.from(draft.nodes),
    literals: draft.literals,
    names: draft.names,
    cidr4: draft.cidr4,
    cidr6: draft.cidr6,
    dfas: Uint16Array.from(dfas),
    labels: Uint16Array.from(draft.labels.units),
    ruleKeys: draft.ruleKeys,
    recordKeys: draft.recordKeys,
    conditions: draft.conditions,
    valueSources: draft.valueSources,
    valueTests: draft.valueTests,
    lists: draft.listRows,
    listData: draft.listData,
  };
}
