/**
 * The server of `edgeplan play`: the files of the page, the state of the file as server-sent events, plans and signatures by digest.
 * For browsers on this machine: it answers only requests whose Host header names loopback, and sends no CORS header, so that no other
 * site's page reads a plan.
 */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { foreignHost } from '../../base/addresses/host.ts';
import type { SignaturesNote } from '../../workbench/simulation/document.ts';
import type { SimulationSubject } from '../../workbench/simulation/simulate.ts';
import { PANEL_HEADERS, type PanelFile } from './assets.ts';
import {
  type FindingDocument,
  type PlayedPlan,
  type PlayState,
  type SubjectDocument,
  subjectDocument,
} from './documents.ts';

/** What the server answers from. */
export interface PlayServerOptions {
  /** The files of the page by name. */
  readonly files: ReadonlyMap<string, PanelFile>;
  readonly played: PlayedFile;
}

/** An answer that is known as a whole. */
interface WholeAnswer {
  readonly status: number;
  readonly type: string;
  readonly body: Uint8Array | string;
}

const TEXT = 'text/plain; charset=utf-8';
const JSON_TYPE = 'application/json';
const OCTETS = 'application/octet-stream';

/** Creates the server; the caller binds it to loopback and closes it. */
export function createPlayServer(options: PlayServerOptions): Server {
  const streams = new Set<ServerResponse>();
  const unsubscribe = options.played.subscribe(() => {
    for (const stream of streams) sendState(stream, options.played);
  });
  const ping = setInterval(() => {
    for (const stream of streams) stream.write(':\n\n');
  }, EVENT_PING_MS);
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?', 1)[0]!;
    const refusal = refusalOf(request);
    if (refusal !== null) sendWhole(response, refusal);
    else if (path === '/play/events') openStream(response, { streams, played: options.played });
    else sendWhole(response, answerFor(path, options));
  });
  server.headersTimeout = PLAY_HEADERS_MS;
  server.requestTimeout = PLAY_REQUEST_MS;
  server.maxConnections = MAX_PLAY_CONNECTIONS;
  server.on('close', () => {
    unsubscribe();
    clearInterval(ping);
  });
  return server;
}

/** The answer to a request that is not served whatever it asks for; `null`: it may be served. */
function refusalOf({ method, headers }: IncomingMessage): WholeAnswer | null {
  const foreign = foreignHost(headers.host);
  if (foreign !== null) return text(421, foreign);
  if (method !== 'GET' && method !== 'HEAD') return text(405, 'only GET and HEAD');
  return null;
}

function text(status: number, sentence: string): WholeAnswer {
  return { status, type: TEXT, body: `${sentence}\n` };
}

/** The answer for a path. */
function answerFor(path: string, { files, played }: PlayServerOptions): WholeAnswer {
  const file = files.get(path === '/' ? 'index.html' : path.slice(1));
  if (file !== undefined) return { status: 200, ...file };
  const [, kind, digest = '', form] =
    /^\/play\/(plans|signatures)\/([0-9a-f]{64})\.(json|bin)$/.exec(path) ?? [];
  if (kind === 'signatures' && form === 'bin') {
    const sealed = played.signatures(digest);
    if (sealed !== null) return { status: 200, type: OCTETS, body: sealed };
  }
  const plan = kind === 'plans' ? played.plan(digest) : null;
  if (plan !== null && form === 'bin') return { status: 200, type: OCTETS, body: plan.bytes };
  if (plan !== null) return { status: 200, type: JSON_TYPE, body: JSON.stringify(plan.document) };
  return text(
    404,
    kind === undefined ? 'there is nothing at this path' : 'this plan is not in memory any more',
  );
}

function sendWhole(response: ServerResponse, { status, type, body }: WholeAnswer): void {
  const octets = Buffer.from(body as Uint8Array);
  response.writeHead(status, {
    ...PANEL_HEADERS,
    'content-type': type,
    'content-length': octets.length,
    'cache-control': 'no-store',
  });
  response.end(response.req.method === 'HEAD' ? undefined : octets);
}

/** Opens an event stream: the state now, and after each change. */
function openStream(
  response: ServerResponse,
  { streams, played }: { readonly streams: Set<ServerResponse>; readonly played: PlayedFile },
): void {
  if (streams.size >= MAX_EVENT_STREAMS) {
    sendWhole(response, text(503, `${MAX_EVENT_STREAMS} pages are open; close one`));
    return;
  }
  response.writeHead(200, {
    ...PANEL_HEADERS,
    'content-type': 'text/event-stream',
    'cache-control': 'no-store',
  });
  if (response.req.method === 'HEAD') {
    response.end();
    return;
  }
  streams.add(response);
  response.on('close', () => streams.delete(response));
  sendState(response, played);
}

