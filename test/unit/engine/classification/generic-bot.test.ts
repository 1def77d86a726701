import { describe, expect, it } from 'vitest';
import { isGenericBot } from '../../../../src/engine/classification/generic-bot.ts';

describe('generic bots', () => {
  it('generic bots are recognised by their User-Agent', () => {
    expect(isGenericBot('curl/8.5.0')).toBe(true);
    expect(isGenericBot('python-requests/2.31')).toBe(true);
    expect(
      isGenericBot('Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36'),
    ).toBe(false);
  });

  it('a request without a User-Agent is not a generic bot', () => {
    expect(isGenericBot(undefined)).toBe(false);
    expect(isGenericBot('')).toBe(false);
  });

  it('only the first 512 characters of a User-Agent are matched', () => {
    const browser = 'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 '.repeat(10).slice(0, 511);
    expect(isGenericBot(browser)).toBe(false);
    expect(isGenericBot(`${browser} compatible; somebot/1.0`)).toBe(false);
  });
});
