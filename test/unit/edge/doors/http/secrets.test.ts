/** Secrets of the HTTP door: what a file may have, and what is compared. */
import { expect, test } from 'vitest';
import { isSecret, readDoorSecrets } from '../../../../../src/edge/doors/http/secrets.ts';

const ONE = '0123456789abcdef';
const TWO = 'fedcba9876543210!';

test('each line is a secret, besides comments and empty ones', () => {
  const secrets = readDoorSecrets(`# old\n${ONE}\r\n\n  ${TWO}\n`, 'the file');
  expect([isSecret(secrets, ONE), isSecret(secrets, TWO)]).toEqual([true, true]);
  for (const other of ['', `${ONE}x`, ONE.slice(1), `${ONE.slice(1)}x`, '# old', `${ONE}\n${TWO}`]) {
    expect(isSecret(secrets, other), other).toBe(false);
  }
});

test.each([
  ['', 'has no secret'],
  ['# only a comment', 'has no secret'],
  [`${ONE}\nshort`, 'secret 2 in the file `x` has 5 characters, and at least 16 are needed'],
  ['with a blank in its middle', 'has characters other than visible ASCII'],
])('%j is refused, without the secret in the sentence', (text, reason) => {
  let message = '';
  try {
    readDoorSecrets(text, 'the file `x`');
  } catch (error) {
    message = (error as Error).message;
  }
  expect(message).toContain(reason);
  for (const line of text.split('\n').filter((one) => one !== '')) expect(message).not.toContain(line);
});
