/** What people write: comments, code, searches, rich text. */
import { analytics } from './apis.ts';
import { form, json, multipart } from './bodies.ts';
import { apiClient, hex } from './clients.ts';
import { browser, type Draft, type Scene } from './scene.ts';

/** Each text in a form, in JSON, in a multipart form and, shortened as previews do, in a query. */
export function prose({ random, material }: Scene): readonly Draft[] {
  return Object.entries(material.prose).flatMap(([language, texts]) =>
    texts.flatMap((text): Draft[] => {
      const author = random.pick(material.values.people);
      return [
        {
          target: '/comments',
          headers: browser(random),
          body: form({ author, comment: text, language, submit: 'Send' }),
        },
        {
          target: '/api/reviews',
          headers: apiClient(random),
          body: json({ author, rating: 1 + random.int(5), text, tags: [language, 'review'] }),
        },
        {
          target: '/tickets',
          headers: browser(random),
          body: multipart({ subject: text.slice(0, 60), message: text.replaceAll('; ', ';\r\n') }),
        },
        { target: `/preview?text=${encodeURIComponent(text.slice(0, 200))}`, headers: browser(random) },
      ];
    }),
  );
}

export function code({ random, material }: Scene): readonly Draft[] {
  return material.code.flatMap(({ title, text, language, hard = false }): Draft[] => [
    {
      hard,
      target: '/forum/new',
      headers: browser(random),
      body: form({ title, body: `How does this work?\n\n${text}\n\nThanks!` }),
    },
    {
      hard,
      target: '/api/snippets',
      headers: apiClient(random),
      body: json({ title, language, files: { 'main.txt': { content: text } } }),
    },
    { hard, target: '/paste', headers: browser(random), body: multipart({ language, text }) },
  ]);
}

export function searches({ random, material }: Scene): readonly Draft[] {
  return material.values.searches.flatMap((search): Draft[] => {
    const query = new URLSearchParams({ q: search, page: String(1 + random.int(9)), sort: 'price desc' });
    const target = `/search?${query}`;
    return [
      { target, headers: browser(random) },
      {
        target: `/api/suggest?term=${encodeURIComponent(search)}&limit=10`,
        headers: {
          ...apiClient(random),
          referer: `https://shop.example.com/search?q=${encodeURIComponent(search)}`,
        },
      },
    ];
  });
}

export function richText({ random, material: { values } }: Scene): readonly Draft[] {
  return values.html.flatMap((html): Draft[] => [
    {
      target: '/wp-admin/post.php',
      headers: browser(random),
      body: form({ post_ID: '17', content: html, action: 'editpost', _wpnonce: hex(random, 10) }),
    },
    {
      target: '/api/pages/17',
      method: 'PUT',
      headers: apiClient(random),
      body: json({ id: 17, html, draft: false }),
    },
    {
      target: '/mail/send',
      headers: browser(random),
      body: multipart({ to: 'bo@example.com', subject: "Re: it's done", body: html }),
    },
  ]);
}

/** Beacons, logs and tables that come as text, and feeds that come as XML. */
export function plainText({ random, material }: Scene): readonly Draft[] {
  const english = material.prose['en']!;
  return random.times(60, (index): Draft => {
    const headers = browser(random);
    const text = random.pick(english);
    if (index % 4 === 0)
      return {
        target: '/beacon',
        headers,
        body: { contentType: 'text/plain;charset=UTF-8', body: JSON.stringify(analytics(random, material)) },
      };
    if (index % 4 === 1)
      return { target: '/notes', headers, body: { contentType: 'text/plain', body: text } };
    if (index % 4 === 2)
      return {
        target: '/import',
        headers,
        body: {
          contentType: 'text/csv',
          body: `id;name;note\r\n1;${random.pick(material.values.people)};"${text.replaceAll('"', '""')}"\r\n`,
        },
      };
    const escaped = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;');
    return {
      target: '/soap',
      headers: { ...headers, soapaction: '"urn:Order#add"' },
      body: {
        contentType: 'text/xml; charset=utf-8',
        body: `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><note lang="en">${escaped}</note></soap:Body></soap:Envelope>`,
      },
    };
  });
}
