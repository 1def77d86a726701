/** What programs send: REST calls, blobs, hooks, feeds. */
import { chat, nested, push } from './apis.ts';
import { form, json } from './bodies.ts';
import { apiClient, base64, hex, octets, READERS, uuid } from './clients.ts';
import { browser, type Draft, type Scene } from './scene.ts';

/** Services that put their JSON into one field of a form. */
export function hooksAsForms({ random, material }: Scene): readonly Draft[] {
  return random.times(40, (index) => ({
    target: '/hooks/form',
    headers: apiClient(random),
    body: form({
      payload: JSON.stringify(index % 2 === 0 ? push(random, material) : chat(random, material)),
      signature: hex(random, 64),
    }),
  }));
}

export function verbs({ random, material }: Scene): readonly Draft[] {
  return random.times(140, () => {
    const method = random.pick(['GET', 'HEAD', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'POST']);
    const target = `/api/v2/items/${uuid(random)}${random.pick(['', '/tags', '?fields=id,name&expand=brand', '?dry_run=true'])}`;
    const headers = apiClient(random);
    if (method === 'OPTIONS') {
      const asked = {
        'access-control-request-method': 'PATCH',
        'access-control-request-headers': 'content-type,authorization',
        origin: 'https://app.example.com',
      };
      return { method, target, headers: { ...headers, ...asked } };
    }
    if (method === 'PATCH') {
      const patch = [
        { op: 'replace', path: '/name', value: random.pick(material.values.people) },
        { op: 'remove', path: '/tags/0' },
      ];
      return { method, target, headers, body: json(patch, 'application/json-patch+json') };
    }
    if (method === 'PUT' || method === 'POST')
      return { method, target, headers, body: json(nested(random, material, 2)) };
    return { method, target, headers };
  });
}

/** Base64 in JSON and in forms, octets as they are. */
export function binary({ random }: Scene): readonly Draft[] {
  return random.times(60, (index): Draft => {
    const data = base64(random, 300 + random.int(2_000));
    if (index % 3 === 0)
      return { target: '/api/files', headers: apiClient(random), body: json({ name: 'photo.png', data }) };
    if (index % 3 === 1)
      return {
        target: '/avatar',
        headers: browser(random),
        body: form({ image: `data:image/jpeg;base64,${data}`, crop: '0,0,100,100' }),
      };
    return {
      method: 'PUT',
      target: `/blobs/${hex(random, 40)}`,
      headers: apiClient(random),
      body: { contentType: 'application/octet-stream', body: octets(random, 600).toString('latin1') },
    };
  });
}

export function readers({ random }: Scene): readonly Draft[] {
  return READERS.flatMap((agent) =>
    ['/feed.xml', '/rss?format=atom&n=20', '/healthz', '/metrics', '/robots.txt'].map((target) => ({
      target,
      method: random.pick(['GET', 'HEAD']),
      headers: {
        host: 'shop.example.com',
        'user-agent': agent,
        accept: '*/*',
        'if-none-match': `"${hex(random, 16)}"`,
      },
    })),
  );
}
