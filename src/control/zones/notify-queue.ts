/**
 * NOTIFY to one secondary: the newest version of each zone waits until the secondary accepts it, a bounded number of
 * messages is unanswered at once, and unanswered ones are repeated with backoff (RFC 1996 §3.6).
 */
import { randomInt } from 'node:crypto';
import { createSocket, type Socket } from 'node:dgram';
import { isIPv6 } from 'node:net';
import { backoffMs } from '../../base/platform/tasks.ts';
import type { ServerAddress } from '../dns/server-address.ts';
import { NOTIFY_ANSWER_MS, NOTIFY_BACKOFF, NOTIFY_CONCURRENCY, SILENT_AFTER_MS } from './limits.ts';
import { type CountedLines, createCountedLines, type ZoneLog } from './log.ts';
import { type Secondary, secondaryText } from './settings.ts';
import { judgeNotifyResponse, notifyResponseId, writeNotify } from './wire/notify-message.ts';
import { isGreater, SOA_TIMERS, type ZoneHead } from './zone-source.ts';

/** What a queue is created with. */
interface NotifyQueueOptions {
  readonly log: ZoneLog;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
}

/** A version that a secondary has not accepted yet. */
interface WaitingNotify {
  readonly serial: number;
  /** Milliseconds since the epoch. */
  readonly since: number;
  /** Attempts without success. */
  readonly failures: number;
  /** What the secondary answered last, for example `NOTAUTH`; `null`: nothing. */
  readonly refusal: string | null;
}

/** The NOTIFY messages of one secondary. */
export interface NotifyQueue {
  /** Sends the version at once, unless it or a later one waits already. */
  add(head: ZoneHead): void;
  /** Removes a zone that is served no more. */
  remove(name: string): void;
  waiting(name: string): WaitingNotify | null;
  /** Zones whose newest version is not accepted. */
  size(): number;
  /** Whether the secondary answers nothing. */
  isSilent(): boolean;
  stop(): void;
}

interface Entry {
  readonly head: ZoneHead;
  readonly since: number;
  failures: number;
  refusal: string | null;
  /** Of the attempt that has no answer yet. */
  attempt: { readonly id: number; readonly mac: Buffer } | null;
  timer: NodeJS.Timeout | undefined;
}

interface Queue {
  readonly secondary: Secondary;
  readonly options: NotifyQueueOptions;
  readonly socket: NotifySocket;
  readonly entries: Map<string, Entry>;
  /** Entries that are sent as soon as there is a place. */
  readonly due: Set<Entry>;
  readonly unanswered: Map<number, Entry>;
  /** When the first attempt after the last answer was made, milliseconds since the epoch. */
  unansweredSince: number | null;
  silent: boolean;
  /** Versions given up while the secondary is silent. */
  expired: number;
  readonly refusals: CountedLines;
  readonly expiries: CountedLines;
}

/** Creates the queue of one secondary. */
function createNotifyQueue(secondary: Secondary, options: NotifyQueueOptions): NotifyQueue {
  const queue: Queue = {
    secondary,
    options,
    socket: createNotifySocket(secondary.server, (octets) => receive(queue, octets)),
    entries: new Map(),
    due: new Set(),
    unanswered: new Map(),
    unansweredSince: null,
    silent: false,
    expired: 0,
    refusals: createCountedLines(options.log, options.clock),
    expiries: createCountedLines(options.log, options.clock),
  };
  return {
    add: (head) => add(queue, head),
    remove(name) {
      drop(queue, queue.entries.get(name));
      pump(queue);
    },
    waiting(name) {
      const entry = queue.entries.get(name);
      if (entry === undefined) return null;
      const { head, since, failures, refusal } = entry;
      return { serial: head.serial, since, failures, refusal };
    },
    size: () => queue.entries.size,
    isSilent: () => queue.silent,
    stop() {
      for (const entry of queue.entries.values()) drop(queue, entry);
      queue.socket.close();
      queue.refusals.flush();
      queue.expiries.flush();
    },
  };
}

function add(queue: Queue, head: ZoneHead): void {
  const before = queue.entries.get(head.name);
  if (before !== undefined && !isGreater(head.serial, before.head.serial)) return;
  drop(queue, before);
  const since = queue.options.clock();
  const entry: Entry = { head, since, failures: 0, refusal: null, attempt: null, timer: undefined };
  queue.entries.set(head.name, entry);
  queue.due.add(entry);
  pump(queue);
}

