/** Refused TLS handshakes: their counts, and what the log gets of them. */
import { expect, test } from 'vitest';
import { createRefusedHandshakes } from '../../../../src/edge/listeners/connection-limits.ts';

test('every refusal is counted by its reason, and one sentence of a reason is reported a minute', () => {
  const sentences: string[] = [];
  const { record, counts } = createRefusedHandshakes((sentence) => sentences.push(sentence));
  for (let at = 0; at < 5; at++) record('unknown', `h${at}.test`);
  record('no_name', null);
  expect(counts()).toEqual({
    unknown: 5,
    suspended: 0,
    no_certificate: 0,
    no_name: 1,
    bad_name: 0,
    plain_http: 0,
  });
  expect(sentences).toEqual([
    'a TLS handshake for `h0.test` was refused: no domain here has this name (reported at most once a minute)',
    expect.stringMatching(/^a TLS handshake was refused: the client sent no name/),
  ]);
});

test('a name of any octets is cut and escaped', () => {
  const sentences: string[] = [];
  const { record } = createRefusedHandshakes((sentence) => sentences.push(sentence));
  record('bad_name', `\n\u{1b}[31m${'x'.repeat(1_000)}`);
  expect(sentences[0]).toMatch(/^a TLS handshake for `\\x0a\\x1b\[31mx{94}…` was refused/);
});
