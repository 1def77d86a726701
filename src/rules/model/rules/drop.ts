/**
 * The form of `drop` rules, which block requests by country, address, host and path (semantics §5). Each filter that
 * is set must match; an empty list sets none.
 */
import { z } from 'zod';
import { MAX_COUNTRIES, MAX_IPS } from '../../../base/vocabulary/limits.ts';
import { DROP_STATUSES, LIST_MATCH_TYPES } from '../../../base/vocabulary/vocabulary.ts';
import { isUnnarrowed, type NarrowingValues, pathRule, type RuleOf } from '../common.ts';
import { country, ipEntry, list, orListName } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';
import { warnHostBits } from '../text-checks.ts';

/** The fields that only this type has. */
const FIELDS = {
  country_match_type: z
    .enum(LIST_MATCH_TYPES)
    .default('include')
    .describe('`include`: `countries` are dropped; `exclude`: every other country is, unknown ones too')
    .meta({ examples: ['exclude'] }),
  countries: list(orListName(country()), MAX_COUNTRIES)
    .default([])
    .describe('ISO 3166-1 alpha-2 codes, or `@name` of a list; empty: no country filter')
    .meta({ examples: [['KP', 'NO']] }),
  ip_match_type: z
    .enum(LIST_MATCH_TYPES)
    .default('include')
    .describe('`include`: `ips` are dropped; `exclude`: every other address is, unknown ones too')
    .meta({ examples: ['exclude'] }),
  ips: list(orListName(ipEntry()), MAX_IPS)
    .default([])
    .describe(
      'addresses, CIDR prefixes and ranges `first-last`, IPv4 or IPv6, stored in canonical form, or `@name` of a list; empty: no address filter',
    )
    .meta({ examples: [['203.0.113.0/24', '2001:db8:42::/48', '192.0.2.10-192.0.2.20']] }),
  status: z
    .literal(DROP_STATUSES)
    .optional()
    .describe('what the edge answers; default: 403, which is stored as absent')
    .meta({ examples: [410] }),
};
/** The values of the own fields after their defaults. */
type OwnValues = FormValues<typeof FIELDS>;

/** Refuses an empty allowlist, which would drop every address (API document). */
const allowlist = crossCheck<Pick<OwnValues, 'ip_match_type' | 'ips'>>(
  ['ip_match_type', 'ips'],
  (values, scope) => {
    if (values.ip_match_type !== 'exclude' || values.ips.length > 0) return;
    const message = 'must list at least one address while `ip_match_type` is `exclude`';
    scope.error(['ips'], { code: 'empty_allowlist', message });
  },
);

/** Warns about prefixes with host bits: `10.0.0.5/8` is all of `10.0.0.0/8`, not one address. */
const prefixes = crossCheck<{ readonly ips?: readonly string[] }>(['ips'], ({ ips = [] }, scope) => {
  warnHostBits(ips, ['ips'], scope);
});

/** Refuses an enforced rule without any filter; it would drop every request (semantics §5). */
const narrowing = crossCheck<Pick<OwnValues, 'countries' | 'ips'> & NarrowingValues>(
  [
    'countries',
    'ips',
    'enabled',
    'action_mode',
    'conditions',
    'record_id',
    'record_ids',
    'host_pattern',
    'host_match_type',
    'host_includes',
    'host_excludes',
    'path_match_type',
    'path_includes',
    'path_excludes',
  ],
  (values, scope) => {
    if (!values.enabled || values.action_mode !== 'enforce') return;
    if (values.countries.length > 0 || values.ips.length > 0 || !isUnnarrowed(values)) return;
    const message = 'this rule would drop every request; list 0.0.0.0/0 and ::/0 in ips to mean that';
    scope.error([], { code: 'drops_everything', message });
  },
);

/** The form of the type. */
export const dropForm = pathRule({
  type: 'drop',
  summary: 'Refuse requests by path, address or country',
  example: { path_includes: ['/admin/*'], ip_match_type: 'exclude', ips: ['203.0.113.0/24'] },
  fields: FIELDS,
  checks: [{ ...prefixes, asWritten: true }, allowlist, { ...narrowing, ofAbsence: true }],
  unused: ({ status }) => (status === DROP_STATUSES[0] ? { status: undefined } : {}),
});

/** A stored rule of the type; `ips` are canonical texts, `countries` in upper case. */
export type DropRule = RuleOf<typeof dropForm>;
