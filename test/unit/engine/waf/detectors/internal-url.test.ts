import { describe, expect, test } from 'vitest';
import { detectInternalUrl, SHORTEST_URL } from '../../../../../src/engine/waf/detectors/internal-url.ts';

describe('a value is reported with its construct', () => {
  test.each([
    ['metadata service of a cloud', 'http://169.254.169.254/'],
    ['metadata service of a cloud', '169.254.169.254'],
    ['metadata service of a cloud', 'http://2852039166/'],
    ['metadata service of a cloud', 'http://0xa9fea9fe/'],
    ['metadata service of a cloud', 'http://0251.0376.0251.0376/'],
    ['metadata service of a cloud', 'http://169.254.43518/'],
    ['metadata service of a cloud', 'http://[::ffff:a9fe:a9fe]/'],
    ['metadata service of a cloud', 'http://[fd00:ec2::254]/'],
    ['metadata service of a cloud', 'http://metadata.google.internal/'],
    ['metadata service of a cloud', 'http://100.100.100.200/'],
    ['metadata service of a cloud', 'http://192.0.0.192/'],
    ['metadata service of a cloud', 'http://168.63.129.16/'],
    ['metadata service of a cloud', '/fetch/http:/169.254.169.254/x'],
    ['internal address in another spelling', 'http://127.1/'],
    ['internal address in another spelling', 'http://0x7f.1:8080/'],
    ['internal address in another spelling', 'http://2130706433/'],
    ['internal address in another spelling', 'http://0177.0.0.1/'],
    ['internal address in another spelling', 'http://0/'],
    ['internal address in another spelling', 'http://[::]/'],
    ['internal address in another spelling', 'http://[::127.0.0.1]/'],
    ['internal address in another spelling', 'http://[0:0:0:0:0:0:0:1]/'],
    ['internal address in another spelling', 'http:\\\\127.1\\'],
    [
      'internal address in another spelling',
      'http://\xe2\x91\xa0\xe2\x91\xa1\xe2\x91\xa6.\xe2\x93\xaa.\xe2\x93\xaa.\xe2\x91\xa0/',
    ],
    ['internal address in another spelling', 'http://127.0.0.1./'],
    ['internal address in another spelling', 'http://0o177.0.0.1/'],
    ['metadata service of a cloud', 'http://0x41414141a9fea9fe/'],
    ['host behind a user name', 'http://127.0.0.1:80@a.example/'],
    ['host behind a user name', 'http://a@b@c.example/'],
    ['scheme of another protocol', 'sftp://127.0.0.1/'],
    ['internal address in another spelling', '0x7f.0.0.1'],
    ['name that resolves to an internal address', 'http://a.localtest.me/'],
    ['name that resolves to an internal address', 'http://127.0.0.1.nip.io/'],
    ['name that resolves to an internal address', 'http://app-10-0-0-1.sslip.io/'],
    ['name that resolves to an internal address', 'http://7f000001.nip.io/'],
    ['service of a cluster', 'http://kubernetes.default.svc/'],
    ['service of a cluster', 'http://a.b.svc.cluster.local/'],
    ['address of the local link', 'http://169.254.3.4/'],
    ['internal host behind a user name', 'http://a:b@127.0.0.1:3000/'],
    ['host behind a user name', 'http://a.example#@b.example/'],
    ['host behind a user name', 'http://a.example\\@b.example/'],
    ['scheme of another protocol', 'gopher://a/'],
    ['scheme of another protocol', 'dict://a:11211/'],
    ['scheme of another protocol', 'ldap://10.1.2.3/'],
    ['scheme of another protocol', 'tftp://a/b'],
    ['scheme of another protocol', 'netdoc:///etc/passwd'],
    ['scheme of another protocol', 'jar:http://a/b!/'],
    ['file of the system', 'file:///etc/passwd'],
    ['file of the system', 'url:file:/proc/self'],
    ['file of the system', 'file:///c:/windows/win.ini'],
    ['internal service', 'http://127.0.0.1/'],
    ['internal service', 'http://localhost:6379/'],
    ['internal service', 'http://localhost/admin'],
    ['internal service', 'http://10.1.1.1:22/'],
    ['internal service', 'http://[::1]:9200/'],
  ])('%s: %j', (construct, value) => expect(detectInternalUrl(value)).toBe(construct));
});

describe('URLs of the Internet and of applications under development are not reported', () => {
  test.each([
    'http://localhost:3000/callback',
    'http://127.0.0.1:54321/',
    'http://127.0.0.1/oauth/callback',
    'https://localhost/home',
    'http://192.168.1.20/cam.jpg',
    'https://[2001:db8::1]:8443/',
    'see http://169.254.169.254/',
    'http://169.254.169.254 is the metadata address',
    'file:///Users/anna/a.html',
    'urn:isbn:1234',
    '12:30',
    'mailto:a@b.example',
    'ldap://ldap.example.com/',
    '1.2.3.4',
    '10.0.0.5',
    '0x7f',
    '//cdn.example.com/a.js',
    'https://10.example.com/',
    'https://app.example.nip.io/',
    'metadata',
  ])('%j', (value) => expect(detectInternalUrl(value)).toBeNull());
});

test('the shortest reported value has SHORTEST_URL octets', () => {
  const value = '//0';
  expect(detectInternalUrl(value)).not.toBeNull();
  expect(value).toHaveLength(SHORTEST_URL);
});
