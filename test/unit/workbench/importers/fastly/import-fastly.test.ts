/** The Fastly importer: what it claims as carried over decides as Fastly's documentation says. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { importFastly } from '../../../../../src/workbench/importers/fastly/import-fastly.ts';
import { readStatement } from '../../../../../src/workbench/importers/fastly/read-statement.ts';
import { MAX_EXPRESSION_DEPTH } from '../../../../../src/workbench/importers/filter.ts';
import { BACKEND, OPTIONS, refusing, service } from '../../../../support/importers/fastly-documents.ts';
import { checkCase, type ProductCase } from '../../../../support/importers/product-cases.ts';

const ACL = {
  acls: [
    {
      name: 'office',
      id: '1',
      entries: [
        { ip: '192.0.2.0', subnet: 24 },
        { ip: '192.0.2.66', subnet: null, negated: '1' },
      ],
    },
    { name: 'unread', id: '2' },
    { name: 'apart', id: '3' },
  ],
  acl_entries: [{ acl_id: '3', ip: '2001:db8::', subnet: 32 }],
};

/** Every service has its backend as the first entry. */
const CASES: readonly ProductCase[] = [
  {
    name: 'a start of the URL',
    documents: [refusing('req.url ~ "^/admin/"')],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://www.example.com/admin/x?y=1', 'block'],
      ['https://www.example.com/admin', 'forward'],
      ['https://www.example.com/x?/admin/', 'forward'],
    ],
  },
  {
    name: 'a path that is equal',
    documents: [refusing('req.url.path == "/xmlrpc.php"')],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://www.example.com/xmlrpc.php?x=1', 'block'],
      ['https://www.example.com/xmlrpc.php/', 'forward'],
    ],
  },
  {
    name: 'a regex over the URL, which has the query too',
    documents: [refusing('req.url ~ "\\.(bak|sql)$"')],
    outcomes: ['exact', 'differs'],
    decisions: [
      ['https://www.example.com/a.sql', 'block'],
      ['https://www.example.com/sql', 'forward'],
    ],
  },
  {
    name: 'a regex over the path, without regard to case',
    documents: [refusing('req.url.path ~ "(?i)^/wp-"')],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://www.example.com/WP-login', 'block'],
      ['https://www.example.com/x/wp-', 'forward'],
    ],
  },
  {
    name: 'hosts',
    documents: [refusing('req.http.Host == "api.example.com" && req.url.path !~ "^/v1/"')],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://api.example.com/v2/', 'block'],
      ['https://api.example.com/v1/x', 'forward'],
      ['https://www.example.com/v2/', 'forward'],
    ],
  },
  {
    name: 'an ACL with an exception',
    documents: [refusing('req.url.path ~ "^/admin" && !(client.ip ~ office)', ACL)],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://www.example.com/admin', ip: '192.0.2.7' }, 'forward'],
      [{ url: 'https://www.example.com/admin', ip: '192.0.2.66' }, 'block'],
      [{ url: 'https://www.example.com/admin', ip: '203.0.113.1' }, 'block'],
      [{ url: 'https://www.example.com/', ip: '203.0.113.1' }, 'forward'],
    ],
  },
  {
    name: 'entries of an ACL in a list of their own',
    documents: [refusing('client.ip ~ apart', ACL)],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://www.example.com/', ip: '2001:db8:7::1' }, 'block'],
      [{ url: 'https://www.example.com/', ip: '192.0.2.7' }, 'forward'],
    ],
  },
  {
    name: 'an ACL whose entries are not in the file',
    documents: [refusing('client.ip ~ unread', ACL)],
    outcomes: ['exact', 'not_carried'],
    decisions: [[{ url: 'https://www.example.com/', ip: '192.0.2.7' }, 'forward']],
  },
  {
    name: 'countries',
    documents: [refusing('client.geo.country_code == "RU" || geoip.country_code == "BY"')],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://www.example.com/', country: 'BY' }, 'block'],
      [{ url: 'https://www.example.com/', country: 'DE' }, 'forward'],
    ],
  },
  {
    name: 'every country but one',
    documents: [refusing('client.geo.country_code != "DE" && req.url.path ~ "^/pay/"')],
    outcomes: ['exact', 'exact'],
    decisions: [
      [{ url: 'https://www.example.com/pay/x', country: 'US' }, 'block'],
      [{ url: 'https://www.example.com/pay/x', country: 'DE' }, 'forward'],
    ],
  },
  {
    name: 'an extension',
    documents: [refusing('req.url.ext == "php"')],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['https://www.example.com/a/b.php?x', 'block'],
      ['https://www.example.com/php', 'forward'],
    ],
  },
  {
    name: 'conditions without an equivalent',
    documents: [
      service({
        conditions: [
          { name: 'a', statement: 'req.url.qs ~ "curl"' },
          { name: 'b', statement: 'tls.client.ja3_md5 == "x"' },
        ],
        response_objects: ['a', 'b', 'missing'].map((name) => ({
          name,
          status: 403,
          request_condition: name,
        })),
      }),
    ],
    outcomes: ['exact', 'not_carried', 'not_carried', 'not_carried'],
    decisions: [['https://www.example.com/', 'forward']],
  },
  {
    name: 'functions and nested marks',
    documents: [
      refusing('!(req.url.path == "/a" || (req.url.path == "/b")) && std.tolower(req.http.X) == "y"'),
    ],
    outcomes: ['exact', 'differs'],
    decisions: [
      ['https://www.example.com/c', 'forward'],
      [{ url: 'https://www.example.com/c', headers: { x: 'Y' } }, 'block'],
      [{ url: 'https://www.example.com/a', headers: { x: 'y' } }, 'forward'],
    ],
  },
  {
    name: 'statuses of the edge',
    documents: [refusing('req.url.path == "/gone"', {}, { status: 410 })],
    outcomes: ['exact', 'exact'],
    decisions: [['https://www.example.com/gone', 'block 410']],
  },
  {
    name: 'other statuses',
    documents: [refusing('req.url.path == "/teapot"', {}, { status: '418', content: 'x' })],
    outcomes: ['exact', 'differs'],
    decisions: [['https://www.example.com/teapot', 'block 403']],
  },
  {
    name: 'a maintenance page, which refuses too',
    documents: [refusing('req.url.path == "/"', {}, { status: 503 })],
    outcomes: ['exact', 'exact'],
    decisions: [['https://www.example.com/', 'block 503']],
  },
  {
    name: 'https for every domain',
    documents: [service({ request_settings: [{ name: 'tls', force_ssl: '1', request_condition: '' }] })],
    outcomes: ['exact', 'exact'],
    decisions: [
      ['http://www.example.com/a?b', '301 https://www.example.com/a?b'],
      ['http://api.example.com/', '301 https://api.example.com/'],
      ['https://api.example.com/', 'forward'],
    ],
  },
  {
    name: 'requests that pass the cache',
    documents: [
      service({
        conditions: [{ name: 'c', statement: 'req.url.path ~ "^/cart"' }],
        request_settings: [
          { name: 'p', action: 'pass', request_condition: 'c' },
          { name: 'x', xff: 'append' },
        ],
        cache_settings: [{ name: 'long', ttl: '3600', cache_condition: '' }],
      }),
    ],
    outcomes: ['exact', 'exact', 'not_carried', 'differs'],
    decisions: [
      ['https://www.example.com/cart/1', 'cache bypass'],
      ['https://www.example.com/x', 'cache force 3600'],
    ],
  },
  {
    name: 'backends by condition',
    documents: [
      service({
        conditions: [
          { name: 'api', statement: 'req.http.host == "api.example.com"' },
          { name: 'geo', statement: 'client.geo.country_code == "DE"' },
        ],
        backends: [
          BACKEND,
          { name: 'api', address: '198.51.100.7', port: 8080, use_ssl: false, request_condition: 'api' },
          { name: 'de', address: '198.51.100.8', port: 80, request_condition: 'geo' },
          { name: 'second', address: '198.51.100.9', port: 80, request_condition: '' },
        ],
      }),
    ],
    outcomes: ['exact', 'exact', 'exact', 'not_carried'],
    decisions: [
      [{ url: 'https://www.example.com/', country: 'DE' }, 'forward http://198.51.100.8:80'],
      ['https://api.example.com/', 'forward http://198.51.100.7:8080'],
      ['https://www.example.com/', 'forward https://origin.example.org:443'],
    ],
  },
  {
    name: 'rate limiters',
    documents: [
      service({
        rate_limiters: [
          {
            name: 'all',
            rps_limit: 10,
            window_size: 1,
            client_key: ['client.ip'],
            penalty_box_duration: 2,
            action: 'response',
            response: { status: 429 },
          },
          { name: 'key', rps_limit: 10, window_size: 10, client_key: ['req.http.X-Key'], action: 'response' },
          { name: 'log', rps_limit: 10, window_size: 10, client_key: ['client.ip'], action: 'log_only' },
        ],
      }),
    ],
    outcomes: ['exact', 'differs', 'differs', 'not_carried'],
    decisions: [
      ...Array.from({ length: 10 }, () => ['https://www.example.com/', 'forward'] as const),
      ['https://www.example.com/', '429'],
    ],
  },
  {
    name: 'what custom VCL, headers and snippets do',
    documents: [
      service({
        vcls: [{ name: 'main', content: 'sub vcl_recv {}' }],
        snippets: [{ name: 's' }],
        headers: [{ name: 'h' }],
        gzips: [{ name: 'g' }],
        dictionaries: [{ name: 'd' }],
        logging_s3: [{ name: 'l' }],
      }),
    ],
    outcomes: [
      'exact',
      'not_carried',
      'not_carried',
      'not_carried',
      'not_carried',
      'not_carried',
      'not_carried',
    ],
    decisions: [['https://www.example.com/', 'forward https://origin.example.org:443']],
  },
  {
    name: 'a guard whose statement has no filter',
    documents: [refusing('req.url ~ "^/admin" && !digest.hash_md5(req.url)')],
    outcomes: ['exact', 'closed'],
    decisions: [
      ['https://www.example.com/admin/x', 'block'],
      ['https://www.example.com/', 'forward'],
    ],
  },
  {
    name: 'refusals of custom VCL',
    documents: [
      service({
        ...ACL,
        vcls: [
          {
            name: 'main',
            content: `acl staff { "192.0.2.0"/24; !"192.0.2.9"; } # error 403
sub vcl_recv {
  if (fastly.ff.visits_this_service == 0 && req.url ~ "^/admin" && req.http.Fastly-Client-IP !~ staff) {
    error 403 "no";
  } else if (req.url.path == "/token" && !req.http.Authorization) {
    error 600;
  } else {
    if (req.url.path == "/moved") { error 801 "Force SSL"; }
  }
  if (req.http.User-Agent ~ "evil") { error 403; }
}
sub check { if (req.url.path == "/sub") { error 401; } error 405; }
sub vcl_error { if (obj.status == 600) { set obj.status = 401; return(deliver); } if (obj.status == 801) { set obj.status = 301; } }
sub vcl_deliver { if (resp.status == 500) { error 503; } }`,
          },
        ],
        snippets: [
          {
            name: 's',
            type: 'recv',
            content: 'if (req.url ~ "^/office" && client.ip !~ office) {\n error 403;\n}',
          },
          { name: 'f', type: 'fetch', content: 'if (beresp.status == 500) { error 503; }' },
        ],
      }),
    ],
    outcomes: [
      'exact',
      'differs',
      'differs',
      'differs',
      'closed',
      'not_carried',
      'differs',
      'not_carried',
      'not_carried',
      'not_carried',
    ],
    decisions: [
      [{ url: 'https://www.example.com/admin', ip: '192.0.2.1' }, 'forward'],
      [{ url: 'https://www.example.com/admin', ip: '192.0.2.9' }, 'block'],
      ['https://www.example.com/admin', 'block'],
      ['https://www.example.com/token', 'block'],
      [{ url: 'https://www.example.com/token', headers: { authorization: 'x' } }, 'forward'],
      [{ url: 'https://www.example.com/', agent: 'very evil' }, 'block'],
      ['https://www.example.com/moved', 'forward'],
      ['https://www.example.com/sub', 'block'],
      ['https://www.example.com/office', 'block'],
      [{ url: 'https://www.example.com/office', ip: '192.0.2.1' }, 'forward'],
      ['https://www.example.com/', 'forward'],
    ],
  },
];

