/** Operations of gateways (semantics §15): methods below a path template, and what requests of them need. */
import { z } from 'zod';
import { parseTemplate, templateShape } from '../../../base/paths/path-template.ts';
import {
  MAX_BODY_TYPES,
  MAX_OPERATION_METHODS,
  MAX_OPERATION_NAME,
  MAX_OPERATION_NAMES,
} from '../../../base/vocabulary/limits.ts';
import { type AUTH_REQUIREMENTS, OPERATION_SOURCES } from '../../../base/vocabulary/vocabulary.ts';
import { method } from '../conditions.ts';
import { checked, filledText, list, SCOPE } from '../fields.ts';
import { crossCheck, type FormScope, type Stored } from '../form.ts';
import { THROTTLE_FIELDS } from '../registry/usage-plan.ts';
import type { Problem } from '../report.ts';
import { OPERATION_VALIDATION_FIELDS } from './validation.ts';

/** A scope, as tokens have it. */
const scope = (): z.ZodString =>
  checked(filledText(MAX_OPERATION_NAME), (value) =>
    SCOPE.test(value)
      ? null
      : {
          code: 'invalid_token',
          message: 'must consist of visible ASCII characters without `"`, `\\` and blanks',
        },
  );

/** A media type of a body, and what its value must be. */
export const BODY_CONTENT_FIELDS = {
  type: checked(filledText(MAX_OPERATION_NAME), judgeMediaRange)
    .describe('media type without parameters, such as `application/json`; also `text/*` and `*/*`')
    .meta({ examples: ['application/json'] }),
  schema: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'JSON Schema (2020-12) of the value, of types of JSON alone; `$ref` refers to what is in it, and `format` asserts nothing',
    )
    .meta({ examples: [{ type: 'object', required: ['item'] }] }),
};

/** The body of an operation. */
export const BODY_FIELDS = {
  required: z
    .boolean()
    .optional()
    .describe('whether requests must have a body; default: false')
    .meta({ examples: [true] }),
  content: checked(list(z.strictObject(BODY_CONTENT_FIELDS), MAX_BODY_TYPES), (entries) =>
    entries.length === 0 ? NO_TYPE : null,
  )
    .describe('the media types that bodies may have; the most exact one that matches has the schema')
    .meta({ examples: [[{ type: 'application/json' }]] }),
};

const NO_TYPE: Problem = {
  code: 'too_few',
  message: 'must not be empty',
  remedy: 'list a media type, such as `application/json`',
};

