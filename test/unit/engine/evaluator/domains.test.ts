import { describe, expect, test } from 'vitest';
import { createDomains, type Domains } from '../../../../src/engine/evaluator/domains.ts';
import type { Evaluator } from '../../../../src/engine/evaluator/evaluate.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { loadRuleSet } from '../../../support/load.ts';

function evaluatorOf(name: string): Evaluator {
  const parsed = parseRuleSet({ domain: { name, status: 'active' }, records: [], rules: [] });
  if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
  return loadRuleSet(parsed.ruleSet);
}

function domainsOf(...names: readonly string[]): Domains {
  const domains = createDomains();
  for (const name of names) domains.set(name, evaluatorOf(name));
  return domains;
}

/** The name of the domain that owns a host. */
function owner(domains: Domains, host: string): string | null {
  return domains.find(host)?.domain ?? null;
}

describe('find', () => {
  test('a name owns itself and every host below it', () => {
    const domains = domainsOf('example.com', 'other.org');
    expect(owner(domains, 'example.com')).toBe('example.com');
    expect(owner(domains, 'www.example.com')).toBe('example.com');
    expect(owner(domains, 'a.b.c.d.e.example.com')).toBe('example.com');
    expect(owner(domains, 'x.other.org')).toBe('other.org');
  });

  test('the longest name that covers a host owns it, whichever was registered first', () => {
    for (const names of [
      ['example.com', 'shop.example.com'],
      ['shop.example.com', 'example.com'],
    ]) {
      const domains = domainsOf(...names);
      expect(owner(domains, 'shop.example.com')).toBe('shop.example.com');
      expect(owner(domains, 'eu.shop.example.com')).toBe('shop.example.com');
      expect(owner(domains, 'workshop.example.com')).toBe('example.com');
      expect(owner(domains, 'example.com')).toBe('example.com');
    }
  });

  test('a name is matched by whole labels only', () => {
    const domains = domainsOf('example.com');
    for (const host of ['badexample.com', 'com', 'example.co', 'example.com.evil.org', 'xample.com']) {
      expect(owner(domains, host)).toBe(null);
    }
  });

  test('hosts are read as the evaluator reads them: case, port, trailing dot, IDNA', () => {
    const domains = domainsOf('example.com', 'xn--mnchen-3ya.de');
    for (const host of [
      'EXAMPLE.com',
      'example.com:8443',
      'example.com.',
      'Www.Example.Com.:80',
      'example.com:',
    ]) {
      expect(owner(domains, host)).toBe('example.com');
    }
    expect(owner(domains, 'www.München.de')).toBe('xn--mnchen-3ya.de');
  });

  test('an invalid host and an IP address have no owner', () => {
    const domains = domainsOf('example.com');
    const hosts = [
      '',
      '.',
      'a..example.com',
      'a b.example.com',
      'example.com:99999',
      'u@example.com',
      '.example.com',
    ];
    for (const host of [...hosts, '[::1]', '192.0.2.1', `${'x'.repeat(64)}.example.com`]) {
      expect(owner(domains, host)).toBe(null);
    }
    expect(domains.find(undefined as unknown as string)).toBe(null);
  });

  test('a host of very many labels finds its owner among names of few', () => {
    const domains = domainsOf('a.b', 'a.b.a.b');
    expect(owner(domains, `${'x.'.repeat(120)}a.b`)).toBe('a.b');
    expect(owner(domains, `${'x.'.repeat(120)}a.b.a.b`)).toBe('a.b.a.b');
    expect(owner(domains, `${'x.'.repeat(120)}a.c`)).toBe(null);
  });

  test('an empty set owns nothing', () => {
    expect(owner(createDomains(), 'example.com')).toBe(null);
  });
});

describe('set and delete', () => {
  test('a name can be given in any spelling and counts once', () => {
    const domains = createDomains();
    const first = evaluatorOf('example.com');
    const second = evaluatorOf('example.com');
    domains.set('Example.COM.', first);
    expect(domains.find('www.example.com')).toBe(first);
    domains.set('example.com', second);
    expect(domains.find('www.example.com')).toBe(second);
    expect(domains.size).toBe(1);
  });

  test('a deleted name leaves its hosts to the name above it', () => {
    const domains = domainsOf('example.com', 'shop.example.com');
    expect(domains.delete('SHOP.example.com')).toBe(true);
    expect(owner(domains, 'eu.shop.example.com')).toBe('example.com');
    expect(owner(domains, 'shop.example.com')).toBe('example.com');
    expect(domains.size).toBe(1);
    expect(domains.delete('shop.example.com')).toBe(false);
    expect(domains.delete('not a name')).toBe(false);
  });

  test('a name that no host could have is a bug of the caller', () => {
    expect(() => createDomains().set('*bad name*', evaluatorOf('example.com'))).toThrow(/can own hosts/);
  });
});
