/**
 * What signatures stop: the attack half of the WAF Comparison Project, the payloads of waf-bypass, the attacks of the Core Rule
 * Set's own tests (those that go-ftw sends) and our evaluation sets, by the starter set, by the Core Rule Set here and by libmodsecurity with the same
 * rules. Nothing is timed.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EdgeRequest } from '../src/engine/evaluator/request.ts';
import { openSignatures } from '../src/engine/plan/open-signatures.ts';
import type { SignatureProgram } from '../src/engine/plan/signature-program.ts';
import { loadSignatures } from '../src/engine/waf/load/load.ts';
import type { WafProgram } from '../src/engine/waf/request/inspection.ts';
import { type FtwCase, readFtwCases } from '../test/crs/ftw.ts';
import { asksOfRequest, judgeCase, wireInput } from '../test/crs/run.ts';
import { ATTACK_KINDS, BROWSER, comparisonProject, projectRequests } from './data/comparison-project.ts';
import { bypassRequests, ENCODINGS, wafBypass } from './data/waf-bypass.ts';
import { attacksOf, HALVES, ordinaryOf } from './data/waf-sets.ts';
import { crsProgram, DEBIAN_CRS, hasModSecurity, startGuarded, startOrigin } from './harness/modsecurity.ts';
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
  readonly goals: readonly [one: Goal | null, two: Goal | null];
}

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const checkout = join(process.env['EDGEPLAN_SUITES'] ?? '', 'coreruleset');
  const directory = existsSync(join(checkout, 'rules')) ? checkout : DEBIAN_CRS;
  const crs = existsSync(directory) ? crsProgram(directory) : null;
  const tests = directory === checkout ? testCases(checkout, options) : [];
  const subjects = [
    ...projectSubjects(options),
    ...bypassSubjects(options),
    ...testSubjects(tests, crs),
    ...ownSubjects(options),
  ];
  const starter = loadSignatures(openSignatures(readFileSync(STARTER)));
  const rows = subjects.flatMap((subject) => starterRows(starter, subject));
  if (crs === null) return [...rows, absent('Core Rule Set: install `modsecurity-crs`')];
  const loaded = loadSignatures(crs);
  rows.push(
    ...subjects.map((subject) => informed('Core Rule Set here', subject, shareOf(loaded, subject, 1))),
  );
  if (tests.length > 0) rows.push(passedRow(loaded, tests));
  if (!hasModSecurity()) {
    return [...rows, absent('libmodsecurity: install `libnginx-mod-http-modsecurity`')];
  }
  return [...rows, ...(await theirs(directory, subjects))];
}

/** The cases of the Core Rule Set's own tests that depend on the request alone. */
function testCases(checkout: string, { quick }: BenchOptions): readonly FtwCase[] {
  const cases = readFtwCases(join(checkout, 'tests/regression/tests')).filter(asksOfRequest);
  return cases.filter((_, at) => !quick || at % QUICK_STEP === 0);
}

/** Ids of rules against attacks, not against what a protocol forbids or a policy allows. */
const ATTACK_RULES = { first: 930_000, last: 944_999 };

/** The requests in which the Core Rule Set expects an attack at level 1. */
function testSubjects(cases: readonly FtwCase[], crs: SignatureProgram | null): readonly Subject[] {
  if (crs === null || cases.length === 0) return [];
  const first = new Set(crs.levels[0]!.rules.map(({ id }) => id));
  const isAttack = (id: number): boolean =>
    id >= ATTACK_RULES.first && id <= ATTACK_RULES.last && first.has(id);
  const requests = cases.flatMap(({ stages }) =>
    stages
      .filter(({ output }) => output.log?.expect_ids?.some(isAttack) === true)
      .map(({ request: sent }): EdgeRequest => {
        const { request, body } = wireInput(sent);
        return { ...request, body, headers: withBrowser(request.headers) };
      }),
  );
  return [{ name: "Core Rule Set's tests, attacks of level 1", requests, goals: [null, null] }];
}

/** The suite names itself in the User-Agent, by which signatures of scanners would stop every request. */
function withBrowser(headers: EdgeRequest['headers']): EdgeRequest['headers'] {
  const isSuite = String(headers?.['user-agent']).includes('OWASP');
  return isSuite ? { ...headers, 'user-agent': BROWSER } : headers;
}

/** What share of the Core Rule Set's own tests pass, judged as go-ftw judges them. */
function passedRow(crs: WafProgram, cases: readonly FtwCase[]): Row {
  const passed = cases.filter((one) => judgeCase(crs, one) === null).length;
  return {
    name: "Core Rule Set's tests, cases that pass: Core Rule Set here, level 4",
    value: (100 * passed) / cases.length,
    goal: { atLeast: 99.5 },
    unit: '%',
    note: `of ${cases.length}`,
  };
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

function bypassSubjects({ quick }: BenchOptions): readonly Subject[] {
  const folder = wafBypass();
  if (folder === null) return [];
  const all = bypassRequests(folder).filter((_, at) => !quick || at % QUICK_STEP === 0);
  const attacks = all.filter(({ isAttack }) => isAttack);
  const encodings = ENCODINGS.map((encoding): Subject => {
    const requests = attacks.filter((one) => one.encoding === encoding).map(({ request }) => request);
    return {
      name: `waf-bypass, ${encoding === '' ? 'as written' : encoding}`,
      requests,
      goals: [null, null],
    };
  });
  const harmless = all.filter(({ isAttack }) => !isAttack).map(({ request }) => request);
  const subjects = [
    ...encodings,
    { name: 'waf-bypass, harmless', requests: harmless, goals: [{ atMost: 0 }, null] } satisfies Subject,
  ];
  return subjects.filter(({ requests }) => requests.length > 0);
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
