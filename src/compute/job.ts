/** What threads compute: each job is JSON values and octets, and so is its result. */
import type { DnsRecord } from '../model/types.ts';
import type { Side } from '../publisher/printed.ts';
import type { SignaturesNote } from '../simulator/document.ts';
import type { SimulatedRequest } from '../simulator/simulate.ts';
import type { DomainRow } from '../store/rows.ts';

/** A part of a long answer. */
export interface AnswerPage {
  readonly limit: number;
  /** How many entries come before it. */
  readonly from: number;
}

export interface AnalysisJob extends AnswerPage {
  readonly kind: 'analysis';
  readonly domain: DomainRow;
}

/** What `waf` rules inspect with, as it crosses to a thread. */
export interface SealedSignatures extends SignaturesNote {
  readonly sealed: Uint8Array;
}

export interface SimulateJob extends AnswerPage {
  readonly kind: 'simulate';
  readonly bytes: Uint8Array;
  /** SHA-256 of the bytes in hex. */
  readonly digest: string;
  readonly revision: number;
  readonly signatures: SealedSignatures | null;
  readonly asked: Pick<SimulatedRequest, 'request' | 'url' | 'response' | 'world'>;
}

export interface DiffJob {
  readonly kind: 'diff';
  readonly from: number;
  readonly to: number;
  /** `null`: a tombstone. */
  readonly before: Uint8Array | null;
  readonly after: Uint8Array | null;
  readonly page: AnswerPage;
}

export interface TextDiffJob {
  readonly kind: 'text_diff';
  readonly before: Side;
  readonly after: Side;
  /** How many lines come before the page. */
  readonly from: number;
}

export interface PrintJob {
  readonly kind: 'print';
  readonly bytes: Uint8Array;
  readonly page: AnswerPage;
}

export interface ZoneJob {
  readonly kind: 'zone';
  readonly domain: string;
  readonly text: string;
}

export type Job = AnalysisJob | SimulateJob | DiffJob | TextDiffJob | PrintJob | ZoneJob;
export type JobKind = Job['kind'];

export interface ZoneProblem {
  /** Of the file, from 1. */
  readonly line: number | null;
  readonly error: string;
}

/** One record of the file: what is to be stored, or why it cannot be. */
export type ReadLine =
  | { readonly line: number; readonly record: Omit<DnsRecord, 'id'> }
  | { readonly line: number; readonly error: string };

export interface ReadZoneFile {
  readonly records: readonly ReadLine[];
  /** Lines that are no records the zone can have. */
  readonly problems: readonly ZoneProblem[];
  readonly skipped: number;
}

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
  /** How many lines come before the next page; `null` on the last one. */
  readonly next: number | null;
}

/** Texts are JSON where the answer is JSON, so that the API's thread only sends them. */
export interface JobResults {
  readonly analysis: ListPage;
  readonly simulate: string;
  readonly diff: string;
  readonly text_diff: TextPage;
  readonly print: string;
  readonly zone: ReadZoneFile;
}

/** A job of one kind. */
export type JobOf<Kind extends JobKind> = Extract<Job, { readonly kind: Kind }>;

export interface Compute {
  /**
   * The result of the job that `prepare` makes once a thread is free for the account.
   * @throws ComputeFault, StoreFault
   */
  run<Kind extends JobKind>(account: number, prepare: () => Promise<JobOf<Kind>>): Promise<JobResults[Kind]>;
  /** Ends the threads; jobs under way and waiting are refused. */
  close(): Promise<void>;
}

export interface JobDone {
  readonly account: number;
  readonly kind: JobKind;
  readonly seconds: number;
}
