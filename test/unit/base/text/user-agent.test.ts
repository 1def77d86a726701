import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { classifyUserAgent } from '../../../../src/base/text/user-agent.ts';
import { BOT_KINDS } from '../../../../src/base/vocabulary/vocabulary.ts';

const NAMED = BOT_KINDS.filter((kind) => kind !== 'google-extended' && kind !== 'generic-bot');

function kindOf(text: string): string | undefined {
  return BOT_KINDS[classifyUserAgent(text)];
}

/** What the decision says, word for word: ASCII case folded, substring, first in the API's order. */
function naive(text: string): number {
  const folded = text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
  return BOT_KINDS.findIndex((kind) => (NAMED as readonly string[]).includes(kind) && folded.includes(kind));
}

describe('classifyUserAgent', () => {
  const published: [agent: string, kind: string | undefined][] = [
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; GPTBot/1.1; +https://openai.com/gptbot',
      'gptbot',
    ],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko); compatible; ChatGPT-User/1.0; +https://openai.com/bot',
      'chatgpt-user',
    ],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; ClaudeBot/1.0; +claudebot@anthropic.com)',
      'claudebot',
    ],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; Perplexity-User/1.0; +https://perplexity.ai/perplexity-user)',
      'perplexity-user',
    ],
    ['Mozilla/5.0 (compatible; Googlebot/2.1; +http://www.google.com/bot.html)', 'googlebot'],
    [
      'Mozilla/5.0 AppleWebKit/537.36 (KHTML, like Gecko; compatible; bingbot/2.0; +http://www.bing.com/bingbot.htm) Chrome/116.0 Safari/537.36',
      'bingbot',
    ],
    ['CCBot/2.0 (https://commoncrawl.org/faq/)', 'ccbot'],
    [
      'meta-externalagent/1.1 (+https://developers.facebook.com/docs/sharing/webmasters/crawler)',
      'meta-externalagent',
    ],
    ['Mozilla/5.0 (compatible; YandexBot/3.0; +http://yandex.com/bots)', 'yandexbot'],
    ['Mozilla/5.0 (compatible; MJ12bot/v1.4.8; http://mj12bot.com/)', 'mj12bot'],
    [
      'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/138.0.0.0 Safari/537.36',
      undefined,
    ],
    ['Google-Extended', undefined],
    ['generic-bot', undefined],
    ['', undefined],
  ];
  test.each(published)('%s', (agent, kind) => {
    expect(kindOf(agent)).toBe(kind);
  });

  test('every named kind is found in any case, at either end of a User-Agent', () => {
    for (const kind of NAMED) {
      for (const text of [kind, kind.toUpperCase(), `x${kind}`, `${kind}x`, kind.slice(0, -1) + kind]) {
        expect(kindOf(text)).toBe(kind);
      }
    }
  });

  test('a User-Agent with several tokens is the kind that is first in the API’s order', () => {
    expect(kindOf('mj12bot ahrefsbot googlebot gptbot')).toBe('gptbot');
    expect(kindOf('Applebot (like Googlebot)')).toBe('googlebot');
    expect(kindOf('semrushbot/claude-user/claudebot')).toBe('claudebot');
  });

  test('folds ASCII only', () => {
    expect(kindOf('duckduc\u212Abot')).toBeUndefined();
    expect(kindOf('ｇptbot')).toBeUndefined();
    expect(kindOf('\u0167gptbot\ud800')).toBe('gptbot');
  });

  test('equals a search for each token', () => {
    // Pieces of tokens, so that beginnings overlap, and characters around them that fold or do not.
    const piece = fc
      .tuple(fc.constantFrom(...NAMED), fc.nat(12), fc.nat(20), fc.boolean())
      .map(([token, from, length, upper]) => {
        const text = token.slice(from, from + length);
        return upper ? text.toUpperCase() : text;
      });
    const whole = fc.constantFrom<string>(...NAMED, ...NAMED.map((token) => token.toUpperCase()));
    const noise = fc.string({
      unit: fc.constantFrom('g', 'B', 'o', 't', '-', 'é', '\u212A', '\uffff', '\u0000', '1'),
      maxLength: 4,
    });
    const text = fc
      .array(fc.oneof(piece, piece, whole, noise), { maxLength: 12, size: 'max' })
      .map((parts) => parts.join(''));
    let found = 0;
    fc.assert(
      fc.property(text, (agent) => {
        const expected = naive(agent);
        expect(classifyUserAgent(agent)).toBe(expected);
        if (expected >= 0) found++;
      }),
      { numRuns: 3000 },
    );
    expect(found).toBeGreaterThan(500);
  });
});
