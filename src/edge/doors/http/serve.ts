/**
 * One request at the HTTP door. In: a request of a proxy, and the decider of each flavour. Out: the response for the proxy: a
 * decision, the page of a ticket, the answer to a proof, or 403 where the request breaks the contract.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { RATE } from '../../../base/buffers/limits.ts';
import type { EdgeAnswer } from '../../../base/http/header-fields.ts';
import type { ProxiedBody } from '../../decide/proxied.ts';
import { readUpTo } from '../../proxy/request-body.ts';
import type { DecideForDoor, DoorAnswer } from '../door.ts';
import type { Tickets } from '../tickets.ts';
import { FLAVOURS, type ProxyFlavour, refusalReply, replyTo } from './answers.ts';
import { type DoorHeaders, PARTIAL_HEADER, readDoorHeaders, refusal } from './contract.ts';
import { PROOF_OCTETS } from './limits.ts';
import { pageOf, TICKET_HEADER } from './pages.ts';
import { type OwnLine, readFacts } from './read-facts.ts';
import type { ContractRefusal, ContractRefusals } from './refusals.ts';
import type { DoorSecrets } from './secrets.ts';

/** What requests at the door are served with. */
export interface Serving {
  /** A decider for each flavour, since each enforces other parts of a decision (`ENFORCED`). */
  readonly decide: Readonly<Record<ProxyFlavour, DecideForDoor>>;
  readonly tickets: Pick<Tickets, 'issue' | 'redeem'>;
  readonly secrets: DoorSecrets;
  readonly refusals: ContractRefusals;
  /** Proxies between the visitor and the one that asks; 0: `X-Forwarded-For` has one address. */
  readonly trustedHops: number;
  /** Octets of a body that are read. */
  readonly maxBodyOctets: number;
  /** Whether Traefik and Envoy are configured to pass bodies on, so that a request without one has none. */
  readonly passesBodies: boolean;
  /** Called for each decision that is asked for. */
  readonly onDecision: () => void;
}

/** The addresses that proxies route to the agent, on which proofs are posted. */
const OWN_PREFIX = '/.well-known/edgeplan/';
/** Envoy's `path_prefix`, before the path of the visitor. */
const ENVOY_PREFIX = '/envoy';

/** The endpoints by their path; Envoy's is a prefix. */
const ENDPOINTS: ReadonlyMap<string, ProxyFlavour> = new Map(
  FLAVOURS.filter((flavour) => flavour !== 'envoy').map((flavour) => [`/${flavour}`, flavour] as const),
);

/** Serves a request; never throws or rejects for what a proxy or visitor sent. */
export async function serveDoorRequest(
  serving: Serving,
  message: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const answer = await answerFor(serving, message);
  // What is left of a body is read and dropped, so that the connection can be used again.
  message.resume();
  if (response.destroyed) return;
  const { status, headers, body } = answer;
  const octets = typeof body === 'string' ? Buffer.from(body, 'utf8') : body;
  response.writeHead(status, [...headers, 'Content-Length', String(octets?.length ?? 0)]);
  response.end(octets ?? undefined);
}

async function answerFor(serving: Serving, message: IncomingMessage): Promise<EdgeAnswer> {
  const headers = readDoorHeaders(message.rawHeaders, serving.secrets);
  if (!headers.ok) return refuse(serving, headers);
  const target = originForm(message.url ?? '');
  const page = pageOf(serving.tickets, target, headers.facts[TICKET_HEADER]);
  if (page !== null) return page;
  const mark = target.indexOf('?');
  const path = mark < 0 ? target : target.slice(0, mark);
  const flavour = ENDPOINTS.get(path);
  if (flavour !== undefined) return decide(serving, { flavour, message, headers, line: null });
  if (target.startsWith(`${ENVOY_PREFIX}/`)) {
    const line = lineOf(message, target.slice(ENVOY_PREFIX.length));
    return decide(serving, { flavour: 'envoy', message, headers, line });
  }
  if (path.startsWith(OWN_PREFIX)) return answerOwn(serving, { message, headers });
  return refuse(serving, refusal('endpoint', path));
}

/** The target without scheme and authority: a proxy that got an absolute one passes it on (RFC 9112 §3.2.2). */
function originForm(target: string): string {
  if (target.startsWith('/')) return target;
  const authority = target.indexOf('://');
  const start = authority < 0 ? -1 : target.indexOf('/', authority + 3);
  return start < 0 ? target : target.slice(start);
}

function refuse({ refusals }: Pick<Serving, 'refusals'>, refused: ContractRefusal): EdgeAnswer {
  refusals.add(refused);
  return refusalReply(
    403,
    'this request breaks the contract between proxy and agent; the log of the agent says how',
  );
}

/** A request line that the proxy repeats. */
function lineOf({ method, headers }: IncomingMessage, target: string): OwnLine {
  return { method: method ?? '', host: headers.host ?? '', target };
}

interface Arrived {
  readonly message: IncomingMessage;
  readonly headers: DoorHeaders;
}

interface Question extends Arrived {
  readonly flavour: ProxyFlavour;
  readonly line: OwnLine | null;
}

async function decide(serving: Serving, { flavour, message, headers, line }: Question): Promise<EdgeAnswer> {
  const { trustedHops, maxBodyOctets, tickets } = serving;
  const body = hasBody(message) ? await readBody(message, headers, maxBodyOctets) : null;
  const passesBodies = serving.passesBodies && (flavour === 'traefik' || flavour === 'envoy');
  const read = readFacts(headers, { line, trustedHops, body, passesBodies });
  if (!read.ok) return refuse(serving, read);
  serving.onDecision();
  const answer = await serving.decide[flavour](read.request);
  return replyTo(answer, { flavour, request: read.request, tickets });
}

/** The edge's own addresses: the proxy forwards such a request to the agent as to an origin, and the response to the visitor. */
async function answerOwn(serving: Serving, { message, headers }: Arrived): Promise<EdgeAnswer> {
  const { trustedHops } = serving;
  const body = hasBody(message) ? await readBody(message, headers, PROOF_OCTETS) : null;
  const line = lineOf(message, message.url ?? '');
  const read = readFacts(headers, { line, trustedHops, body, passesBodies: true });
  if (!read.ok) return refuse(serving, read);
  serving.onDecision();
  return ownAnswer(await serving.decide.nginx(read.request));
}

/** The agent is no origin: what the plan, or an open agent, would forward has no answer here. */
function ownAnswer(answer: DoorAnswer): EdgeAnswer {
  if (answer.kind === 'answer') return answer.answer;
  return refusalReply(
    answer.fault === null ? 404 : 503,
    `no page of the edge; the proxy routes ${OWN_PREFIX} here`,
  );
}

function hasBody({ headers }: IncomingMessage): boolean {
  const length = headers['content-length'];
  return headers['transfer-encoding'] !== undefined || (length !== undefined && length !== '0');
}

/** The first octets of a body. One that breaks off or is too slow counts as cut. */
async function readBody(
  message: IncomingMessage,
  { facts }: DoorHeaders,
  most: number,
): Promise<ProxiedBody> {
  const part = await readUpTo(message, most + 1, RATE).catch(() => null);
  if (part === null) return { octets: null, isWhole: false };
  const octets = Buffer.concat(part.chunks);
  const isWhole = part.ended && octets.length <= most && facts[PARTIAL_HEADER] !== 'true';
  return { octets: octets.subarray(0, most), isWhole };
}
