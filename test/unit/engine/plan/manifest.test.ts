import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { canonicalJson, MANIFEST_FORMAT, manifestText } from '../../../../src/engine/plan/manifest.ts';

describe('canonicalJson', () => {
  test("sorts and writes as RFC 8785's example does", () => {
    const value = {
      numbers: [Number('333333333.33333329'), 1e30, 4.5, 2e-3, 0.000000000000000000000000001],
      string: '\u20ac$\u000F\u000aA\'\u0042\u0022\u005c\\"/',
      literals: [null, true, false],
    };
    expect(canonicalJson(value)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  test('sorts names by their UTF-16 units', () => {
    const names = ['\u20ac', '\r', '\ufb33', '1', '\u{1f600}', '\u0080', '\u00f6'];
    const sorted = ['\r', '1', '\u0080', '\u00f6', '\u20ac', '\u{1f600}', '\ufb33'];
    const text = canonicalJson(Object.fromEntries(names.map((name) => [name, 0])));
    expect(text).toBe(`{${sorted.map((name) => `${JSON.stringify(name)}:0`).join(',')}}`);
  });

  test('canonicalJson is independent of the order of fields, and loses no value', () => {
    fc.assert(
      fc.property(fc.dictionary(fc.string(), fc.jsonValue()), (value) => {
        const reversed = Object.fromEntries(Object.entries(value).reverse());
        expect(canonicalJson(reversed)).toBe(canonicalJson(value));
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });
});

test('the signed text of a page is fixed', () => {
  const entry = {
    domain: 'shop.test',
    revision: 7,
    digest: 'ab'.repeat(32),
    tombstone: null,
    purge_epoch: 2,
    position: 41,
  };
  const page = {
    format: MANIFEST_FORMAT,
    since: 40,
    through: 41,
    complete: true,
    at: 5,
    entries: [entry],
  } as const;
  expect(manifestText(page)).toBe(
    `{"at":5,"complete":true,"entries":[{"digest":"${'ab'.repeat(32)}","domain":"shop.test","position":41,` +
      '"purge_epoch":2,"revision":7,"tombstone":null}],"format":"edgeplan.manifest/v1","since":40,"through":41}',
  );
});
