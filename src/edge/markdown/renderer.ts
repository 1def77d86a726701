/**
 * Renders pages in worker threads, so that rendering does not block requests: a few at once, more in a queue, each with a
 * time limit. When a thread dies or takes too long, its page goes out as HTML and another thread replaces it.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Budget, createBudget } from '../../base/buffers/space.ts';
import type { Coding, HtmlReason } from './outcome.ts';
import type { RenderOrder, RenderResult } from './thread.ts';

/** Maximum time, in milliseconds, for a page's body to arrive after its head. */
const GATHER_MS = 10_000;
/**
 * Maximum time, in milliseconds, that a page waits for a thread: after that, HTML at once is better than Markdown later.
 */
const WAIT_MS = 2_000;
/** Maximum time of a rendering, in milliseconds. Measured: 2 MB take 100 ms, hostile ones 400 ms. */
const RENDER_MS = 5_000;
/** Maximum number of pages that wait for a thread: two threads render as many in a few seconds. */
const MAX_QUEUED_PAGES = 64;
/** Maximum size, in octets, of all pages that are gathered, waiting, or rendered and not sent yet. */
export const BUFFERED_OCTETS = 64 * 1024 * 1024;
/** Maximum number of threads: rendering must not take the processors of request handling. */
const MAX_THREADS = 2;
/** Maximum heap of a thread, in MiB: a page that needs more ends the thread, not the process. */
const THREAD_HEAP_MB = 256;

/** Limits of the renderer; all have defaults. */
export interface RendererOptions {
  /** Called with why a thread ended. */
  readonly onFault: (error: unknown) => void;
  /** The thread's module. Default: `thread.js` beside this file. */
  readonly file?: URL;
  /** Most threads. */
  readonly threads?: number;
  /** Most octets of buffered pages. Default: `BUFFERED_OCTETS`. */
  readonly bufferedOctets?: number;
  /** Milliseconds for a page to arrive, to wait for a thread, and to be rendered. */
  readonly gatherMs?: number;
  readonly waitMs?: number;
  readonly renderMs?: number;
}

interface Job {
  readonly page: MarkdownPage;
  readonly done: (rendered: RenderedPage) => void;
  /** Ends the wait for a thread, then the rendering. */
  timer: NodeJS.Timeout;
}

interface Thread {
  readonly worker: Worker;
  ready: boolean;
  /** The page it renders. */
  job: Job | null;
}

interface RendererState {
  readonly onFault: (error: unknown) => void;
  readonly file: URL;
  /** Most threads. */
  readonly maxThreads: number;
  readonly waitMs: number;
  readonly renderMs: number;
  readonly threads: Set<Thread>;
  /** Jobs without a thread, the oldest first. */
  readonly waiting: Job[];
  closed: boolean;
}

export function createMarkdownRenderer(options: RendererOptions): MarkdownRenderer {
  const state: RendererState = {
    onFault: options.onFault,
    file: options.file ?? new URL('./thread.js', import.meta.url),
    maxThreads: options.threads ?? threadsOf(1),
    waitMs: options.waitMs ?? WAIT_MS,
    renderMs: options.renderMs ?? RENDER_MS,
    threads: new Set(),
    waiting: [],
    closed: false,
  };
  return {
    gatherMs: options.gatherMs ?? GATHER_MS,
    budget: createBudget(options.bufferedOctets ?? BUFFERED_OCTETS),
    render: (page, done) => render(state, page, done),
    close: () => close(state),
  };
}

/** Queues a page; refuses it as `busy` when the queue is full or the renderer is closed. */
function render(
  state: RendererState,
  page: MarkdownPage,
  done: (rendered: RenderedPage) => void,
): () => void {
  if (state.closed || state.waiting.length >= MAX_QUEUED_PAGES) {
    done({ ok: false, reason: 'busy' });
    return () => undefined;
  }
  const late = setTimeout(() => {
    unqueue(state, job);
    done({ ok: false, reason: 'busy' });
  }, state.waitMs);
  let wanted = true;
  const job: Job = { page, done: (rendered) => void (wanted && done(rendered)), timer: late };
  state.waiting.push(job);
  assignJobs(state);
  return () => {
    wanted = false;
    unqueue(state, job);
  };
}

/** Gives waiting jobs to idle threads, and starts a thread if jobs remain. */
function assignJobs(state: RendererState): void {
  const { threads, waiting } = state;
  for (const thread of threads) {
    if (waiting.length === 0) return;
    if (thread.ready && thread.job === null) assign(state, thread, waiting.shift()!);
  }
  const starting = [...threads].filter(({ ready }) => !ready).length;
  if (!state.closed && waiting.length > starting && threads.size < state.maxThreads) startThread(state);
}

