/**
 * The repository of drafts: what the rules of a domain that publishes by hand were before its draft changed them. Conventions as in
 * `customer-repositories.ts`. The writes of rules store the rule that nodes run before they change it; nothing else is stored
 * twice, so a publication and a draft cost what the draft changes.
 */
import type {
  DraftRow,
  InvariantsRow,
  PublishedRuleRow,
  RuleContentRow,
  RuleCosts,
  RuleRow,
} from './tables/rules.ts';

/** How a draft changes a rule. `reordered`: its priority alone differs. */
export const DRAFT_CHANGES = ['created', 'changed', 'deleted', 'reordered'] as const;
/** One of DRAFT_CHANGES. */
export type DraftChangeKind = (typeof DRAFT_CHANGES)[number];

/** A rule that a draft changes. */
export interface ChangedRule extends Pick<RuleRow, 'id' | 'type'> {
  readonly change: DraftChangeKind;
  /** When it was changed last; `null`: it is deleted. */
  readonly updated_at: number | null;
}

/** A part of the rules that a draft changes, by id. */
export interface ChangedRulePage {
  /** Only rules with higher ids. */
  readonly after: number;
  readonly limit: number;
}

/** Drafts, and the rules that nodes run. */
export interface DraftReads {
  /** `null`: the domain has never published by hand. */
  get(domainId: number): Promise<DraftRow | null>;
  /** How many rules differ from the published ones. */
  count(domainId: number): Promise<number>;
  /** The rules that differ, by id. A rule that was changed back does not. */
  changes(domainId: number, page: ChangedRulePage): Promise<readonly ChangedRule[]>;
  /** The published rules of all types by type (as text), priority, id: what a compile reads. */
  publishedRules(domainId: number): Promise<readonly RuleRow[]>;
  /** The HTML of all published error_page rules, by rule. */
  publishedContents(domainId: number): Promise<readonly RuleContentRow[]>;
  /** Published rules that are stored beside the draft's, and their octets: what a compile reads besides. */
  storedBeside(domainId: number): Promise<Pick<RuleCosts, 'rules' | 'octets'>>;
  /** Published rules, stored beside the draft's, whose `record_ids` include one of these, by id. */
  naming(domainId: number, recordIds: readonly number[]): Promise<readonly PublishedRuleRow[]>;
}

/** Changes of drafts. */
export interface DraftWrites {
  /** Begins the draft of a domain that publishes by hand from now on; what it has stays. */
  begin(domainId: number): Promise<void>;
  /** Counts a change of the draft, and returns its new number. */
  addEdit(domainId: number, at: number): Promise<number>;
  /** Makes the stored rules the published ones. */
  publish(domainId: number): Promise<void>;
  /** Makes the published rules the stored ones, with their ids, priorities, times and costs. */
  discard(domainId: number): Promise<void>;
  /** Writes bodies of published rules that are stored beside the draft's. */
  rescope(domainId: number, changes: readonly Pick<RuleRow, 'id' | 'body'>[]): Promise<void>;
}

/** What a domain requires of its rules before a draft is published. */
export interface InvariantReads {
  /** `null`: it never required anything. */
  get(domainId: number): Promise<InvariantsRow | null>;
}

/** Changes of them. */
export interface InvariantWrites {
  /** Replaces the list, whose number rises. `body`: JSON text. */
  put(domainId: number, body: string): Promise<void>;
}
