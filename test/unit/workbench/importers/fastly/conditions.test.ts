/** Conditions of Fastly on methods, headers, cookies and parameters, header objects and keys of counts hold in the imported file. */
import { expect, test } from 'vitest';
import { importFastly } from '../../../../../src/workbench/importers/fastly/import-fastly.ts';
import { OPTIONS, refusing, service } from '../../../../support/importers/fastly-documents.ts';
import {
  type CaseRequest,
  checkCase,
  type ProductCase,
} from '../../../../support/importers/product-cases.ts';

/** A statement under which requests are refused, its outcome, requests that meet it and requests that do not. */
interface ConditionCase {
  readonly statement: string;
  readonly outcome: 'exact' | 'differs' | 'closed' | 'not_carried';
  readonly blocked: readonly Partial<CaseRequest>[];
  readonly passed: readonly Partial<CaseRequest>[];
  /** Custom VCL beside it. */
  readonly vcl?: string;
}

const HOME = 'https://www.example.com/';
const header = (name: string, value: string | readonly string[]): Partial<CaseRequest> => ({
  headers: { [name]: value },
});
const query = (text: string): Partial<CaseRequest> => ({ url: `${HOME}?${text}` });
const plain: Partial<CaseRequest> = {};
const other: Partial<CaseRequest> = { url: `${HOME}other` };