test('a refusal whose statement cannot be read counts as an opened path', () => {
  const files = [{ name: 'a.json', text: JSON.stringify(refusing('req.url ~')) }];
  const result = importFastly(files, OPTIONS);
  expect(result.ok && result.entries.at(-1)).toMatchObject({ outcome: 'not_carried', opened: true });
});

test('there are 23 configurations', () => {
  expect(CASES.length).toBe(23);
});

test.each(CASES)('$name', (one) => {
  checkCase(one, (files) => importFastly(files, OPTIONS));
});

test('two versions are refused', () => {
  const files = ['a', 'b'].map((name) => ({ name, text: JSON.stringify(service({})) }));
  expect(importFastly(files, OPTIONS)).toMatchObject({
    ok: false,
    mistakes: [{ remedy: 'import one at a time' }],
  });
});

test.each([
  ['req.url ~', 'the statement ends too early'],
  ['(req.url ~ "x"', 'the statement ends too early'],
  ['req.url ~ "x', 'unexpected `"x`'],
  ['req.url ~ "x" req.url', 'unexpected `req.url`'],
  ['', 'the statement ends too early'],
  ['&& a', 'unexpected `&&`'],
  ['!'.repeat(MAX_EXPRESSION_DEPTH + 2), `the statement is nested more than ${MAX_EXPRESSION_DEPTH} deep`],
  ['f(a', 'the statement ends too early'],
])('the statement %j is refused', (text, reason) => {
  expect(readStatement(text, { acls: new Map(), changed: new Set() })).toEqual({ ok: false, reason });
});

