/** The tables for Kysely: the rows, with flags as 0 or 1. Both DDL files create exactly these. */
import type { ColumnType, Generated } from 'kysely';
import type {
  InvoiceRow,
  QuotaNoticeRow,
  SuspensionRow,
  TicketMessageRow,
  TicketRow,
  WalletRow,
} from '../billing-repositories.ts';
import type { RuleCosts } from '../customer-repositories.ts';
import type { CacheContentsRow, CachePurgeRow } from '../edge-repositories.ts';
import type { AcmeAccountRow, CertificateOrderRow } from '../issuance-repositories.ts';
import type {
  AccountRow,
  AuditRow,
  CertificateOnFile,
  ContactRow,
  DeliveryRow,
  DomainRow,
  DraftRow,
  IncidentRow,
  InvariantsRow,
  InvitationRow,
  KeyRow,
  KeyUseRow,
  ManifestRow,
  MemberRow,
  NodeRow,
  NotificationRow,
  OutboxRow,
  PatternRow,
  PreferenceRow,
  PublishedRuleRow,
  PublishMode,
  RecordRow,
  ReplacedTokenRow,
  ReportRow,
  RevisionRow,
  RuleContentRow,
  RuleRow,
  ScanRow,
  SubscriptionRow,
  UptimeStateRow,
  WebhookRow,
} from '../rows.ts';
import type { MinutesBlock, TrafficBlock, TrafficPart } from '../traffic-repositories.ts';
import type {
  FlattenedTargetRow,
  ZoneCatalogRow,
  ZoneChallengeRow,
  ZoneChangeRow,
  ZoneRow,
  ZoneStepRow,
} from '../zone-repositories.ts';

/** A column that is not a flag. */
type Column<T> = T extends boolean ? never : T;
/** A row with its flags as the database returns them. */
export type StoredColumns<Row> = {
  [Name in keyof Row]: Row[Name] extends boolean ? number : Row[Name];
};
/** A row as its table has it: flags are 0 or 1, in both directions. */
type Table<Row> = {
  [Name in keyof Row]: Row[Name] extends boolean
    ? ColumnType<number, number | boolean, number | boolean>
    : Column<Row[Name]>;
};
/** A table whose ids the database assigns. */
type Numbered<Row> = Omit<Table<Row>, 'id'> & { readonly id: Generated<number> };

