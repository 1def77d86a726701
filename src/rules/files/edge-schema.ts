/**
 * The JSON Schema (draft 7, which editors support best) of `edge.yaml`, made from the forms that read the file: what
 * an editor completes and underlines is what the reader accepts, but for conditions across fields.
 */
import { z } from 'zod';
import {
  MAX_CONSUMERS,
  MAX_ENTRY_CHARACTERS,
  MAX_ENTRY_COMMENT_CHARACTERS,
  MAX_HOST_OCTETS,
  MAX_ID,
  MAX_KEY_CHARACTERS,
  MAX_LIST_NAME_CHARACTERS,
  MAX_LISTS,
  MAX_LOCATION_CHARACTERS,
  MAX_NAMED_ENTRIES,
  MAX_RECORDS,
  MAX_RULES,
  MAX_TOKEN_ISSUERS,
  MAX_USAGE_PLANS,
} from '../../base/vocabulary/limits.ts';
import {
  LIST_KINDS,
  REDIRECT_STATUSES,
  RULE_TYPES,
  type RuleType,
} from '../../base/vocabulary/vocabulary.ts';
import { DOMAIN_SETTINGS, domainForm } from '../model/domain.ts';
import { documentFields } from '../model/fields.ts';
import type { Fields } from '../model/form.ts';
import { recordForm } from '../model/record.ts';
import { ANSWERED } from '../model/registry/names.ts';
import type { RegistryList } from '../model/registry/registry.ts';
import { RULE_FORMS } from '../model/rule.ts';
import { REGISTRY_FIELDS } from './edge-registry.ts';
import { JSON_SCHEMA_DRAFT, type JsonSchema } from './test-schema.ts';

/** What only files have: a rule's stable name, and its records by name. */
const RULE_KEY: JsonSchema = {
  type: 'string',
  pattern: '^[a-z0-9-]+$',
  maxLength: MAX_KEY_CHARACTERS,
  description: 'stable name of the rule in this file: lower-case letters, digits and hyphens',
  examples: ['office-only'],
};
const RULE_RECORDS: JsonSchema = {
  type: 'array',
  items: { type: 'string', maxLength: MAX_ENTRY_CHARACTERS },
  maxItems: MAX_RECORDS,
  description: 'names of the proxied records that the rule applies to, such as `shop` or `shop AAAA`',
  examples: [['shop', 'shop AAAA']],
};
/** What only gateways of files have: the document of their operations. */
const GATEWAY_SCHEMA: JsonSchema = {
  type: 'string',
  pattern: '\\.(ya?ml|json)$',
  description:
    'OpenAPI document beside this file that has the operations; those in `operations` come before it',
  examples: ['openapi.yaml'],
};
const RULE_TYPE: JsonSchema = { enum: [...RULE_TYPES], description: 'type of the rule', examples: ['drop'] };
const FILE_ID: JsonSchema = {
  type: 'integer',
  minimum: 1,
  maximum: MAX_ID,
  examples: [3],
  description: 'id; without it, the first free one in the order of the file',
};

/** What a record without data means in a file. */
const UNWRITTEN = 'left out together with `type`: the application that embeds the edge answers the host';

/** The schema of a whole edge file. */
export function edgeFileSchema(): JsonSchema {
  return {
    $schema: JSON_SCHEMA_DRAFT,
    title: 'edge.yaml: a domain, its DNS records and its edge rules',
    type: 'object',
    required: ['domain'],
    additionalProperties: false,
    properties: {
      domain: {
        description: 'name of the domain, or the domain with its settings',
        examples: ['example.com', { name: 'example.com', sec_no_sniff: true }],
        anyOf: [{ type: 'string', maxLength: MAX_HOST_OCTETS + 1 }, domainSchema()],
      },
      fragment: {
        const: true,
        description:
          "the file has some records and rules of a server's domain, by the ids of the server; `edgeplan apply` changes these alone",
        examples: [true],
      },
      records: {
        type: 'array',
        maxItems: MAX_RECORDS,
        items: recordSchema(),
        description: 'DNS records',
        examples: [[{ name: 'shop', type: 'A', destination: '198.51.100.20', proxied: true }]],
      },
      lists: {
        type: 'array',
        maxItems: MAX_LISTS,
        items: listSchema(),
        description: 'lists that rules name as `@name`',
        examples: [[{ name: 'office', kind: 'ip', entries: ['203.0.113.0/24'] }]],
      },
      usage_plans: registryList('usage_plans', {
        maxItems: MAX_USAGE_PLANS,
        description: 'what consumers with one plan may ask for',
        examples: [[{ name: 'gold', throttle: { rate: 50, burst: 100 } }]],
      }),
      token_issuers: registryList('token_issuers', {
        maxItems: MAX_TOKEN_ISSUERS,
        description: 'whose tokens gateways accept',
        examples: [
          [
            {
              name: 'auth',
              issuer: 'https://login.example.com/',
              audiences: ['api'],
              jwks_url: 'https://login.example.com/jwks',
            },
          ],
        ],
      }),
      consumers: registryList('consumers', {
        maxItems: MAX_CONSUMERS,
        description: 'who calls the APIs of the domain, by key or token',
        examples: [[{ username: 'acme-mobile', usage_plan: 'gold' }]],
      }),
      gateways: {
        type: 'array',
        maxItems: MAX_RULES,
        items: { $ref: '#/definitions/gateway' },
        description: 'rules of type `gateway`, which take API requests; `type` is left out',
        examples: [[RULE_FORMS.gateway.example]],
      },
      rules: {
        type: 'array',
        maxItems: MAX_RULES,
        items: ruleSchema(),
        description: 'edge rules',
        examples: [[{ type: 'drop', key: 'office-only', path_includes: ['/admin/*'], ips: ['192.0.2.1'] }]],
      },
      entitlements: {
        type: 'object',
        description: 'accepted and ignored: entitlements are checked at writes',
        examples: [{}],
      },
    },
    definitions: Object.fromEntries(RULE_TYPES.map((type) => [type, ruleOfType(type)])),
  };
}

