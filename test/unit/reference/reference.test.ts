/** The parts of the reference page: escaping, Markdown, examples. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { documentRoutes } from '../../../src/api/openapi.ts';
import { ROUTES } from '../../../src/api/routes.ts';
import { html } from '../../../src/base/html.ts';
import { json } from '../../../src/reference/code.ts';
import { type ApiDocument, apiDocument, operationsOf } from '../../../src/reference/document.ts';
import type { Json, JsonObject } from '../../../src/reference/json-object.ts';
import { inline, markdownParts } from '../../../src/reference/markdown.ts';
import { referencePage } from '../../../src/reference/reference.ts';
import { sample } from '../../../src/reference/sample.ts';
import { boundTexts } from '../../../src/reference/type-text.ts';

let plain: JsonObject;
let document: ApiDocument;
beforeAll(async () => {
  plain = JSON.parse((await documentRoutes(ROUTES)).json) as JsonObject;
  document = apiDocument(plain);
});

describe('markup', () => {
  test('escapes every value, in text and in attributes', () => {
    const nasty = `<img src=x onerror="alert('1')">&`;
    expect(html`<a title="${nasty}">${[nasty, html`<b>${nasty}</b>`, null, 7]}</a>`.text).not.toMatch(
      /<img|"alert|&(?!\w+;|#39;)/,
    );
  });

  test('keeps a hostile description in a page as text', () => {
    const nasty = '</code><script>alert(1)</script>`<script>`';
    const changed = JSON.parse(
      JSON.stringify(plain).replaceAll('the name of the domain', nasty),
    ) as JsonObject;
    expect(referencePage(changed).match(/<script/g)).toHaveLength(1);
  });

  test('renders the Markdown of the document', () => {
    const [before, part] = markdownParts(
      'One\nline `a<b`\n\n## Head\n\n- x\n  y\n- z\n\n| a | b |\n|---|---|\n| 1 | `2` |\n',
    );
    expect(before?.body.text).toBe('<p>One line <code>a&lt;b</code></p>');
    expect(part?.heading).toBe('Head');
    expect(part?.body.text).toContain('<ul><li>x y</li><li>z</li></ul><table>');
    expect(part?.body.text).toContain('<tr><td>1</td><td><code>2</code></td></tr>');
    expect(html`${inline('a `b` c')}`.text).toBe('a <code>b</code> c');
  });

  test('leaves no construct of Markdown in the page that it does not render', () => {
    const page = referencePage(plain).replaceAll(/<pre[\s\S]*?<\/pre>|<style>[\s\S]*?<\/style>/g, '');
    expect(page).not.toMatch(/\]\(|\*\*|```|<p>[#>*-] /);
  });

  test('marks names and texts of JSON without a change of the text', () => {
    const value = { a: 'x "y": z', b: [1, null, true], c: {} };
    const text = html`${json(value)}`.text.replaceAll(/<\/?[bi]>/g, '').replaceAll('&quot;', '"');
    expect(JSON.parse(text)).toEqual(value);
  });
});

describe('examples', () => {
  test('are valid in their schemas, for every JSON response', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', ...plain });
    const wrong: unknown[] = [];
    for (const { method, path, responses } of operationsOf(document)) {
      for (const [status, { content }] of Object.entries(responses)) {
        const schema = content?.['application/json']?.schema;
        if (schema === undefined) continue;
        const step = (text: string): string => text.replaceAll('~', '~0').replaceAll('/', '~1');
        const place = [
          'paths',
          path,
          method.toLowerCase(),
          'responses',
          status,
          'content',
          'application/json',
          'schema',
        ];
        const validate = ajv.getSchema(`doc#/${place.map(step).map(encodeURIComponent).join('/')}`)!;
        const made: Json = sample(schema, { document });
        if (!validate(made)) wrong.push([method, path, validate.errors?.[0]]);
      }
    }
    expect(wrong).toEqual([]);
  });
});

describe('bounds', () => {
  test.each([
    [{ minimum: 1, maximum: 1000 }, '1 to 1,000'],
    [{ minimum: 5, maximum: 5 }, 'exactly 5'],
    [{ maxItems: 3, items: { maxLength: 9 } }, 'at most 3 entries|each at most 9 characters'],
    [{ enum: ['', 'a'] }, 'one of <code>&quot;&quot;</code>, <code>a</code>'],
    [{ pattern: '^a$' }, 'matches <code>^a$</code>'],
    [{ format: 'date-time', pattern: 'long' }, 'RFC 3339 time in UTC'],
    [{}, ''],
  ])('of %j', (schema, expected) => {
    expect(
      boundTexts(schema)
        .map((text) => html`${text}`.text)
        .join('|'),
    ).toBe(expected);
  });
});