function drop(queue: Queue, entry: Entry | undefined): void {
  if (entry === undefined) return;
  endAttempt(queue, entry);
  queue.due.delete(entry);
  queue.entries.delete(entry.head.name);
}

function endAttempt(queue: Queue, entry: Entry): void {
  clearTimeout(entry.timer);
  if (entry.attempt !== null) queue.unanswered.delete(entry.attempt.id);
  entry.attempt = null;
}

/** Sends what is due as far as there are places. */
function pump(queue: Queue): void {
  for (const entry of queue.due) {
    if (queue.unanswered.size >= NOTIFY_CONCURRENCY) return;
    queue.due.delete(entry);
    transmit(queue, entry);
  }
}

function transmit(queue: Queue, entry: Entry): void {
  const { secondary, socket, options, unanswered } = queue;
  // Another port and route may reach a silent secondary; no answer is under way to this port.
  if (queue.silent && unanswered.size === 0) socket.close();
  const now = options.clock();
  const id = freeId(unanswered);
  const time = Math.floor(now / 1_000);
  const { octets, mac } = writeNotify(entry.head, { id, key: secondary.key, time });
  entry.attempt = { id, mac };
  unanswered.set(id, entry);
  queue.unansweredSince ??= now;
  const pause = backoffMs(entry.failures, NOTIFY_BACKOFF);
  const answerMs = Math.min(pause, NOTIFY_ANSWER_MS);
  entry.timer = setTimeout(() => {
    endAttempt(queue, entry);
    noteSilence(queue);
    retry(queue, entry, pause - answerMs);
  }, answerMs);
  socket.send(octets);
}

/** A random id that no unanswered message has (RFC 5452 §4.3). */
function freeId(unanswered: ReadonlyMap<number, Entry>): number {
  for (;;) {
    const id = randomInt(65_536);
    if (!unanswered.has(id)) return id;
  }
}

function retry(queue: Queue, entry: Entry, pauseMs: number): void {
  entry.failures++;
  if (queue.options.clock() - entry.since >= SOA_TIMERS.refresh * 1_000) expire(queue, entry);
  else {
    entry.timer = setTimeout(() => {
      queue.due.add(entry);
      pump(queue);
    }, pauseMs);
  }
  pump(queue);
}

/** Gives up: the secondary has asked by itself since, or cannot reach this server either. */
function expire(queue: Queue, entry: Entry): void {
  drop(queue, entry);
  if (queue.silent) {
    queue.expired++;
    return;
  }
  const subject = secondaryText(queue.secondary);
  const fields = { zone: entry.head.name, serial: entry.head.serial, refusal: entry.refusal };
  queue.expiries.warn(subject, fields, 'gave up NOTIFY: the refresh time of the zone has passed');
}

function noteSilence(queue: Queue): void {
  const { options, secondary, socket, unansweredSince } = queue;
  if (queue.silent || unansweredSince === null) return;
  if (options.clock() - unansweredSince < SILENT_AFTER_MS) return;
  queue.silent = true;
  const fields = { subject: secondaryText(secondary), waiting: queue.entries.size, error: socket.lastError };
  options.log.warn(fields, 'a secondary does not answer NOTIFY');
}

function receive(queue: Queue, octets: Buffer): void {
  const { options, secondary } = queue;
  const entry = queue.unanswered.get(notifyResponseId(octets) ?? -1);
  if (entry === undefined) return;
  const sent = { name: entry.head.name, mac: entry.attempt!.mac, key: secondary.key };
  const outcome = judgeNotifyResponse(octets, sent, Math.floor(options.clock() / 1_000));
  if (outcome.kind === 'ignored') return;
  endAttempt(queue, entry);
  if (outcome.kind === 'accepted') drop(queue, entry);
  else entry.refusal = outcome.reason;
  noteAnswer(queue);
  if (outcome.kind === 'refused') {
    const fields = { zone: entry.head.name, reason: outcome.reason };
    queue.refusals.warn(secondaryText(secondary), fields, 'a secondary refuses NOTIFY');
    retry(queue, entry, backoffMs(entry.failures, NOTIFY_BACKOFF));
  }
  pump(queue);
}

