/** Sends matching paths to another origin than the record's destination. */
import { z } from 'zod';
import { MAX_NAME_CHARACTERS } from '../../base/limits.ts';
import { ORIGIN_SCHEMES } from '../../base/vocabulary.ts';
import {
  COMMON_FIELDS,
  COMMON_IGNORED,
  finishCommon,
  finishPath,
  PATH_CHECKS,
  PATH_FIELDS,
  type StoredRule,
} from '../common.ts';
import { checked, filledText, originCountry, port, text } from '../fields.ts';
import { form } from '../form.ts';
import { judgeAddress, judgeHostHeader } from '../location.ts';
import type { OriginRouteRule } from '../types.ts';

export const originRouteForm = {
  type: 'origin_route',
  ...form({
    fields: {
      ...COMMON_FIELDS,
      ...PATH_FIELDS,
      address: checked(filledText(), judgeAddress),
      port: port().nullable().default(null),
      scheme: z.enum(ORIGIN_SCHEMES).default('https'),
      host_header: checked(text(), judgeHostHeader).default(''),
      country: originCountry(),
      name: text(MAX_NAME_CHARACTERS).default(''),
    },
    ignored: COMMON_IGNORED,
    checks: PATH_CHECKS,
    finish: (values): StoredRule<OriginRouteRule> => ({
      ...finishCommon(values),
      ...finishPath(values),
      address: values.address,
      port: values.port,
      scheme: values.scheme,
      host_header: values.host_header,
      country: values.country,
      name: values.name,
    }),
  }),
} as const;
