/** DNS records and rules of domains, what rules cost, drafts, and invariants. */
import type { RuleType } from '../../../base/vocabulary/vocabulary.ts';
import type { DnsRecord } from '../../../rules/model/types.ts';
import { flag, integer, json, type RowOf, shortId, table, text, time } from './describe.ts';
import { domains } from './domains.ts';

/** DNS records. */
export const dnsRecords = table(
  'dns_records',
  1,
  {
    id: shortId(),
    domain_id: integer().references(domains, 'cascade'),
    name: text(),
    type: text<DnsRecord['type']>(),
    destination: text(),
    mx_priority: integer().nullable(),
    proxied: flag(),
    captcha: flag(),
    scheme: text<DnsRecord['scheme']>(),
    port: integer().nullable(),
    host_header: text(),
    monitor: flag(),
    timeout: integer().nullable(),
    comment: text(),
    created_at: time(),
    updated_at: time(),
  },
  {
    indexes: {
      dns_records_by_domain: ['domain_id', 'id'],
      dns_records_monitored: { on: ['domain_id'], where: 'monitor = 1 AND proxied = 1', since: 15 },
    },
  },
);

/** A DNS record of a domain. */
export interface RecordRow extends RowOf<typeof dnsRecords> {}

/** Rules. */
export const rules = table(
  'rules',
  1,
  {
    id: shortId(),
    domain_id: integer().references(domains, 'cascade'),
    type: text<RuleType>(),
    priority: integer(),
    /**
     * All other fields as a JSON object: those of the type and the common ones, without `id`, `domain_id`, `type`,
     * `priority`, `created_at`, `updated_at`, and without the `content` of an error page, which has a table of its own so
     * that lists do not load it.
     */
    body: json(),
    created_at: time(),
    updated_at: time(),
    /** Entries of a drop rule's `ips`. */
    addresses: integer().since(7, 0),
  },
  { indexes: { rules_in_order: ['domain_id', 'type', 'priority', 'id'] } },
);

/** A rule of a domain. */
export interface RuleRow extends Omit<RowOf<typeof rules>, 'addresses'> {}

/** The HTML of error_page rules. */
export const ruleContents = table('rule_contents', 1, {
  rule_id: integer().key().references(rules, 'cascade'),
  /** A JSON object: decimal status code to HTML. */
  content: json(),
});

/** The HTML of an error_page rule. */
export interface RuleContentRow extends RowOf<typeof ruleContents> {}

/** Which rules name which records: the `record_ids` of rule bodies, searchable. */
export const ruleRecords = table(
  'rule_records',
  1,
  { rule_id: integer().references(rules, 'cascade'), record_id: integer() },
  {
    key: ['record_id', 'rule_id'],
    withoutRowid: true,
    indexes: { rule_records_by_rule: ['rule_id'] },
  },
);

/** Totals by domain and type. */
export const ruleTotals = table(
  'rule_totals',
  7,
  {
    domain_id: integer().references(domains, 'cascade'),
    type: text<RuleType>(),
    rules: integer(),
    /** Octets of the rules as they are stored, the HTML of their pages included. */
    octets: integer(),
    addresses: integer(),
  },
  { key: ['domain_id', 'type'], withoutRowid: true },
);

/** Totals of the rules of one type in one domain. */
export interface RuleCosts extends Omit<RowOf<typeof ruleTotals>, 'domain_id'> {}

/** The columns of a pattern's costs. */
const patternCosts = {
  /** SHA-256 of the pattern and its case, lower-case hex: the same for the same pattern in another rule. */
  digest: text(),
  /** Octets of its automaton. */
  octets: integer(),
  /** The square of its instructions. */
  build: integer(),
  /** Eighths of a scan it causes. */
  eighths: integer(),
  /** The literal all its matches start with, four hex digits a UTF-16 code unit, so that any text can be stored. */
  prefix: text(),
  /** As much of the prefix as the index orders by. */
  head: text(),
} as const;

/** Patterns of rules. */
export const rulePatterns = table(
  'rule_patterns',
  7,
  {
    rule_id: integer().references(rules, 'cascade'),
    domain_id: integer().references(domains, 'cascade'),
    ...patternCosts,
  },
  {
    key: ['rule_id', 'digest'],
    withoutRowid: true,
    indexes: {
      rule_patterns_by_digest: ['domain_id', 'digest'],
      rule_patterns_by_head: ['domain_id', 'head'],
    },
  },
);

/** The cost of one regex of a rule, as the budgets of its domain count it. */
export interface PatternRow extends Omit<RowOf<typeof rulePatterns>, 'rule_id' | 'domain_id' | 'head'> {}

/** What the patterns of domains cost together. */
export const patternTotals = table('pattern_totals', 7, {
  domain_id: integer().key().references(domains, 'cascade'),
  octets: integer(),
  build: integer(),
  eighths: integer(),
  /** False if rules were written before patterns were counted. */
  counted: flag(),
});

/** Drafts of domains. A draft begins when its domain publishes by hand for the first time. */
export const drafts = table('drafts', 22, {
  domain_id: integer().key().references(domains, 'cascade'),
  /** Rises with each change of the draft, and when it is published or discarded. */
  edit: integer(),
  /** When the first change was made after the last publication; `null`: none was. */
  since: time().nullable(),
});

/** The draft of a domain. It begins when the domain publishes by hand for the first time, and its number only rises. */
export interface DraftRow extends RowOf<typeof drafts> {}

/** What must be proved of a draft before it is published. */
export const domainInvariants = table('domain_invariants', 23, {
  domain_id: integer().key().references(domains, 'cascade'),
  /** Rises whenever the list is replaced. */
  edit: integer(),
  /** The list as JSON text. */
  body: json(),
});

/** The invariants that a domain requires. */
export interface InvariantsRow extends RowOf<typeof domainInvariants> {}

/** Rules as nodes run them, where a draft differs. */
export const publishedRules = table(
  'published_rules',
  22,
  {
    rule_id: integer().key(),
    domain_id: integer().references(domains, 'cascade'),
    type: text<RuleType>(),
    priority: integer(),
    /** `null`: the rule was created in the draft, nodes have none. */
    body: json().nullable(),
    /** The HTML of an error page; `null`: it has none. */
    content: json().nullable(),
    /** Entries of a drop rule's `ips`. */
    addresses: integer(),
    created_at: time(),
    updated_at: time(),
  },
  { indexes: { published_rules_by_domain: ['domain_id', 'rule_id'] } },
);

/**
 * A rule as nodes run it, of a domain that publishes by hand: stored before the first change of a draft to that rule. Rules without
 * such a row are published as they are stored.
 */
export interface PublishedRuleRow extends RowOf<typeof publishedRules> {}

/** Patterns of such rules. */
export const publishedPatterns = table(
  'published_patterns',
  22,
  { rule_id: integer().references(publishedRules, 'cascade'), ...patternCosts },
  { key: ['rule_id', 'digest'], withoutRowid: true },
);

/** How a draft changes a rule. `reordered`: its priority alone differs. */
export const DRAFT_CHANGES = ['created', 'changed', 'deleted', 'reordered'] as const;

/** One of DRAFT_CHANGES. */
export type DraftChangeKind = (typeof DRAFT_CHANGES)[number];
