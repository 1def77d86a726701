/**
 * Signatures: what inspecting adds to a request, beside libmodsecurity in nginx with the same rules; the starter set beside
 * the Core Rule Set; and the dearest request we know how to make. The rules are Debian's Core Rule Set 3.3, or a checkout
 * that EDGEPLAN_CRS names.
 */
import { existsSync, readFileSync } from 'node:fs';
import { request as httpRequest } from 'node:http';
import { MAX_PARANOIA } from '../src/base/vocabulary/limits.ts';
import { openSignatures } from '../src/engine/plan/open-signatures.ts';
import type { SignatureProgram } from '../src/engine/plan/signature-program.ts';
import { type LoadedSignatures, loadSignatures } from '../src/engine/waf/load/load.ts';
import type { WafFinding, WafProgram } from '../src/engine/waf/request/inspection.ts';
import { ordinaryOf } from './data/waf-sets.ts';
import { openLoad } from './harness/load.ts';
import {
  crsProgram,
  DEBIAN_CRS,
  hasModSecurity,
  proxyTo,
  startGuarded,
  startOrigin,
} from './harness/modsecurity.ts';
import { type RunningNginx, startNginx } from './harness/nginx.ts';
import { usageOf } from './harness/process.ts';
import type { BenchOptions, Row } from './row.ts';
import { crafted, craftedLists, ORDINARY, type WafSubject } from './subjects/waf-requests.ts';
import {
  type Attempt,
  type Dear,
  LIST_PLACES,
  requestOf,
  search,
  VALUE_PLACES,
} from './subjects/waf-search.ts';

const GOALS: Readonly<Record<string, number>> = { GET: 10, 'form POST': 8, '8 KB form': 3, '8 KB JSON': 3 };
/** The starter set as the build has sealed it; this file is bundled into `dist/bench`. */
const STARTER = new URL('../engine/waf/signatures/starter.bin', import.meta.url);
const SETTINGS = { paranoia: 1, threshold: 5, excludes: [], exclusions: [] } as const;

export async function run(options: BenchOptions): Promise<readonly Row[]> {
  const directory = process.env.EDGEPLAN_CRS ?? DEBIAN_CRS;
  const starter = loadSignatures(openSignatures(readFileSync(STARTER)));
  const ownRows = (): readonly Row[] => dearest(starter, options, 'starter set: ');
  if (!existsSync(directory))
    return [...ownRows(), absent('no Core Rule Set: install `modsecurity-crs` or set EDGEPLAN_CRS')];
  const written = crsProgram(directory);
  const program = loadSignatures(written);
  const [prepared, first] = readyRows(program);
  const found = options.large === true ? searched(written, program) : [];
  const beside = [1, MAX_PARANOIA].map((paranoia) => besideCrs(starter, program, { paranoia, options }));
  const dear = [...beside, ...ownRows(), ...dearest(program, options, ''), ...found, prepared, first];
  if (!hasModSecurity()) {
    return [...dear, absent('no nginx with ModSecurity: install `libnginx-mod-http-modsecurity`')];
  }
  return [...(await besideModSecurity(program, directory, options)), ...dear];
}

function absent(note: string): Row {
  return { name: 'signatures beside libmodsecurity', value: Number.NaN, goal: null, unit: '', note };
}

function inspect(program: WafProgram, { request, body }: WafSubject, paranoia = 1): WafFinding {
  const octets = body === '' ? null : Buffer.from(body, 'latin1');
  return program.inspect({ request, body: octets, truncated: false }, { ...SETTINGS, paranoia });
}

/** Making every engine before the first request, and what that one then takes at the level with the most rules. */
function readyRows(program: LoadedSignatures): readonly [Row, Row] {
  const begun = performance.now();
  program.warm();
  const prepared = performance.now() - begun;
  const [, , , subject] = crafted(1_024) as readonly [unknown, unknown, unknown, WafSubject];
  const before = performance.now();
  inspect(program, subject, MAX_PARANOIA);
  const first = performance.now() - before;
  return [
    {
      name: 'making all levels ready',
      value: prepared,
      goal: null,
      unit: 'ms',
      note: 'once, before listening',
    },
    {
      name: 'the first inspection after it',
      value: first,
      goal: { atMost: 20 },
      unit: 'ms',
      note: subject.name,
    },
  ];
}

/** Milliseconds of an inspection, the best of some. */
function bestOf(
  turns: number,
  program: WafProgram,
  { subject, paranoia }: { readonly subject: WafSubject; readonly paranoia: number },
): { readonly ms: number; readonly exhausted: boolean } {
  let ms = Number.POSITIVE_INFINITY;
  let exhausted = false;
  for (let turn = 0; turn < turns; turn++) {
    const begun = performance.now();
    exhausted = inspect(program, subject, paranoia).exhausted;
    ms = Math.min(ms, performance.now() - begun);
  }
  return { ms, exhausted };
}

const ENDED = ', ended by the step budget';

const CRAFTED = [
  { what: 'value', make: crafted },
  { what: 'list', make: craftedLists },
] as const;

/** Ordinary requests that are timed together: their time is far above the resolution of the clock. */
const BATCH = 50;

