/**
 * The rows of the store, one shape per table, in the API's own field names. Times are integer milliseconds since the
 * epoch, ids are positive integers below 2³² that are never given twice, and fields called `…_json`, `body` and
 * `content` are JSON as text: the store neither reads nor changes it.
 */
import type { DomainStatus, RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { DomainSettings } from '../../rules/model/domain.ts';
import type { DnsRecord } from '../../rules/model/types.ts';

/** Whose nameservers serve the domain's zone: this service's, or others. */
export const DNS_MODES = ['managed', 'external'] as const;
/** One of DNS_MODES. */
export type DnsMode = (typeof DNS_MODES)[number];

/** Whether each change of rules is published at once, or collected in a draft that somebody publishes. */
export const PUBLISH_MODES = ['automatic', 'manual'] as const;
/** One of PUBLISH_MODES. */
export type PublishMode = (typeof PUBLISH_MODES)[number];

/** Roles that can be granted; `owner` belongs to the account in `user_id` and is never stored. */
export const MEMBER_ROLES = ['viewer', 'editor', 'admin'] as const;
/** One of MEMBER_ROLES. */
export type MemberRole = (typeof MEMBER_ROLES)[number];

/** An account: it has keys and owns domains. */
export interface AccountRow {
  readonly id: number;
  /** Unique. */
  readonly name: string;
  /** An inactive account's keys answer 401. */
  readonly active: boolean;
  readonly created_at: number;
  readonly updated_at: number;
}

/** An API key; the key itself is never stored. */
export interface KeyRow {
  readonly id: number;
  readonly account_id: number;
  /** SHA-256 of the whole key, 64 lower-case hex digits. Unique. */
  readonly hash: string;
  readonly name: string;
  readonly read_only: boolean;
  readonly created_at: number;
  /** The key is rejected from then on; `null`: it does not expire. */
  readonly expires_at: number | null;
  readonly revoked_at: number | null;
}

/** A key, and whether its account is active: a key of an inactive account is rejected. */
export interface KeyWithOwner extends KeyRow {
  readonly account_active: boolean;
}

/** A key as the API shows it to its owner. */
export interface KeyWithUse extends KeyRow {
  /** Time of the last request; `null`: never used. */
  readonly last_used_at: number | null;
}

/** Requests of one key on one day. */
export interface KeyUseRow {
  readonly key_id: number;
  /** Whole days since the epoch, UTC. */
  readonly day: number;
  readonly requests: number;
  /** The last request of that day. */
  readonly last_used_at: number;
}

/** The documented domain object as far as it is stored. `null` is an absent time. */
export interface DomainRow extends DomainSettings {
  readonly id: number;
  /** Lower-case ASCII without a trailing dot. Unique among proved domains, and among those of one account. */
  readonly name: string;
  /** The owning account. */
  readonly user_id: number;
  readonly status: DomainStatus;
  readonly dns_mode: DnsMode;
  /** Once `active`, always true: only such a name owns hosts (semantics §2). */
  readonly ever_active: boolean;
  /** Content of the TXT record that proves ownership. */
  readonly verification_token: string;
  readonly verification_started_at: number | null;
  readonly verification_expires_at: number | null;
  readonly verified_at: number | null;
  /**
   * Since when the name has no proof: from creation on, or since the proof was lost. `null`: it was proved, or the
   * domain is banned, and no other domain can have the name.
   */
  readonly unproved_since: number | null;
  /** Since when a managed domain waits for its delegation; `null`: it waits for none. */
  readonly pending_since: number | null;
  /** Since when the delegation is gone; the grace period starts here. */
  readonly moved_since: number | null;
  /** When the lifecycle acts on the domain next; `null`: nothing is due. */
  readonly next_check_at: number | null;
  /** Time of the last check on request, which is rate limited. */
  readonly last_manual_ns_check_at: number | null;
  /** The cache is bypassed before this time. */
  readonly developer_mode_until: number | null;
  /** A new domain has `automatic`. */
  readonly publish_mode: PublishMode;
  /** In addition to the status: a suspended domain serves nothing. */
  readonly suspended: boolean;
  readonly suspended_at: number | null;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A domain and what one account may do there; `null`: nothing, it is invisible to the account. */
export interface SeenDomain {
  readonly domain: DomainRow;
  readonly role: 'owner' | MemberRole | null;
}

/** An account's role at a domain that another account owns. */
export interface MemberRow {
  readonly domain_id: number;
  readonly account_id: number;
  readonly role: MemberRole;
  readonly created_at: number;
  readonly updated_at: number;
}

/**
 * A membership that was offered and is neither accepted nor declined. It names an account, which may not exist (yet), and
 * so applies to an account that is made later under that name.
 */
export interface InvitationRow {
  readonly id: number;
  readonly domain_id: number;
  /** The name of the invited account; once in a domain. */
  readonly name: string;
  readonly role: MemberRole;
  readonly created_at: number;
  readonly updated_at: number;
  /** From then on it has lapsed. */
  readonly expires_at: number;
}

/** What a domain has bought; at most one a domain. */
export interface SubscriptionRow {
  readonly id: number;
  /** Unique. */
  readonly domain_id: number;
  /** The tier's name. */
  readonly plan_slug: string;
  readonly plan_term_id: number | null;
  readonly active: boolean;
  readonly started_at: number;
  readonly ends_at: number | null;
  /** Entitlements that differ from the tier's, as a JSON object. */
  readonly overrides_json: string;
}

/** Whether a certificate was obtained by ACME or uploaded by the customer. */
export const CERTIFICATE_SOURCES = ['acme', 'custom'] as const;
/** One of CERTIFICATE_SOURCES. */
export type CertificateSource = (typeof CERTIFICATE_SOURCES)[number];

/** The stored state of a certificate; that it has expired follows from the time. */
export const CERTIFICATE_STATES = ['pending', 'active', 'failed', 'revoked'] as const;
/** One of CERTIFICATE_STATES. */
export type CertificateState = (typeof CERTIFICATE_STATES)[number];

/** A certificate on file, without its chain and key. */
export interface CertificateRow {
  readonly id: number;
  readonly domain_id: number;
  readonly source: CertificateSource;
  /** The names it covers, a JSON array of strings. */
  readonly names_json: string;
  /** The name of its issuer; empty: a version before stored none, here and in the next two fields. */
  readonly issuer: string;
  /** Such as `RSA 2048` or `P-256`. */
  readonly key_type: string;
  /** SHA-256 of its DER octets, lower-case hex. Unique in its domain. */
  readonly sha256: string;
  readonly not_before: number;
  readonly not_after: number;
  readonly status: CertificateState;
  /** Why it failed; empty: it has not. */
  readonly error: string;
  /** When it is renewed; `null`: nothing renews it. */
  readonly renew_at: number | null;
  /** What the members of the domain were notified of. */
  readonly noticed: '' | 'expiring' | 'expired';
  readonly created_at: number;
}

/** A certificate with what nodes need of it. */
export interface CertificateOnFile extends CertificateRow {
  /** PEM, the leaf first; `null`: a version before stored none. */
  readonly chain: string | null;
  /** Its private key as `control/certificates/key-ring.ts` encrypts it. */
  readonly sealed_key: Uint8Array | null;
}

/** A DNS record of a domain. */
export interface RecordRow extends DnsRecord {
  readonly domain_id: number;
  readonly created_at: number;
  readonly updated_at: number;
}

/** A rule of a domain. */
export interface RuleRow {
  readonly id: number;
  readonly domain_id: number;
  readonly type: RuleType;
  readonly priority: number;
  /**
   * All other fields as a JSON object: those of the type and the common ones, without `id`, `domain_id`, `type`,
   * `priority`, `created_at`, `updated_at`, and without the `content` of an error page, which has a table of its own so
   * that lists do not load it.
   */
  readonly body: string;
  readonly created_at: number;
  readonly updated_at: number;
}

/** The draft of a domain. It begins when the domain publishes by hand for the first time, and its number only rises. */
export interface DraftRow {
  readonly domain_id: number;
  /** Rises with each change of the draft, and when it is published or discarded. */
  readonly edit: number;
  /** When the first change was made after the last publication; `null`: none was. */
  readonly since: number | null;
}

/** The invariants that a domain requires. */
export interface InvariantsRow {
  readonly domain_id: number;
  /** Rises whenever the list is replaced. */
  readonly edit: number;
  /** The list as JSON text. */
  readonly body: string;
}

/**
 * A rule as nodes run it, of a domain that publishes by hand: stored before the first change of a draft to that rule. Rules without
 * such a row are published as they are stored.
 */
export interface PublishedRuleRow extends Omit<RuleRow, 'id' | 'body'> {
  readonly rule_id: number;
  /** `null`: the rule was created in the draft, nodes have none. */
  readonly body: string | null;
  /** The HTML of an error page; `null`: it has none. */
  readonly content: string | null;
  /** Entries of a drop rule's `ips`. */
  readonly addresses: number;
}

/** The HTML of an error_page rule. */
export interface RuleContentRow {
  readonly rule_id: number;
  /** A JSON object: decimal status code to HTML. */
  readonly content: string;
}

/** The cost of one regex of a rule, as the budgets of its domain count it. */
export interface PatternRow {
  /** SHA-256 of the pattern and its case, lower-case hex: the same for the same pattern in another rule. */
  readonly digest: string;
  /** Octets of its automaton. */
  readonly octets: number;
  /** The square of its instructions. */
  readonly build: number;
  /** Eighths of a scan it causes. */
  readonly eighths: number;
  /** The literal all its matches start with, four hex digits a UTF-16 code unit, so that any text can be stored. */
  readonly prefix: string;
}

/** The account and key that made a change. */
export interface Author {
  /** `null`: the service itself or its operator. */
  readonly account_id: number | null;
  /** The key that was used, if one was. */
  readonly key_id: number | null;
}

/** One change of a domain, with its state before and after. */
export interface AuditRow extends Author {
  readonly id: number;
  readonly domain_id: number;
  /** The domain's name then; entries outlive their domain. */
  readonly domain: string;
  readonly at: number;
  /** What happened, `<noun>.<verb>`, such as `rule.update`. */
  readonly action: string;
  /** To what: `<type>/<id>`, or empty for the domain itself. */
  readonly subject: string;
  readonly before_json: string | null;
  readonly after_json: string | null;
}

/** Work for the publisher: one accepted change of what the edge does. */
export interface OutboxRow extends Author {
  /** Rising within a domain in the order of commits. */
  readonly id: number;
  readonly domain_id: number;
  readonly domain: string;
  readonly at: number;
  readonly reason: string;
}

/** A domain with outbox rows that no publisher has claimed. */
export interface PendingDomain {
  readonly domain_id: number;
  readonly domain: string;
  /** How many rows wait. */
  readonly rows: number;
  /** The newest of them. */
  readonly through: number;
  /** When the oldest of them was written. */
  readonly since: number;
}

/** One publication, never changed once written. */
export interface RevisionRow extends Author {
  readonly domain: string;
  /** The domain object it was made for; a name that was deleted and created again has several. */
  readonly domain_id: number;
  /** 1, 2, 3 … per name, without gaps, also across deletion. */
  readonly revision: number;
  /** SHA-256 of the sealed plan, lower-case hex; `null`: a tombstone, nothing is served. */
  readonly digest: string | null;
  readonly reason: string;
  readonly at: number;
  /** It covers every outbox row of `domain_id` up to this id. */
  readonly through: number;
}

/** A revision in the history. */
export interface FiledRevision extends RevisionRow {
  /** Its plan was removed; the row stays. */
  readonly pruned: boolean;
}

/** A revision whose plan is stored. */
export interface StoredPlan extends Pick<RevisionRow, 'revision' | 'at'> {
  /** Octets of the sealed plan. */
  readonly octets: number;
}

/** A name's current plan: the octets that give its layout version, and the changes that it covers. */
export interface PlanHead extends Pick<RevisionRow, 'domain' | 'domain_id' | 'revision' | 'through'> {
  /** The first eight octets of the sealed plan; `null` if the store does not have it. */
  readonly head: Uint8Array | null;
}

/** What nodes should serve for one name now. */
export interface ManifestRow {
  readonly domain: string;
  readonly domain_id: number;
  /** 0: nothing has been published yet. */
  readonly revision: number;
  /** `null`: a tombstone (or, at revision 0, nothing yet). */
  readonly digest: string | null;
  /** Rises with every purge of the domain's cache, and when the name goes to another domain. */
  readonly purge_epoch: number;
  /** The position of the domain's newest purge of single responses; 0: there was none. */
  readonly purge_through: number;
  /** The highest position of such a purge that is not stored any more; 0: all are. */
  readonly purge_floor: number;
  /**
   * Rises by one with every change of any name, in the order in which the changes become visible: a reader
   * that has read up to a position misses nothing by reading what is above it.
   */
  readonly position: number;
  readonly at: number;
  /** The groups whose nodes serve it, as `base/vocabulary/node-groups.ts` writes them: those of its domain when it was published. */
  readonly node_groups: string;
  /** The groups that served it before: their nodes read a tombstone. */
  readonly left_groups: string;
  /** The digest of the certificates of its domain (`engine/plan/manifest.ts`); `null`: it has none. */
  readonly certificates: string | null;
  /** The HTTP-01 challenges of its domain, as `edge-repositories.ts` writes them; `null`: none. */
  readonly challenges: string | null;
}

/** An edge node; the token itself is never stored. */
export interface NodeRow {
  readonly id: number;
  /** Unique. */
  readonly name: string;
  /** SHA-256 of the token, lower-case hex. Unique. */
  readonly token_hash: string;
  readonly created_at: number;
  readonly last_seen_at: number | null;
  readonly revoked_at: number | null;
  /** As `base/vocabulary/node-groups.ts` writes them. */
  readonly node_groups: string;
  /** The X25519 key that certificates are sealed to, Base64 of 32 octets; `null`: the node has sent none. */
  readonly box_key: string | null;
}

/** How many domains are in a set of groups. */
export interface GroupedDomains {
  readonly node_groups: string;
  readonly domains: number;
}

/** A token of a node that another one has replaced. */
export interface ReplacedTokenRow {
  /** As `NodeRow.token_hash`. */
  readonly token_hash: string;
  readonly node_id: number;
  /** Valid before this, milliseconds since the epoch. */
  readonly until: number;
}

/** A node serves the revision (`ack`), or has rejected it (`nack`). */
export const REPORT_OUTCOMES = ['ack', 'nack'] as const;
/** One of REPORT_OUTCOMES. */
export type ReportOutcome = (typeof REPORT_OUTCOMES)[number];

/** A node's answer to one revision; a later answer to the same revision replaces it. */
export interface ReportRow {
  readonly node_id: number;
  readonly domain: string;
  readonly revision: number;
  readonly outcome: ReportOutcome;
  /** Empty for an ack. */
  readonly reason: string;
  readonly at: number;
}

/** A new domain whose existing records are still to be scanned for. */
export interface ScanRow extends Author {
  readonly domain_id: number;
  /** When it is due. The process that begins it moves this ahead, so that an interrupted scan is begun again. */
  readonly run_at: number;
  /** How often it was begun. */
  readonly tries: number;
}

/** What the uptime of a domain was judged by so far. */
export interface UptimeStateRow {
  readonly domain_id: number;
  /** The last judged minute, whole minutes since the epoch. */
  readonly through: number;
  /** The state can change without further traffic. */
  readonly active: boolean;
  /** As `control/traffic/uptime/state.ts` writes it. */
  readonly state_json: string;
}

/** A domain as uptime judges it; `state_json` as in `UptimeStateRow`, `null`: it was never judged. */
export interface WatchedDomain
  extends Pick<
    DomainRow,
    | 'id'
    | 'name'
    | 'user_id'
    | 'outage_alerts'
    | 'uptime_threshold_pct'
    | 'uptime_window_min'
    | 'uptime_min_requests'
    | 'uptime_min_active_min'
    | 'uptime_recover_min'
  > {
  readonly state_json: string | null;
}

/** Why an incident resolved. `recovered`: the origin answers again. `no_traffic`: 24 hours passed without a request. */
export const RESOLUTIONS = ['recovered', 'no_traffic'] as const;
/** One of RESOLUTIONS. */
export type Resolution = (typeof RESOLUTIONS)[number];

/** An outage of a domain's origins. */
export interface IncidentRow {
  readonly id: number;
  readonly domain_id: number;
  /** The start of the first minute that was down. */
  readonly began_at: number;
  /** The end of the minute with which the settings of the domain made it an incident. */
  readonly opened_at: number;
  /** The end of the minute with which it resolved; `null`: it is open. */
  readonly resolved_at: number | null;
  readonly resolution: Resolution | null;
  /** Monitored requests and errors from `began_at` on: to `opened_at` of an open one, else to `resolved_at`. */
  readonly requests: number;
  readonly errors: number;
}

/** How a notification reaches an account outside of its feed. */
export const NOTIFY_CHANNELS = ['email', 'sms', 'webhook'] as const;
/** One of NOTIFY_CHANNELS. */
export type NotifyChannel = (typeof NOTIFY_CHANNELS)[number];

/** One entry of an account's feed of notifications. */
export interface NotificationRow {
  readonly id: number;
  readonly account_id: number;
  /** `null`: it is about no domain. The domain may be gone by now. */
  readonly domain_id: number | null;
  /** The domain's name then; empty: it is about no domain. */
  readonly domain: string;
  /** As `control/notices/kinds.ts` lists them. */
  readonly kind: string;
  /** A JSON object by the schema of the kind. */
  readonly data_json: string;
  readonly created_at: number;
  readonly read_at: number | null;
}

/** `waiting`: to be attempted at `next_at`; `skipped`: never attempted, `last_error` says why. */
export const DELIVERY_STATES = ['waiting', 'delivered', 'failed', 'skipped'] as const;
/** One of DELIVERY_STATES. */
export type DeliveryState = (typeof DELIVERY_STATES)[number];

/** A notification on its way to one target. */
export interface DeliveryRow {
  readonly id: number;
  readonly notification_id: number;
  readonly account_id: number;
  readonly channel: NotifyChannel;
  /** The id of the webhook; 0 where the account has one target of the channel. */
  readonly target_id: number;
  readonly state: DeliveryState;
  /** Attempts that were begun. */
  readonly tries: number;
  readonly created_at: number;
  readonly next_at: number;
  /** Until then one process attempts it; 0: none. */
  readonly leased_until: number;
  /** Of the last attempt, for the account; empty: none failed. */
  readonly last_error: string;
  readonly delivered_at: number | null;
}

/** The e-mail address or the phone number of an account. */
export interface ContactRow {
  readonly account_id: number;
  readonly channel: 'email' | 'sms';
  /** The confirmed one; empty: none. */
  readonly address: string;
  /** One that a code was sent to; empty: none. */
  readonly pending: string;
  /** SHA-256 of that code, lower-case hex; empty: none. */
  readonly code_hash: string;
  readonly code_expires_at: number;
  /** Wrong codes since it was sent. */
  readonly code_tries: number;
  /** Codes sent since `sends_since`, and when the last one was. */
  readonly sends: number;
  readonly sends_since: number;
  readonly sent_at: number;
}

/** An address that receives notifications of an account as HTTP requests. */
export interface WebhookRow {
  readonly id: number;
  readonly account_id: number;
  readonly url: string;
  /** The key of its signatures, `whsec_` and Base64. */
  readonly secret: string;
  readonly created_at: number;
}

/** Whether an account wants a kind on a channel, where that differs from the default. */
export interface PreferenceRow {
  readonly account_id: number;
  readonly kind: string;
  readonly channel: NotifyChannel;
  readonly enabled: boolean;
}

/**
 * What a store has one of, each under its name: secrets (`signing_keys` and `clearance_masters` as
 * `control/publishing/signer.ts` and `control/publishing/clearance.ts` write them, `signing_key` and `clearance` as releases before them
 * made them), `epoch`, the number of its history (milliseconds at which it was restored;
 * absent: never), and `republish`, the outbox id that every current revision has to cover.
 */
export const SECRET_NAMES = [
  'signing_key',
  'signing_keys',
  'clearance',
  'clearance_masters',
  'epoch',
  'republish',
] as const;
/** One of SECRET_NAMES. */
export type SecretName = (typeof SECRET_NAMES)[number];
