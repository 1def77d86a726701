/**
 * What signatures stop: the attack half of the WAF Comparison Project and our own evaluation sets, by the starter set, by the
 * Core Rule Set here and by libmodsecurity with the same rules. Nothing is timed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import { openSignatures } from '../src/engine/plan/open-signatures.ts';
import { loadSignatures } from '../src/engine/waf/load/load.ts';
import type { WafProgram } from '../src/engine/waf/request/inspection.ts';
import { ATTACK_KINDS, comparisonProject, projectRequests } from './data/comparison-project.ts';
import { attacksOf, HALVES, ordinaryOf } from './data/waf-sets.ts';
import { DEBIAN_CRS, hasModSecurity, loadCrs, startGuarded, startOrigin } from './harness/modsecurity.ts';
import type { RunningNginx } from './harness/nginx.ts';
import { statusesOf } from './harness/statuses.ts';
import type { BenchOptions, Goal, Row } from './row.ts';

const THRESHOLD = 5;
/** The starter set as the build has sealed it; this file is bundled into `dist/bench`. */
const STARTER = new URL('../engine/waf/signatures/starter.bin', import.meta.url);
/** A smoke run takes one request in so many. */
const QUICK_STEP = 40;

/** Requests, and what share of them should be stopped at a level. */
interface Subject {
  readonly name: string;
  readonly requests: readonly EdgeRequest[];
  readonly goals: readonly [one: Goal, two: Goal | null];
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const subjects = [...projectSubjects(options), ...ownSubjects(options)];
  const starter = loadSignatures(openSignatures(readFileSync(STARTER)));
  const rows = subjects.flatMap((subject) => starterRows(starter, subject));
  const checkout = join(process.env['EDGEPLAN_SUITES'] ?? '', 'coreruleset');
  const directory = existsSync(join(checkout, 'rules')) ? checkout : DEBIAN_CRS;
  if (!existsSync(directory)) return [...rows, absent('Core Rule Set: install `modsecurity-crs`')];
  const crs = loadCrs(directory);
  rows.push(...subjects.map((subject) => informed('Core Rule Set here', subject, shareOf(crs, subject, 1))));
  if (!hasModSecurity()) {
    return [...rows, absent('libmodsecurity: install `libnginx-mod-http-modsecurity`')];
  }
  return [...rows, ...(await theirs(directory, subjects))];
}

function projectSubjects({ quick }: BenchOptions): readonly Subject[] {
  const folder = comparisonProject();
  if (folder === null) return [];
  const step = quick ? QUICK_STEP : 1;
  const kinds = ATTACK_KINDS.map((kind) => ({
    name: `comparison project, ${kind}`,
    requests: projectRequests(folder, kind, { harmless: false, step }),
    goals: [{ atLeast: kind === 'traversal' ? 93 : 95 }, null] as const,
  }));
  const harmless = ATTACK_KINDS.flatMap((kind) => projectRequests(folder, kind, { harmless: true, step: 1 }));
  return [
    {
      name: 'comparison project, all attacks',
      requests: kinds.flatMap(({ requests }) => requests),
      goals: [{ atLeast: 97 }, { atLeast: 99 }],
    },
    ...kinds,
    { name: 'comparison project, harmless', requests: harmless, goals: [{ atMost: 0 }, null] },
  ];
}

function ownSubjects({ quick }: BenchOptions): readonly Subject[] {
  const isTaken = (_: unknown, at: number): boolean => !quick || at % QUICK_STEP === 0;
  return HALVES.flatMap((half): readonly Subject[] => [
    {
      name: `own attacks, ${half} half`,
      requests: attacksOf(half)
        .filter(isTaken)
        .map(({ request }) => request),
      goals: [{ atLeast: 97 }, { atLeast: 99 }],
    },
    {
      name: `own ordinary requests, ${half} half`,
      requests: ordinaryOf(half)
        .filter(({ lesson }) => !lesson)
        .filter(isTaken)
        .map(({ request }) => request),
      goals: [{ atMost: 0.1 }, { atMost: 1 }],
    },
  ]);
}

function starterRows(starter: WafProgram, subject: Subject): readonly Row[] {
  return subject.goals.map((goal, at) => ({
    name: `${subject.name}: starter set, level ${at + 1}`,
    value: shareOf(starter, subject, at + 1),
    goal,
    unit: '%',
    note: `of ${subject.requests.length}`,
  }));
}

function informed(who: string, { name, requests }: Subject, value: number): Row {
  return { name: `${name}: ${who}, level 1`, value, goal: null, unit: '%', note: `of ${requests.length}` };
}

function absent(what: string): Row {
  return { name: 'scoreboard', value: Number.NaN, goal: null, unit: '', note: `no ${what}` };
}

function octetsOf({ body }: EdgeRequest): Buffer | null {
  if (body === undefined || body === null) return null;
  return Buffer.from(body as string);
}

/** The percentage of requests that are stopped. */
function shareOf(program: WafProgram, { requests }: Subject, paranoia: number): number {
  const settings = { paranoia, threshold: THRESHOLD, excludes: [], exclusions: [] };
  const stopped = requests.filter((request) => {
    const { score, denied, exhausted } = program.inspect(
      { request, body: octetsOf(request), truncated: false },
      settings,
    );
    return score >= THRESHOLD || denied || exhausted;
  });
  return (100 * stopped.length) / requests.length;
}

/** The same by libmodsecurity in nginx. A request that nginx itself refuses counts as stopped. */
async function theirs(directory: string, subjects: readonly Subject[]): Promise<readonly Row[]> {
  const origin = await startOrigin();
  let guarded: RunningNginx | null = null;
  try {
    guarded = await startGuarded(origin.port, directory);
    const rows: Row[] = [];
    for (const subject of subjects) {
      const statuses = await statusesOf(guarded.port, subject.requests.map(wire));
      const stopped = statuses.filter((status) => status !== 200).length;
      rows.push(informed('Core Rule Set in libmodsecurity', subject, (100 * stopped) / statuses.length));
    }
    return rows;
  } finally {
    await guarded?.stop();
    await origin.stop();
  }
}

function wire(request: EdgeRequest): Buffer {
  const fields = Object.entries({ host: request.host, ...request.headers }).map(
    ([name, value]) => `${name}: ${String(value)}\r\n`,
  );
  return Buffer.concat([
    Buffer.from(`${request.method} ${request.target} HTTP/1.1\r\n${fields.join('')}\r\n`, 'latin1'),
    octetsOf(request) ?? Buffer.alloc(0),
  ]);
}
