/**
 * Reads one stream of the feed. In: the control plane's octets. Out: the texts of manifest pages in their order, unchecked;
 * and how the stream ended, so that the caller distinguishes streams that a proxy buffers or cuts from working ones.
 */
import { type ControlPlaneClient, ControlPlaneFault, type ReadUpTo } from './control-plane.ts';
import { MAX_MANIFEST_OCTETS } from './limits.ts';
import { errorMessage } from './log.ts';

/** Time-outs of a stream. */
export interface StreamTimes {
  /** Milliseconds until the first octet. */
  readonly firstOctetMs: number;
  /** Milliseconds without an octet after which the stream counts as cut. */
  readonly stallMs: number;
}

export interface ReadStreamOptions extends StreamTimes {
  readonly control: Pick<ControlPlaneClient, 'feed'>;
  readonly from: ReadUpTo;
  /** Called with the text of each page; what it throws ends the stream. */
  readonly onPage: (text: string) => void;
  /** Called with the data of each event of octets, which come ahead of the page that names them. */
  readonly onOctets: (data: string) => void;
  /** Called at the first octets. */
  readonly onOpen: () => void;
  /** Called at all octets. */
  readonly onReceived: () => void;
  /** Aborts the stream. */
  readonly signal: AbortSignal;
}

/** How a stream ended. */
export interface StreamEnd {
  /** Streams get through: this one lasted for `firstOctetMs`, or the control plane ended it with a message. */
  readonly whole: boolean;
  /** Why it ended, as a sentence. */
  readonly reason: string;
}

/** Reads a stream until it ends. @throws ControlPlaneFault when it cannot be opened; what `onPage` throws */
export async function readStream(options: ReadStreamOptions): Promise<StreamEnd> {
  const { control, from, onPage, onOctets, onOpen, onReceived, signal } = options;
  const cut = new AbortController();
  const end = (): void => cut.abort();
  signal.addEventListener('abort', end);
  let open = false;
  let endReason: string | null = null;
  let silent = false;
  const silence = setTimeout(() => {
    silent = true;
    cut.abort();
  }, options.firstOctetMs);
  const began = performance.now();
  let receivedAt = began;
  const watch = setInterval(() => {
    if (!open || performance.now() - receivedAt < options.stallMs) return;
    silent = true;
    cut.abort();
  }, options.stallMs / 4);
  const onEvent = ({ type, data }: ServerEvent): void => {
    if (type === 'manifest') onPage(data);
    else if (type === 'octets') onOctets(data);
    else if (type === 'end') endReason = readEndReason(data);
  };
  const reader = createEventReader({ limit: MAX_MANIFEST_OCTETS, onEvent });
  const ended = (reason: string): StreamEnd => {
    const lasted = open && performance.now() - began >= options.firstOctetMs;
    return { whole: lasted || endReason !== null, reason: endReason ?? reason };
  };
  try {
    const body = await control.feed(from, cut.signal);
    for await (const chunk of body) {
      if (!open) {
        clearTimeout(silence);
        open = true;
        onOpen();
      }
      receivedAt = performance.now();
      onReceived();
      reader.push(chunk);
    }
    return ended('the feed was cut');
  } catch (error) {
    if (silent) return ended(`the feed was silent for ${open ? options.stallMs : options.firstOctetMs} ms`);
    if (signal.aborted) return ended('this node ended it');
    if (error instanceof ControlPlaneFault || !isConnectionError(error)) throw error;
    return ended(`the feed was cut: ${errorMessage(error)}`);
  } finally {
    cut.abort();
    clearTimeout(silence);
    clearInterval(watch);
    signal.removeEventListener('abort', end);
  }
}

/** Errors of sockets and of undici have a textual `code`; faults of pages and of the parser have none. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
}

/** The reason in the data of an `end` event, at most 200 characters. */
function readEndReason(data: string): string {
  try {
    const { error } = JSON.parse(data);
    if (typeof error === 'string') return error.slice(0, 200);
  } catch {
    // An unreadable reason is no fault: the stream ended either way.
  }
  return 'the control plane ended the feed';
}

// Parses server-sent events (WHATWG HTML §9.2.6) from a stream of octets, with a bound on the size of an event.
//
// Not `eventsource-parser` (4.1.3): it requires Node 22, and it creates an Error with a stack for each unknown field, so
// that 4 MB of short lines from a hostile peer take 4.8 s of processor time, here 0.1 s. It also delays an event that ends in
// CR until the next octets arrive.

/** An event of the stream. */
export interface ServerEvent {
  /** The `event` field; `message` without one. */
  readonly type: string;
  /** The `data` fields, joined by LF. */
  readonly data: string;
}

/** A parser of one stream. */
export interface EventReader {
  /**
   * Parses the next octets, and calls `onEvent` for each event that they complete.
   * @throws Error when an event grows beyond the limit
   */
  push(chunk: Uint8Array): void;
}

export interface EventReaderOptions {
  /** Most UTF-16 units of one event, with what is not parsed yet. */
  readonly limit: number;
  readonly onEvent: (event: ServerEvent) => void;
}

const LF = '\n';
const CR = '\r';

export function createEventReader({ limit, onEvent }: EventReaderOptions): EventReader {
  // The decoder removes a byte order mark at the start.
  const decoder = new TextDecoder();
  /** Text after the last line end, in the pieces that arrived: joined once, when the line ends. */
  let rest: string[] = [];
  let restUnits = 0;
  /** The last line ended in CR: a following LF belongs to the same line end. */
  let afterCr = false;
  let type = '';
  let data: string[] = [];
  let size = 0;

  function parseLine(text: string): void {
    if (text === '') {
      if (data.length > 0) onEvent({ type: type === '' ? 'message' : type, data: data.join('\n') });
      type = '';
      data = [];
      size = 0;
      return;
    }
    const colon = text.indexOf(':');
    const name = colon < 0 ? text : text.slice(0, colon);
    const from = text.startsWith(' ', colon + 1) ? colon + 2 : colon + 1;
    const value = colon < 0 ? '' : text.slice(from);
    if (name === 'event') type = value;
    if (name !== 'data') return;
    // Plus one, as a line without a value uses memory too.
    size += value.length + 1;
    checkSize(size);
    data.push(value);
  }

  function checkSize(units: number): void {
    if (units > limit) throw new Error(`an event of the feed is longer than ${limit} characters`);
  }

  /** The line that `end` completes. */
  function takeLine(end: string): string {
    if (rest.length === 0) return end;
    rest.push(end);
    const line = rest.join('');
    rest = [];
    restUnits = 0;
    return line;
  }

  return {
    push(chunk) {
      const text = decoder.decode(chunk, { stream: true });
      if (text === '') return;
      let from = afterCr && text.startsWith(LF) ? 1 : 0;
      afterCr = false;
      // PERF: `indexOf` reads several units at a time, and lines with octets have 100,000s of them.
      let lf = text.indexOf(LF, from);
      let cr = text.indexOf(CR, from);
      while (lf >= 0 || cr >= 0) {
        const endsInCr = cr >= 0 && (lf < 0 || cr < lf);
        const at = endsInCr ? cr : lf;
        parseLine(takeLine(text.slice(from, at)));
        from = at + 1;
        if (endsInCr) {
          afterCr = from === text.length;
          if (lf === from) from++;
          cr = text.indexOf(CR, from);
        }
        if (lf >= 0 && lf < from) lf = text.indexOf(LF, from);
      }
      if (from < text.length) {
        rest.push(text.slice(from));
        restUnits += text.length - from;
      }
      checkSize(size + restUnits);
    },
  };
}
