/** Addresses, confirmation codes, webhooks, and options of outlets. */
import { describe, expect, test } from 'vitest';
import { createSpecialJudge } from '../../../../src/base/addresses/special-addresses.ts';
import {
  type CodeRequest,
  checkCode,
  confirmedContact,
  emptyContact,
  readAddress,
  requestCode,
} from '../../../../src/control/notices/contact.ts';
import {
  CODE_MS,
  CODE_PAUSE_MS,
  CODES_DAY_MS,
  MAX_CODE_TRIES,
  MAX_CODES_PER_DAY,
} from '../../../../src/control/notices/limits.ts';
import { chosenChannels, preferenceRows } from '../../../../src/control/notices/notify.ts';
import {
  judgeGatewayUrl,
  judgeSender,
  judgeSmtpUrl,
} from '../../../../src/control/notices/outlet-options.ts';
import { judgeWebhookUrl, newWebhookSecret } from '../../../../src/control/notices/outlets.ts';
import { judgePublicUrl } from '../../../../src/control/notices/wording.ts';

const T = 1_800_000_000_000;

describe('an address', () => {
  test.each([
    ['email', 'ann@Shop.Example', 'ann@shop.example'],
    ['email', "o'hara+alerts@bücher.example", "o'hara+alerts@xn--bcher-kva.example"],
    ['sms', '+49 (30) 123-456', '+4930123456'],
  ] as const)('%s `%s` is stored as `%s`', (channel, text, address) => {
    expect(readAddress(channel, text)).toEqual({ address });
  });

  test.each([
    ['email', 'ann'],
    ['email', 'ann@localhost'],
    ['email', '.ann@shop.example'],
    ['email', 'a..n@shop.example'],
    ['email', 'ann@shop.example\r\nBcc: b@x.example'],
    ['email', 'a\n@shop.example'],
    ['email', 'ann <ann@shop.example>'],
    ['email', `${'a'.repeat(65)}@shop.example`],
    ['sms', '030123456'],
    ['sms', '+4930'],
    ['sms', '+49301234567890123'],
  ] as const)('%s `%s` is refused', (channel, text) => {
    expect(readAddress(channel, text)).toHaveProperty('problem');
  });
});

describe('a confirmation code', () => {
  const empty = emptyContact(1, 'email');
  const granted = (request: CodeRequest) => {
    if (!request.ok) throw new Error('refused');
    return request;
  };

  test('confirms the address that it was sent to, once, and keeps the one before until then', () => {
    const before = confirmedContact(empty, 'old@x.example');
    const { row, code } = granted(requestCode(before, 'new@x.example', T));
    expect(row).toMatchObject({ address: 'old@x.example', pending: 'new@x.example' });
    expect(row.code_hash).not.toContain(code);
    const { row: after, problem } = checkCode(row, code, T + 1);
    expect(problem).toBeNull();
    expect(after).toMatchObject({ address: 'new@x.example', pending: '', code_hash: '' });
    expect(checkCode(after, code, T + 2).problem).toBe('no address waits for a code');
  });

  test('expires, and is void after too many wrong ones', () => {
    const { row, code } = granted(requestCode(empty, 'new@x.example', T));
    expect(checkCode(row, code, T + CODE_MS).problem).toContain('expired');
    let tried = row;
    const wrong = code === '00000000' ? '00000001' : '00000000';
    for (let at = 0; at < MAX_CODE_TRIES; at++) {
      const check = checkCode(tried, wrong, T);
      expect(check.problem).toBe('the code is wrong');
      tried = check.row;
    }
    const last = checkCode(tried, code, T);
    expect(last.problem).toContain(`after ${MAX_CODE_TRIES} wrong ones`);
    expect(last.row.address).toBe('');
  });

  test('is sent once in a minute, and so many times a day', () => {
    let { row } = granted(requestCode(empty, 'new@x.example', T));
    expect(requestCode(row, 'new@x.example', T + 1)).toEqual({ ok: false, waitMs: CODE_PAUSE_MS - 1 });
    for (let at = 1; at < MAX_CODES_PER_DAY; at++)
      ({ row } = granted(requestCode(row, 'new@x.example', T + at * CODE_PAUSE_MS)));
    const later = T + MAX_CODES_PER_DAY * CODE_PAUSE_MS;
    expect(requestCode(row, 'new@x.example', later)).toEqual({ ok: false, waitMs: T + CODES_DAY_MS - later });
    expect(granted(requestCode(row, 'new@x.example', T + CODES_DAY_MS)).row.sends).toBe(1);
  });
});

