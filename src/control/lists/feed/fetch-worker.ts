/**
 * Runs the fetches of one schedule, such as that of feeds: claims as many as it has places, one of each account, and attempts them.
 * Several processes may run one worker each on the same store: a claim has a lease, so one process makes a fetch, and after a crash
 * another one does.
 */
import { isStoreFault } from '../../../base/storage/fault.ts';
import type { FetchClaiming } from '../../store/repositories/fetch-claims.ts';
import { CLAIM_MS, FETCHES_AT_ONCE, POLL_MS, PROMPT_MS, SLOW_FETCHES } from './limits.ts';

/** What a worker is created with. */
export interface FetchWorkerOptions<Claimed extends { readonly account_id: number }> {
  /** Whether a fetch is due that no process has claimed. */
  readonly isDue: (now: number) => Promise<boolean>;
  /** Claims due fetches, at most one of each account. */
  readonly claim: (claiming: FetchClaiming) => Promise<readonly Claimed[]>;
  /** Makes one fetch and stores what follows. @throws StoreFault */
  readonly attempt: (claimed: Claimed, signals: FetchSignals) => Promise<void>;
  /** What is fetched, for the log. */
  readonly subject: string;
  /** Milliseconds since the epoch. */
  readonly clock: () => number;
  readonly log: { warn(fields: object, message: string): void };
  /** Milliseconds between two looks. Default: `POLL_MS`. */
  readonly pollMs?: number;
}

/** What ends a fetch. */
export interface FetchSignals {
  /** Ends the fetch. */
  readonly ending: AbortSignal;
  /** Whether the worker stops, so that the fetch is due again at once. */
  readonly stopping: AbortSignal;
}

/** The worker of one process. */
export interface FetchWorker {
  start(): void;
  /** Claims nothing further, and ends the fetches under way; they are due again at once. */
  stop(): Promise<void>;
}

interface State<Claimed extends { readonly account_id: number }> extends FetchWorkerOptions<Claimed> {
  readonly ends: AbortController;
  /** Fetches under way by account, the oldest first. */
  readonly running: Map<number, Fetch>;
  /** The look under way; `null`: none. */
  looking: Promise<void> | null;
  timer: NodeJS.Timeout | null;
}

/** One fetch under way. */
interface Fetch {
  /** It has taken longer than `PROMPT_MS`. */
  isSlow: boolean;
  readonly ending: AbortController;
  readonly work: Promise<void>;
}

/** Creates a worker. */
export function createFetchWorker<Claimed extends { readonly account_id: number }>(
  options: FetchWorkerOptions<Claimed>,
): FetchWorker {
  const state: State<Claimed> = {
    ...options,
    ends: new AbortController(),
    running: new Map(),
    looking: null,
    timer: null,
  };
  return {
    start: () => schedule(state, 0),
    async stop() {
      state.ends.abort();
      if (state.timer !== null) clearTimeout(state.timer);
      await state.looking;
      for (const { ending } of state.running.values()) ending.abort();
      await Promise.all([...state.running.values()].map(({ work }) => work));
    },
  };
}

/** Looks for fetches that are due in `afterMs`, in place of a look that is scheduled. */
function schedule<Claimed extends { readonly account_id: number }>(
  state: State<Claimed>,
  afterMs: number,
): void {
  if (state.ends.signal.aborted) return;
  if (state.timer !== null) clearTimeout(state.timer);
  state.timer = setTimeout(() => {
    state.looking ??= look(state).finally(() => {
      state.looking = null;
      // Spread, so that several processes do not look at the same moment.
      schedule(state, (state.pollMs ?? POLL_MS) * (0.75 + Math.random() / 2));
    });
  }, afterMs);
}

/** Claims what is due, as far as there are places. Never rejects. */
async function look<Claimed extends { readonly account_id: number }>(state: State<Claimed>): Promise<void> {
  const { clock, running } = state;
  try {
    const limit = FETCHES_AT_ONCE - [...running.values()].filter(({ isSlow }) => !isSlow).length;
    if (limit <= 0 || !(await state.isDue(clock()))) return;
    const now = clock();
    const claim = Math.floor(Math.random() * (2 ** 47 - 1)) + 1;
    const ask = { now, until: now + CLAIM_MS, claim, limit, busy: [...running.keys()] };
    for (const claimed of await state.claim(ask)) begin(state, claimed);
  } catch (error) {
    reportStore(state, error);
  }
}

/** Begins one fetch; the next look follows it at once, since its account may have more. */
function begin<Claimed extends { readonly account_id: number }>(
  state: State<Claimed>,
  claimed: Claimed,
): void {
  const { running } = state;
  const ending = new AbortController();
  const lookNow = (): void => {
    if (state.looking === null) schedule(state, 0);
  };
  const slow = setTimeout(() => {
    one.isSlow = true;
    const others = [...running.values()].filter(({ isSlow }) => isSlow);
    if (others.length > SLOW_FETCHES) others[0]!.ending.abort();
    lookNow();
  }, PROMPT_MS);
  const work = state
    .attempt(claimed, { ending: ending.signal, stopping: state.ends.signal })
    .catch((error: unknown) => reportStore(state, error))
    .finally(() => {
      clearTimeout(slow);
      running.delete(claimed.account_id);
      lookNow();
    });
  const one: Fetch = { isSlow: false, ending, work };
  running.set(claimed.account_id, one);
}

/** A fault of the store: the claim lapses, and the fetch is made again. */
function reportStore(
  { log, subject }: Pick<FetchWorkerOptions<never>, 'log' | 'subject'>,
  error: unknown,
): void {
  if (!isStoreFault(error, 'closed')) log.warn({ err: error }, `${subject}: the store failed; will retry`);
}