/** Starts a thread; it takes jobs once it reports `ready`. */
function startThread(state: RendererState): void {
  const worker = new Worker(state.file, {
    execArgv: [],
    name: 'edgeplan-markdown',
    resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
  });
  const thread: Thread = { worker, ready: false, job: null };
  state.threads.add(thread);
  worker.on('message', (result: RenderResult) => handleResult(state, thread, result));
  worker.on('error', (error) => endThread(state, thread, { reason: 'failed', error }));
  worker.on('exit', () => {
    const error = new Error('a thread that renders pages has ended');
    endThread(state, thread, { reason: 'failed', error });
  });
}

/** Sends a job to an idle thread and limits its time. The octets are transferred, not copied. */
function assign(state: RendererState, thread: Thread, job: Job): void {
  const { renderMs } = state;
  clearTimeout(job.timer);
  thread.job = job;
  thread.worker.ref();
  const { chunks, address, coding, charset } = job.page;
  const octets = joined(chunks);
  job.timer = setTimeout(() => {
    const error = new Error(`rendering ${address} took longer than ${renderMs / 1_000} seconds`);
    endThread(state, thread, { reason: 'late', error });
  }, renderMs);
  thread.worker.postMessage({ octets, address, coding, charset } satisfies RenderOrder, [octets.buffer]);
}

function handleResult(state: RendererState, thread: Thread, result: RenderResult): void {
  const { job } = thread;
  if (result.kind === 'ready') thread.ready = true;
  else if (job !== null) {
    thread.job = null;
    // An idle thread must not prevent the process from exiting.
    thread.worker.unref();
    clearTimeout(job.timer);
    job.done(result.kind === 'html' ? { ok: false, reason: result.reason } : { ok: true, ...result });
  }
  assignJobs(state);
}

interface ThreadEnd {
  readonly reason: HtmlReason;
  readonly error: Error;
}

/**
 * Ends a thread; its page goes out as HTML. A thread that dies before it is ready costs a waiting page: without that, a
 * thread that cannot start would be started for ever.
 */
function endThread(state: RendererState, thread: Thread, { reason, error }: ThreadEnd): void {
  if (!state.threads.delete(thread)) return;
  void thread.worker.terminate();
  state.onFault(error);
  const job = thread.job ?? (thread.ready ? undefined : state.waiting.shift());
  if (job !== undefined) giveUp(job, reason);
  assignJobs(state);
}

/** Reports that a page goes out as HTML. */
function giveUp(job: Job, reason: HtmlReason): void {
  clearTimeout(job.timer);
  job.done({ ok: false, reason });
}

/** Removes a job that waits. */
function unqueue({ waiting }: RendererState, job: Job): void {
  const at = waiting.indexOf(job);
  if (at < 0) return;
  waiting.splice(at, 1);
  clearTimeout(job.timer);
}

async function close(state: RendererState): Promise<void> {
  state.closed = true;
  for (const job of state.waiting.splice(0)) giveUp(job, 'failed');
  const ending = [...state.threads];
  state.threads.clear();
  for (const { job } of ending) if (job !== null) giveUp(job, 'failed');
  await Promise.all(ending.map(({ worker }) => worker.terminate()));
}

/** Threads of each process of a node with so many processes; they are started when pages arrive. */
export function threadsOf(processes: number): number {
  return Math.max(1, Math.floor(Math.min(MAX_THREADS, availableParallelism() - 1) / processes));
}

/** All chunks in one buffer, which can be transferred to a thread. */
function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** A page to render. */
export interface MarkdownPage {
  readonly chunks: readonly Uint8Array[];
  readonly coding: Coding;
  /** The charset of its Content-Type; `null`: none. */
  readonly charset: string | null;
  /** The visitor's URL of the page, the base of its links. */
  readonly address: string;
}

/** The outcome of a rendering. */
export type RenderedPage =
  | {
      readonly ok: true;
      /** UTF-8. */
      readonly markdown: Uint8Array;
      /** A strong entity tag. */
      readonly tag: string;
      /** Estimated tokens of a language model. */
      readonly tokens: number;
    }
  | { readonly ok: false; readonly reason: HtmlReason };

/** The renderer of a process. */
export interface MarkdownRenderer {
  /** Renders a page; calls `done` once; never throws. The returned function cancels: `done` is not called then. */
  render(page: MarkdownPage, done: (rendered: RenderedPage) => void): () => void;
  /** Milliseconds for a page's body to arrive after its head. */
  readonly gatherMs: number;
  /** Octets that filters may buffer in total. */
  readonly budget: Budget;
  /** Ends all threads; their pages go out as HTML. */
  close(): Promise<void>;
}
