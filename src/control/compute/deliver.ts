/** Runs one job and returns its result or its failure as plain values, which can be posted from thread to thread. */
import { type Diagnostic, describeDiagnostic, diagnosticFields } from '../../base/diagnostics/diagnostic.ts';
import { StoreFault, type StoreFaultCode } from '../../base/storage/fault.ts';
import type { FindList } from '../../engine/evaluator/plan-parts.ts';
import { PlanFault } from '../../engine/plan/layout.ts';
import { digestsIn } from '../../engine/plan/list-digests.ts';
import { openSignatures } from '../../engine/plan/open-signatures.ts';
import { loadSignatures } from '../../engine/waf/load/load.ts';
import { readOpenApiBytes } from '../../rules/files/openapi-file.ts';
import { describeMistakes } from '../../rules/model/report.ts';
import { asOperation, discoverUnknown } from '../../workbench/discovery/unknown-operations.ts';
import { lintRuleSet } from '../../workbench/proofs/lint.ts';
import type { RuleNote, TraceDocument } from '../../workbench/simulation/document.ts';
import { type Signatures, simulate } from '../../workbench/simulation/simulate.ts';
import { readRecordInput } from '../dns/record-data.ts';
import { parseZone } from '../dns/zone-file/parse.ts';
import { readFeedBody } from '../lists/feed/read-feed.ts';
import { toRuleSet } from '../publishing/make-plan.ts';
import { createListCache, openLists } from '../publishing/plan-lists.ts';
import { readFactRows, toFacts } from '../recommendations/read-facts.ts';
import { printRecommendation, recommend } from '../recommendations/recommend.ts';
import type { Snapshots } from '../store/database/open.ts';
import { readTop, readTraffic } from '../traffic/read-traffic.ts';
import { STEP_MS, type TrafficPeriod } from '../traffic/retention.ts';
import { showGatewayUse, showOperationUse } from '../traffic/show-gateway-use.ts';
import { inEvaluationOrder, removedRules, showRuleHits, sumHits } from '../traffic/show-hits.ts';
import { QUANTILE_ERROR, showTop, showTraffic, VISITORS_ERROR } from '../traffic/show-traffic.ts';
import {
  compareRevisions,
  compareTexts,
  cut,
  MAX_RESULT_PAGE_OCTETS,
  printRevision,
  type Shortened,
  short,
  takePage,
} from './compare.ts';
import { checkDraft, compareDraft, provedText, readListedRows } from './draft.ts';
import type {
  AnalysisJob,
  AnswerPage,
  DiffJob,
  DiscoverJob,
  GatewayUseJob,
  HitsJob,
  Job,
  JobKind,
  JobResults,
  ListPage,
  OperationUseJob,
  ReadLine,
  ReadZoneFile,
  RecommendJob,
  SealedSignatures,
  SimulateJob,
  TopJob,
  TrafficJob,
  ZoneJob,
  ZoneProblem,
} from './job.ts';
import { readListBody } from './read-list.ts';

/** What a thread answers to a job. */
export type JobDelivery =
  | { readonly kind: 'done'; readonly result: JobResults[JobKind] }
  /** The sealed plan was published by an earlier version that this build cannot read. */
  | { readonly kind: 'plan'; readonly message: string }
  /** The store failed. */
  | { readonly kind: 'store'; readonly code: StoreFaultCode; readonly message: string }
  /** A bug of ours; the stack is for the log. */
  | { readonly kind: 'failed'; readonly stack: string };

