/** The parts of the reference page: escaping, Markdown, examples. */
import { Ajv2020 } from 'ajv/dist/2020.js';
import { beforeAll, describe, expect, test } from 'vitest';
import { html } from '../../../../src/base/text/html.ts';
import type { Json, JsonObject } from '../../../../src/base/text/json-object.ts';
import { documentRoutes } from '../../../../src/control/api/openapi.ts';
import { ROUTES } from '../../../../src/control/api/routes.ts';
import { type ApiDocument, apiDocument, operationsOf } from '../../../../src/page/reference/document.ts';
import { referencePage } from '../../../../src/page/reference/documents.ts';
import { boundTexts } from '../../../../src/page/reference/fields.ts';
import { inline, json, markdownParts } from '../../../../src/page/reference/markup.ts';
import { sample } from '../../../../src/page/reference/operation.ts';

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

describe('the document', () => {
  /** Every object of the document, with its place as a JSON pointer. */
  function objectsOf(value: unknown, place: readonly string[] = []): [string, Record<string, unknown>][] {
    if (typeof value !== 'object' || value === null) return [];
    const own: [string, Record<string, unknown>][] = Array.isArray(value)
      ? []
      : [[`#${place.map((step) => `/${encodeURIComponent(step)}`).join('')}`, { ...value }]];
    const inner = Object.entries(value).flatMap(([name, one]) =>
      objectsOf(one, [...place, name.replaceAll('~', '~0').replaceAll('/', '~1')]),
    );
    return [...own, ...inner];
  }

  test('has only examples that are valid in the schemas they are part of', () => {
    const ajv = new Ajv2020({ strict: false, validateFormats: false });
    ajv.addSchema({ $id: 'doc', ...plain });
    let checked = 0;
    const wrong: unknown[] = [];
    for (const [place, { examples, example, schema }] of objectsOf(plain)) {
      // Of a schema `examples` is a list; of a media type and a parameter `example` is beside the schema.
      const isSchema = Array.isArray(examples);
      if (!isSchema && (example === undefined || schema === undefined)) continue;
      const validate = ajv.getSchema(`doc${isSchema ? place : `${place}/schema`}`)!;
      for (const one of isSchema ? examples : [example]) {
        checked++;
        if (!validate(one)) wrong.push([place, one, validate.errors?.[0]]);
      }
    }
    expect(wrong).toEqual([]);
    expect(checked).toBeGreaterThan(900);
  });

  test('has no two paths that one URL fits', () => {
    const paths = Object.keys(document.paths);
    const fits = (left: string, right: string): boolean => {
      const [one, other] = [left.split('/'), right.split('/')];
      const alike = (step: string, at: number): boolean =>
        step === other[at] || step.startsWith('{') || other[at]!.startsWith('{');
      return one.length === other.length && one.every(alike);
    };
    const isMore = (left: string, right: string): boolean =>
      left
        .split('/')
        .every((step, at) => step === right.split('/')[at] || right.split('/')[at]!.startsWith('{'));
    // A path without parameters where another has one comes first (OpenAPI 3.1, "Paths Object").
    const ambiguous = paths.flatMap((left, at) =>
      paths
        .slice(at + 1)
        .filter((right) => fits(left, right) && !isMore(left, right) && !isMore(right, left))
        .map((right) => [left, right]),
    );
    expect(ambiguous).toEqual([]);
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
