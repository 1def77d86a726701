import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import { describe, expect, it } from 'vitest';
import { readSecondary, readTsigKeys, secondaryText } from '../../../../src/control/zones/settings.ts';

const SECRET = randomBytes(32).toString('base64');

describe('the keys file', () => {
  it('has keys as kdig takes them, comments and empty lines', () => {
    const text = `# secondaries\r\n\nNS1.Edge.Test.:${SECRET}\r\nhmac-sha512:ns2.edge.test:${SECRET}\n`;
    const { keys, problems } = readTsigKeys(text);
    expect(problems).toEqual([]);
    expect([...keys.values()].map(({ name, algorithm }) => [name, algorithm])).toEqual([
      ['ns1.edge.test', 'hmac-sha256'],
      ['ns2.edge.test', 'hmac-sha512'],
    ]);
    expect(keys.get('ns1.edge.test')!.secret.export().toString('base64')).toBe(SECRET);
  });

  it.each([
    ['ns1.edge.test', /line 2: write hmac-sha256:name:secret/],
    [`hmac-md5:a:${SECRET}`, /line 2: the algorithm is not known; use hmac-sha256, hmac-sha384, hmac-sha512/],
    [`a:b:c:${SECRET}`, /line 2: write/],
    [`${SECRET}:a`, /line 2: the name of the key is no domain name/],
    [`hmac-sha256:a..b:${SECRET}`, /line 2: the name of the key is no domain name/],
    [`a:${SECRET.slice(0, -1)}`, /line 2: the secret of `a` is not base64/],
    [`a:${SECRET}=`, /line 2: the secret of `a` is not base64/],
    ['a:', /line 2: the secret of `a` is not base64/],
    [
      `a:${Buffer.alloc(15).toString('base64')}`,
      /line 2: the secret of `a` is too short: it has 15 octets, at least 16/,
    ],
    [`good:${SECRET}`, /line 2: the key `good` is there twice/],
  ])('%s is refused with line and remedy, and without the secret', (line, problem) => {
    const { keys, problems } = readTsigKeys(`good:${SECRET}\n${line}\n`);
    expect(problems).toHaveLength(1);
    expect(problems[0]).toMatch(problem);
    expect(problems[0]).not.toContain(SECRET.slice(0, 8));
    expect([...keys.keys()]).toEqual(['good']);
  });

  it('a key that is logged shows no secret', () => {
    const { keys } = readTsigKeys(`a:${SECRET}`);
    const shown = inspect(keys, { depth: 9, showHidden: true }) + JSON.stringify([...keys.values()]);
    expect(shown).not.toContain(SECRET.slice(0, 8));
    expect(shown).not.toContain(Buffer.from(SECRET, 'base64').toString('hex').slice(0, 8));
  });

  it('a file that is too long is refused unread', () => {
    expect(readTsigKeys('#'.repeat(600_000)).problems).toHaveLength(1);
  });
});

describe('a secondary', () => {
  const { keys } = readTsigKeys(`ns1:${SECRET}\nns2:${SECRET}`);

  it.each([
    ['192.0.2.1#ns1', '192.0.2.1:53'],
    ['192.0.2.1:5353#NS1.', '192.0.2.1:5353'],
    ['2001:db8::1#ns2', '[2001:db8::1]:53'],
    ['[2001:db8::1]:5353#ns2', '[2001:db8::1]:5353'],
  ])('%s is %s', (text, server) => {
    const read = readSecondary(text, keys);
    expect('secondary' in read && secondaryText(read.secondary)).toBe(server);
  });

  it.each([
    ['192.0.2.1', 'names no key; write 192.0.2.53#key'],
    ['ns1.example#ns1', '`ns1.example` is no address; write'],
    ['192.0.2.1:0#ns1', 'is no address'],
    ['192.0.2.1#ns3', 'there is no key `ns3`; the keys file has ns1, ns2'],
    ['192.0.2.1#', 'there is no key ``'],
  ])('%s is refused: %s', (text, problem) => {
    const read = readSecondary(text, keys);
    expect('problem' in read && read.problem).toContain(problem);
  });

  it('without any key, the error says so', () => {
    const read = readSecondary('192.0.2.1#ns1', new Map());
    expect('problem' in read && read.problem).toBe('there is no key `ns1`; the keys file has none');
  });
});
