import { describe, expect, it } from 'vitest';
import { plainControlLines } from '../../../src/cli/node-settings.ts';

describe('a control plane asked without TLS', () => {
  it.each([
    'https://control.example',
    'http://127.0.0.1:8600',
    'http://127.1.2.3',
    'http://127.1/',
    'http://[::1]:8600',
    'http://localhost:8600/base',
    'http://control.localhost',
  ])('no warning is printed for %s, which is encrypted or stays on this machine', (url) => {
    expect(plainControlLines({ url, publicKey: null })).toEqual([]);
  });

  it.each([
    'http://control.example',
    'http://192.0.2.1:8600/base',
    'http://127.example.com',
    'http://localhost.example',
    'http://[2001:db8::1]',
    'HTTP://Control.Example/',
  ])('a warning names %s, which is reached without TLS', (url) => {
    const { origin } = new URL(url);
    const lines = plainControlLines({ url, publicKey: null });
    expect(lines).toHaveLength(2);
    expect(lines[0]).toContain(`\`${origin}\` is reached without TLS`);
    expect(lines[1]).toContain('--trust');
    expect(plainControlLines({ url, publicKey: 'MCow' })).toEqual([lines[0]]);
  });
});
