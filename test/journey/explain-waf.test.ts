/** What signatures found under dry_run is shown as under enforce: in the log, by `explain`, `simulate` and the API. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { DecisionLine } from '../../src/edge/proxy/log/line.ts';
import type { TraceDocument } from '../../src/workbench/simulation/document.ts';
import { ask } from '../support/ask.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { type Served, serve } from '../support/served.ts';
import { startWorkerNode, type WorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-explain-waf-'));
const HOST = 'shop.test';
const SIGNATURES = `SecComponentSignature "OWN/1"
SecRule ARGS "@contains evil" "id:1,phase:2,block,msg:'a bad word',tag:'attack-sqli',setvar:'tx.inbound_anomaly_score_pl1=+5'"
SecRule REQUEST_HEADERS:User-Agent "@contains scanner" "id:2,phase:1,block,msg:'a scanner',setvar:'tx.inbound_anomaly_score_pl1=+2'"
`;
const FILE = (port: number): string => `domain: ${HOST}
records:
  - { name: '@', type: A, destination: 127.0.0.1, port: ${port}, scheme: Http, proxied: true }
rules:
  - { key: enforced, type: waf, path_includes: [/enforced], threshold: 5, body_cap_kb: 1, on_uninspected: score }
  - { key: tried, type: waf, path_includes: [/tried], threshold: 5, body_cap_kb: 1, action_mode: dry_run }
`;
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };
const JSON_TYPE = { 'content-type': 'application/json' };

interface Attack {
  readonly query?: string;
  readonly headers?: Record<string, string>;
  readonly body?: string;
}

/** What `explain` prints of the signatures of each: the score, then what each matched. */
const ATTACKS: readonly (readonly [string, Attack, readonly string[]])[] = [
  [
    'a query',
    { query: '?q=evil' },
    ['signatures: score 5 1 (on ARGS:q)', '1  +5  a bad word (sqli)  ARGS:q `evil`'],
  ],
  [
    'several signatures',
    { query: '?q=evil&r=evil', headers: { 'user-agent': 'scanner/1' } },
    [
      'signatures: score 12 1 2 (on ARGS:r, REQUEST_HEADERS:user-agent)',
      '1  +10  a bad word (sqli)  ARGS:r `evil`',
      '2  +2  a scanner  REQUEST_HEADERS:user-agent `scanner/1`',
    ],
  ],
  [
    'a form',
    { headers: FORM, body: 'a=1&b=evil' },
    ['signatures: score 5 1 (on ARGS:b)', '1  +5  a bad word (sqli)  ARGS:b `evil`'],
  ],
  [
    'a secret',
    { headers: FORM, body: 'password=evil&pin=1' },
    [
      'signatures: score 5 1 (on ARGS:password)',
      '1  +5  a bad word (sqli)  ARGS:password `(4 octets, not shown)`',
    ],
  ],
  [
    'what the log alone takes for a secret',
    { headers: FORM, body: 'pin=evil' },
    ['signatures: score 5 1 (on ARGS:pin)', '1  +5  a bad word (sqli)  ARGS:pin `(not shown)`'],
  ],
  [
    'a body that is not what it says',
    { headers: JSON_TYPE, body: '{"q":' },
    [
      'signatures: score 5 (body not readable: json: it ends inside a value) (body not inspected whole: unparsable)',
    ],
  ],
  [
    'a body beyond the cap',
    { query: '?q=evil', headers: FORM, body: `b=${'x'.repeat(1_024)}` },
    [
      'signatures: score 5 1 (body cut) (body not inspected whole: beyond_cap) (on ARGS:q)',
      '1  +5  a bad word (sqli)  ARGS:q `evil`',
    ],
  ],
];

const origin = createServer((request, response) => request.resume().on('end', () => response.end('origin')));
let node: WorkerNode;

