/** Positions in which a client can place a text in a request: each gives the body that carries it, and its headers. */

/** A body with its type. */
export interface Placed {
  /** `null`: no Content-Type. */
  readonly contentType: string | null;
  readonly body: Uint8Array;
}

const FORM = 'application/x-www-form-urlencoded';
const JSON_TYPE = 'application/json';
const B = 'edge-boundary';

/** By octet 32 to 126, the octet of IBM037 (RFC 1345). */
const EBCDIC =
  '405a7f7b5b6c507d4d5d5c4e6b604b61f0f1f2f3f4f5f6f7f8f97a5e4c7e6e6f7cc1c2c3c4c5c6c7c8c9d1d2d3d4d5d6d7d8d9e2e3e4e5e6e7e8e9bae0bbb06d79818283848586878889919293949596979899a2a3a4a5a6a7a8a9c04fd0a1';

const octets = (text: string): Uint8Array => new TextEncoder().encode(text);

function sent(contentType: string | null, body: string | Uint8Array): Placed {
  return { contentType, body: typeof body === 'string' ? octets(body) : body };
}

export function ibm037(text: string): Uint8Array {
  return Uint8Array.from(text, (one) => {
    const at = one.charCodeAt(0) - 32;
    if (at < 0 || at > 94) return at < 0 ? 0x25 : 0x6f;
    return Number.parseInt(EBCDIC.slice(at * 2, at * 2 + 2), 16);
  });
}

export function utf16(text: string, bigEndian = false): Uint8Array {
  const list = [...text].flatMap((one) => {
    const code = one.charCodeAt(0);
    return bigEndian ? [code >> 8, code & 255] : [code & 255, code >> 8];
  });
  return Uint8Array.from(list);
}

export function utf7(text: string): string {
  return text.replace(/[^A-Za-z0-9 \r\n:/?.,()-]/g, (one) => {
    const base64 = Buffer.from(utf16(one, true)).toString('base64').replaceAll('=', '');
    return one === '+' ? '+-' : `+${base64}-`;
  });
}

