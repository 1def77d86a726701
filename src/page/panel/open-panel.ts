/**
 * `/panel/` of the API process: the page, which needs no key to load, and the fields of its forms. In: the built page. Out: routes for
 * its files; a key is sent by the calls that the page makes to the API.
 */
import type { FastifyInstance } from 'fastify';
import { RULE_TYPES, type RuleType } from '../../base/vocabulary/vocabulary.ts';
import {
  addOpen,
  FOREVER,
  FRESH,
  type OpenFile,
  once,
  openFile,
  sendFile,
} from '../../control/api/operation/open-files.ts';
import { notFound } from '../../control/api/operation/refusal.ts';
import type { JsonSchema } from '../../rules/files/test-schema.ts';
import { type FieldEntry, fieldSections } from '../../workbench/simulation/field-reference.ts';
import { PANEL_HEADERS, PANEL_PATH, readPanel } from './assets.ts';
import type { FieldDocument, FormField, FormSection } from './documents.ts';

/** Chunks have a digest in their name: another content has another name. */
const CHUNK = /-[A-Z0-9]{8}\.js$/;

/** Adds the routes. The files are read at the first request. */
export function addPanel(app: FastifyInstance): void {
  const files = once(openFiles);
  addOpen(app, PANEL_PATH.slice(0, -1), (_request, reply) => reply.redirect(PANEL_PATH, 308));
  addOpen(app, PANEL_PATH, (request, reply) => sendFile(files().get('index.html')!, { request, reply }));
  addOpen(app, `${PANEL_PATH}:file`, (request, reply) => {
    const file = files().get((request.params as { readonly file: string }).file);
    if (file === undefined) throw notFound();
    return sendFile(file, { request, reply });
  });
}

/** The files of the page, and `fields.json`. */
function openFiles(): ReadonlyMap<string, OpenFile> {
  const files = [...readPanel('api')].map(([name, { type, body }]): [string, OpenFile] => {
    const caching = CHUNK.test(name) ? FOREVER : FRESH;
    return [name, openFile(body, type, { ...PANEL_HEADERS, 'cache-control': caching })];
  });
  const headers = { ...PANEL_HEADERS, 'cache-control': FRESH };
  const fields = openFile(JSON.stringify(fieldDocument()), 'application/json; charset=utf-8', headers);
  return new Map([...files, ['fields.json', fields]]);
}

// The fields of rules, records and what gateways refer to, as the page's forms draw them. In: the field reference, which is made from the forms that the API
// reads. Out: JSON for the browser.

/** Fields of the reference that a file has and the API has not, or that another field replaces. */
const NOT_IN_FORMS: ReadonlySet<string> = new Set([
  'type',
  'key',
  'id',
  'records',
  'record_id',
  'host_pattern',
]);
/** Fields of a path filter, which not every type has. */
const PATH_FIELD = /^path_(?:match_type|includes|excludes)$/;
/** What is between the name of a field in the reference and the names of its inner fields. */
const INNER_STEPS: Partial<Readonly<Record<FormField['kind'], string>>> = {
  object: '.',
  nullable: '.',
  objects: '[].',
};

/** The fields of each type's form and of a record's. */
export function fieldDocument(): FieldDocument {
  const sections = new Map(fieldSections().map((section) => [section.name, section]));
  // The fields inside `conditions` are a section of their own in the reference.
  const conditions = sections.get('conditions')!.fields;
  const common = [
    ...sections.get('rule')!.fields.filter(({ name }) => !NOT_IN_FORMS.has(name)),
    ...conditions.map((field) => ({ ...field, name: `conditions.${field.name}` })),
  ];
  const rules = RULE_TYPES.map((type): readonly [RuleType, FormSection] => {
    const { summary, fields, common: kind } = sections.get(type)!;
    const shared = common.filter(({ name }) => kind === 'path' || !PATH_FIELD.test(name));
    return [type, { summary, fields: formFields(fields), common: formFields(shared) }];
  });
  const form = (name: string, without: readonly string[] = []): FormSection => {
    const { summary, fields } = sections.get(name)!;
    return { summary, fields: formFields(fields.filter((one) => !without.includes(one.name))), common: [] };
  };
  const consumer = form('consumer');
  const isKeys = ({ name }: FormField): boolean => name === 'keys';
  // The API makes the text of a key and its hash.
  const key = consumer.fields.find(isKeys)!.fields.filter(({ name }) => name !== 'sha256');
  return {
    rules: Object.fromEntries(rules) as FieldDocument['rules'],
    record: form('record', ['id']),
    consumer: { ...consumer, fields: consumer.fields.filter((one) => !isKeys(one)) },
    consumer_key: { summary: 'What a consumer calls gateways with', fields: key, common: [] },
    usage_plan: form('usage_plan'),
    token_issuer: form('token_issuer'),
  };
}

