/** What can be written to a domain: `DomainCreate` and `DomainUpdate`. */
import { z } from 'zod';
import { judgeActivePlan, judgeCeiling } from '../access/entitlement-checks.ts';
import type { Entitlements } from '../access/entitlements.ts';
import { challengeHost, MAX_CHALLENGED_OCTETS } from '../lifecycle/challenge.ts';
import { domainName } from '../model/domain.ts';
import { checked } from '../model/fields.ts';
import { crossCheck, type FormValues, form, partially } from '../model/form.ts';
import { DEFAULT_SETTINGS, DOMAIN_SETTINGS, type DomainSettings } from '../model/settings.ts';
import { DNS_MODES, type DnsMode } from '../store/rows.ts';
import { domainDetail } from './domain-shape.ts';
import { badRequest, forbidden } from './refusal.ts';

export interface DomainUpdate {
  readonly settings: Partial<DomainSettings>;
  readonly dns_mode: DnsMode | undefined;
  /** `developer_mode_until: null` ends developer mode; a time, as a GET shows it, is ignored. */
  readonly endDeveloperMode: boolean;
}

const SHOWN = Object.keys(domainDetail.shape);

/** A partial update; fields that only answers carry are ignored, so that what was read can be sent back. */
export const domainUpdateForm = form({
  fields: {
    dns_mode: z.enum(DNS_MODES).optional(),
    developer_mode_until: z.string().nullable().optional(),
    ...partially(DOMAIN_SETTINGS),
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
export function initialSettings(entitlements: Entitlements): DomainSettings {
  const { cache_l2_max_gb, cache_l2_ttl_days } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    cache_l2_max_gb: Math.max(1, Math.min(cache_l2_max_gb, entitlements.max_cache_disk_gb)),
    cache_l2_ttl_days: Math.max(1, Math.min(cache_l2_ttl_days, entitlements.max_cache_ttl_days)),
  };
}

/** Conditions across the settings as they would be; throws the 400. */
export function judgeSettings(after: DomainSettings): void {
  if (after.uptime_min_active_min <= after.uptime_window_min) return;
  throw badRequest(
    'uptime_min_active_min: must be at most `uptime_window_min`, ' +
      `found ${after.uptime_min_active_min} with a window of ${after.uptime_window_min}`,
  );
}

/** The plan's ceilings, for settings that change: what was allowed once can stay. Throws the 403. */
export function judgeCeilings(
  before: DomainSettings,
  changed: Partial<DomainSettings>,
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
