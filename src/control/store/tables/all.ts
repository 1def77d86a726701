/** All tables, those that are referred to before those that refer to them, and their types for Kysely. */
import { accounts, apiKeys, auditEntries, keyUses, secrets } from './accounts.ts';
import { invoices, quotaNotices, suspensions, ticketMessages, tickets, wallets } from './billing.ts';
import { acmeAccounts, certificateOrders, certificateSets, certificates } from './certificates.ts';
import type { Queried, Table } from './describe.ts';
import { domainGroups, domainMembers, domains, invitations, recordScans, subscriptions } from './domains.ts';
import { gatewaySchemas } from './gateways.ts';
import { listBlobs, listEntries, listFeeds, lists, listUses, planLists, publishedListUses } from './lists.ts';
import { cacheContents, nodeAllowances, nodeBatches, nodeReports, nodes, nodeTokens } from './nodes.ts';
import {
  accountContacts,
  accountWebhooks,
  invitationNotices,
  nodeLosses,
  notificationDeliveries,
  notificationPreferences,
  notifications,
  operatorAccounts,
} from './notifications.ts';
import { cachePurges, manifest, manifestPosition, outbox, planBlobs, planRevisions } from './plans.ts';
import {
  consumerKeys,
  consumers,
  exhaustedQuotas,
  issuerFetches,
  registries,
  tokenIssuers,
  usagePlans,
} from './registry.ts';
import {
  dnsRecords,
  domainInvariants,
  drafts,
  patternTotals,
  publishedPatterns,
  publishedRules,
  ruleContents,
  rulePatterns,
  ruleRecords,
  rules,
  ruleTotals,
} from './rules.ts';
import {
  consumerDays,
  ruleHits,
  trafficDays,
  trafficHours,
  trafficMinutes,
  trafficParts,
  trafficSlices,
  usage,
} from './traffic.ts';
import { incidents, uptimeProgress, uptimeStates } from './uptime.ts';
import {
  flattenedTargets,
  flattenedUses,
  zoneCatalogs,
  zoneChallenges,
  zoneChanges,
  zoneSteps,
  zones,
} from './zones.ts';

/** The tables by name. */
const TABLES = {
  accounts,
  api_keys: apiKeys,
  key_uses: keyUses,
  domains,
  domain_members: domainMembers,
  invitations,
  subscriptions,
  certificates,
  certificate_sets: certificateSets,
  acme_accounts: acmeAccounts,
  certificate_orders: certificateOrders,
  dns_records: dnsRecords,
  record_scans: recordScans,
  rules,
  rule_contents: ruleContents,
  rule_records: ruleRecords,
  rule_totals: ruleTotals,
  rule_patterns: rulePatterns,
  pattern_totals: patternTotals,
  drafts,
  domain_invariants: domainInvariants,
  published_rules: publishedRules,
  published_patterns: publishedPatterns,
  audit_entries: auditEntries,
  secrets,
  outbox,
  plan_blobs: planBlobs,
  plan_revisions: planRevisions,
  manifest,
  manifest_position: manifestPosition,
  cache_purges: cachePurges,
  lists,
  list_entries: listEntries,
  list_feeds: listFeeds,
  list_blobs: listBlobs,
  plan_lists: planLists,
  list_uses: listUses,
  published_list_uses: publishedListUses,
  gateway_schemas: gatewaySchemas,
  consumers,
  consumer_keys: consumerKeys,
  usage_plans: usagePlans,
  token_issuers: tokenIssuers,
  issuer_fetches: issuerFetches,
  registries,
  nodes,
  node_tokens: nodeTokens,
  domain_groups: domainGroups,
  node_allowances: nodeAllowances,
  node_reports: nodeReports,
  node_batches: nodeBatches,
  cache_contents: cacheContents,
  traffic_parts: trafficParts,
  traffic_minutes: trafficMinutes,
  traffic_hours: trafficHours,
  traffic_days: trafficDays,
  traffic_slices: trafficSlices,
  consumer_days: consumerDays,
  exhausted_quotas: exhaustedQuotas,
  uptime_states: uptimeStates,
  uptime_progress: uptimeProgress,
  incidents,
  notifications,
  notification_deliveries: notificationDeliveries,
  account_contacts: accountContacts,
  account_webhooks: accountWebhooks,
  notification_preferences: notificationPreferences,
  operator_accounts: operatorAccounts,
  node_losses: nodeLosses,
  invitation_notices: invitationNotices,
  suspensions,
  wallets,
  invoices,
  quota_notices: quotaNotices,
  tickets,
  ticket_messages: ticketMessages,
  zones,
  zone_catalogs: zoneCatalogs,
  zone_steps: zoneSteps,
  zone_changes: zoneChanges,
  zone_challenges: zoneChallenges,
  flattened_targets: flattenedTargets,
  flattened_uses: flattenedUses,
} as const satisfies Readonly<Record<string, Table>>;

/** Every table that there is or was, in the order in which one step creates them. */
export const EVERY_TABLE: readonly Table[] = [...Object.values(TABLES), usage, ruleHits];

/** The tables as queries have them. */
export type Tables = { readonly [Name in keyof typeof TABLES]: Queried<(typeof TABLES)[Name]> };
