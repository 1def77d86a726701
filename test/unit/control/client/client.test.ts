import { describe, expect, test } from 'vitest';
import { retryAfterMs, sendWithRetries } from '../../../../src/control/client/client.ts';

const NOW = Date.UTC(2026, 10, 20, 12, 0, 0);

describe('Retry-After', () => {
  test.each([
    ['0', 0],
    ['7', 7_000],
    [' 60 ', 60_000],
    ['Fri, 20 Nov 2026 12:00:05 GMT', 5_000],
    ['Fri, 20 Nov 2026 11:00:00 GMT', 0],
    ['soon', null],
    ['', null],
    ['-1x', null],
  ])('Retry-After %j is a wait of %j ms', (text, expected) => {
    expect(retryAfterMs(new Response(null, { headers: { 'retry-after': text } }), NOW)).toBe(expected);
  });

  test('a response without Retry-After has no wait', () => {
    expect(retryAfterMs(new Response(null), NOW)).toBeNull();
  });
});

describe('attempts', () => {
  const patience = { timeoutMs: 1_000, retries: 2, mostWaitMs: 10 };
  const request = (): Request => new Request('http://127.0.0.1/', { method: 'POST', body: 'text' });

  test.each([
    ['a 429 that says when is sent again, as often as allowed', 429, '0', 3],
    ['a 429 that does not say when is the answer', 429, null, 1],
    ['a 429 that asks for too long is the answer', 429, '1', 1],
    ['a 503 is the answer: nobody knows what became of the write', 503, '0', 1],
    ['a 200 is the answer', 200, '0', 1],
  ])('%s', async (_name, status, retryAfter, attempts) => {
    const bodies: string[] = [];
    const answer = async (sent: Request): Promise<Response> => {
      bodies.push(await sent.text());
      return new Response('{}', {
        status,
        headers: retryAfter === null ? {} : { 'retry-after': retryAfter },
      });
    };
    expect((await sendWithRetries(answer, request(), patience)).status).toBe(status);
    expect(bodies).toEqual(Array.from({ length: attempts }, () => 'text'));
  });
});
