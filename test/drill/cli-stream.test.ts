import { once } from 'node:events';
import { createWriteStream, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { readEdgeFile } from '../../src/rules/files/edge-file.ts';
import { decisionDocument } from '../../src/workbench/simulation/decision-document.ts';
import { createOracle } from '../oracle/index.ts';
import { builtCli, edgeplan, shell, startEdgeplan } from '../support/built.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));

beforeAll(async () => {
  await builtCli();
  await edgeplan(['init'], { cwd: folder });
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

function request(target: string, more: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    scheme: 'https',
    method: 'GET',
    host: 'shop.example.com',
    target,
    ip: '192.0.2.1',
    now: 0,
    ...more,
  });
}

describe('simulate --requests', () => {
  it('prints one decision per line, in order, with one evaluator', async () => {
    const input = `${`${request('/api/x')}\n`.repeat(81)}${request('/admin/')}\n`;
    const { code, out, err } = await edgeplan(['simulate', '--requests', '-', '--json'], {
      cwd: folder,
      input,
    });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const decisions = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line).decision);
    expect(decisions).toHaveLength(82);
    expect(decisions.slice(0, 80).every((one) => one.action === 'forward')).toBe(true);
    expect(decisions[80]).toMatchObject({
      action: 'block',
      status: 429,
      rule: expect.stringMatching(/^rate_limit\//),
    });
    expect(decisions[81]).toMatchObject({
      action: 'block',
      status: 403,
      rule: expect.stringMatching(/^drop\//),
    });
    expect(Object.keys(decisions[0]).sort()).toEqual(
      [
        'action',
        'body',
        'cache',
        'host_header',
        'location',
        'matches',
        'origin',
        'origin_source',
        'origin_timeout_sec',
        'path',
        'retry_after',
        'revision',
        'rule',
        'shadow',
        'status',
        'tags',
        'waf',
      ].sort(),
    );
  });

  it('agrees with the oracle line by line on the requests to the shop', async () => {
    const shop = fileURLToPath(new URL('../../fixtures/shop', import.meta.url));
    // The oracle inspects nothing by itself.
    const args = ['simulate', '--requests', 'requests.jsonl', '--json', '--signatures', 'none'];
    const { code, out } = await edgeplan(args, { cwd: shop });
    const read = readEdgeFile(readFileSync(join(shop, 'edge.yaml'), 'utf8'), 'edge.yaml');
    if (!read.ok) throw new Error('the shop does not compile');
    const oracle = createOracle(read.ruleSet);
    const requests = readFileSync(join(shop, 'requests.jsonl'), 'utf8').trimEnd().split('\n');
    const answers = out.trimEnd().split('\n');
    expect(code).toBe(0);
    expect(answers.length).toBe(requests.length);
    for (const [line, request] of requests.entries()) {
      const { decision } = JSON.parse(answers[line]!);
      const expected = decisionDocument(oracle.evaluate(JSON.parse(request)));
      expect(decision, `line ${line + 1}`).toEqual(JSON.parse(JSON.stringify(expected)));
    }
  });

  it('does not classify generic bots: the evaluator decides by the given bot', async () => {
    const input = request('/', { headers: { 'user-agent': 'curl/8.5.0' } });
    const { out } = await edgeplan(['simulate', '--requests', '-', '--json'], { cwd: folder, input });
    expect(JSON.parse(out).decision.matches).toEqual([]);
  });

  it('prints an error for a bad line, continues, lists bad lines at the end, and exits with 3', async () => {
    writeFileSync(join(folder, 'mixed.jsonl'), `${request('/a')}\n{oops\n${request('/b')}\n`);
    const { code, out, err } = await edgeplan(['simulate', '--requests', 'mixed.jsonl', '--json'], {
      cwd: folder,
    });
    expect({ code, err }).toEqual({
      code: 3,
      err: 'edgeplan: 1 of 3 lines could not be read (line 2)\n',
    });
    const [first, second, third] = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(first.decision.action).toBe('forward');
    expect(second).toEqual({
      format: 'edgeplan.simulation/v1',
      line: 2,
      error: expect.stringContaining('not JSON'),
    });
    expect(third.decision.action).toBe('forward');
  });

  it('prints sentences without --json', async () => {
    const input = `${request('/api/x')}\n[]\n${'{"ip":5}\n'.repeat(11)}`;
    const { out, err } = await edgeplan(['simulate', '--requests', '-'], { cwd: folder, input });
    expect(err).toBe(
      'edgeplan: 12 of 13 lines could not be read (lines 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, …)\n',
    );
    expect(out.split('\n').slice(0, 2)).toEqual([
      'FORWARD    Forwarded to https://198.51.100.30/v2/x',
      'ERROR      line 2: the line is JSON but not an object; write one request as a JSON object on each line',
    ]);
  });

  it('exits silently when the reader closes the pipe', async () => {
    writeFileSync(join(folder, 'many.jsonl'), `${request('/api/x')}\n`.repeat(20_000));
    const line = '$EDGEPLAN simulate --requests many.jsonl --json | head -n 2';
    const { code, out, err } = await shell(line, { cwd: folder });
    expect({ code, err }).toEqual({ code: 0, err: '' });
    expect(out.trimEnd().split('\n')).toHaveLength(2);
    const trace = await shell('$EDGEPLAN simulate https://shop.example.com/ | head -n 1', { cwd: folder });
    expect(trace).toMatchObject({ code: 0, err: '' });
  });

  it('answers while its input is still open', async () => {
    const child = startEdgeplan(['simulate', '--requests', '-'], { cwd: folder });
    child.stdin.write(`${request('/a')}\n`);
    const [first] = await once(child.stdout.setEncoding('utf8'), 'data');
    expect(first).toMatch(/^FORWARD .*\n$/);
    child.stdin.end(`${request('/admin')}\n`);
    const [second] = await once(child.stdout, 'data');
    expect(second).toMatch(/^BLOCK .*\n$/);
    await once(child, 'close');
    expect(child.exitCode).toBe(0);
  });

  it('needs no more memory for more requests', async () => {
    const file = createWriteStream(join(folder, 'huge.jsonl'));
    const block = `${request('/api/x')}\n`.repeat(1000);
    for (let index = 0; index < 300; index++) if (!file.write(block)) await once(file, 'drain');
    file.end();
    await once(file, 'finish');
    // 36 MB of requests and 150 MB of answers through a heap that could hold neither, with a slow reader. The program
    // itself takes 20 MB of it.
    const line = '$EDGEPLAN simulate --requests huge.jsonl --json | (sleep 1; wc -l)';
    const env = { NODE_OPTIONS: '--max-old-space-size=32' };
    const { code, out, err } = await shell(line, { cwd: folder, env });
    expect({ code, err, lines: out.trim() }).toEqual({ code: 0, err: '', lines: '300000' });
  }, 120_000);
});
