/** Payloads of JSON interfaces: GraphQL, JSON-RPC, webhooks, telemetry, nested documents. */
import type { Random } from '../generate-random.ts';
import { base64, hex, uuid } from './clients.ts';
import type { Material } from './material.ts';

const OPERATIONS = [
  'query Me { me { id name orders(first: 10, where: { state: OPEN }) { edges { node { id total } } } } }',
  'mutation AddToCart($id: ID!, $n: Int = 1) { addToCart(input: { id: $id, count: $n }) { cart { id total } errors { field message } } }',
  'query Search($q: String!, $after: String) { search(query: $q, first: 20, after: $after, orderBy: { field: PRICE, direction: DESC }) { ... on Product { id title } ... on Article { id slug } } }',
  'fragment F on User { id name email } query U { users(filter: { or: [{ name: { like: "%ann%" } }, { age: { gt: 18 } }] }) { ...F } }',
  'subscription OnMessage { messageAdded(room: "general") { id text author { name } } }',
  'query { a: product(id: 1) { title } b: product(id: 2) { title } __typename }',
  'mutation { updateUser(id: 5, set: { name: "O\'Brien", bio: "it\'s me; select all" }) { id } }',
  'query Report($from: Date!, $to: Date!) { report(between: [$from, $to], groupBy: [COUNTRY, DAY], having: { count: { gte: 5 } }) { rows { key value } } }',
];

export function graphql(random: Random, { values }: Material): unknown {
  return {
    operationName: null,
    query: random.pick(OPERATIONS),
    variables: {
      id: uuid(random),
      n: random.int(5),
      q: random.pick(values.searches),
      after: base64(random, 12),
    },
    extensions: { persistedQuery: { version: 1, sha256Hash: hex(random, 64) } },
  };
}

export function jsonRpc(random: Random, { values }: Material): unknown {
  const methods = [
    'eth_call',
    'user.update',
    'getBalance',
    'textDocument/completion',
    'sum',
    'system.listMethods',
  ];
  return {
    jsonrpc: '2.0',
    id: random.int(1_000),
    method: random.pick(methods),
    params: [
      { to: `0x${hex(random, 40)}`, data: `0x${hex(random, 136)}` },
      random.pick(values.people),
      'latest',
    ],
  };
}

/** A document of some depth whose leaves are texts people write. */
export function nested(random: Random, material: Material, depth = 3): unknown {
  if (depth === 0) {
    const english = material.prose['en']!;
    return random.pick([
      () => random.pick(english),
      () => random.pick(material.values.people),
      () => random.pick(material.values.searches),
      () => random.int(100_000) / 100,
      () => random.chance(0.5),
      () => null,
      () => uuid(random),
      () => random.pick(material.values.urls),
    ])();
  }
  const keys = [
    'name',
    'items',
    'type',
    'class',
    'where',
    'select',
    'from',
    'data',
    '@type',
    '@id',
    '$ref',
    'user',
    'table',
    'order',
    'on',
    'x-y',
    'meta.title',
    'constructor_name',
    'script',
    'token',
  ];
  if (random.chance(0.3)) return random.times(1 + random.int(3), () => nested(random, material, depth - 1));
  return Object.fromEntries(random.some(keys, 6).map((key) => [key, nested(random, material, depth - 1)]));
}

export function payment(random: Random, { values }: Material): unknown {
  return {
    id: `evt_${hex(random, 24)}`,
    object: 'event',
    api_version: '2024-04-10',
    created: 1_715_500_000 + random.int(100_000),
    type: random.pick([
      'charge.succeeded',
      'invoice.paid',
      'customer.updated',
      'payment_intent.payment_failed',
    ]),
    data: {
      object: {
        id: `ch_${hex(random, 24)}`,
        amount: random.int(100_000),
        currency: 'eur',
        billing_details: {
          name: random.pick(values.people),
          address: { line1: random.pick(values.streets), city: random.pick(values.cities), country: 'IE' },
        },
        description: `Order #${random.int(9_999)} -- kettle (1x); it's a gift`,
        metadata: { order_id: String(random.int(9_999)), note: "don't ring the bell" },
        receipt_url: `https://pay.example/receipts/${hex(random, 40)}`,
      },
      previous_attributes: null,
    },
    livemode: true,
    request: { id: null, idempotency_key: uuid(random) },
  };
}

