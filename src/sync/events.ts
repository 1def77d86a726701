/** Reads server-sent events (WHATWG HTML §9.2.6) out of a stream of octets, bounded in size. */

export interface ServerEvent {
  /** `message` where the stream names none. */
  readonly type: string;
  readonly data: string;
}

export interface EventReader {
  /**
   * Takes the next octets; the events they complete are told in order.
   * @throws Error when an event grows beyond the limit
   */
  push(chunk: Uint8Array): void;
}

export interface EventReaderOptions {
  /** UTF-16 units of one event, its lines included. */
  readonly limit: number;
  readonly onEvent: (event: ServerEvent) => void;
}

const LF = 10;
const CR = 13;

export function createEventReader({ limit, onEvent }: EventReaderOptions): EventReader {
  // A byte order mark at the very start is taken out by the decoder.
  const decoder = new TextDecoder();
  let rest = '';
  /** Up to here `rest` holds no line end. */
  let scanned = 0;
  /** The last line ended in CR: an LF that follows belongs to it. */
  let afterCr = false;
  let type = '';
  let data: string[] = [];
  let size = 0;

  function line(text: string): void {
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
    // A line without a value takes room too.
    size += value.length + 1;
    checkSize(size);
    data.push(value);
  }

  function checkSize(units: number): void {
    if (units > limit) throw new Error(`an event of the feed is longer than ${limit} characters`);
  }

  return {
    push(chunk) {
      rest += decoder.decode(chunk, { stream: true });
      let from = 0;
      for (; scanned < rest.length; scanned++) {
        const code = rest.charCodeAt(scanned);
        const joins = afterCr && code === LF;
        afterCr = code === CR;
        if (joins) from = scanned + 1;
        else if (code === LF || code === CR) {
          line(rest.slice(from, scanned));
          from = scanned + 1;
        }
      }
      rest = rest.slice(from);
      scanned = rest.length;
      checkSize(size + rest.length);
    },
  };
}
