/** The bunny.net importer: what it claims as carried over decides as the documentation of edge rules says. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { importBunny } from '../../../../../src/workbench/importers/bunny/import-bunny.ts';
import { checkCase, type ProductCase } from '../../../../support/importers/product-cases.ts';

const OPTIONS = { domain: null, origin: 'origin.example.net' };

function zone(rules: readonly object[], more: object = {}): object {
  return {
    Name: 'example',
    OriginUrl: 'https://origin.example.org',
    Hostnames: [{ Value: 'example.b-cdn.net' }, { Value: 'cdn.example.com' }, { Value: 'www.example.com' }],
    AddHostHeader: false,
    EdgeRules: rules,
    ...more,
  };
}

/** A rule with one URL trigger. */
function rule(
  action: number | string,
  patterns: readonly string[],
  parameter = '',
  more: object = {},
): object {
  const triggers = [{ Type: 0, PatternMatches: patterns, PatternMatchingType: 0 }];
  return {
    ActionType: action,
    ActionParameter1: parameter,
    Triggers: triggers,
    TriggerMatchingType: 0,
    Enabled: true,
    ...more,
  };
}

/** A rule with triggers of other types. */
function triggered(
  action: number,
  triggers: readonly (readonly [number, readonly string[], number?])[],
  matching = 0,
): object {
  return rule(action, [], '', {
    Triggers: triggers.map(([Type, PatternMatches, type = 0]) => ({
      Type,
      PatternMatches,
      PatternMatchingType: type,
    })),
    TriggerMatchingType: matching,
  });
}

/** A rule that blocks by the value of a header (1) or a cookie (10). */
function named(
  type: number,
  name: string,
  patterns: readonly string[],
  matching = 0,
  more: object = {},
): object {
  const trigger = { Type: type, Parameter1: name, PatternMatches: patterns, PatternMatchingType: matching };
  return rule(4, [], '', { Triggers: [trigger], ...more });
}

