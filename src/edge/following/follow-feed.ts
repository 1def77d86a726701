/** Reads the manifest as it grows: by the feed's stream, or by polling if streams do not get through. */
import { pause, retryMs } from '../../base/platform/tasks.ts';
import { readStream } from './feed.ts';
import { DEAD_STREAMS, FIRST_RETRY_MS } from './limits.ts';
import { epochOf, introduce, readPage } from './session.ts';
import { noteFollowing, noteProblem, noteReceived, offerPage, type SyncRun } from './sync-run.ts';
import { TrustFault } from './trust.ts';

/** The longest delay that a timer accepts, in milliseconds. */
const NEVER_MS = 2 ** 31 - 1;

/** Follows until `run.signal` aborts; never rejects. */
export async function followFeed(run: SyncRun): Promise<void> {
  const { signal, wakeUps, session, times } = run;
  // At the very first start the comparison reads everything and sets the position.
  if (run.position === 0) await pause(NEVER_MS, signal, wakeUps.compared.signal);
  let failures = 0;
  let deadStreams = 0;
  while (!signal.aborted) {
    const before = run.position;
    try {
      await introduce(session);
      if (deadStreams >= DEAD_STREAMS) {
        run.options.log.info({}, 'the feed does not come through; polling instead');
        deadStreams = 0;
        await poll(run);
        failures = 0;
      } else if (await stream(run)) {
        deadStreams = 0;
        failures = 0;
      } else {
        deadStreams++;
        failures++;
      }
    } catch (error) {
      noteProblem(run, error);
      failures = run.position === before ? failures + 1 : 0;
    }
    run.mode = 'away';
    wakeUps.resume = new AbortController();
    const waits = retryMs(failures, { first: FIRST_RETRY_MS / 2, last: times.lastRetryMs });
    await pause(waits, signal, wakeUps.resume.signal);
  }
}

/** Reads one stream to its end. @returns whether streams get through: it lasted, or was ended on purpose */
async function stream(run: SyncRun): Promise<boolean> {
  const { signal, control, session, times } = run;
  const ended = new AbortController();
  const end = (): void => ended.abort();
  run.wakeUps.renew = ended;
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  const { whole, reason } = await readStream({
    ...times,
    control,
    from: { position: run.position, epoch: session.identity.epoch },
    onPage: (text) => applyPage(run, text),
    onOctets: run.pushed.add,
    onOpen() {
      noteFollowing(run, 'stream');
    },
    onReceived: () => noteReceived(run),
    signal: ended.signal,
  }).finally(() => signal.removeEventListener('abort', end));
  if (!signal.aborted) run.options.log.info({ reason }, 'the feed ended; following again');
  return whole || ended.signal.aborted;
}

/** Polls for `pollingMs`. @throws ControlPlaneFault, TrustFault */
async function poll(run: SyncRun): Promise<void> {
  const { signal, control, times } = run;
  const until = performance.now() + times.pollingMs;
  while (!signal.aborted && performance.now() < until) {
    const before = run.position;
    const text = await control.page(before, times.pollSec);
    noteFollowing(run, 'poll');
    noteReceived(run);
    applyPage(run, text);
    // An empty page that arrives early would make this a busy loop.
    if (run.position === before) await pause(FIRST_RETRY_MS, signal);
  }
}

/** Applies a page of the growing manifest. @throws TrustFault when the page does not continue what was read */
function applyPage(run: SyncRun, text: string): void {
  const { session, wakeUps } = run;
  const page = readPage(session, text);
  if (epochOf(page) > session.identity.epoch) {
    wakeUps.compareNow.abort();
    throw new TrustFault('the control plane began a new epoch; all of its manifest is read first');
  }
  // A lower `since` is right: a control plane that lost changes starts again below.
  if (page.since > run.position) {
    throw new TrustFault(
      `the page begins above ${page.since} where ${run.position} was expected; reading on from there`,
    );
  }
  if (page.through < run.position) {
    const { position } = run;
    run.options.log.warn({ position, through: page.through }, 'the control plane has lost changes');
  }
  run.position = page.through;
  for (const { domain } of page.entries) run.grown.add(domain);
  offerPage(run, page, null);
}
