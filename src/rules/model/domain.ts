/**
 * The form of a domain in a rule set: its name, its status and the settings that nodes read. The API has forms of its
 * own for what a customer may write (`control/api/domain-forms.ts`).
 */
import { z } from 'zod';
import { normalizeName } from '../../base/addresses/host.ts';
import { MAX_HOST_OCTETS } from '../../base/vocabulary/limits.ts';
import { DOMAIN_STATUSES } from '../../base/vocabulary/vocabulary.ts';
import { converted, flag } from './fields.ts';
import { crossCheck, form, type Stored } from './form.ts';
import type { Problem } from './report.ts';
import { EDGE_SETTINGS, UPTIME_SETTING_NAMES } from './settings.ts';

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

/** A time as RFC 3339 §5.6 writes it, stored as sent. */
const time = converted(
  (value) => {
    const shape = /^\d{4}-\d\d-\d\d[Tt]\d\d:\d\d:\d\d(?:\.\d+)?(?:[Zz]|[+-]\d\d:\d\d)$/.test(value);
    if (shape && Number.isFinite(Date.parse(value.toUpperCase()))) return { value };
    const message = 'must be an RFC 3339 time, like `2030-01-31T12:00:00Z`';
    return { problem: { code: 'invalid_time', message } };
  },
  { format: 'date-time' },
);

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
  developer_mode_until: time
    .nullable()
    .default(null)
    .describe('the cache is bypassed until this time (RFC 3339); null: developer mode is off')
    .meta({ examples: ['2030-01-31T12:00:00Z'] }),
  ...EDGE_SETTINGS,
  websockets_off: flag(false)
    .describe('answers WebSocket requests with 403')
    .meta({ examples: [true] }),
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
