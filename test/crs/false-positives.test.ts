/**
 * Ordinary traffic through the same Core Rule Set in our run time and in libmodsecurity (nginx), at paranoia 1: ours blocks
 * no more of it, and signatures that only one of the two reports are known with the reason. The rules are Debian's
 * `modsecurity-crs`, and a checkout of the Core Rule Set where `EDGEPLAN_SUITES` has it.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { afterAll, describe, expect, onTestFinished, test } from 'vitest';
import {
  DEBIAN_CRS,
  hasModSecurity,
  loadCrs,
  startGuarded,
  startOrigin,
} from '../../bench/harness/modsecurity.ts';
import type { EdgeRequest } from '../../src/engine/evaluator/request.ts';
import type { WafProgram } from '../../src/engine/waf/request/inspection.ts';
import { externalSuite } from '../support/external-suites.ts';
import { missingFile, requires } from '../support/requires.ts';
import { ordinaryTraffic } from '../support/traffic/ordinary.ts';
import { DIFFERENCES } from './differences.ts';

const NO_MODSECURITY = hasModSecurity()
  ? null
  : 'nginx with ModSecurity is not installed (Debian: nginx, libnginx-mod-http-modsecurity)';
const suite = externalSuite('coreruleset');
const RULE_SETS = [
  ['of Debian', DEBIAN_CRS, missingFile(DEBIAN_CRS, 'modsecurity-crs')],
  ['of its repository', suite.folder, suite.missing],
] as const;

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-audit-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SETTINGS = { paranoia: 1, threshold: 5, excludes: [], exclusions: [] } as const;
/** Rules that sum up scores, tell them or look at answers; they say nothing of a request that others have not said. */
const SUMS = [949_000, 999_999] as const;

const traffic = ordinaryTraffic().filter(({ hard }) => !hard);

/** The same at every level: the budget of steps cuts none of it off. */
function cutOff(program: WafProgram): readonly string[] {
  return [1, 2, 3, 4].flatMap((paranoia) =>
    ordinaryTraffic()
      .filter(({ request }) => {
        const input = { request, body: octetsOf(request), truncated: false };
        return program.inspect(input, { ...SETTINGS, paranoia }).exhausted;
      })
      .map(({ kind }) => `level ${paranoia}, ${kind}`),
  );
}

interface Verdict {
  readonly blocked: boolean;
  readonly ids: readonly number[];
}

function octetsOf({ body }: EdgeRequest): Uint8Array | null {
  if (body === undefined || body === null) return null;
  return typeof body === 'string' ? new TextEncoder().encode(body) : (body as Uint8Array);
}

function ours(program: WafProgram, request: EdgeRequest): Verdict {
  const finding = program.inspect({ request, body: octetsOf(request), truncated: false }, SETTINGS);
  return { blocked: finding.denied || finding.score >= SETTINGS.threshold, ids: requestIds(finding.ids) };
}

function requestIds(ids: readonly number[]): readonly number[] {
  return ids.filter((id) => id < SUMS[0] || id > SUMS[1]);
}

/** The request as it goes over the wire, headers as octets. */
function wire(request: EdgeRequest): Buffer {
  const headers = { host: request.host, ...request.headers };
  const fields = Object.entries(headers).flatMap(([name, value]) =>
    (typeof value === 'string' ? [value] : (value ?? [])).map((one) => `${name}: ${one}\r\n`),
  );
  return Buffer.concat([
    Buffer.from(`${request.method} ${request.target} HTTP/1.1\r\n`, 'utf8'),
    Buffer.from(`${fields.join('')}\r\n`, 'latin1'),
    octetsOf(request) ?? new Uint8Array(),
  ]);
}

