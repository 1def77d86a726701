/**
 * The jobs of compute threads, their results, and why a job has none. Jobs and results consist of JSON values and
 * octets, which can be posted.
 */
import type { COMPUTE_FAULT_CODES } from '../../base/diagnostics/codes/faults.ts';
import type { ListKind } from '../../base/vocabulary/vocabulary.ts';
import type { Dimension, TopKind } from '../../engine/counts/counts.ts';
import type { GatewayOperation } from '../../rules/model/gateway/operations.ts';
import type { DnsRecord, EntryList } from '../../rules/model/types.ts';
import type { OpenApiDocument } from '../../rules/openapi/read-openapi.ts';
import type { DiscoveringGateway } from '../../workbench/discovery/unknown-operations.ts';
import type { SignaturesNote } from '../../workbench/simulation/document.ts';
import type { SimulatedRequest } from '../../workbench/simulation/simulate.ts';
import type { FeedBody, ReadFeedBody } from '../lists/feed/read-feed.ts';
import type { GivenFeed } from '../lists/feed/settings.ts';
import type { Side } from '../publishing/printed.ts';
import type { FactsAsked } from '../recommendations/read-facts.ts';
import type { PackedEntries } from '../store/repositories/list-entries.ts';
import type { DomainRow } from '../store/tables/domains.ts';
import type { TrafficPeriod } from '../traffic/retention.ts';
import type { UseQuery } from '../traffic/show-gateway-use.ts';

/** The requested part of a long answer. */
export interface AnswerPage {
  /** Entries of the page, at most. */
  readonly limit: number;
  /** Entries before it. */
  readonly from: number;
}

/** Lints the stored rules of a domain. */
export interface AnalysisJob extends AnswerPage {
  readonly kind: 'analysis';
  readonly domain: DomainRow;
}

/** The signatures of `waf` rules, sealed so that they can be posted to a thread. */
export interface SealedSignatures extends SignaturesNote {
  readonly sealed: Uint8Array;
}

/** Simulates one request against a sealed plan. */
export interface SimulateJob extends AnswerPage {
  readonly kind: 'simulate';
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes in hex. */
  readonly digest: string;
  readonly revision: number;
  readonly signatures: SealedSignatures | null;
  readonly asked: Pick<SimulatedRequest, 'request' | 'url' | 'response' | 'world'>;
}

/** Compares two revisions as JSON. */
export interface DiffJob {
  readonly kind: 'diff';
  readonly from: number;
  readonly to: number;
  /** `null`: a tombstone. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  /** Proves which outcomes differ. */
  readonly proof: boolean;
  readonly page: AnswerPage;
}

/** Compares the draft of a domain with its published rules. */
export interface DraftDiffJob {
  readonly kind: 'draft_diff';
  readonly domain: DomainRow;
  readonly proof: boolean;
  readonly page: AnswerPage;
}

/** Checks the draft of a domain before it is published. */
export interface DraftCheckJob {
  readonly kind: 'draft_check';
  readonly domain: DomainRow;
}

/** Compares two printed plans as a unified diff. */
export interface TextDiffJob {
  readonly kind: 'text_diff';
  readonly before: Side;
  readonly after: Side;
  /** Lines before the page. */
  readonly from: number;
}

/** Prints one sealed plan. */
export interface PrintJob {
  readonly kind: 'print';
  readonly bytes: Uint8Array;
  readonly page: AnswerPage;
}

/** Reads a zone file. */
export interface ZoneJob {
  readonly kind: 'zone';
  readonly domain: string;
  readonly text: string;
}

/** Reads a named list, or entries of one, from the body of a request. */
export interface ListJob {
  readonly kind: 'list';
  /** JSON: `{ name, kind, entries? }`, else `{ entries }`. */
  readonly octets: Uint8Array;
  /** `list`: all of it; `entries`: those to store; `keys`: those to remove, of which the values count. */
  readonly read: 'list' | 'entries' | 'keys';
  /** What the entries are; `null`: the body says it. */
  readonly of: ListKind | null;
}

/** Reads the entries of a list from the body of its feed. */
export interface ListFeedJob extends FeedBody {
  readonly kind: 'list_feed';
}

