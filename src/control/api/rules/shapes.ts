/**
 * Rules in the OpenAPI document: for each type an answer, a create and an update, all made from the form that reads
 * the type (`rules/model/rules/`), with what only answers carry added here.
 */
import { z } from 'zod';
import { RULE_TYPES, type RuleType } from '../../../base/vocabulary/vocabulary.ts';
import { COMMON_FIELDS, PATH_FIELDS } from '../../../rules/model/common.ts';
import { CONDITIONS_FIELD } from '../../../rules/model/conditions.ts';
import { type DocumentKind, documentFields } from '../../../rules/model/fields.ts';
import { RULE_FORMS } from '../../../rules/model/rule.ts';

/** Results of the creation of the www record for a canonical redirect (API document, "redirect"). */
const WWW_RECORDS = [
  'created',
  'created_external',
  'covered',
  'unproxied',
  'no_apex',
  'limit',
  'failed',
] as const;
/** One of these results. */
export type WwwRecord = (typeof WWW_RECORDS)[number];

/** Fields of some types that only answers carry. */
const ANSWERED: Partial<Record<RuleType, z.ZodRawShape>> = {
  redirect: { www_record: z.enum(WWW_RECORDS).optional().describe('only in the answer to a create') },
  error_page: {
    content: z.record(z.string(), z.string()).optional().describe('left out in lists'),
    content_codes: z.array(z.int()),
    content_bytes: z.record(z.string(), z.int()).describe('empty in lists'),
  },
};

/** Optional fields of gateways that have no value which means their absence; `null` in an update removes them. */
export const REMOVED_BY_NULL: readonly string[] = ['default_plan', 'cors', 'upstream_headers'];

/** The conditions of an answer and of a request. An update replaces them whole, so its schema is that of a create. */
const CONDITIONS = {
  answer: named('RuleConditions', 'answer'),
  request: named('RuleConditionsWrite', 'request'),
};

/** The conditions as a schema of their own, which the rules of all types refer to. */
function named(id: string, kind: DocumentKind): z.ZodType {
  const { conditions } = documentFields({ conditions: CONDITIONS_FIELD }, kind);
  return present(conditions).meta({ id }).optional();
}

/** The schemas of one type in the OpenAPI document. */
interface RuleShapes {
  readonly answer: z.ZodType;
  readonly create: z.ZodType;
  readonly update: z.ZodType;
}

/** The shapes of each type. */
export const RULE_SHAPES = Object.fromEntries(RULE_TYPES.map((type) => [type, shapesOf(type)])) as Readonly<
  Record<RuleType, RuleShapes>
>;

/** Makes the schemas of a type, named in camel case: `origin_pool` → `OriginPoolRule`. */
function shapesOf(type: RuleType): RuleShapes {
  const name = type.replaceAll(/(?:^|_)(\w)/g, (_, letter: string) => letter.toUpperCase());
  const answer = z.object({
    id: z.int(),
    domain_id: z.int(),
    type: z.literal(type),
    ...answeredFields(type),
    created_at: z.iso.datetime(),
    updated_at: z.iso.datetime(),
  });
  return {
    answer: answer.meta({ id: `${name}Rule` }),
    create: z.object(requestFields(type, 'request')).meta({ id: `${name}RuleCreate` }),
    update: z.object(requestFields(type, 'update')).meta({ id: `${name}RuleUpdate` }),
  };
}

/** The fields of a rule that a request carries. */
function requestFields(type: RuleType, kind: DocumentKind): z.ZodRawShape {
  const fields = { ...documentFields(RULE_FORMS[type].fields, kind), conditions: CONDITIONS.request };
  if (type !== 'gateway' || kind !== 'update') return fields;
  return mapFields(fields, (field, name) =>
    REMOVED_BY_NULL.includes(name) ? field.nullable().meta(z.globalRegistry.get(field) ?? {}) : field,
  );
}

/** The fields of a rule in an answer: all are there but `record_id` and `conditions`, and optional lists are stored as lists. */
function answeredFields(type: RuleType): z.ZodRawShape {
  const { own, hasPath } = RULE_FORMS[type];
  const { record_id, ...common } = documentFields(COMMON_FIELDS, 'answer');
  const path = hasPath ? mapFields(documentFields(PATH_FIELDS, 'answer'), present) : {};
  return {
    record_id: present(record_id).optional(),
    ...mapFields(common, present),
    conditions: CONDITIONS.answer,
    ...path,
    ...documentFields(own, 'answer'),
    ...ANSWERED[type],
  };
}

/** Changes each schema of a set of fields. */
function mapFields(
  fields: Readonly<Record<string, z.ZodType>>,
  change: (field: z.ZodType, name: string) => z.ZodType,
): z.ZodRawShape {
  return Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, change(field, name)]));
}

/** The schema without `undefined` and `null`. */
function present(field: z.ZodType): z.ZodType {
  let inner = field;
  while (inner instanceof z.ZodOptional || inner instanceof z.ZodNullable)
    inner = inner.unwrap() as z.ZodType;
  const meta = z.globalRegistry.get(field);
  return meta === undefined ? inner : inner.meta(meta);
}
