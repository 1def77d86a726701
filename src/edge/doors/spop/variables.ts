/**
 * Answers as variables of a transaction in HAProxy. In: what the proxy does with a request. Out: the ACK frame that sets
 * them. HAProxy puts the prefix of its engine before each name, `txn.edgeplan.action`; the README has the list.
 */
import { parseIp } from '../../../base/addresses/ip.ts';
import type { EdgeAnswer, HeaderList } from '../../../base/http/header-fields.ts';
import type { Origin, RuleRef } from '../../../engine/evaluator/index.ts';
import { ID_HEADER } from '../../answers/pages.ts';
import { DEFAULT_PORTS } from '../../decide/exchange.ts';
import type { ForwardChanges } from '../../decide/proxied.ts';
import type { EdgeVerdict, Enforced } from '../../decide/verdict.ts';
import type { DoorAnswer, DoorFault } from '../door.ts';
import type { Tickets } from '../tickets.ts';
import type { FrameWriter } from './codec.ts';
import { FRAME, writeHead } from './frames.ts';

/**
 * The parts of a decision that HAProxy enforces with the shipped configuration. `body` is not among them: a verdict names it only
 * where a part of a body that a rule inspects did not reach the agent. `response`: headers are added, and none is removed.
 */
export const SPOP_ENFORCED: Enforced = new Set(['origin', 'rewrite']);

/** Where and what an answer is made for. */
export interface AckSubject {
  /** The octets of the ids of the NOTIFY frame. */
  readonly ids: Buffer;
  /** The target as the visitor sent it: a rewrite is one that differs. */
  readonly target: string;
  readonly scheme: 'http' | 'https';
}

/** The action of set-var (§3.4), its count of arguments, and the scope of a transaction. */
const SET_TXN_VAR = [1, 3, 2] as const;

/** The octets up to the value of every variable. PERF: made once. */
const PREFIXES = new Map<string, Buffer>();

function prefixOf(name: string): Buffer {
  const known = PREFIXES.get(name);
  if (known !== undefined) return known;
  const made = Buffer.from([...SET_TXN_VAR, name.length, ...Buffer.from(name, 'latin1')]);
  PREFIXES.set(name, made);
  return made;
}

/** What no header field may have: controls, and characters that are more than one octet. */
const UNPRINTABLE = /[^\t\x20-\x7e\x80-\xff]/;

/**
 * Sets a variable. HAProxy writes texts into headers as they are, so a character that would end one is replaced by `?`: the
 * low octet of U+010A is a line feed.
 */
function set(writer: FrameWriter, name: string, value: string | number | boolean): void {
  writer.raw(prefixOf(name));
  const isUnsafe = typeof value === 'string' && UNPRINTABLE.test(value);
  writer.typed(isUnsafe ? value.replaceAll(new RegExp(UNPRINTABLE, 'g'), '?') : value);
}

/** HAProxy's own code for an agent's fault: 256 and the status of the protocol, so that one condition closes for both. */
const FAULT_ERR = 256 + 99;

/**
 * The ACK of a request that cannot be decided: as an agent that is away.
 * @param fault why; `null`: its arguments make no request, or its answer does not fit a frame
 */
export function faultAck(writer: FrameWriter, ids: Buffer, fault: DoorFault | null = null): Buffer {
  writeHead(writer, FRAME.ack, ids);
  set(writer, 'err', FAULT_ERR);
  if (fault !== null) set(writer, 'fault', fault);
  return writer.take();
}

/** The ACK of an answer. Pages are issued as tickets. */
export function ackOf(
  writer: FrameWriter,
  answer: DoorAnswer,
  { subject, tickets }: { readonly subject: AckSubject; readonly tickets: Pick<Tickets, 'issue'> },
): Buffer {
  const { ids } = subject;
  if (answer.kind === 'fault') return faultAck(writer, ids, answer.fault);
  writeHead(writer, FRAME.ack, ids);
  if (answer.kind === 'forward') {
    set(writer, 'action', 'forward');
    set(writer, 'id', answer.id);
    if (answer.fault !== null) set(writer, 'fault', answer.fault);
    if (answer.verdict !== null) setVerdict(writer, answer.verdict);
    setChanges(writer, answer.changes, subject);
  } else {
    setAnswer(writer, answer.answer, tickets);
    set(writer, 'id', answer.id);
    if (answer.verdict !== null) setVerdict(writer, answer.verdict);
  }
  return writer.take();
}

