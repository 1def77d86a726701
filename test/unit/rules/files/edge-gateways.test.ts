/** Gateways of edge files: their list, the documents beside the file, every mistake with its place, and the way back to text. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { readEdgeBytes } from '../../../../src/rules/files/edge-file.ts';
import { schemaNames } from '../../../../src/rules/files/edge-gateways.ts';
import type { EdgePart } from '../../../../src/rules/files/edge-parts.ts';
import { formatFile } from '../../../../src/rules/files/format.ts';
import { printEdge } from '../../../../src/rules/files/print-edge.ts';

const HEAD = 'domain: example.com\n';
const AUTH = 'auth: { api_key: { sources: [{ in: header, name: X-Api-Key }] } }';
const DOCUMENT = `openapi: 3.1.0
paths:
  /orders:
    get: { operationId: listOrders }
    post: { operationId: addOrder }
`;

function read(
  text: string,
  documents: Readonly<Record<string, string>> = {},
  parts: readonly EdgePart[] = [],
) {
  const beside = Object.entries(documents).map(
    ([schema, content]): EdgePart => ({ name: `shop/${schema}`, octets: Buffer.from(content), schema }),
  );
  return readEdgeBytes(Buffer.from(HEAD + text), 'edge.yaml', [...parts, ...beside]);
}

function mistakes(...given: Parameters<typeof read>): string {
  return read(...given)
    .diagnostics.map(formatDiagnostic)
    .join('\n');
}

function rules(...given: Parameters<typeof read>) {
  const file = read(...given);
  expect(file.diagnostics.map(formatDiagnostic)).toEqual([]);
  return file.ok ? file.ruleSet.rules : [];
}

describe('the list `gateways`', () => {
  test('has rules of that type after the other rules', () => {
    const text = `gateways:\n  - { base_path: /v1, ${AUTH} }\nrules:\n  - { type: waf }\n`;
    expect(rules(text)).toMatchObject([
      { id: 1, type: 'waf' },
      { id: 2, type: 'gateway', base_path: '/v1' },
    ]);
    expect(rules(`gateways:\n  - { ${AUTH} }\n`)).toMatchObject([{ id: 1, type: 'gateway' }]);
    expect(rules('gateways:\nrules: []\n')).toEqual([]);
  });

  test('is one list with that of the parts, each with its places', () => {
    const part = { name: 'edge.d/b.yaml', octets: Buffer.from(`gateways:\n  - { base_path: b, ${AUTH} }\n`) };
    const text = `gateways:\n  - { base_path: /a, ${AUTH} }\n`;
    expect(mistakes(text, {}, [part])).toBe(
      'edge.d/b.yaml:2:18: error: gateways[1].base_path: must start with `/`, found `b`',
    );
  });

  test.each([
    ['gateways: { base_path: /v1 }', '2:11: error: gateways: must be a list of gateways, found an object'],
    [
      `gateways:\n  - { type: drop, ${AUTH} }`,
      '3:13: error: gateways[0].type: must be `gateway`, or left out, found `drop`',
    ],
    ['gateways: [x]', '2:12: error: gateways[0]: must be a mapping'],
    [
      `rules: [{ type: waf }]\ngateways:\n  - { base: /v1, ${AUTH} }`,
      '4:7: error: gateways[0].base: is not a known field',
    ],
    [
      'gateways:\n  - { auth: { api_key: { sources: [{ in: header, name: User-Agent }] } } }',
      '3:56: error: gateways[0].auth.api_key.sources[0].name: is a header whose values are logged, which credentials must not be',
    ],
    [`gateways:\n  - { ${AUTH}, records: [shop] }`, 'gateways[0].records[0]: is not a record of this file'],
    [`gateways:\n  - { key: X, ${AUTH} }`, '3:12: error: gateways[0].key: must be at most'],
    [`fragment: true\ngateways:\n  - { ${AUTH} }`, 'gateways[0].id: is missing'],
  ])('has its mistakes at their places, case %#', (text, message) => {
    expect(mistakes(text)).toContain(message);
  });

  test('is a known field: it is suggested for a wrong name, and not refused beside wrong `rules`', () => {
    expect(mistakes(`gateway:\n  - { ${AUTH} }\n`)).toBe(
      'edge.yaml:2:1: error: gateway: is not a known field; did you mean `gateways`?',
    );
    expect(mistakes(`rules: {}\ngateways:\n  - { ${AUTH} }\n`)).toBe(
      'edge.yaml:2:8: error: rules: must be a list, found an object; start each entry with `- `',
    );
  });

  test('is printed without the type, and read again', () => {
    const [gateway] = rules(`gateways:\n  - { base_path: /v1, name: orders, ${AUTH} }\n`);
    const { text } = printEdge({
      domain: { name: 'example.com' },
      records: [],
      rules: [gateway!],
      ids: false,
    });
    expect(text).toContain('\ngateways:\n  - name: orders\n');
    expect(text).not.toContain('type: gateway');
    expect(rules(text.slice(HEAD.length))).toEqual([gateway]);
    expect(formatFile(text, 'edge.yaml')).toEqual({ ok: true, text });
  });
});

describe('an operation of a gateway', () => {
  const of = (auth: string, operations: string): string =>
    mistakes(`gateways:\n  - { ${auth}, operations: [{ methods: [PUT], path: /a }, ${operations}] }\n`);
  const open = 'auth: { require: none }';

  test('that asks for credentials which the gateway does not need is a warning', () => {
    const required = '{ methods: [GET], path: /b, auth: required }';
    const scopes = '{ methods: [GET], path: /b, scopes: [read] }';
    const none = '{ methods: [GET], path: /b, auth: none, scopes: [read] }';
    const because =
      'has no effect: `auth.require` of the gateway is `none`, so requests without credentials are admitted';
    expect(of(open, required)).toContain(`warning: gateways[0].operations[1].auth: ${because}`);
    expect(of(open, scopes)).toContain(`warning: gateways[0].operations[1].scopes: ${because}`);
    expect(of(open, `${scopes}, ${required.replace('/b', '/c')}`).split('\n')).toHaveLength(1);
    expect(of(AUTH, none)).toContain(
      'warning: gateways[0].operations[1].scopes: has no effect: the operation has `auth: none`, so requests',
    );
    expect([of(AUTH, required), of(AUTH, scopes), of(open, none.replace(', scopes: [read]', ''))]).toEqual([
      '',
      '',
      '',
    ]);
  });
});

describe('`cors` of a gateway', () => {
  const of = (cors: string, auth = AUTH): string =>
    mistakes(`gateways:\n  - { ${auth}, cors: { ${cors} } }\n`);

  test.each(['allow_origins', 'allow_methods', 'allow_headers', 'expose_headers'])(
    'has no star in %s beside allow_credentials',
    (field) => {
      const origins = field === 'allow_origins' ? '' : "allow_origins: ['https://a.example'], ";
      const text = `${origins}${field}: ['*'], allow_credentials: `;
      expect(of(`${text}true`)).toContain(
        `gateways[0].cors.${field}[0]: is no star for browsers beside \`allow_credentials\``,
      );
      expect(of(`${text}false`)).toBe('');
    },
  );

  test.each([
    ['https://a.example:443', 'https://a.example'],
    ['http://a.example:80', 'http://a.example'],
    ['https://*.a.example:443', 'https://*.a.example'],
    ['http://[::1]:80', 'http://[::1]'],
  ])('lists no origin with the default port of its scheme: %s', (origin, written) => {
    expect(of(`allow_origins: ['${origin}']`)).toContain(
      `gateways[0].cors.allow_origins[0]: is no origin that browsers send: they leave out the port that is the default of the scheme, found \`${origin}\`; write \`${written}\``,
    );
  });

  test('lists origins with other ports', () => {
    for (const origin of [
      'https://a.example:80',
      'http://a.example:443',
      'https://a.example:8443',
      'app://a:80',
    ])
      expect(of(`allow_origins: ['${origin}']`)).toBe('');
  });

  test('with a star for headers leaves out Authorization, where that has credentials', () => {
    const star = "allow_origins: ['*'], allow_headers: ['*']";
    const token = 'auth: { api_key: { sources: [{ in: header, name: authorization }] } }';
    expect(of(star)).toBe('');
    expect(of(star, token)).toContain(
      'warning: gateways[0].cors.allow_headers[0]: does not cover `Authorization`, which pages then must not send; list',
    );
    expect(of("allow_origins: ['*'], allow_headers: ['*', authorization]", token)).toBe('');
  });

  test('has methods in capital letters, as operations have', () => {
    const text = "allow_origins: ['https://a.example'], allow_methods: [put, PURGE]";
    expect(of(text)).toContain(
      'warning: gateways[0].cors.allow_methods[0]: matches no ordinary request: the case of methods counts, found `put`',
    );
    const operation = `gateways:\n  - { ${AUTH}, operations: [{ methods: [GET, delete], path: /a }] }\n`;
    expect(mistakes(operation)).toContain(
      'warning: gateways[0].operations[0].methods[1]: matches no ordinary request',
    );
  });
});

describe('`schema` of a gateway', () => {
  const text = `gateways:\n  - { base_path: /v1, ${AUTH}, schema: openapi.yaml }\n`;

  test('gives it the operations of the document beside the file', () => {
    expect(rules(text, { 'openapi.yaml': DOCUMENT })).toMatchObject([
      {
        operations: [
          { operation_id: 'listOrders', methods: ['GET'], path: '/orders', source: 'schema' },
          { operation_id: 'addOrder', methods: ['POST'], path: '/orders', source: 'schema' },
        ],
      },
    ]);
    const inRules = `rules:\n  - { type: gateway, ${AUTH}, schema: ./api/a.json }\n`;
    expect(rules(inRules, { 'api/a.json': '{"openapi":"3.0.0","paths":{"/a":{"get":{}}}}' })).toHaveLength(1);
  });

  test('is the document of that name, not one of the same name in a folder', () => {
    const two = `gateways:
  - { base_path: /v1, ${AUTH}, schema: sub/openapi.yaml }
  - { base_path: /v2, ${AUTH}, schema: openapi.yaml }
`;
    const documents = { 'sub/openapi.yaml': DOCUMENT.replace('/orders', '/sub'), 'openapi.yaml': DOCUMENT };
    expect(rules(two, documents)).toMatchObject([
      { operations: [{ path: '/sub' }, { path: '/sub' }] },
      { operations: [{ path: '/orders' }, { path: '/orders' }] },
    ]);
    expect(mistakes(text, { 'sub/openapi.yaml': DOCUMENT })).toContain('is no file beside the edge file');
  });

  test('is read once for several gateways, so that each mistake is reported once', () => {
    const two = `${text}  - { base_path: /v2, ${AUTH}, schema: ./openapi.yaml }\n`;
    expect(
      mistakes(two, { 'openapi.yaml': DOCUMENT.replace('/orders:', '/orders?a:') }).split('\n'),
    ).toHaveLength(1);
    expect(rules(two, { 'openapi.yaml': DOCUMENT })).toMatchObject([
      { operations: [{ operation_id: 'listOrders' }, {}] },
      { operations: [{ operation_id: 'listOrders' }, {}] },
    ]);
  });

  test('leaves operations that are written to the file', () => {
    const own = text.replace('schema:', 'operations: [{ methods: [POST, PUT], path: /orders }], schema:');
    expect(rules(own, { 'openapi.yaml': DOCUMENT })).toMatchObject([
      { operations: [{ methods: ['POST', 'PUT'] }, { operation_id: 'listOrders' }] },
    ]);
  });

  test('that names no document is refused at its place', () => {
    expect(mistakes(text)).toContain(
      'edge.yaml:3:98: error: gateways[0].schema: is no file beside the edge file, found `openapi.yaml`',
    );
    for (const name of ['../openapi.yaml', '/etc/openapi.yaml', 'a/../../b.yaml', 'openapi.txt', '[1]'])
      expect(mistakes(text.replace('openapi.yaml', name)), name).toContain(
        'gateways[0].schema: must be the name of an OpenAPI document beside the edge file',
      );
  });

  test('has the mistakes of the document at their places in it', () => {
    const wrong = DOCUMENT.replace('/orders:', '/orders?a:');
    expect(mistakes(text, { 'openapi.yaml': wrong })).toContain(
      'shop/openapi.yaml:3:3: error: paths["/orders?a"]: has a query, and a path is compared without one',
    );
  });

  test('is found in a text without reading it', () => {
    const found = schemaNames(
      `schema: a.yaml\n- {schema: "b.json"}\n"schema":'c.yml'\nschema: ../d.yaml\nschema: a.yaml # again\nschemas: e.yaml\nschema: f.txt`,
    );
    expect(found).toEqual(['a.yaml', 'b.json', 'c.yml']);
  });
});