function listSchema(): JsonSchema {
  const text = (description: string, maxLength: number) => ({ type: 'string', description, maxLength });
  const comment = text('a remark', MAX_ENTRY_COMMENT_CHARACTERS);
  const value = text('the entry', MAX_ENTRY_CHARACTERS);
  const to = text('where the answer leads', MAX_LOCATION_CHARACTERS);
  const object = (
    required: readonly string[],
    properties: Readonly<Record<string, unknown>>,
  ): JsonSchema => ({
    type: 'object',
    required,
    additionalProperties: false,
    properties,
  });
  return object(['name', 'kind'], {
    name: {
      type: 'string',
      pattern: '^[a-z0-9][a-z0-9_-]*$',
      maxLength: MAX_LIST_NAME_CHARACTERS,
      description: 'name of the list, which rules write after `@`',
      examples: ['office'],
    },
    kind: { enum: [...LIST_KINDS], description: 'what its entries are', examples: ['ip'] },
    entries: {
      type: 'array',
      maxItems: MAX_NAMED_ENTRIES,
      description:
        'the entries; without them the file `lists/<name>.txt` beside this one has them, one a line',
      examples: [['203.0.113.0/24', { value: '2001:db8::/32', comment: 'laboratory' }]],
      items: {
        anyOf: [
          { type: ['string', 'integer'] },
          object(['value'], { value, comment }),
          object(['from', 'to'], {
            from: text('the path that the entry is for', MAX_ENTRY_CHARACTERS),
            to,
            status: {
              enum: [...REDIRECT_STATUSES],
              description: 'status of the answer; default: that of the rule',
            },
            comment,
          }),
        ],
      },
    },
  });
}

/** A list of the registry. */
function registryList(list: RegistryList, described: JsonSchema): JsonSchema {
  const schema = objectSchema(REGISTRY_FIELDS[list]);
  // Fields that only answers carry are accepted, so that what the API answers is a valid entry.
  const answered = Object.fromEntries(ANSWERED.map((name) => [name, {}]));
  return {
    type: 'array',
    items: { ...schema, properties: { ...answered, ...(schema['properties'] as object) } },
    ...described,
  };
}

function domainSchema(): JsonSchema {
  // Fields that only answers carry are accepted, so that an exported domain is a valid file.
  const answered = Object.fromEntries(domainForm.ignored.map((name) => [name, {}]));
  const known = objectSchema({ ...domainForm.fields, ...DOMAIN_SETTINGS });
  return { ...known, properties: { ...answered, ...(known['properties'] as object) } };
}

function recordSchema(): JsonSchema {
  const { id: _id, ...fields } = recordForm.fields;
  const schema = objectSchema(fields);
  const properties = schema['properties'] as Readonly<Record<string, JsonSchema>>;
  const answered = Object.fromEntries(recordForm.ignored.map((name) => [name, {}]));
  const { destination, proxied } = properties;
  const described = {
    destination: { ...destination, description: `${destination!['description']}; ${UNWRITTEN}` },
    proxied: { ...proxied, description: `${proxied!['description']}; always \`true\` without a destination` },
  };
  return {
    ...schema,
    required: ['name'],
    dependencies: { type: ['destination'], destination: ['type'] },
    properties: { id: FILE_ID, ...answered, ...properties, ...described },
  };
}

/** A rule: its `type` decides which definition describes it. */
function ruleSchema(): JsonSchema {
  return {
    type: 'object',
    required: ['type'],
    properties: { type: RULE_TYPE },
    allOf: RULE_TYPES.map((type) => ({
      if: { required: ['type'], properties: { type: { const: type } } },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: { $ref: `#/definitions/${type}` },
    })),
  };
}

function ruleOfType(type: RuleType): JsonSchema {
  const { fields, ignored } = RULE_FORMS[type];
  const schema = objectSchema(fields);
  const answered = Object.fromEntries(ignored.map((name) => [name, {}]));
  return {
    ...schema,
    properties: {
      ...answered,
      type: { const: type, description: 'type of the rule', examples: [type] },
      key: RULE_KEY,
      id: FILE_ID,
      records: RULE_RECORDS,
      ...(type === 'gateway' ? { schema: GATEWAY_SCHEMA } : {}),
      ...(schema['properties'] as object),
    },
  };
}

/** An object of these fields and no others. */
function objectSchema(fields: Fields): JsonSchema {
  const shape = z.strictObject(documentFields(fields, 'request'));
  const { $schema: _draft, ...schema } = z.toJSONSchema(shape, { target: 'draft-7', io: 'input' });
  return schema;
}