/** All tables by name. */
export interface Tables {
  readonly accounts: Numbered<AccountRow>;
  readonly api_keys: Numbered<KeyRow>;
  readonly key_uses: Table<KeyUseRow>;
  readonly domains: Omit<Numbered<DomainRow>, 'publish_mode'> & {
    readonly publish_mode: ColumnType<PublishMode, PublishMode | undefined, PublishMode>;
  };
  readonly domain_members: Table<MemberRow>;
  readonly invitations: Numbered<InvitationRow>;
  readonly subscriptions: Numbered<SubscriptionRow>;
  readonly suspensions: Table<SuspensionRow>;
  readonly wallets: Table<WalletRow>;
  readonly invoices: Numbered<InvoiceRow>;
  readonly quota_notices: Table<QuotaNoticeRow>;
  readonly tickets: Numbered<TicketRow>;
  readonly ticket_messages: Numbered<TicketMessageRow>;
  readonly certificates: Numbered<CertificateOnFile>;
  readonly acme_accounts: Table<AcmeAccountRow> & {
    readonly spent_until: ColumnType<number, never, number>;
    readonly paused_until: ColumnType<number, never, number>;
  };
  /** `claim` and `claimed_until`: which process works on the order. */
  readonly certificate_orders: Table<CertificateOrderRow> & {
    readonly claim: ColumnType<number, never, number>;
    readonly claimed_until: ColumnType<number, never, number>;
  };
  readonly certificate_sets: { readonly domain_id: number; readonly digest: string };
  readonly dns_records: Numbered<RecordRow>;
  readonly record_scans: Table<ScanRow>;
  /** `addresses`: entries of a drop rule's `ips`. */
  readonly rules: Numbered<RuleRow> & { readonly addresses: number };
  readonly rule_totals: Table<RuleCosts> & { readonly domain_id: number };
  /** `head`: as much of the prefix as the index orders by. */
  readonly rule_patterns: PatternRow & {
    readonly rule_id: number;
    readonly domain_id: number;
    readonly head: string;
  };
  readonly pattern_totals: Pick<PatternRow, 'octets' | 'build' | 'eighths'> & {
    readonly domain_id: number;
    readonly counted: number;
  };
  readonly rule_contents: Table<RuleContentRow>;
  /** Which rules name which records: the `record_ids` of rule bodies, searchable. */
  readonly rule_records: { readonly rule_id: number; readonly record_id: number };
  readonly drafts: Table<DraftRow>;
  readonly domain_invariants: Table<InvariantsRow>;
  readonly published_rules: Table<PublishedRuleRow>;
  readonly published_patterns: PatternRow & { readonly rule_id: number; readonly head: string };
  readonly audit_entries: Numbered<AuditRow>;
  readonly outbox: Numbered<OutboxRow> & { readonly claimed_until: ColumnType<number, never, number> };
  readonly plan_blobs: { readonly digest: string; readonly bytes: Uint8Array; readonly created_at: number };
  readonly plan_revisions: Table<RevisionRow> & { readonly pruned: ColumnType<number, never, number> };
  readonly manifest: Table<ManifestRow>;
  /** The last position given, in one row. A publication locks it until the commit, so positions become visible in order. */
  readonly manifest_position: { readonly id: number; readonly position: number };
  readonly cache_purges: Table<CachePurgeRow> & { readonly domain_id: number };
  readonly cache_contents: Table<CacheContentsRow>;
  readonly nodes: Numbered<NodeRow>;
  readonly node_tokens: Table<ReplacedTokenRow>;
  /** Domains that were put into other groups than `default`. */
  readonly domain_groups: { readonly domain_id: number; readonly node_groups: string };
  readonly node_allowances: { readonly node_id: number; readonly spent_until: number };
  readonly node_reports: Table<ReportRow>;
  /** Batches of traffic that were accepted, as long as their minutes are. */
  readonly node_batches: { readonly node_id: number; readonly batch: number; readonly taken_at: number };
  readonly traffic_parts: TrafficPart;
  readonly traffic_minutes: MinutesBlock;
  readonly traffic_hours: TrafficBlock;
  readonly traffic_days: TrafficBlock;
  /** Of each slice of the domains: who rolls it up, and up to which day the blocks of days exist. */
  readonly traffic_slices: {
    readonly slice: number;
    readonly owner: string;
    readonly until: number;
    readonly days_through: number;
  };
  readonly uptime_states: Table<UptimeStateRow>;
  /** One row: the last judged minute. A process that judges locks it until the commit. */
  readonly uptime_progress: { readonly id: number; readonly through: number };
  readonly incidents: Numbered<IncidentRow>;
  readonly notifications: Numbered<NotificationRow>;
  readonly notification_deliveries: Numbered<DeliveryRow>;
  readonly account_contacts: Table<ContactRow>;
  readonly account_webhooks: Numbered<WebhookRow>;
  readonly notification_preferences: Table<PreferenceRow>;
  /** Accounts that receive notifications for operators. */
  readonly operator_accounts: { readonly account_id: number };
  /** Nodes whose loss was notified, and when each was seen last before. */
  readonly node_losses: { readonly node_id: number; readonly seen_at: number };
  /** Invitations that wait for their notification. */
  readonly invitation_notices: { readonly invitation_id: number };
  readonly zones: Table<ZoneRow>;
  readonly zone_catalogs: Table<ZoneCatalogRow>;
  /** `octets`: of what the step removes and adds. */
  readonly zone_steps: Table<ZoneStepRow> & {
    readonly id: Generated<number>;
    readonly name: string;
    readonly octets: number;
  };
  readonly zone_changes: Table<ZoneChangeRow> & { readonly claimed_until: ColumnType<number, never, number> };
  readonly zone_challenges: Table<ZoneChallengeRow> & { readonly name: string };
  readonly flattened_targets: Table<FlattenedTargetRow>;
  readonly flattened_uses: { readonly name: string; readonly target: string };
  readonly secrets: { readonly name: string; readonly value: string; readonly created_at: number };
}
