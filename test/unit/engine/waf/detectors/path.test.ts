/** Which paths are traversals: spellings of a step up, and what the steps reach. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { detectPath, PATH_KINDS, SHORTEST_PATH } from '../../../../../src/engine/waf/detectors/path.ts';
import { factsOf } from '../../../../../src/engine/waf/octets/octet-buffer.ts';

const HIDDEN = 'step up in a spelling that hides it';
const PRIVATE = 'step up to a private file';
const DEEP = 'steps up to the root';

describe('a step up is found in the spellings that lenient decoders read', () => {
  test.each([
    ['hexadecimal literals', '0x2e0x2e0x2fsrv'],
    ['hexadecimal literals of a backslash', '..0x5csrv'],
    ['a control character between the dots', '.\x00./srv'],
    ['a control character behind the dots', '..\x01/srv'],
    ['a two-octet sequence whose second octet is ASCII', '\xc0.\xc0./srv'],
    ['a two-octet sequence with another high bit', '\xc0\xee\xc0\xee/srv'],
    ['digits beyond F', '..\xc0%qfsrv'],
    ['digits beyond F for both octets', '..%bg%qfsrv'],
    ['a backslash with digits beyond F', '..\xc1%8ssrv'],
    ['parameters of a segment', '/app/..;x=1/manager'],
  ])('%s', (_, value) => expect(detectPath(value)).toBe(HIDDEN));
});

describe('a plain step up is judged by what it reaches', () => {
  test.each([
    ['../etc/vsftpd.conf', PRIVATE],
    ['/static/../../windows/win.ini', PRIVATE],
    ['..\\..\\boot.ini', PRIVATE],
    ['....//....//etc/passwd', PRIVATE],
    ['.?/.?/etc/group', PRIVATE],
    ['../.env.bak', PRIVATE],
    ['../app/config/parameters.yml', PRIVATE],
    ['../../storage/logs/laravel.log', PRIVATE],
    ['../shop/settings.py', PRIVATE],
    ['../terraform.tfstate.bak', PRIVATE],
    ['../shop/settings.pyx', null],
    ['../storage/list.log', null],
    ['../WEB-INF/web.xml;x', PRIVATE],
    ['../../usr/x/y', PRIVATE],
    ['../usr/x/y', null],
    ['../../../data/list', DEEP],
    ['../../../src/button.tsx', null],
    ['../../lib/utils.js', null],
    ['../../../opt/x', PRIVATE],
    ['../config.php', PRIVATE],
    ['../img/logo.png', null],
    ['a/b/../c.txt', null],
    ['see ../../etc/passwd for this', null],
    ['laundry../bin', null],
    ['C:/.../report.docx', null],
    ['born ??/??/1931', null],
  ])('%s', (value, expected) => expect(detectPath(value)).toBe(expected));
});

test('every detected value has an octet of PATH_KINDS and SHORTEST_PATH octets', () => {
  const pieces = fc.constantFrom(
    '.',
    '..',
    '/',
    '\\',
    '0x2e',
    '0x2f',
    '\xc0',
    '\x01',
    '?',
    ';',
    '%qf',
    'etc',
    'passwd',
  );
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 10 }), (parts) => {
      const value = parts.join('');
      if (detectPath(value) === null) return;
      expect(factsOf(value).shape & PATH_KINDS).not.toBe(0);
      expect(value.length).toBeGreaterThanOrEqual(SHORTEST_PATH);
    }),
    { numRuns: 5_000 },
  );
});
