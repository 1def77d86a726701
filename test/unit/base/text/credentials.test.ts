/** Passwords are cut out of URLs, wherever in a sentence they are, and nothing else is. */
import { expect, test } from 'vitest';
import { redactKeys, withoutCredentials } from '../../../../src/base/text/credentials.ts';
import { makeKey } from '../../../../src/control/accounts/authenticate.ts';

test.each([
  ['postgres://u:pw@h:5432/x', 'postgres://u:***@h:5432/x'],
  ["argument 'smtp://u:p/w#@h' is invalid", "argument 'smtp://u:***@h' is invalid"],
  ['`https://u:12345@h/` and http://a:b@c/d', '`https://u:***@h/` and http://a:***@c/d'],
  ['postgres://:pw@h/x', 'postgres://:***@h/x'],
  ['postgres://u@h/x?a=1&password=pw&b=2', 'postgres://u@h/x?a=1&password=***&b=2'],
  ['postgres://u@h/x?sslpassword=pw', 'postgres://u@h/x?sslpassword=***'],
])('%s', (text, cut) => {
  expect(withoutCredentials(text)).toBe(cut);
});

test.each([
  'smtp://user@host:587, or smtps://user@host:465',
  'http://127.0.0.1:8787/a?b=c@d is served',
  'write alerts@example.net: a sender',
  'https://[::1]:8443/x and https://[2001:db8::1]/',
  'no address: https://example.com/, mail to a@b',
])('%s stays as it is', (text) => {
  expect(withoutCredentials(text)).toBe(text);
});

test.each(['a', 'a://', '://a:', 'a://:x', '?a', '?passw', '://@'])(
  'a text of `%s` again and again is read in one pass',
  (part) => {
    const text = `://${part.repeat(500_000)}`;
    // A reading that begins again at each of them would not end within the time of a test.
    expect(withoutCredentials(text).length).toBeLessThanOrEqual(text.length);
  },
);

test('API keys are cut to four characters after their prefix', () => {
  const key = makeKey();
  const line = redactKeys(`GET /domains/?key=${key}&x=1 ${key}`);
  expect(line).not.toContain(key.slice(8));
  expect(line).toContain(`${key.slice(0, 8)}…`);
});

test('tokens of nodes and secrets of webhooks are cut as API keys are', () => {
  const texts = ['edn_Ab-_cDef0123456789', 'whsec_Ab+/cDef0123456789=='];
  expect(redactKeys(`a ${texts.join(' b ')} c`)).toBe('a edn_Ab-_… b whsec_Ab+/… c');
});