/** Writes the state as one event. A browser that does not read has what it missed superseded: its stream is closed. */
function sendState(stream: ServerResponse, played: PlayedFile): void {
  if (stream.writableLength > MAX_UNREAD_OCTETS) {
    stream.destroy();
    return;
  }
  stream.write(`data: ${JSON.stringify(played.state())}\n\n`);
}

/** Octets of events that a browser may leave unread; it connects again. */
const MAX_UNREAD_OCTETS = 4 * 1024 * 1024;

// What `edgeplan play` knows of its file: the last plans that compiled, the mistakes of the newest text, the findings of lint. In: the
// results of compilations. Out: the state that browsers show, and plans by digest.

/** A plan with all that a browser needs to evaluate it. */
export interface PlayedSubject {
  readonly document: SubjectDocument;
  readonly bytes: Uint8Array;
  /** The sealed signatures; `null`: none. */
  readonly signatures: Uint8Array | null;
}

/** Sealed signatures with their name. */
export interface SourceSignatures extends SignaturesNote {
  readonly sealed: Uint8Array;
}

/** A file that is played. */
export interface PlayedFile {
  /** The state now. */
  state(): PlayState;
  /** Calls `listener` after each change; returns what ends that. */
  subscribe(listener: () => void): () => void;
  /** The plan of a digest in hexadecimal; `null`: it is not in memory. */
  plan(digest: string): PlayedSubject | null;
  /** The sealed signatures of a digest in hexadecimal. */
  signatures(digest: string): Uint8Array | null;
  /** Takes a plan of the file's text; the same plan again, such as after a change of a comment, makes no new one. */
  compiled(subject: SimulationSubject, signatures: SourceSignatures | null): void;
  /** Takes the mistakes of a text that does not compile. */
  refused(mistakes: readonly FindingDocument[]): void;
  /** Takes what lint found in the newest text. */
  linted(findings: readonly FindingDocument[]): void;
}

/** A stored plan. */
interface Stored extends PlayedSubject {
  readonly entry: PlayedPlan;
}

/** The hexadecimal digits of `sha256:…`. */
function hexOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

/** Creates the account of a file, before its first compilation. @param file the name that browsers show */
export function createPlayedFile(file: string): PlayedFile {
  const listeners = new Set<() => void>();
  let plans: readonly Stored[] = [];
  let mistakes: readonly FindingDocument[] = [];
  let findings: readonly FindingDocument[] | null = null;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    state: () => ({
      file,
      domain: plans[0]?.document.rule_set?.domain.name ?? null,
      plans: plans.map(({ entry }) => entry),
      mistakes,
      findings,
    }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    plan: (digest) => plans.find(({ entry }) => entry.digest === digest) ?? null,
    signatures: (digest) =>
      plans.find(({ document }) => document.signatures?.digest === `sha256:${digest}`)?.signatures ?? null,
    compiled(subject, signatures) {
      mistakes = [];
      findings = null;
      const digest = hexOf(subject.digest);
      const [newest] = plans;
      const number = newest?.entry.digest === digest ? newest.entry.number : (newest?.entry.number ?? 0) + 1;
      const entry = {
        number,
        digest,
        at: new Date().toISOString(),
        rules: subject.ruleSet?.rules.length ?? 0,
      };
      const stored = {
        entry,
        document: subjectDocument(subject, signatures),
        bytes: subject.bytes,
        signatures: signatures?.sealed ?? null,
      };
      // Lines of rules may differ where the plan does not.
      plans = bounded([stored, ...plans.filter((plan) => plan.entry.digest !== digest)]);
      changed();
    },
    refused(found) {
      mistakes = found;
      changed();
    },
    linted(found) {
      findings = found;
      changed();
    },
  };
}

/** The newest plans within the bounds. */
function bounded(plans: readonly Stored[]): readonly Stored[] {
  let octets = 0;
  return plans.slice(0, MAX_PLAYED_PLANS).filter(({ bytes }, index) => {
    octets += bytes.length;
    return index === 0 || octets <= MAX_PLAYED_OCTETS;
  });
}

/** Plans of a file that stay in memory, the newest included: an hour of edits at the pace of one in three minutes. */
const MAX_PLAYED_PLANS = 20;

/** Their octets together; the newest plan stays whatever its size. */
const MAX_PLAYED_OCTETS = 64 * 1024 * 1024;

/** Event streams of one server; browsers open one for each tab, six at most to one host over HTTP/1.1. */
const MAX_EVENT_STREAMS = 24;

/** Connections of one server: streams, and what the tabs load. */
const MAX_PLAY_CONNECTIONS = 100;

/** Milliseconds for the head of a request, and for all of it: browsers are on this machine. */
const PLAY_HEADERS_MS = 5_000;
const PLAY_REQUEST_MS = 10_000;

/** Milliseconds between comments on an idle event stream, which find closed connections. */
const EVENT_PING_MS = 15_000;
