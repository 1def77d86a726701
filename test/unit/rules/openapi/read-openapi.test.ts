/** OpenAPI documents as operations: paths, references, security and servers, and every refusal with its line. */
import { describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { MAX_OPERATIONS } from '../../../../src/base/vocabulary/limits.ts';
import { readOpenApiBytes } from '../../../../src/rules/files/openapi-file.ts';
import { MAX_REFERENCE_DEPTH, MAX_SCHEMA_OCTETS } from '../../../../src/rules/openapi/limits.ts';

const HEAD = "openapi: 3.1.0\ninfo: { title: T, version: '1' }\n";
const SCHEMES = `components:
  securitySchemes:
    key: { type: apiKey, in: header, name: X-Key }
    login: { type: oauth2, flows: {} }
    oidc: { type: openIdConnect, openIdConnectUrl: https://id.example.com }
`;

function read(text: string) {
  return readOpenApiBytes(Buffer.from(text), 'openapi.yaml');
}

function operations(rest: string, head = HEAD) {
  const document = read(head + rest);
  expect(document.diagnostics.map(formatDiagnostic).filter((line) => line.includes('error:'))).toEqual([]);
  return document.ok ? document.operations.map(({ operation }) => operation) : [];
}

function mistakes(rest: string, head = HEAD): string {
  return read(head + rest)
    .diagnostics.map(formatDiagnostic)
    .join('\n');
}

describe('a document', () => {
  test('gives an operation for each path and method, in its order', () => {
    const found = operations(`paths:
  x-remark: ignored
  /pets:
    summary: Pets
    get: { operationId: listPets, tags: [pets, pets, read], responses: {} }
    post: { responses: {} }
  /pets/{id}.json:
    parameters: [{ name: id, in: path }]
    x-extension: { get: {} }
    delete: {}
`);
    expect(found).toEqual([
      { operation_id: 'listPets', methods: ['GET'], path: '/pets', tags: ['pets', 'read'], source: 'schema' },
      { methods: ['POST'], path: '/pets', source: 'schema' },
      { methods: ['DELETE'], path: '/pets/{id}.json', source: 'schema' },
    ]);
  });

  test('may be JSON, with the line of a mistake', () => {
    const text = '{\n "openapi": "3.0.3",\n "paths": {\n  "/a": { "get": { "tags": 1 } }\n }\n}';
    expect(mistakes(text, '')).toBe(
      'openapi.yaml:4:28: error: paths["/a"].get.tags: must be a list of tags, found 1',
    );
  });

  test('of 3.2 has `query` and further methods', () => {
    const text = 'paths:\n  /a:\n    query: {}\n    additionalOperations:\n      COPY: {}\n';
    const head = 'openapi: 3.2.0\n';
    expect(operations(text, head).map(({ methods }) => methods)).toEqual([['QUERY'], ['COPY']]);
  });

  test('without operations compiles with a warning', () => {
    expect(mistakes('webhooks: {}\n')).toBe(
      'openapi.yaml:1:1: warning: describes no operation, so every request is unknown to the gateway',
    );
  });

  test.each([
    [
      "swagger: '2.0'\npaths: {}\n",
      '1:10: error: swagger: is Swagger, and OpenAPI 3.0, 3.1 and 3.2 are read, found `2.0`; convert it',
    ],
    [
      'openapi: 3.1\npaths: {}\n',
      '1:10: error: openapi: must be a version of OpenAPI 3.0, 3.1 or 3.2, such as `3.1.0`, found 3.1; write all three',
    ],
    ['openapi: 4.0.0\npaths: {}\n', '1:10: error: openapi: must be a version of OpenAPI 3.0, 3.1 or 3.2'],
    ['info: {}\n', '1:1: error: must be an OpenAPI document with `openapi`'],
    ['- 1\n', '1:1: error: must be an OpenAPI document: an object'],
    ['openapi: 3.0.0\n', '1:1: error: paths: is missing; it must be an object of path items'],
    [
      'openapi: 3.0.0\npaths: []\n',
      '2:8: error: paths: must be an object of path items by their paths, found a list',
    ],
  ])('that is none is refused with what it lacks: %j', (text, expected) => {
    expect(mistakes(text, '')).toContain(`openapi.yaml:${expected}`);
  });
});

describe('a path', () => {
  test.each([
    ['/a?x={y}', 'has a query, and a path is compared without one'],
    ['/a#copy', 'has a fragment, which clients do not send'],
    ['a', 'must start with `/`'],
    ['/a//b', 'could never match: empty segments are dropped'],
    ['/a/../b', 'could never match: dot segments are resolved'],
    ['/a/%2E%2e/b', 'could never match: dot segments are resolved'],
    ['/a;v={v}', 'could never match: a path with `;` must lead to the same operation'],
    ['/a%2Fb', 'must hold no escaped slash'],
    ['/a%zz', 'must not hold a bad percent escape'],
    ['/a b', 'has a control character, a blank or a backslash'],
    ['/{}', 'must name each parameter as `{name}`, inside one segment'],
    ['/{a', 'must name each parameter as `{name}`, inside one segment'],
    ['/a}', 'must name each parameter as `{name}`, inside one segment'],
    ['/{{a}}', 'must name each parameter as `{name}`, inside one segment'],
    ['/{a}{b}', 'must have text between two parameters of a segment'],
    ['/{rest+}', 'has the parameter `{rest+}`; a parameter takes one segment'],
    ['/x{?page}', 'has the parameter `{?page}`; a parameter takes one segment'],
    ['/{name=a/*}', 'has the parameter `{name=a/*}`; a parameter takes one segment'],
  ])('that no request can match is refused at its key, case %#', (path, message) => {
    expect(mistakes(`paths:\n  ${JSON.stringify(path)}: { get: {} }\n`)).toMatch(
      /^openapi.yaml:4:3: error: /,
    );
    expect(mistakes(`paths:\n  ${JSON.stringify(path)}: { get: {} }\n`)).toContain(message);
  });

  test('has at most 1024 characters', () => {
    const path = `/${'a'.repeat(1_024)}`;
    const text = JSON.stringify({ openapi: '3.1.0', paths: { [path]: { get: {} } } });
    expect(mistakes(text, '')).toContain('must be at most 1024 characters long, found 1025');
  });

  test('may have parameters in parts of a segment', () => {
    const paths = [
      '/{from}-{to}',
      '/v{major}.{minor}/x',
      '/caf%C3%A9/{a_b.c-d}',
      '/:batch',
      '/{id}:cancel',
      '/',
    ];
    const text = `paths:\n${paths.map((path) => `  ${JSON.stringify(path)}: { get: {} }\n`).join('')}`;
    expect(operations(text).map(({ path }) => path)).toEqual(paths);
  });

  test.each([
    ['/a/{id}/b', '/a/{name}/b'],
    ['/caf%C3%A9', '/café'],
  ])('that matches what another does is refused: %s and %s', (first, second) => {
    expect(mistakes(`paths:\n  ${first}: { get: {} }\n  ${second}: { post: {} }\n`)).toContain(
      `openapi.yaml:5:3: error: paths[${JSON.stringify(second)}]: matches the same requests as \`${first}\``,
    );
  });

  test('with an escaped brace is not taken for a parameter', () => {
    expect(operations("paths:\n  /a/{id}: { get: {} }\n  '/a/%7Bid%7D': { get: {} }\n")).toHaveLength(2);
  });
});

describe('a path item', () => {
  test('may be elsewhere in the document', () => {
    const found = operations(`paths:
  /a: { $ref: '#/components/pathItems/one', post: {} }
  /b: { $ref: '#/paths/~1a' }
  /c: { $ref: '#/x-items/0/caf%C3%A9' }
components:
  pathItems:
    one: { get: {} }
x-items: [{ café: { put: {} } }]
`);
    expect(found.map(({ methods, path }) => `${methods} ${path}`)).toEqual([
      'POST /a',
      'GET /a',
      'POST /b',
      'GET /b',
      'PUT /c',
    ]);
  });

  test.each([
    [
      'paths:\n  /a: { $ref: ./a.yaml }\n',
      'refers to another document, and only this one is read, found `./a.yaml`; join the documents first',
    ],
    [
      "paths:\n  /a: { $ref: '#/components/no' }\n",
      'refers to nothing in this document, found `#/components/no`',
    ],
    ["paths:\n  /a: { $ref: '#/paths/%zz' }\n", 'must be a JSON pointer such as'],
    ["paths:\n  /a: { $ref: '#item' }\n", 'must be a JSON pointer such as'],
    ["paths:\n  /a: { $ref: '#/info/title' }\n", 'refers to a value that is no object'],
    ["paths:\n  /a: { $ref: '#/info/__proto__' }\n", 'refers to nothing in this document'],
    ['paths:\n  /a: { $ref: 1 }\n', 'must be text, found 1'],
    [`paths:\n  /a: { $ref: '#/${'a'.repeat(4_096)}' }\n`, 'must be at most 4096 characters long'],
    [
      "paths:\n  /a: { $ref: '#/paths/~1b' }\n  /b: { $ref: '#/paths/~1a' }\n",
      'is a circle of references: `#/paths/~1b` → `#/paths/~1a` → `#/paths/~1b`',
    ],
  ])('with a wrong reference is refused at the reference, case %#', (text, message) => {
    expect(mistakes(text)).toContain(message);
    expect(mistakes(text)).toMatch(/^openapi.yaml:[45]:\d+: error: paths\["\/[ab]"\]\["\$ref"\]: /);
  });

  test('is reached by a bounded number of references', () => {
    const chain = (length: number): string =>
      `paths:\n  /a: { $ref: '#/x-0' }\n${Array.from({ length }, (_, at) => `x-${at}: { $ref: '#/x-${at + 1}' }\n`).join('')}x-${length}: { get: {} }\n`;
    expect(operations(chain(MAX_REFERENCE_DEPTH - 1))).toHaveLength(1);
    expect(mistakes(chain(MAX_REFERENCE_DEPTH))).toContain('is a chain of more than 8 references');
  });

  test.each([
    ['GET: {}', '5:5: error: paths["/a"].GET: is not a known field; write `get`'],
    ['fetch: {}', '5:5: warning: paths["/a"].fetch: is not a field of a path item and has no effect'],
    ["get: { $ref: '#/x' }", '5:10: error: paths["/a"].get: must be an operation: an object without `$ref`'],
    ['get: []', '5:10: error: paths["/a"].get: must be an operation'],
    [
      'additionalOperations: { "a b": {} }',
      '5:36: error: paths["/a"].additionalOperations["a b"]: is no method',
    ],
    ['additionalOperations: { GET: {} }\n    get: {}', 'describes the method a second time, after'],
    [`get: { operationId: '' }`, '5:25: error: paths["/a"].get.operationId: must have 1 to 128 characters'],
    [`get: { tags: [1] }`, 'paths["/a"].get.tags[0]: must be text, found 1'],
    [`get: { tags: ["a\\tb"] }`, 'must have no control character'],
    [`get: { tags: [${'a,'.repeat(33)}] }`, 'must have at most 32 entries, found 33'],
    [
      Array.from({ length: 65 }, (_, at) => `x-${at}: 1`).join('\n    '),
      'must have at most 64 fields, found 65',
    ],
  ])('with a mistake is refused or warned about at its field, case %#', (fields, message) => {
    expect(mistakes(`paths:\n  /a:\n    ${fields}\n`)).toContain(message);
  });

  test('has operations with an `operationId` of their own', () => {
    const text = 'paths:\n  /a: { get: { operationId: x } }\n  /b: { get: { operationId: x } }\n';
    expect(mistakes(text)).toContain(
      '5:16: error: paths["/b"].get.operationId: is the `operationId` of `paths["/a"].get` too',
    );
  });
});

describe('security', () => {
  const one = (own: string, rest = '') =>
    operations(`${rest}${SCHEMES}paths:\n  /a: { get: { ${own} } }\n`)[0];

  test('that the document does not mention leaves `auth` to the gateway', () => {
    expect(one('')).toEqual({ methods: ['GET'], path: '/a', source: 'schema' });
  });

  test.each([
    ['security: []', 'security: [{ key: [] }]\n', 'none', undefined],
    ['security: [{ key: [] }, {}]', '', 'none', undefined],
    ['security: [{}, { login: [read] }]', '', 'none', undefined],
    ['', 'security: []\n', 'none', undefined],
    ['', 'security: [{ login: [read] }]\n', 'required', ['read']],
    ['security: [{ key: [] }]', 'security: [{ login: [read] }]\n', 'required', undefined],
    ['security: [{ login: [a, b], oidc: [b, c] }]', '', 'required', ['a', 'b', 'c']],
    ['security: [{ login: [a] }, { oidc: [a] }]', '', 'required', ['a']],
  ])('%s in an operation under %j in the document: %s, %j', (own, rest, auth, scopes) => {
    const found = one(own, rest);
    expect([found?.auth, found?.scopes]).toEqual([auth, scopes]);
  });

  test('never asks for less than an alternative: different scopes are all needed, with a warning', () => {
    const text = `${SCHEMES}paths:\n  /a: { get: { security: [{ login: [read] }, { login: [admin] }, { key: [] }] } }\n`;
    const document = read(HEAD + text);
    expect(document.ok && document.operations[0]?.operation.scopes).toEqual(['read', 'admin']);
    expect(mistakes(text)).toContain(
      'warning: paths["/a"].get.security: has alternatives with different scopes; a request needs the scopes of all of them',
    );
  });

  test.each([
    [
      '[{ logn: [a] }]',
      'error: paths["/a"].get.security[0].logn: is no security scheme of this document; did you mean `login`?',
    ],
    ['[{ other: [] }]', 'is no security scheme of this document; declare it in `components.securitySchemes`'],
    ['{ key: [] }', 'error: paths["/a"].get.security: must be a list of security requirements'],
    ['[key]', 'error: paths["/a"].get.security[0]: must be an object of lists of scopes'],
    ['[{ login: read }]', 'error: paths["/a"].get.security[0].login: must be a list of scopes'],
    ['[{ login: [a, ""] }]', 'error: paths["/a"].get.security[0].login[1]: must have 1 to 128 characters'],
    [
      '[{ key: [admin] }]',
      'warning: paths["/a"].get.security[0].key: lists roles of a scheme of type `apiKey`, which a gateway does not check',
    ],
    [
      '[{ key: [], login: [] }]',
      'warning: paths["/a"].get.security[0]: needs several credentials together; a gateway accepts any of them unless `auth.require` is `all`',
    ],
    [`[${'{},'.repeat(65)}]`, 'must have at most 64 entries, found 65'],
  ])('that is wrong is refused or warned about at its place, case %#', (security, message) => {
    expect(mistakes(`${SCHEMES}paths:\n  /a: { get: { security: ${security} } }\n`)).toContain(message);
  });

  test('schemes may be references, and have a type that OpenAPI has', () => {
    const schemes =
      "components: { securitySchemes: { a: { $ref: '#/x-s' }, b: { type: basic } } }\nx-s: { type: oauth2 }\n";
    const text = `${schemes}paths: { /a: { get: { security: [{ a: [read] }] } } }\n`;
    expect(mistakes(text)).toBe(
      'openapi.yaml:3:67: error: components.securitySchemes.b.type: must be one of `apiKey`, `http`, `mutualTLS`, `oauth2`, `openIdConnect`, found `basic`',
    );
  });
});

describe('servers', () => {
  const bases = (servers: string): readonly string[] => {
    const document = read(`${HEAD}${servers}\npaths: { /a: { get: {} } }\n`);
    return document.ok ? document.basePaths : [];
  };

  test('give the base paths, with defaults of variables', () => {
    expect(bases('')).toEqual(['/']);
    expect(bases('servers: []')).toEqual(['/']);
    expect(bases('servers: [{ url: https://a.example.com/v1/ }, { url: /v1 }, { url: v2 }]')).toEqual([
      '/v1',
      '/v2',
    ]);
    expect(
      bases("servers: [{ url: 'https://{h}/{v}', variables: { h: { default: a.b }, v: { default: v3 } } }]"),
    ).toEqual(['/v3']);
  });

  test('give the base path whatever scheme, host and port are', () => {
    const url = (text: string, variables = ''): readonly string[] =>
      bases(`servers: [{ url: '${text}'${variables} }]`);
    expect(
      url('https://{h}:{port}/v1', ', variables: { h: { default: a.b }, port: { default: 8443 } }'),
    ).toEqual(['/v1']);
    expect(url('{scheme}://{h}/v1')).toEqual(['/v1']);
    expect(url('//{h}/v1')).toEqual(['/v1']);
    expect(url('https://{h}')).toEqual(['/']);
    expect(url('https://{h}/{v}')).toEqual([]);
  });

  test('without a path give none, with a warning', () => {
    expect(mistakes("servers: [{ url: '/{v}' }, 1]\npaths: { /a: { get: {} } }\n")).toMatch(
      /servers\[0\]: has no `url` with a path[^\n]*\n.*servers\[1\]: has no `url` with a path/,
    );
  });

  test('of a path have no effect, with a warning unless their base path is that of the document', () => {
    const text = (url: string): string =>
      `servers: [{ url: https://a.example.com/v1 }]\npaths:\n  /a: { servers: [{ url: '${url}' }], get: {} }\n`;
    expect(mistakes(text('https://b.example.com/v1'))).toBe('');
    expect(mistakes(text('https://b.example.com/v2'))).toContain(
      '5:9: warning: paths["/a"].servers: has no effect: a gateway has one base path, which is not that of these servers, found /v2',
    );
  });
});

describe('a bound', () => {
  test('of operations and paths has a message', () => {
    const paths = (count: number): string =>
      `paths:\n${Array.from({ length: count }, (_, at) => `  /a${at}: { get: {} }\n`).join('')}`;
    expect(operations(paths(MAX_OPERATIONS))).toHaveLength(MAX_OPERATIONS);
    expect(mistakes(paths(MAX_OPERATIONS + 1))).toContain('paths: must have at most 2000 paths, found 2001');
    const oneMore = paths(MAX_OPERATIONS).replace('{ get: {} }', '{ get: {}, post: {} }');
    expect(mistakes(oneMore)).toContain('paths: must describe at most 2000 operations');
  });

  test('of octets has a message', () => {
    expect(mistakes(`# ${'a'.repeat(MAX_SCHEMA_OCTETS)}\n`)).toContain(
      'must be at most 5 MiB (5242880 octets)',
    );
  });

  test('of depth has a message', () => {
    const deep = `x-deep: ${'['.repeat(200)}${']'.repeat(200)}\npaths: {}\n`;
    expect(mistakes(deep)).toContain('lists and mappings must be at most 128 deep');
  });

  test('of values holds once aliases are resolved, within a second', () => {
    const levels = Array.from({ length: 12 }, (_, at) =>
      at === 0
        ? 'x-0: &a0 [1, 2, 3, 4, 5, 6, 7, 8, 9]\n'
        : `x-${at}: &a${at} [${`*a${at - 1}, `.repeat(9)}]\n`,
    );
    const start = performance.now();
    expect(mistakes(`${levels.join('')}paths: {}\n`)).toContain(
      'at most 500000 values once its aliases are resolved',
    );
    expect(performance.now() - start).toBeLessThan(5_000);
  });

  test('of mistakes ends the reading with a note', () => {
    const paths = Array.from({ length: 1_000 }, (_, at) => `  a${at}: {}\n`).join('');
    const { diagnostics } = read(`${HEAD}paths:\n${paths}`);
    expect(diagnostics).toHaveLength(501);
    expect(diagnostics.some(({ code }) => code === 'too_many_mistakes')).toBe(true);
  });
});

describe('a request body', () => {
  const BODIES = `components:
  schemas:
    Order:
      type: object
      required: [item, parts]
      properties:
        item: { type: string, description: a name, example: { $ref: '#/no' } }
        parts: { type: array, items: { $ref: '#/components/schemas/Order' } }
  requestBodies:
    order: { required: true, content: { 'application/json; charset=utf-8': { schema: { $ref: '#/components/schemas/Order' } } } }
`;
  const post = (body: string, more = BODIES): string =>
    `paths:\n  /a:\n    post:\n      requestBody: ${body}\n${more}`;
  const media = (schema: string, type = 'application/json'): string =>
    `{ content: { ${type}: { schema: ${schema} } } }`;

  test('has its schema with what that refers to, without annotations', () => {
    const [found] = operations(post("{ $ref: '#/components/requestBodies/order' }"));
    const Order = {
      type: 'object',
      required: ['item', 'parts'],
      properties: { item: { type: 'string' }, parts: { type: 'array', items: { $ref: '#/$defs/s0' } } },
    };
    const schema = { $ref: '#/$defs/s0', $defs: { s0: Order } };
    expect(found?.body).toEqual({ required: true, content: [{ type: 'application/json', schema }] });
  });

  test('of 3.0 is read in its dialect', () => {
    const schema = `{ type: object, required: [a, id], properties: {
        id: { type: string, readOnly: true },
        a: { type: number, nullable: true, minimum: 1, exclusiveMinimum: true, maximum: 2, exclusiveMaximum: false } } }`;
    const [found] = operations(post(media(schema), ''), HEAD.replace('3.1.0', '3.0.3'));
    expect(found?.body?.content[0]?.schema).toEqual({
      type: 'object',
      required: ['a'],
      properties: {
        id: { type: 'string' },
        a: { type: ['number', 'null'], exclusiveMinimum: 1, maximum: 2 },
      },
    });
  });

  // getkin/kin-openapi#925, cdimascio/express-openapi-validator#733 and #883, thephpleague/openapi-psr7-validator#176.
  test.each([
    ["{ required: [id, name], properties: { id: { $ref: '#/components/schemas/Id' } } }", ['name']],
    ['{ required: [id], properties: { id: { allOf: [{ type: string }, { readOnly: true }] } } }', []],
    ["{ required: [id, name], allOf: [{ $ref: '#/components/schemas/Pet' }] }", ['name']],
    ["{ allOf: [{ $ref: '#/components/schemas/Pet' }, { required: [id, name] }] }", ['name']],
    [
      "{ allOf: [{ $ref: '#/components/schemas/Pet' }, { allOf: [{ $ref: '#/components/schemas/Full' }] }] }",
      ['name'],
    ],
    ['{ properties: { id: { readOnly: true } }, items: { required: [id] } }', ['id']],
    ["{ allOf: [{ $ref: '#/components/schemas/Loop' }, { required: [id] }] }", ['id']],
  ])(
    'of 3.0 requires no member that is `readOnly` through references and `allOf`: %s',
    (schema, required) => {
      const schemas = `components:
  schemas:
    Id: { type: string, readOnly: true }
    Pet: { type: object, properties: { id: { $ref: '#/components/schemas/Id' }, name: {} } }
    Full: { required: [id, name] }
    Loop: { properties: { loop: { $ref: '#/components/schemas/Loop' } } }
`;
      const [found] = operations(post(media(schema), schemas), HEAD.replace('3.1.0', '3.0.3'));
      const text = JSON.stringify(found?.body?.content[0]?.schema);
      const lists = [...text.matchAll(/"required":(\[.*?\])/g)].map(([, list]) => JSON.parse(list!));
      expect(lists).toEqual([required]);
    },
  );

  test('of 3.0 requires a member of one schema alone that is `readOnly` beside another', () => {
    const schemas = `components:
  schemas:
    Full: { required: [id] }
`;
    const full = "{ $ref: '#/components/schemas/Full' }";
    const schema = `{ properties: { a: { allOf: [{ properties: { id: { readOnly: true } } }, ${full}] }, b: ${full} } }`;
    const [found] = operations(post(media(schema), schemas), HEAD.replace('3.1.0', '3.0.3'));
    expect(found?.body?.content[0]?.schema).toMatchObject({
      properties: { a: { allOf: [{}, { $ref: '#/$defs/s0' }] }, b: { $ref: '#/$defs/s1' } },
      $defs: { s0: { required: [] }, s1: { required: ['id'] } },
    });
  });

  test.each([
    [
      '{ type: object, unevaluatedProperties: false }',
      'schema.unevaluatedProperties: is a keyword that is not evaluated',
    ],
    ["{ $ref: '#/components/schemas/None' }", 'schema["$ref"]: refers to nothing in the schema'],
    ["{ $ref: 'other.yaml' }", 'schema["$ref"]: refers to another document, and only this schema is read'],
    ['{ type: string, pattern: "(?=a)" }', 'schema.pattern: looks around with `(?=a`'],
  ])('with %s is not compared, with a warning at its place', (schema, message) => {
    const text = post(media(schema));
    expect(operations(text)[0]?.body).toEqual({ content: [{ type: 'application/json' }] });
    expect(mistakes(text)).toContain(
      `warning: paths["/a"].post.requestBody.content["application/json"].${message}`,
    );
    expect(mistakes(text)).toContain(', so bodies are not compared');
  });

  // Such a document was read without a word, and the gateway of it refused.
  test('nested deeper than gateways take is not compared, with a warning', () => {
    const deep = (levels: number): string =>
      levels === 0 ? '{ type: string }' : `{ properties: { a: ${deep(levels - 1)} } }`;
    expect(mistakes(post(media(deep(23))))).toBe('');
    expect(operations(post(media(deep(24))))[0]?.body).toEqual({ content: [{ type: 'application/json' }] });
    expect(mistakes(post(media(deep(24))))).toContain(
      'schema: is nested more than 48 deep with what it refers to',
    );
  });

  test.each([
    ['{ description: nothing }', '.content: must be an object with a media type each'],
    ['{ content: { application/json: 7 } }', '.content["application/json"]: must be an object'],
    [
      '{ content: { application/json: { schema: false } } }',
      '.content["application/json"].schema: must be an object',
    ],
  ])('of %s has a warning', (body, message) => {
    expect(mistakes(post(body))).toContain(`warning: paths["/a"].post.requestBody${message}`);
  });

  test('that is not compared ends no reading, however many there are', () => {
    const body = (index: number) => media(`{ maxLength: ${index}, unevaluatedItems: false }`);
    const paths = Array.from({ length: 600 }, (_, at) => `  /a${at}: { post: { requestBody: ${body(at)} } }`);
    expect(operations(`paths:\n${paths.join('\n')}`)).toHaveLength(600);
  });

  test('names the place of a mistake in a schema that it refers to', () => {
    const broken = BODIES.replace('type: array', 'type: arrays');
    expect(mistakes(post("{ $ref: '#/components/requestBodies/order' }", broken))).toContain(
      'warning: components.schemas.Order.properties.parts.type: must be one or several of',
    );
  });

  test('has a warning for a misspelt keyword, once at its place in the document, and is compared without it', () => {
    const misspelt = BODIES.replace('required: [', 'requierd: [').replace(
      'type: string,',
      "type: string, 'x-minlength': 1,",
    );
    const one = "{ $ref: '#/components/requestBodies/order' }";
    const text = post(`${one}\n    put:\n      requestBody: ${one}`, misspelt);
    expect(mistakes(text)).toBe(
      'openapi.yaml:13:17: warning: components.schemas.Order.requierd: is not a keyword of JSON Schema and has no effect; did you mean `required`?',
    );
    expect(JSON.stringify(operations(text)[1]?.body)).not.toContain('requierd');
    expect(operations(text)[1]?.body?.content[0]?.schema).toHaveProperty('$defs');
  });

  // cdimascio/express-openapi-validator#271: bodies of the second type were compared with the schema of the first.
  test.each([
    [
      'application/json; v=1: { schema: { required: [a] } }, application/json; v=2: { schema: { required: [b] } }',
    ],
    ['application/json; v=1: { schema: { required: [a] } }, application/json; v=2: {}'],
    ['application/json: { schema: { required: [a] } }, Application/JSON: { schema: { required: [b] } }'],
  ])('of types that differ in parameters alone is not compared, with a warning: %s', (content) => {
    const text = post(`{ content: { ${content.replaceAll(/(\w+\/\w+(?:; v=.)?):/gi, "'$1':")} } }`);
    expect(operations(text)[0]?.body).toEqual({ content: [{ type: 'application/json' }] });
    expect(mistakes(text)).toMatch(
      /has another schema than `application\/json.*, so bodies are not compared/,
    );
  });

  test('of types that differ in parameters alone is compared where they have one schema', () => {
    const one = "{ schema: { $ref: '#/components/schemas/Order' } }";
    const text = post(`{ content: { application/json: ${one}, 'application/json; charset=utf-8': ${one} } }`);
    expect(mistakes(text)).toBe('');
    expect(operations(text)[0]?.body?.content).toEqual([
      { type: 'application/json', schema: expect.objectContaining({ $ref: '#/$defs/s0' }) },
    ]);
  });

  // membrane/api-gateway#700, getkin/kin-openapi#91: JSON of a range was not compared.
  test.each([
    ["'*/*': { schema: { type: string } }", ['application/json:string', '*/*:any']],
    [
      "'*/*': { schema: { type: string } }, 'application/*': { schema: { type: number } }",
      ['application/json:number', '*/*:any', 'application/*:any'],
    ],
    [
      "'*/*': { schema: { type: string } }, application/json: { schema: { type: number } }",
      ['*/*:any', 'application/json:number'],
    ],
    ["'*/*': {}", ['*/*:any']],
    ["'text/*': { schema: { type: string } }", ['text/*:any']],
  ])('of a range is compared if it is JSON: %s', (content, types) => {
    const [found] = operations(post(`{ content: { ${content} } }`));
    expect(found?.body?.content.map(({ type, schema }) => `${type}:${schema?.['type'] ?? 'any'}`)).toEqual(
      types,
    );
  });

  // networknt/json-schema-validator#1278, python-openapi/openapi-schema-validator#20: null is refused, as 3.0.3 and 3.1 have it.
  test.each([
    [
      '3.0.3',
      "{ nullable: true, allOf: [{ $ref: '#/components/schemas/Order' }] }",
      'without `type` beside it',
    ],
    ['3.0.3', '{ nullable: true, enum: [a] }', 'without `type` beside it'],
    ['3.0.3', "{ nullable: true, $ref: '#/components/schemas/Order' }", 'beside `$ref`'],
    ['3.1.0', '{ nullable: true, type: string }', 'is of OpenAPI 3.0 and has no effect'],
    ['3.0.3', '{ nullable: true, type: string }', null],
    ['3.0.3', '{ nullable: true }', null],
    ['3.0.3', '{ nullable: false, enum: [a] }', null],
  ])('of %s has a warning for `nullable` where it has no effect: %s', (version, schema, message) => {
    const one = media(`{ properties: { a: ${schema} } }`);
    const text = post(`${one}\n    put:\n      requestBody: ${one}`);
    const found = mistakes(text, HEAD.replace('3.1.0', version));
    const lines = found.split('\n').filter((line) => line !== '');
    expect(lines).toHaveLength(message === null ? 0 : 2);
    if (message === null) return;
    expect(lines[0]).toContain(
      '.post.requestBody.content["application/json"].schema.properties.a.nullable: ',
    );
    expect(lines[0]).toContain(message);
  });

  test('has a warning for a number that is rounded, once at its place in the document', () => {
    const large = BODIES.replace('type: string,', 'type: integer, maximum: 9223372036854775807,');
    const one = "{ $ref: '#/components/requestBodies/order' }";
    const other =
      "{ content: { application/json: { schema: { items: { $ref: '#/components/schemas/Order' } } } } }";
    expect(mistakes(post(`${one}\n    put:\n      requestBody: ${other}`, large))).toBe(
      'openapi.yaml:15:41: warning: components.schemas.Order.properties.item.maximum: has a number that is read as 9223372036854775808: integers beyond 9007199254740991 are rounded; use a number of at most 15 digits, or text',
    );
  });

  test('of other types has types alone', () => {
    const [found] = operations(post(media('{ type: string }', 'text/csv')));
    expect(found?.body).toEqual({ content: [{ type: 'text/csv' }] });
  });
});
