/** Blocks matching requests. */
import { z } from 'zod';
import { MAX_COUNTRIES, MAX_IPS } from '../../base/limits.ts';
import { LIST_MATCH_TYPES } from '../../base/vocabulary.ts';
import {
  COMMON_FIELDS,
  COMMON_IGNORED,
  finishCommon,
  finishPath,
  isUnnarrowed,
  type NarrowingValues,
  PATH_CHECKS,
  PATH_FIELDS,
  type StoredRule,
} from '../common.ts';
import { country, ipEntry, list } from '../fields.ts';
import { crossCheck, type FormValues, form } from '../form.ts';
import type { DropRule } from '../types.ts';

const OWN_FIELDS = {
  country_match_type: z.enum(LIST_MATCH_TYPES).default('include'),
  countries: list(country(), MAX_COUNTRIES).default([]),
  ip_match_type: z.enum(LIST_MATCH_TYPES).default('include'),
  ips: list(ipEntry(), MAX_IPS).default([]),
};
type OwnValues = FormValues<typeof OWN_FIELDS>;

const allowlist = crossCheck<Pick<OwnValues, 'ip_match_type' | 'ips'>>(
  ['ip_match_type', 'ips'],
  (values, scope) => {
    if (values.ip_match_type !== 'exclude' || values.ips.length > 0) return;
    const message = 'must list at least one address while `ip_match_type` is `exclude`';
    scope.error(['ips'], { code: 'empty_allowlist', message });
  },
);

const narrowing = crossCheck<Pick<OwnValues, 'countries' | 'ips'> & NarrowingValues>(
  [
    'countries',
    'ips',
    'enabled',
    'action_mode',
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

export const dropForm = {
  type: 'drop',
  ...form({
    fields: { ...COMMON_FIELDS, ...PATH_FIELDS, ...OWN_FIELDS },
    ignored: COMMON_IGNORED,
    checks: [...PATH_CHECKS, allowlist, { ...narrowing, ofAbsence: true }],
    finish: (values): StoredRule<DropRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      country_match_type: values.country_match_type,
      countries: values.countries,
      ip_match_type: values.ip_match_type,
      ips: values.ips,
    }),
  }),
} as const;