/** The head of the answer, once the connection has said it all. */
function answerTo(port: number, octets: Buffer): Promise<{ status: number; transaction: string }> {
  return new Promise((resolve, reject) => {
    let head = '';
    const socket = connect(port, '127.0.0.1', () => socket.write(octets));
    socket.setEncoding('latin1').on('data', (text: string) => {
      head += text;
      if (!head.includes('\r\n\r\n')) return;
      socket.destroy();
      resolve({
        status: Number(head.slice(9, 12)),
        transaction: /^x-transaction: (\w+)\r$/im.exec(head)?.[1] ?? '',
      });
    });
    const silent = (): void => {
      socket.destroy();
      reject(new Error(`no answer to ${octets.toString('latin1', 0, 200)}`));
    };
    socket.setTimeout(5_000, silent).on('error', reject).on('end', silent);
  });
}

interface Audited {
  readonly transaction: {
    readonly unique_id: string;
    readonly messages: readonly { readonly details: { readonly ruleId: string } }[];
  };
}

/** What libmodsecurity says of every request: its status, and from the audit log the rules. */
async function theirs(directory: string): Promise<readonly Verdict[]> {
  const log = join(folder, `${basename(directory)}.log`);
  const origin = await startOrigin();
  onTestFinished(() => origin.stop());
  const guarded = await startGuarded(origin.port, directory, {
    directives: [
      'SecAuditEngine On',
      'SecAuditLogType Serial',
      'SecAuditLogFormat JSON',
      'SecAuditLogParts AHZ',
      `SecAuditLog ${log}`,
    ],
    server: 'modsecurity_transaction_id $request_id; add_header x-transaction $request_id always;',
  });
  onTestFinished(() => guarded.stop());
  const answers: { status: number; transaction: string }[] = [];
  for (const { request } of traffic) answers.push(await answerTo(guarded.port, wire(request)));
  const audited = readFileSync(log, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => (JSON.parse(line) as Audited).transaction);
  const ids = new Map(
    audited.map(({ unique_id, messages }) => [
      unique_id,
      messages.map(({ details }) => Number(details.ruleId)),
    ]),
  );
  return answers.map(({ status, transaction }) => ({
    blocked: status === 403,
    ids: [...new Set(requestIds(ids.get(transaction) ?? []))].sort((a, b) => a - b),
  }));
}

/** Ids only one side reports: how often, and of requests to where. */
function differences(mine: readonly Verdict[], other: readonly Verdict[]): ReadonlyMap<number, string> {
  const found = new Map<number, { ours: number; theirs: number; readonly paths: Set<string> }>();
  for (const [index, { ids }] of mine.entries()) {
    const there = other[index]!.ids;
    for (const id of new Set([...ids, ...there])) {
      if (ids.includes(id) === there.includes(id)) continue;
      const one = found.get(id) ?? { ours: 0, theirs: 0, paths: new Set() };
      if (ids.includes(id)) one.ours += 1;
      else one.theirs += 1;
      one.paths.add(traffic[index]!.request.target.split('?')[0]!);
      found.set(id, one);
    }
  }
  return new Map(
    [...found].map(([id, { ours, theirs, paths }]) => [
      id,
      `only ours ${ours}, only theirs ${theirs}: ${[...paths].slice(0, 4).join(' ')}`,
    ]),
  );
}

describe('false positives beside libmodsecurity', requires(NO_MODSECURITY), () => {
  for (const [name, directory, missing] of RULE_SETS)
    test(`the Core Rule Set ${name}`, { ...requires(missing), timeout: 400_000 }, async () => {
      expect(traffic.length).toBeGreaterThanOrEqual(2_000);
      const program = loadCrs(directory);
      expect(cutOff(program)).toEqual([]);
      const mine = traffic.map(({ request }) => ours(program, request));
      const other = await theirs(directory);
      const count = (list: readonly Verdict[]) => list.filter(({ blocked }) => blocked).length;
      const differing = differences(mine, other);
      const lines = [...differing].map(([id, text]) => `  ${id} ${text}`);
      console.log(
        `${directory}: of ${traffic.length} ordinary requests ours blocks ${count(mine)}, libmodsecurity ${count(other)}\n${lines.join('\n')}`,
      );
      expect(count(mine)).toBeLessThanOrEqual(count(other));
      expect([...differing.keys()].filter((id) => !(id in DIFFERENCES))).toEqual([]);
    });
});
