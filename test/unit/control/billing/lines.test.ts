/** Lines of `edgeplan billing import`: what is read, and what each refusal names. */
import { describe, expect, test } from 'vitest';
import { describeDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { MAX_AMOUNT, MAX_INVOICE_LINES, MAX_LINE_OCTETS } from '../../../../src/control/billing/limits.ts';
import { readLine } from '../../../../src/control/billing/lines.ts';

const WALLET = {
  kind: 'wallet',
  id: 'w-1',
  account: 'acme',
  balance: -1_250,
  currency: 'EUR',
  at: '2026-11-25T12:00:00Z',
};
const INVOICE = {
  kind: 'invoice',
  id: 'inv-1',
  account: 'acme',
  number: '2026-0042',
  status: 'open',
  currency: 'EUR',
  total: 4_900,
  issued_at: '2026-11-01T00:00:00Z',
  at: '2026-11-25T12:00:00Z',
};
const AT = Date.parse(WALLET.at);

const octets = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));

/** The diagnostics of a line as commands print them; empty when it is read. */
function problems(value: unknown): readonly string[] {
  const read = readLine(value instanceof Uint8Array ? value : octets(value));
  if (read === null) throw new Error('the line is blank');
  return read.ok ? [] : read.diagnostics.map(describeDiagnostic);
}

describe('a line is read', () => {
  test('as a wallet', () => {
    expect(readLine(octets(WALLET))).toEqual({ ok: true, line: { ...WALLET, at: AT } });
  });

  test('as an invoice; what is left out is null or empty', () => {
    const line = { ...INVOICE, at: AT, issued_at: Date.parse(INVOICE.issued_at) };
    const absent = { domain: null, period_start: null, period_end: null, due_at: null, paid_at: null };
    expect(readLine(octets(INVOICE))).toEqual({ ok: true, line: { ...line, ...absent, lines: [] } });
  });

  test('with every field of an invoice', () => {
    const full = {
      ...INVOICE,
      domain: 'Shop.Example.',
      status: 'paid',
      period_start: '2026-11-01T01:00:00+01:00',
      period_end: '2026-12-01T00:00:00.5Z',
      due_at: '2026-11-15T00:00:00Z',
      paid_at: '2026-11-14t10:00:00z',
      lines: [{ description: 'Plan Pro', amount: -4_900 }],
    };
    expect(readLine(octets(full))).toMatchObject({
      line: {
        domain: 'shop.example',
        period_start: Date.UTC(2026, 10, 1),
        period_end: Date.UTC(2026, 11, 1) + 500,
        paid_at: Date.UTC(2026, 10, 14, 10),
        lines: [{ description: 'Plan Pro', amount: -4_900 }],
      },
    });
  });

  test.each([
    ['a carriage return at its end', `${JSON.stringify(WALLET)}\r`],
    ['a byte order mark', `\uFEFF${JSON.stringify(WALLET)}`],
    ['spaces around it', `  ${JSON.stringify(WALLET)} \t`],
  ])('with %s', (_, line) => {
    expect(problems(line)).toEqual([]);
  });

  test.each(['', ' ', '\r', '\t \r'])('as blank: %j', (line) => {
    expect(readLine(octets(line))).toBeNull();
  });

  test('with text of other scripts and the largest amounts', () => {
    expect(problems({ ...WALLET, account: 'Bäckerei 🥐', balance: MAX_AMOUNT })).toEqual([]);
    expect(problems({ ...WALLET, balance: -MAX_AMOUNT })).toEqual([]);
  });

  test('when it is the longest invoice that the fields allow', () => {
    const lines = Array.from({ length: MAX_INVOICE_LINES }, () => ({
      description: '\\ud83e\\udd50'.repeat(200),
      amount: -MAX_AMOUNT,
    }));
    const text = JSON.stringify({ ...INVOICE, lines }).replaceAll('\\\\', '\\');
    expect(text.length).toBeGreaterThan(MAX_LINE_OCTETS / 3);
    expect(problems(text)).toEqual([]);
  });
});

