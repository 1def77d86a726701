/**
 * The texts of the reference besides its operations: authentication, conventions, errors, the groups and ids of
 * operations, and an example of each request body.
 */
import type { JsonObject } from '../../../base/text/json-object.ts';
import { RULE_TYPES, typePath } from '../../../base/vocabulary/vocabulary.ts';
import { RULE_FORMS } from '../../../rules/model/rule.ts';
import { REQUESTS_PER_MINUTE } from '../../accounts/request-budget.ts';
import { MAX_BODY_OCTETS, PUBLISH_WAIT_MS } from '../operation/limits.ts';

/** Markdown of `info.description`. */
export const INTRODUCTION = `Domains, DNS records and edge rules over JSON. Every accepted change of what the edge does is compiled into
the domain's next revision and published to the nodes.

## Authentication

Send an API key with every request, in either header:

\`\`\`
Authorization: Bearer svc_…
X-Api-Key: svc_…
\`\`\`

Keys are made by the operator (\`edgeplan key create\`), shown once, and 69 characters long. A key acts with the
permissions of its owner: \`owner\` on a domain of their own, else the role granted on it (\`viewer\`, \`editor\`,
\`admin\`). A read-only key may only send GET, HEAD and OPTIONS. This page, \`/docs/openapi.yaml\` and \`/docs/openapi.json\` need no key.

## Conventions

- \`{domain}\` in a path is the name of the domain, not its id.
- Trailing slashes count: collections end with one, single objects do not.
- Bodies are JSON (\`Content-Type: application/json\`) of at most ${MAX_BODY_OCTETS.toLocaleString('en')} octets. Fields that only
  answers carry are ignored in requests, so what a GET answered can be PUT back; any other unknown field is refused.
- A PUT is partial: fields left out keep their value, and \`null\` clears a field that may be \`null\`.
- Times are RFC 3339 in UTC.
- Single objects and lists carry an \`ETag\`. A read with \`If-None-Match\` answers 304 when nothing has changed; a write
  with \`If-Match\` answers 412 when the object is no longer the one that was read.
- Every answer to a key says what is left of its budget (\`RateLimit\`, \`RateLimit-Policy\`), and comes in gzip where
  \`Accept-Encoding\` asks for it.
- Every write takes \`?validate_only=true\` (every check, no change) and \`?wait=published\` (the answer comes once a
  revision that covers the change is out, and \`X-Revision\` names it; 504 after ${PUBLISH_WAIT_MS / 1_000} s). Of a domain that
  publishes by hand, a change of rules is answered at once: \`X-Draft\` names the draft that it waits in.
- A name of another account is a 409. While nobody has proved it, \`POST /domains/?claim=true\` claims it too: the first
  account that proves the name has it, and the others' domains are deleted. Where \`check-ns\` says \`contested\`, the TXT record of \`verification\` proves it. Unproved domains are
  deleted after 14 days.
- A domain that serves nothing yet, or no more, has revisions too: their \`digest\` is \`null\`, and nodes refuse its requests.
- Every answer carries an \`X-Request-Id\`; one that you send is kept.

## Rate limit

A key may make ${REQUESTS_PER_MINUTE} requests in any minute, unless the operator has set another number; the header \`RateLimit-Policy\`
has it. Above that the answer is 429, and \`Retry-After\` says in how many seconds the next request is let through; refused
requests do not count.

## Errors

The body of every error is \`{ "error": "…" }\`. A 400 names the field and what is wrong with it, several joined by
\`; \`. Requests are judged in this order:

| status | when |
|---|---|
| 401 | the key is missing (\`WWW-Authenticate: Bearer\`), or it is malformed, revoked or expired, or its owner is inactive (\`error="invalid_token"\`) |
| 429 | the key has used up its requests |
| 403 | the key is read-only, or no key may use this path |
| 404 | there is no such path, or the domain is not visible to the account (405: the path takes other methods) |
| 403 | the role lacks the permission (404 on rules), or the plan lacks the feature |
| 400 | the body or the query is wrong (413 too large, 415 not a content type taken here) |
| 409 | the request is fine, the state of things is not: the domain is disabled, the name is taken |
| 412 | \`If-Match\` names another version |
| 503 | the store is not available; the sentence says whether anything was changed |
| 504 | the change is stored, and was not published in time |
`;