/** Reads the OpenAPI document of a gateway: one of some megabytes takes seconds. */
export interface SchemaJob {
  readonly kind: 'schema';
  /** YAML or JSON. */
  readonly octets: Uint8Array;
}

/** Reads the hits of a domain's rules over a period. */
export interface HitsJob extends AnswerPage {
  readonly kind: 'hits';
  readonly domainId: number;
  readonly period: TrafficPeriod;
  /** With the hits by step. */
  readonly series: boolean;
}

/** Reads the traffic of a domain over a period. */
export interface TrafficJob {
  readonly kind: 'traffic';
  readonly domainId: number;
  readonly period: TrafficPeriod;
  /** What requests are divided by; `null`: nothing. */
  readonly by: Dimension | null;
}

/** Reads the use of a gateway or of a consumer over a period. */
export interface GatewayUseJob extends UseQuery {
  readonly kind: 'gateway_use';
  readonly domainId: number;
  readonly period: TrafficPeriod;
}

/** Reads how often each operation of a gateway was called. */
export interface OperationUseJob {
  readonly kind: 'operation_use';
  readonly domainId: number;
  /** The id of the rule. */
  readonly gateway: number;
  readonly operations: readonly GatewayOperation[];
  /** Milliseconds since the epoch. */
  readonly now: number;
}

/** Reads the most frequent values of one kind over a period. */
export interface TopJob {
  readonly kind: 'top';
  readonly domainId: number;
  readonly period: TrafficPeriod;
  readonly of: TopKind;
  /** Values, at most. */
  readonly limit: number;
}

/** Discovers operations of a gateway in the counts of a period. */
export interface DiscoverJob {
  readonly kind: 'discover';
  readonly domainId: number;
  readonly period: TrafficPeriod;
  readonly gateway: DiscoveringGateway;
}

/** Computes the recommendations of a domain. */
export interface RecommendJob extends AnswerPage, FactsAsked {
  readonly kind: 'recommend';
}

/** Proves the invariants of a domain. */
export interface InvariantsJob {
  readonly kind: 'invariants';
  readonly domain: DomainRow;
}

export type Job =
  | AnalysisJob
  | SimulateJob
  | DiffJob
  | DraftDiffJob
  | DraftCheckJob
  | InvariantsJob
  | TextDiffJob
  | PrintJob
  | ZoneJob
  | ListJob
  | ListFeedJob
  | SchemaJob
  | HitsJob
  | TrafficJob
  | TopJob
  | DiscoverJob
  | GatewayUseJob
  | OperationUseJob
  | RecommendJob;
export type JobKind = Job['kind'];
/** Short jobs have threads of their own, so that no proof delays them. */
export type Lane = 'short' | 'long';
/** The lane of each kind, by the cost of its largest input. */
export const LANE_OF: Readonly<Record<JobKind, Lane>> = {
  analysis: 'long',
  simulate: 'short',
  diff: 'long',
  draft_diff: 'long',
  draft_check: 'long',
  invariants: 'long',
  text_diff: 'long',
  print: 'short',
  zone: 'long',
  list: 'short',
  list_feed: 'short',
  schema: 'long',
  hits: 'short',
  traffic: 'short',
  top: 'short',
  discover: 'short',
  gateway_use: 'short',
  operation_use: 'short',
  recommend: 'long',
};

/**
 * What a problem of a zone file means. `lost`: the record is missing afterwards; `not_needed`: it exists already, or the service
 * makes its own; `hint`: it is imported, and probably wrong.
 */
export const ZONE_PROBLEM_KINDS = ['lost', 'not_needed', 'hint'] as const;

/** A line of a zone file that was not imported, or that needs a check. */
export interface ZoneProblem {
  readonly kind: (typeof ZONE_PROBLEM_KINDS)[number];
  /** Of the file, from 1. */
  readonly line: number | null;
  readonly error: string;
}

/** One record of the file: the record to store, or why it cannot be stored. */
export type ReadLine =
  | { readonly line: number; readonly record: Omit<DnsRecord, 'id'> }
  | { readonly line: number; readonly error: string };

