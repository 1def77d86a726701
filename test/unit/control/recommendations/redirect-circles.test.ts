/** Redirects that lead round in a circle, found without the other proofs. */
import { describe, expect, test } from 'vitest';
import { redirectCircles } from '../../../../src/control/recommendations/recommend.ts';
import { factsOf } from '../../../support/stored-facts.ts';

type Fields = Readonly<Record<string, unknown>>;

const redirect = (from: string, target: string, fields: Fields = {}): Fields => ({
  type: 'redirect',
  path_includes: [from],
  target,
  ...fields,
});
const RECORDS = ['shop', 'www'].map((name, index) => ({
  ...{ id: index + 1, name, type: 'A', destination: '198.51.100.20', proxied: true },
}));
const found = (...rules: readonly Fields[]) =>
  redirectCircles(
    factsOf({ records: RECORDS, rules: rules.map((rule, index) => ({ id: index + 1, ...rule })) }),
  );

describe('a circle of redirects', () => {
  test('is named once, with the rules in their order and a URL that each of them redirects', () => {
    const [one, ...others] = found(redirect('/in', '/a'), redirect('/a', '/b'), redirect('/b', '/a'));
    expect(others).toEqual([]);
    expect(one).toMatchObject({
      kind: 'redirect_circle',
      subject: 'redirect/2',
      severity: 'error',
      evidence: {
        rules: ['redirect/2', 'redirect/3'],
        urls: [expect.stringMatching(/\/a$/), expect.stringMatching(/\/b$/)],
      },
      change: null,
    });
    expect(one!.message).toContain('`redirect/2` → `redirect/3` → `redirect/2`');
  });

  test('is named if it leads from host to host and the paths stay', () => {
    const to = (host: string): Fields => ({
      ...{ host_includes: [`${host === 'www' ? 'shop' : 'www'}.shop.example`], preserve_path: true },
    });
    const rules = ['www', 'shop'].map((host) => redirect('/*', `https://${host}.shop.example/`, to(host)));
    const [one] = found(...rules);
    expect(one?.evidence).toMatchObject({ rules: ['redirect/1', 'redirect/2'] });
  });

  test.each<[string, Fields, Fields]>([
    ['one of them is under dry_run', redirect('/a', '/b'), redirect('/b', '/a', { action_mode: 'dry_run' })],
    ['one of them is disabled', redirect('/a', '/b'), redirect('/b', '/a', { enabled: false })],
    ['it arrives', redirect('/a', '/b'), redirect('/b', '/c')],
    ['it leads to another domain', redirect('/a', 'https://elsewhere.example/b'), redirect('/b', '/a')],
  ])('is none if %s', (_, ...rules) => {
    expect(found(...rules)).toEqual([]);
  });

  test('is none if a drop rule blocks the way', () => {
    const rules = [redirect('/a', '/b'), redirect('/b', '/a')];
    expect(found({ type: 'drop', path_includes: ['/b'] }, ...rules)).toEqual([]);
    expect(found({ type: 'drop', path_includes: ['/c'] }, ...rules)).toHaveLength(1);
  });

  test('is named if a drop rule lets only some visitors come to it', () => {
    const abroad = { type: 'drop', countries: ['NO'], country_match_type: 'exclude' };
    expect(found(abroad, redirect('/a', '/b'), redirect('/b', '/a'))).toHaveLength(1);
  });

  test('is found beside rules that do not decide it, however complex their patterns are', () => {
    const long = (rule: number, entry: number): string => `/${rule}-${entry}/${'*ab-cd-ef'.repeat(90)}`;
    const captchas = Array.from({ length: 5 }, (_, rule) => ({
      ...{ type: 'captcha', ttl_sec: 600 },
      path_includes: Array.from({ length: 200 }, (_entry, entry) => long(rule, entry)),
    }));
    expect(found(...captchas, redirect('/a', '/b'), redirect('/b', '/a'))).toHaveLength(1);
  });

  test('is looked for among 1,000 redirects, and not beyond the bounds of its proofs', () => {
    const chain = Array.from({ length: 1_000 }, (_, index) => redirect(`/p${index}`, `/p${index + 1}`));
    expect(found(...chain)).toEqual([]);
    expect(found(...chain.slice(0, 998), redirect('/a', '/b'), redirect('/b', '/a'))).toHaveLength(1);
    const wild = (index: number): string => `/${index}/${'*ab-cd-ef'.repeat(90)}`;
    const complex = Array.from({ length: 400 }, (_, index) => redirect(wild(index), '/a'));
    expect(found(...complex, redirect('/a', '/b'), redirect('/b', '/a'))).toHaveLength(1);
  });
});