beforeAll(async () => {
  await builtCli();
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  writeFileSync(join(folder, 'edge.yaml'), FILE((origin.address() as AddressInfo).port));
  writeFileSync(join(folder, 'own.conf'), SIGNATURES);
  const args = ['--file', 'edge.yaml', '--data', 'data', '--signatures', 'own.conf', '--log', 'log.jsonl'];
  node = await startWorkerNode(args, { cwd: folder });
}, 180_000);
afterAll(async () => {
  node.signal('SIGTERM');
  await node.ended;
  origin.closeAllConnections();
  await new Promise((resolve) => origin.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

/** Sends the attack past a rule; the decision's id. */
async function attack(
  path: string,
  { query = '', headers = {}, body }: Attack,
  status: number,
): Promise<string> {
  const sent = body === undefined ? { headers } : { method: 'POST', headers, body };
  const answer = await ask(node.port, `${path}${query}`, { host: HOST, ...sent });
  expect(answer.status).toBe(status);
  return String(answer.headers['x-edgeplan-id']);
}

/** Explains a decision, once the node has logged it. */
async function explain(id: string, ...args: readonly string[]): Promise<Run> {
  let run: Run | undefined;
  await expect
    .poll(async () => {
      run = await edgeplan(['explain', id, '--log', 'log.jsonl', ...args], { cwd: folder });
      return run.code;
    })
    .toBe(0);
  return run!;
}

const WITH_RULES = ['--file', 'edge.yaml', '--signatures', 'own.conf'];

function wafRule(trace: TraceDocument, key: string) {
  const rules = trace.phases.find(({ name }) => name === 'waf')!.rules;
  return rules.find((rule) => rule.key === key)!;
}

/** The lines on signatures, however far they are indented. */
function signatureLines(out: string): readonly string[] {
  return out
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => /^(signatures: |\d+ {2}\+\d)/.test(line));
}

describe.each(ATTACKS)('%s', (_name, sent, said) => {
  let enforced: string;
  let tried: string;
  beforeAll(async () => {
    enforced = await attack('/enforced', sent, 403);
    tried = await attack('/tried', sent, 200);
  });

  test('explain names ids, messages, targets, parts and score without the rules', async () => {
    const one = await explain(enforced);
    const other = await explain(tried);
    expect(one.out).toContain('block 403 by waf/enforced; the visitor got 403\n');
    expect(other.out).toContain('forward');
    expect(other.out).toContain('  waf/tried (dry_run): block\n');
    expect(other.out).toContain('had dry_run rules been enforced: block 403 by waf/tried\n');
    expect(signatureLines(one.out)).toEqual(said);
    expect(signatureLines(other.out)).toEqual(said);
  });

  test('the log line has the same finding as the decision', async () => {
    const line = async (id: string): Promise<DecisionLine> =>
      JSON.parse((await explain(id, '--json')).out).line;
    const one = await line(enforced);
    const other = await line(tried);
    expect(one.waf?.score).toBeGreaterThanOrEqual(5);
    expect([other.waf, other.matches]).toEqual([
      null,
      [{ rule: 'waf/tried', mode: 'dry_run', effect: 'block', waf: one.waf }],
    ]);
  });

  test('explain with the rules shows the same inspection', async () => {
    const one = await explain(enforced, ...WITH_RULES, '--json');
    const other = await explain(tried, ...WITH_RULES, '--json');
    const found = wafRule(JSON.parse(one.out).trace, 'enforced').inspection;
    expect(found).toBeDefined();
    expect(wafRule(JSON.parse(other.out).trace, 'tried').inspection).toEqual(found);
    const lines = signatureLines((await explain(enforced, ...WITH_RULES)).out);
    expect(signatureLines((await explain(tried, ...WITH_RULES)).out)).toEqual(lines);
    // Those of the log, then those of the simulation, which has no body of the request.
    expect(lines).toHaveLength(said.length + found!.matches.length);
  });
});

test('explain reports that the finding depended on the body, also under dry_run', async () => {
  for (const [path, status] of [
    ['/enforced', 403],
    ['/tried', 200],
  ] as const) {
    const body = await attack(path, { headers: FORM, body: 'b=evil' }, status);
    expect((await explain(body, ...WITH_RULES)).err).toContain('the logged decision differs');
    const query = await attack(path, { query: '?q=evil' }, status);
    expect((await explain(query, ...WITH_RULES)).err).toBe('');
  }
});

test.each([
  ['a query', ['?q=evil&r=evil']],
  ['a body', ['', '-X', 'POST', '-H', 'content-type: application/x-www-form-urlencoded', '-d', 'b=evil']],
] as const)('simulate shows the same of %s', async (_name, [query, ...rest]) => {
  const simulate = (path: string, ...args: readonly string[]): Promise<Run> => {
    const url = `http://${HOST}${path}${query}`;
    return edgeplan(['simulate', url, ...rest, ...WITH_RULES, ...args], { cwd: folder });
  };
  const found = wafRule(JSON.parse((await simulate('/enforced', '--json')).out), 'enforced').inspection;
  expect(found?.ids).toEqual([1]);
  const document = JSON.parse((await simulate('/tried', '--json')).out);
  expect(wafRule(document, 'tried').inspection).toEqual(found);
  const lines = signatureLines((await simulate('/enforced')).out);
  expect(lines).toHaveLength(found!.matches.length);
  expect(signatureLines((await simulate('/tried')).out)).toEqual(lines);
});

describe('the API', () => {
  let server: Served;
  const ids: number[] = [];
  beforeAll(async () => {
    server = await serve();
    await server.domain(HOST);
    const record = { name: '@', type: 'A', destination: '192.0.2.1', proxied: true };
    expect((await server.call('POST', `/domains/${HOST}/records/`, record)).status).toBe(200);
    for (const [path, action_mode] of [
      ['/enforced', 'enforce'],
      ['/tried', 'dry_run'],
    ]) {
      const rule = { path_includes: [path], action_mode };
      const made = await server.call('POST', `/domains/${HOST}/rules/waf/?wait=published`, rule);
      expect(made.status, made.text).toBe(200);
      ids.push(made.body.id);
    }
  }, 120_000);
  afterAll(() => server.stop());

  test.each([
    ['a query', { target: '?id=1%27%20union%20select%20password%20from%20users' }],
    ['a body', { target: '', method: 'POST', headers: FORM, body: "id=1' union select password from users" }],
  ])('simulate shows the same of %s', async (_name, { target, ...more }) => {
    const found = async (path: string, at: number) => {
      const request = { host: HOST, target: `${path}${target}`, ...more };
      const { status, body } = await server.call('POST', `/domains/${HOST}/simulate`, { request });
      expect(status).toBe(200);
      const rules: TraceDocument['phases'][number]['rules'] = body.phases.find(
        ({ name }: { name: string }) => name === 'waf',
      ).rules;
      return rules.find(({ id }) => id === ids[at])!;
    };
    const enforced = await found('/enforced', 0);
    const tried = await found('/tried', 1);
    expect([enforced.effect, tried.effect]).toEqual(['block', 'would_block']);
    expect(enforced.inspection).toMatchObject({
      ids: [11_300],
      matches: [{ variable: 'ARGS:id', score: 5 }],
    });
    expect(tried.inspection).toEqual(enforced.inspection);
    expect(tried.reason).toEqual(enforced.reason);
  });
});
