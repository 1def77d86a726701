/** What visitors do: look at pages, log in, order, upload. */
import { form, json, multipart } from './bodies.ts';
import { apiClient, BROWSERS, hex, octets } from './clients.ts';
import { cookieHeader, everyCookie } from './cookies.ts';
import { browser, type Draft, type Scene } from './scene.ts';

export function pages({ random, material }: Scene): readonly Draft[] {
  return material.values.pages.flatMap((target) =>
    BROWSERS.map((headers) => ({
      target,
      headers: random.chance(0.5) ? { ...headers, cookie: cookieHeader(random) } : headers,
    })),
  );
}

export function addresses({ random, material: { values } }: Scene): readonly Draft[] {
  return random.times(160, (index) => {
    const fields = {
      name: random.pick(values.people),
      'billing[street]': random.pick(values.streets),
      'billing[city]': random.pick(values.cities),
      'billing[zip]': String(10_000 + random.int(89_999)),
      phone: random.pick(values.phones),
      email: random.pick([
        'ann@example.com',
        "o'brien@example.ie",
        'a.b+c@example.co.uk',
        '"ann smith"@example.com',
        'ünal@bücher.example',
      ]),
      vat: random.pick(['', 'DE123456789', 'IE1234567FA', 'n/a', '--']),
      note: random.pick([
        "Don't ring; the baby sleeps",
        'Leave at no. 5 (or 7)',
        '',
        '2nd floor & left',
        "if I'm out, drop it at the union office",
      ]),
      terms: 'on',
    };
    return {
      target: '/checkout/address',
      headers: browser(random),
      body: index % 3 === 0 ? json(fields) : form(fields),
    };
  });
}

export function logins({ random, material: { values } }: Scene): readonly Draft[] {
  return values.passwords.flatMap((password): Draft[] => {
    const username = random.pick(['ann', "o'brien", 'admin', 'root', 'ann@example.com', 'd.union', 'test']);
    return [
      {
        target: '/login',
        headers: browser(random),
        body: form({ username, password, _csrf: hex(random, 32), remember: '1' }),
      },
      {
        target: '/oauth/token',
        headers: apiClient(random),
        body: form({
          grant_type: 'password',
          username,
          password,
          client_id: 'web',
          scope: 'openid offline_access',
        }),
      },
      {
        target: '/api/session',
        headers: apiClient(random),
        body: json({ user: username, password, otp: '123456' }),
      },
    ];
  });
}

export function urlsInArguments({ random, material: { values } }: Scene): readonly Draft[] {
  return values.urls.flatMap((url): Draft[] => [
    { target: `/go?url=${encodeURIComponent(url)}`, headers: browser(random) },
    {
      target: `/oauth/authorize?client_id=cli&redirect_uri=${encodeURIComponent(url)}&response_type=code&state=${hex(random, 16)}`,
      headers: browser(random),
    },
    {
      target: '/api/bookmarks',
      headers: apiClient(random),
      body: json({ url, title: 'A page', referrer: url }),
    },
  ]);
}

export function cookies({ random }: Scene): readonly Draft[] {
  const single = everyCookie(random).map((cookie) => ({
    target: '/account',
    headers: { ...random.pick(BROWSERS), cookie },
  }));
  return [
    ...single,
    ...random.times(60, () => ({
      target: '/cart',
      headers: { ...random.pick(BROWSERS), cookie: cookieHeader(random) },
    })),
  ];
}

export function uploads({ random, material: { values, prose: texts } }: Scene): readonly Draft[] {
  const names = [
    'photo.jpg',
    'CV Ann Smith (final).pdf',
    "mum's recipe.docx",
    'données été.xlsx',
    'C:\\Users\\anna\\Desktop\\scan.png',
    '写真 1.heic',
    'archive.tar.gz',
    'notes..txt',
    'a;b.csv',
    'IMG_0001.JPG',
    'my "best" shot.png',
    'invoice#17.pdf',
    'app.js',
    'index.html',
    'data.json',
    'script.py',
  ];
  return random.times(64, (index) => {
    const filename = names[index % names.length]!;
    const text = random.pick(texts['en']!);
    const content = index % 2 === 0 ? `\x89PNG\r\n\x1a\n${octets(random, 400).toString('latin1')}` : text;
    const fields = { title: text.slice(0, 40), album: random.pick(values.cities), csrf: hex(random, 32) };
    return {
      target: '/upload',
      headers: browser(random),
      body: multipart(fields, { file: { filename, type: 'application/octet-stream', content } }),
    };
  });
}