/** Every zone has its origin as the first entry. */
const CASES: readonly ProductCase[] = [
  {
    name: 'an admin area that is blocked on one host',
    documents: [zone([rule(4, ['https://cdn.example.com/wp-admin/*'])])],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['http://cdn.example.com/wp-admin/x', 'forward'],
      ['https://cdn.example.com/wp-admin/x', 'block'],
      ['https://www.example.com/wp-admin/x', 'forward'],
      ['https://cdn.example.com/wp-admin', 'forward'],
    ],
  },
  {
    name: 'paths',
    documents: [zone([rule(4, ['/private/*', '/exact'])])],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://cdn.example.com/private/a/b', 'block'],
      ['https://www.example.com/exact?x=1', 'block'],
      ['https://cdn.example.com/exact/x', 'forward'],
    ],
  },
  {
    name: 'patterns that begin with a star',
    documents: [zone([rule(4, ['*.php', '*/internal/*']), rule(4, ['*example*'])])],
    outcomes: ['exact', 'exact', 'not_carried'],
    decisions: [
      ['https://cdn.example.com/a/b.php', 'block'],
      ['https://cdn.example.com/a/internal/x', 'block'],
      ['https://cdn.example.com/b.phps', 'forward'],
      ['https://cdn.example.com/internal', 'forward'],
    ],
  },
  {
    name: 'countries and addresses, one of which is enough',
    documents: [
      zone([
        triggered(4, [
          [4, ['RU', 'by']],
          [5, ['203.0.113.0/24', '198.51.*']],
        ]),
      ]),
    ],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/', country: 'BY', ip: '192.0.2.1' }, 'block'],
      [{ url: 'https://cdn.example.com/', ip: '203.0.113.9' }, 'block'],
      [{ url: 'https://cdn.example.com/', ip: '198.51.7.7' }, 'block'],
      [{ url: 'https://cdn.example.com/', ip: '192.0.2.1', country: 'DE' }, 'forward'],
    ],
  },
  {
    name: 'all triggers together',
    documents: [
      zone([
        triggered(
          4,
          [
            [0, ['/pay/*']],
            [4, ['DE', 'AT'], 2],
          ],
          1,
        ),
      ]),
    ],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/pay/x', country: 'US' }, 'block'],
      [{ url: 'https://cdn.example.com/pay/x', country: 'DE' }, 'forward'],
      [{ url: 'https://cdn.example.com/x', country: 'US' }, 'forward'],
    ],
  },
  {
    name: 'none of the triggers',
    documents: [
      zone([
        triggered(
          4,
          [
            [0, ['/open/*']],
            [5, ['192.0.2.0/24']],
          ],
          2,
        ),
      ]),
    ],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/x', ip: '203.0.113.1' }, 'block'],
      [{ url: 'https://cdn.example.com/open/x', ip: '203.0.113.1' }, 'forward'],
      [{ url: 'https://cdn.example.com/x', ip: '192.0.2.9' }, 'forward'],
    ],
  },
  {
    name: 'extensions',
    documents: [zone([triggered(4, [[3, ['exe', '.msi']]])])],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://cdn.example.com/a.exe', 'block'],
      ['https://cdn.example.com/b/c.MSI', 'block'],
      ['https://cdn.example.com/exe', 'forward'],
    ],
  },
  {
    name: 'triggers without an equivalent',
    documents: [
      zone([
        triggered(4, [[1, ['x']]]),
        triggered(4, [[6, ['*a=b*']]]),
        triggered(4, [[9, ['GET POST']]]),
        triggered(4, [[7, ['50']]]),
        triggered(4, [[99, ['x']]]),
      ]),
    ],
    outcomes: ['exact', 'not_carried', 'not_carried', 'not_carried', 'not_carried', 'not_carried'],
    decisions: [['https://cdn.example.com/?a=b', 'forward']],
  },
  {
    name: 'https for every host',
    documents: [zone([triggered(0, [])])],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['http://cdn.example.com/a?b=c', '301 https://cdn.example.com/a?b=c'],
      ['http://www.example.com/', '301 https://www.example.com/'],
      ['https://www.example.com/', 'forward'],
    ],
  },
  {
    name: 'https for some paths',
    documents: [zone([rule('ForceSSL', ['/secure/*'])])],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['http://cdn.example.com/secure/x', '301 https://cdn.example.com/secure/x'],
      ['http://cdn.example.com/x', 'forward'],
    ],
  },
  {
    name: 'redirects',
    documents: [
      zone([
        rule(1, ['/old'], 'https://www.example.com/new', { ActionParameter2: '302' }),
        rule(1, ['/older'], 'https://www.example.com/new'),
        rule(1, ['/u/*'], 'https://www.example.com/%{Url.Path}', { ActionParameter2: '301' }),
      ]),
    ],
    outcomes: ['exact', 'exact', 'differs', 'not_carried'],
    decisions: [
      ['https://cdn.example.com/old?x', '302 https://www.example.com/new'],
      ['https://cdn.example.com/older', '301 https://www.example.com/new'],
      ['https://cdn.example.com/u/x', 'forward'],
    ],
  },
  {
    name: 'a block behind a redirect',
    documents: [
      zone([
        rule(1, ['/a/*'], 'https://x.example.com/', { ActionParameter2: '301' }),
        rule(4, ['/a/secret']),
        rule(4, ['/b']),
      ]),
    ],
    outcomes: ['exact', 'exact', 'differs', 'exact'],
    decisions: [
      ['https://cdn.example.com/a/x', '301 https://x.example.com/'],
      ['https://cdn.example.com/b', 'block'],
    ],
  },
  {
    name: 'the order of OrderIndex',
    documents: [
      zone([
        rule(1, ['/p'], 'https://x.example.com/two', { ActionParameter2: '301', OrderIndex: 2 }),
        rule(1, ['/p'], 'https://x.example.com/one', { ActionParameter2: '301', OrderIndex: 1 }),
      ]),
    ],
    outcomes: ['exact', 'exact', 'exact'],
    decisions: [['https://cdn.example.com/p', '301 https://x.example.com/one']],
  },
  {
    name: 'other origins',
    documents: [
      zone([
        rule(2, ['/api/*'], 'http://api.example.org:8080/'),
        rule(2, ['/v/*'], 'https://api.example.org/base'),
      ]),
    ],
    outcomes: ['exact', 'exact', 'not_carried'],
    decisions: [
      ['https://cdn.example.com/api/x', 'forward http://api.example.org:8080'],
      ['https://cdn.example.com/v/x', 'forward https://origin.example.org:443'],
    ],
  },
  {
    name: 'times in the cache',
    documents: [
      zone([rule(3, ['/img/*'], '86400'), rule(3, ['/img/live/*'], '0'), rule(16, ['*.css'], '60')]),
    ],
    outcomes: ['exact', 'differs', 'differs', 'differs'],
    decisions: [
      ['https://cdn.example.com/img/a.png', 'cache force 86400'],
      ['https://cdn.example.com/img/live/a.png', 'cache bypass'],
      ['https://cdn.example.com/a.css', 'cache standard'],
    ],
  },
  {
    name: 'the query in the cache',
    documents: [zone([rule(11, ['/static/*'])])],
    outcomes: ['exact', 'differs'],
    decisions: [['https://cdn.example.com/static/a?v=1', 'forward /static/a']],
  },
  {
    name: 'actions without an equivalent, and disabled rules',
    documents: [
      zone([
        rule(5, ['/*'], 'X-A', { ActionParameter2: 'b' }),
        rule(6, ['/*'], 'X-A'),
        rule(14, ['/*'], '404'),
        rule(8, ['/*']),
        rule(77, ['/*']),
        rule(4, ['/*'], '', { Enabled: false }),
      ]),
    ],
    outcomes: ['exact', 'differs', 'not_carried', 'not_carried', 'not_carried', 'not_carried'],
    decisions: [['https://cdn.example.com/x', 'response set X-A: b']],
  },
  {
    name: 'more actions in one rule',
    documents: [
      zone([
        rule(3, ['/a/*'], '60', {
          ExtraActions: [
            { ActionType: 5, ActionParameter1: 'X' },
            { ActionType: 2, ActionParameter1: 'https://b.example.org' },
          ],
        }),
      ]),
    ],
    outcomes: ['exact', 'differs', 'not_carried', 'exact'],
    decisions: [['https://cdn.example.com/a/x', 'forward https://b.example.org:443']],
  },
  {
    name: 'lists of the pull zone',
    documents: [
      zone([], {
        BlockedCountries: ['KP'],
        BlockedIps: ['203.0.113.7', '2001:db8::/32'],
        AddHostHeader: true,
      }),
    ],
    outcomes: ['exact', 'exact', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/', country: 'KP' }, 'block'],
      [{ url: 'https://cdn.example.com/', ip: '2001:db8::7' }, 'block'],
      ['https://cdn.example.com/', 'forward https://origin.example.org:443'],
    ],
  },
  {
    name: 'edge rules and an origin with a path, and Lua patterns',
    documents: [
      zone([rule(4, ['pattern:^/a%d+$']), rule(4, ['/ok'])], {
        OriginUrl: 'https://origin.example.org/base',
      }),
    ],
    outcomes: ['not_carried', 'not_carried', 'exact'],
    decisions: [
      ['https://cdn.example.com/ok', 'block'],
      ['https://cdn.example.com/a1', 'forward'],
    ],
  },
  {
    name: 'guards whose triggers have no filter',
    documents: [
      zone([
        triggered(
          4,
          [
            [0, ['/private/*']],
            [1, ['X-Key secret'], 2],
          ],
          1,
        ),
        triggered(4, [[1, ['User-Agent *evil*']]]),
        rule(9, ['/tokens/*']),
      ]),
    ],
    outcomes: ['exact', 'closed', 'not_carried', 'closed'],
    decisions: [
      ['https://www.example.com/private/x', 'block'],
      ['https://www.example.com/tokens/x', 'block'],
      ['https://www.example.com/', 'forward'],
    ],
  },
  {
    name: 'a zone with token authentication, which a rule switches off',
    documents: [zone([rule(8, ['/public/*'])], { ZoneSecurityEnabled: true, BlockRootPathAccess: true })],
    outcomes: ['exact', 'exact', 'closed', 'not_carried'],
    decisions: [
      ['https://www.example.com/', 'block'],
      ['https://www.example.com/x', 'block'],
      ['https://www.example.com/public/x', 'forward'],
    ],
  },
  {
    name: 'methods',
    documents: [zone([triggered(4, [[9, ['POST', 'put']]])])],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/', method: 'POST' }, 'block'],
      [{ url: 'https://cdn.example.com/', method: 'PUT' }, 'block'],
      ['https://cdn.example.com/', 'forward'],
    ],
  },
  {
    name: 'every method but some',
    documents: [zone([triggered(4, [[9, ['GET', 'HEAD'], 2]])])],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/', method: 'POST' }, 'block'],
      [{ url: 'https://cdn.example.com/', method: 'HEAD' }, 'forward'],
    ],
  },
  {
    name: 'headers that refuse, whose case counts for nothing',
    documents: [zone([named(1, 'User-Agent', ['*evil*', 'bad']), named(1, 'X-Version', ['1.*'])])],
    outcomes: ['exact', 'differs', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/', agent: 'an EVIL one' }, 'block'],
      [{ url: 'https://cdn.example.com/', agent: 'BAD' }, 'block'],
      [{ url: 'https://cdn.example.com/', agent: 'bad one' }, 'forward'],
      [{ url: 'https://cdn.example.com/', headers: { 'x-version': ['2', '1.4'] } }, 'block'],
      [{ url: 'https://cdn.example.com/', headers: { 'x-version': '11' } }, 'forward'],
      ['https://cdn.example.com/', 'forward'],
    ],
  },
  {
    name: 'headers that let requests in, whose case counts',
    documents: [
      zone([named(1, 'X-Key', ['secret'], 2), named(1, 'X-Trace', ['*'], 0, { TriggerMatchingType: 2 })]),
    ],
    outcomes: ['exact', 'differs', 'exact'],
    decisions: [
      [{ url: 'https://cdn.example.com/', headers: { 'x-key': 'secret', 'x-trace': '' } }, 'forward'],
      [{ url: 'https://cdn.example.com/', headers: { 'x-key': 'Secret', 'x-trace': '1' } }, 'block'],
      [{ url: 'https://cdn.example.com/', headers: { 'x-key': 'secret' } }, 'block'],
      ['https://cdn.example.com/', 'block'],
    ],
  },
  {
    name: 'cookies',
    documents: [zone([named(10, 'role', ['guest']), named(10, 'a b', ['x']), named(10, 'c', [''])])],
    outcomes: ['exact', 'differs', 'not_carried', 'not_carried'],
    decisions: [
      [{ url: 'https://cdn.example.com/', headers: { cookie: 'x=y; role=Guest' } }, 'block'],
      [{ url: 'https://cdn.example.com/', headers: { cookie: 'Role=guest' } }, 'forward'],
      ['https://cdn.example.com/', 'forward'],
    ],
  },
  {
    name: 'headers that rules set',
    documents: [
      zone([
        rule(6, ['/a/*'], 'X-Visitor', { ActionParameter2: '%{User.IP} {{ hostname }} $' }),
        rule(6, ['/a/*'], 'X-Agent', { ActionParameter2: '%{RequestHeaders.User-Agent}' }),
        rule(6, ['/a/*'], 'Host', { ActionParameter2: 'x' }),
        rule(5, ['/a/*'], 'X-Country', { ActionParameter2: '%{User.CountryCode}' }),
      ]),
    ],
    outcomes: ['exact', 'exact', 'not_carried', 'not_carried', 'differs'],
    decisions: [
      [
        { url: 'https://cdn.example.com/a/b', ip: '192.0.2.1' },
        'request set X-Visitor: 192.0.2.1 cdn.example.com $',
      ],
      [{ url: 'https://cdn.example.com/a/b', country: 'DE' }, 'response set X-Country: DE'],
      ['https://cdn.example.com/b', 'request '],
    ],
  },
  {
    name: 'a zone that takes no POST, and one whose token a header switches off',
    documents: [
      zone([{ ...named(1, 'X-Open', ['yes']), ActionType: 8 }], {
        BlockPostRequests: true,
        ZoneSecurityEnabled: true,
      }),
    ],
    outcomes: ['exact', 'exact', 'closed', 'not_carried'],
    decisions: [
      [{ url: 'https://www.example.com/', method: 'POST', headers: { 'x-open': 'yes' } }, 'block'],
      [{ url: 'https://www.example.com/', headers: { 'x-open': 'yes' } }, 'forward'],
      [{ url: 'https://www.example.com/', headers: { 'x-open': 'YES' } }, 'block'],
    ],
  },
  {
    name: 'one page of a list of zones',
    documents: [{ Items: [zone([rule(4, ['/x'])])], CurrentPage: 0, TotalItems: 1, HasMoreItems: false }],
    outcomes: ['exact', 'exact'],
    decisions: [['https://www.example.com/x', 'block']],
  },
];

