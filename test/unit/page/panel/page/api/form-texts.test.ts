/** The texts of forms over the API: nested fields, what a save sends, and mistakes at their controls. */
import { describe, expect, test } from 'vitest';
import type { FormField } from '../../../../../../src/page/panel/documents.ts';
import { fieldDocument } from '../../../../../../src/page/panel/open-panel.ts';
import {
  entryOf,
  type FormEntry,
  type FormTexts,
  mistakesOf,
  readForm,
  textsOf,
} from '../../../../../../src/page/panel/page/api/form-texts.ts';

const { rules, record, consumer, consumer_key, usage_plan, token_issuer } = fieldDocument();
const pool = rules.origin_pool.fields;
const pages = rules.error_page.fields;

const STORED = {
  lb_type: 'round_robin',
  origins: [
    { address: '192.0.2.1', port: null, scheme: 'https', weight: 3, node_ids: [1, 2], country: '' },
    {
      address: '192.0.2.2',
      port: 8443,
      scheme: 'http',
      weight: 1,
      node_ids: [],
      country: 'DE',
      shade: 'red',
    },
  ],
  health_check: { enabled: false, path: '/', interval_sec: 15, later: { a: [1] } },
  host_header: '',
  name: '',
};

const fieldOf = (fields: readonly FormField[], name: string): FormField =>
  fields.find((field) => field.name === name)!;
const entriesOf = (texts: FormTexts, name: string): readonly FormEntry[] =>
  texts[name] as readonly FormEntry[];

/** An entry with other texts. */
const typed = (entry: FormEntry, texts: FormTexts): FormEntry => ({
  ...entry,
  texts: { ...entry.texts, ...texts },
});

/** Changes the form of an object and reads it. */
function read(fields: readonly FormField[], object: object, change: (before: FormTexts) => FormTexts) {
  const before = textsOf(fields, object as Readonly<Record<string, unknown>>);
  const { values, mistakes } = readForm(fields, { ...before, ...change(before) }, before);
  return { values, mistakes: Object.fromEntries(mistakes) };
}

describe('the fields of forms', () => {
  test('have inner fields wherever they are objects, and no object may be null', () => {
    const all = [...Object.values(rules), record].flatMap(({ fields, common }) => [...fields, ...common]);
    const conditions = all.filter(({ name }) => name === 'conditions');
    expect(conditions).toHaveLength(Object.keys(rules).length);
    const nested = all.filter(({ name, fields }) => fields.length > 0 && name !== 'conditions');
    expect(nested.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      'auth: object',
      'operations: objects',
      'cors: object',
      'validation: object',
      'upstream_headers: object',
      'exclusions: objects',
      'origins: objects',
      'health_check: object',
      'content: map',
      'request: object',
      'response: object',
    ]);
    expect(all.filter(({ kind, fields }) => /^(?:object|map)/.test(kind) && fields.length === 0)).toEqual([]);
    expect(nested.filter(({ nullable }) => nullable)).toEqual([]);
    const deeper = nested.flatMap(({ fields }) => fields).filter(({ fields }) => fields.length > 0);
    expect(deeper.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      ...['api_key: object', 'jwt: object', 'mtls: object'],
      ...['body: object', 'limits: object', 'validation: object'],
      ...['set: map', 'add: map'],
      ...['set: map', 'add: map'],
      ...['set: map', 'add: map'],
    ]);
  });

  test('have the bounds, options and descriptions of the field reference', () => {
    const { fields, most, required } = fieldOf(pool, 'origins');
    expect([most, required]).toEqual([64, true]);
    expect(fields.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      'address: text',
      'port: integer',
      'scheme: text',
      'weight: integer',
      'node_ids: integers',
      'country: text',
    ]);
    const [address, port, scheme, weight] = fields;
    expect([address!.required, port!.nullable, scheme!.options]).toEqual([true, true, ['http', 'https']]);
    expect([weight!.minimum, weight!.maximum, weight!.fallback]).toEqual([0, 1000, 1]);
    expect(address!.description).toBe('IP address or host name of the origin');
    expect(fieldOf(pages, 'content')).toMatchObject({
      most: 201,
      fields: [{ name: 'key' }, { name: 'value' }],
    });
  });
});

