/** From a domain's rows to the sealed plan of its next revision: rows, rule set, compile, seal, open and run. */

import { type Diagnostic, describeDiagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { MAX_PLAN_LIST_OCTETS } from '../../base/vocabulary/limits.ts';
import { compile } from '../../engine/compiler/index.ts';
import { selfTest } from '../../engine/evaluator/self-test.ts';
import { seal } from '../../engine/plan/seal.ts';
import { EDGE_SETTING_NAMES } from '../../rules/model/domain.ts';
import { pick } from '../../rules/model/form.ts';
import { parseDomain, parseRecord, parseRule } from '../../rules/model/parse.ts';
import type {
  DnsRecord,
  Domain,
  Registry,
  Rule,
  RuleList,
  RuleSet,
  SealedRegistry,
} from '../../rules/model/types.ts';
import type { ReadTransaction } from '../store/store.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { RecordRow, RuleContentRow, RuleRow } from '../store/tables/rules.ts';
import { PublishFault } from './fault.ts';
import { type ListCache, listsOfDomain, NO_LISTS, openLists, type PlanLists } from './plan-lists.ts';
import { registryOfDomain } from './plan-registry.ts';

/** @throws PublishFault `stored_rows`, `compile` or `self_test` */
export function makePlan({ rows, lists }: PlanContent, revision: number): Uint8Array {
  const ruleSet = toRuleSet(rows);
  const { plan, diagnostics } = compileOrFault(ruleSet);
  if (hasErrors(diagnostics)) {
    const [first] = diagnostics.filter(({ severity }) => severity === 'error');
    throw new PublishFault(
      'compile',
      `\`${rows.domain.name}\` does not compile: ${describeDiagnostic(first!)}`,
    );
  }
  const bytes = seal(plan, { revision });
  assertPublishable(bytes, { domain: rows.domain.name, revision, lists });
  return bytes;
}

function compileOrFault(ruleSet: Parameters<typeof compile>[0]): ReturnType<typeof compile> {
  try {
    return compile(ruleSet);
  } catch (cause) {
    const said = cause instanceof Error ? cause.message : String(cause);
    throw new PublishFault('compile', `\`${ruleSet.domain.name}\` does not compile: ${said}`, { cause });
  }
}

// What a plan is made of: a domain by its id, and its rows as a snapshot has them when the plan is made.

/** A domain to make a plan of. */
export interface PlanSubject {
  readonly domain_id: number;
  readonly domain: string;
  readonly entitlements: PublishedEntitlements;
}

/** Whether the edge serves a domain at all; any other gets a tombstone (semantics §2). */
export function mayServe(domain: Pick<DomainRow, 'status' | 'suspended'>): boolean {
  return (domain.status === 'active' || domain.status === 'moved') && !domain.suspended;
}

/** What a plan is made of. */
export interface PlanContent {
  readonly rows: DomainRows;
  /** The opened lists that the rules name. */
  readonly lists: PlanLists;
}

/**
 * All rows of a domain that nodes run; `null` if it is gone or must not serve, or if its rules name a list, or it has a registry, that was never
 * sealed, which is newer than the publication. @throws PublishFault `blob`
 */
export async function readContent(
  tx: ReadTransaction,
  { domain_id, entitlements }: PlanSubject,
  cache: ListCache,
): Promise<PlanContent | null> {
  const domain = await tx.domains.get(domain_id);
  if (domain === null || !mayServe(domain)) return null;
  const rows = await readPublishedRows(tx, domain, entitlements);
  const named = await listsOfDomain(tx, domain_id);
  const registry = await registryOfDomain(tx, domain_id);
  if (named.length === 0 && registry === null) return { rows, lists: NO_LISTS };
  const lists = named.flatMap(({ name, kind, digest }) => (digest === null ? [] : [{ name, kind, digest }]));
  if (lists.length < named.length || (registry !== null && registry.digest === null)) return null;
  const sealed = registry === null ? [] : [{ digest: registry.digest! }];
  const digests = [...lists, ...sealed].map(({ digest }) => digest);
  const [ofRegistry] = sealed;
  return {
    rows: { ...rows, lists, ...(ofRegistry === undefined ? {} : { registry: ofRegistry }) },
    lists: await openLists(tx, digests, cache),
  };
}

/**
 * Tests the sealed bytes that are about to be published as a revision of a domain that serves.
 * @throws PublishFault `self_test` with the first thing that is wrong
 */
export function assertPublishable(
  bytes: Uint8Array,
  { domain, revision, lists = NO_LISTS }: PublishedAs,
): void {
  const octets = [...lists.values()].reduce((sum, list) => sum + list.octets, 0);
  if (octets > MAX_PLAN_LIST_OCTETS) {
    const most = `at most ${MAX_PLAN_LIST_OCTETS} are possible`;
    throw new PublishFault(
      'self_test',
      `the lists of \`${domain}\` have ${octets} octets when they are compiled, ${most}`,
    );
  }
  const find = (digest: string) => lists.get(digest) ?? null;
  const wrong = selfTest(bytes, { domain, revision, refusesNoHost: true, lists: find });
  if (wrong !== null) throw new PublishFault('self_test', wrong);
}

/** What the bytes are published as, and the lists that they name. */
export interface PublishedAs {
  readonly domain: string;
  readonly revision: number;
  /** Absent: it names none. */
  readonly lists?: PlanLists;
}

// From the store's rows to what the compiler reads. Checked again on the way: once before writing, once after reading.

/** All rows that shape one domain, as one snapshot saw them. */
export interface DomainRows {
  readonly domain: DomainRow;
  readonly records: readonly RecordRow[];
  readonly rules: readonly RuleRow[];
  readonly contents: readonly RuleContentRow[];
  /** What the owner has bought holds no WebSockets. */
  readonly websocketsOff: boolean;
  /** The lists that the rules name; absent: none, or of no use to the reader. */
  readonly lists?: readonly RuleList[];
  /** What gateways refer to; absent: nothing, or of no use to the reader. */
  readonly registry?: Registry | SealedRegistry;
}

/** Of what a domain's owner has bought, what nodes enforce. */
export interface PublishedEntitlements {
  /** WebSockets. */
  readonly ws_enabled: boolean;
}

export const EVERYTHING: PublishedEntitlements = { ws_enabled: true };

/**
 * Reads everything that shapes `domain` with its rules as they are stored; call it inside one snapshot or write. It grows with
 * the domain: see `PlanMaker`.
 */
export async function readDomainRows(
  tx: ReadTransaction,
  domain: DomainRow,
  { ws_enabled }: PublishedEntitlements = EVERYTHING,
): Promise<DomainRows> {
  const records = await tx.records.list(domain.id);
  const rules = await tx.rules.listAll(domain.id);
  const contents = hasPages(rules) ? await tx.rules.contents(domain.id) : [];
  return { domain, records, rules, contents, websocketsOff: !ws_enabled };
}

/** The same with the published rules, which are others while the domain publishes by hand and has a draft. */
export async function readPublishedRows(
  tx: ReadTransaction,
  domain: DomainRow,
  entitlements: PublishedEntitlements = EVERYTHING,
): Promise<DomainRows> {
  if (domain.publish_mode === 'automatic') return readDomainRows(tx, domain, entitlements);
  const records = await tx.records.list(domain.id);
  const rules = await tx.drafts.publishedRules(domain.id);
  const contents = hasPages(rules) ? await tx.drafts.publishedContents(domain.id) : [];
  return { domain, records, rules, contents, websocketsOff: !entitlements.ws_enabled };
}

function hasPages(rules: readonly RuleRow[]): boolean {
  return rules.some((rule) => rule.type === 'error_page');
}

/**
 * The rule set of a domain's rows. Rules may name records that are gone (semantics §2: a disabled rule keeps its last
 * id list); such an id matches no host.
 * @throws PublishFault `stored_rows` naming the row, when one does not read: whatever is stored was accepted once
 */
export function toRuleSet(rows: DomainRows): RuleSet {
  const contents = new Map(rows.contents.map((row) => [row.rule_id, row.content]));
  return {
    domain: toDomain(rows),
    records: rows.records.map((row) => toRecord(row, rows.domain.name)),
    rules: rows.rules.map((row) => toRule(row, contents.get(row.id))),
    ...(rows.lists === undefined ? {} : { lists: rows.lists }),
    ...(rows.registry === undefined ? {} : { registry: rows.registry }),
  };
}

function toDomain({ domain: row, websocketsOff }: DomainRows): Domain {
  const until = row.developer_mode_until;
  const parsed = parseDomain({
    name: row.name,
    status: row.status,
    suspended: row.suspended,
    developer_mode_until: until === null ? null : new Date(until).toISOString(),
    ...pick(row, EDGE_SETTING_NAMES),
    websockets_off: websocketsOff,
  });
  return parsed.ok ? parsed.domain : refuse(`domain \`${row.name}\``, parsed.diagnostics);
}

function toRecord(row: RecordRow, domain: string): DnsRecord {
  const parsed = parseRecord(row, domain, { stored: true });
  return parsed.ok ? parsed.record : refuse(`record ${row.id}`, parsed.diagnostics);
}

/** One stored rule as the model has it. `content` is an error page's HTML, kept apart from the row. */
export function toRule(row: RuleRow, content?: string | undefined): Rule {
  const name = `rule ${row.type}/${row.id}`;
  const body = readJson(row.body, name);
  const pages = content === undefined ? {} : { content: readJson(content, name) };
  const parsed = parseRule(row.type, { ...body, ...pages, priority: row.priority }, { stored: true });
  if (!parsed.ok) return refuse(name, parsed.diagnostics);
  return { id: row.id, type: row.type, ...parsed.fields } as Rule;
}

function readJson(text: string, name: string): Record<string, unknown> {
  try {
    return JSON.parse(text) as Record<string, unknown>;
  } catch (cause) {
    throw new PublishFault('stored_rows', `${name} is not JSON in the store`, { cause });
  }
}

function refuse(name: string, diagnostics: readonly Diagnostic[]): never {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  const said = errors.slice(0, 3).map(describeDiagnostic).join('; ');
  throw new PublishFault('stored_rows', `${name} no longer reads as what was accepted: ${said}`);
}
