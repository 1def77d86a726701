/** The shape of what the page knows over the management API. */
import type { FieldDocument, FindingDocument } from '../../documents.ts';
import type {
  DomainEntry,
  DomainShown,
  HitsShown,
  NodeEntry,
  RecordShown,
  RevisionEntry,
  RuleShown,
} from './documents.ts';

/** A sentence at the top of the page. */
export interface PageNotice {
  readonly tone: 'good' | 'bad';
  readonly text: string;
}

/** Calls that wait since the server asked for patience. */
export interface Waiting {
  /** The reason, as the beginning of a sentence. */
  readonly why: string;
  /** Seconds until the first of them is sent again. */
  readonly seconds: number;
}

/** The whole of it. */
export interface ApiState {
  /** `opening`: a key was typed and is checked. */
  readonly session: 'out' | 'opening' | 'in';
  /** Why the page is signed out; `null`: nobody has signed in yet, or signed out. */
  readonly refused: string | null;
  /** `null`: no call waits. */
  readonly waiting: Waiting | null;
  readonly notice: PageNotice | null;
  /** Whether the server answered the last call. */
  readonly live: boolean;
  readonly domains: readonly DomainEntry[];
  /** The domain that is shown; `null`: none was chosen, or it is loading. */
  readonly domain: DomainShown | null;
  /** Whether the key may only read. */
  readonly readOnlyKey: boolean;
  /** The newest first. */
  readonly revisions: readonly RevisionEntry[];
  /** All rules by type, and in the order of evaluation within each; `null`: not loaded yet. */
  readonly rules: readonly RuleShown[] | null;
  readonly records: readonly RecordShown[] | null;
  readonly nodes: readonly NodeEntry[] | null;
  readonly hits: HitsShown | null;
  readonly findings: readonly FindingDocument[] | null;
  readonly fields: FieldDocument | null;
}