/** Runs the job. Never rejects. */
export async function deliver(job: Job, snapshots: Snapshots): Promise<JobDelivery> {
  try {
    return { kind: 'done', result: await resultOf(job, snapshots) };
  } catch (error) {
    if (error instanceof PlanFault) return { kind: 'plan', message: error.message };
    if (error instanceof StoreFault) return { kind: 'store', code: error.code, message: error.message };
    return { kind: 'failed', stack: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

function resultOf(job: Job, snapshots: Snapshots): JobResults[JobKind] | Promise<JobResults[JobKind]> {
  switch (job.kind) {
    case 'analysis':
      return analyse(job, snapshots);
    case 'simulate':
      return simulatePage(job, snapshots);
    case 'diff':
      return diffPage(job, snapshots);
    case 'draft_diff':
      return compareDraft(job, snapshots);
    case 'draft_check':
      return checkDraft(job, snapshots);
    case 'invariants':
      return provedText(job, snapshots);
    case 'text_diff':
      return compareTexts(job);
    case 'print':
      return printRevision(job);
    case 'zone':
      return readZoneFile(job);
    case 'list':
      return readListBody(job);
    case 'list_feed':
      return readFeedBody(job);
    case 'schema':
      return readOpenApiBytes(job.octets, 'schema');
    case 'hits':
      return hitsPage(job, snapshots);
    case 'traffic':
      return trafficText(job, snapshots);
    case 'top':
      return topText(job, snapshots);
    case 'discover':
      return discoveredText(job, snapshots);
    case 'gateway_use':
      return gatewayUseText(job, snapshots);
    case 'operation_use':
      return operationUseText(job, snapshots);
    case 'recommend':
      return recommendPage(job, snapshots);
    default:
      return job satisfies never;
  }
}

// Lints the stored rules of a domain and returns a page of the findings.

/** The findings from index `from` on, at most `limit` and `MAX_RESULT_PAGE_OCTETS`. @throws StoreFault */
async function analyse({ domain, from, limit }: AnalysisJob, snapshots: Snapshots): Promise<ListPage> {
  const rows = await snapshots.read((tx) => readListedRows(tx, domain));
  const findings = lintRuleSet(toRuleSet(rows));
  const texts: string[] = [];
  let octets = 0;
  for (const finding of findings.slice(from, from + limit)) {
    const text = JSON.stringify(diagnosticFields(finding));
    octets += Buffer.byteLength(text) + 1;
    // A page has at least one finding, so that paging always ends.
    if (octets > MAX_RESULT_PAGE_OCTETS && texts.length > 0) break;
    texts.push(text);
  }
  return { text: `[${texts.join(',')}]`, of: findings.length, shown: texts.length };
}

// Computes the recommendations of a domain and returns a page of them.

/** Those from index `from` on, at most `limit` and `MAX_RESULT_PAGE_OCTETS`. @throws StoreFault, CountsFault */
async function recommendPage(job: RecommendJob, snapshots: Snapshots): Promise<ListPage> {
  const { limit, from } = job;
  const facts = toFacts(await snapshots.read((tx) => readFactRows(tx, job)), job);
  const drafts = recommend(facts);
  const of = { domain: facts.domain.name, records: facts.records };
  const texts: string[] = [];
  let octets = 0;
  for (const draft of drafts.slice(from, from + limit)) {
    const text = JSON.stringify(printRecommendation(draft, of));
    octets += Buffer.byteLength(text) + 1;
    // A page has at least one recommendation, so that paging always ends.
    if (octets > MAX_RESULT_PAGE_OCTETS && texts.length > 0) break;
    texts.push(text);
  }
  return { text: `[${texts.join(',')}]`, of: drafts.length, shown: texts.length };
}

// Simulates one request and returns the requested page of its trace.

/** The signature set this thread used last. */
let loaded: Signatures | null = null;

/** The lists that this thread used last. */
const listCache = createListCache();

/** The lists that sealed plans name. @throws StoreFault, PublishFault when the store has lost one */
async function findLists(plans: readonly (Uint8Array | null)[], snapshots: Snapshots): Promise<FindList> {
  const digests = new Set(plans.flatMap((bytes) => (bytes === null ? [] : digestsIn(bytes))));
  if (digests.size === 0) return () => null;
  const lists = await snapshots.read((tx) => openLists(tx, [...digests], listCache));
  return (digest) => lists.get(digest) ?? null;
}

/** A page of the differences. @throws PlanFault, StoreFault */
async function diffPage(job: DiffJob, snapshots: Snapshots): Promise<string> {
  return compareRevisions(job, job.proof ? await findLists([job.before, job.after], snapshots) : () => null);
}

/** The page as JSON text. @throws PlanFault when this build cannot read the plan; StoreFault */
async function simulatePage(job: SimulateJob, snapshots: Snapshots): Promise<string> {
  const { bytes, digest, revision, signatures, asked, limit, from } = job;
  const subject = {
    lists: await findLists([bytes], snapshots),
    bytes,
    digest: `sha256:${digest}`,
    name: `revision ${revision}`,
    sources: new Map(),
    ruleSet: null,
    signatures: signatures === null ? null : load(signatures),
  };
  return tracePage(simulate(subject, asked), { revision, limit, from });
}

/** PERF: a thread loads a set once; the Core Rule Set takes about 100 ms. */
function load({ name, digest, sealed }: SealedSignatures): Signatures {
  if (loaded?.digest !== digest) loaded = { waf: loadSignatures(openSignatures(sealed)), name, digest };
  return loaded;
}

// A zone file as records that can be stored, and why its other lines cannot. The domain's stored records are not compared
// here: the write that imports the records does that.

/** Reads the whole file; lines are numbered from 1. */
function readZoneFile({ text, domain }: ZoneJob): ReadZoneFile {
  const zone = parseZone(text, domain);
  const problems = zone.diagnostics
    .filter(({ severity, code }) => severity !== 'info' || code === 'missing_dot')
    .map((diagnostic) => ({
      kind: kindOf(diagnostic),
      line: diagnostic.at?.line ?? null,
      error: describeDiagnostic(diagnostic),
    }));
  const records = zone.records.map(({ line, ...fields }): ReadLine => {
    const read = readRecordInput(domain, fields);
    if (!read.ok) return { line, error: describeMistakes(read.diagnostics) };
    const { id: _, ...record } = read.record;
    return { line, record };
  });
  return { records, problems, skipped: zone.skipped, needless: zone.needless };
}

/** Codes of lines without which nothing is lost. */
const NEEDLESS: readonly string[] = ['apex_ns_skipped', 'duplicate_record'];

function kindOf({ code }: Diagnostic): ZoneProblem['kind'] {
  if (code === 'missing_dot') return 'hint';
  return NEEDLESS.includes(code) ? 'not_needed' : 'lost';
}

// A page of a trace document, never longer than `MAX_RESULT_PAGE_OCTETS`. Matched
// and conditional rules come first, in evaluation order, then the skipped ones; everything else is on every page. Long
// texts end in `…` and their length; long lists are shortened and listed in `shortened` with their length.

/** Characters of an error page: a seventh of a page, so that rules fit beside it. */
const HTML_CHARACTERS = 131_072;

export interface TracePageOptions extends AnswerPage {
  readonly revision: number;
}

/** The page as JSON text. */
function tracePage(document: TraceDocument, { limit, from, revision }: TracePageOptions): string {
  const shortened: Shortened[] = [];
  const { phases, error_page, ...rest } = document;
  const base = { ...(cut(rest, [], shortened) as typeof rest), error_page: cutPage(error_page) };
  const bare = phases.map((phase) => ({ ...(cut({ ...phase, rules: [] }, [], shortened) as object) }));
  const around = { ...base, phases: bare, shortened };
  const { shown, page } = takePage(inOrder(document), { limit, from, around }, ({ phase, rule }) => ({
    phase,
    rule: cut(rule, ['rules'], []) as object,
  }));
  const full = bare.map((phase, index) => ({
    ...phase,
    rules: shown.filter((one) => one.phase === index).map((one) => one.rule),
  }));
  const note = {
    limit,
    rules: page.shown,
    of: page.of,
    next: page.next === null ? null : `${revision}-${page.next}`,
  };
  return JSON.stringify({ ...base, phases: full, page: note, shortened });
}

interface Ordered {
  /** The phase's place in the document. */
  readonly phase: number;
  readonly rule: RuleNote;
}

/** Every rule of the trace, the matched and conditional ones before the others. */
function inOrder({ phases }: TraceDocument): readonly Ordered[] {
  const all = phases.flatMap(({ rules }, phase) => rules.map((rule): Ordered => ({ phase, rule })));
  const isDecisive = ({ rule }: Ordered): boolean =>
    rule.outcome === 'matched' || rule.outcome === 'conditional';
  return [...all.filter(isDecisive), ...all.filter((one) => !isDecisive(one))];
}

function cutPage(page: TraceDocument['error_page']): TraceDocument['error_page'] {
  return page === null || page.html === null ? page : { ...page, html: short(page.html, HTML_CHARACTERS) };
}

// Reads stored counts of a domain's traffic, merges them and writes the answer as JSON text: a period has up to 1,500
// steps, and each is opened and merged here, not on the thread of the API.

/** The period as answers show it. */
function head({ step, from, to }: TrafficPeriod) {
  return { from: new Date(from).toISOString(), to: new Date(to).toISOString(), step };
}

/** Rules from index `from` on, at most `limit` and `MAX_RESULT_PAGE_OCTETS`. @throws StoreFault, CountsFault */
async function hitsPage(
  { domainId, period, series, limit, from }: HitsJob,
  snapshots: Snapshots,
): Promise<ListPage> {
  const { rows, steps } = await snapshots.read(async (tx) => ({
    rows: await tx.rules.listAll(domainId),
    steps: await readTraffic(tx, domainId, period),
  }));
  const sums = sumHits(steps);
  const rules: unknown[] = [];
  let octets = 0;
  for (const row of inEvaluationOrder(rows).slice(from, from + limit)) {
    const rule = showRuleHits(row, sums, { series });
    octets += Buffer.byteLength(JSON.stringify(rule)) + 1;
    // A page has at least one rule, so that paging always ends.
    if (octets > MAX_RESULT_PAGE_OCTETS && rules.length > 0) break;
    rules.push(rule);
  }
  const removed = removedRules(sums, rows);
  const text = JSON.stringify({ ...head(period), rules, removed, uncounted: sums.uncounted });
  return { text, of: rows.length, shown: rules.length };
}

/** Totals, points and the division of a period. @throws StoreFault, CountsFault */
async function trafficText({ domainId, period, by }: TrafficJob, snapshots: Snapshots): Promise<string> {
  const steps = await snapshots.read((tx) => readTraffic(tx, domainId, period));
  const precision = { visitors: VISITORS_ERROR, milliseconds: QUANTILE_ERROR };
  return JSON.stringify({ ...head(period), by, precision, ...showTraffic(steps, period, { by }) });
}

/** The operations that the traffic of a gateway shows and that it does not have. @throws StoreFault, CountsFault */
async function discoveredText(
  { domainId, period, gateway }: DiscoverJob,
  snapshots: Snapshots,
): Promise<string> {
  const list = await snapshots.read((tx) => readTop(tx, domainId, { ...period, of: 'unknown_operation' }));
  const { from, to } = head(period);
  const operations = discoverUnknown(list, gateway).operations.map((one) => ({
    ...asOperation(one),
    parameters: one.parameters,
    requests: one.requests,
  }));
  return JSON.stringify({ from, to, operations });
}

/** The most frequent values of a period. @throws StoreFault, CountsFault */
async function topText({ domainId, period, of, limit }: TopJob, snapshots: Snapshots): Promise<string> {
  const list = await snapshots.read((tx) => readTop(tx, domainId, { ...period, of }));
  const { from, to } = head(period);
  return JSON.stringify({ from, to, of, ...showTop(list, limit) });
}

/** The use of a gateway or a consumer. @throws StoreFault, CountsFault */
async function gatewayUseText(
  { domainId, period, ...query }: GatewayUseJob,
  snapshots: Snapshots,
): Promise<string> {
  const steps = await snapshots.read((tx) => readTraffic(tx, domainId, period));
  return JSON.stringify({ ...head(period), by: query.by, ...showGatewayUse(steps, period, query) });
}

/** How often each operation was called. @throws StoreFault, CountsFault */
async function operationUseText(
  { domainId, gateway, operations, now }: OperationUseJob,
  snapshots: Snapshots,
): Promise<string> {
  const steps = await snapshots.read(async (tx) => ({
    hours: await readTraffic(tx, domainId, { step: 'hour', from: now - 23 * STEP_MS.hour, to: now }),
    days: await readTraffic(tx, domainId, { step: 'day', from: now - 29 * STEP_MS.day, to: now }),
  }));
  return JSON.stringify(showOperationUse(operations, steps, gateway));
}
