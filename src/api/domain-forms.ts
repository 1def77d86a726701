/** What can be written to a domain: `DomainCreate` and `DomainUpdate`. */
import { z } from 'zod';
import { judgeActivePlan, judgeCeiling } from '../access/entitlement-checks.ts';
import type { Entitlements } from '../access/entitlements.ts';
import { CACHE_CAPS_MB, MAX_DISK_DAYS, MAX_DISK_GB } from '../base/limits.ts';
import { challengeHost, MAX_CHALLENGED_OCTETS } from '../lifecycle/challenge.ts';
import { domainName } from '../model/domain.ts';
import { checked, integer } from '../model/fields.ts';
import { crossCheck, type FormValues, form } from '../model/form.ts';
import { DNS_MODES, type DnsMode, type DomainRow } from '../store/rows.ts';
import { domainDetail } from './domain-shape.ts';
import { badRequest, forbidden } from './refusal.ts';

/** The settings of a domain that a customer changes directly. */
export type Settings = Pick<
  DomainRow,
  | 'cache_l2_max_gb'
  | 'cache_l2_ttl_days'
  | 'cache_cap_mb'
  | 'sec_no_sniff'
  | 'sec_referrer_policy'
  | 'sec_strip_headers'
  | 'markdown_for_agents'
  | 'outage_alerts'
  | 'uptime_threshold_pct'
  | 'uptime_window_min'
  | 'uptime_min_requests'
  | 'uptime_min_active_min'
  | 'uptime_recover_min'
>;

export interface DomainUpdate {
  readonly settings: Partial<Settings>;
  readonly dns_mode: DnsMode | undefined;
  /** `developer_mode_until: null` ends developer mode; a time, as a GET shows it, is ignored. */
  readonly endDeveloperMode: boolean;
}

/** Requests an hour-long window could see on one domain; more is no floor but a wall. */
const MAX_FLOOR = 1_000_000_000;
/** Minutes: as long as the longest window. Given for the window (API document). */
const MAX_MINUTES = 60;

const SETTINGS = {
  cache_l2_max_gb: integer(1, MAX_DISK_GB).optional(),
  cache_l2_ttl_days: integer(1, MAX_DISK_DAYS).optional(),
  cache_cap_mb: z.literal(CACHE_CAPS_MB).optional(),
  sec_no_sniff: z.boolean().optional(),
  sec_referrer_policy: z.boolean().optional(),
  sec_strip_headers: z.boolean().optional(),
  markdown_for_agents: z.boolean().optional(),
  outage_alerts: z.boolean().optional(),
  uptime_threshold_pct: integer(50, 100).optional(),
  uptime_window_min: integer(2, MAX_MINUTES).optional(),
  uptime_min_requests: integer(0, MAX_FLOOR).optional(),
  uptime_min_active_min: integer(1, MAX_MINUTES).optional(),
  uptime_recover_min: integer(1, MAX_MINUTES).optional(),
} as const;

const SHOWN = Object.keys(domainDetail.shape);

/** A partial update; fields that only answers carry are ignored, so that what was read can be sent back. */
export const domainUpdateForm = form({
  fields: {
    dns_mode: z.enum(DNS_MODES).optional(),
    developer_mode_until: z.string().nullable().optional(),
    ...SETTINGS,
  },
  ignored: SHOWN,
  finish: ({ dns_mode, developer_mode_until, ...settings }): DomainUpdate => ({
    settings: dropAbsent(settings),
    dns_mode,
    endDeveloperMode: developer_mode_until === null,
  }),
});

/**
 * Two labels at least: one alone is a whole registry's, and nobody can prove that one is theirs. Names of records may
 * hold more than letters, digits and hyphens; the name of a zone may not (RFC 1123 §2.1).
 */
const registrable = checked(domainName, (name) => {
  const code = 'invalid_name';
  if (!name.includes('.')) return { code, message: 'must have at least two labels' };
  const plain = name.split('.').every((label) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label));
  return plain ? null : { code, message: 'must have labels of letters, digits and inner hyphens' };
});

/** Why a name cannot be proven by a TXT record. */
export const NO_ROOM = 'the name leaves no room for the TXT record that would prove it';

const CREATE_FIELDS = { name: registrable, dns_mode: z.enum(DNS_MODES).default('managed') };

const provable = crossCheck<FormValues<typeof CREATE_FIELDS>>(['name', 'dns_mode'], (values, scope) => {
  if (values.dns_mode !== 'external' || challengeHost(values.name) !== null) return;
  const message = `must be at most ${MAX_CHALLENGED_OCTETS} octets while \`dns_mode\` is \`external\`: ${NO_ROOM}`;
  scope.error(['name'], { code: 'too_long', message, found: `${values.name.length} octets` });
});

export const domainCreateForm = form({
  fields: CREATE_FIELDS,
  ignored: [],
  checks: [provable],
  finish: ({ name, dns_mode }): { readonly name: string; readonly dns_mode: DnsMode } => ({ name, dns_mode }),
});

/** What a new domain starts with, below the ceilings of its plan. */
export function initialSettings(entitlements: Entitlements): Settings {
  return {
    cache_l2_max_gb: Math.max(1, Math.min(10, entitlements.max_cache_disk_gb)),
    cache_l2_ttl_days: Math.max(1, Math.min(7, entitlements.max_cache_ttl_days)),
    cache_cap_mb: 128,
    sec_no_sniff: false,
    sec_referrer_policy: false,
    sec_strip_headers: false,
    markdown_for_agents: false,
    outage_alerts: true,
    uptime_threshold_pct: 90,
    uptime_window_min: 5,
    uptime_min_requests: 20,
    uptime_min_active_min: 2,
    uptime_recover_min: 5,
  };
}

/** Conditions across the settings as they would be; throws the 400. */
export function judgeSettings(after: Settings): void {
  if (after.uptime_min_active_min <= after.uptime_window_min) return;
  throw badRequest(
    'uptime_min_active_min: must be at most `uptime_window_min`, ' +
      `found ${after.uptime_min_active_min} with a window of ${after.uptime_window_min}`,
  );
}

/** The plan's ceilings, for settings that change: what was allowed once can stay. Throws the 403. */
export function judgeCeilings(
  before: Settings,
  changed: Partial<Settings>,
  entitlements: Entitlements,
): void {
  const ceilings = [
    ['max_cache_cap_mb', 'cache_cap_mb'],
    ['max_cache_disk_gb', 'cache_l2_max_gb'],
    ['max_cache_ttl_days', 'cache_l2_ttl_days'],
  ] as const;
  for (const [ceiling, field] of ceilings) {
    const value = changed[field];
    if (value === undefined || value === before[field]) continue;
    const above = judgeCeiling(entitlements, ceiling, { field, value });
    if (above !== null) throw forbidden(above);
  }
  if (changed.markdown_for_agents !== true || before.markdown_for_agents) return;
  const inactive = judgeActivePlan(entitlements, 'markdown_for_agents');
  if (inactive !== null) throw forbidden(inactive);
}

function dropAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
