/**
 * Renders pages in threads, so that no page keeps others waiting: a few at once, some more in a queue, each within its
 * time. A thread that dies or takes too long costs the page it was at, which goes out as HTML; a new one takes its place.
 */
import { availableParallelism } from 'node:os';
import { Worker } from 'node:worker_threads';
import { type Budget, createBudget } from '../buffers/budget.ts';
import type { Coding } from './eligible.ts';
import {
  BUFFERED_OCTETS,
  GATHER_MS,
  MAX_QUEUED_PAGES,
  MAX_THREADS,
  RENDER_MS,
  THREAD_HEAP_MB,
  WAIT_MS,
} from './limits.ts';
import type { HtmlReason } from './outcome.ts';
import type { RenderOrder, RenderResult } from './thread.ts';

export interface RendererOptions {
  /** Told of a thread that died. */
  readonly onFault: (error: unknown) => void;
  /** The thread's code. Default: it stands beside this file. */
  readonly file?: URL;
  readonly threads?: number;
  /** Octets of pages held at a time. Default: `HELD_OCTETS`. */
  readonly bufferedOctets?: number;
  /** Milliseconds for a page to come, to wait for a thread, and to be rendered. */
  readonly gatherMs?: number;
  readonly waitMs?: number;
  readonly renderMs?: number;
}

interface Job {
  readonly page: MarkdownPage;
  readonly done: (rendered: RenderedPage) => void;
  timer: NodeJS.Timeout;
}

interface Thread {
  readonly worker: Worker;
  ready: boolean;
  job: Job | null;
}

export function createMarkdownRenderer(options: RendererOptions): MarkdownRenderer {
  const { onFault, file = new URL('./thread.js', import.meta.url) } = options;
  const { threads: most = threadsOf(1), waitMs = WAIT_MS, renderMs = RENDER_MS } = options;
  const threads = new Set<Thread>();
  const waiting: Job[] = [];
  let closed = false;

  function keep(job: Job, reason: HtmlReason): void {
    clearTimeout(job.timer);
    job.done({ ok: false, reason });
  }

  function start(): void {
    const worker = new Worker(file, {
      execArgv: [],
      name: 'edgeplan-markdown',
      resourceLimits: { maxOldGenerationSizeMb: THREAD_HEAP_MB },
    });
    const thread: Thread = { worker, ready: false, job: null };
    threads.add(thread);
    worker.on('message', (delivery: RenderResult) => take(thread, delivery));
    worker.on('error', (error) => lose(thread, 'failed', error));
    worker.on('exit', () => lose(thread, 'failed', new Error('a thread that renders pages has ended')));
  }

  function take(thread: Thread, delivery: RenderResult): void {
    const { job } = thread;
    if (delivery.kind === 'ready') thread.ready = true;
    else if (job !== null) {
      thread.job = null;
      // Only a thread that has something to do keeps the process alive.
      thread.worker.unref();
      clearTimeout(job.timer);
      job.done(delivery.kind === 'kept' ? { ok: false, reason: delivery.reason } : { ok: true, ...delivery });
    }
    pump();
  }

  /** Ends a thread. One that dies before it is ready takes a page with it, or it would be started for ever. */
  function lose(thread: Thread, reason: HtmlReason, error: Error): void {
    if (!threads.delete(thread)) return;
    void thread.worker.terminate();
    onFault(error);
    const job = thread.job ?? (thread.ready ? undefined : waiting.shift());
    if (job !== undefined) keep(job, reason);
    pump();
  }

  function pump(): void {
    for (const thread of threads) {
      if (waiting.length === 0) return;
      if (thread.ready && thread.job === null) give(thread, waiting.shift()!);
    }
    const starting = [...threads].filter(({ ready }) => !ready).length;
    if (!closed && waiting.length > starting && threads.size < most) start();
  }

  function give(thread: Thread, job: Job): void {
    clearTimeout(job.timer);
    thread.job = job;
    thread.worker.ref();
    const { chunks, address, coding, charset } = job.page;
    const octets = joined(chunks);
    job.timer = setTimeout(() => {
      lose(thread, 'late', new Error(`rendering ${address} took longer than ${renderMs / 1_000} seconds`));
    }, renderMs);
    thread.worker.postMessage({ octets, address, coding, charset } satisfies RenderOrder, [octets.buffer]);
  }

  function drop(job: Job): void {
    const at = waiting.indexOf(job);
    if (at < 0) return;
    waiting.splice(at, 1);
    clearTimeout(job.timer);
  }

  return {
    gatherMs: options.gatherMs ?? GATHER_MS,
    budget: createBudget(options.bufferedOctets ?? BUFFERED_OCTETS),
    render(page, done) {
      if (closed || waiting.length >= MAX_QUEUED_PAGES) {
        done({ ok: false, reason: 'busy' });
        return () => undefined;
      }
      const late = setTimeout(() => {
        drop(job);
        done({ ok: false, reason: 'busy' });
      }, waitMs);
      let wanted = true;
      const job: Job = { page, done: (rendered) => void (wanted && done(rendered)), timer: late };
      waiting.push(job);
      pump();
      return () => {
        wanted = false;
        drop(job);
      };
    },
    async close() {
      closed = true;
      for (const job of waiting.splice(0)) keep(job, 'failed');
      const ending = [...threads];
      threads.clear();
      for (const { job } of ending) if (job !== null) keep(job, 'failed');
      await Promise.all(ending.map(({ worker }) => worker.terminate()));
    },
  };
}

/** Threads of each of so many processes; started only when pages come. */
export function threadsOf(processes: number): number {
  return Math.max(1, Math.floor(Math.min(MAX_THREADS, availableParallelism() - 1) / processes));
}

function joined(chunks: readonly Uint8Array[]): Uint8Array<ArrayBuffer> {
  const all = new Uint8Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    all.set(chunk, at);
    at += chunk.length;
  }
  return all;
}

/** A page that is to become Markdown. */
export interface MarkdownPage {
  readonly chunks: readonly Uint8Array[];
  readonly coding: Coding;
  /** As its Content-Type names it; `null`: not at all. */
  readonly charset: string | null;
  /** The address a visitor asked for it by, which its links are read against. */
  readonly address: string;
}

export type RenderedPage =
  | {
      readonly ok: true;
      /** In UTF-8. */
      readonly markdown: Uint8Array;
      /** A strong entity tag. */
      readonly tag: string;
      /** Tokens of a language model, estimated. */
      readonly tokens: number;
    }
  | { readonly ok: false; readonly reason: HtmlReason };
export interface MarkdownRenderer {
  /** Renders a page and tells of it once; never throws. Calling what is given back means that nobody wants it any more. */
  render(page: MarkdownPage, done: (rendered: RenderedPage) => void): () => void;
  /** Milliseconds that a page may take to come, once its head is there. */
  readonly gatherMs: number;
  /** Octets of pages that may be held at a time, for whoever gathers them. */
  readonly budget: Budget;
  close(): Promise<void>;
}