describe('the forms of what gateways refer to', () => {
  test('have the fields that the API takes, and none that files alone have', () => {
    expect(consumer.fields.map(({ name }) => name)).not.toContain('keys');
    expect(consumer_key.fields.map(({ name }) => name)).toEqual(['name', 'expires_at']);
    const kinds = [...usage_plan.fields, ...token_issuer.fields].filter(({ fields }) => fields.length > 0);
    expect(kinds.map(({ name, kind }) => `${name}: ${kind}`)).toEqual([
      ...['throttle: nullable', 'quota: nullable'],
      ...['keys: objects', 'sources: objects', 'required_claims: map'],
    ]);
    expect(fieldOf(token_issuer.fields, 'required_claims').fields.map(({ kind }) => kind)).toEqual([
      'text',
      'scalar',
    ]);
  });

  test('an object that may be null is there with its entry, and null without', () => {
    const throttle = fieldOf(usage_plan.fields, 'throttle');
    const stored = { name: 'gold', throttle: null, quota: { limit: 5, period: 'day' } };
    const added = read(usage_plan.fields, stored, () => ({
      throttle: [typed(entryOf(throttle), { rate: '50' })],
    }));
    expect(added).toEqual({ values: { throttle: { rate: 50 } }, mistakes: {} });
    const open = read(usage_plan.fields, stored, () => ({ throttle: [entryOf(throttle)] }));
    expect(open.mistakes).toEqual({ 'throttle[0].rate': 'is needed' });
    const removed = read(usage_plan.fields, stored, () => ({ quota: [] }));
    expect(removed).toEqual({ values: { quota: null }, mistakes: {} });
    const texts = { ...textsOf(usage_plan.fields, stored), throttle: [entryOf(throttle)] };
    expect([
      ...mistakesOf('throttle.rate: is too much; quota.limit: is low', usage_plan.fields, texts),
    ]).toEqual([
      ['throttle[0].rate', 'is too much'],
      ['quota[0].limit', 'is low'],
    ]);
  });

  test('an empty text that may be null is null', () => {
    const stored = { username: 'acme', group: 'partners', expires_at: '2027-12-31T23:59:59Z' };
    const { values } = read(consumer.fields, stored, () => ({ group: '', expires_at: '' }));
    expect(values).toEqual({ group: null, expires_at: null });
  });

  test('a value of several types has the type that its text has, and quotes make it a text', () => {
    const claims = fieldOf(token_issuer.fields, 'required_claims');
    const stored = {
      name: 'a',
      issuer: 'b',
      audiences: ['c'],
      required_claims: { verified: true, level: '7' },
    };
    const entries = entriesOf(textsOf(token_issuer.fields, stored), 'required_claims');
    expect(entries.map(({ texts }) => texts['value'])).toEqual(['true', '"7"']);
    const added = ['3', 'x y', '"false"', '-1.5', '007'].map((value, index) =>
      typed(entryOf(claims), { key: `c${index}`, value }),
    );
    const { values } = read(token_issuer.fields, stored, () => ({ required_claims: [...entries, ...added] }));
    expect(values['required_claims']).toEqual({
      ...{ verified: true, level: '7' },
      ...{ c0: 3, c1: 'x y', c2: 'false', c3: -1.5, c4: '007' },
    });
  });
});

