/**
 * What a proxy gets of a decision. In: the answer of the decider, and which proxy asks. Out: a response that this proxy enforces.
 * A request passes with 200 alone, and every response has all headers of `REPLY_HEADERS`, empty if need be: a proxy that copies
 * an absent one would pass the visitor's on (GHSA-7r4p-vjf4-gxv4).
 */
import type { EdgeAnswer, HeaderList } from '../../../base/http/header-fields.ts';
import { headerOf, withoutHeaders } from '../../../base/http/response.ts';
import type { ProxiedRequest } from '../../decide/proxied.ts';
import type { Enforced } from '../../decide/verdict.ts';
import type { DoorAnswer } from '../door.ts';
import type { Tickets } from '../tickets.ts';

/** The proxies that ask, each at the endpoint of its name. */
export const FLAVOURS = ['nginx', 'caddy', 'traefik', 'envoy'] as const;
/** One of `FLAVOURS`. */
export type ProxyFlavour = (typeof FLAVOURS)[number];

/** What each proxy enforces of a decision with the configuration in `fixtures/proxies`. */
export const ENFORCED: Readonly<Record<ProxyFlavour, Enforced>> = {
  nginx: new Set(['rewrite']),
  // Its `rewrite` encodes a `%` of a header again, and joins queries.
  caddy: new Set(),
  traefik: new Set(),
  envoy: new Set(),
};

/**
 * The headers for the proxy itself, in every response:
 * - `Action` `forward`, or what the decision did instead
 * - `Id` the decision id
 * - `Status`, `Location`, `Retry-After` those of the decision's own response
 * - `Ticket` for the page of it, where the proxy takes no page
 * - `Target` path and query for the origin; `Origin` scheme, address and port that the plan chose
 * - `Cookie` the visitor's without the edge's own; `Tags` those of the rules, with commas
 * - `Fault` why there is no decision, `no_plan` or `failed`: also of a request that an open agent forwards (`--fail-open`)
 */
export const REPLY_HEADERS = [
  'X-Edgeplan-Action',
  'X-Edgeplan-Id',
  'X-Edgeplan-Status',
  'X-Edgeplan-Location',
  'X-Edgeplan-Retry-After',
  'X-Edgeplan-Ticket',
  'X-Edgeplan-Target',
  'X-Edgeplan-Origin',
  'X-Edgeplan-Cookie',
  'X-Edgeplan-Tags',
  'X-Edgeplan-Fault',
] as const;
type ReplyHeader = (typeof REPLY_HEADERS)[number];

/** The statuses that auth_request knows besides 2xx; every other one is a 500 to the visitor. */
const NGINX_BLOCK = 403;
const NGINX_OTHER = 401;

/** The request of a decision, and the proxy that asks. */
export interface Asked {
  readonly flavour: ProxyFlavour;
  readonly request: ProxiedRequest;
  readonly tickets: Pick<Tickets, 'issue'>;
}

/** The response to the proxy. */
export function replyTo(answer: DoorAnswer, asked: Asked): EdgeAnswer {
  switch (answer.kind) {
    case 'forward':
      return forwarding(answer, asked);
    case 'answer':
      return asked.flavour === 'nginx' ? ticketReply(answer, asked) : wholeReply(answer, asked);
    case 'fault':
      // Every proxy treats it as it treats an agent that is away.
      return {
        status: 503,
        headers: replyHeaders({
          'X-Edgeplan-Id': answer.id,
          'X-Edgeplan-Status': '503',
          'X-Edgeplan-Fault': answer.fault,
        }),
        body: null,
      };
    default:
      return answer satisfies never;
  }
}

/** A response without a decision. */
export function refusalReply(status: number, text: string): EdgeAnswer {
  const headers = [
    ...replyHeaders({ 'X-Edgeplan-Action': 'refuse', 'X-Edgeplan-Status': String(status) }),
    ...TEXT,
  ];
  return { status, headers, body: `${text}\n` };
}

const TEXT = ['Content-Type', 'text/plain; charset=utf-8'] as const;
/** A proxy that caches would answer one visitor with the decision about another. */
const NOT_STORED = ['Cache-Control', 'no-store'] as const;

