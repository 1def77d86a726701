/** Generated bodies of gateways: schemas of a few keywords, and requests whose bodies are and are not what they say. */
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { GatewayOperation, GatewayRule } from '../../src/rules/model/types.ts';
import type { Random } from './generate-random.ts';

const SCHEMA = {
  type: 'object',
  required: ['a', 'é/~'],
  properties: { a: { type: 'integer' }, 'é/~': { type: ['null', 'string'] } },
  additionalProperties: false,
};

const CONTENTS: NonNullable<GatewayOperation['body']>['content'][] = [
  [{ type: 'application/json', schema: SCHEMA }],
  [{ type: 'application/json', schema: SCHEMA }, { type: 'Text/*' }],
  [{ type: 'application/vnd.a+json', schema: { type: 'array' } }, { type: '*/*' }],
  [{ type: 'text/plain' }],
];

/** The body of an operation, of most of them none. */
export function generateBody(random: Random): Pick<GatewayOperation, 'body'> {
  if (random.chance(0.1)) return {};
  const required = random.pick([true, false, undefined]);
  return { body: { ...(required === undefined ? {} : { required }), content: random.pick(CONTENTS) } };
}

/** How a gateway compares bodies; now and then not at all. */
export function generateValidation(random: Random): Pick<GatewayRule, 'validation'> {
  if (random.chance(0.15)) return {};
  const mode = () => random.pick(['block', 'block', 'log', 'pass'] as const);
  return { validation: { on_invalid: mode(), on_uninspected: mode(), body_cap_kb: 1 } };
}

const TYPES = [
  ...[
    ...Array<string>(6).fill('application/json'),
    'Application/JSON ; charset=UTF-8',
    'application/json;charset=latin1',
  ],
  ...[
    'text/plain',
    'text/html; charset=latin1',
    'application/vnd.a+json',
    'application/xml',
    'text/plain; a="b, c"',
    '',
    'text/plain; a=b, application/json',
  ],
];

const VALID = '{"a":1,"é/~":null}';
/** What is not read whole, most of it longer than the cap. */
const OVER = `"${'x'.repeat(1_100)}"`;
const LONG = [OVER, OVER, OVER, '['.repeat(40), `[1${'0'.repeat(1_022)}`];

const TEXTS = [
  ...[VALID, VALID, VALID, ' {"é\\/~" : "x", "a": 1e2}\n', '{"a":1.5,"é/~":7}', '{"a":1}', '{}', '[]', '[1]'],
  ...[
    '{"a":1,"é/~":null,"b":{"c":1}}',
    '{"a":1,"a":2}',
    '{"a":1,"\\u0061":2,"é/~":null}',
    '',
    '{',
    '1 2',
    'NaN',
  ],
  ...['"\\ud800"', '[01]', '\ufeff{}'],
];

/** The body of a request with its media type, now and then one that is not read whole. */
export function generateContent(random: Random): Partial<EdgeRequest> & { readonly type?: string } {
  if (random.chance(0.2)) return {};
  const text = random.pick(random.chance(0.35) ? LONG : TEXTS);
  const octets = new TextEncoder().encode(text);
  const body = random.pick<unknown>([text, text, text, text, octets, octets, undefined, null, 7]);
  return {
    ...(random.chance(0.9) ? { type: random.pick(TYPES) } : {}),
    ...(body === undefined ? {} : { body: body as string }),
    ...(random.chance(0.2) ? { bodyError: random.pick(['content-encoding: `x` is not known', null]) } : {}),
    ...(random.chance(0.1) ? { bodyTruncated: random.chance(0.5) } : {}),
  };
}
