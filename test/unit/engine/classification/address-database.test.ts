import { describe, expect, test } from 'vitest';
import { openAddressDatabase } from '../../../../src/engine/classification/address-database.ts';
import { type MmdbValue, writeMmdb } from '../../../support/mmdb.ts';

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

describe('address databases', () => {
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
    expect(openAddressDatabase(DATABASE).country(ip)).toBe(country);
  });

  test.each<[string, MmdbValue, number | null]>([
    ['GeoLite2-ASN and DB-IP', { autonomous_system_number: 64_496 }, 64_496],
    ['GeoIP2 Enterprise', { traits: { autonomous_system_number: 4_294_967_295 } }, 4_294_967_295],
    ['IPinfo', { asn: 'AS64497' }, 64_497],
    ['IP2Location', { asn: '64498' }, 64_498],
    ['the reserved number 0', { autonomous_system_number: 0 }, null],
    ['a text that is no number', { asn: 'AS-EXAMPLE' }, null],
    ['a record of another kind', { country: { iso_code: 'DE' } }, null],
    ['a record that is no map', 'AS64496', null],
  ])('the autonomous system in records of %s', (_whose, record, asn) => {
    const database = openAddressDatabase(writeMmdb({ '203.0.113.0/24': record }));
    expect(database.asn('203.0.113.7')).toBe(asn);
    expect(database.asn('203.0.114.7')).toBeNull();
  });

  test('both facts of an address are its own, in any order of questions', () => {
    const database = openAddressDatabase(
      writeMmdb({
        '203.0.113.0/24': { country: 'DE', autonomous_system_number: 64_496 },
        '198.51.100.0/24': { country: 'FR' },
      }),
    );
    expect(database.country('203.0.113.7')).toBe('DE');
    expect(database.asn('203.0.113.7')).toBe(64_496);
    expect(database.asn('198.51.100.7')).toBeNull();
    expect(database.country('198.51.100.7')).toBe('FR');
    expect(database.country('192.0.2.7')).toBeNull();
    expect(database.asn('203.0.113.7')).toBe(64_496);
  });

  test('a database of IPv4 alone has no country for an IPv6 address', () => {
    const countries = openAddressDatabase(
      writeMmdb({ '203.0.113.0/24': { country: 'DE' } }, { ipVersion: 4 }),
    );
    expect(countries.country('203.0.113.9')).toBe('DE');
    expect(countries.country('2001:db8::1')).toBeNull();
  });

  test('builtAt is the time at which the database was built', () => {
    expect(openAddressDatabase(writeMmdb({}, { builtAt: 1_800_000_000 })).builtAt).toBe(1_800_000_000_000);
  });

  test.each([
    ['nothing', Buffer.alloc(0)],
    ['something else', Buffer.from('{"a":1}'.repeat(100))],
    ['a database cut at its start', DATABASE.subarray(900)],
    ['another version of the format', writeMmdb({}, { major: 3 })],
  ])('%s is refused', (_what, octets) => {
    expect(() => openAddressDatabase(octets)).toThrow(/no database in MaxMind's format/);
  });

  test('damaged octets never throw at a request', () => {
    for (let at = 0; at < DATABASE.length - 150; at += 3) {
      const damaged = Buffer.from(DATABASE);
      damaged[at] = damaged[at]! ^ 0xff;
      let countries: ReturnType<typeof openAddressDatabase>;
      try {
        countries = openAddressDatabase(damaged);
      } catch {
        continue;
      }
      for (const ip of ['203.0.113.7', '198.51.100.127', '2001:db8:1::7']) {
        expect(countries.country(ip) ?? 'AA').toMatch(/^[A-Z]{2}$/);
      }
    }
  });
});
