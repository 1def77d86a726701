/** The page of a challenge: what it says to a visitor whom the challenge does not help. */
import { expect, test } from 'vitest';
import { challengePage } from '../../../../../src/edge/answers/challenge/challenge.ts';

test('a visitor who solved the challenge and sent too many requests reads how long to wait', () => {
  const page = challengePage({ id: 'x', challenge: null, waitSec: 90, back: '/' });
  expect(page).toContain('<h1>Too many requests</h1>');
  expect(page).toContain('Wait up to 90 seconds');
  expect(page).not.toMatch(/<script|cookies|unknown/);
});

test('a visitor of an unknown address does not read of too many requests', () => {
  const page = challengePage({ id: 'x', challenge: null, waitSec: null, back: '/' });
  expect(page).toContain('address of your connection is unknown');
  expect(page).not.toContain('Too many');
});
