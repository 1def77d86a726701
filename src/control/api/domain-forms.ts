/**
 * The forms of a new domain (`DomainCreate`) and of a change (`DomainUpdate`), and the checks of settings against the
 * plan.
 */
import { z } from 'zod';
import {
  DEFAULT_SETTINGS,
  DOMAIN_SETTINGS,
  type DomainSettings,
  domainName,
} from '../../rules/model/domain.ts';
import { checked } from '../../rules/model/fields.ts';
import { crossCheck, type FormValues, form, partially } from '../../rules/model/form.ts';
import { judgeActivePlan, judgeCeiling } from '../accounts/entitlement-checks.ts';
import type { Entitlements } from '../accounts/entitlements.ts';
import { challengeHost, MAX_CHALLENGED_OCTETS } from '../domains/challenge.ts';
import { DNS_MODES, type DnsMode } from '../store/rows.ts';
import { domainDetail } from './domain-shape.ts';
import { badRequest, forbidden } from './operation/refusal.ts';

/** A partial update of a domain, as its form returns it. */
export interface DomainUpdate {
  /** The settings that the request has, changed or not. */
  readonly settings: Partial<DomainSettings>;
  /** `undefined`: the mode stays. */
  readonly dns_mode: DnsMode | undefined;
  /** `developer_mode_until: null` ends developer mode; a time, as a GET shows it, is ignored. */
  readonly endDeveloperMode: boolean;
}

/** The fields of an answer; an update accepts and ignores those that it cannot change. */
const SHOWN = Object.keys(domainDetail.shape);

/** Who serves the DNS of a domain. */
const DNS_MODE = z
  .enum(DNS_MODES)
  .describe(
    '`managed`: the name servers of the service answer for the domain; `external`: those of another provider',
  )
  .meta({ examples: ['external'] });

/** A partial update; fields that only answers carry are ignored, so that what was read can be sent back. */
export const domainUpdateForm = form({
  fields: {
    dns_mode: DNS_MODE.optional(),
    developer_mode_until: z
      .string()
      .meta({ format: 'date-time' })
      .nullable()
      .optional()
      .describe('null ends developer mode; a time, as a GET shows it, is ignored')
      .meta({ examples: [null] }),
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
 * The name of a new domain: at least two labels, since a single label belongs to a registry and no account can prove
 * it. Names of records may have other characters than letters, digits and hyphens; the name of a zone may not (RFC 1123
 * §2.1).
 */
const registrable = checked(domainName, (name) => {
  const code = 'invalid_name';
  if (!name.includes('.')) return { code, message: 'must have at least two labels' };
  const plain = name.split('.').every((label) => /^[a-z0-9-]+$/.test(label) && !/^-|-$/.test(label));
  return plain ? null : { code, message: 'must have labels of letters, digits and inner hyphens' };
});

/** Why a name cannot be proven by a TXT record. */
export const NO_ROOM = 'the name leaves no room for the TXT record that would prove it';

/** The fields of a new domain. */
const CREATE_FIELDS = {
  name: registrable.describe('name of the domain, at least two labels').meta({ examples: ['example.com'] }),
  dns_mode: DNS_MODE.default('managed'),
};

/** Checks that an external domain leaves room for its TXT record, since only that record can prove it. */
const provable = crossCheck<FormValues<typeof CREATE_FIELDS>>(['name', 'dns_mode'], (values, scope) => {
  if (values.dns_mode !== 'external' || challengeHost(values.name) !== null) return;
  const message = `must be at most ${MAX_CHALLENGED_OCTETS} octets while \`dns_mode\` is \`external\`: ${NO_ROOM}`;
  scope.error(['name'], { code: 'too_long', message, found: `${values.name.length} octets` });
});

/** The form of a new domain. */
export const domainCreateForm = form({
  fields: CREATE_FIELDS,
  ignored: [],
  checks: [provable],
  finish: ({ name, dns_mode }): { readonly name: string; readonly dns_mode: DnsMode } => ({ name, dns_mode }),
});

/** The settings of a new domain: the defaults, lowered to the ceilings of its plan, but at least 1. */
export function initialSettings(entitlements: Entitlements): DomainSettings {
  const { cache_l2_max_gb, cache_l2_ttl_days } = DEFAULT_SETTINGS;
  return {
    ...DEFAULT_SETTINGS,
    cache_l2_max_gb: Math.max(1, Math.min(cache_l2_max_gb, entitlements.max_cache_disk_gb)),
    cache_l2_ttl_days: Math.max(1, Math.min(cache_l2_ttl_days, entitlements.max_cache_ttl_days)),
  };
}

/** Checks the settings that a change would result in against each other. @throws Refusal 400 */
export function judgeSettings(after: DomainSettings): void {
  if (after.uptime_min_active_min <= after.uptime_window_min) return;
  throw badRequest(
    'uptime_min_active_min: must be at most `uptime_window_min`, ' +
      `found ${after.uptime_min_active_min} with a window of ${after.uptime_window_min}`,
  );
}

/**
 * Checks changed settings against the plan's ceilings; an unchanged one may stay above its ceiling.
 * @throws Refusal 403
 */
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

/** The fields with a value; absent ones of an update are `undefined`. */
function dropAbsent<T extends object>(fields: T): { [K in keyof T]?: Exclude<T[K], undefined> } {
  const present = Object.entries(fields).filter(([, value]) => value !== undefined);
  return Object.fromEntries(present) as { [K in keyof T]?: Exclude<T[K], undefined> };
}
