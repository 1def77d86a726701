/**
 * The headers between a proxy and the HTTP door. In: the headers of a request at the door, as they arrived. Out: the ones of
 * the contract, which the proxy alone sets, and the visitor's own; or why the request is refused.
 *
 * A visitor whose header the proxy passes on unread must not be able to state a fact (CVE-2026-39858 and its like): one of the
 * contract that occurs twice is refused, and so is a name that servers read as one of the contract (`X_Forwarded_Uri`).
 */
import {
  type HeaderList,
  lowerName,
  namedInConnection,
  ORIGIN_HOP,
} from '../../../base/http/header-fields.ts';
import { MAX_DOOR_HEADERS } from './limits.ts';
import type { ContractRefusal } from './refusals.ts';
import { type DoorSecrets, isSecret } from './secrets.ts';

/** The header with the secret. */
export const SECRET_HEADER = 'x-edgeplan-door';

/** What a proxy states of a request: the only headers that are read as facts, in lower case. */
export const FACT_HEADERS = [
  'x-forwarded-method',
  'x-forwarded-proto',
  'x-forwarded-host',
  'x-forwarded-uri',
  'x-forwarded-for',
  'x-edgeplan-protocol',
  'x-edgeplan-sni',
  'x-edgeplan-port',
  'x-edgeplan-ja4',
  'x-edgeplan-country',
  'x-edgeplan-asn',
  'x-edgeplan-body',
] as const;
/** One of `FACT_HEADERS`. */
export type FactHeader = (typeof FACT_HEADERS)[number];

/** Envoy's own: the body that it passes on is cut. */
export const PARTIAL_HEADER = 'x-envoy-auth-partial-body';
/** The ticket of a page. */
const TICKET = 'x-edgeplan-ticket';

/** All headers that the door reads. */
const READ: ReadonlySet<string> = new Set([...FACT_HEADERS, SECRET_HEADER, PARTIAL_HEADER, TICKET]);

/** Families of headers that proxies set: those outside of the contract are nobody's input, and not the visitor's either. */
const OF_PROXIES = ['x-forwarded-', 'x-edgeplan-'] as const;

/** Headers by lower-case name; one that was sent twice is a list, cookies are joined by `; `. */
export type VisitorHeaders = Record<string, string | string[]>;

/** A request's headers, apart. */
export interface DoorHeaders {
  readonly ok: true;
  /** By lower-case name; an empty one is absent. */
  readonly facts: Readonly<Partial<Record<string, string>>>;
  /** The visitor's own, without those of the connection between proxy and door. */
  readonly visitor: VisitorHeaders;
}

/**
 * Takes a request's headers apart, and checks the secret first: without it nothing else about a request is said.
 * @param raw names and values in turn, as Node lists them
 */
export function readDoorHeaders(raw: HeaderList, secrets: DoorSecrets): DoorHeaders | ContractRefusal {
  const facts: Partial<Record<string, string>> = Object.create(null);
  const visitor: VisitorHeaders = Object.create(null);
  let refused: ContractRefusal | null = null;
  const named = namedInConnection(raw);
  for (let at = 0; at < raw.length; at += 2) {
    const name = lowerName(raw[at]!);
    const value = raw[at + 1]!;
    if (READ.has(name)) {
      if (facts[name] !== undefined) refused ??= refusal('doubled', name);
      else facts[name] = value;
    } else if (isAlias(name)) refused ??= refusal('alias', name);
    else if (!isOfProxies(name) && !ORIGIN_HOP.has(name) && named?.has(name) !== true)
      add(visitor, name, value);
  }
  const secret = facts[SECRET_HEADER] ?? '';
  if (secret === '') return refusal('secret_missing', SECRET_HEADER);
  if (!isSecret(secrets, secret)) return refusal('secret_wrong', SECRET_HEADER);
  if (refused !== null) return refused;
  if (raw.length > 2 * MAX_DOOR_HEADERS) return refusal('headers', '');
  for (const name of Object.keys(facts)) if (facts[name] === '') delete facts[name];
  return { ok: true, facts, visitor };
}

/** A refusal of the contract. */
export function refusal(fault: ContractRefusal['fault'], about: string): ContractRefusal {
  return { ok: false, fault, about };
}

function add(headers: VisitorHeaders, name: string, value: string): void {
  const before = headers[name];
  if (before === undefined) headers[name] = value;
  else if (typeof before !== 'string') before.push(value);
  // RFC 9113 §8.2.3: HTTP/2 clients may split cookies; every reader joins them so.
  else if (name === 'cookie') headers[name] = `${before}; ${value}`;
  else headers[name] = [before, value];
}

function isOfProxies(name: string): boolean {
  return OF_PROXIES.some((family) => name.startsWith(family));
}

/** Whether a server that takes `_` or `.` for `-`, as CGI and its successors do, reads the name as one of a proxy. */
function isAlias(name: string): boolean {
  if (!name.includes('_') && !name.includes('.')) return false;
  const plain = name.replaceAll('_', '-').replaceAll('.', '-');
  return isOfProxies(plain) || READ.has(plain);
}
