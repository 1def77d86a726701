/** Every field of every schema says what it does, its type and bounds, its default, and has a valid example. */
import { Ajv } from 'ajv';
import { beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { documentRoutes } from '../../../../src/control/api/openapi.ts';
import { ROUTES } from '../../../../src/control/api/routes.ts';
import { DOMAIN_SETTINGS, domainForm } from '../../../../src/rules/model/domain.ts';
import { documentFields } from '../../../../src/rules/model/fields.ts';
import type { Fields } from '../../../../src/rules/model/form.ts';
import { recordForm } from '../../../../src/rules/model/record.ts';
import { RULE_FORMS } from '../../../../src/rules/model/rule.ts';
import { HEALTH_FIELDS, ORIGIN_FIELDS } from '../../../../src/rules/model/rules/origin-pool.ts';
import { EXCLUSION_FIELDS } from '../../../../src/rules/model/rules/waf.ts';
import {
  type FieldEntry,
  fieldSections,
  schemaOf,
} from '../../../../src/workbench/simulation/field-reference.ts';

type Schema = Readonly<Record<string, unknown>>;

/** Whether a schema of one type bounds its values; booleans, null and objects of known fields need no bound. */
function isBounded(schema: Schema, free: boolean): boolean {
  const { enum: choices, const: only, anyOf, allOf, $ref, type, items } = schema;
  if (choices !== undefined || only !== undefined || $ref !== undefined || allOf !== undefined) return true;
  if (Array.isArray(anyOf)) return anyOf.every((one) => isBounded(one as Schema, free));
  const types = (Array.isArray(type) ? type : [type]) as readonly string[];
  return types.every((one) => {
    if (one === 'string')
      return free || ['maxLength', 'pattern', 'format'].some((bound) => schema[bound] !== undefined);
    if (one === 'integer' || one === 'number') return schema['minimum'] !== undefined;
    if (one === 'array')
      return (free || schema['maxItems'] !== undefined) && isBounded((items ?? {}) as Schema, free);
    return ['boolean', 'null', 'object'].includes(one);
  });
}

/** What a field lacks. `free`: its texts and lists have no bound of their own. */
function lacks({ name, schema }: FieldEntry, free: boolean): readonly string[] {
  const { description, examples } = schema;
  return [
    ...(typeof description === 'string' && description !== '' ? [] : [`${name}: description`]),
    ...(Array.isArray(examples) && examples.length > 0 ? [] : [`${name}: example`]),
    ...(isBounded(schema, free) ? [] : [`${name}: type or bounds`]),
  ];
}

describe.each(fieldSections())('fields of $name', ({ name, fields }) => {
  // The file of tests as a whole has a size limit; its texts and lists have none.
  const free = name === 'edge.test.yaml' || name === 'edge.yaml';

  test('have a description, a type with its bounds, and an example', () => {
    expect(fields.length).toBeGreaterThan(0);
    expect(fields.flatMap((field) => lacks(field, free))).toEqual([]);
  });

  test('have examples that their schema accepts', () => {
    const root = schemaOf(name === 'edge.test.yaml' ? 'test' : 'edge');
    const ajv = new Ajv({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'file', definitions: root['definitions'] });
    for (const { name: field, schema } of fields) {
      const local = JSON.parse(JSON.stringify(schema).replaceAll('"#/definitions/', '"file#/definitions/'));
      for (const example of schema['examples'] as readonly unknown[])
        expect(ajv.validate(local, example), `${field}: ${ajv.errorsText()}`).toBe(true);
    }
  });
});

const FORMS: readonly (readonly [string, Fields])[] = [
  ...RULE_TYPES.map((type) => [type, RULE_FORMS[type].fields] as const),
  ['record', recordForm.fields],
  ['domain', domainForm.fields],
  ['settings', DOMAIN_SETTINGS],
  ['origins of a pool', ORIGIN_FIELDS],
  ['health check', HEALTH_FIELDS],
  ['exclusion', EXCLUSION_FIELDS],
];

test.each(FORMS)('the form of a %s accepts the example of each field', (_name, fields) => {
  for (const [name, field] of Object.entries(fields)) {
    const examples = (z.globalRegistry.get(field)?.examples ?? []) as readonly unknown[];
    expect(examples.length, name).toBeGreaterThan(0);
    for (const example of examples)
      expect(field.safeParse(example).error, `${name}: ${JSON.stringify(example)}`).toBeUndefined();
  }
});

test.each(FORMS)('a %s states the default of each field, or requires it', (_name, fields) => {
  const schema = z.toJSONSchema(z.object(documentFields(fields, 'request')), { io: 'input' });
  const { required = [], properties = {} } = schema as { required?: string[]; properties?: object };
  const unsaid = Object.entries(properties).filter(
    ([name, field]) => !required.includes(name) && (field as Schema)['default'] === undefined,
  );
  // Absent: the record ids, the match type of no hosts, every path, no conditions, and no fields that later versions have added;
  // their descriptions say so.
  const common = ['record_id', 'record_ids', 'host_match_type', 'path_includes', 'conditions'];
  const messages = ['request', 'response'];
  const meant = [
    ...common,
    ...messages,
    'status',
    'target_mode',
    'targets',
    'key_parts',
    'count_statuses',
    'headers',
    ...['default_plan', 'cors', 'validation', 'upstream_headers'],
  ];
  expect(unsaid.map(([name]) => name).filter((name) => !meant.includes(name))).toEqual([]);
});

describe('the OpenAPI document', () => {
  interface Document {
    readonly paths: Readonly<Record<string, Readonly<Record<string, Schema>>>>;
    readonly components: { readonly schemas: Readonly<Record<string, Schema>> };
  }
  let document: Document;
  beforeAll(async () => {
    document = JSON.parse((await documentRoutes(ROUTES)).json) as Document;
  }, 60_000);

  /** The schema itself, or the named one that it refers to. */
  function resolved(schema: Schema): Schema {
    const { $ref } = schema;
    return typeof $ref === 'string' ? document.components.schemas[$ref.split('/').at(-1)!]! : schema;
  }

  /** The fields of a request body, those of objects inside too. */
  function fieldsOf(schema: Schema, above: string): readonly FieldEntry[] {
    const { $ref, anyOf, allOf, items, properties } = schema;
    if (typeof $ref === 'string') return fieldsOf(resolved(schema), above);
    const parts = [...((anyOf ?? []) as Schema[]), ...((allOf ?? []) as Schema[])];
    return [
      ...parts.flatMap((part) => fieldsOf(part, above)),
      ...(items === undefined ? [] : fieldsOf(items as Schema, `${above}[]`)),
      ...Object.entries((properties ?? {}) as Record<string, Schema>).flatMap(([key, field]) => [
        { name: `${above}.${key}`, schema: resolved(field), required: false },
        ...fieldsOf(field, `${above}.${key}`),
      ]),
    ];
  }

  test('describes every field of the bodies of domains, records and rules with bounds and an example', () => {
    const bodies = Object.entries(document.paths).flatMap(([path, operations]) =>
      Object.entries(operations).flatMap(([method, { requestBody }]) => {
        const known = /^\/domains\/(?:\{domain\}(?:\/(?:rules|records)\/.*)?)?$/.test(path);
        const json = (requestBody as Schema | undefined)?.['content'] as Record<string, Schema> | undefined;
        const schema = json?.['application/json']?.['schema'] as Schema | undefined;
        return known && schema !== undefined ? [{ name: `${method} ${path}`, schema }] : [];
      }),
    );
    // A create, an update, an order and three batches a rule type; four of records, two of domains.
    expect(bodies.length).toBeGreaterThanOrEqual(12 * 6 + 4 + 2);
    const missing = bodies.flatMap(({ name, schema }) =>
      fieldsOf(schema, name).flatMap((field) => lacks(field, false)),
    );
    expect(missing).toEqual([]);
  });
});