test('there are 30 configurations', () => {
  expect(CASES.length).toBe(30);
});

test.each(CASES)('$name', (one) => {
  checkCase(one, (files) => importBunny(files, OPTIONS));
});

test('a list of edge rules alone needs the domain', () => {
  const files = [{ name: 'rules.json', text: JSON.stringify([rule(4, ['/x']), rule(0, ['/*'])]) }];
  expect(importBunny(files, OPTIONS)).toMatchObject({
    ok: false,
    mistakes: [{ remedy: 'name it: --domain example.com' }],
  });
  expect(importBunny(files, { ...OPTIONS, domain: 'example.com' })).toMatchObject({
    ok: true,
    domain: 'example.com',
  });
});

test('any input is translated or refused, and nothing is thrown', () => {
  const trigger = fc.record({
    Type: fc.oneof(fc.integer({ min: -1, max: 12 }), fc.anything()),
    PatternMatches: fc.array(
      fc.oneof(fc.string(), fc.constantFrom('/a*', '*.b', 'https://x.example.com/*', '10.*', 'DE')),
    ),
    PatternMatchingType: fc.integer({ min: 0, max: 3 }),
  });
  const any = fc.record({
    ActionType: fc.oneof(fc.integer({ min: -1, max: 20 }), fc.anything()),
    ActionParameter1: fc.anything(),
    Triggers: fc.oneof(fc.array(trigger, { maxLength: 4 }), fc.anything()),
    TriggerMatchingType: fc.integer({ min: 0, max: 3 }),
    ExtraActions: fc.anything(),
  });
  fc.assert(
    fc.property(fc.array(any, { maxLength: 4 }), fc.object(), (rules, more) => {
      const text = JSON.stringify({ ...more, ...zone(rules) });
      expect(importBunny([{ name: 'x', text }], OPTIONS)).toHaveProperty('ok', true);
    }),
    { numRuns: 400 },
  );
  fc.assert(
    fc.property(fc.oneof(fc.json(), fc.string()), (text) => void importBunny([{ name: 'x', text }], OPTIONS)),
  );
});

test.each([
  ['an array', [zone([]), zone([], { Name: 'second' })]],
  ['a page', { Items: [zone([]), zone([], { Name: 'second' })] }],
])('several pull zones in %s are refused by name', (_, document) => {
  const result = importBunny([{ name: 'a.json', text: JSON.stringify(document) }], OPTIONS);
  expect(!result.ok && result.mistakes[0]!.message).toBe(
    'the files have 2 pull zones (`example`, `second`), and a file is made of one',
  );
});
