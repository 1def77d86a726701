/**
 * Replay: how many lines of an access log a second, beside reading and parsing the lines alone, and whether memory grows
 * with the log. First the replay must decide every line as an evaluator that is asked line by line, in order of time.
 */
import { loggedDecision } from '../src/edge/proxy/log/line.ts';
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import { createFactCounts, type ReaderContext } from '../src/workbench/access-logs/entry.ts';
import { readerOf } from '../src/workbench/access-logs/format.ts';
import { inOrder } from '../src/workbench/access-logs/in-order.ts';
import {
  countedReader,
  createHostCache,
  createSource,
  createTally,
} from '../src/workbench/access-logs/source.ts';
import {
  createAgentClassifier,
  createRequestReplay,
  type RequestsReport,
} from '../src/workbench/replay/replay-requests.ts';
import { type Mixed, mixed } from './data/mixed.ts';
import { QUICK_RULES } from './data/requests.ts';
import { evaluatorOf, NOW } from './harness/evaluate.ts';
import { median } from './harness/race.ts';
import type { BenchOptions, Row } from './row.ts';

const RULES = 1_000;
const LINES = 400_000;
const QUICK_LINES = 4_000;
/** Distinct requests: far more than any cache of strings has. */
const DISTINCT = 65_536;
const ROUNDS = 7;
const CHUNK = 256 * 1024;
/** Lines of a log that is made while it is read. */
const MADE_AT_ONCE = 1_000;
/** A log so many times as long may take no more memory. */
const TIMES_LONGER = 4;

export async function run({ quick }: BenchOptions): Promise<readonly Row[]> {
  const lines = quick ? QUICK_LINES : LINES;
  const set = withoutWaf(quick ? QUICK_RULES : RULES, quick ? QUICK_LINES : DISTINCT);
  const log = Buffer.from(linesOf(set.requests, 0, lines), 'latin1');
  await compareWithEvaluator(set, log, lines);
  const times = { replay: [] as number[], two: [] as number[], parse: [] as number[] };
  for (let round = 0; round < (quick ? 1 : ROUNDS); round++) {
    times.parse.push(await timed(() => parseAlone(log)));
    times.replay.push(await timed(() => replayed(set, { chunks: chunksOf(log), plans: 1 })));
    times.two.push(await timed(() => replayed(set, { chunks: chunksOf(log), plans: 2 })));
  }
  const rate = (milliseconds: readonly number[]): number => (lines / median(milliseconds)) * 1_000;
  const note = `combined log with hosts, ${lines.toLocaleString('en-US')} lines, ${set.ruleSet.rules.length} rules without waf, processor time of one process`;
  const unit = 'lines/s';
  return [
    { name: 'replay, one plan', value: rate(times.replay), goal: { atLeast: 200_000 }, unit, note },
    { name: 'replay, two plans', value: rate(times.two), goal: null, unit, note },
    { name: 'reading and parsing alone', value: rate(times.parse), goal: null, unit, note },
    {
      name: 'replay ÷ reading and parsing alone',
      value: median(times.replay) / median(times.parse),
      goal: null,
      unit: '×',
      note: 'time of one replay',
    },
    await memoryRow(set, lines),
  ];
}

/** A mixed set without waf rules. */
function withoutWaf(count: number, requests: number): Mixed {
  // Three rules in a hundred are waf rules.
  const set = mixed(Math.ceil(count * 1.05), requests);
  const rules = set.ruleSet.rules.filter(({ type }) => type !== 'waf').slice(0, count);
  return { ...set, ruleSet: { ...set.ruleSet, rules } };
}

/** Lines of a combined log with hosts, in order of time, some hundred a second. */
function linesOf(requests: readonly EdgeRequest[], from: number, end: number): string {
  const texts: string[] = [];
  for (let at = from; at < end; at++) {
    const { host, target, ip, headers } = requests[at % requests.length]!;
    const time = new Date(NOW + Math.floor(at / 300) * 1_000).toUTCString();
    const [, day, month, year, clock] = time.split(' ');
    texts.push(
      `${String(host)} ${ip} - - [${day}/${month}/${year}:${clock} +0000] "GET ${target} HTTP/1.1" 200 ${at % 9_000} "-" "${String(headers?.['user-agent'])}"\n`,
    );
  }
  return texts.join('');
}

async function* chunksOf(log: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < log.length; at += CHUNK) yield log.subarray(at, at + CHUNK);
}

