import { describe, expect, it } from 'vitest';
import { plainControlLines } from '../../../src/cli/node/plain-control.ts';

describe('a control plane asked without TLS', () => {
  it.each([
    'https://control.example',
    'http://127.0.0.1:8600',
    'http://127.1.2.3',
    'http://127.1/',
    'http://[::1]:8600',
    'http://localhost:8600/base',
    'http://control.localhost',
  ])('%s is no cause to speak', (url) => {
    expect(plainControlLines({ url, publicKey: null })).toEqual([]);
  });

  it.each([
    'http://control.example',
    'http://192.0.2.1:8600/base',
    'http://127.example.com',
    'http://localhost.example',
    'http://[2001:db8::1]',
    'HTTP://Control.Example/',
  ])('%s is told', (url) => {
    const { origin } = new URL(url);
    const told = plainControlLines({ url, publicKey: null });
    expect(told).toHaveLength(2);
    expect(told[0]).toContain(`\`${origin}\` is asked in the clear`);
    expect(told[1]).toContain('--trust');
    expect(plainControlLines({ url, publicKey: 'MCow' })).toEqual([told[0]]);
  });
});
