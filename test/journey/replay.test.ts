/** `edgeplan replay` and `edgeplan explain` over logs as the node writes them. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDecisionLog } from '../../src/edge/proxy/log/decision-log.ts';
import type { RequestLogEntry } from '../../src/edge/proxy/log/request-log.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { DOMAIN, journalSubject } from '../support/edge-journal.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-replay-'));
const RECORDS = [
  { id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true },
  { id: 2, name: '@', type: 'A', destination: '192.0.2.2', proxied: true },
];
const RULES = [
  { id: 1, type: 'drop', path_includes: ['/admin/*'] },
  { id: 2, type: 'drop', path_includes: ['/tried'], action_mode: 'dry_run' },
  { id: 3, type: 'rate_limit', limit: 2, window_sec: 60, path_includes: ['/limited'] },
  { id: 4, type: 'drop', countries: ['KP'] },
];

/** JSON is YAML. */
function save(name: string, rules: readonly object[], domain = 'example.com'): string {
  writeFileSync(join(folder, name), JSON.stringify({ domain, records: RECORDS, rules }));
  return name;
}

async function writeLog(name: string, entries: readonly RequestLogEntry[], rate = 1): Promise<void> {
  const log = createDecisionLog({
    file: join(folder, name),
    rate,
    onFault: () => undefined,
    random: () => 0,
  });
  for (const entry of entries) log.done(entry);
  await log.close();
}

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

const subject = journalSubject({ domain: DOMAIN, records: RECORDS, rules: RULES });
const entries: RequestLogEntry[] = [
  ...['/', '/a', '/b', '/admin', '/tried', '/limited', '/limited', '/limited'].map((target) =>
    subject.entry({ target }),
  ),
  subject.entry({ target: '/admin/users?token=S3CRET', headers: { 'user-agent': 'curl/8', cookie: 'a=b' } }),
  subject.entry({ target: '/admin/x' }),
];
const blocked = entries[8]!;

