/**
 * Runs the bench and prints what it came to. Each group runs in a process of its own, so that none inherits what the
 * compiler learnt from another. A group in which the sides disagree fails the run; a goal that is missed does not.
 *
 *     node --expose-gc dist/bench/run.js [--quick] [--large] [--json] [group …]
 */
import { execFile } from 'node:child_process';
import { cpus, loadavg, totalmem } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs, promisify } from 'node:util';
import { createSemaphore } from '../src/base/platform/tasks.ts';
import { run as adversarial } from './adversarial.ts';
import { run as allocation } from './allocation.ts';
import { run as apiRead } from './api-read.ts';
import { run as apiWrite } from './api-write.ts';
import { run as compile } from './compile.ts';
import { run as conditions } from './conditions.ts';
import { run as distance } from './distance.ts';
import { run as domains } from './domains.ts';
import { run as doors } from './doors.ts';
import { run as feed } from './feed.ts';
import { run as floor } from './floor.ts';
import { run as gateways } from './gateways.ts';
import { run as growth } from './growth.ts';
import { run as largeDomain } from './large-domain.ts';
import { run as linear } from './linear.ts';
import { run as lists } from './lists.ts';
import { run as micro } from './micro.ts';
import { run as node } from './node.ts';
import { run as others } from './others.ts';
import { run as plan } from './plan.ts';
import { run as proofs } from './proofs.ts';
import { run as limiter } from './rate-limiter.ts';
import { run as regex } from './regex.ts';
import { run as replay } from './replay.ts';
import { type BenchGroup, type BenchOptions, isMet, type Row } from './row.ts';
import { run as scoreboard } from './scoreboard.ts';
import { run as startUp } from './start-up.ts';
import { run as strangers } from './strangers.ts';
import { tableOf } from './table.ts';
import { run as tenants } from './tenants.ts';
import { run as traffic } from './traffic.ts';
import { run as waf } from './waf.ts';
import { run as zones } from './zones.ts';

const GROUPS: Readonly<Record<string, BenchGroup>> = {
  growth,
  conditions,
  lists,
  gateways,
  floor,
  linear,
  adversarial,
  others,
  domains,
  plan,
  compile,
  micro,
  proofs,
  regex,
  limiter,
  replay,
  allocation,
  'api-read': apiRead,
  'api-write': apiWrite,
  'large-domain': largeDomain,
  feed,
  'start-up': startUp,
  waf,
  scoreboard,
  node,
  strangers,
  doors,
  distance,
  tenants,
  traffic,
  zones,
};

/** Groups of a smoke run that run at once: on two processors, since some of them wait for most of their time. */
const QUICK_GROUPS = 3;

interface Wanted {
  readonly names: readonly string[];
  readonly json: boolean;
  readonly quick: boolean;
  readonly large: boolean;
}

interface Report {
  readonly group: string;
  readonly rows: readonly Row[];
  /** Why the group came to nothing. */
  readonly error: string | null;
}

function readArguments(): Wanted {
  const flag = { type: 'boolean' } as const;
  const options = { json: flag, quick: flag, large: flag } as const;
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const unknown = positionals.find((name) => !(name in GROUPS));
  if (unknown !== undefined) {
    throw new Error(`there is no group \`${unknown}\`; the groups are ${Object.keys(GROUPS).join(', ')}`);
  }
  const names = positionals.length > 0 ? positionals : Object.keys(GROUPS);
  return { names, json: values.json === true, quick: values.quick === true, large: values.large === true };
}

/** A single group runs in this process, where it can be profiled. */
async function runHere(group: string, options: BenchOptions): Promise<Report> {
  try {
    return { group, rows: await GROUPS[group]!(options), error: null };
  } catch (error) {
    return { group, rows: [], error: error instanceof Error ? error.message : String(error) };
  }
}

async function runApart(group: string, { quick, large }: BenchOptions): Promise<Report> {
  const flags = ['--json', ...(quick ? ['--quick'] : []), ...(large ? ['--large'] : [])];
  const command = ['--expose-gc', fileURLToPath(import.meta.url), group, ...flags];
  try {
    const { stdout } = await promisify(execFile)(process.execPath, command, { maxBuffer: 16 << 20 });
    return reportIn(stdout, group);
  } catch (error) {
    const stdout = error instanceof Error && 'stdout' in error ? String(error.stdout) : '';
    if (stdout !== '') return reportIn(stdout, group);
    return { group, rows: [], error: error instanceof Error ? error.message : String(error) };
  }
}

function reportIn(stdout: string, group: string): Report {
  const { groups } = JSON.parse(stdout) as { readonly groups: readonly Report[] };
  return groups.find((report) => report.group === group)!;
}

function machine(quick: boolean): Readonly<Record<string, string>> {
  const processors = cpus();
  return {
    machine: `${processors.length} × ${processors[0]?.model.trim() ?? 'unknown'}, ${Math.round(totalmem() / 2 ** 30)} GiB`,
    node: process.version,
    date: new Date().toISOString(),
    load: loadavg()[0]!.toFixed(2),
    kind: quick ? 'smoke run on small sets: its times mean nothing' : 'full run',
  };
}

function printReport({ group, rows, error }: Report, quick: boolean): void {
  console.log(`\n${group}${quick && error === null ? ': the sides agree' : ''}`);
  for (const line of tableOf(rows, { quick })) console.log(line);
  if (error !== null) console.log(`  failed: ${error}`);
}

async function main(): Promise<void> {
  const { names, json, quick, large } = readArguments();
  const about = machine(quick);
  if (!json) for (const [name, value] of Object.entries(about)) console.log(`${name.padEnd(8)}${value}`);
  const run = names.length === 1 ? runHere : runApart;
  // The times of a smoke run mean nothing, so its groups may share the processors.
  const places = createSemaphore(quick ? QUICK_GROUPS : 1);
  const running = names.map((name) => places.run(() => run(name, { quick, large })));
  const reports: Report[] = [];
  for (const one of running) {
    const report = await one;
    if (!json) printReport(report, quick);
    reports.push(report);
  }
  const judged = reports.flatMap(({ rows }) => rows.map(isMet)).filter((met) => met !== null);
  const met = judged.filter((held) => held).length;
  const failed = reports.filter(({ error }) => error !== null);
  if (json) console.log(JSON.stringify({ ...about, groups: reports }, null, 2));
  else {
    const goals = quick ? '' : `${met} of ${judged.length} goals met, `;
    console.log(`\n${goals}${failed.length} of ${reports.length} groups failed`);
  }
  if (failed.length > 0) process.exitCode = 1;
}

try {
  await main();
} catch (error) {
  console.error(error instanceof Error ? error.message : String(error));
  process.exitCode = 2;
}
