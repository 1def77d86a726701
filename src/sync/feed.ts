/**
 * Reads the manifest as it grows: by the feed's stream, or, where something between holds streams back or cuts them, by
 * polling. In: the control plane's octets. Out: the texts of pages, in the order they came, unchecked.
 */
import { type ControlPlaneClient, ControlPlaneFault, type ReadUpTo } from './control-plane.ts';
import { createEventReader, type ServerEvent } from './events.ts';
import { MAX_MANIFEST_OCTETS } from './limits.ts';
import { errorMessage } from './log.ts';

export interface StreamTimes {
  /** Milliseconds to the first octet. */
  readonly firstOctetMs: number;
  /** Milliseconds of silence after which it counts as cut. */
  readonly stallMs: number;
}

export interface ReadStreamOptions extends StreamTimes {
  readonly control: Pick<ControlPlaneClient, 'feed'>;
  readonly from: ReadUpTo;
  /** Takes a page's text; what it throws ends the stream. */
  readonly onPage: (text: string) => void;
  /** Called once the stream brings octets. */
  readonly onOpen: () => void;
  /** Called whenever it does. */
  readonly onHeard: () => void;
  /** Ends the stream from outside. */
  readonly signal: AbortSignal;
}

export interface StreamEnd {
  /** It came through: it lasted, or ended with a word of the control plane's own. */
  readonly whole: boolean;
  /** Why it is over, in a sentence. */
  readonly reason: string;
}

/** Follows the stream until it ends. @throws ControlPlaneFault when it cannot be opened, and what `onPage` throws */
export async function readStream(options: ReadStreamOptions): Promise<StreamEnd> {
  const { control, from, onPage, onOpen, onHeard, signal } = options;
  const cut = new AbortController();
  const end = (): void => cut.abort();
  signal.addEventListener('abort', end);
  let alive = false;
  let farewell: string | null = null;
  let silent = false;
  const silence = setTimeout(() => {
    silent = true;
    cut.abort();
  }, options.firstOctetMs);
  const began = performance.now();
  let heardAt = began;
  const watch = setInterval(() => {
    if (!alive || performance.now() - heardAt < options.stallMs) return;
    silent = true;
    cut.abort();
  }, options.stallMs / 4);
  const onEvent = ({ type, data }: ServerEvent): void => {
    if (type === 'manifest') onPage(data);
    else if (type === 'end') farewell = readFarewell(data);
  };
  const reader = createEventReader({ limit: MAX_MANIFEST_OCTETS, onEvent });
  const ended = (reason: string): StreamEnd => {
    const lasted = alive && performance.now() - began >= options.firstOctetMs;
    return { whole: lasted || farewell !== null, reason: farewell ?? reason };
  };
  try {
    const body = await control.feed(from, cut.signal);
    for await (const chunk of body) {
      if (!alive) {
        clearTimeout(silence);
        alive = true;
        onOpen();
      }
      heardAt = performance.now();
      onHeard();
      reader.push(chunk);
    }
    return ended('the feed was cut');
  } catch (error) {
    if (silent) return ended(`the feed was silent for ${alive ? options.stallMs : options.firstOctetMs} ms`);
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

/** Errors of sockets and of undici carry a code of the system's kind; those of ours are classes of their own. */
function isConnectionError(error: unknown): boolean {
  return error instanceof Error && typeof (error as NodeJS.ErrnoException).code === 'string';
}

function readFarewell(data: string): string {
  try {
    const { error } = JSON.parse(data);
    if (typeof error === 'string') return error.slice(0, 200);
  } catch {
    // It says nothing that can be read; that it ended is all that matters.
  }
  return 'the control plane ended the feed';
}