beforeAll(async () => {
  await builtCli();
  await writeLog('log.jsonl', entries);
  save('same.yaml', RULES);
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('replay', () => {
  it('reports no change for equal rules, whichever origin load balancing chooses', async () => {
    const { code, out, err } = await run('replay', '--log', 'log.jsonl', '--file', 'same.yaml');
    expect({ code, out }).toEqual({
      code: 0,
      out: '10 decisions replayed with same.yaml: none would change\n',
    });
    expect(err).toContain('1 request is not whole in the log');
  });

  it('groups decisions that would change, and exits with 1', async () => {
    const file = save('changed.yaml', [
      { ...RULES[0], path_includes: ['/administration/*'] },
      { ...RULES[1], action_mode: 'enforce' },
      RULES[2]!,
    ]);
    const { code, out } = await run('replay', '--log', 'log.jsonl', '-f', file);
    expect(code).toBe(1);
    expect(out).toContain('10 decisions replayed with changed.yaml: 3 would change\n');
    expect(out).toContain('\n2 lines\n  was  block 403 by drop/1\n  now  forward\n');
    expect(out).toContain(`    ${blocked.id}  GET https://example.com/admin/users?token=REDACTED\n`);
    expect(out).toContain('\n1 line\n  was  forward\n  now  block 403 by drop/2\n');
  });

  it('groups rewrites and caching by what they have in common', async () => {
    const file = save('cached.yaml', [
      ...RULES,
      { id: 5, type: 'cache', path_includes: ['/a', '/b'], mode: 'force', edge_ttl_sec: 60 },
    ]);
    const { code, out } = await run('replay', '--log', 'log.jsonl', '-f', file);
    expect(code).toBe(1);
    expect(out).toContain('\n2 lines\n  was  forward, cache standard\n  now  forward, cache ');
  });

  it('assumes logged rate limits, unless their rule is gone', async () => {
    const gone = save('gone.yaml', [RULES[0]!, RULES[1]!]);
    const kept = save('kept.yaml', [RULES[0]!, RULES[1]!, { ...RULES[2], limit: 100 }]);
    const one = await run('replay', '--log', 'log.jsonl', '-f', gone);
    expect(one.code).toBe(1);
    expect(one.out).toContain('was  block 429 by rate_limit/3');
    const two = await run('replay', '--log', 'log.jsonl', '-f', kept);
    expect(two.code).toBe(0);
    expect(two.err).toContain(
      '1 decision depends on counters, signatures or values that the log withholds: taken as logged',
    );
  });

  it('reads a sealed plan, several logs and stdin, and prints the report as JSON', async () => {
    await run('compile', '-f', 'same.yaml', '-o', 'same.edgeplan');
    await writeLog('sampled.jsonl', [subject.entry({ target: '/gone' })], 0.01);
    const drop = save('drop.yaml', [{ id: 9, type: 'drop', path_includes: ['/gone'] }, ...RULES]);
    const plan = await run('replay', '--log', 'log.jsonl', '--plan', 'same.edgeplan');
    expect(plan.code).toBe(0);
    const both = await run('replay', '--log', 'log.jsonl', '--log', 'sampled.jsonl', '-f', drop, '--json');
    expect(both.code).toBe(1);
    expect(JSON.parse(both.out)).toMatchObject({
      format: 'edgeplan.replay/v1',
      other_domains: 0,
      compared: 11,
      changed: 1,
      groups: [{ lines: 1, requests: 100, now: expect.stringContaining('block 403 by drop/9') }],
    });
    const input = readFileSync(join(folder, 'log.jsonl'));
    const piped = await edgeplan(['replay', '--log', '-', '-f', 'same.yaml'], { cwd: folder, input });
    expect(piped.code).toBe(0);
  });

  it('skips lines of other domains and unreadable ones, and reports their number', async () => {
    const good = readFileSync(join(folder, 'log.jsonl'), 'utf8').split('\n')[0]!;
    const other = JSON.stringify({ ...JSON.parse(good), domain: 'other.test' });
    const gap = JSON.stringify({ format: 'edgeplan.gap/v1', time: '2026-01-31T12:00:00.000Z', dropped: 17 });
    const wrong = JSON.stringify({ ...JSON.parse(good), request: { contry: 'DE' } });
    const lines = [good, '', other, gap, '{"torn":', wrong, '[]', '{"format":"x"}', good.slice(0, 40)];
    writeFileSync(join(folder, 'odd.jsonl'), lines.join('\n'));
    const { code, out, err } = await run('replay', '--log', 'odd.jsonl', '-f', 'same.yaml');
    expect({ code, out }).toEqual({
      // Most lines cannot be read.
      code: 3,
      out: '1 decision replayed with same.yaml: none would change\n',
    });
    expect(err).toContain('1 line of other domains skipped');
    expect(err).toContain('17 lines are missing');
    expect(err).toContain('5 lines could not be read; the first: odd.jsonl:5: the line is not JSON');
  });

  it.each([
    [['--log', 'nowhere.jsonl'], 3, 'nowhere.jsonl'],
    [['--log', 'log.jsonl', '-f', 'nowhere.yaml'], 3, 'nowhere.yaml'],
    [['--log', '-', '-f', '-'], 2, 'cannot both be stdin'],
    [[], 2, '--log'],
    [['--log', 'log.jsonl', '-f', 'other.yaml'], 3, 'no line is of `other.test`; 10 are of other domains'],
    [['--log', 'same.yaml'], 3, 'the format of `same.yaml` is none of those known'],
    [['--log', 'same.yaml', '--format', 'decision'], 3, 'no line could be read as a decision'],
    [['--log', '/dev/null'], 3, 'the log holds no line'],
    [['--log', '/dev/null', '--format', 'decision'], 3, 'the log holds no decision'],
  ])('%j ends with %d', async (args, code, sentence) => {
    save('other.yaml', [], 'other.test');
    const given = args.includes('-f') ? args : [...args, '-f', 'same.yaml'];
    const result = await run('replay', ...given);
    expect(result.code).toBe(code);
    expect(result.err).toContain(sentence);
    expect(result.out).toBe('');
  });
});

describe('explain', () => {
  it('prints the log line, and which option explains the rules', async () => {
    const { code, out, err } = await run('explain', blocked.id.toUpperCase(), '--log', 'log.jsonl');
    expect(code).toBe(0);
    expect(out).toContain(`${blocked.id}  2026-01-31T12:00:00.000Z\n`);
    expect(out).toContain('GET https://example.com/admin/users?token=REDACTED\nfrom 203.0.113.7\n');
    expect(out).toContain('block 403 by drop/1; the visitor got 403\n  drop/1 (enforce): block\n');
    expect(out).toContain(`by example.com, revision 7, plan sha256:${subject.digest}\n`);
    expect(out).toContain('not in the log, or not whole: target, cookie\n');
    expect(err).toContain('--file edge.yaml');
  });

  it('explains every rule by the same plan', async () => {
    const { code, out } = await run('explain', blocked.id, '--log', 'log.jsonl', '-f', 'same.yaml');
    expect(code).toBe(0);
    expect(out).toContain('\nthe same plan as then; by same.yaml:\n');
    expect(out).toContain('✘ BLOCK  403');
    expect(out).toContain('1 matched');
    // One plan has one digest, and only options of this command are offered.
    const digests = new Set([...out.matchAll(/sha256:[0-9a-f]{7}/g)].map(String));
    expect([...digests]).toEqual([`sha256:${subject.digest.slice(0, 7)}`]);
    expect(out).not.toMatch(/--why|--as-test/);
    expect(out.trimEnd()).toMatch(/1 matched.* · --json$/);
  });

  it('inspects as the node does, with the chosen signatures', async () => {
    const rules = [{ id: 5, type: 'waf', path_includes: ['/*'] }];
    const guarded = journalSubject({ domain: DOMAIN, records: RECORDS, rules });
    const attack = guarded.entry({ target: '/?id=1%27+union+select+password+from+users' });
    await writeLog('attack.jsonl', [attack]);
    const asked = ['explain', attack.id, '--log', 'attack.jsonl', '-f', save('guarded.yaml', rules)];
    expect((await run(...asked)).out).toContain('anomaly score 5 reaches threshold 5: 11300');
    expect((await run(...asked, '--signatures', 'none')).out).toContain('no signatures are loaded');
  });

  it('notes when the same plan decides otherwise because the log lacks an input', async () => {
    const { code, out, err } = await run('explain', entries[7]!.id, '--log', 'log.jsonl', '-f', 'same.yaml');
    expect(code).toBe(0);
    expect(out).toContain('block 429 by rate_limit/3');
    expect(out).toContain('✔ FORWARD');
    expect(err).toContain('the logged decision differs; rate counters');
    const same = await run('explain', blocked.id, '--log', 'log.jsonl', '-f', 'same.yaml');
    expect(same.err).toBe('');
  });

  it('notes when the rules are not the plan that decided', async () => {
    const file = save('later.yaml', [{ id: 8, type: 'drop', path_includes: ['/else'] }]);
    const { code, out } = await run('explain', blocked.id, '--log', 'log.jsonl', '-f', file);
    expect(code).toBe(0);
    expect(out).toContain(
      'these rules are not the plan that decided then (revision 7); what later.yaml would decide:',
    );
    expect(out).toContain('✔ FORWARD');
  });

  it('prints the line and the trace as JSON', async () => {
    const { out } = await run('explain', blocked.id, '--log', 'log.jsonl', '-f', 'same.yaml', '--json');
    expect(JSON.parse(out)).toMatchObject({
      format: 'edgeplan.explanation/v1',
      line: { id: blocked.id },
      same_plan: true,
      trace: { format: 'edgeplan.trace/v1', decision: { action: 'block' } },
    });
  });

  it('explains a request that was refused before the domain was known', async () => {
    const lost: RequestLogEntry = { ...blocked, id: '0b', exchange: null, status: 421 };
    await writeLog('lost.jsonl', [lost]);
    const { code, out } = await run('explain', '0b', '--log', 'lost.jsonl', '-f', 'same.yaml');
    expect(code).toBe(0);
    expect(out).toContain(
      'refused with 421 before any rule was evaluated: the host is served by no plan here',
    );
  });

  it('names the host of a 421 and the reason', async () => {
    const unserved = { host: 'a.test', serverName: 'b.test', reason: 'handshake' } as const;
    await writeLog('unserved.jsonl', [{ ...blocked, id: '0c', exchange: null, status: 421, unserved }]);
    const { out } = await run('explain', '0c', '--log', 'unserved.jsonl');
    expect(out).toContain('the host is `a.test`, and the TLS connection was opened for `b.test`');
  });

  it('prints the meaning and the remedy of a fault, and attributes its status to the edge', async () => {
    const failed = subject.entry({ target: '/plain' }, { id: '0d', status: 502, fault: 'forbidden' });
    await writeLog('failed.jsonl', [failed]);
    const { out } = await run('explain', '0d', '--log', 'failed.jsonl', '-f', 'same.yaml');
    expect(out).toMatch(
      /^fault: forbidden: the origin's address is loopback.*\n {2}= start the node with `--allow-origins`/m,
    );
    expect(out).not.toContain('from the origin');
  });

  it('exits with 1 for an unknown id, and prints the searched period', async () => {
    const { code, out, err } = await run('explain', 'no-such-id', '--log', 'log.jsonl');
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('there is no decision `no-such-id` in the log (10 decisions, 2026-01-31T');
    expect(err).toContain('of plain answers only a sample is logged');
  });

  it('refuses rules of another domain', async () => {
    const file = save('other.yaml', [], 'other.test');
    const { code, err } = await run('explain', blocked.id, '--log', 'log.jsonl', '-f', file);
    expect(code).toBe(3);
    expect(err).toContain('the decision is of `example.com`, and these rules are of `other.test`');
  });
});
