/** Conditions of rules over the API, on a real server and both databases: writes, answers, tags of rules that exist. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RULE_TYPES, type RuleType, typePath } from '../../src/base/vocabulary/vocabulary.ts';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';
import { LEAST } from '../unit/rules/model/read.ts';

const CONDITIONS = {
  methods: ['POST'],
  ips: { excludes: ['192.0.2.1-192.0.2.9'] },
  asns: { includes: [64_496] },
  verified_bot: false,
  headers: [{ name: 'X-Api-Version', op: 'equals', values: ['1'] }],
  cookies: [{ name: 'session', op: 'absent' }],
};

const STORED = {
  ...CONDITIONS,
  headers: [{ name: 'x-api-version', op: 'equals', values: ['1'], ignore_case: false }],
  cookies: [{ name: 'session', op: 'absent', values: [], ignore_case: false }],
};

describe.each(testDatabases())('conditions on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  beforeAll(async () => {
    api = await startApi(database);
    subject = await addSubject(api);
  });
  afterAll(() => api.close());

  const path = (type: RuleType): string => `/${typePath(type)}/`;
  const make = async (type: RuleType, fields: object): Promise<number> => {
    const made = await subject.ask('POST', path(type), fields);
    expect(made.status, made.text).toBe(200);
    return made.body.id;
  };

  test.each(RULE_TYPES)('a rule of type %s has them, changes them whole, and loses them', async (type) => {
    const { ask } = subject;
    const bare = await ask('POST', path(type), LEAST[type]);
    expect(Object.keys(bare.body)).not.toContain('conditions');
    const emptied = await ask('POST', path(type), { ...LEAST[type], conditions: {} });
    expect(Object.keys(emptied.body)).toEqual(Object.keys(bare.body));

    const checked = await ask('POST', `${path(type)}?validate_only=true`, {
      ...LEAST[type],
      conditions: CONDITIONS,
    });
    expect(checked.status, checked.text).toBe(200);
    const made = await ask('POST', path(type), { ...LEAST[type], conditions: CONDITIONS });
    expect(made.body.conditions).toEqual(STORED);
    const one = `${path(type)}${made.body.id}`;
    expect((await ask('GET', one)).body.conditions).toEqual(STORED);

    const toggled = await ask('PUT', one, { priority: 7 });
    expect(toggled.body).toMatchObject({ priority: 7, conditions: STORED });
    const replaced = await ask('PUT', one, { conditions: { schemes: ['http'] } });
    expect(replaced.body.conditions).toEqual({ schemes: ['http'] });
    const removed = await ask('PUT', one, { conditions: {} });
    expect(removed.status, removed.text).toBe(200);
    expect(Object.keys(removed.body)).not.toContain('conditions');
    expect(Object.keys((await ask('GET', one)).body)).not.toContain('conditions');
  });

  test('a mistake in them is a 400 with its path, also where nothing is stored', async () => {
    const { ask } = subject;
    for (const query of ['', '?validate_only=true']) {
      const refused = await ask('POST', `/rules/waf/${query}`, {
        conditions: { headers: [{ name: 'a', op: 'equals', values: [] }], asns: { includes: [0] } },
      });
      expect(refused.status).toBe(400);
      expect(refused.text).toContain('conditions.asns.includes[0]: must be a whole number from 1 to');
      expect(refused.text).not.toContain('"stack"');
    }
    const unknown = await ask('POST', '/rules/waf/', { method: 'POST' });
    expect(unknown.text).toContain('write `conditions: { methods: [POST] }`');
  });

  test('a search of rules finds their texts', async () => {
    const id = await make('waf', {
      conditions: { headers: [{ name: 'x-needle', op: 'equals', values: ['haystack-7'] }] },
    });
    for (const q of ['haystack-7', 'x-needle']) {
      const found = await subject.ask('GET', `/rules/waf/?q=${q}`);
      expect(found.body.map((rule: { id: number }) => rule.id)).toEqual([id]);
    }
  });

  test('a tag names a rule of the domain that is evaluated before, and stays when that rule is deleted', async () => {
    const { ask } = subject;
    const print = await make('fingerprint', { match_ja4: ['t10*'], action: 'tag' });
    const bots = await make('bot_route', { bot_kinds: ['ccbot'], action: 'tag' });
    const tags = { includes: [`fingerprint/${print}`, `bot_route/${bots}`] };
    const waf = await make('waf', { conditions: { tags } });
    await make('bot_route', {
      bot_kinds: ['gptbot'],
      action: 'tag',
      conditions: { tags: { excludes: [`fingerprint/${print}`] } },
    });

    for (const [type, tag, message] of [
      [
        'waf',
        'bot_route/999999',
        'names no rule that tags requests, found `bot_route/999999`; name `fingerprint/',
      ],
      ['waf', 'ai', 'names no rule that tags requests'],
      ['waf', `fingerprint/${bots}`, 'names no rule that tags requests'],
      ['waf', `waf/${waf}`, 'names no rule that tags requests'],
      ['bot_route', `bot_route/${bots}`, 'is not evaluated before rules of type `bot_route`'],
      ['drop', `bot_route/${bots}`, 'must not be in a rule of type `drop`'],
    ] as const) {
      for (const query of ['', '?validate_only=true']) {
        const refused = await ask('POST', `${path(type)}${query}`, {
          ...LEAST[type],
          conditions: { tags: { excludes: [tag] } },
        });
        expect([refused.status, refused.text]).toEqual([400, expect.stringContaining(message)]);
        expect(refused.text).toContain('conditions.tags.excludes[0]: ');
      }
    }

    const other = await addSubject(api);
    const foreign = await other.ask('POST', '/rules/waf/', { conditions: { tags } });
    expect([foreign.status, foreign.text]).toEqual([400, expect.stringContaining('names no rule')]);

    expect((await ask('DELETE', `${path('bot_route')}${bots}`)).status).toBe(200);
    const changed = await ask('PUT', `/rules/waf/${waf}`, { priority: 3 });
    expect(changed.body).toMatchObject({ priority: 3, conditions: { tags } });
    const moved = await ask('PUT', `/rules/waf/${waf}`, {
      conditions: { tags: { excludes: [`bot_route/${bots}`] } },
    });
    expect(moved.status, moved.text).toBe(200);
    const again = await ask('POST', '/rules/waf/', { conditions: { tags } });
    expect([again.status, again.text]).toEqual([400, expect.stringContaining(`bot_route/${bots}`)]);
    expect((await ask('PUT', `/rules/waf/${waf}`, { enabled: false })).status).toBe(200);
  });
});
