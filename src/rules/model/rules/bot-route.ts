/** The form of `bot_route` rules, which act on requests of classified bots (semantics §5). */
import { z } from 'zod';
import { MAX_CONTENT_STATUS, MAX_PAGE_OCTETS, MIN_CONTENT_STATUS } from '../../../base/vocabulary/limits.ts';
import { BOT_ACTIONS, BOT_KINDS, ORIGIN_SCHEMES } from '../../../base/vocabulary/vocabulary.ts';
import { hostRule, type RuleOf } from '../common.ts';
import { anyCase, checked, flag, integer, list, page, port, text } from '../fields.ts';
import { crossCheck, type FormValues } from '../form.ts';
import { judgeAddress } from '../text-checks.ts';

/** The fields that only this type has. */
const FIELDS = {
  bot_kinds: checked(list(z.enum(['*', ...BOT_KINDS])), (kinds) =>
    kinds.length > 0
      ? null
      : { code: 'too_few', message: 'must not be empty', remedy: 'list `*` for every bot' },
  )
    .describe('kinds of bots that the rule applies to; `*` is every classified bot')
    .meta({ examples: [['gptbot', 'ccbot']] }),
  require_verified: flag(false)
    .describe(
      'only bots whose identity was verified, by forward-confirmed reverse DNS or published address ranges',
    )
    .meta({ examples: [true] }),
  action: z
    .enum(BOT_ACTIONS)
    .describe(
      '`block` answers 403, `alt_content` answers with `body`, `alt_origin` forwards to `alt_dest`, `tag` only marks the request',
    )
    .meta({ examples: ['alt_content'] }),
  status: integer(MIN_CONTENT_STATUS, MAX_CONTENT_STATUS)
    .default(200)
    .describe('status under `alt_content`')
    .meta({ examples: [402] }),
  body: page(MAX_PAGE_OCTETS)
    .default('')
    .describe('response body under `alt_content`')
    .meta({ examples: ['<h1>Ask for a licence</h1>'] }),
  alt_dest: checked(text(), (value) => (value === '' ? null : judgeAddress(value)))
    .default('')
    .describe('IP address or host name of the origin under `alt_origin`')
    .meta({ examples: ['198.51.100.60'] }),
  alt_port: port()
    .nullable()
    .default(null)
    .describe('port under `alt_origin`; null: as `alt_scheme` says')
    .meta({ examples: [8443] }),
  alt_scheme: anyCase(ORIGIN_SCHEMES)
    .default('https')
    .describe('protocol of connections under `alt_origin`')
    .meta({ examples: ['http'] }),
};
/** The values of the own fields after their defaults. */
type OwnValues = FormValues<typeof FIELDS>;

/** Requires a body for `alt_content`. */
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

/** Requires an origin for `alt_origin`, and warns about one that another action ignores. */
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

/** The form of the type; an `alt_dest` without effect is stored empty. */
export const botRouteForm = hostRule({
  type: 'bot_route',
  summary: 'Block, tag or answer classified bots differently',
  example: { bot_kinds: ['gptbot', 'ccbot'], action: 'block' },
  origins: ({ alt_dest }) => (alt_dest === '' ? [] : [{ path: ['alt_dest'], address: alt_dest }]),
  fields: FIELDS,
  checks: [answer, origin],
  unused: ({ action }) => (action === 'alt_origin' ? {} : { alt_dest: '' }),
});

/** A stored rule of the type. */
export type BotRouteRule = RuleOf<typeof botRouteForm>;