const CASES: readonly ConditionCase[] = [
  {
    statement: 'req.method == "POST"',
    outcome: 'exact',
    blocked: [{ method: 'POST' }],
    passed: [plain, { method: 'post' }],
  },
  {
    statement: 'req.request != "GET" && req.request != "HEAD"',
    outcome: 'exact',
    blocked: [{ method: 'POST' }],
    passed: [plain, { method: 'HEAD' }],
  },
  {
    statement: 'req.method !~ "^(GET|HEAD)$"',
    outcome: 'exact',
    blocked: [{ method: 'PUT' }],
    passed: [plain, { method: 'HEAD' }],
  },
  {
    statement: 'req.url.path == "/" && req.method ~ "P"',
    outcome: 'closed',
    blocked: [plain, { method: 'POST' }],
    passed: [other],
  },
  {
    statement: 'req.protocol == "http"',
    outcome: 'exact',
    blocked: [{ url: 'http://www.example.com/' }],
    passed: [plain],
  },
  {
    statement: '!req.is_ssl',
    outcome: 'exact',
    blocked: [{ url: 'http://www.example.com/' }],
    passed: [plain],
  },
  {
    statement: '!req.http.Fastly-SSL',
    outcome: 'exact',
    blocked: [{ url: 'http://www.example.com/' }],
    passed: [plain],
  },
  // A header alone: an empty one counts where that refuses more requests.
  {
    statement: 'req.http.X-Bad',
    outcome: 'exact',
    blocked: [header('x-bad', '1'), header('x-bad', ''), header('X-BAD', '1')],
    passed: [plain],
  },
  {
    statement: '!req.http.Authorization',
    outcome: 'exact',
    blocked: [plain, header('authorization', '')],
    passed: [header('authorization', 'Basic x')],
  },
  {
    statement: 'req.http.User-Agent == "evil"',
    outcome: 'exact',
    blocked: [{ agent: 'evil' }],
    passed: [plain, { agent: 'Evil' }, { agent: 'evil2' }],
  },
  {
    statement: 'req.http.User-Agent != "good"',
    outcome: 'exact',
    blocked: [plain, { agent: '' }, { agent: 'Good' }],
    passed: [{ agent: 'good' }],
  },
  {
    statement: 'req.http.User-Agent == ""',
    outcome: 'exact',
    blocked: [plain, { agent: '' }],
    passed: [{ agent: 'x' }],
  },
  {
    statement: 'req.http.User-Agent != ""',
    outcome: 'exact',
    blocked: [plain, { agent: 'x' }],
    passed: [{ agent: '' }],
  },
  {
    statement: 'req.http.User-Agent ~ "curl"',
    outcome: 'exact',
    blocked: [{ agent: 'a curl/8' }],
    passed: [plain, { agent: 'CURL' }],
  },
  {
    statement: 'req.http.User-Agent ~ "(?i)^curl/"',
    outcome: 'exact',
    blocked: [{ agent: 'CURL/8' }],
    passed: [plain, { agent: 'a curl/8' }],
  },
  {
    statement: 'req.http.User-Agent ~ "(?i)(scrapy|curl/[0-9]+)$"',
    outcome: 'exact',
    blocked: [{ agent: 'CURL/8' }, { agent: 'x scrapy' }],
    passed: [plain, { agent: 'curl/8.1' }],
  },
  {
    statement: 'req.http.User-Agent ~ "^$"',
    outcome: 'exact',
    blocked: [plain, { agent: '' }],
    passed: [{ agent: 'x' }],
  },
  {
    statement: 'req.http.User-Agent !~ "Mozilla"',
    outcome: 'exact',
    blocked: [plain, { agent: 'mozilla' }],
    passed: [{ agent: 'Mozilla/5.0' }],
  },
  {
    statement: 'req.url.path == "/" && req.http.User-Agent ~ "(?!x)"',
    outcome: 'closed',
    blocked: [plain],
    passed: [other],
  },
  {
    statement: 'req.http.X-Key != "secret"',
    outcome: 'differs',
    blocked: [plain, header('x-key', 'Secret'), header('x-key', '')],
    passed: [header('x-key', 'secret')],
  },
  {
    statement: 'req.http.Cookie:role == "guest"',
    outcome: 'exact',
    blocked: [header('cookie', 'a=b; role=guest')],
    passed: [plain, header('cookie', 'Role=guest'), header('cookie', 'role=guests')],
  },
  {
    statement: '!req.http.cookie:sid',
    outcome: 'exact',
    blocked: [plain, header('cookie', 'sid='), header('cookie', 'sids=1')],
    passed: [header('cookie', 'a=b; sid=1')],
  },
  {
    statement: 'subfield(req.http.Cookie, "role", ";") == "guest"',
    outcome: 'exact',
    blocked: [header('cookie', 'a=b; role=guest')],
    passed: [plain],
  },
  {
    statement: 'req.http.Cookie ~ "staff=1"',
    outcome: 'exact',
    blocked: [header('cookie', 'a=b; staff=1')],
    passed: [plain, header('cookie', 'staff=2')],
  },
  {
    statement: 'querystring.get(req.url, "debug") == "1"',
    outcome: 'differs',
    blocked: [query('debug=1'), query('a&debug=%31')],
    passed: [plain, query('debug=2'), query('debug')],
  },
  {
    statement: 'req.url.path == "/" && querystring.get(req.url, "q") ~ "%3[cC]"',
    outcome: 'closed',
    blocked: [plain, query('q=%3C')],
    passed: [other],
  },
  {
    statement: 'client.as.number == 64496',
    outcome: 'exact',
    blocked: [{ asn: 64496 }],
    passed: [plain, { asn: 64497 }],
  },
  {
    statement: 'client.geo.country_code ~ "^(RU|BY)$"',
    outcome: 'exact',
    blocked: [{ country: 'BY' }],
    passed: [plain, { country: 'DE' }],
  },
  {
    statement: 'tls.client.ja4 ~ "^t13d1516h2_"',
    outcome: 'exact',
    blocked: [{ ja4: 't13d1516h2_8daaf6152771_b186095e22b6' }],
    passed: [plain, { ja4: 't12d1516h2_8daaf6152771_b186095e22b6' }],
  },
  {
    statement: 'req.url.path == "/" && !req.http.X-Key',
    outcome: 'closed',
    vcl: 'sub vcl_recv { set req.http.x-key = "1"; }',
    blocked: [plain, header('x-key', '1')],
    passed: [other],
  },
  {
    statement: 'req.url.path == "/" && req.http.Fastly-Debug',
    outcome: 'closed',
    blocked: [plain, header('fastly-debug', '1')],
    passed: [other],
  },
];

test('there are 31 conditions', () => {
  expect(CASES.length).toBe(31);
});

test.each(CASES)('$statement', ({ statement, outcome, blocked, passed, vcl }) => {
  const at = (request: Partial<CaseRequest>): CaseRequest => ({ url: HOME, ...request });
  const vcls = vcl === undefined ? [] : [{ name: 'main', content: vcl }];
  checkCase(
    {
      name: statement,
      documents: [refusing(statement, { vcls })],
      outcomes: ['exact', outcome, ...vcls.map(() => 'not_carried' as const)],
      decisions: [
        ...blocked.map((request) => [at(request), 'block'] as const),
        ...passed.map((request) => [at(request), 'forward'] as const),
      ],
    },
    (files) => importFastly(files, OPTIONS),
  );
});