/** A group of operations. */
interface Tag {
  readonly name: string;
  readonly description: string;
}

/** The tag of the operations on rules of a type. */
export function ruleTag(type: string): string {
  return `Rules: ${type}`;
}

/** The tag of operations on rules of every type. */
const ALL_RULES_TAG = 'Rules of all types';

/** The tag of the operations for nodes. */
export const NODE_TAG = 'Node feed';

/** The groups of tags, both in the order of the reference; tags without a group come last. */
export const TAG_GROUPS: readonly { readonly name: string; readonly tags: readonly Tag[] }[] = [
  {
    name: 'Domains',
    tags: [
      { name: 'Domains', description: 'Add, read, change and delete domains, and prove whose they are.' },
      { name: 'DNS records', description: 'Records one at a time, in batches, and as BIND zone files.' },
      { name: 'Zone', description: 'What name servers answer for a managed domain, and its DS records.' },
      { name: 'Cache', description: 'What nodes have stored of a domain; purge and refresh.' },
      { name: 'Certificates', description: 'What a domain is served with by TLS; keys are never answered.' },
      { name: 'Members', description: 'Who shares a domain, and with which role.' },
      {
        name: 'Invitations',
        description: "Memberships that were offered: a domain's own, and those an account has received.",
      },
      { name: 'Audit log', description: 'Who changed what, and when.' },
    ],
  },
  {
    name: 'Account',
    tags: [
      {
        name: 'Billing',
        description: 'What the account has bought and owes; read-only. No key moves money.',
      },
      {
        name: 'Notifications',
        description: 'What happened to the domains and keys of the account, and where it is sent.',
      },
      { name: 'Tickets', description: "Conversations of the account with the operator's support." },
    ],
  },
  {
    name: 'Edge rules',
    tags: [
      { name: ALL_RULES_TAG, description: 'Rules of every type in one list, and their hits.' },
      {
        name: 'Lists',
        description:
          'Addresses, networks, hosts, paths and more that rules name, of one domain or of an account.',
      },
      { name: 'Consumers', description: 'Who calls the gateways of a domain, and with which keys.' },
      { name: 'Usage plans', description: 'What the consumers with one plan may ask for.' },
      {
        name: 'Token issuers',
        description: 'Whose JSON Web Tokens gateways accept, and where their keys come from.',
      },
      ...RULE_TYPES.map((type) => ({ name: ruleTag(type), description: `${RULE_FORMS[type].summary}.` })),
    ],
  },
  {
    name: 'Traffic',
    tags: [
      { name: 'Analytics', description: 'What came in: counts by minute, hour and day, and top lists.' },
      { name: 'Uptime', description: 'Whether the origins answer, and the incidents in which they did not.' },
    ],
  },
  {
    name: 'Publication',
    tags: [
      {
        name: 'Drafts',
        description: 'Changes of rules that wait: collect, review, publish or discard them.',
      },
      {
        name: 'Plans',
        description: 'Revisions of a domain: what was published, what differs, and back again.',
      },
      {
        name: 'Questions',
        description: 'What a request would meet, what looks like a mistake, and what should be changed.',
      },
      {
        name: 'Logs',
        description: 'Which requests the edge stopped, would have stopped or failed, and why.',
      },
      { name: 'Nodes', description: 'What the nodes said last.' },
      {
        name: NODE_TAG,
        description: 'What nodes ask for themselves, with a node token (`edgeplan node-token create`).',
      },
    ],
  },
];