describe('a webhook', () => {
  const special = createSpecialJudge({ prefixes: ['10.1.0.0/16'], local: false });

  test.each([
    'https://hooks.example.com/a?b=c',
    'http://93.184.216.34:8080/',
    'http://10.1.2.3/',
    'https://[2606:2800:220:1:248:1893:25c8:1946]/',
  ])('may be %s', (url) => {
    expect(judgeWebhookUrl(url, special)).toBeNull();
  });

  test.each([
    ['ftp://hooks.example.com/', 'http or https'],
    ['hooks.example.com', 'http or https'],
    ['https://ann:secret@hooks.example.com/', 'a user or a password'],
    ['https://hooks.example.com/#a', 'a fragment'],
    ['http://hooks.example.com:25/', 'the port 80 or 443'],
    ['https://hooks.example.com:1023/', 'the port 80 or 443'],
    ['http://127.1/', 'loopback'],
    ['http://[fe80::1]/', 'link-local'],
    ['http://127.0.0.1/', 'loopback'],
    ['http://0x7f.1/', 'loopback'],
    ['http://2130706433/', 'loopback'],
    ['http://[::1]/', 'loopback'],
    ['http://[::ffff:169.254.169.254]/', 'metadata'],
    ['http://169.254.1.1/', 'link-local'],
    ['http://10.2.0.1/', 'private'],
    [`https://hooks.example.com/${'a'.repeat(2_048)}`, 'at most 2048'],
  ])('may not be %s', (url, problem) => {
    expect(judgeWebhookUrl(url, special)).toContain(problem);
  });

  test('has a secret of its own, of 32 octets', () => {
    const secret = newWebhookSecret();
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/);
    expect(newWebhookSecret()).not.toBe(secret);
  });
});

test('options of outlets are refused with what to write instead', () => {
  expect(judgeSmtpUrl('smtp://user@mail.example.net:587')).toBeNull();
  expect(judgeSmtpUrl('smtp://user:secret@mail.example.net')).toContain('--smtp-password-file');
  expect(judgeSmtpUrl('mail.example.net')).toContain('smtp://');
  expect(judgeSender('Alerts <alerts@example.net>')).toBeNull();
  expect(judgeSender('alerts@example.net')).toBeNull();
  expect(judgeSender('Alerts')).toContain('alerts@example.net');
  expect(judgeSender('A\r\nBcc: x <alerts@example.net>')).not.toBeNull();
  expect(judgeGatewayUrl('https://sms.example.net/send')).toBeNull();
  expect(judgeGatewayUrl('https://u:p@sms.example.net/')).toContain('--sms-token-file');
  expect(judgeGatewayUrl('sms')).toContain('https://');
  expect(judgePublicUrl('https://panel.example.net/domains/{domain}')).toBeNull();
  expect(judgePublicUrl('panel')).toContain('{domain}');
});

test('a preference changes one channel of one kind, and none that the kind never goes out on', () => {
  expect(chosenChannels('outage.opened', [])).toEqual({ email: true, sms: true, webhook: true });
  expect(chosenChannels('certificate.issued', [])).toEqual({ email: false, sms: null, webhook: true });
  const change = preferenceRows(7, { kind: 'outage.opened', channels: { sms: false, email: null } });
  const row = { account_id: 7, kind: 'outage.opened', channel: 'sms', enabled: false } as const;
  expect(change).toEqual({ rows: [row] });
  expect(chosenChannels('outage.opened', [row])).toMatchObject({ email: true, sms: false });
  expect(preferenceRows(7, { kind: 'key.created', channels: { sms: true } })).toEqual({ never: 'sms' });
  expect(preferenceRows(7, { kind: 'key.created', channels: { sms: false } })).toEqual({ rows: [] });
});
