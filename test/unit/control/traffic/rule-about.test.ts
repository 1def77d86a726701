/** The short text by which people recognise a rule. */
import { describe, expect, test } from 'vitest';
import { MAX_ABOUT_CHARACTERS } from '../../../../src/control/traffic/limits.ts';
import { ruleAbout } from '../../../../src/control/traffic/show-hits.ts';

describe('the text of a rule', () => {
  test.each([
    [{ path_includes: ['/*'] }, ''],
    [{ path_includes: ['/admin/*', '/setup'] }, '/admin/* +1'],
    [{ path_includes: ['/admin/*'], ips: ['192.0.2.1'] }, '/admin/* · 1 address'],
    [{ ips: ['192.0.2.1', '192.0.2.2'], ip_match_type: 'exclude' }, 'all but 2 addresses'],
    [{ countries: ['DE', 'NO'], country_match_type: 'exclude' }, 'all but DE +1'],
    [{ countries: ['KP'], country_match_type: 'include' }, 'KP'],
    [{ bot_kinds: ['gptbot', 'ccbot'] }, 'gptbot +1'],
    [{ origins: [{}, {}] }, '2 origins'],
    [{ codes: [502, 503] }, '502 +1'],
    [{ path_includes: 7 }, ''],
  ])('%j is shown as "%s"', (body, text) => {
    expect(ruleAbout(body)).toBe(text);
  });

  test('is cut at its bound, by characters', () => {
    const text = ruleAbout({ path_includes: ['/💡'.repeat(100)] });
    expect([...text]).toHaveLength(MAX_ABOUT_CHARACTERS);
    expect(text.endsWith('💡…') || text.endsWith('/…')).toBe(true);
  });
});
