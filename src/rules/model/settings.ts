/**
 * Defines the settings of a domain that a customer can change. One entry a setting: its type, the checks of a write, the
 * API documents, the default of a new domain, `export` and `apply` are derived from it. A new setting also needs a
 * column in a migration of the store and, if it changes responses, a field in the plan (`engine/plan/layout.ts`) that nodes read
 * (`engine/evaluator/edge-settings.ts`).
 */
import { z } from 'zod';
import { CACHE_CAPS_MB, MAX_DISK_DAYS, MAX_DISK_GB } from '../../base/vocabulary/limits.ts';
import { flag, integer } from './fields.ts';
import { type Fields, pick, type Stored } from './form.ts';

/**
 * The greatest `uptime_min_requests`: no window has more requests, so a higher minimum would never open an incident.
 */
const MAX_REQUEST_FLOOR = 1_000_000_000;
/** Minutes of the longest window (API document). */
const MAX_MINUTES = 60;

/** Settings that nodes read; they are part of the plan. */
export const EDGE_SETTINGS = {
  cache_l2_max_gb: integer(1, MAX_DISK_GB)
    .default(10)
    .describe('gigabytes that the disk cache of the domain may use')
    .meta({ examples: [50] }),
  cache_l2_ttl_days: integer(1, MAX_DISK_DAYS)
    .default(MAX_DISK_DAYS)
    .describe('days after which the disk cache drops an entry at the latest')
    .meta({ examples: [3] }),
  cache_cap_mb: z
    .literal(CACHE_CAPS_MB)
    .default(CACHE_CAPS_MB[0])
    .describe('megabytes of the largest response body that is cached; larger ones stream through')
    .meta({ examples: [512] }),
  sec_no_sniff: flag(false)
    .describe('adds `X-Content-Type-Options: nosniff` to responses')
    .meta({ examples: [true] }),
  sec_referrer_policy: flag(false)
    .describe('adds `Referrer-Policy: strict-origin-when-cross-origin` to responses')
    .meta({ examples: [true] }),
  sec_strip_headers: flag(false)
    .describe("removes headers that name the origin's software from responses")
    .meta({ examples: [true] }),
  markdown_for_agents: flag(false)
    .describe(
      'answers requests with `Accept: text/markdown` with a Markdown rendering of HTML pages; needs an active plan',
    )
    .meta({ examples: [true] }),
} as const satisfies Fields;

/** Settings of the uptime monitoring; nodes do not read them. */
const UPTIME_SETTINGS = {
  outage_alerts: flag(true)
    .describe('notifies the owner of a sustained outage of the origin')
    .meta({ examples: [false] }),
  uptime_threshold_pct: integer(50, 100)
    .default(90)
    .describe('percentage of origin errors from which on a minute counts as down')
    .meta({ examples: [80] }),
  uptime_window_min: integer(2, MAX_MINUTES)
    .default(5)
    .describe('minutes that must be down before an incident opens')
    .meta({ examples: [10] }),
  uptime_min_requests: integer(0, MAX_REQUEST_FLOOR)
    .default(20)
    .describe('requests to the origin that the window must hold before an incident opens')
    .meta({ examples: [100] }),
  uptime_min_active_min: integer(1, MAX_MINUTES)
    .default(2)
    .describe('minutes with requests that the window must hold; at most `uptime_window_min`')
    .meta({ examples: [5] }),
  uptime_recover_min: integer(1, MAX_MINUTES)
    .default(5)
    .describe('consecutive minutes with requests and not down after which an incident resolves')
    .meta({ examples: [10] }),
} as const satisfies Fields;

/** All settings, those of nodes first, as the API document orders them. */
export const DOMAIN_SETTINGS = { ...EDGE_SETTINGS, ...UPTIME_SETTINGS } as const;

/** The stored settings of one domain, all present. */
export type DomainSettings = Stored<typeof DOMAIN_SETTINGS>;

/** Names of all settings, in the order of the API document. */
export const SETTING_NAMES = namesOf(DOMAIN_SETTINGS);
/** Names of the settings in a plan. */
export const EDGE_SETTING_NAMES = namesOf(EDGE_SETTINGS);
/** Names of the settings that are not in a plan. */
export const UPTIME_SETTING_NAMES = namesOf(UPTIME_SETTINGS);

/** The settings of a domain where no setting was changed. */
export const DEFAULT_SETTINGS: DomainSettings = z.object(DOMAIN_SETTINGS).parse({});

/** Names of the boolean settings; the store has them as 0 and 1. */
export const FLAG_SETTING_NAMES = SETTING_NAMES.filter((name) => typeof DEFAULT_SETTINGS[name] === 'boolean');

/** Copies the settings out of an object with more fields, such as a row of the store. */
export function settingsOf(values: DomainSettings): DomainSettings {
  return pick(values, SETTING_NAMES);
}

/** The names of fields, in the order of their declaration. */
function namesOf<F extends Fields>(fields: F): readonly (keyof F & string)[] {
  return Object.keys(fields);
}