/** The fields of an object; those of objects in it belong to their own field. @param above the path of the object */
function formFields(entries: readonly FieldEntry[], above = ''): readonly FormField[] {
  return entries
    .filter(({ name }) => name.startsWith(above) && !/[.[]/.test(name.slice(above.length)))
    .map((entry) => {
      const name = entry.name.slice(above.length);
      const field = formField({ ...entry, name });
      const step = INNER_STEPS[field.kind];
      return step === undefined ? field : { ...field, fields: formFields(entries, `${entry.name}${step}`) };
    });
}

/** The fields `key` and `value` of a map; none of another schema. */
function mapFields({ propertyNames, additionalProperties }: JsonSchema): readonly FormField[] {
  if (propertyNames === undefined) return [];
  const [keys, values] = [propertyNames, additionalProperties] as readonly JsonSchema[];
  const pattern = (keys!['pattern'] ?? null) as string | null;
  return [
    { ...formField({ name: 'key', schema: keys!, required: true }), pattern },
    formField({ name: 'value', schema: values!, required: false }),
  ];
}

function formField({ name, schema, required }: FieldEntry): FormField {
  const simple = withoutNull(schema);
  const { minimum, maximum, maxLength, maxItems, maxProperties } = simple;
  const items = simple['items'] as JsonSchema | undefined;
  const omitted = !required && simple === schema && schema['default'] === undefined;
  const kind = kindOf(simple, items);
  const nullable = simple !== schema;
  const isChoice = kind === 'boolean' && omitted;
  const listed = (items ?? simple)['enum'] as readonly (string | number)[] | undefined;
  const options = isChoice ? ['', 'true', 'false'] : listed;
  return {
    name,
    kind: isChoice ? 'choice' : nullable && kind === 'object' ? 'nullable' : kind,
    omitted,
    fields: mapFields(simple),
    required,
    nullable,
    description: (schema['description'] ?? '') as string,
    fallback: schema['default'] ?? null,
    example: ((schema['examples'] ?? []) as readonly unknown[])[0] ?? null,
    options: options ?? null,
    minimum: (minimum ?? null) as number | null,
    maximum: (maximum ?? null) as number | null,
    most: (maxItems ?? maxProperties ?? maxLength ?? null) as number | null,
    pattern: null,
  };
}

/** The schema of the value where it is not null; one of several types stays as it is. */
function withoutNull(schema: JsonSchema): JsonSchema {
  const choices = (schema['anyOf'] ?? []) as readonly JsonSchema[];
  return choices.some(({ type }) => type === 'null') ? choices.find(({ type }) => type !== 'null')! : schema;
}

/** The control that fits a schema. */
function kindOf(
  { type, propertyNames, anyOf }: JsonSchema,
  items: JsonSchema | undefined,
): FormField['kind'] {
  if (items === undefined) {
    if (anyOf !== undefined) return 'scalar';
    if (type === 'object') return propertyNames === undefined ? 'object' : 'map';
    return type === 'boolean' || type === 'integer' ? type : 'text';
  }
  if (items['type'] === 'object') return 'objects';
  // Numbers, or names of lists of them.
  const choices = (items['anyOf'] as readonly JsonSchema[] | undefined) ?? [items];
  return choices.some((one) => one['type'] === 'integer') ? 'integers' : 'texts';
}