function forwarding(
  { id, verdict, fault, changes }: DoorAnswer & { readonly kind: 'forward' },
  { flavour, request }: Asked,
): EdgeAnswer {
  const { origin, target, cookies } = changes;
  const sent = request.headers['cookie'];
  const left = cookies ?? (typeof sent === 'string' ? sent : '');
  const headers = replyHeaders({
    'X-Edgeplan-Action': 'forward',
    'X-Edgeplan-Id': id,
    'X-Edgeplan-Target': target,
    'X-Edgeplan-Origin': origin === null ? '' : originUrl(origin),
    'X-Edgeplan-Cookie': left,
    'X-Edgeplan-Tags': verdict?.decision.tags.join(',') ?? '',
    'X-Edgeplan-Fault': fault ?? '',
  });
  // Traefik and Envoy copy a header under its own name alone.
  const own = flavour === 'traefik' || flavour === 'envoy' ? ['Cookie', left] : [];
  return { status: 200, headers: [...headers, ...own, ...NOT_STORED], body: null };
}

type ForwardOrigin = NonNullable<(DoorAnswer & { readonly kind: 'forward' })['changes']['origin']>;

/** `http://192.0.2.1:8080`; `auto` has no port, and its scheme is the proxy's to choose. */
function originUrl({ scheme, address, port }: ForwardOrigin): string {
  const host = address.includes(':') ? `[${address}]` : address;
  return `${scheme}://${host}${port === null ? '' : `:${port}`}`;
}

/** `replyHeaders` has it already. */
const ID: ReadonlySet<string> = new Set(['x-edgeplan-id']);

type Answered = DoorAnswer & { readonly kind: 'answer' };

/** Names the decision's own response; the proxy fetches it with the ticket. */
function ticketReply({ id, verdict, answer }: Answered, { tickets }: Asked): EdgeAnswer {
  const headers = replyHeaders({
    ...described({ id, verdict, answer }),
    'X-Edgeplan-Ticket': tickets.issue(answer),
  });
  const status = answer.status === NGINX_BLOCK ? NGINX_BLOCK : NGINX_OTHER;
  return { status, headers: [...headers, ...NOT_STORED], body: null };
}

/** The decision's own response, whole. */
function wholeReply({ id, verdict, answer }: Answered, { flavour, request }: Asked): EdgeAnswer {
  const own = withoutHeaders(answer.headers, ID);
  const headers = flavour === 'traefik' ? absolute(own, request) : own;
  return {
    status: statusFor(flavour, answer.status),
    headers: [...replyHeaders(described({ id, verdict, answer })), ...headers],
    body: answer.body,
  };
}

function described({ id, verdict, answer }: Omit<Answered, 'kind'>): Partial<Record<ReplyHeader, string>> {
  return {
    'X-Edgeplan-Action': verdict?.decision.action ?? 'refuse',
    'X-Edgeplan-Id': id,
    'X-Edgeplan-Status': String(answer.status),
    'X-Edgeplan-Location': headerOf(answer.headers, 'location') ?? '',
    'X-Edgeplan-Retry-After': headerOf(answer.headers, 'retry-after') ?? '',
  };
}

/**
 * 2xx passes with all of them, so content of the edge's own has 403 in its place; Envoy takes a 5xx for a failure of the agent,
 * which `failure_mode_allow` lets pass. The status of the decision is in `X-Edgeplan-Status`.
 */
function statusFor(flavour: ProxyFlavour, status: number): number {
  if (status >= 200 && status < 300) return 403;
  return flavour === 'envoy' && status >= 500 ? 403 : status;
}

/** All of `REPLY_HEADERS`, those that are not given empty. */
function replyHeaders(given: Partial<Record<ReplyHeader, string>>): string[] {
  const headers: string[] = [];
  for (const name of REPLY_HEADERS) headers.push(name, given[name] ?? '');
  return headers;
}

/** Traefik resolves a relative Location against the agent's own address, unless `preserveLocationHeader` is set. */
function absolute(headers: HeaderList, { scheme, host }: ProxiedRequest): string[] {
  return headers.map((text, at) => {
    const isLocation = at % 2 === 1 && headers[at - 1]!.toLowerCase() === 'location';
    return isLocation && text.startsWith('/') ? `${scheme}://${host}${text}` : text;
  });
}