export interface ReadZoneFile {
  readonly records: readonly ReadLine[];
  /** Lines that are not records the zone can have. */
  readonly problems: readonly ZoneProblem[];
  readonly skipped: number;
  /** Of those, lines without which nothing is lost. */
  readonly needless: number;
}

/** What was read from the body, or why it cannot be stored, as a sentence for the client. */
export type ReadListBody =
  | { readonly problem: string }
  | {
      /** `null`: entries alone were read. */
      readonly list: Pick<EntryList, 'name' | 'kind'> | null;
      /** Entries or keys, as the store takes them. */
      readonly packed: PackedEntries;
      /** How many they are. */
      readonly count: number;
      /** Absent: the body has none. */
      readonly feed?: GivenFeed;
    };

/** A page of a list as JSON text. */
export interface ListPage {
  readonly text: string;
  /** Entries of the whole list, and of this page. */
  readonly of: number;
  readonly shown: number;
}

/** A page of lines. */
export interface TextPage {
  readonly text: string;
  /** Lines of the whole text. */
  readonly of: number;
  /** Lines before the next page; `null`: this is the last page. */
  readonly next: number | null;
}

/** A page of the comparison of a draft, as JSON text. */
export interface DraftComparison {
  /** The number of the draft. */
  readonly edit: number;
  readonly text: string;
}

/** A draft that was checked. */
export interface CheckedDraft {
  /** The number of the draft. */
  readonly edit: number;
  /** The number of the invariants; 0: the domain never had any. */
  readonly required: number;
  /** Why it must not be published, as a sentence; `null`: it may be. */
  readonly problem: string | null;
}

/** Results by kind. JSON answers are JSON text already, so that the API's thread only sends them. */
export interface JobResults {
  readonly analysis: ListPage;
  readonly simulate: string;
  readonly diff: string;
  readonly draft_diff: DraftComparison;
  readonly draft_check: CheckedDraft;
  /** JSON text. */
  readonly invariants: string;
  readonly text_diff: TextPage;
  readonly print: string;
  readonly zone: ReadZoneFile;
  readonly list: ReadListBody;
  readonly list_feed: ReadFeedBody;
  readonly schema: OpenApiDocument;
  readonly hits: ListPage;
  readonly traffic: string;
  readonly top: string;
  readonly discover: string;
  readonly gateway_use: string;
  readonly operation_use: string;
  readonly recommend: ListPage;
}

/** A job of one kind. */
export type JobOf<Kind extends JobKind> = Extract<Job, { readonly kind: Kind }>;

/** Whose job it is, and its kind, which has a lane. */
export interface Asker<Kind extends JobKind = JobKind> {
  readonly account: number;
  readonly kind: Kind;
  /** Aborts once nobody waits for the result: a job that waits then leaves the queue. Absent: never. */
  readonly gone?: AbortSignal;
}

/** The pool as routes see it. */
export interface Compute {
  /**
   * The result of the job that `prepare` returns; it is called once a thread of the kind's lane is free for the account.
   * @throws ComputeFault, StoreFault; the reason of `gone`
   */
  run<Kind extends JobKind>(
    asker: Asker<Kind>,
    prepare: () => Promise<JobOf<Kind>>,
  ): Promise<JobResults[Kind]>;
  /** Ends the threads; running and waiting jobs fail with `ComputeFault`. */
  close(): Promise<void>;
}

/** The cost of an ended job. `seconds`: in its thread, without the wait. */
export interface JobDone {
  readonly account: number;
  readonly kind: JobKind;
  readonly seconds: number;
}

/** What failed; `base/diagnostics/codes/faults.ts` has the meanings. */
export type ComputeFaultCode = keyof typeof COMPUTE_FAULT_CODES;

/** The message is a sentence for the client: lower case, no full stop. */
export class ComputeFault extends Error {
  readonly code: ComputeFaultCode;

  constructor(code: ComputeFaultCode, message: string) {
    super(message);
    this.name = 'ComputeFault';
    this.code = code;
  }
}

/** The fault of every job that is waiting or running when the pool closes. */
export function stoppingFault(): ComputeFault {
  return new ComputeFault('unavailable', 'the server is stopping');
}
