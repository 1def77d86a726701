/**
 * The table of all routes: method, path, permission, further checks before the handler, and the handler. `control/api/operation/checks.ts` has
 * the order of the checks.
 */
import { RULE_TYPES } from '../../base/vocabulary/vocabulary.ts';
import { checkFeature, checkRecordType } from '../accounts/entitlements.ts';
import { DRAFT_ROUTES } from './drafts/routes.ts';
import { type AnyRoute, isNodeRoute } from './operation/node-route.ts';
import * as audit from './routes/audit.ts';
import * as billing from './routes/billing.ts';
import * as cache from './routes/cache.ts';
import { CONSUMER_KEY_ROUTES } from './routes/consumer-keys.ts';
import { CONSUMER_ROUTES } from './routes/consumers.ts';
import { diff } from './routes/diff.ts';
import * as life from './routes/domain-lifecycle.ts';
import * as domains from './routes/domains.ts';
import { features } from './routes/features.ts';
import * as feed from './routes/feed.ts';
import { GATEWAY_USAGE_ROUTES } from './routes/gateway-usage.ts';
import { GATEWAY_ROUTES } from './routes/gateways.ts';
import * as invitations from './routes/invitations.ts';
import { LIST_FEED_ROUTES } from './routes/list-feeds.ts';
import { LIST_ROUTES } from './routes/lists.ts';
import * as logs from './routes/logs.ts';
import * as members from './routes/members.ts';
import { report as nodeCache, traffic as nodeTraffic, ship } from './routes/node-reports.ts';
import * as nodes from './routes/nodes.ts';
import * as noticeContact from './routes/notification-settings.ts';
import * as noticeSettings from './routes/notification-settings.ts';
import * as notifications from './routes/notifications.ts';
import * as plans from './routes/plans.ts';
import { listOctets, plan as planOctets, signatures } from './routes/plans.ts';
import { recommendations } from './routes/recommendations.ts';
import * as records from './routes/records.ts';
import * as recordBatches from './routes/records-batch.ts';
import * as zoneFiles from './routes/records-zone.ts';
import { listEveryType, ruleRoutes } from './routes/rules.ts';
import { ruleBatchRoutes } from './routes/rules-batch.ts';
import * as questions from './routes/simulate.ts';
import * as ssl from './routes/ssl.ts';
import * as tickets from './routes/tickets.ts';
import { TOKEN_ISSUER_ROUTES } from './routes/token-issuers.ts';
import * as analytics from './routes/traffic.ts';
import { hits, traffic } from './routes/traffic.ts';
import * as uptime from './routes/uptime.ts';
import { USAGE_PLAN_ROUTES } from './routes/usage-plans.ts';
import * as zone from './routes/zone.ts';

/** The entitlement check of a purge. */
const purgeGate = checkFeature('cache_purge_enabled');
/** The entitlement check of an upload of a certificate. */
const sslGate = checkFeature('custom_ssl_enabled');
/** The entitlement checks of analytics. */
const countsGate = checkFeature('monitoring_enabled');
const topGate = checkFeature('logs_enabled');

/** The entitlement check of logged decisions. */
const logsGate = checkFeature('logs_enabled');

