/** `edgeplan gateway diff` over the built command line: documents, edge files, and inputs that it refuses. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { builtCli, edgeplan } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
beforeAll(builtCli, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

/** An OpenAPI document whose operation needs a scope. */
function documentOf(scope: string, more = ''): string {
  return `openapi: 3.1.0
components: { securitySchemes: { login: { type: oauth2, flows: {} } } }
paths:
  /orders: { get: { security: [{ login: [${scope}] }], responses: {} }${more} }
`;
}

const FILES = {
  'old.yaml': documentOf('read'),
  'new.yaml': documentOf('write', ', post: { security: [], responses: {} }'),
  'edge.yaml':
    'domain: example.com\nrecords: [{ name: "@", type: A, destination: 198.51.100.1, proxied: true }]\n',
  'swagger.yaml': 'swagger: "2.0"\npaths: {}\n',
};
for (const [name, text] of Object.entries(FILES)) writeFileSync(join(folder, name), text);

const run = (...words: readonly string[]) => edgeplan(['gateway', 'diff', ...words], { cwd: folder });

describe('gateway diff', () => {
  test('ends with 0 and says that it is proved where nothing differs', async () => {
    const { code, out } = await run('old.yaml', 'old.yaml');
    expect({ code, out }).toEqual({
      code: 0,
      out: `old.yaml alone accepts no request: proved
old.yaml alone accepts no request: proved
rules after the gateways, credentials that a request has beyond those it needs, and times at which credentials expire are not compared
`,
    });
  });

  test('shows for each operation a request that one document alone accepts', async () => {
    const { code, out } = await run('old.yaml', 'new.yaml');
    expect(code).toBe(1);
    expect(out).toContain('new.yaml alone accepts requests of 2 operations:');
    expect(out).toContain(
      'POST /orders, else 405 method not allowed\n      POST https://api.example.com/orders',
    );
    expect(out).toContain('old.yaml alone accepts requests of 1 operation (breaking):');
    expect(out).toMatch(/https:\/\/api\.example\.com\/orders .*--consumer any --scope read\n/);
  });

  test('prints JSON', async () => {
    const { code, out } = await run('old.yaml', 'new.yaml', '--json');
    const { format, only_before, only_after } = JSON.parse(out);
    expect(code).toBe(1);
    expect(format).toBe('edgeplan.gateway-diff/v1');
    expect(only_before.requests[0].refused).toEqual({ reason: 'scopes', operation: '/orders', status: 403 });
    expect(only_after.not_proved).toEqual([]);
  });

  test('refuses two kinds of files, versions that it does not read, and stdin twice', async () => {
    expect(await run('old.yaml', 'edge.yaml')).toMatchObject({ code: 2 });
    expect((await run('edge.yaml', 'edge.yaml')).code).toBe(0);
    const { code, err } = await run('old.yaml', 'swagger.yaml');
    expect([code, err]).toEqual([3, expect.stringContaining('openapi_version')]);
    expect((await run('-', '-')).code).toBe(2);
  });
});