/** Processor time of the starter set ÷ that of the Core Rule Set, on ordinary requests that both judge alike. */
function besideCrs(
  starter: WafProgram,
  crs: WafProgram,
  { paranoia, options }: { readonly paranoia: number; readonly options: BenchOptions },
): Row {
  const all = ordinaryOf('open').map(({ kind, request }): WafSubject => {
    const body = typeof request.body === 'string' ? Buffer.from(request.body).toString('latin1') : '';
    return { name: kind, request, body };
  });
  const isBlocked = (program: WafProgram, subject: WafSubject): boolean =>
    inspect(program, subject, paranoia).score >= SETTINGS.threshold;
  const alike = all.filter((subject) => isBlocked(starter, subject) === isBlocked(crs, subject));
  if (alike.length < BATCH) throw new Error(`the sets agree on ${alike.length} requests only`);
  const subjects = options.quick ? alike.slice(0, BATCH) : alike;
  const sides = [starter, crs].map((program) => ({ program, microseconds: 0 }));
  for (let from = 0; from < subjects.length; from += BATCH) {
    const batch = subjects.slice(from, from + BATCH);
    for (const side of sides) {
      // The strings of a request are new, as on a server.
      const turn = (): number => {
        const copies = structuredClone(batch);
        return timeOf(1, () => {
          for (const copy of copies) inspect(side.program, copy, paranoia);
        });
      };
      side.microseconds += median(Array.from({ length: options.quick ? 1 : 5 }, turn));
    }
  }
  const [ours, theirs] = sides.map(({ microseconds }) => microseconds / subjects.length) as [number, number];
  return {
    name: `starter set ÷ Core Rule Set, ordinary requests, level ${paranoia}`,
    value: ours / theirs,
    goal: null,
    unit: '×',
    note: `${subjects.length} of ${all.length} judged alike; a request: ${ours.toFixed(0)} µs, ${theirs.toFixed(0)} µs`,
  };
}

/** The dearest of the crafted requests. */
function dearest(program: WafProgram, { quick }: BenchOptions, of: string): readonly Row[] {
  return [1, MAX_PARANOIA].flatMap((paranoia) =>
    [8, 64].flatMap((kilobytes) => {
      const octets = kilobytes * 1_024;
      return CRAFTED.map(({ what, make }) => {
        let most = { ms: 0, note: '' };
        for (const subject of make(octets)) {
          const { ms, exhausted } = bestOf(quick ? 1 : 7, program, { subject, paranoia });
          if (ms > most.ms) most = { ms, note: `${subject.name}${exhausted ? ENDED : ''}` };
        }
        const name = `${of}dearest crafted ${what} of ${kilobytes} KB, level ${paranoia}`;
        return { name, value: most.ms, goal: { atMost: 20 }, unit: 'ms', note: most.note };
      });
    }),
  );
}

/** The dearest requests that a search comes to at the highest level; it takes minutes. */
function searched(written: SignatureProgram, program: WafProgram): readonly Row[] {
  const kinds = [
    { what: 'value', places: VALUE_PLACES, goal: { atMost: 20 } },
    { what: 'list of values', places: LIST_PLACES, goal: null },
  ] as const;
  return kinds.flatMap(({ what, places, goal }) =>
    [8, 64].map((kilobytes) => {
      const subjectOf = (attempt: Attempt): WafSubject => requestOf(attempt, kilobytes * 1_024);
      const timeOf = (turns: number) => (attempt: Attempt) =>
        bestOf(turns, program, { subject: subjectOf(attempt), paranoia: MAX_PARANOIA }).ms;
      const found = search(written, timeOf(2), { seed: 1, places })
        .slice(0, 5)
        .map(({ attempt }) => ({ attempt, ms: timeOf(7)(attempt) }))
        .sort((a, b) => b.ms - a.ms);
      const [{ attempt, ms }] = found as [Dear];
      const subject = subjectOf(attempt);
      const note = `${subject.name.slice(0, 80)}, ${subject.body.length} octets of body`;
      const name = `dearest ${what} of ${kilobytes} KB found, level ${MAX_PARANOIA}`;
      return { name, value: ms, goal, unit: 'ms', note };
    }),
  );
}

async function besideModSecurity(
  program: WafProgram,
  directory: string,
  options: BenchOptions,
): Promise<readonly Row[]> {
  const origin = await startOrigin();
  const { http, server } = proxyTo(origin.port);
  const bare = await startNginx({ http, server });
  const guarded = await startGuarded(origin.port, directory);
  try {
    await agreeOn(program, guarded.port);
    const rows: Row[] = [];
    for (const subject of ORDINARY) rows.push(await timed(program, subject, { bare, guarded, options }));
    return rows;
  } finally {
    await Promise.all([origin.stop(), bare.stop(), guarded.stop()]);
  }
}

/** Attacks that both must block, beside the four requests that both must pass. */
const ATTACKS = ['?q=1%27+or+%271%27=%271', '?q=<script>alert(1)</script>', '?file=../../../../etc/passwd'];