/** What logs and headers of HAProxy may show of a decision. */
function setVerdict(writer: FrameWriter, { domain, decision, unenforced }: EdgeVerdict): void {
  set(writer, 'domain', domain);
  if (decision.rule !== null) set(writer, 'rule', ruleText(decision.rule));
  if (decision.tags.length > 0) set(writer, 'tags', decision.tags.join(', '));
  if (unenforced.length > 0) set(writer, 'unenforced', unenforced.join(','));
}

function ruleText({ type, id, key }: RuleRef): string {
  return `${type}/${key ?? id}`;
}

/** What differs for the origin, and the headers that the response gets. */
function setChanges(writer: FrameWriter, changes: ForwardChanges, subject: AckSubject): void {
  const { target, origin, cookies, responseHeaders } = changes;
  if (target !== subject.target) {
    const mark = target.indexOf('?');
    set(writer, 'uri', target);
    set(writer, 'path', mark < 0 ? target : target.slice(0, mark));
    if (mark >= 0) set(writer, 'query', target.slice(mark + 1));
  }
  if (origin !== null) setOrigin(writer, origin, subject.scheme);
  if (cookies !== null) {
    set(writer, 'cookies_changed', true);
    set(writer, 'cookies', cookies);
  }
  for (let at = 0; at < responseHeaders.length; at += 2) {
    const name = responseHeaders[at]!;
    if (name !== ID_HEADER) set(writer, variableOf(name), responseHeaders[at + 1]!);
  }
}

/** `res_x_content_type_options` of `X-Content-Type-Options`. */
function variableOf(header: string): string {
  return `res_${header.toLowerCase().replaceAll('-', '_')}`;
}

/** PERF: the words of one address at a time. */
const WORDS = new Uint32Array(4);

/** The origin. A record with the scheme `auto` gets the visitor's: an agent does not probe. */
function setOrigin(writer: FrameWriter, origin: Origin, visited: 'http' | 'https'): void {
  const scheme = origin.scheme === 'auto' ? visited : origin.scheme;
  const family = parseIp(origin.address, WORDS);
  if (family === 0) {
    set(writer, 'origin_name', origin.address);
  } else {
    writer.raw(prefixOf('origin_addr'));
    writer.address(family === 4 ? WORDS.subarray(0, 1) : WORDS);
  }
  set(writer, 'origin_scheme', scheme);
  set(writer, 'origin_port', origin.port ?? DEFAULT_PORTS[scheme]);
  set(writer, 'origin_host', origin.hostHeader);
  set(writer, 'origin_source', origin.source);
}

/** Statuses of redirects that HAProxy can send itself. */
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

/** A response of the edge's own: one that HAProxy makes, or a ticket for it. */
function setAnswer(writer: FrameWriter, answer: EdgeAnswer, tickets: Pick<Tickets, 'issue'>): void {
  const { status, headers, body } = answer;
  const location = headerOf(headers, 'Location');
  const isRedirect = body === null && location !== null && REDIRECTS.has(status);
  set(writer, 'action', isRedirect ? 'redirect' : 'page');
  set(writer, 'status', status);
  if (isRedirect) set(writer, 'location', location);
  else set(writer, 'ticket', tickets.issue(answer));
  const wait = headerOf(headers, 'Retry-After');
  if (wait !== null) set(writer, 'retry_after', wait);
}

function headerOf(headers: HeaderList, name: string): string | null {
  for (let at = 0; at < headers.length; at += 2) if (headers[at] === name) return headers[at + 1]!;
  return null;
}
