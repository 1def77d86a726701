/** Names of headers in lower case, by whichever way they come to it. */
import { describe, expect, test } from 'vitest';
import { lowerName } from '../../../../src/base/http/header-fields.ts';

describe('a name in lower case', () => {
  const names = [
    'Host',
    'ETag',
    'User-Agent',
    'Sec-CH-UA-Mobile',
    'X-Forwarded-For',
    'TE',
    'X-Own',
    '',
    '__proto__',
  ];
  test.each(names)('lowers `%s` from any case', (name) => {
    for (const sent of [name, name.toLowerCase(), name.toUpperCase()]) {
      expect(lowerName(sent)).toBe(name.toLowerCase());
    }
  });
});
