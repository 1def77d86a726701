/**
 * Starting: how long `edgeplan serve` takes to be ready on a large installation, and what it keeps in memory; how long the
 * help of the program takes beside an empty process.
 */
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { makeInstallation } from './data/installation.ts';
import { smallDomain } from './data/small-domains.ts';
import { type Served, startServe, usageOf } from './harness/process.ts';
import { median } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const DOMAINS = 500;
const LARGE_DOMAINS = 10_000;
const QUICK_DOMAINS = 5;
const STARTS = 5;
/** Starts of the help and of an empty process, one after the other. */
const HELPS = 9;
/** The help may take as long as so many empty processes: commands load when they run. */
const HELP_GOAL = 3;
/** Milliseconds that everything may take to be published, and between two looks whether it is. */
const PUBLISHED_MS = 600_000;
const LOOK_MS = 100;

/** Domains of 20 rules each; `--large` has 10,000 of them and takes minutes, most of them to make and publish them. */
export async function run({ quick, large = false }: BenchOptions): Promise<readonly Row[]> {
  const count = quick ? QUICK_DOMAINS : large ? LARGE_DOMAINS : DOMAINS;
  const ruleSets = Array.from({ length: count }, (_, index) => smallDomain(index).ruleSet);
  const installation = await makeInstallation({ ruleSets });
  try {
    const first = await startServe(installation.folder, ['--log-level', 'warn']);
    const begun = performance.now();
    await published(first);
    const publishMs = performance.now() - begun;
    const busy = usageOf(first.process);
    await first.stop();
    const starts: { readonly startMs: number; readonly resident: number }[] = [];
    for (let turn = 0; turn < (quick ? 1 : STARTS); turn++) {
      const served = await startServe(installation.folder);
      await ready(served);
      starts.push({ startMs: served.startMs, resident: usageOf(served.process)?.resident ?? 0 });
      await served.stop();
    }
    const note = `${count.toLocaleString('en-US')} domains × 20 rules`;
    const mebibytes = (octets: number): number => octets / 2 ** 20;
    const resident = median(starts.map((start) => start.resident));
    return [
      helpRow(quick ? 3 : HELPS),
      {
        name: 'serve: start to listening',
        value: median(starts.map(({ startMs }) => startMs)),
        goal: null,
        unit: 'ms',
        note: `${note}, all published; median of ${starts.length}`,
      },
      {
        name: 'serve: memory once ready',
        value: mebibytes(resident),
        goal: null,
        unit: 'MiB',
        note: `${note}; resident`,
      },
      {
        name: 'a first publication, each',
        value: publishMs / count,
        goal: null,
        unit: 'ms',
        note: `${note}, all waiting at the start; ${Math.round(mebibytes(busy?.resident ?? 0))} MiB resident afterwards`,
      },
    ];
  } finally {
    installation.remove();
  }
}

/** `edgeplan --help` beside `node -e ''`, interleaved. */
function helpRow(turns: number): Row {
  const main = fileURLToPath(new URL('../cli/main.js', import.meta.url));
  const ratios = Array.from({ length: turns }, () => {
    const empty = timeOf(['-e', '']).ms;
    const help = timeOf([main, '--help']);
    if (!help.out.includes('Usage: edgeplan')) throw new Error('`edgeplan --help` prints no help');
    return help.ms / empty;
  });
  return {
    name: 'edgeplan --help / an empty process',
    value: median(ratios),
    goal: { atMost: HELP_GOAL },
    unit: '×',
    note: `wall time, interleaved; median of ${turns}`,
  };
}

function timeOf(words: readonly string[]): { readonly ms: number; readonly out: string } {
  const started = performance.now();
  const { stdout } = spawnSync(process.execPath, words, { encoding: 'utf8' });
  return { ms: performance.now() - started, out: stdout };
}

/** Waits until no accepted change waits for a revision. */
async function published({ operationsPort }: Served): Promise<void> {
  const deadline = performance.now() + PUBLISHED_MS;
  while (performance.now() < deadline) {
    const metrics = await (await fetch(`http://127.0.0.1:${operationsPort}/metrics`)).text();
    if (/^edgeplan_outbox_rows 0$/m.test(metrics)) return;
    await new Promise((resolve) => setTimeout(resolve, LOOK_MS));
  }
  throw new Error(`not everything was published within ${PUBLISHED_MS / 1_000} s`);
}

async function ready({ operationsPort }: Served): Promise<void> {
  const answer = await fetch(`http://127.0.0.1:${operationsPort}/readyz`);
  if (answer.status !== 200) throw new Error(`not ready: ${await answer.text()}`);
}