export function push(random: Random, material: Material): unknown {
  const file = () =>
    random.pick([
      'src/app.js',
      'docs/README.md',
      'config/.env.example',
      'backend/web.config',
      'src/settings.py',
      'wp-config-sample.php',
      '.github/workflows/ci.yml',
      'db/schema.sql',
      'deploy/docker-compose.yml',
      'a/b/../c.txt',
      "it's.md",
    ]);
  return {
    ref: 'refs/heads/main',
    before: hex(random, 40),
    after: hex(random, 40),
    repository: {
      full_name: 'org/repo',
      html_url: 'https://git.example/org/repo',
      clone_url: 'https://git.example/org/repo.git',
    },
    pusher: { name: random.pick(material.values.people), email: 'ann@example.com' },
    commits: random.times(1 + random.int(3), () => ({
      id: hex(random, 40),
      message: random.pick([
        "Fix: don't drop the table's last row; select by id instead",
        "Merge branch 'main' into union-of-sets (#42)",
        'Delete old scripts & update docs\n\nCloses #17; see https://git.example/org/repo/issues/17',
        'Revert "Insert banner into header"\n\nThis reverts commit 3b18e51.',
        'bump deps: a 1.2 -> 1.3, b <2 || >=3',
      ]),
      timestamp: '2024-05-12T10:11:12+02:00',
      added: random.times(2, file),
      removed: random.chance(0.5) ? [file()] : [],
      modified: random.times(2, file),
    })),
  };
}

export function chat(random: Random, material: Material): unknown {
  return {
    token: hex(random, 24),
    team_id: 'T0001',
    event: {
      type: 'message',
      user: 'U2147483697',
      text: `${random.pick(material.prose['en']!)} <@U123> <https://example.com|a link> :+1: \`code\``,
      ts: '1715501472.345678',
      blocks: [{ type: 'section', text: { type: 'mrkdwn', text: "*Hi*, it's me & <!here>" } }],
    },
  };
}

export function errorReport(random: Random, material: Material): unknown {
  return {
    event_id: hex(random, 32),
    platform: 'javascript',
    level: 'error',
    exception: {
      values: [
        {
          type: 'TypeError',
          value: "Cannot read properties of undefined (reading 'name')",
          stacktrace: {
            frames: [
              {
                filename: 'https://shop.example.com/static/js/main.3f2a1b.js',
                function: 'onClick',
                lineno: 1,
                colno: 48_211,
              },
              {
                filename: 'webpack:///./src/cart.js',
                function: '?',
                context_line: "  const name = item.user.name || 'guest';",
              },
              {
                filename: 'node_modules/react-dom/cjs/react-dom.production.min.js',
                function: 'Object.Ia',
                in_app: false,
              },
              { filename: 'file:///android_asset/www/index.html', function: 'eval', lineno: 3 },
            ],
          },
        },
      ],
    },
    breadcrumbs: [
      { category: 'ui.click', message: 'button#save.btn > span[title="it\'s ok"]' },
      {
        category: 'fetch',
        data: { url: random.pick(material.values.urls), method: 'POST', status_code: 500 },
      },
      { category: 'console', message: 'Warning: Each child in a list should have a unique "key" prop.' },
    ],
    request: {
      url: 'http://localhost:3000/cart?step=2',
      headers: { 'User-Agent': 'Mozilla/5.0', Referer: 'https://shop.example.com/' },
    },
    tags: { release: 'shop@5.12.1+3411', environment: 'production' },
  };
}

export function analytics(random: Random, material: Material): unknown {
  return {
    batch: random.times(1 + random.int(3), () => ({
      type: 'track',
      event: random.pick(['Product Viewed', 'Order Completed', 'Search', 'Drop-off']),
      anonymousId: uuid(random),
      properties: {
        query: random.pick(material.values.searches),
        price: 29.9,
        path: random.pick(material.values.pages),
        title: "Kettles & co. | Ann's shop",
      },
      context: {
        userAgent: 'Mozilla/5.0 (Windows NT 10.0; Win64; x64)',
        locale: 'de-DE',
        screen: { width: 1920, height: 1080 },
        page: { url: random.pick(material.values.urls) },
      },
      sentAt: '2024-05-12T08:11:12.345Z',
    })),
    writeKey: hex(random, 32),
  };
}