describe('a refusal names the field and what would be right', () => {
  const wallet = (change: object): object => ({ ...WALLET, ...change });
  const invoice = (change: object): object => ({ ...INVOICE, ...change });
  test.each<readonly [object, RegExp]>([
    [wallet({ kind: 'purse' }), /^kind: .*`wallet`.*`invoice`/],
    [{ ...WALLET, kind: undefined }, /^kind: /],
    [wallet({ kind: ['wallet'] }), /^kind: /],
    [{ ...WALLET, id: undefined }, /^id: is missing/],
    [wallet({ id: '' }), /^id: must not be empty/],
    [wallet({ id: 'x'.repeat(101) }), /^id: must be at most 100 characters/],
    [wallet({ id: 7 }), /^id: must be .*text/],
    [wallet({ id: 'a\0b' }), /^id: must not hold a NUL/],
    [wallet({ id: '\ud800' }), /^id: must be valid Unicode/],
    [wallet({ account: '\udc00x' }), /^account: must be valid Unicode/],
    [wallet({ account: 'a\0' }), /^account: must not hold a NUL/],
    [wallet({ account: null }), /^account: /],
    [wallet({ balance: 12.5 }), /^balance: must be a whole number/],
    [wallet({ balance: '12' }), /^balance: must be a whole number/],
    [wallet({ balance: null }), /^balance: /],
    [wallet({ balance: MAX_AMOUNT + 1 }), /^balance: .*10000000000000/],
    [wallet({ balance: -1e300 }), /^balance: /],
    [wallet({ currency: 'eur' }), /^currency: .*three capital letters like `EUR`/],
    [wallet({ currency: '€' }), /^currency: .*three capital letters/],
    [{ ...WALLET, at: undefined }, /^at: is missing/],
    [wallet({ at: 1_764_072_000 }), /^at: /],
    [wallet({ at: '2026-11-25' }), /^at: must be an RFC 3339 time/],
    [wallet({ at: '2026-11-25 12:00:00Z' }), /^at: must be an RFC 3339 time/],
    [wallet({ at: '2026-11-25T12:00:00' }), /^at: must be an RFC 3339 time/],
    [wallet({ at: '2026-02-30T12:00:00Z' }), /^at: must be an RFC 3339 time/],
    [wallet({ at: '1969-12-31T23:59:59Z' }), /^at: .*from 1970 on/],
    [wallet({ at: `2026-11-25T12:00:00.${'1'.repeat(50)}Z` }), /^at: /],
    [wallet({ balanse: 1 }), /^balanse: .*`balance`/],
    [wallet({ toString: 1 }), /^toString: /],
    [invoice({ domain: 'not a name' }), /^domain: must be the name of a domain/],
    [invoice({ status: 'late' }), /^status: .*`open`/],
    [invoice({ total: 1.5 }), /^total: must be a whole number/],
    [invoice({ status: 'paid' }), /^paid_at: is missing/],
    [invoice({ paid_at: INVOICE.at }), /^paid_at: must be `null` while the invoice is open/],
    [
      invoice({ period_start: '2026-12-01T00:00:00Z', period_end: '2026-11-01T00:00:00Z' }),
      /^period_end: must be after `period_start`/,
    ],
    [invoice({ lines: {} }), /^lines: /],
    [
      invoice({ lines: [{ description: 'a', amount: 1 }, { description: '' }] }),
      /^lines\[1\]\.(description|amount)/,
    ],
    [invoice({ lines: [{ description: 'a', amount: 1, vat: 1 }] }), /^lines\[0\]\.vat: /],
    [
      invoice({ lines: Array.from({ length: 101 }, () => ({ description: 'a', amount: 1 })) }),
      /^lines: .*100/,
    ],
  ])('%j', (line, wanted) => {
    const found = problems(line);
    expect(found.length).toBeGreaterThan(0);
    expect(found.join('\n')).toMatch(wanted);
  });

  test('all wrong fields at once', () => {
    const found = problems({ kind: 'wallet', id: '', account: 'a', balance: 0.5, currency: 'e', at: 'now' });
    expect(found.map((text) => text.split(':')[0])).toEqual(['id', 'currency', 'at', 'balance']);
  });

  test.each<readonly [string, string | Uint8Array, RegExp]>([
    ['no JSON', '{"kind":"wallet"', /the line is not JSON in UTF-8/],
    ['two values', '{} {}', /the line is not JSON/],
    ['NaN', '{"kind":"wallet","balance":NaN}', /the line is not JSON/],
    ['octets that are no UTF-8', Uint8Array.of(0x7b, 0xff, 0x7d), /the line is not JSON in UTF-8/],
    ['a NUL octet', '{\0}', /the line is not JSON/],
    ['a list', '[]', /the line is JSON, but not an object/],
    ['null', 'null', /the line is JSON, but not an object/],
    ['JSON of 200,000 levels', `${'['.repeat(200_000)}${']'.repeat(200_000)}`, /the line /],
    ['an object of many levels', `${'{"a":'.repeat(50_000)}1${'}'.repeat(50_000)}`, /^kind: |the line /],
    ['a line that is too long', ' '.repeat(MAX_LINE_OCTETS + 1), /the line has more than 524288 octets/],
  ])('%s', (_, line, wanted) => {
    expect(problems(line)).toEqual([expect.stringMatching(wanted)]);
  });

  test('a line that the reader has cut', () => {
    const read = readLine(null);
    expect(read).toMatchObject({ ok: false, diagnostics: [{ code: 'invalid_json' }] });
  });

  test('deep values in a field are no crash', () => {
    const deep = `${'{"a":'.repeat(20_000)}1${'}'.repeat(20_000)}`;
    expect(problems(JSON.stringify(WALLET).replace('-1250', deep))).toEqual([
      expect.stringMatching(/^balance: /),
    ]);
  });

  test('a field named __proto__ is unknown', () => {
    expect(problems(JSON.stringify(WALLET).replace('{', '{"__proto__":{"balance":5},'))).toEqual([
      expect.stringMatching(/^__proto__: /),
    ]);
  });
});
