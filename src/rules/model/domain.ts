/**
 * The form of a domain in a rule set: its name, its status and its settings. The API has forms of its own for what a
 * customer may write (`control/api/domain-shape.ts`).
 */
import { z } from 'zod';
import { normalizeName } from '../../base/addresses/host.ts';
import { CACHE_CAPS_MB, MAX_DISK_DAYS, MAX_DISK_GB, MAX_HOST_OCTETS } from '../../base/vocabulary/limits.ts';
import { BOUGHT_SWITCHES, SETTING_SWITCHES } from '../../base/vocabulary/switches.ts';
import { DOMAIN_STATUSES } from '../../base/vocabulary/vocabulary.ts';
import { converted, flag, integer, time } from './fields.ts';
import { crossCheck, type Fields, form, pick, type Stored } from './form.ts';
import type { Problem } from './report.ts';

// Defines the settings of a domain that a customer can change. One entry a setting: its type, the checks of a write, the
// API documents, the default of a new domain, `export` and `apply` are derived from it. A boolean setting that nodes read
// is an entry of `base/vocabulary/switches.ts`. A new setting also needs a column in a migration of the store; another one
// that changes responses, a field in the plan (`engine/plan/layout.ts`) that nodes read (`engine/evaluator/edge-settings.ts`).

/**
 * The greatest `uptime_min_requests`: no window has more requests, so a higher minimum would never open an incident.
 */
const MAX_REQUEST_FLOOR = 1_000_000_000;
/** Minutes of the longest window (API document). */
const MAX_MINUTES = 60;

/** Settings that nodes read; they are part of the plan. */
const EDGE_SETTINGS = {
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
  ...switchFields(SETTING_SWITCHES),
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
const UPTIME_SETTING_NAMES = namesOf(UPTIME_SETTINGS);

/** The settings of a domain where no setting was changed. */
export const DEFAULT_SETTINGS: DomainSettings = z.object(DOMAIN_SETTINGS).parse({});

/** Copies the settings out of an object with more fields, such as a row of the store. */
export function settingsOf(values: DomainSettings): DomainSettings {
  return pick(values, SETTING_NAMES);
}

/** A field for each switch. */
function switchFields<Name extends string>(
  switches: Readonly<Record<Name, { readonly meaning: string }>>,
): Readonly<Record<Name, ReturnType<typeof flag>>> {
  const fields = Object.entries<{ readonly meaning: string }>(switches).map(([name, { meaning }]) => [
    name,
    flag(false)
      .describe(meaning)
      .meta({ examples: [true] }),
  ]);
  return Object.fromEntries(fields) as Record<Name, ReturnType<typeof flag>>;
}

/** The names of fields, in the order of their declaration. */
function namesOf<F extends Fields>(fields: F): readonly (keyof F & string)[] {
  return Object.keys(fields);
}

/** Fields of the domain object of the API that no decision depends on; accepted and ignored. */
const ANSWERED = [
  'id',
  'user_id',
  'dns_mode',
  'verification_started_at',
  'pending_since',
  'moved_since',
  'next_check_at',
  'last_manual_ns_check_at',
  ...UPTIME_SETTING_NAMES,
  'suspended_at',
  'created_at',
  'updated_at',
  'ssl',
  'subscription',
  'verification',
  'my_role',
  'permissions',
] as const;

/**
 * The name of a domain, converted to its canonical form (`normalizeName`); refuses a wildcard, and a last label of
 * digits.
 */
export const domainName = converted(
  (value) => {
    const name = normalizeName(value);
    const whole = name !== null && !name.includes('*') && !/(?:^|\.)[0-9]+$/.test(name);
    return whole ? { value: name } : { problem: INVALID_NAME };
  },
  { maxLength: MAX_HOST_OCTETS + 1 },
);

/** The problem of any text that is no domain name. */
const INVALID_NAME: Problem = {
  code: 'invalid_name',
  message: `must be a domain name of at most ${MAX_HOST_OCTETS} octets, without scheme, port or star`,
};

/** The fields of the form, by their names in the API. */
const FIELDS = {
  name: domainName.describe('name of the domain').meta({ examples: ['example.com'] }),
  status: z
    .enum(DOMAIN_STATUSES)
    .default('active')
    .describe('only `active` and `moved` domains are served')
    .meta({ examples: ['active'] }),
  suspended: flag(false)
    .describe('paused for billing: the edge refuses connections')
    .meta({ examples: [true] }),
  developer_mode_until: time()
    .nullable()
    .default(null)
    .describe('the cache is bypassed until this time (RFC 3339); null: developer mode is off')
    .meta({ examples: ['2030-01-31T12:00:00Z'] }),
  ...EDGE_SETTINGS,
  ...switchFields(BOUGHT_SWITCHES),
};

/** A domain as the compiler reads it; `name` is in lower-case ASCII without a trailing dot. */
export type Domain = Stored<typeof FIELDS>;

/** The form of a domain; warns about a status in which no request is served. */
export const domainForm = form({
  fields: FIELDS,
  ignored: ANSWERED,
  checks: [
    crossCheck<Pick<Domain, 'status'>>(['status'], ({ status }, scope) => {
      if (status === 'active' || status === 'moved') return;
      const message = `is \`${status}\`, so every request is refused with 421`;
      scope.warn(['status'], { code: 'not_serving', message });
    }),
  ],
  finish: (values): Domain => values,
});
