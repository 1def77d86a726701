/** Acts on classified bot traffic. */
import { z } from 'zod';
import { MAX_CONTENT_STATUS, MAX_PAGE_OCTETS, MIN_CONTENT_STATUS } from '../../base/limits.ts';
import { BOT_ACTIONS, BOT_KINDS, ORIGIN_SCHEMES } from '../../base/vocabulary.ts';
import { COMMON_CHECKS, COMMON_FIELDS, COMMON_IGNORED, finishCommon, type StoredRule } from '../common.ts';
import { checked, flag, integer, list, page, port, text } from '../fields.ts';
import { crossCheck, type FormValues, form } from '../form.ts';
import { judgeAddress } from '../location.ts';
import type { BotRouteRule } from '../types.ts';

const OWN_FIELDS = {
  bot_kinds: checked(list(z.enum(['*', ...BOT_KINDS])), (kinds) =>
    kinds.length > 0
      ? null
      : { code: 'too_few', message: 'must not be empty', remedy: 'list `*` for every bot' },
  ),
  require_verified: flag(false),
  action: z.enum(BOT_ACTIONS),
  status: integer(MIN_CONTENT_STATUS, MAX_CONTENT_STATUS).default(200),
  body: page(MAX_PAGE_OCTETS).default(''),
  alt_dest: checked(text(), (value) => (value === '' ? null : judgeAddress(value))).default(''),
  alt_port: port().nullable().default(null),
  alt_scheme: z.enum(ORIGIN_SCHEMES).default('https'),
};
type OwnValues = FormValues<typeof OWN_FIELDS>;

const answer = crossCheck<Pick<OwnValues, 'action' | 'body'>>(
  ['action', 'body'],
  ({ action, body }, scope) => {
    if (action !== 'alt_content' || body !== '') return;
    scope.error(['body'], {
      code: 'missing_field',
      message: 'must not be empty while `action` is `alt_content`',
    });
  },
);

const origin = crossCheck<Pick<OwnValues, 'action' | 'alt_dest'>>(['action', 'alt_dest'], (values, scope) => {
  if (values.action === 'alt_origin' && values.alt_dest === '') {
    const message = 'must name an origin while `action` is `alt_origin`';
    scope.error(['alt_dest'], { code: 'missing_field', message });
  }
  if (values.action !== 'alt_origin' && values.alt_dest !== '') {
    const message = `has no effect while \`action\` is \`${values.action}\` and is left out`;
    scope.warn(['alt_dest'], { code: 'unused_field', message });
  }
});

export const botRouteForm = {
  type: 'bot_route',
  ...form({
    fields: { ...COMMON_FIELDS, ...OWN_FIELDS },
    ignored: COMMON_IGNORED,
    checks: [...COMMON_CHECKS, answer, origin],
    finish: (values): StoredRule<BotRouteRule> => ({
      ...finishCommon(values),
      bot_kinds: values.bot_kinds,
      require_verified: values.require_verified,
      action: values.action,
      status: values.status,
      body: values.body,
      alt_dest: values.action === 'alt_origin' ? values.alt_dest : '',
      alt_port: values.alt_port,
      alt_scheme: values.alt_scheme,
    }),
  }),
} as const;