describe('reading a form', () => {
  test('sends nothing of an object that was not changed, or was changed back', () => {
    expect(read(pool, STORED, (texts) => texts)).toEqual({ values: {}, mistakes: {} });
    expect(read(pool, STORED, ({ origins }) => ({ origins: structuredClone(origins!) })).values).toEqual({});
  });

  test('sends the whole outer field of a changed inner one, with the fields that no control draws', () => {
    const { values } = read(pool, STORED, (texts) => {
      const [first, second] = entriesOf(texts, 'origins');
      return { origins: [typed(first!, { weight: '5' }), second!] };
    });
    expect(values).toEqual({ origins: [{ ...STORED.origins[0], weight: 5 }, STORED.origins[1]] });
    const health = read(pool, STORED, (texts) => ({
      health_check: typed(texts['health_check'] as FormEntry, { enabled: true, path: '/up' }),
    }));
    expect(health.values).toEqual({ health_check: { ...STORED.health_check, enabled: true, path: '/up' } });
  });

  test('leaves the defaults of a new entry to the server, and removes one', () => {
    const added = typed(entryOf(fieldOf(pool, 'origins')), { address: 'b.example', node_ids: '3 4,5' });
    expect(added.texts).toMatchObject({ scheme: 'https', weight: '1', port: '' });
    const { values } = read(pool, STORED, (texts) => ({ origins: [entriesOf(texts, 'origins')[1]!, added] }));
    expect(values).toEqual({ origins: [STORED.origins[1], { address: 'b.example', node_ids: [3, 4, 5] }] });
  });

  test('empties a number that may be null, and takes the default of another', () => {
    const { values } = read(pool, STORED, (texts) => {
      const [first, second] = entriesOf(texts, 'origins');
      return { origins: [typed(first!, { weight: '' }), typed(second!, { port: '' })] };
    });
    expect(values['origins']).toMatchObject([{ weight: 1 }, { port: null }]);
  });

  test('finds mistakes at the path of their control', () => {
    const empty = entryOf(fieldOf(pool, 'origins'));
    const { mistakes } = read(pool, STORED, (texts) => ({
      origins: [typed(entriesOf(texts, 'origins')[0]!, { weight: '1001', node_ids: '1, x' }), empty],
      health_check: typed(texts['health_check'] as FormEntry, { interval_sec: 'soon' }),
    }));
    expect(mistakes).toEqual({
      'origins[0].weight': 'must be 0 to 1000',
      'origins[0].node_ids': '`x` is not a number',
      'origins[1].address': 'is needed',
      'health_check.interval_sec': '`soon` is not a whole number',
    });
    expect(read(pool, STORED, () => ({ origins: [] })).mistakes).toEqual({ origins: 'is needed' });
    expect(read(pool, {}, (texts) => texts).mistakes).toEqual({ origins: 'is needed' });
  });

  test('reads a map by its keys, each of them once', () => {
    const stored = { codes: [502], content: { '0': 'any', '502': 'gateway' } };
    const change = (key: string) =>
      read(pages, stored, (texts) => {
        const [any, gateway] = entriesOf(texts, 'content');
        return { content: [any!, typed(gateway!, { key }), entryOf(fieldOf(pages, 'content'))] };
      });
    expect(change('503').mistakes).toEqual({ 'content[2].key': 'is needed' });
    expect(change('0').mistakes).toMatchObject({ 'content[1].key': 'is there twice' });
    expect(change('700').mistakes).toMatchObject({
      'content[1].key': 'must be a status code from 400 to 599, or 0 for the fallback',
    });
    const { values } = read(pages, stored, (texts) => {
      const [any, gateway] = entriesOf(texts, 'content');
      return { content: [any!, typed(gateway!, { key: '503' })] };
    });
    expect(values).toEqual({ content: { '0': 'any', '503': 'gateway' } });
  });
});