test('any input is translated or refused, and nothing is thrown', () => {
  const word = fc.constantFrom(
    ...'req.url req.url.path req.http.Host client.ip office ~ == != !~ && || ! ( ) "^/x" "/a" f( {"x"} true client.geo.country_code "DE" "(a+)+$" , 1'.split(
      ' ',
    ),
    '"',
    '{',
    '\u0000',
  );
  const statement = fc.array(word, { maxLength: 30 }).map((words) => words.join(' '));
  const named = fc.record({
    name: fc.constantFrom('c', 'd'),
    request_condition: fc.constantFrom('c', '', 'x'),
    status: fc.anything(),
    force_ssl: fc.constantFrom('1', 1, null),
    action: fc.constantFrom('pass', '', 'response'),
    ttl: fc.anything(),
    client_key: fc.anything(),
  });
  fc.assert(
    fc.property(statement, fc.array(named, { maxLength: 3 }), (text, objects) => {
      const document = service({
        conditions: [{ name: 'c', statement: text }],
        response_objects: objects,
        request_settings: objects,
        cache_settings: objects,
        rate_limiters: objects,
        ...ACL,
      });
      expect(importFastly([{ name: 'x', text: JSON.stringify(document) }], OPTIONS)).toHaveProperty(
        'ok',
        true,
      );
    }),
    { numRuns: 400 },
  );
  fc.assert(
    fc.property(
      fc.oneof(fc.json(), fc.string()),
      (text) => void importFastly([{ name: 'x', text }], OPTIONS),
    ),
  );
});
