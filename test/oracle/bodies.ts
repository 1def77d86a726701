/**
 * What gateways make of bodies (semantics §15), of the few keywords that generated schemas have. In: the body of an operation, the
 * facts. Out: why it is refused.
 */
import type { GatewayOperation, GatewayRule } from '../../src/rules/model/types.ts';
import type { Facts } from './facts.ts';
import type { GatewayOutcome } from './types.ts';
import { headerValues } from './values.ts';
import { isUnread, octetsOf } from './waf.ts';

/** What is wrong with a body. */
export interface BodyFault {
  readonly reason: GatewayOutcome['reason'];
  readonly isBlocked: boolean;
  readonly errors: readonly { readonly pointer: string; readonly detail: string }[];
  /** The types that the operation takes. */
  readonly types: readonly string[];
}

/** What is wrong with the body of an admitted request; `null`: nothing that the gateway asks for. */
export function bodyFault(
  rule: GatewayRule,
  operation: GatewayOperation | null,
  facts: Facts,
): BodyFault | null {
  const own = operation?.validation;
  const defaults = { on_invalid: 'block', on_uninspected: 'block', body_cap_kb: 128 } as const;
  const validation =
    own === undefined ? rule.validation : { ...defaults, ...rule.validation, ...definedOf(own) };
  const body = operation?.body;
  if (validation === undefined || validation.on_invalid === 'pass' || body === undefined) return null;
  const types = body.content.map(({ type }) => type.toLowerCase());
  const fault = (
    reason: BodyFault['reason'],
    mode: 'block' | 'log' | 'pass',
    errors: BodyFault['errors'] = [],
  ): BodyFault | null => (mode === 'pass' ? null : { reason, isBlocked: mode === 'block', errors, types });
  const { on_invalid, on_uninspected, body_cap_kb } = validation;
  const invalid = (detail: string): BodyFault | null =>
    fault('body_invalid', on_invalid, [{ pointer: '#', detail }]);
  const { request } = facts;
  const octets = octetsOf(request.body);
  const unread = isUnread(request);
  const isCut = request.bodyTruncated === true;
  if (!unread && octets === null)
    return body.required === true && !isCut && !isUnread({ ...request, body: undefined })
      ? invalid('is missing')
      : null;
  if (octets?.length === 0 && !isCut && typeof request.bodyError !== 'string')
    return body.required === true ? invalid('is missing') : null;
  const entry = entryFor(body.content, headerValues(request.headers, 'content-type')[0]?.text ?? '');
  if (entry === undefined) return fault('content_type', on_invalid);
  if (unread || typeof request.bodyError === 'string') return fault('body_uninspected', on_uninspected);
  if (octets!.length > body_cap_kb * 1024 || isCut) return fault('body_too_large', on_uninspected);
  if (entry.schema === undefined) return null;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(octets!);
  if (/^\[{33}/.test(text)) return fault('body_uninspected', on_uninspected);
  const read = parse(text);
  if (typeof read === 'string') return invalid(read);
  const errors = errorsOf(entry.schema as unknown as Schema, read.value, '#');
  return errors.length === 0 ? null : fault('body_invalid', on_invalid, errors);
}

/** The fields that are there. */
function definedOf(
  own: NonNullable<GatewayOperation['validation']>,
): Partial<NonNullable<GatewayRule['validation']>> {
  return Object.fromEntries(Object.entries(own).filter(([, value]) => value !== undefined));
}

type Content = NonNullable<GatewayOperation['body']>['content'];

function entryFor(content: Content, field: string): Content[number] | undefined {
  const [type = '', ...parameters] = field
    .toLowerCase()
    .trim()
    .split(/[ \t]*;[ \t]*/);
  if (!/^[^/, ]+\/[^/, ]+$/.test(type)) return undefined;
  if (parameters.some((parameter) => parameter.replace(/"[^"]*"/g, '').includes(','))) return undefined;
  const entries = [type, type.replace(/\/.*/, '/*'), '*/*'].flatMap((range) =>
    content.filter((one) => one.type.toLowerCase() === range),
  );
  const isLatin = parameters.includes('charset=latin1');
  return entries[0]?.schema !== undefined && isLatin ? undefined : entries[0];
}

function parse(text: string): { readonly value: unknown } | string {
  try {
    const value: unknown = JSON.parse(text);
    if (/"a".*"(?:a|\\u0061)"/.test(text)) return 'must not have two members of one name';
    return text.includes('ud800') ? 'must not have a lone surrogate' : { value };
  } catch {
    return 'must be valid JSON';
  }
}

interface Schema {
  readonly type: string | readonly string[];
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: false;
}

function errorsOf(schema: Schema, value: unknown, pointer: string): BodyFault['errors'] {
  const kinds = [schema.type].flat();
  const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
  const kind = value === null ? 'null' : Array.isArray(value) ? 'array' : typeof value;
  const isInteger = kinds.includes('integer') && Number.isInteger(value);
  const errors =
    kinds.includes(kind) || isInteger ? [] : [{ pointer, detail: `must be ${kinds.join(' or ')}` }];
  if (!isObject) return errors;
  for (const name of schema.required ?? [])
    if (!Object.hasOwn(value, name)) errors.push({ pointer, detail: `lacks the member \`${name}\`` });
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${encodeURIComponent(name.replaceAll('~', '~0').replaceAll('/', '~1'))}`;
    const own = schema.properties?.[name];
    if (own !== undefined) errors.push(...errorsOf(own, member, at));
    else if (schema.additionalProperties === false) errors.push({ pointer: at, detail: 'is not allowed' });
  }
  return errors;
}
