/** `/docs/`: what is served to everybody, that the document is good to read, and the page in a real browser. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { REFUSALS } from '../../src/api/docs/errors.ts';
import { EXAMPLES } from '../../src/api/docs/examples.ts';
import { operationId } from '../../src/api/docs/operation-id.ts';
import { MAX_BODY_OCTETS } from '../../src/api/limits.ts';
import { ROUTES } from '../../src/api/routes.ts';
import { type Answer, send, startApi, type TestApi } from '../support/api.ts';
import { addSubject } from '../support/api-rules-subject.ts';
import { successOf } from '../support/api-shapes.ts';
import { missingBrowser, openWatched, startBrowser } from '../support/browser.ts';
import { testDatabases } from '../support/databases.ts';
import { requires } from '../support/requires.ts';

let api: TestApi;
beforeAll(async () => {
  // One store is enough: nothing here reads one but the examples.
  const [database] = testDatabases();
  api = await startApi(database!);
});
afterAll(() => api.close());

function ask(method: string, path: string, headers: Record<string, string> = {}): Promise<Answer> {
  return send(api.port, { method, path, headers });
}

async function bundlePath(): Promise<string> {
  const { text } = await ask('GET', '/docs/');
  return `/docs/${/<script src="([^"]+)"/.exec(text)?.[1]}`;
}

describe('what is served', () => {
  const LICENCES = '/docs/redoc.standalone.js.LICENSE.txt';
  test.each([
    ['/docs/', /^text\/html; charset=utf-8$/, 'no-cache'],
    ['/docs/openapi.yaml', /^application\/yaml; charset=utf-8$/, 'no-cache'],
    ['/docs/edge.schema.json', /^application\/schema\+json; charset=utf-8$/, 'no-cache'],
    ['/docs/edge.test.schema.json', /^application\/schema\+json; charset=utf-8$/, 'no-cache'],
    ['the bundle', /^text\/javascript; charset=utf-8$/, 'public, max-age=31536000, immutable'],
    [LICENCES, /^text\/plain; charset=utf-8$/, 'no-cache'],
  ])('%s: type, tag and caching, without a key', async (named, type, caching) => {
    const path = named === 'the bundle' ? await bundlePath() : named;
    const got = await ask('GET', path);
    expect(got.status).toBe(200);
    expect(got.headers['content-type']).toMatch(type);
    expect(got.headers['cache-control']).toBe(caching);
    expect(got.headers['x-content-type-options']).toBe('nosniff');
    const etag = got.headers['etag'] ?? '';
    expect(etag).toMatch(/^"[\w-]{22}"$/);

    const head = await ask('HEAD', path);
    expect([head.status, head.text, head.headers['etag']]).toEqual([200, '', etag]);
    expect(head.headers['content-length']).toBe(got.headers['content-length']);
    const again = await ask('GET', path, { 'if-none-match': etag });
    expect([again.status, again.text, again.headers['etag']]).toEqual([304, '', etag]);
    expect((await ask('GET', path, { 'if-none-match': '"other"' })).status).toBe(200);
  });

  test('the page lets nothing run but the bundle, and the bundle names no picture elsewhere', async () => {
    const { headers, text } = await ask('GET', '/docs/');
    const policy = headers['content-security-policy'] ?? '';
    expect(policy).toMatch(/^default-src 'none'; script-src 'self';/);
    expect(policy).not.toMatch(/unsafe|https?:|\*/);
    expect(text).not.toMatch(/https?:/);
    const bundle = await ask('GET', await bundlePath());
    expect(bundle.text.length).toBeGreaterThan(500_000);
    expect(bundle.text).not.toContain('cdn.redoc.ly');
    expect(bundle.text).toContain(LICENCES.slice('/docs/'.length));
    const licences = (await ask('GET', LICENCES)).text;
    for (const whose of ['Rebilly', 'React', 'lunr']) expect(licences).toContain(whose);
  });

  test('without its slash the page is found by a redirect', async () => {
    for (const method of ['GET', 'HEAD']) {
      const { status, headers } = await ask(method, '/docs');
      expect([status, headers['location']]).toEqual([308, '/docs/']);
    }
  });

  test('writes are refused with 405, and `Allow` lists the methods', async () => {
    for (const path of ['/docs', '/docs/', '/docs/openapi.yaml', await bundlePath()]) {
      for (const method of ['POST', 'PUT', 'PATCH', 'DELETE']) {
        const body = Buffer.from('{ not json');
        const { status, headers, body: said } = await send(api.port, { method, path, body });
        expect([method, path, status, headers['allow']]).toEqual([method, path, 405, 'GET, HEAD, OPTIONS']);
        expect(said).toEqual({ error: 'this path takes GET, HEAD, OPTIONS' });
      }
      const options = await ask('OPTIONS', path);
      expect([options.status, options.headers['allow']]).toEqual([204, 'GET, HEAD, OPTIONS']);
    }
    expect((await ask('GET', '/docs/other')).status).toBe(401);
  });
});

