/** `simulate` with several URLs, a pasted curl line and --fail-on; the JSON of every command names its format. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDecisionLog } from '../../src/edge/proxy/log/decision-log.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { journalSubject } from '../support/edge-journal.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-'));
const SITE = 'https://example.com';
const FORMATS = fileURLToPath(new URL('../../src/workbench/simulation/FORMATS.md', import.meta.url));

const RECORDS = [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }];
const RULES = [
  { id: 1, type: 'drop', path_includes: ['/admin/*'] },
  { id: 2, type: 'redirect', path_includes: ['/old'], target: `${SITE}/new` },
  { id: 3, type: 'rate_limit', limit: 2, window_sec: 60, path_includes: ['/limited'] },
  { id: 4, type: 'waf' },
];
const OWN = `SecComponentSignature "own/1"
SecRule ARGS "@contains wolf" "id:7,phase:2,block,msg:'a wolf',severity:CRITICAL,setvar:tx.anomaly_score=+5"
`;

function edgeFile(name: string, rules: readonly object[]): void {
  writeFileSync(join(folder, name), JSON.stringify({ domain: 'example.com', records: RECORDS, rules }));
}

beforeAll(async () => {
  await builtCli();
  edgeFile('edge.yaml', RULES);
  edgeFile('other.yaml', RULES.slice(1));
  writeFileSync(join(folder, 'own.conf'), OWN);
  writeFileSync(
    join(folder, 'edge.test.yaml'),
    `tests: [{ name: a, request: "GET ${SITE}/", expect: block }]\n`,
  );
  const subject = journalSubject({ domain: { name: 'example.com' }, records: RECORDS, rules: RULES });
  const log = createDecisionLog({ file: join(folder, 'log.jsonl'), rate: 1, onFault: () => undefined });
  log.done(subject.entry({ target: '/admin/x' }));
  await log.close();
}, 180_000);
afterAll(() => rmSync(folder, { recursive: true }));

function run(...args: readonly string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

describe('simulate with several URLs', () => {
  it('prints one line for each, with the method before it', async () => {
    const found = await run('simulate', `${SITE}/`, 'DELETE', `${SITE}/admin/x`, 'example.com/old');
    expect(found).toEqual({
      code: 0,
      err: '',
      out: [
        `FORWARD    GET ${SITE}/  Forwarded to https://192.0.2.1/`,
        `BLOCK      DELETE ${SITE}/admin/x  Blocked with 403 by drop #1`,
        `REDIRECT   GET ${SITE}/old  Redirected with 302 to ${SITE}/new by redirect #2`,
        '',
      ].join('\n'),
    });
  });

  it('counts all of them with one evaluator, and prints a line of JSON for each', async () => {
    const url = `${SITE}/limited`;
    const { out } = await run('simulate', url, url, url, '--ip', '203.0.113.7', '--json');
    const lines = out
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    expect(lines.map(({ line, decision }) => [line, decision.action])).toEqual([
      [1, 'forward'],
      [2, 'forward'],
      [3, 'block'],
    ]);
    expect(lines[0]).toMatchObject({ format: 'edgeplan.simulation/v1', request: `GET ${url}` });
  });

  it('reads a curl line in quotes, and options beside it', async () => {
    const line = `curl '${SITE}/old' \\\n  -X POST -H 'user-agent: GPTBot/1.2' --data-raw 'a=b' --compressed`;
    const { out } = await run('simulate', line, '--ip', '203.0.113.7', '--json');
    const document = JSON.parse(out);
    expect(document.request).toMatchObject({ method: 'POST', ip: '203.0.113.7', bot: { kind: 'gptbot' } });
    expect(document.assumptions.map(({ input }: { input: string }) => input)).not.toContain('body');
  });
});

describe('--fail-on', () => {
  it('exits with 1 when the decision is one of the actions, and names it on stderr', async () => {
    const url = `${SITE}/admin/x`;
    const failing = await run('simulate', url, '--fail-on', 'challenge', '--fail-on', 'block,refuse');
    expect(failing).toMatchObject({
      code: 1,
      err: `edgeplan: --fail-on challenge,block,refuse: 1 of 1 request\n  block: GET ${url}\n`,
      out: expect.stringContaining('✘ BLOCK  403'),
    });
    expect((await run('simulate', url, '--fail-on', 'challenge')).code).toBe(0);
  });

  it('counts the decisions of several URLs and of --requests', async () => {
    const urls = await run('simulate', `${SITE}/`, `${SITE}/admin/x`, '--fail-on', 'block');
    expect(urls).toMatchObject({ code: 1, err: expect.stringContaining('1 of 2 requests\n') });
    const line = JSON.stringify({ scheme: 'https', method: 'GET', host: 'example.com', target: '/admin/x' });
    const args = ['simulate', '--requests', '-', '--fail-on', 'block'];
    const stream = await edgeplan(args, { cwd: folder, input: `${line}\n` });
    expect(stream).toMatchObject({
      code: 1,
      err: `edgeplan: --fail-on block: 1 of 1 request\n  block: line 1, GET ${SITE}/admin/x\n`,
    });
    expect((await edgeplan(args, { cwd: folder, input: `${line}\nnonsense\n` })).code).toBe(3);
  });
});

describe('--without', () => {
  it('leaves a signature out of a set in SecLang', async () => {
    const args = ['simulate', `${SITE}/?q=wolf`, '--signatures', 'own.conf'];
    expect((await run(...args)).out).toContain('✘ BLOCK');
    expect((await run(...args, '--without', '7')).out).toContain('✔ FORWARD');
  });

  it('is refused for the starter set and for none', async () => {
    for (const chosen of [[], ['--signatures', 'none']]) {
      const { code, err } = await run('simulate', `${SITE}/`, '--without', '7', ...chosen);
      expect({ code, err }).toEqual({
        code: 2,
        err: expect.stringContaining('no signature can be left out'),
      });
    }
  });

  it('is refused for a sealed program', async () => {
    await run('waf', 'compile', 'own.conf', '--output', 'own.bin');
    const { code, err } = await run('simulate', SITE, '--signatures', 'own.bin', '--without', '7');
    expect({ code, err }).toEqual({ code: 2, err: expect.stringContaining('`own.bin` is a sealed program') });
  });
});

describe('src/workbench/simulation/FORMATS.md', () => {
  const text = readFileSync(FORMATS, 'utf8');

  /** The example of a format: the first block of JSON below its heading. */
  function example(format: string): Readonly<Record<string, unknown>> {
    const section = text.slice(text.indexOf(`## \`${format}\``));
    return JSON.parse(section.slice(section.indexOf('```json\n') + 8, section.indexOf('\n```\n')));
  }

  /** The field paths of a document; a list has those of its first entry. */
  function fields(value: unknown, at = ''): readonly string[] {
    if (Array.isArray(value)) return value.length === 0 ? [] : fields(value[0], `${at}[]`);
    if (typeof value !== 'object' || value === null) return [];
    return Object.entries(value).flatMap(([name, own]) => [`${at}.${name}`, ...fields(own, `${at}.${name}`)]);
  }

  it.each([
    ['edgeplan.trace/v1', ['simulate', `${SITE}/admin/x`]],
    ['edgeplan.why/v1', ['simulate', `${SITE}/`, '--why', '1']],
    ['edgeplan.simulation/v1', ['simulate', `${SITE}/admin/x`, `${SITE}/`]],
    ['edgeplan.tests/v1', ['test']],
    ['edgeplan.findings/v1', ['lint']],
    ['edgeplan.diff/v1', ['diff', 'edge.yaml', 'other.yaml', '--log', 'log.jsonl']],
    ['edgeplan.replay/v1', ['replay', '--log', 'log.jsonl', '-f', 'other.yaml']],
  ] as const)('%s has every field of a real run at its top level, in snake_case', async (format, args) => {
    const { out } = await run(...args, '--json');
    const isStream = format === 'edgeplan.simulation/v1';
    const document = JSON.parse(isStream ? out.split('\n')[0]! : out);
    expect(document.format).toBe(format);
    expect(Object.keys(document)[0]).toBe('format');
    expect(Object.keys(example(format)).sort()).toEqual(Object.keys(document).sort());
    for (const field of fields(document)) expect(field).toMatch(/^(?:\.[a-z0-9_]+(?:\[\])*)+$/);
  });

  it('edgeplan.explanation/v1 has every field of a real run', async () => {
    const { id } = JSON.parse(readFileSync(join(folder, 'log.jsonl'), 'utf8').split('\n')[0]!);
    const { out } = await run('explain', id, '--log', 'log.jsonl', '-f', 'edge.yaml', '--json');
    expect(Object.keys(JSON.parse(out))).toEqual(Object.keys(example('edgeplan.explanation/v1')));
    const bare = await run('explain', id, '--log', 'log.jsonl', '--json');
    expect(JSON.parse(bare.out)).toMatchObject({ same_plan: null, trace: null });
  });
});
