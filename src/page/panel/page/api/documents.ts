/**
 * Answers of the management API as the page reads them, by the types of the OpenAPI document, and the shape of what the
 * page has of them.
 */
import { type RuleType, typePath } from '../../../../base/vocabulary/vocabulary.ts';
import type { components, paths } from '../../../../control/client/schema.ts';
import type { FieldDocument, FindingDocument } from '../../documents.ts';

/** The JSON of a path's 200. */
export type Got<Path extends keyof paths> = paths[Path] extends {
  readonly get: { readonly responses: { 200: { content: { 'application/json': infer Body } } } };
}
  ? Body
  : never;
/** One entry of a list. */
export type EntryOf<List> = List extends readonly (infer One)[] ? One : never;

export type DomainEntry = components['schemas']['DomainSummary'];
export type DomainShown = components['schemas']['Domain'];
export type RecordShown = components['schemas']['DnsRecord'];
export type RevisionEntry = EntryOf<Got<'/domains/{domain}/plans/'>>;
export type NodeEntry = EntryOf<Got<'/domains/{domain}/nodes/'>>;
export type LintEntry = EntryOf<Got<'/domains/{domain}/analysis'>>;
export type HitsShown = Got<'/domains/{domain}/rules/hits/'>;
export type DraftShown = Got<'/domains/{domain}/draft'>;
export type DraftDiffShown = Got<'/domains/{domain}/draft/diff'>;
export type InvariantsProved = Got<'/domains/{domain}/invariants/proof'>;

/** A rule of any type. */
export interface RuleShown extends Readonly<Record<string, unknown>> {
  readonly id: number;
  readonly type: RuleType;
  readonly enabled: boolean;
  readonly priority: number;
  readonly action_mode: 'enforce' | 'dry_run';
}

/** The path of the rules of a type. */
export function rulesPath(domain: string, type: RuleType): string {
  return `${domainPath(domain)}/${typePath(type)}/`;
}

/** The path of a domain. */
export function domainPath(domain: string): string {
  return `/domains/${encodeURIComponent(domain)}`;
}

// The shape of what the page knows over the management API.

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
