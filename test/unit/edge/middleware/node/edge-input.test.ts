/** OpenAPI documents beside an edge file: which files are read with it, and that a plan has their operations. */
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import {
  compileEdge,
  digestOfInput,
  readEdgeInput,
} from '../../../../../src/edge/middleware/node/edge-input.ts';

const AUTH = 'auth: { api_key: { sources: [{ in: header, name: X-Api-Key }] } }';
const DOCUMENT = 'openapi: 3.1.0\npaths: { /orders: { get: { operationId: listOrders } } }\n';

let folder: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'edge-input-'));
});
afterEach(() => rm(folder, { recursive: true }));

const put = async (name: string, text: string): Promise<void> => {
  await mkdir(join(folder, name, '..'), { recursive: true });
  await writeFile(join(folder, name), text);
};
const read = () => readEdgeInput(join(folder, 'edge.yaml'), (file) => readFile(file));

test('a document that a gateway of the file or of a part names is read with it', async () => {
  await put(
    'edge.yaml',
    `domain: example.com\ngateways:\n  - { base_path: /a, ${AUTH}, schema: api/a.yaml }\n`,
  );
  await put('edge.d/b.yaml', `gateways:\n  - { base_path: /b, ${AUTH}, schema: ./b.json }\n`);
  await put('api/a.yaml', DOCUMENT);
  await put('b.json', JSON.stringify({ openapi: '3.0.3', paths: { '/b': { get: {} } } }));
  await put('c.yaml', DOCUMENT);
  const input = await read();
  expect(input.parts.map(({ name, schema }) => [name.slice(folder.length + 1), schema])).toEqual([
    ['edge.d/b.yaml', undefined],
    ['api/a.yaml', 'api/a.yaml'],
    ['b.json', 'b.json'],
  ]);
  const compiled = compileEdge(input.octets, input.name, input.parts);
  expect(compiled.diagnostics).toEqual([]);
  expect(compiled.ok && compiled.ruleSet.rules).toMatchObject([
    { base_path: '/a', operations: [{ path: '/orders' }] },
    { base_path: '/b', operations: [{ path: '/b' }] },
  ]);
  const before = digestOfInput(input);
  await put('b.json', JSON.stringify({ openapi: '3.0.3', paths: { '/c': { get: {} } } }));
  expect(digestOfInput(await read())).not.toBe(before);
});

test('a list names no document', async () => {
  await put('edge.yaml', 'domain: example.com\nlists: [{ name: offices, kind: ip }]\n');
  await put('lists/offices.txt', '# gateway { schema: a.yaml }\n192.0.2.1\n');
  await put('a.yaml', DOCUMENT);
  const { parts } = await read();
  expect(parts.map(({ name }) => name.slice(folder.length + 1))).toEqual(['lists/offices.txt']);
});

test('a document that does not exist is a diagnostic, and a folder of its name is none', async () => {
  await put('edge.yaml', `domain: example.com\ngateways:\n  - { ${AUTH}, schema: api.yaml }\n`);
  await mkdir(join(folder, 'api.yaml'));
  const input = await read();
  const compiled = compileEdge(input.octets, input.name, input.parts);
  expect(compiled.ok).toBe(false);
  expect(compiled.diagnostics).toMatchObject([{ code: 'schema_file', at: { line: 3 } }]);
});