/** The tag of each part of a domain; the domain itself where a part is not listed, see `tagOf`. */
const PARTS: Readonly<Record<string, string>> = {
  records: 'DNS records',
  zone: 'Zone',
  dnssec: 'Zone',
  cache: 'Cache',
  ssl: 'Certificates',
  lists: 'Lists',
  members: 'Members',
  audit: 'Audit log',
  plans: 'Plans',
  publishing: 'Drafts',
  draft: 'Drafts',
  invariants: 'Drafts',
  simulate: 'Questions',
  analysis: 'Questions',
  recommendations: 'Questions',
  diff: 'Plans',
  traffic: 'Analytics',
  analytics: 'Analytics',
  uptime: 'Uptime',
  wallet: 'Billing',
  invoices: 'Billing',
  subscriptions: 'Billing',
  logs: 'Logs',
  nodes: 'Nodes',
  webhooks: 'Notifications',
};
/** Parts of a path that belong to the domain itself. */
const OF_DOMAIN = ['', 'developer-mode', 'verify', 'enable', 'check-ns', 'features'];

/** The tag of a path: for rules their type, else the part of the domain. */
export function tagOf(path: string): string {
  const [first = '', , part = '', slug = ''] = path.split('/').slice(1);
  if (part === 'rules')
    return slug === '' || slug === 'hits' ? ALL_RULES_TAG : ruleTag(slug.replaceAll('-', '_'));
  if (part === typePath('gateway')) return ruleTag('gateway');
  if (first !== 'domains') return PARTS[first] ?? capital(first);
  return OF_DOMAIN.includes(part) ? 'Domains' : (PARTS[part] ?? capital(part));
}

/** A path segment as a title: `ns-sets` → `Ns sets`. */
function capital(word: string): string {
  return word.slice(0, 1).toUpperCase() + word.slice(1).replaceAll('-', ' ');
}

// Examples of request bodies by operation. Each is valid without changes, and the journey tests send every one.

// Derives operation ids, which generated clients use as the names of their methods.

/** The id of an operation in camel case: `PUT /domains/{domain}/members/{userId}` → `putDomainMembersByUserId`. */
export function operationId(method: string, path: string): string {
  const words = path
    .split('/')
    .filter((part) => part !== '' && part !== '{domain}')
    .flatMap((part) => (part.startsWith('{') ? ['by', part.slice(1, -1)] : part.split(/[-_]/)));
  const named =
    path.startsWith('/domains/{domain}') && words[0] === 'domains' ? ['domain', ...words.slice(1)] : words;
  return method.toLowerCase() + named.map((word) => word[0]!.toUpperCase() + word.slice(1)).join('');
}

/** A change that every rule type accepts. */
const UPDATE: JsonObject = { enabled: false, priority: 50 };

/** The bodies of other operations, by method and path. */
const OTHERS: readonly (readonly [string, JsonObject])[] = [
  ['POST /domains/', { name: 'example.com', dns_mode: 'managed' }],
  ['PUT /domains/{domain}', { sec_no_sniff: true, cache_l2_ttl_days: 1 }],
  [
    'POST /domains/{domain}/records/',
    { name: 'shop', type: 'A', destination: '198.51.100.20', proxied: true },
  ],
  ['PUT /domains/{domain}/records/{recordId}', { destination: '198.51.100.21' }],
  ['POST /domains/{domain}/members/', { name: 'ann', role: 'editor' }],
  ['PUT /domains/{domain}/members/{userId}', { role: 'viewer' }],
];

/** All examples by operation id. */
export const EXAMPLES: Readonly<Record<string, JsonObject>> = Object.fromEntries([
  ...OTHERS.map(([place, body]) => {
    const [method = '', path = ''] = place.split(' ');
    return [operationId(method, path), body];
  }),
  ...RULE_TYPES.flatMap((type) => {
    const all = `/domains/{domain}/${typePath(type)}/`;
    return [
      [operationId('POST', all), RULE_FORMS[type].example],
      [operationId('PUT', `${all}{ruleId}`), UPDATE],
    ];
  }),
]);