export function quotedPrintable(text: string): string {
  const escaped = [...text].map((one) =>
    /[A-Za-z0-9 ]/.test(one) ? one : `=${one.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
  return escaped.join('').replace(/.{30}/g, '$&=\r\n');
}

export const xml = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
const base64 = (text: string): string => Buffer.from(text).toString('base64');
const deep = (text: string): string => JSON.stringify({ a: { b: [{ c: { d: text } }] } });

function part(headers: readonly string[], data: string): string {
  return `${headers.join('\r\n')}\r\n\r\n${data}`;
}

export function multipart(parts: readonly string[], boundary = B): string {
  return `${parts.map((one) => `--${boundary}\r\n${one}\r\n`).join('')}--${boundary}--\r\n`;
}

const field = (data: string, ...more: readonly string[]): string =>
  part(['Content-Disposition: form-data; name="q"', ...more], data);
const formData = (...parts: readonly string[]): Placed =>
  sent(`multipart/form-data; boundary=${B}`, multipart(parts));
const dtd = (entities: string, use: string): string =>
  `<?xml version="1.0"?><!DOCTYPE r [${entities}]><r>${use}</r>`;

/** By position, the body that carries a text. */
export const PLACEMENTS: Readonly<Record<string, (text: string) => Placed>> = {
  'a form': (text) => sent(FORM, new URLSearchParams({ q: text }).toString()),
  'JSON at depth 5': (text) => sent(JSON_TYPE, deep(text)),
  'JSON with a type of a vendor': (text) => sent('application/vnd.shop+json; charset=utf-8', deep(text)),
  'JSON with comments': (text) => sent(JSON_TYPE, `/* a */ { "a": 1, // b\n "q": ${JSON.stringify(text)} }`),
  JSON5: (text) => sent('application/json5', `{a: .5, q: '${text.replace(/['\\]/g, '\\$&')}', }`),
  ndjson: (text) => sent('application/x-ndjson', `{"a":1}\n{"q":${JSON.stringify(text)}}\n`),
  'a sequence of JSON texts': (text) => sent('application/json-seq', `\x1e{"a":1}\n\x1e${deep(text)}\n`),
  'JSON in a form value': (text) => sent(FORM, new URLSearchParams({ q: deep(text) }).toString()),
  'JSON sent as a form': (text) => sent(FORM, deep(text)),
  'JSON in a string of JSON': (text) => sent(JSON_TYPE, JSON.stringify({ q: deep(text) })),
  'JSON in a part': (text) => formData(field(deep(text), 'Content-Type: application/json')),
  'JSON in a part without a type': (text) => formData(field(deep(text))),
  'JSON in a part that is called a blob': (text) =>
    formData(
      part(
        ['Content-Disposition: form-data; name="q"; filename="blob"', `Content-Type: ${JSON_TYPE}`],
        deep(text),
      ),
    ),
  'text of XML': (text) => sent('application/xml', `<r><a>one</a><b>${xml(text)}</b></r>`),
  'an attribute of XML': (text) => sent('application/xml', `<r><a q="${xml(text)}">one</a></r>`),
  'CDATA of XML': (text) => sent('application/xml', `<r><a>one</a><b><![CDATA[${text}]]></b></r>`),
  'an entity of XML': (text) =>
    sent('application/xml', dtd(`<!ENTITY e "${xml(text)}">`, '<a>one</a><b>&e;</b>')),
  'entities of XML in each other': (text) =>
    sent(
      'text/xml',
      dtd(
        `<!ENTITY a "${xml(text.slice(0, 9))}"><!ENTITY b '&a;${xml(text.slice(9)).replaceAll("'", '&apos;')}'>`,
        '&b;',
      ),
    ),
  'XML with a type of a vendor': (text) => sent('application/vnd.shop+xml', `<r>${xml(text)}</r>`),
  'XML in a form value': (text) =>
    sent(FORM, new URLSearchParams({ q: `<?xml version="1.0"?><r><a>${xml(text)}</a></r>` }).toString()),
  'XML in a part': (text) => formData(field(`<r><a q="${xml(text)}"/></r>`, 'Content-Type: text/xml')),
  'JSON in XML': (text) => sent('application/xml', `<r><a>${xml(deep(text))}</a></r>`),
  'a part': (text) => formData(field(text)),
  'a part in base64': (text) => formData(field(base64(text), 'Content-Transfer-Encoding: base64')),
  'a part in quoted-printable': (text) =>
    formData(field(quotedPrintable(text), 'Content-Transfer-Encoding: quoted-printable')),
  'JSON in a part in base64': (text) =>
    formData(field(base64(deep(text)), 'Content-Transfer-Encoding: BASE64')),
  'a part in a charset of its own': (text) =>
    formData(field(utf7(text), 'Content-Type: text/plain; charset=utf-7')),
  'multipart in a part': (text) =>
    formData(
      field(
        multipart([part(['Content-Disposition: attachment'], text)], 'inner'),
        'Content-Type: multipart/mixed; boundary=inner',
      ),
    ),
  'multipart/related': (text) =>
    sent(`multipart/related; boundary="${B}"`, multipart([part([`Content-Type: ${JSON_TYPE}`], deep(text))])),
  'multipart/mixed': (text) =>
    sent(`multipart/mixed; boundary=${B}`, multipart([part(['Content-ID: <a>'], text)])),
  'the second of two boundaries': (text) =>
    sent(`multipart/form-data; boundary=other; boundary=${B}`, multipart([field(text)])),
  'a part with two dispositions': (text) =>
    formData(
      part(['Content-Disposition: form-data; name="a"', 'Content-Disposition: form-data; name="q"'], text),
    ),
  'a part with NUL in its name': (text) =>
    formData(part(['Content-Disposition: form-data; name="q\0a"'], text)),
  'UTF-16 with a mark': (text) => sent(JSON_TYPE, utf16(`\ufeff${deep(text)}`)),
  'UTF-16 by its charset': (text) => sent('application/json; charset=utf-16', utf16(deep(text))),
  'a form in UTF-16': (text) =>
    sent(`${FORM}; charset=utf-16le`, utf16(new URLSearchParams({ q: text }).toString())),
  'a form in UTF-7': (text) =>
    sent(`${FORM}; charset=utf-7`, new URLSearchParams({ q: utf7(text) }).toString()),
  'text in UTF-7': (text) => sent('text/plain; charset=UTF-7', utf7(`q=${text}`)),
  'XML in UTF-7': (text) =>
    sent('application/xml', `<?xml version="1.0" encoding="UTF-7"?><r>${utf7(xml(text))}</r>`),
  'a form in IBM037': (text) =>
    sent(`${FORM}; charset=ibm037`, ibm037(new URLSearchParams({ q: text }).toString())),
  'a form with values in IBM037': (text) => {
    const escaped = [...ibm037(text)].map((octet) => `%${octet.toString(16).padStart(2, '0')}`);
    return sent(`${FORM}; charset=ibm037`, `%98=${escaped.join('')}`);
  },
  'JSON in IBM037': (text) => sent('application/json; charset=IBM037', ibm037(deep(text))),
  'XML in IBM037': (text) =>
    sent('application/xml', ibm037(`<?xml version="1.0" encoding="IBM037"?><r>${xml(text)}</r>`)),
  'JSON with a charset that it is not in': (text) => sent('application/json; charset=ibm037', deep(text)),
  'JSON in windows-1252': (text) => sent('application/json; charset=windows-1252', deep(text)),
  GraphQL: (text) => sent('application/graphql', `query { user(id: ${JSON.stringify(text)}) { name } }`),
  'a block string of GraphQL': (text) =>
    sent('application/graphql', `{ user(id: """\n${text}\n""") { name } }`),
  'octet-stream that is JSON': (text) => sent('application/octet-stream', deep(text)),
  'octet-stream that is XML': (text) => sent('application/octet-stream', `<r>${xml(text)}</r>`),
  'octet-stream that is multipart': (text) => sent('application/octet-stream', multipart([field(text)])),
  'octet-stream that is a form': (text) =>
    sent('application/octet-stream', new URLSearchParams({ a: '1', q: text }).toString()),
  'JSON of an unknown type': (text) => sent('application/x-shop', deep(text)),
  'JSON without a type': (text) => sent(null, deep(text)),
  'XML without a type': (text) => sent(null, `<r><a>${xml(text)}</a></r>`),
  'multipart without a type': (text) =>
    sent(null, multipart([field(base64(text), 'Content-Transfer-Encoding: base64')])),
  'a form without a type': (text) => sent(null, new URLSearchParams({ q: text }).toString()),
};