/** All routes. A literal segment takes precedence over a variable one: `/domains/ns-sets` is no domain. */
// biome-ignore format: a table is read in columns
export const ROUTES: readonly AnyRoute[] = [
  // Domains
  { method: 'GET', path: '/domains/', permission: null, ...domains.list },
  { method: 'POST', path: '/domains/', permission: null, ...domains.create },
  { method: 'GET', path: '/domains/ns-sets', permission: null, ...life.nameserverSets },
  { method: 'GET', path: '/domains/{domain}', permission: 'domain.view', ...domains.detail },
  { method: 'PUT', path: '/domains/{domain}', permission: 'domain.settings', ...domains.update },
  { method: 'DELETE', path: '/domains/{domain}', permission: 'domain.delete', whileDisabled: true, ...domains.remove },
  { method: 'POST', path: '/domains/{domain}/developer-mode', permission: 'domain.settings', ...domains.developerMode },
  { method: 'POST', path: '/domains/{domain}/verify', permission: 'domain.settings', ...life.verify },
  { method: 'POST', path: '/domains/{domain}/enable', permission: 'domain.settings', whileDisabled: true, ...life.enable },
  { method: 'POST', path: '/domains/{domain}/check-ns', permission: 'domain.settings', ...life.checkNameservers },
  { method: 'GET', path: '/domains/{domain}/features', permission: 'domain.view', missesDomain: true, ...features },
  { method: 'GET', path: '/domains/{domain}/cache/', permission: 'domain.view', ...cache.footprint },
  { method: 'GET', path: '/domains/{domain}/cache/entries', permission: 'domain.view', ...cache.entries },
  { method: 'DELETE', path: '/domains/{domain}/cache/', permission: 'rules.edit', gate: purgeGate, ...cache.purge },
  { method: 'POST', path: '/domains/{domain}/cache/purge', permission: 'rules.edit', gate: purgeGate, ...cache.purgeSome },
  { method: 'POST', path: '/domains/{domain}/cache/refresh', permission: 'rules.edit', gate: purgeGate, ...cache.refresh },

  // DNS records
  { method: 'GET', path: '/domains/{domain}/records/', permission: 'domain.view', ...records.list },
  { method: 'POST', path: '/domains/{domain}/records/', permission: 'records.edit', gate: checkRecordType(), ...records.create },
  { method: 'POST', path: '/domains/{domain}/records/batch-update', permission: 'records.edit', ...recordBatches.batchUpdate },
  { method: 'POST', path: '/domains/{domain}/records/batch-delete', permission: 'records.edit', ...recordBatches.batchDelete },
  { method: 'POST', path: '/domains/{domain}/records/import', permission: 'records.edit', ...zoneFiles.importZone },
  { method: 'GET', path: '/domains/{domain}/records/export', permission: 'domain.view', ...zoneFiles.exportZone },
  { method: 'GET', path: '/domains/{domain}/records/{recordId}', permission: 'domain.view', ...records.read },
  { method: 'PUT', path: '/domains/{domain}/records/{recordId}', permission: 'records.edit', ...records.update },
  { method: 'DELETE', path: '/domains/{domain}/records/{recordId}', permission: 'records.edit', ...records.remove },

  // Edge rules: ten operations for each type; those of gateways are at `gateways/`
  { method: 'GET', path: '/domains/{domain}/rules/', permission: 'domain.view', hides: true, ...listEveryType },
  { method: 'GET', path: '/domains/{domain}/rules/hits/', permission: 'domain.view', hides: true, ...hits },
  ...RULE_TYPES.flatMap(ruleRoutes),
  ...RULE_TYPES.flatMap(ruleBatchRoutes),
  ...GATEWAY_ROUTES,
  ...GATEWAY_USAGE_ROUTES,

  // Named lists
  ...LIST_ROUTES,
  ...LIST_FEED_ROUTES,

  // Consumers, usage plans and token issuers of gateways
  ...CONSUMER_ROUTES,
  ...CONSUMER_KEY_ROUTES,
  ...USAGE_PLAN_ROUTES,
  ...TOKEN_ISSUER_ROUTES,

  // Certificates
  { method: 'GET', path: '/domains/{domain}/ssl/', permission: 'domain.view', ...ssl.list },
  { method: 'POST', path: '/domains/{domain}/ssl/', permission: 'domain.settings', gate: sslGate, ...ssl.upload },
  { method: 'POST', path: '/domains/{domain}/ssl/parse', permission: 'domain.view', asks: true, ...ssl.parse },
  { method: 'POST', path: '/domains/{domain}/ssl/issue', permission: 'domain.settings', ...ssl.issue },
  { method: 'DELETE', path: '/domains/{domain}/ssl/{certificateId}', permission: 'domain.settings', ...ssl.remove },

  // Sharing and history
  { method: 'GET', path: '/domains/{domain}/members/', permission: 'domain.view', ...members.list },
  { method: 'POST', path: '/domains/{domain}/members/', permission: 'domain.settings', ...invitations.invite },
  { method: 'GET', path: '/domains/{domain}/members/{userId}', permission: 'domain.view', ...members.read },
  { method: 'PUT', path: '/domains/{domain}/members/{userId}', permission: 'domain.settings', ...members.change },
  { method: 'DELETE', path: '/domains/{domain}/members/{userId}', permission: 'domain.view', ...members.remove },
  { method: 'GET', path: '/domains/{domain}/invitations/', permission: 'domain.settings', ...invitations.list },
  { method: 'DELETE', path: '/domains/{domain}/invitations/{invitationId}', permission: 'domain.settings', ...invitations.withdraw },
  { method: 'GET', path: '/invitations/', permission: null, ...invitations.received },
  { method: 'POST', path: '/invitations/{invitationId}/accept', permission: null, ...invitations.accept },
  { method: 'POST', path: '/invitations/{invitationId}/decline', permission: null, ...invitations.decline },
  { method: 'GET', path: '/domains/{domain}/audit/', permission: 'domain.view', ...audit.list },

  // Traffic
  { method: 'GET', path: '/domains/{domain}/traffic', permission: 'domain.view', ...traffic },
  { method: 'GET', path: '/domains/{domain}/analytics/', permission: 'domain.view', gate: countsGate, ...analytics.analytics },
  { method: 'GET', path: '/domains/{domain}/analytics/top/', permission: 'domain.view', gate: topGate, ...analytics.top },

  // Notifications
  { method: 'GET', path: '/notifications/', permission: null, ...notifications.list },
  { method: 'POST', path: '/notifications/read', permission: null, ...notifications.markManyRead },
  { method: 'POST', path: '/notifications/test', permission: null, ...notifications.test },
  { method: 'PATCH', path: '/notifications/{notificationId}/read', permission: null, ...notifications.markRead },
  { method: 'GET', path: '/notifications/contact', permission: null, ...noticeContact.contact },
  { method: 'PUT', path: '/notifications/contact', permission: null, ...noticeContact.changeContact },
  { method: 'POST', path: '/notifications/contact/confirm', permission: null, ...noticeContact.confirmContact },
  { method: 'GET', path: '/notifications/preferences', permission: null, ...noticeSettings.preferences },
  { method: 'PUT', path: '/notifications/preferences', permission: null, ...noticeSettings.changePreferences },
  { method: 'GET', path: '/webhooks/', permission: null, ...noticeSettings.webhooks },
  { method: 'POST', path: '/webhooks/', permission: null, ...noticeSettings.addWebhook },
  { method: 'DELETE', path: '/webhooks/{webhookId}', permission: null, ...noticeSettings.removeWebhook },

  // Billing and support
  { method: 'GET', path: '/wallet', permission: null, ...billing.wallet },
  { method: 'GET', path: '/invoices/', permission: null, ...billing.listInvoices },
  { method: 'GET', path: '/invoices/{invoiceId}', permission: null, ...billing.readInvoice },
  { method: 'GET', path: '/subscriptions/', permission: null, ...billing.listSubscriptions },
  { method: 'GET', path: '/domains/{domain}/subscriptions/', permission: 'domain.view', ...billing.ofDomain },
  { method: 'GET', path: '/tickets/', permission: null, ...tickets.list },
  { method: 'POST', path: '/tickets/', permission: null, ...tickets.open },
  { method: 'GET', path: '/tickets/{ticketId}', permission: null, ...tickets.read },
  { method: 'POST', path: '/tickets/{ticketId}/messages', permission: null, ...tickets.addMessage },
  { method: 'POST', path: '/tickets/{ticketId}/close', permission: null, ...tickets.close },

  // Publication
  ...DRAFT_ROUTES,
  { method: 'GET', path: '/domains/{domain}/plans/', permission: 'domain.view', ...plans.list },
  { method: 'POST', path: '/domains/{domain}/plans/', permission: 'rules.edit', ...plans.publish },
  { method: 'GET', path: '/domains/{domain}/plans/{revision}', permission: 'domain.view', ...plans.read },
  { method: 'GET', path: '/domains/{domain}/plans/{revision}/diff/{other}', permission: 'domain.view', ...plans.diff },
  { method: 'GET', path: '/domains/{domain}/plans/{revision}/bytes', permission: 'domain.view', ...planOctets },
  { method: 'GET', path: '/domains/{domain}/plans/{revision}/signatures', permission: 'domain.view', ...signatures },
  { method: 'GET', path: '/domains/{domain}/plans/{revision}/lists/{digest}', permission: 'domain.view', ...listOctets },
  { method: 'POST', path: '/domains/{domain}/plans/{revision}/rollback', permission: 'rules.edit', ...plans.rollback },
  { method: 'POST', path: '/domains/{domain}/simulate', permission: 'domain.view', asks: true, ...questions.simulate },
  { method: 'GET', path: '/domains/{domain}/diff', permission: 'domain.view', ...diff },
  { method: 'GET', path: '/domains/{domain}/analysis', permission: 'domain.view', ...questions.analysis },
  { method: 'GET', path: '/domains/{domain}/recommendations/', permission: 'domain.view', ...recommendations },
  { method: 'GET', path: '/domains/{domain}/zone', permission: 'domain.view', ...zone.show },
  { method: 'GET', path: '/domains/{domain}/zone/check', permission: 'domain.view', ...zone.check },
  { method: 'GET', path: '/domains/{domain}/dnssec', permission: 'domain.view', ...zone.dnssec },
  { method: 'GET', path: '/domains/{domain}/uptime/', permission: 'domain.view', ...uptime.uptime },
  { method: 'GET', path: '/domains/{domain}/uptime/incidents/', permission: 'domain.view', ...uptime.incidents },
  { method: 'GET', path: '/domains/{domain}/logs/', permission: 'domain.view', gate: logsGate, ...logs.list },
  { method: 'GET', path: '/domains/{domain}/logs/{decisionId}', permission: 'domain.view', gate: logsGate, ...logs.read },
  { method: 'GET', path: '/domains/{domain}/logs/{decisionId}/trace', permission: 'domain.view', gate: logsGate, ...logs.explain },
  { method: 'GET', path: '/domains/{domain}/nodes/', permission: 'domain.view', ...nodes.onDomain },
  { method: 'GET', path: '/nodes/', permission: null, ...nodes.list },

  // Routes for nodes
  { method: 'GET', path: '/nodes/feed', permission: 'node', ...feed.follow },
  { method: 'GET', path: '/nodes/manifest', permission: 'node', ...feed.manifest },
  { method: 'GET', path: '/nodes/plans/{digest}', permission: 'node', ...feed.plan },
  { method: 'GET', path: '/nodes/lists/{digest}', permission: 'node', ...feed.list },
  { method: 'GET', path: '/nodes/certificates/{domain}', permission: 'node', ...feed.certificates },
  { method: 'GET', path: '/nodes/purges/{domain}', permission: 'node', ...feed.purges },
  { method: 'GET', path: '/nodes/self', permission: 'node', ...feed.self },
  { method: 'POST', path: '/nodes/reports', permission: 'node', ...feed.report },
  { method: 'POST', path: '/nodes/cache', permission: 'node', ...nodeCache },
  { method: 'POST', path: '/nodes/traffic', permission: 'node', ...nodeTraffic },
  { method: 'POST', path: '/nodes/logs', permission: 'node', ...ship },
];

/** The routes that a node token authenticates. */
export const NODE_ROUTES = ROUTES.filter(isNodeRoute);