/** A header object of a request. */
function change(name: string, fields: object): object {
  return { name, type: 'request', action: 'set', dst: `http.${name}`, ignore_if_set: '0', ...fields };
}

const ACTIONS: readonly ProductCase[] = [
  {
    name: 'header objects',
    documents: [
      service({
        conditions: [{ name: 'c', statement: 'req.url.path == "/a"' }],
        headers: [
          change('X-B', { src: '"b"', priority: '20' }),
          change('X-IP', { src: 'client.ip', priority: '10' }),
          change('X-On', { src: '"https://" req.http.Host " $"', request_condition: 'c' }),
          change('X-Gone', { action: 'delete' }),
          change('X-If', { src: '"1"', ignore_if_set: '1' }),
        ],
      }),
    ],
    outcomes: ['exact', 'exact', 'exact', 'exact', 'exact', 'exact'],
    decisions: [
      [
        { url: `${HOME}a`, ip: '192.0.2.1' },
        'request set X-IP: 192.0.2.1, set X-B: b, set X-On: https://www.example.com $, remove X-Gone, set X-If: 1',
      ],
      [
        { url: HOME, ip: '192.0.2.1', headers: { 'x-if': '0' } },
        'request set X-IP: 192.0.2.1, set X-B: b, remove X-Gone',
      ],
    ],
  },
  {
    name: 'header objects of responses',
    documents: [
      service({
        headers: [
          {
            name: 'hsts',
            type: 'response',
            action: 'set',
            dst: 'http.Strict-Transport-Security',
            src: '"max-age=1"',
          },
          { name: 'vary', type: 'response', action: 'append', dst: 'http.Vary', src: '"Accept"' },
          { name: 'place', type: 'response', action: 'set', dst: 'http.X-C', src: 'client.geo.country_code' },
        ],
      }),
    ],
    outcomes: ['exact', 'exact', 'differs', 'differs'],
    decisions: [
      [
        { url: HOME, country: 'DE' },
        'response set Strict-Transport-Security: max-age=1, add Vary: Accept, set X-C: DE',
      ],
    ],
  },
  {
    name: 'header objects without an equivalent',
    documents: [
      service({
        conditions: [{ name: 'ok', statement: 'resp.status == 200', type: 'RESPONSE' }],
        headers: [
          change('X-R', { action: 'regex', src: 'req.url', regex: 'a', substitution: 'b' }),
          change('X-U', { src: 'regsub(req.url, "a", "b")' }),
          change('X-E', { src: '"a%20b"' }),
          change('Host', { src: '"x"' }),
          change('X-T', { type: 'cache', src: '"x"' }),
          { name: 'url', type: 'request', action: 'set', dst: 'url', src: '"/x"' },
          {
            name: 'late',
            type: 'response',
            action: 'set',
            dst: 'http.X',
            src: '"x"',
            response_condition: 'ok',
          },
          { name: 'once', type: 'response', action: 'set', dst: 'http.X', src: '"x"', ignore_if_set: 1 },
        ],
      }),
    ],
    outcomes: ['exact', ...Array.from({ length: 8 }, () => 'not_carried' as const)],
    decisions: [[HOME, 'request ']],
  },
  {
    name: 'rate limiters for other keys, of some methods',
    documents: [
      service({
        rate_limiters: [
          {
            name: 'key',
            rps_limit: 1,
            window_size: 1,
            client_key: ['client.ip', 'req.http.User-Agent'],
            http_methods: ['POST', 'PUT'],
          },
          { name: 'odd', rps_limit: 1, window_size: 1, client_key: ['req.url'] },
          { name: 'none', rps_limit: 1, window_size: 1, client_key: [] },
        ],
      }),
    ],
    outcomes: ['exact', 'differs', 'not_carried', 'not_carried'],
    decisions: [
      [{ url: HOME, method: 'POST', agent: 'a' }, 'forward'],
      [{ url: HOME, method: 'POST', agent: 'b' }, 'forward'],
      [{ url: HOME, method: 'GET', agent: 'a' }, 'forward'],
      [{ url: HOME, method: 'GET', agent: 'a' }, 'forward'],
      [{ url: HOME, method: 'PUT', agent: 'a' }, '429'],
    ],
  },
];

test.each(ACTIONS)('$name', (one) => {
  checkCase(one, (files) => importFastly(files, OPTIONS));
});
