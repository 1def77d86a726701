/**
 * Stage `read`. In: a message of any kind. Out: the domain that serves it and the request in the evaluator's form,
 * or a refusal: 400, 405, 431, 501, 505 for a head that servers read differently, 421 for a host that is not served here.
 */
import { type HostFacts, parseHost } from '../../base/addresses/host.ts';
import type { EdgeAnswer } from '../../base/http/header-fields.ts';
import {
  isLocalClient,
  localHelp,
  MAX_LISTED,
  strangerHelp,
  type UnservedHelp,
} from '../answers/unserved.ts';
import { DEFAULT_PORTS, type DecidingDomain } from './exchange.ts';
import type { DecisionServices, ReadRequest, RequestContext, StageResult } from './request-context.ts';
import type { UnservedReason } from './unserved.ts';

// Answers of 421, for hosts that are not served. In: the request context and the reason. Out: a page that names the host and,
// for clients on this machine, a way to a served one.

/** A request whose host is not served. */
interface UnservedDetails {
  /** As it was read, in lower case. */
  readonly host: string;
  /** By lower-case name. */
  readonly headers: Readonly<Record<string, unknown>>;
  readonly reason: UnservedReason;
}

/** The answer to a request whose host is not served. */
export function answerUnserved(
  context: RequestContext,
  { host, headers, reason }: UnservedDetails,
): EdgeAnswer {
  const { unserved } = context.services;
  unserved.report(reason, host);
  context.unserved = { host, serverName: context.incoming.visitor.serverName, reason };
  return context.page(421, [], helpFor(context, { host, headers }));
}

function helpFor(
  { incoming, services }: RequestContext,
  { host, headers }: Pick<UnservedDetails, 'host' | 'headers'>,
): UnservedHelp {
  const { visitor } = incoming;
  // The port of the Host header may be any; the command needs the one that the request arrived on.
  const { scheme, port } = visitor;
  const request = { scheme, host, port: port === DEFAULT_PORTS[scheme] ? -1 : port };
  // Behind a proxy the peer is not the client.
  const address = visitor.trusted ? null : visitor.peer;
  if (address === null || !isLocalClient(address, headers)) return strangerHelp(request);
  return localHelp(request, address, services.unserved.hosts(MAX_LISTED + 1));
}

/** PERF: one object for all requests; `parseHost` overwrites it, and nothing reads it after the stage. */
const host: HostFacts = { host: '', port: -1, literal: false };

const NO_CLEARANCES: readonly string[] = Object.freeze([]);

/** PERF: returns a promise only if a visitor's clearance cookie has to be verified. */
export function read(context: RequestContext): StageResult {
  const { services, incoming, reader, startedAt } = context;
  const { message, visitor } = incoming;
  const head = reader.head(message);
  if (!head.ok || !parseHost(head.host, host)) {
    // The octets behind it may be its body, which one of two servers would parse as another request (RFC 9112 §11.2).
    incoming.last();
    const status = head.ok ? 400 : head.status;
    return context.page(status, status === 405 ? context.allow : []);
  }
  // A connection made for one name must not be used for another whose certificate was never checked (RFC 9110 §15.5.20).
  if (visitor.serverName !== null && visitor.serverName !== host.host) {
    return answerUnserved(context, { host: host.host, headers: head.headers, reason: 'handshake' });
  }
  const domain = services.plans.find(head.host);
  if (domain === null)
    return answerUnserved(context, { host: host.host, headers: head.headers, reason: 'unknown' });
  if (domain === 'refused')
    return answerUnserved(context, { host: host.host, headers: head.headers, reason: 'refused' });
  const cookies = reader.header(message, 'cookie');
  if (cookies === '') return identify(context, { head, domain, cleared: NO_CLEARANCES });
  const cleared = services.challenges.cleared({
    domain: domain.name,
    ip: visitor.ip,
    userAgent: userAgentOf(context),
    cookies,
    now: startedAt,
  });
  return cleared instanceof Promise
    ? cleared.then((list) => identify(context, { head, domain, cleared: list }))
    : identify(context, { head, domain, cleared });
}

interface Identification {
  readonly head: ReadRequest;
  readonly domain: DecidingDomain;
  /** The challenges that the visitor's clearance cookie covers. */
  readonly cleared: readonly string[];
}

/** Adds what is known of the visitor, and stores the request in the evaluator's form. */
function identify(context: RequestContext, { head, domain, cleared }: Identification): null {
  const { services, incoming } = context;
  const { visitor, ja4, knownFacts } = incoming;
  const { ip } = visitor;
  context.identified = {
    hasBody: head.hasBody,
    domain,
    request: {
      scheme: visitor.scheme,
      method: head.method,
      id: context.id,
      host: head.host,
      target: head.target,
      protocol: head.protocol,
      port: visitor.port,
      headers: head.headers,
      ip,
      country: knownFacts?.country !== undefined ? knownFacts.country : countryOf(services, ip),
      asn: knownFacts?.asn !== undefined ? knownFacts.asn : asnOf(services, ip),
      bot: knownFacts?.bot !== undefined ? knownFacts.bot : services.classifier.bot(ip, userAgentOf(context)),
      ja4: knownFacts?.ja4 ?? ja4,
      ja4h: knownFacts?.ja4h ?? null,
      now: context.startedAt,
      cleared,
    },
  };
  return null;
}

function userAgentOf({ incoming, reader }: RequestContext): string {
  return reader.header(incoming.message, 'user-agent');
}

function countryOf({ classifier }: DecisionServices, ip: string | null): string | null {
  return ip === null ? null : classifier.country(ip);
}

function asnOf({ classifier }: DecisionServices, ip: string | null): number | null {
  return ip === null ? null : classifier.asn(ip);
}