/** A type and a subtype, or a star (RFC 9110 §8.3.1). */
export const MEDIA_RANGE = /^[a-z0-9!#$&^_.+-]+\/(?:\*|[a-z0-9!#$&^_.+-]+)$/i;

/** The problem of a media range without parameters (RFC 9110 §12.5.1); `null`: it has none. */
function judgeMediaRange(range: string): Problem | null {
  if (range === '*/*' || MEDIA_RANGE.test(range)) return null;
  const message = 'must be a media type without parameters';
  return { code: 'invalid_token', message, remedy: 'write `application/json`' };
}

/** The fields of one operation. */
export const OPERATION_FIELDS = {
  operation_id: filledText(MAX_OPERATION_NAME)
    .optional()
    .describe('name of the operation in logs, and in `acl` of consumers; unique in its gateway')
    .meta({ examples: ['listOrders'] }),
  methods: checked(list(method, MAX_OPERATION_METHODS), (entries) =>
    entries.length === 0 ? NO_METHOD : null,
  )
    .describe('methods of the operation; HEAD is answered as GET where no operation lists it')
    .meta({ examples: [['GET']] }),
  path: checked(filledText(), judgeTemplate)
    .describe('path below `base_path`; `{name}` is any text of one segment')
    .meta({ examples: ['/orders/{id}'] }),
  scopes: list(scope(), MAX_OPERATION_NAMES)
    .optional()
    .describe('scopes that the token or the consumer must have, all of them')
    .meta({ examples: [['orders:read']] }),
  tags: list(filledText(MAX_OPERATION_NAME), MAX_OPERATION_NAMES)
    .optional()
    .describe('groups of operations, which `acl` of consumers may name')
    .meta({ examples: [['orders']] }),
  auth: z
    .enum(['required', 'none'])
    .optional()
    .describe('`none`: the operation needs no credentials, and those that are not valid count as absent')
    .meta({ examples: ['none'] }),
  body: z
    .strictObject(BODY_FIELDS)
    .optional()
    .describe('the bodies of its requests, which gateways with `validation` compare; absent: any')
    .meta({ examples: [{ required: true, content: [{ type: 'application/json' }] }] }),
  limits: z
    .strictObject(THROTTLE_FIELDS)
    .optional()
    .describe(
      'how many requests each consumer may send to the operation, beside its usage plan; a request without a consumer counts under its address; a further one is answered 429; absent: any number',
    )
    .meta({ examples: [{ rate: 5, per_sec: 60, burst: 5 }] }),
  validation: z
    .strictObject(OPERATION_VALIDATION_FIELDS)
    .optional()
    .describe('how its bodies are compared; fields that are absent are those of `validation` of the gateway')
    .meta({ examples: [{ body_cap_kb: 512 }] }),
  source: z
    .enum(OPERATION_SOURCES)
    .optional()
    .describe('`schema`: from the document of the gateway; `discovered`: seen in traffic; default: `manual`')
    .meta({ examples: ['schema'] }),
};

/** An operation as it is stored. */
export type GatewayOperation = Stored<typeof OPERATION_FIELDS>;

const NO_METHOD: Problem = {
  code: 'too_few',
  message: 'must not be empty',
  remedy: 'list a method, such as `GET`',
};

/** The problem of the template of a path; `null`: it has none. */
function judgeTemplate(template: string): Problem | null {
  const parsed = parseTemplate(template);
  return parsed.ok ? null : { code: 'invalid_path', message: parsed.message };
}

/** The values that the check of operations reads. */
interface OperationValues {
  readonly operations: readonly GatewayOperation[];
}

/** Refuses two operations of one method whose templates match the same paths, and ids that are not unique. */
export const distinctOperations = crossCheck<OperationValues>(['operations'], ({ operations }, scope) => {
  const ids = new Map<string, number>();
  const places = new Map<string, number>();
  for (const [index, { operation_id, methods, path }] of operations.entries()) {
    if (scope.full()) return;
    const first = operation_id === undefined ? undefined : ids.get(operation_id);
    if (first !== undefined) repeated(scope, [index, 'operation_id'], `is the id of operations[${first}]`);
    else if (operation_id !== undefined) ids.set(operation_id, index);
    const parsed = parseTemplate(path);
    if (!parsed.ok) continue;
    for (const method of new Set(methods)) {
      const place = `${method} ${templateShape(parsed.segments)}`;
      const other = places.get(place);
      if (other !== undefined) repeated(scope, [index, 'path'], `matches what operations[${other}] matches`);
      else places.set(place, index);
    }
  }
});

/** The values that the check of needs reads. */
interface NeedValues extends OperationValues {
  readonly auth: { readonly require: (typeof AUTH_REQUIREMENTS)[number] };
}

/** Warns of the first operation whose `auth` or `scopes` ask for what a request does not need. */
export const neededFields = crossCheck<NeedValues>(['auth', 'operations'], ({ auth, operations }, scope) => {
  const isOpen = auth.require === 'none';
  for (const [index, operation] of operations.entries()) {
    const hasScopes = (operation.scopes ?? []).length > 0;
    if (isOpen ? operation.auth !== 'required' && !hasScopes : operation.auth !== 'none' || !hasScopes)
      continue;
    const why = isOpen ? '`auth.require` of the gateway is `none`' : 'the operation has `auth: none`';
    const message = `has no effect: ${why}, so requests without credentials are admitted`;
    const path = ['operations', index, hasScopes ? 'scopes' : 'auth'];
    return scope.warn(path, { code: 'unused_field', message, found: null });
  }
});

function repeated(scope: FormScope, below: readonly (string | number)[], message: string): void {
  scope.error(['operations', ...below], {
    code: 'duplicate_entry',
    message,
    remedy: 'leave one of the two out',
  });
}
