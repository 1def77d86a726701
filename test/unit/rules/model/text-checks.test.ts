import { describe, expect, it } from 'vitest';
import { describeDiagnostic } from '../../../../src/base/diagnostics/diagnostic.ts';
import { parseRecord } from '../../../../src/rules/model/parse.ts';

function told(name: string, type: string, destination: string, stored = false): readonly string[] {
  const parsed = parseRecord({ id: 1, name, type, destination }, 'shop.example', { stored });
  return parsed.diagnostics.filter(({ severity }) => severity === 'error').map(describeDiagnostic);
}

const ADDRESSES = [
  ['MX', '192.0.2.1'],
  ['MX', '192.0.2.1.'],
  ['MX', '[192.0.2.1]'],
  ['MX', '2001:db8::1'],
  ['MX', '10.1'],
  ['NS', '192.0.2.1'],
  ['NS', '2001:db8::1'],
  ['SRV', '10 20 443 192.0.2.1'],
  ['SRV', '10 20 443 192.0.2.1. '],
  ['SRV', '10 20 443 ::ffff:192.0.2.1'],
] as const;

const OWN = [
  ['www', 'www.shop.example'],
  ['www', 'www.shop.example.'],
  ['WWW', 'www.Shop.example'],
  ['www.shop.example', 'www.shop.example'],
  ['@', 'shop.example'],
] as const;

describe('the target of a record', () => {
  it.each(ADDRESSES)('of type %s is not %s', (type, destination) => {
    const [message] = told('@', type, destination);
    expect(message).toContain(`destination: must name a host for type \`${type}\`, never an address (RFC `);
    expect(message).toContain('give the address a name with a record of type `A` or `AAAA`');
  });

  it.each(ADDRESSES)('of type %s was %s once, and is read where it is stored', (type, destination) => {
    expect(told('@', type, destination, true)).toEqual([]);
  });

  it.each([
    ['MX', 'mail.shop.example'],
    ['MX', '.'],
    ['MX', '1.mail.shop.example'],
    ['NS', 'ns1.example.net.'],
    ['SRV', '10 20 443 sip.shop.example'],
    ['SRV', '0 0 0 .'],
    ['TXT', '192.0.2.1'],
    ['A', '192.0.2.1'],
  ])('of type %s may be %s', (type, destination) => {
    expect(told('@', type, destination)).toEqual([]);
  });

  it.each(OWN)('of an alias %s is not its own name %s', (name, destination) => {
    for (const type of ['CNAME', 'ALIAS']) {
      const [message] = told(name, type, destination);
      expect(message).toContain("destination: must be another name: this is the record's own, found");
      expect(told(name, type, destination, true)).toEqual([]);
    }
  });

  it.each([
    ['www', 'shop.example'],
    ['@', 'www.shop.example'],
    ['www', 'www'],
    ['www.shop.example', 'www.shop.example.net'],
  ])('of an alias %s may be %s', (name, destination) => {
    expect(told(name, 'CNAME', destination)).toEqual([]);
  });
});
