import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  hashKey,
  isKeyText,
  KEY_CHARACTERS,
  makeKey,
  opens,
  presentedHash,
} from '../../../../src/control/accounts/authenticate.ts';
import {
  blockedSurface,
  mayDo,
  PERMISSIONS,
  permissionsOf,
  ROLES,
} from '../../../../src/control/accounts/roles.ts';

const key = makeKey();
const other = makeKey();

describe('the key of a request', () => {
  test.each([
    { authorization: `Bearer ${key}` },
    { authorization: `bearer  ${key} ` },
    { 'x-api-key': key },
    { 'x-api-key': ` ${key} ` },
    { authorization: `Bearer ${key}`, 'x-api-key': key },
    { authorization: 'Basic YTpi', 'x-api-key': key },
  ])('is found in %j', (headers) => expect(presentedHash(headers)).toBe(hashKey(key)));

  test.each([
    {},
    { authorization: key },
    { authorization: `Basic ${key}` },
    { authorization: `Bearer ${key.slice(0, -1)}` },
    { authorization: `Bearer ${key}`, 'x-api-key': other },
    { authorization: `Bearer ${key} ${key}` },
    { 'x-api-key': '' },
  ])('is not there in %j', (headers) => expect(presentedHash(headers)).toBeNull());

  test('is valid until it is revoked, expired, or its account inactive', () => {
    const row = {
      id: 1,
      account_id: 1,
      hash: '',
      name: '',
      read_only: false,
      created_at: 0,
      expires_at: null,
      revoked_at: null,
      account_active: true,
    };
    expect(opens(row, 100)).toBe(true);
    expect(opens({ ...row, expires_at: 101 }, 100)).toBe(true);
    expect(opens({ ...row, expires_at: 100 }, 100)).toBe(false);
    expect(opens({ ...row, revoked_at: 200 }, 100)).toBe(false);
    expect(opens({ ...row, account_active: false }, 100)).toBe(false);
  });
});

describe('roles', () => {
  test('have every permission of the roles below, from viewer to owner', () => {
    for (const [index, role] of ROLES.entries()) {
      const below = index === 0 ? [] : permissionsOf(ROLES[index - 1]!);
      expect(permissionsOf(role)).toEqual(expect.arrayContaining([...below]));
    }
    expect(permissionsOf('viewer')).toEqual(['domain.view']);
    expect(mayDo('editor', 'domain.settings')).toBe(false);
    expect(mayDo('admin', 'domain.delete')).toBe(false);
    expect(permissionsOf('owner')).toEqual(PERMISSIONS);
  });
});

describe('blocked surfaces', () => {
  test.each([
    ['GET', 'users'],
    ['GET', 'users/'],
    ['DELETE', 'users/1/keys/2'],
    ['POST', 'auth/login'],
    ['GET', 'billing/plans'],
    ['PUT', 'admin/x'],
    ['POST', 'wallet/topup'],
    ['POST', 'subscriptions/purchase'],
    ['POST', 'subscriptions/switch'],
    ['POST', 'subscriptions/auto-renew'],
    ['POST', 'domains/a.example/subscriptions/purchase'],
    ['POST', 'domains/a.example/subscriptions/switch'],
    ['POST', 'domains/a.example/subscriptions/auto-renew'],
  ])('%s /%s', (method, path) => expect(blockedSurface(method, path.split('/'))).not.toBeNull());

  test.each([
    ['GET', 'wallet/topup'],
    ['GET', 'subscriptions/purchase'],
    ['POST', 'subscriptions/purchase/x'],
    ['GET', 'domains/users'],
    ['GET', 'usersx'],
    ['GET', ''],
    ['POST', 'domains/a/b/subscriptions/purchase'],
  ])('but not %s /%s', (method, path) => expect(blockedSurface(method, path.split('/'))).toBeNull());
});

const BASE62 = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

describe('keys', () => {
  test('have 69 characters that begin with svc_, and no two are equal', () => {
    const keys = Array.from({ length: 200 }, makeKey);
    for (const key of keys) expect(key).toMatch(/^svc_[0-9A-Za-z]{65}$/);
    expect(KEY_CHARACTERS).toBe(69);
    expect(new Set(keys).size).toBe(200);
    expect(keys.every(isKeyText)).toBe(true);
  });

  test('use every character of the alphabet', () => {
    const seen = new Set(Array.from({ length: 200 }, makeKey).flatMap((key) => [...key.slice(4, -6)]));
    expect([...seen].sort().join('')).toBe([...BASE62].sort().join(''));
  });

  test('with one character changed are no keys', () => {
    fc.assert(
      fc.property(fc.nat(64), fc.constantFrom(...BASE62), (place, character) => {
        const key = makeKey();
        const at = place + 4;
        const other = key.slice(0, at) + character + key.slice(at + 1);
        expect(isKeyText(other)).toBe(other === key);
      }),
    );
  });

  test.each(['', 'svc_', `svc_${'a'.repeat(65)}`, `${makeKey()} `, makeKey().slice(0, -1), `${makeKey()}a`])(
    'are not %j',
    (text) => expect(isKeyText(text)).toBe(false),
  );

  test('have their SHA-256 in hex as their stored form', () => {
    expect(hashKey('abc')).toBe('ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });
});