async function agreeOn(program: WafProgram, port: number): Promise<void> {
  const attacks = ATTACKS.map((query): WafSubject => {
    const [{ request }] = ORDINARY as readonly [WafSubject];
    return { name: query, request: { ...request, target: `/search${query}` }, body: '' };
  });
  for (const subject of [...ORDINARY, ...attacks]) {
    const ours = inspect(program, subject).score >= SETTINGS.threshold;
    const theirs = (await statusOf(subject, port)) === 403;
    if (ours !== theirs || ours !== attacks.includes(subject)) {
      throw new Error(
        `${subject.name}: ours ${ours ? 'blocks' : 'passes'}, theirs ${theirs ? 'blocks' : 'passes'}`,
      );
    }
  }
}

function statusOf({ request, body }: WafSubject, port: number): Promise<number> {
  const { method, target, headers } = request;
  return new Promise((resolve, reject) => {
    const options = {
      host: '127.0.0.1',
      port,
      method,
      path: target,
      headers: { ...headers } as Record<string, string>,
    };
    const asked = httpRequest(options, (response) => {
      response.resume();
      resolve(response.statusCode ?? 0);
    });
    asked.on('error', reject).end(body);
  });
}

function octetsOf({ request, body }: WafSubject): Buffer {
  const fields = Object.entries(request.headers ?? {}).map(
    ([name, value]) => `${name}: ${String(value)}\r\n`,
  );
  return Buffer.from(
    `${request.method} ${request.target} HTTP/1.1\r\n${fields.join('')}\r\n${body}`,
    'latin1',
  );
}

interface Sides {
  readonly bare: RunningNginx;
  readonly guarded: RunningNginx;
  readonly options: BenchOptions;
}

/** Requests by which a round's length is found, and ours a round. */
const TRIAL = 40;
const OWN_TURNS = 1_500;

/** As many requests as take nginx about two seconds: some are a hundred times as dear as others. */
function countFor(seconds: number): number {
  return Math.min(1_500, Math.max(TRIAL, Math.round(2 / Math.max(seconds, 0.000_1))));
}

/** Processor time that inspecting adds to a request on either side, taken turn by turn. */
async function timed(
  program: WafProgram,
  subject: WafSubject,
  { bare, guarded, options }: Sides,
): Promise<Row> {
  const octets = octetsOf(subject);
  const [plain, inspected] = await Promise.all(
    [bare, guarded].map(({ port }) => openLoad({ port, connections: 8, sleepless: false })),
  );
  const rounds = options.quick ? 1 : 5;
  const theirs: number[] = [];
  const ours: number[] = [];
  try {
    const first = await secondsOf(guarded, () => inspected!.run(TRIAL, () => octets));
    const count = options.quick ? TRIAL : countFor(first / TRIAL);
    for (let round = 0; round < rounds; round++) {
      const without = await secondsOf(bare, () => plain!.run(count, () => octets));
      const added = (await secondsOf(guarded, () => inspected!.run(count, () => octets))) - without;
      theirs.push((added * 1e6) / count);
      ours.push(microsecondsOfOurs(program, octets, { subject, count: options.quick ? TRIAL : OWN_TURNS }));
    }
  } finally {
    plain!.close();
    inspected!.close();
  }
  const [a, b] = [median(theirs), median(ours)];
  return {
    name: `libmodsecurity ÷ ours, ${subject.name}`,
    value: a / b,
    goal: { atLeast: GOALS[subject.name]! },
    unit: '×',
    note: `added a request: nginx ${a.toFixed(0)} µs, ours ${b.toFixed(1)} µs`,
  };
}

async function secondsOf({ process }: RunningNginx, work: () => Promise<void>): Promise<number> {
  const before = usageOf(process)!.seconds;
  await work();
  return usageOf(process)!.seconds - before;
}

/** Every request's strings are made anew from octets, as a server meets them; making them is timed too, and taken off. */
function microsecondsOfOurs(
  program: WafProgram,
  octets: Buffer,
  { subject, count }: { readonly subject: WafSubject; readonly count: number },
): number {
  const make = (): WafSubject => ({ ...subject, ...parsed(octets, subject) });
  const making = timeOf(count, () => void make());
  return timeOf(count, () => void inspect(program, make())) - making;
}

/** Processor time a turn, in microseconds: what the clock on the wall says depends on who else is at work. */
function timeOf(count: number, work: () => void): number {
  const begun = process.cpuUsage();
  for (let turn = 0; turn < count; turn++) work();
  const { user, system } = process.cpuUsage(begun);
  return (user + system) / count;
}

function parsed(octets: Buffer, { request }: WafSubject): Pick<WafSubject, 'request' | 'body'> {
  const text = octets.toString('latin1');
  const end = text.indexOf('\r\n\r\n');
  const [line = '', ...fields] = text.slice(0, end).split('\r\n');
  const headers = Object.fromEntries(
    fields.map((field) => [field.slice(0, field.indexOf(':')), field.slice(field.indexOf(':') + 2)]),
  );
  const [method = '', target = ''] = line.split(' ');
  return { request: { ...request, method, target, headers }, body: text.slice(end + 4) };
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[values.length >> 1]!;
}
