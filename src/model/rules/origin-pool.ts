/** Load-balances matching traffic over several origins. */
import { z } from 'zod';
import {
  MAX_EJECT_SEC,
  MAX_HEALTH_INTERVAL_SEC,
  MAX_HEALTH_THRESHOLD,
  MAX_HEALTH_TIMEOUT_SEC,
  MAX_NAME_CHARACTERS,
  MAX_NODE_IDS,
  MAX_POOL_ORIGINS,
  MAX_WEIGHT,
} from '../../base/limits.ts';
import { LB_TYPES, ORIGIN_SCHEMES } from '../../base/vocabulary.ts';
import { COMMON_CHECKS, COMMON_FIELDS, COMMON_IGNORED, finishCommon, type StoredRule } from '../common.ts';
import { checked, filledText, flag, id, integer, list, originCountry, port, text } from '../fields.ts';
import { form } from '../form.ts';
import { judgeAddress, judgeHostHeader, judgeProbePath } from '../location.ts';
import type { OriginPoolRule } from '../types.ts';

const ORIGIN_FIELDS = {
  address: checked(filledText(), judgeAddress),
  port: port().nullable().default(null),
  scheme: z.enum(ORIGIN_SCHEMES).default('https'),
  weight: integer(0, MAX_WEIGHT).default(1),
  node_ids: list(id(), MAX_NODE_IDS).default([]),
  country: originCountry(),
};

const HEALTH_FIELDS = {
  enabled: flag(false),
  path: checked(text(), judgeProbePath).default('/'),
  interval_sec: integer(1, MAX_HEALTH_INTERVAL_SEC).default(15),
  timeout_sec: integer(1, MAX_HEALTH_TIMEOUT_SEC).default(5),
  unhealthy_threshold: integer(1, MAX_HEALTH_THRESHOLD).default(3),
  healthy_threshold: integer(1, MAX_HEALTH_THRESHOLD).default(2),
  eject_sec: integer(0, MAX_EJECT_SEC).default(30),
  host: checked(text(), judgeHostHeader).default(''),
};

const origins = checked(list(z.strictObject(ORIGIN_FIELDS), MAX_POOL_ORIGINS), (all) => {
  if (all.length === 0) return { code: 'too_few', message: 'must have at least 1 entry', found: '0' };
  if (all.some((origin) => origin.weight > 0)) return null;
  const message = 'must have an origin whose `weight` is above 0';
  return { code: 'all_drained', message, found: null, remedy: 'a weight of 0 takes an origin out' };
});

export const originPoolForm = {
  type: 'origin_pool',
  ...form({
    fields: {
      ...COMMON_FIELDS,
      lb_type: z.enum(LB_TYPES).default('round_robin'),
      origins,
      health_check: z.strictObject(HEALTH_FIELDS).prefault({}),
      host_header: checked(text(), judgeHostHeader).default(''),
      name: text(MAX_NAME_CHARACTERS).default(''),
    },
    ignored: COMMON_IGNORED,
    nested: { origins: Object.keys(ORIGIN_FIELDS), health_check: Object.keys(HEALTH_FIELDS) },
    checks: COMMON_CHECKS,
    finish: (values): StoredRule<OriginPoolRule> => ({
      ...finishCommon(values),
      lb_type: values.lb_type,
      origins: values.origins,
      health_check: values.health_check,
      host_header: values.host_header,
      name: values.name,
    }),
  }),
} as const;