function context(): ReaderContext {
  return {
    hostOf: () => '',
    sameHost: createHostCache(),
    scheme: 'https',
    captures: [],
    botOf: createAgentClassifier(),
    countryOf: () => null,
    asnOf: () => null,
    lacks: createFactCounts(),
  };
}

function sourceOf(chunks: AsyncGenerator<Uint8Array>) {
  const tally = createTally();
  const read = countedReader(readerOf('combined', context()), { file: 'access.log', tally });
  const onUnreadable = (at: string, reason: string): never => {
    throw new Error(`${at}: ${reason}`);
  };
  return createSource({ file: 'access.log', chunks, read, onUnreadable });
}

async function parseAlone(log: Buffer): Promise<number> {
  const source = sourceOf(chunksOf(log));
  let octets = 0;
  while (await source.fill()) {
    for (let entry = source.next(); entry !== null; entry = source.next())
      octets += entry.request.target.length;
  }
  return octets;
}

interface Replayed {
  readonly chunks: AsyncGenerator<Uint8Array>;
  readonly plans: 1 | 2;
}

async function replayed({ ruleSet }: Mixed, { chunks, plans }: Replayed): Promise<RequestsReport> {
  const open = () => evaluatorOf(ruleSet);
  const before = plans === 2 ? open : null;
  const replay = createRequestReplay({
    before,
    after: open,
    summarise: loggedDecision,
    redact: (text) => text,
  });
  await inOrder([sourceOf(chunks)], replay.add);
  return replay.report();
}

/** Asks an evaluator about each request that the log was made of, one by one. */
async function compareWithEvaluator(set: Mixed, log: Buffer, lines: number): Promise<void> {
  const report = await replayed(set, { chunks: chunksOf(log), plans: 1 });
  const evaluator = evaluatorOf(set.ruleSet);
  const outcomes = new Map<string, number>();
  const { botOf } = context();
  for (let at = 0; at < lines; at++) {
    const { host, target, ip, headers } = set.requests[at % set.requests.length]!;
    const now = NOW + Math.floor(at / 300) * 1_000;
    const agent = headers?.['user-agent'];
    const request = {
      scheme: 'https',
      method: 'GET',
      host,
      target,
      ip,
      headers: { 'user-agent': agent },
      now,
    };
    const bot = botOf(String(agent));
    const { action, status, rule } = loggedDecision(evaluator.evaluate({ ...request, bot, body: null }));
    const name = [action, ...(status === null ? [] : [status]), ...(rule === null ? [] : ['by', rule])].join(
      ' ',
    );
    outcomes.set(name, (outcomes.get(name) ?? 0) + 1);
  }
  for (const { outcome, lines: counted } of report.outcomes) {
    if (outcomes.get(outcome) === counted) continue;
    throw new Error(
      `the replay has ${counted} of \`${outcome}\`, the evaluator ${outcomes.get(outcome) ?? 0}`,
    );
  }
  if (report.compared !== lines || report.outcomes.length !== outcomes.size)
    throw new Error(`the replay has ${report.compared} requests of ${lines}`);
}

/** Milliseconds of processor time, of collection too: what the work takes of one core. */
async function timed(work: () => Promise<unknown>): Promise<number> {
  globalThis.gc?.();
  const before = process.cpuUsage();
  await work();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / 1_000;
}

/** Memory in use near the end of a replay of a log, and of one that is longer; both are made while they are read. */
async function memoryRow(set: Mixed, lines: number): Promise<Row> {
  const near = async (count: number): Promise<number> => {
    let octets = 0;
    async function* chunks(): AsyncGenerator<Uint8Array> {
      for (let at = 0; at < count; at += MADE_AT_ONCE) {
        if (at + MADE_AT_ONCE >= count) {
          globalThis.gc?.();
          const { heapUsed, external } = process.memoryUsage();
          octets = heapUsed + external;
        }
        yield Buffer.from(linesOf(set.requests, at, Math.min(count, at + MADE_AT_ONCE)), 'latin1');
      }
    }
    await replayed(set, { chunks: chunks(), plans: 1 });
    return octets;
  };
  const once = await near(lines);
  const longer = await near(TIMES_LONGER * lines);
  return {
    name: `memory, a log ${TIMES_LONGER} times as long ÷ the log`,
    value: longer / once,
    goal: { atMost: 1.05 },
    unit: '×',
    note: `in use after a collection near the end of the log, ${Math.round(once / 2 ** 20)} MiB`,
  };
}
