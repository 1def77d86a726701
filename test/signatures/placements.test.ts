/** The starter signatures stop an attack in every position of a body, or the decision says that the body was not read. */
import { describe, expect, test } from 'vitest';
import { inspectRequest } from '../support/starter.ts';
import { PLACEMENTS, type Placed } from '../support/traffic/placements.ts';

const ATTACKS = [
  "1' union select password from users-- -",
  '1 union select password from users',
  '<script>alert(1)</script>',
  ';cat /etc/passwd',
  '../../../../etc/passwd',
];
const ORDINARY = ["O'Brien & Söhne <info@example.com>", 'two tickets, please', 'a+b=c; 50% off "now"'];

function inspect({ contentType, body }: Placed) {
  const headers = { host: 'shop.example.com', 'user-agent': 'Mozilla/5.0', accept: '*/*' };
  const typed = contentType === null ? headers : { ...headers, 'content-type': contentType };
  return inspectRequest(
    {
      scheme: 'https',
      method: 'POST',
      host: 'shop.example.com',
      target: '/a',
      headers: { ...typed, 'content-length': String(body.length) },
      ip: '198.51.100.4',
      body,
    },
    1,
  );
}

/** Positions that are errors whatever they carry. */
const ERRORS: ReadonlySet<string> = new Set([
  'the second of two boundaries',
  'a part with two dispositions',
  'a part with NUL in its name',
]);

/**
 * Positions that signatures report whatever they carry: no client declares entities, writes XML in UTF-7, or sends parts without
 * a type, which as a form have headers of a mail in a value.
 */
const SUSPECT: ReadonlySet<string> = new Set([
  'multipart without a type',
  'an entity of XML',
  'entities of XML in each other',
  'XML in UTF-7',
]);

/** The signature of charsets that no browser sends: it matches whatever the body is. */
const ODD_CHARSET = 10113;

describe.each(Object.entries(PLACEMENTS))('%s', (position, place) => {
  test.each(ATTACKS)('stops %s', (attack) => {
    const { score, ids, bodyError } = inspect(place(attack));
    if (ERRORS.has(position)) expect(bodyError).not.toBeNull();
    else {
      expect(bodyError).toBeNull();
      expect(score).toBeGreaterThanOrEqual(5);
    }
    expect(ids.filter((id) => id !== ODD_CHARSET)).not.toEqual([]);
  });

  test.each(SUSPECT.has(position) ? [] : ORDINARY)('lets %s pass', (text) => {
    const { ids, bodyError } = inspect(place(text));
    expect(bodyError !== null).toBe(ERRORS.has(position));
    expect(ids.filter((id) => id !== ODD_CHARSET)).toEqual([]);
  });
});