describe('the document', () => {
  // biome-ignore lint/suspicious/noExplicitAny: a document of every shape
  let document: any;
  beforeAll(async () => {
    document = parse((await ask('GET', '/docs/openapi.yaml')).text);
  });

  test('says who may, what for and what comes, of every operation', () => {
    const described = new Set(document.tags.map((tag: { name: string }) => tag.name));
    const grouped = document['x-tagGroups'].flatMap((group: { tags: string[] }) => group.tags);
    expect([...described]).toEqual(grouped);
    for (const tag of document.tags) expect(tag.description, tag.name).toMatch(/\.$/);
    for (const route of ROUTES) {
      const { method, path } = route;
      const one = document.paths[path][method.toLowerCase()];
      const where = `${method} ${path}`;
      expect(one.summary, where).toBeTruthy();
      expect(one.description, where).toMatch(/key|permission/);
      expect(
        one.tags.map((tag: string) => described.has(tag)),
        where,
      ).toEqual([true]);
      const success = String(successOf(route));
      expect(one.responses[success].description, where).toBe(one.summary);
      for (const [status, { $ref }] of Object.entries<{ $ref: string }>(one.responses)) {
        if (status === success) continue;
        const name = /^#\/components\/responses\/(\w+)$/.exec($ref)?.[1] ?? '';
        expect(document.components.responses[name]?.description, where).toBeTruthy();
      }
    }
  });

  test('introduces itself, names its server and its keys, and no number that means nothing', () => {
    const headings = [...document.info.description.matchAll(/^## (.*)$/gm)].map(([, heading]) => heading);
    expect(headings).toEqual(['Authentication', 'Conventions', 'Rate limit', 'Errors']);
    expect(document.servers).toEqual([expect.objectContaining({ url: '/' })]);
    expect(document.security).toEqual([{ bearer: [] }, { header: [] }]);
    for (const scheme of Object.values<{ description: string }>(document.components.securitySchemes))
      expect(scheme.description).toBeTruthy();
    const text = JSON.stringify(document);
    expect(text).not.toContain(String(Number.MAX_SAFE_INTEGER));
    expect(text).not.toContain('Default Response');
    expect(text).not.toContain('x-refused');
    expect(Object.keys(document.components.schemas).filter((name) => name.endsWith('Input'))).toEqual([]);
  });

  test('shows sentences that are really answered', async () => {
    const { owner, at } = await addSubject(api);
    const readOnly = (await owner.anotherKey({ readOnly: true })).key;
    const path = at('/rules/rate-limit/');
    const text = { 'content-type': 'text/plain' };
    const answers = [
      await owner.call('POST', path, { limit: 'ten' }),
      await ask('GET', '/domains/'),
      await owner.call('POST', path, { limit: 1 }, { authorization: `Bearer ${readOnly}` }),
      await owner.call('GET', '/domains/none.example'),
      await owner.call('PUT', at(''), {}, { 'if-match': '"other"' }),
      await owner.call('POST', path, Buffer.alloc(MAX_BODY_OCTETS + 1, ' ')),
      await owner.call('POST', path, Buffer.from('limit'), text),
    ];
    for (const { status, body } of answers)
      expect([status, body.error]).toEqual([status, REFUSALS[status]?.example]);
    expect(answers.map(({ status }) => status)).toEqual([400, 401, 403, 404, 412, 413, 415]);
  });

  test('shows bodies that are accepted as they stand', async () => {
    const subject = await addSubject(api);
    const ann = await api.person('ann');
    const ids: Record<string, number> = {};
    const sent = new Set<string>();
    for (const route of ROUTES) {
      const { method, path } = route;
      const id = operationId(method, path);
      const example = EXAMPLES[id];
      if (example === undefined) continue;
      const shown =
        document.paths[path][method.toLowerCase()].requestBody.content['application/json'].example;
      expect(shown).toEqual(example);
      const made = ids[path.replace(/\{(?:ruleId|recordId|userId)\}$/, '')];
      const at = path.replace('{domain}', subject.domain.name).replace(/\{\w+\}$/, String(made));
      const { status, text, body } = await subject.owner.call(method, at, example);
      expect(status, `${method} ${at} ${text}`).toBe(successOf(route));
      if (status === 202) await ann.call('POST', `/invitations/${body.id}/accept`);
      ids[path] = status === 202 ? ann.account.id : body.id;
      sent.add(id);
    }
    expect([...sent].sort()).toEqual(Object.keys(EXAMPLES).sort());
  });
});

// Skipped only where Debian's Chromium is missing; the reason is printed above.
describe('in a browser', requires(missingBrowser()), () => {
  test('the page lists the operations, finds one, and loads nothing from elsewhere', async () => {
    const browser = await startBrowser();
    try {
      const { page, watch } = await openWatched(browser);
      await page.goto(`${api.url}/docs/`);
      await page.getByRole('heading', { name: 'Edge Management REST API' }).waitFor();
      for (const summary of [
        'Add a domain',
        'Add a rule of type drop',
        'List what was published, newest first',
      ])
        await page.getByRole('heading', { name: summary }).waitFor();
      const shown = await page.locator('[data-section-id*="/operation/"]').count();
      expect(shown).toBe(ROUTES.length);
      await page.getByPlaceholder('Search...').pressSequentially('rollback');
      await page.locator('[data-role="search:results"]').getByText('Publish the content of an old').waitFor();
      expect(watch.complaints).toEqual([]);
      expect(watch.requests.length).toBeGreaterThanOrEqual(3);
      const elsewhere = watch.requests.filter((url) => new URL(url.replace(/^blob:/, '')).origin !== api.url);
      expect(elsewhere).toEqual([]);
    } finally {
      await browser.close();
    }
  });
});
