/** Conditions of Cloudflare on methods, headers, cookies, parameters and networks hold in the imported file for the same requests. */
import { expect, test } from 'vitest';
import { importCloudflare } from '../../../../../src/workbench/importers/cloudflare/import-cloudflare.ts';
import { block, firewall, OPTIONS } from '../../../../support/importers/cloudflare-documents.ts';
import { type CaseRequest, checkCase } from '../../../../support/importers/product-cases.ts';

/** An expression of a rule that blocks, its outcome, requests that meet it and requests that do not. */
interface ConditionCase {
  readonly expression: string;
  readonly outcome: 'exact' | 'differs' | 'closed' | 'not_carried';
  readonly blocked: readonly Partial<CaseRequest>[];
  readonly passed: readonly Partial<CaseRequest>[];
}

const header = (name: string, value: string | readonly string[]): Partial<CaseRequest> => ({
  headers: { [name]: value },
});
const query = (text: string): Partial<CaseRequest> => ({ url: `https://example.com/?${text}` });
const method = (name: string): Partial<CaseRequest> => ({ method: name });
const agent = (text: string): Partial<CaseRequest> => ({ agent: text });
const plain: Partial<CaseRequest> = {};

const CASES: readonly ConditionCase[] = [
  // Methods.
  {
    expression: 'http.request.method eq "POST"',
    outcome: 'exact',
    blocked: [method('POST')],
    passed: [plain, method('post'), method('PUT')],
  },
  {
    expression: 'not http.request.method in {"GET" "HEAD"}',
    outcome: 'exact',
    blocked: [method('POST'), method('get')],
    passed: [method('GET'), method('HEAD')],
  },
  {
    expression: 'http.request.method ne "GET" and http.request.uri.path eq "/"',
    outcome: 'exact',
    blocked: [method('DELETE')],
    passed: [plain, { method: 'DELETE', url: 'https://example.com/x' }],
  },
  {
    expression: 'http.request.method eq "PUT" or http.request.method eq "PATCH"',
    outcome: 'exact',
    blocked: [method('PUT'), method('PATCH')],
    passed: [plain, method('POST')],
  },
  // The scheme.
  { expression: 'not ssl', outcome: 'exact', blocked: [{ url: 'http://example.com/' }], passed: [plain] },
  {
    expression: 'ssl eq false',
    outcome: 'exact',
    blocked: [{ url: 'http://example.com/' }],
    passed: [plain],
  },
  {
    expression: 'ssl and http.request.uri.path eq "/"',
    outcome: 'exact',
    blocked: [plain],
    passed: [{ url: 'http://example.com/' }],
  },
  // Headers that are fields of their own: an absent one is an empty text.
  {
    expression: 'http.user_agent contains "Evil"',
    outcome: 'exact',
    blocked: [agent('x Evil/1'), header('user-agent', ['a', 'Evil'])],
    passed: [plain, agent('evil'), agent('')],
  },
  {
    expression: 'not http.user_agent contains "Mozilla"',
    outcome: 'exact',
    blocked: [plain, agent(''), agent('mozilla'), agent('curl/8')],
    passed: [agent('Mozilla/5.0')],
  },
  {
    expression: 'lower(http.user_agent) contains "curl"',
    outcome: 'exact',
    blocked: [agent('CURL/8'), agent('x curl')],
    passed: [plain, agent('wget')],
  },
  {
    expression: 'upper(http.user_agent) contains "CURL"',
    outcome: 'exact',
    blocked: [agent('CURL/8'), agent('x curl')],
    passed: [plain],
  },
  {
    expression: 'http.user_agent eq ""',
    outcome: 'exact',
    blocked: [plain, agent('')],
    passed: [agent('x')],
  },
  {
    expression: 'http.user_agent ne "ok"',
    outcome: 'exact',
    blocked: [plain, agent('OK'), agent('')],
    passed: [agent('ok')],
  },
  {
    expression: 'len(http.user_agent) eq 0',
    outcome: 'exact',
    blocked: [plain, agent('')],
    passed: [agent('x')],
  },
  {
    expression: 'len(http.user_agent) gt 0',
    outcome: 'exact',
    blocked: [agent('x')],
    passed: [plain, agent('')],
  },
  {
    expression: 'http.user_agent matches "^$|(?i)bot/[0-9]+"',
    outcome: 'exact',
    blocked: [plain, agent('some BOT/3')],
    passed: [agent('bot/x')],
  },
  {
    expression: 'not http.user_agent matches "."',
    outcome: 'exact',
    blocked: [plain, agent('')],
    passed: [agent('x')],
  },
  {
    expression: 'lower(http.user_agent) matches "^[^a-m]"',
    outcome: 'exact',
    blocked: [agent('ZZ'), agent('z')],
    passed: [plain, agent('A'), agent('a')],
  },
  {
    expression: 'http.user_agent wildcard "*scan*"',
    outcome: 'exact',
    blocked: [agent('a SCANner')],
    passed: [plain, agent('scna')],
  },
  {
    expression: 'http.user_agent strict wildcard "*scan*"',
    outcome: 'exact',
    blocked: [agent('a scanner')],
    passed: [plain, agent('SCAN')],
  },
  {
    expression: 'starts_with(http.referer, "https://bad.example/")',
    outcome: 'exact',
    blocked: [header('referer', 'https://bad.example/x')],
    passed: [plain, header('referer', 'https://bad.example.org/')],
  },
  {
    expression: 'ends_with(http.referer, ".example/")',
    outcome: 'exact',
    blocked: [header('referer', 'https://bad.example/')],
    passed: [plain, header('referer', 'https://bad.example/x')],
  },
  {
    expression: 'http.cookie contains "staff=1"',
    outcome: 'exact',
    blocked: [header('cookie', 'a=b; staff=1'), header('cookie', ['a=b', 'staff=12'])],
    passed: [plain, header('cookie', 'staff=2')],
  },
  {
    expression: 'http.request.uri.path eq "/" and not http.cookie contains "session="',
    outcome: 'exact',
    blocked: [plain, header('cookie', 'Session=1')],
    passed: [header('cookie', 'x=y; session=1')],
  },
  {
    expression: 'http.user_agent contains "é"',
    outcome: 'exact',
    blocked: [agent('caf\u00c3\u00a9')],
    passed: [plain, agent('caf\u00e9')],
  },
  {
    expression: `http.user_agent in {${Array.from({ length: 120 }, (_, index) => `"a${index}"`).join(' ')}}`,
    outcome: 'exact',
    blocked: [agent('a0'), agent('a119')],
    passed: [plain, agent('a120')],
  },
  {
    expression: `not http.user_agent in {${Array.from({ length: 120 }, (_, index) => `"a${index}"`).join(' ')}}`,
    outcome: 'exact',
    blocked: [plain, agent('a120')],
    passed: [agent('a0'), agent('a119')],
  },
  // Headers by name: `any` is false without the header, and reads each of its lines.
  {
    expression: 'any(http.request.headers["x-role"][*] eq "guest")',
    outcome: 'exact',
    blocked: [header('x-role', 'guest'), header('x-role', ['admin', 'guest'])],
    passed: [plain, header('x-role', 'Guest'), header('x-role', '')],
  },
  {
    expression: 'not any(http.request.headers["x-key"][*] eq "secret")',
    outcome: 'exact',
    blocked: [plain, header('x-key', 'Secret'), header('x-key', ['a', 'b']), header('x-key', '')],
    passed: [header('x-key', 'secret'), header('x-key', ['a', 'secret'])],
  },
  {
    expression: 'all(http.request.headers["x-key"][*] ne "secret")',
    outcome: 'exact',
    blocked: [plain, header('x-key', 'other')],
    passed: [header('x-key', 'secret'), header('x-key', ['a', 'secret'])],
  },
  {
    expression: 'any(lower(http.request.headers["accept"][*])[*] contains "xml")',
    outcome: 'exact',
    blocked: [header('accept', 'text/XML')],
    passed: [plain, header('accept', 'text/html')],
  },
  {
    expression: 'any(starts_with(http.request.headers["x-a"][*], "1."))',
    outcome: 'exact',
    blocked: [header('x-a', ['0', '1.2'])],
    passed: [plain, header('x-a', '01.2')],
  },
  {
    expression: 'http.request.headers["x-key"][0] ne "secret"',
    outcome: 'differs',
    blocked: [header('x-key', 'other'), header('x-key', '')],
    passed: [plain, header('x-key', 'secret')],
  },
  {
    expression: 'http.request.headers["authorization"][0] eq "Basic eDp5"',
    outcome: 'exact',
    blocked: [header('authorization', 'Basic eDp5')],
    passed: [plain, header('authorization', 'basic eDp5')],
  },
  {
    expression: 'len(http.request.headers["x-debug"]) gt 0',
    outcome: 'exact',
    blocked: [header('x-debug', ''), header('x-debug', '1')],
    passed: [plain],
  },
  {
    expression: 'not len(http.request.headers["x-debug"]) > 0',
    outcome: 'exact',
    blocked: [plain],
    passed: [header('x-debug', ''), header('x-debug', '1')],
  },
  {
    expression: 'any(lower(http.request.headers.names[*])[*] in {"x-debug" "x-trace"})',
    outcome: 'exact',
    blocked: [header('x-debug', ''), header('X-Trace', '1')],
    passed: [plain, header('x-debugger', '1')],
  },
  {
    expression: 'not any(lower(http.request.headers.names[*])[*] eq "x-csrf-token")',
    outcome: 'exact',
    blocked: [plain],
    passed: [header('x-csrf-token', '')],
  },
  {
    expression: 'any(http.request.headers.names[*] eq "x-debug")',
    outcome: 'differs',
    blocked: [header('x-debug', '1'), header('X-Debug', '1')],
    passed: [plain],
  },
  {
    expression: 'has_key(http.request.headers, "x-debug")',
    outcome: 'exact',
    blocked: [header('x-debug', '')],
    passed: [plain],
  },
  {
    expression: 'has_value(http.request.headers["x-a"], "1")',
    outcome: 'exact',
    blocked: [header('x-a', ['0', '1'])],
    passed: [plain, header('x-a', '10')],
  },
  // What differs for each line has no condition.
  {
    expression: 'http.request.uri.path eq "/" and all(http.request.headers["x-a"][*] eq "1")',
    outcome: 'closed',
    blocked: [plain, header('x-a', '1')],
    passed: [{ url: 'https://example.com/y' }],
  },
  {
    expression: 'http.request.uri.path eq "/" and any(http.request.headers["x-a"][*] ne "1")',
    outcome: 'closed',
    blocked: [plain, header('x-a', '1')],
    passed: [{ url: 'https://example.com/y' }],
  },
  {
    expression: 'http.request.uri.path eq "/" and not any(http.request.headers.names[*] eq "X-Token")',
    outcome: 'closed',
    blocked: [plain, header('x-token', '1')],
    passed: [{ url: 'https://example.com/y' }],
  },
  {
    expression: 'http.request.uri.path eq "/" and len(http.request.headers["x-a"]) eq 0',
    outcome: 'closed',
    blocked: [plain, header('x-a', '1')],
    passed: [{ url: 'https://example.com/y' }],
  },
  {
    expression: 'http.request.uri.path eq "/" and any(http.request.headers["x-a"][*] & 5 eq 5)',
    outcome: 'not_carried',
    blocked: [],
    passed: [plain],
  },
  // Cookies.
  {
    expression: 'any(http.request.cookies["role"][*] eq "guest")',
    outcome: 'exact',
    blocked: [header('cookie', 'a=b; role=guest'), header('cookie', 'role=x; role=guest')],
    passed: [plain, header('cookie', 'role=guests'), header('cookie', 'Role=guest')],
  },
  {
    expression: 'not http.request.cookies["auth"][0] eq "s3cret"',
    outcome: 'differs',
    blocked: [plain, header('cookie', 'auth=x')],
    passed: [header('cookie', 'auth=s3cret')],
  },
  {
    expression: 'not len(http.request.cookies["auth"]) ge 1',
    outcome: 'exact',
    blocked: [plain, header('cookie', 'author=1')],
    passed: [header('cookie', 'auth=')],
  },
  // Parameters.
  {
    expression: 'http.request.uri.args["debug"][0] eq "1"',
    outcome: 'differs',
    blocked: [query('debug=1'), query('a&debug=1'), query('debug=%31')],
    passed: [plain, query('debug=2'), query('Debug=1'), query('debug')],
  },
  {
    expression: 'any(http.request.uri.args["q"][*] contains "select")',
    outcome: 'differs',
    blocked: [query('q=a&q=xselecty')],
    passed: [plain, query('p=select'), query('q=SELECT')],
  },
  {
    expression: 'any(url_decode(http.request.uri.args["q"][*])[*] eq "a b")',
    outcome: 'exact',
    blocked: [query('q=a%20b'), query('q=a+b')],
    passed: [plain, query('q=a%2520b')],
  },
  {
    expression: 'any(http.request.uri.args.names[*] eq "debug")',
    outcome: 'differs',
    blocked: [query('debug'), query('a=b&debug=')],
    passed: [plain, query('debugger=1')],
  },
  {
    expression: 'http.request.uri.path eq "/" and any(http.request.uri.args["q"][*] matches "%3[cC]")',
    outcome: 'closed',
    blocked: [plain, query('q=%3C')],
    passed: [{ url: 'https://example.com/y?q=%3C' }],
  },
  // Networks.
  {
    expression: 'ip.src.asnum in {64496 64500..64502}',
    outcome: 'exact',
    blocked: [{ asn: 64496 }, { asn: 64501 }],
    passed: [plain, { asn: 64497 }, { asn: 64503 }],
  },
  {
    expression: 'ip.geoip.asnum ne 64496 and http.request.uri.path eq "/"',
    outcome: 'exact',
    blocked: [plain, { asn: 1 }],
    passed: [{ asn: 64496 }],
  },
  {
    expression: 'cf.bot_management.ja4 in {"t13d1516h2_8daaf6152771_b186095e22b6"}',
    outcome: 'exact',
    blocked: [{ ja4: 't13d1516h2_8daaf6152771_b186095e22b6' }],
    passed: [plain, { ja4: 't13d1516h2_8daaf6152771_000000000000' }],
  },
  {
    expression: 'starts_with(cf.bot_management.ja4, "t13d1516h2_")',
    outcome: 'exact',
    blocked: [{ ja4: 't13d1516h2_8daaf6152771_b186095e22b6' }],
    passed: [plain, { ja4: 't12d1516h2_8daaf6152771_b186095e22b6' }],
  },
  // URLs.
  {
    expression: 'starts_with(http.request.full_uri, "https://example.com/a/")',
    outcome: 'exact',
    blocked: [{ url: 'https://example.com/a/b?c' }],
    passed: [{ url: 'http://example.com/a/b' }, { url: 'https://example.com/A/b' }],
  },
  {
    expression: 'http.request.full_uri wildcard "https://example.com/a*"',
    outcome: 'exact',
    blocked: [{ url: 'https://example.com/Ab?c' }],
    passed: [{ url: 'http://example.com/ab' }, { url: 'https://example.com/b' }],
  },
  {
    expression: 'http.request.uri eq "/a"',
    outcome: 'differs',
    blocked: [{ url: 'https://example.com/a' }, { url: 'https://example.com/a?b' }],
    passed: [{ url: 'https://example.com/ab' }],
  },
  {
    expression: 'starts_with(http.request.uri.path, "/o") and not http.request.uri eq "/open"',
    outcome: 'closed',
    blocked: [{ url: 'https://example.com/o' }, { url: 'https://example.com/open' }],
    passed: [plain],
  },
  {
    expression: 'http.request.uri contains "/a"',
    outcome: 'not_carried',
    blocked: [],
    passed: [{ url: 'https://example.com/a' }],
  },
];

test('there are 63 conditions', () => {
  expect(CASES.length).toBe(63);
});

test.each(CASES)('$expression', ({ expression, outcome, blocked, passed }) => {
  const at = (request: Partial<CaseRequest>): CaseRequest => ({ url: 'https://example.com/', ...request });
  checkCase(
    {
      name: expression,
      documents: [firewall(block(expression))],
      outcomes: [outcome],
      decisions: [
        ...blocked.map((request) => [at(request), 'block'] as const),
        ...passed.map((request) => [at(request), 'forward'] as const),
      ],
    },
    (files) => importCloudflare(files, OPTIONS),
  );
});
