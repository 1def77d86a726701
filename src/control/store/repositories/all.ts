/**
 * The repositories by their names in a transaction: the functions that make each over a session, and so its type. What a
 * method answers is at the method. Times are milliseconds since the epoch; `null` means there is no such row; a method throws
 * `StoreFault` alone, with the codes that its comment names or those of a failing database.
 */

import { consumerDayReads, consumerDayWrites } from '../registry/consumer-days.ts';
import { consumerKeyReads, consumerKeyWrites, consumerReads, consumerWrites } from '../registry/consumers.ts';
import { exhaustedQuotaReads, exhaustedQuotaWrites } from '../registry/exhausted-quotas.ts';
import { issuerFetchReads, issuerFetchWrites } from '../registry/issuer-fetches.ts';
import { quotaLevelReads, quotaLevelWrites } from '../registry/quota-levels.ts';
import {
  registryReads,
  registryWrites,
  tokenIssuerReads,
  tokenIssuerWrites,
  usagePlanReads,
  usagePlanWrites,
} from '../registry/registries.ts';
import { accountReads, accountWrites, keyReads, keyWrites } from './accounts.ts';
import { auditReads, auditWrites, secretReads, secretWrites } from './audit.ts';
import {
  invoiceReads,
  invoiceWrites,
  quotaReads,
  quotaWrites,
  suspensionReads,
  suspensionWrites,
  walletReads,
  walletWrites,
} from './billing.ts';
import { cacheReads, cacheWrites } from './caches.ts';
import { certificateReads, certificateWrites } from './certificates.ts';
import { contactReads, contactWrites } from './contacts.ts';
import { domainReads, domainWrites, scanReads, scanWrites } from './domains.ts';
import { draftReads, draftWrites, invariantReads, invariantWrites } from './drafts.ts';
import { gatewaySchemaReads, gatewaySchemaWrites } from './gateway-schemas.ts';
import { groupReads, groupWrites } from './groups.ts';
import { issuanceReads, issuanceWrites } from './issuance.ts';
import { listFeedReads, listFeedWrites } from './list-feeds.ts';
import { listReads, listWrites } from './lists.ts';
import { nodeReads, nodeWrites } from './nodes.ts';
import { notificationReads } from './notification-reads.ts';
import { notificationWrites } from './notifications.ts';
import { outboxReads, outboxWrites } from './outbox.ts';
import { planReads } from './plan-reads.ts';
import { planWrites } from './plans.ts';
import { recordReads, recordWrites } from './records.ts';
import { ruleReads, ruleWrites } from './rules.ts';
import {
  invitationReads,
  invitationWrites,
  memberReads,
  memberWrites,
  subscriptionReads,
  subscriptionWrites,
} from './sharing.ts';
import { ticketReads, ticketWrites } from './tickets.ts';
import { trafficReads } from './traffic.ts';
import { trafficWrites } from './traffic-writes.ts';
import { uptimeReads, uptimeWrites } from './uptime.ts';
import { zoneReads, zoneWrites } from './zones.ts';

/** What every transaction has. */
export const READS = {
  accounts: accountReads,
  keys: keyReads,
  domains: domainReads,
  members: memberReads,
  invitations: invitationReads,
  subscriptions: subscriptionReads,
  suspensions: suspensionReads,
  wallets: walletReads,
  invoices: invoiceReads,
  quotas: quotaReads,
  tickets: ticketReads,
  certificates: certificateReads,
  issuance: issuanceReads,
  records: recordReads,
  scans: scanReads,
  rules: ruleReads,
  drafts: draftReads,
  invariants: invariantReads,
  lists: listReads,
  listFeeds: listFeedReads,
  consumers: consumerReads,
  consumerKeys: consumerKeyReads,
  usagePlans: usagePlanReads,
  tokenIssuers: tokenIssuerReads,
  issuerFetches: issuerFetchReads,
  registries: registryReads,
  exhaustedQuotas: exhaustedQuotaReads,
  quotaLevels: quotaLevelReads,
  audit: auditReads,
  outbox: outboxReads,
  plans: planReads,
  nodes: nodeReads,
  gatewaySchemas: gatewaySchemaReads,
  groups: groupReads,
  traffic: trafficReads,
  consumerDays: consumerDayReads,
  uptime: uptimeReads,
  caches: cacheReads,
  notifications: notificationReads,
  contacts: contactReads,
  secrets: secretReads,
  zones: zoneReads,
} as const;

/** What a writing transaction has besides, by the same names. */
export const WRITES = {
  accounts: accountWrites,
  keys: keyWrites,
  domains: domainWrites,
  members: memberWrites,
  invitations: invitationWrites,
  subscriptions: subscriptionWrites,
  suspensions: suspensionWrites,
  wallets: walletWrites,
  invoices: invoiceWrites,
  quotas: quotaWrites,
  tickets: ticketWrites,
  certificates: certificateWrites,
  issuance: issuanceWrites,
  records: recordWrites,
  scans: scanWrites,
  rules: ruleWrites,
  drafts: draftWrites,
  invariants: invariantWrites,
  lists: listWrites,
  listFeeds: listFeedWrites,
  consumers: consumerWrites,
  consumerKeys: consumerKeyWrites,
  usagePlans: usagePlanWrites,
  tokenIssuers: tokenIssuerWrites,
  issuerFetches: issuerFetchWrites,
  registries: registryWrites,
  exhaustedQuotas: exhaustedQuotaWrites,
  quotaLevels: quotaLevelWrites,
  audit: auditWrites,
  outbox: outboxWrites,
  plans: planWrites,
  nodes: nodeWrites,
  gatewaySchemas: gatewaySchemaWrites,
  groups: groupWrites,
  traffic: trafficWrites,
  consumerDays: consumerDayWrites,
  uptime: uptimeWrites,
  caches: cacheWrites,
  notifications: notificationWrites,
  contacts: contactWrites,
  secrets: secretWrites,
  zones: zoneWrites,
} as const;

/** The repositories of a reading transaction. */
export type Repositories = { readonly [Noun in keyof typeof READS]: ReturnType<(typeof READS)[Noun]> };
/** The repositories of a writing transaction. */
export type WritingRepositories = {
  readonly [Noun in keyof typeof WRITES]: Repositories[Noun] & ReturnType<(typeof WRITES)[Noun]>;
};