/** Ends a silence: what waits only because of it is sent at once. */
function noteAnswer(queue: Queue): void {
  const { entries, due, options, secondary, unanswered } = queue;
  queue.unansweredSince = unanswered.size === 0 ? null : options.clock();
  if (!queue.silent) return;
  queue.silent = false;
  const fields = { subject: secondaryText(secondary), waiting: entries.size, gaveUp: queue.expired };
  options.log.info(fields, 'a secondary answers NOTIFY again');
  queue.expired = 0;
  for (const entry of entries.values()) {
    if (entry.attempt !== null || entry.refusal !== null) continue;
    clearTimeout(entry.timer);
    due.add(entry);
  }
}

// One connected UDP socket to a secondary: the kernel then drops datagrams of other senders (RFC 5452), and reports a port
// that is closed. Opened at the first datagram and after an error of the network.

/** A socket to one secondary. */
interface NotifySocket {
  /** Sends, or loses the datagram. */
  send(octets: Buffer): void;
  /** Closes the socket; the next datagram opens one with another port. */
  close(): void;
  /** Why datagrams were lost last, if the system reported it. */
  readonly lastError: string | null;
}

/** @param onMessage called with each datagram from the secondary */
function createNotifySocket(
  { address, port }: ServerAddress,
  onMessage: (octets: Buffer) => void,
): NotifySocket {
  let socket: Socket | null = null;
  let connected = false;
  let lastError: string | null = null;
  /** Datagrams until the socket is connected. */
  let backlog: Buffer[] = [];

  function close(): void {
    socket?.close();
    socket = null;
    connected = false;
    backlog = [];
  }

  function fail(error: NodeJS.ErrnoException, failed: Socket): void {
    if (failed !== socket) return;
    lastError = error.code ?? error.message;
    // A closed port is the secondary's; after anything else, address or route may have changed.
    if (lastError !== 'ECONNREFUSED') close();
  }

  function open(): void {
    const opened = createSocket(isIPv6(address) ? 'udp6' : 'udp4');
    socket = opened;
    opened.on('error', (error) => fail(error, opened));
    opened.on('message', (octets) => {
      lastError = null;
      onMessage(octets);
    });
    opened.on('connect', () => {
      if (opened !== socket) return;
      connected = true;
      for (const octets of backlog.splice(0)) transmit(octets, opened);
    });
    opened.connect(port, address);
  }

  function transmit(octets: Buffer, to: Socket): void {
    if (to !== socket) return;
    to.send(octets, (error) => {
      if (error !== null) fail(error, to);
    });
  }

  return {
    send(octets) {
      if (socket === null) open();
      if (connected) transmit(octets, socket!);
      else if (backlog.length < NOTIFY_CONCURRENCY) backlog.push(octets);
    },
    close,
    get lastError() {
      return lastError;
    },
  };
}

// Sends NOTIFY to every secondary when a zone has a new version (RFC 1996).

/** What a notifier is created with. */
export interface ZoneNotifierOptions extends NotifyQueueOptions {
  readonly secondaries: readonly Secondary[];
}

/** What one secondary has not accepted yet. */
export interface SecondaryStatus {
  readonly server: ServerAddress;
  /** Zones whose newest version waits. */
  readonly waiting: number;
  /** Whether it answers nothing. */
  readonly silent: boolean;
}

/** Sends NOTIFY. */
export interface ZoneNotifier {
  /** Sends the version to every secondary, now and until it is accepted; replaces an earlier version that waits. */
  notify(head: ZoneHead): void;
  /** Sends no more about a zone that is served no more. */
  forget(name: string): void;
  /** In the order of the options. */
  status(): readonly SecondaryStatus[];
  /** The secondaries that have not accepted the newest version of a zone. */
  waiting(name: string): readonly (WaitingNotify & { readonly server: ServerAddress })[];
  stop(): void;
}

/** Creates a notifier; it opens a socket per secondary when there is something to send. */
export function createNotifier({ secondaries, log, clock }: ZoneNotifierOptions): ZoneNotifier {
  const queues = secondaries.map((secondary) => ({
    server: secondary.server,
    queue: createNotifyQueue(secondary, { log, clock }),
  }));
  let stopped = false;
  return {
    notify(head) {
      if (!stopped) for (const { queue } of queues) queue.add(head);
    },
    forget(name) {
      for (const { queue } of queues) queue.remove(name);
    },
    status: () =>
      queues.map(({ server, queue }) => ({ server, waiting: queue.size(), silent: queue.isSilent() })),
    waiting: (name) =>
      queues.flatMap(({ server, queue }) => {
        const entry = queue.waiting(name);
        return entry === null ? [] : [{ ...entry, server }];
      }),
    stop() {
      stopped = true;
      for (const { queue } of queues) queue.stop();
    },
  };
}
