/** `edgeplan replay` of what waf rules blocked at a node, put to the edge file as it is today. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { ask } from '../support/ask.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { startWorkerNode } from '../support/worker-node.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-replay-waf-'));
const HOST = 'shop.test';
const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

const rule = (id: number, word: string): string =>
  `SecRule ARGS "@contains ${word}" "id:${id},phase:2,block,setvar:'tx.inbound_anomaly_score_pl1=+5'"\n`;
const SIGNATURES: Readonly<Record<string, string>> = {
  'own/a.conf': `SecComponentSignature "OWN/1"\n${rule(1, 'evil')}`,
  'other/a.conf': `SecComponentSignature "OTHER/1"\n${rule(2, 'bad')}`,
  'crs/crs-setup.conf.example': 'SecAction "id:900000,phase:1,pass,nolog,setvar:tx.crs_setup_version=4"\n',
  'crs/rules/REQUEST-901-INITIALIZATION.conf': `SecComponentSignature "OWASP_CRS/4.99.0"\n${rule(1, 'evil')}`,
};

const HEAD = (port: number): string => `domain: ${HOST}
records:
  - { name: '@', type: A, destination: 127.0.0.1, port: ${port}, scheme: Http, proxied: true }
rules:
`;
const ABOVE = `  - { type: drop, path_includes: [/old] }
  - { type: waf, path_includes: [/else/*], threshold: 9 }
  - { type: captcha, path_includes: [/login] }
`;
const PLAIN = `  - { type: waf, path_includes: [/plain] }\n`;
const KEYED = `  - { type: waf, key: guard, path_includes: [/keyed] }\n`;
const NUMBERED = `  - { type: waf, id: 70, path_includes: [/numbered] }\n`;
const LAST = `  - { type: waf, key: uploads, path_includes: [/uploads], body_cap_kb: 1, on_uninspected: block }\n`;
const YESTERDAY = PLAIN + KEYED + NUMBERED + LAST;

const origin = createServer((request, response) => request.resume().on('end', () => response.end('origin')));

/** Requests of that day with what the visitor got. */
const SENT: readonly (readonly [string, string | null, number])[] = [
  ['/plain?q=evil', null, 403],
  ['/keyed?q=evil', null, 403],
  ['/numbered?q=evil', null, 403],
  ['/plain?q=good', null, 200],
  ['/plain', 'q=evil', 403],
  ['/uploads', `q=${'x'.repeat(1_024)}`, 403],
  ['/keyed', 'q=good', 200],
];

beforeAll(async () => {
  await builtCli();
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve));
  for (const [name, text] of Object.entries(SIGNATURES)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }
  save('edge.yaml', YESTERDAY);
  const args = ['--file', 'edge.yaml', '--data', 'data', '--signatures', 'own', '--log-rate', '1'];
  const node = await startWorkerNode([...args, '--log', 'log.jsonl'], { cwd: folder });
  for (const [path, body, status] of SENT) {
    const sent = body === null ? {} : { method: 'POST', headers: FORM, body };
    // Without a header that the log leaves out: what signatures might have found in it is taken as it was.
    const answer = await ask(node.port, path, { host: HOST, from: null, ...sent });
    expect([path, answer.status]).toEqual([path, status]);
  }
  node.signal('SIGTERM');
  expect(await node.ended).toBe(0);
}, 180_000);
afterAll(async () => {
  origin.closeAllConnections();
  await new Promise((resolve) => origin.close(resolve));
  rmSync(folder, { recursive: true, force: true });
});

function save(name: string, rules: string): string {
  writeFileSync(join(folder, name), HEAD((origin.address() as AddressInfo).port) + rules);
  return name;
}

function replay(file: string, ...args: readonly string[]): Promise<Run> {
  return edgeplan(['replay', '--log', 'log.jsonl', '--file', file, ...args], { cwd: folder });
}

const SAME = (file: string): string => `7 decisions replayed with ${file}: none would change\n`;
const compared = (used: string): string =>
  `edgeplan: compared with ${used}; the log has no bodies and no secrets, rules are compared by key or id\n`;
const taken = (count: number): RegExp =>
  new RegExp(`^edgeplan: ${count} decisions? depends? on counters`, 'm');

test('the decision log names each waf rule by its id, or by a digest without one', () => {
  const lines = readFileSync(join(folder, 'log.jsonl'), 'utf8').trim().split('\n');
  const rules = lines.map((line) => JSON.parse(line).decision.rule);
  const [plain] = rules;
  expect(plain).toMatch(/^waf\/~[0-9a-f]{12}$/);
  expect(rules).toEqual([plain, 'waf/guard', 'waf/70', null, plain, 'waf/uploads', null]);
});

describe.each([
  ['as it was', YESTERDAY],
  ['with rules inserted above', ABOVE + YESTERDAY],
  ['with rules inserted between, in another order', LAST + NUMBERED + ABOVE + KEYED + PLAIN],
])('an edge file %s', (name, rules) => {
  test.each([
    ['--signatures', 'own', 'the signatures `OWN/1`', 2],
    ['--crs', 'crs', 'the signatures `OWASP_CRS/4.99.0`', 2],
    ['--signatures', 'none', 'no signatures', 5],
  ])('%s %s: no difference, and the note names what was used', async (option, value, used, assumed) => {
    const file = save(`${name.replaceAll(/\W/g, '-')}.yaml`, rules);
    const { code, out, err } = await replay(file, option, value);
    expect({ code, out }).toEqual({ code: 0, out: SAME(file) });
    expect(err).toContain(compared(used));
    // What was in a body was blocked for it; without signatures no block can be judged.
    expect(err).toMatch(taken(assumed));
    expect(err).toContain('3 requests are not whole in the log');
  });
});

describe('replay reports a difference', () => {
  test('with signatures that find nothing in the logged requests', async () => {
    const { code, out, err } = await replay(save('other.yaml', ABOVE + YESTERDAY), '--signatures', 'other');
    expect(code).toBe(1);
    expect(out).toContain('7 decisions replayed with other.yaml: 3 would change\n');
    expect(out).toContain('\n  was  block 403 by waf/guard\n  now  forward\n');
    expect(out).toContain('\n  was  block 403 by waf/70\n  now  forward\n');
    expect(out).toMatch(/\n {2}was {2}block 403 by waf\/~[0-9a-f]{12}\n {2}now {2}forward\n/);
    expect(err).toContain(compared('the signatures `OTHER/1`'));
    expect(err).toMatch(taken(2));
  });

  test('without the rule, whatever the signatures are', async () => {
    const { code, out } = await replay(save('gone.yaml', PLAIN + NUMBERED + LAST), '--signatures', 'none');
    expect(code).toBe(1);
    expect(out).toContain('1 would change\n\n1 line\n  was  block 403 by waf/guard\n  now  forward\n');
  });

  test('with a rule inserted above that blocks', async () => {
    const above = `  - { type: waf, key: first, path_includes: [/keyed] }\n`;
    const { code, out } = await replay(save('instead.yaml', above + YESTERDAY), '--signatures', 'own');
    expect(code).toBe(1);
    expect(out).toContain(
      '1 would change\n\n1 line\n  was  block 403 by waf/guard\n  now  block 403 by waf/first\n',
    );
  });
});
