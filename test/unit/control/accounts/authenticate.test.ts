import { describe, expect, test } from 'vitest';
import { hashKey, makeKey, opens, presentedHash } from '../../../../src/control/accounts/authenticate.ts';
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
