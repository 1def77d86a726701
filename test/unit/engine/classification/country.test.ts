import { describe, expect, test } from 'vitest';
import { openCountries } from '../../../../src/engine/classification/country.ts';
import { writeMmdb } from '../../../support/mmdb.ts';

const DATABASE = writeMmdb({
  '203.0.113.0/24': { country: { iso_code: 'DE', names: { en: 'Germany' } } },
  '198.51.100.0/25': { country: { iso_code: 'FR' } },
  '198.51.100.128/25': { country_code: 'IT' },
  '192.0.2.0/24': { country: 'JP' },
  '192.0.3.0/24': { registered_country: { iso_code: 'US' } },
  '192.0.4.0/24': { country: { iso_code: 'XX' } },
  '192.0.5.0/24': { country: { iso_code: 'de' } },
  '192.0.6.0/24': 'DE',
  '2001:db8::/32': { country: { iso_code: 'NL' } },
});

describe('countries', () => {
  test.each([
    ['203.0.113.7', 'DE'],
    ['203.0.114.7', null],
    ['198.51.100.127', 'FR'],
    ['198.51.100.128', 'IT'],
    ['192.0.2.1', 'JP'],
    ['192.0.3.1', null],
    ['192.0.4.1', null],
    ['192.0.5.1', null],
    ['192.0.6.1', null],
    ['2001:db8:1::7', 'NL'],
    ['2001:db9::7', null],
    ['::1', null],
    ['255.255.255.255', null],
  ])('%s is in %s', (ip, country) => {
    expect(openCountries(DATABASE).country(ip)).toBe(country);
  });

  test('a database of IPv4 alone has no country for an IPv6 address', () => {
    const countries = openCountries(writeMmdb({ '203.0.113.0/24': { country: 'DE' } }, { ipVersion: 4 }));
    expect(countries.country('203.0.113.9')).toBe('DE');
    expect(countries.country('2001:db8::1')).toBeNull();
  });

  test('builtAt is the time at which the database was built', () => {
    expect(openCountries(writeMmdb({}, { builtAt: 1_800_000_000 })).builtAt).toBe(1_800_000_000_000);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['something else', Buffer.from('{"a":1}'.repeat(100))],
    ['a database cut at its start', DATABASE.subarray(900)],
    ['another version of the format', writeMmdb({}, { major: 3 })],
  ])('%s is refused', (_what, octets) => {
    expect(() => openCountries(octets)).toThrow(/no database in MaxMind's format/);
  });

  test('damaged octets never throw at a request', () => {
    for (let at = 0; at < DATABASE.length - 150; at += 3) {
      const damaged = Buffer.from(DATABASE);
      damaged[at] = damaged[at]! ^ 0xff;
      let countries: ReturnType<typeof openCountries>;
      try {
        countries = openCountries(damaged);
      } catch {
        continue;
      }
      for (const ip of ['203.0.113.7', '198.51.100.127', '2001:db8:1::7']) {
        expect(countries.country(ip) ?? 'AA').toMatch(/^[A-Z]{2}$/);
      }
    }
  });
});
