/** What documents say of a field is what the form that reads it does. */
import { describe, expect, test } from 'vitest';
import { z } from 'zod';
import { RULE_TYPES } from '../../../../src/base/vocabulary/vocabulary.ts';
import { DEFAULT_SETTINGS, DOMAIN_SETTINGS } from '../../../../src/rules/model/domain.ts';
import { documentFields } from '../../../../src/rules/model/fields.ts';
import { recordForm } from '../../../../src/rules/model/record.ts';
import { RULE_FORMS } from '../../../../src/rules/model/rule.ts';
import { LEAST } from './read.ts';

interface Shown {
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
  readonly required?: readonly string[];
}

function shown(fields: Parameters<typeof documentFields>[0], kind: 'request' | 'update' | 'answer'): Shown {
  return z.toJSONSchema(z.object(documentFields(fields, kind)), { io: 'input' }) as unknown as Shown;
}

const FORMS = [
  ...RULE_TYPES.map((type) => ({
    name: type as string,
    form: RULE_FORMS[type],
    least: LEAST[type] as object,
  })),
  { name: 'record', form: recordForm, least: { id: 1, name: '@', type: 'A', destination: '192.0.2.1' } },
];

describe.each(FORMS)('$name', ({ form, least }) => {
  test('every field has a description, those of objects inside too', () => {
    const silent = (properties: Shown['properties'], path: string): string[] =>
      Object.entries(properties).flatMap(([name, field]) => {
        const inner = (field['properties'] ??
          (field['items'] as Partial<Shown> | undefined)?.properties ??
          {}) as Shown['properties'];
        const own = typeof field['description'] === 'string' ? [] : [`${path}${name}`];
        return [...own, ...silent(inner, `${path}${name}.`)];
      });
    expect(silent(shown(form.fields, 'request').properties, '')).toEqual([]);
  });

  test('the default of a request is the value that the form fills in', () => {
    const { properties } = shown(form.fields, 'request');
    const read = form.schema.parse(least) as Record<string, unknown>;
    const stated = Object.entries(properties).filter(
      ([name, field]) => 'default' in field && !(name in least),
    );
    expect(stated.length).toBeGreaterThan(0);
    for (const [name, field] of stated) {
      // An object's default is filled in by its own fields.
      if (field['type'] !== 'object') expect(read[name], name).toEqual(field['default']);
    }
  });

  test('a request requires exactly the fields that the form cannot do without', () => {
    const needed = Object.entries(form.fields).filter(([, field]) => !field.safeParse(undefined).success);
    expect([...(shown(form.fields, 'request').required ?? [])].sort()).toEqual(
      needed.map(([name]) => name).sort(),
    );
  });

  test('an update requires nothing and fills in nothing', () => {
    const { properties, required = [] } = shown(form.fields, 'update');
    expect(required).toEqual([]);
    expect(Object.values(properties).filter((field) => 'default' in field)).toEqual([]);
  });
});

test('the settings of a new domain are the defaults that documents show', () => {
  const { properties } = shown(DOMAIN_SETTINGS, 'request');
  expect(
    Object.fromEntries(Object.entries(properties).map(([name, field]) => [name, field['default']])),
  ).toEqual(DEFAULT_SETTINGS);
});