describe('the form of conditions', () => {
  const waf = rules.waf.common;
  const STORED_CONDITIONS = {
    methods: ['POST'],
    asns: { includes: [64_496, 64_497] },
    verified_bot: false,
    cookies: [{ name: 'session', op: 'absent', values: [], ignore_case: false }],
  };
  const inner = (texts: FormTexts, name: string): FormEntry => texts[name] as FormEntry;
  const conditionsOf = (texts: FormTexts): FormEntry => inner(texts, 'conditions');

  test('has a control for each member', () => {
    const kinds = fieldOf(waf, 'conditions').fields.map(({ name, kind }) => `${name}: ${kind}`);
    expect(kinds).toEqual([
      'methods: texts',
      'except_methods: texts',
      'schemes: texts',
      'ips: object',
      'countries: object',
      'asns: object',
      'bot_kinds: object',
      'verified_bot: choice',
      'ja4: object',
      'user_agents: object',
      'tags: object',
      'headers: objects',
      'query: objects',
      'cookies: objects',
    ]);
    const texts = textsOf(waf, { conditions: STORED_CONDITIONS });
    expect(conditionsOf(texts).texts).toMatchObject({
      methods: 'POST',
      asns: { texts: { includes: '64496, 64497', excludes: '' } },
      verified_bot: 'false',
      cookies: [{ texts: { name: 'session', op: 'absent', values: '', ignore_case: false } }],
    });
  });

  test('leaves out what is empty, and sends no conditions once nothing is left', () => {
    const values = (change: FormTexts): unknown =>
      read(waf, { conditions: STORED_CONDITIONS }, (texts) => ({
        conditions: typed(conditionsOf(texts), change),
      })).values['conditions'];
    const stored = conditionsOf(textsOf(waf, { conditions: STORED_CONDITIONS }));
    expect(values({})).toBeUndefined();
    expect(values({ methods: '' })).toEqual({ ...STORED_CONDITIONS, methods: undefined });
    expect(Object.keys(values({ methods: '' }) as object)).not.toContain('methods');
    expect(values({ verified_bot: '' })).not.toHaveProperty('verified_bot');
    expect(values({ verified_bot: 'true' })).toMatchObject({ verified_bot: true });
    const asns = typed(inner(stored.texts, 'asns'), { includes: '', excludes: '64500' });
    expect(values({ asns })).toMatchObject({ asns: { excludes: [64_500] } });
    const noAsns = typed(inner(stored.texts, 'asns'), { includes: '' });
    expect(values({ asns: noAsns, cookies: [], methods: '', verified_bot: '' })).toEqual({});
  });

  test('of a rule without them reads what was typed, and names a mistake at its control', () => {
    const header = typed(entryOf(fieldOf(fieldOf(waf, 'conditions').fields, 'headers')), {
      name: 'accept',
      op: 'contains',
      values: 'json\nxml',
    });
    const change = (more: FormTexts) =>
      read(waf, {}, (texts) => ({ conditions: typed(conditionsOf(texts), more) }));
    expect(change({ headers: [header] }).values).toEqual({
      conditions: { headers: [{ name: 'accept', op: 'contains', values: ['json', 'xml'] }] },
    });
    const { mistakes } = change({ headers: [typed(header, { op: '' })] });
    expect(mistakes).toEqual({ 'conditions.headers[0].op': 'is needed' });
    const asns = typed(inner(conditionsOf(textsOf(waf, {})).texts, 'asns'), { includes: 'x' });
    expect(change({ asns }).mistakes).toEqual({ 'conditions.asns.includes': '`x` is not a number' });
  });
});

describe('a refusal of the server', () => {
  const mistakes = (error: string, fields: readonly FormField[], object: object) =>
    Object.fromEntries(
      mistakesOf(error, fields, textsOf(fields, object as Readonly<Record<string, unknown>>)),
    );

  test('is shown at the innermost part of the form that it names', () => {
    const error =
      'origins[1].address: must be a host; write `a`; origins[0].node_ids[2]: must be at least 1; health_check.path: must begin with `/`; origins: must have an origin; origins[1].shade: is unknown; priority: is taken';
    expect(mistakes(error, pool, STORED)).toEqual({
      'origins[1].address': 'must be a host; write `a`',
      'origins[0].node_ids': '[2]: must be at least 1',
      'health_check.path': 'must begin with `/`',
      origins: 'must have an origin',
      'origins[1]': '.shade: is unknown',
      '': 'priority: is taken',
    });
  });

  test('of an entry of a map is shown at the entry with that key', () => {
    const error = 'content["502"]: must be shorter; content["404"]: is unknown';
    expect(mistakes(error, pages, { content: { '0': 'any', '502': 'gateway' } })).toEqual({
      'content[1]': 'must be shorter',
      content: '["404"]: is unknown',
    });
  });
});

test('a schema of a body is as it was when another field of its gateway changes', () => {
  const stored = {
    name: 'orders',
    auth: { require: 'any', mtls: { ca_pem: 'PEM' } },
    operations: [
      {
        methods: ['POST'],
        path: '/orders',
        body: {
          required: true,
          content: [
            { type: 'application/json', schema: { type: 'object', required: ['item'], minProperties: 1 } },
            { type: 'text/csv' },
          ],
        },
      },
    ],
    validation: { on_invalid: 'log', on_uninspected: 'block', body_cap_kb: 64 },
  };
  const { values, mistakes } = read(rules.gateway.fields, stored, () => ({ name: 'shop' }));
  expect(mistakes).toEqual({});
  expect({ ...stored, ...values, name: stored.name }).toMatchObject(stored);
  const path = (before: FormTexts): FormTexts => {
    const [first] = entriesOf(before, 'operations');
    return { operations: [typed(first!, { path: '/orders/new' })] };
  };
  const changed = read(rules.gateway.fields, stored, path);
  expect(changed.mistakes).toEqual({});
  expect(changed.values['operations']).toMatchObject([{ ...stored.operations[0], path: '/orders/new' }]);
});
