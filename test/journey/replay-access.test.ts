/** `edgeplan replay` over access logs: one plan, two, several logs, and what goes wrong. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createDecisionLog } from '../../src/edge/proxy/log/decision-log.ts';
import { builtCli, edgeplan, type Run } from '../support/built.ts';
import { DOMAIN, journalSubject } from '../support/edge-journal.ts';
import { writeMmdb } from '../support/mmdb.ts';

const folder = mkdtempSync(join(tmpdir(), 'edgeplan-access-'));
const RECORDS = [{ name: '@', type: 'A', destination: '192.0.2.1', proxied: true }];
const RULES = [
  { key: 'admin', type: 'drop', path_includes: ['/admin*'] },
  { key: 'git', type: 'drop', path_includes: ['*/.git/*'], action_mode: 'dry_run' },
  { key: 'rate', type: 'rate_limit', limit: 3, window_sec: 60, path_includes: ['/login'] },
  { key: 'kp', type: 'drop', countries: ['KP'] },
];

function save(name: string, text: string | Uint8Array): string {
  writeFileSync(join(folder, name), text);
  return name;
}

/** JSON is YAML. */
function edge(name: string, rules: readonly object[], records: readonly object[] = RECORDS): string {
  return save(name, JSON.stringify({ domain: 'example.com', records, rules }));
}

/** A line of the combined format; `second`: of 13:55. */
function line(second: number, request: string, { ip = '203.0.113.7', status = 200 } = {}): string {
  const time = `10/Oct/2025:13:55:${String(second).padStart(2, '0')} +0000`;
  return `${ip} - - [${time}] "${request}" ${status} 2326 "-" "Mozilla/5.0 (X11; Linux x86_64) Gecko/1 Firefox/1"\n`;
}

const LINES = [
  line(1, 'GET / HTTP/1.1'),
  line(2, 'GET /admin?token=S3CRET HTTP/1.1'),
  line(2, 'GET /a/.git/config HTTP/1.1', { status: 404 }),
  ...[3, 4, 5, 6].map((second) => line(second, 'POST /login HTTP/1.1')),
  line(7, String.raw`\x16\x03\x01\x02`, { status: 400 }),
  'garbage\n',
  line(8, 'GET /cut').slice(0, 52),
];

function run(...args: string[]): Promise<Run> {
  return edgeplan(args, { cwd: folder });
}

beforeAll(async () => {
  await builtCli();
  edge('edge.yaml', RULES);
  edge('after.yaml', [
    { ...RULES[0], path_includes: ['/wp-admin*'] },
    { ...RULES[1], action_mode: 'enforce' },
    { ...RULES[2], limit: 2 },
    RULES[3]!,
  ]);
  save('access.log', LINES.join(''));
}, 120_000);
afterAll(() => rmSync(folder, { recursive: true }));

describe('with one rule set', () => {
  it('prints what the rules decide, with examples, shadows and what the log lacks', async () => {
    const { code, out, err } = await run('replay', '--log', 'access.log');
    expect(code).toBe(0);
    expect(out).toContain('7 requests replayed with edge.yaml\n');
    expect(out).toMatch(/\n {7}5 {2}forward {23}2xx 4 {2}4xx 1\n/);
    expect(out).toMatch(/\n {7}1 {2}block 403 by drop\/admin {7}2xx 1\n/);
    expect(out).toContain(
      'block 429 by rate_limit/rate\n    access.log:7  POST https://example.com/login (answered 200)\n',
    );
    expect(out).toContain('access.log:2  GET https://example.com/admin?token=REDACTED (answered 200)\n');
    expect(out).toContain('enforcing the dry_run rules would change 1 decision\n');
    expect(out).toContain(
      '  now  block 403 by drop/git\n    access.log:3  GET https://example.com/a/.git/config (answered 404)\n',
    );
    expect(out).toMatch(/host {5}7 {9}example\.com\n/);
    expect(out).toMatch(/country {2}7 {9}unknown {6}1: drop\/kp\n/);
    expect(err).toMatch(/^edgeplan: 10 lines in .* s, .* a second$/m);
    expect(err).toContain('1 line without an HTTP request skipped');
    expect(err).toContain('2 lines could not be read; the first: access.log:9: there is no time in brackets');
  });

  it('finds countries in a database', async () => {
    save('countries.mmdb', writeMmdb({ '203.0.113.0/24': { country: { iso_code: 'KP' } } }));
    const { out } = await run('replay', '--log', 'access.log', '--countries', 'countries.mmdb');
    expect(out).toContain('block 403 by drop/kp');
    expect(out).not.toMatch(/^country /m);
  });

  it('refuses a database of autonomous systems that is none', async () => {
    const { code, err } = await run('replay', '--log', 'access.log', '--asns', 'edge.yaml');
    expect([code, err]).toEqual([3, expect.stringContaining('--asns: `edge.yaml` cannot be used')]);
  });

  it('prints the report as JSON', async () => {
    const { code, out, err } = await run('replay', '--log', 'access.log', '--json');
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      format: 'edgeplan.replay/v1',
      plan: { domain: 'example.com', source: 'edge.yaml' },
      before: null,
      compared: 7,
      changed: 0,
      groups: [],
      outcomes: [
        { outcome: 'forward', lines: 5, statuses: { '2xx': 4, '4xx': 1 }, examples: [] },
        { outcome: 'block 403 by drop/admin', lines: 1 },
        {
          outcome: 'block 429 by rate_limit/rate',
          examples: [{ id: 'access.log:7', time: '2025-10-10T13:55:06.000Z', status: 200, change: null }],
        },
      ],
      shadow: { changed: 1, groups: [{ now: 'block 403 by drop/git' }] },
      other_hosts: 0,
      lines: 10,
      no_request: 1,
      late: 0,
      unreadable: { count: 2 },
      lacks: [
        { fact: 'host', requests: 7, assumed: 'example.com', rules: [] },
        { fact: 'scheme', assumed: 'https' },
        { fact: 'country', rules: ['drop/kp'] },
      ],
    });
    expect(err).not.toContain('\r');
  });

  it('reads gzip whatever the name, stdin, and a sealed plan', async () => {
    await run('compile', '-f', 'edge.yaml', '-o', 'edge.edgeplan');
    save('packed', gzipSync(LINES.join('')));
    const packed = await run('replay', '--log', 'packed', '--plan', 'edge.edgeplan');
    expect(packed.out).toContain('7 requests replayed with edge.edgeplan\n');
    const piped = await edgeplan(['replay', '--log', '-'], { cwd: folder, input: LINES.join('') });
    expect(piped.out).toContain('stdin:7  POST https://example.com/login (answered 200)\n');
  });
});

describe('with two rule sets', () => {
  it('groups decisions that flip by both decisions and their rules, and ends with 1', async () => {
    const { code, out } = await run(
      'replay',
      '--log',
      'access.log',
      '--before',
      'edge.yaml',
      '-f',
      'after.yaml',
    );
    expect(code).toBe(1);
    expect(out).toContain('7 requests replayed with edge.yaml and after.yaml: 3 decisions flip\n');
    expect(out).toContain('\n1 line\n  was  block 403 by drop/admin\n  now  forward\n    access.log:2  GET');
    expect(out).toContain('\n1 line\n  was  forward\n  now  block 403 by drop/git\n    access.log:3  GET');
    expect(out).toContain(
      '\n1 line\n  was  forward\n  now  block 429 by rate_limit/rate\n    access.log:6  POST',
    );
    expect(out).toContain('\nwith after.yaml:\n');
  });

  it('ends with 0 when no decision flips', async () => {
    const { code, out } = await run('replay', '--log', 'access.log', '--before', 'edge.yaml');
    expect(code).toBe(0);
    expect(out).toContain('7 requests replayed with edge.yaml and edge.yaml: no decision flips\n');
  });

  it('takes the requests of decision logs beside those of access logs', async () => {
    const subject = journalSubject({
      domain: DOMAIN,
      records: RECORDS.map((one) => ({ ...one, id: 1 })),
      rules: [],
    });
    const log = createDecisionLog({
      file: join(folder, 'decisions.jsonl'),
      rate: 1,
      onFault: () => undefined,
    });
    log.done(subject.entry({ target: '/admin' }));
    log.done(subject.entry({ target: '/' }));
    await log.close();
    const logs = ['--log', 'decisions.jsonl', '--log', 'access.log'];
    const both = await run('replay', ...logs, '--before', 'edge.yaml', '-f', 'after.yaml');
    expect(both.out).toContain('9 requests replayed with edge.yaml and after.yaml: 4 decisions flip\n');
    expect(both.out).toContain('decisions.jsonl:1  GET https://example.com/admin');
    const one = await run('replay', ...logs);
    expect(one.code).toBe(2);
    expect(one.err).toContain('`decisions.jsonl` is a decision log, and `access.log` is not');
    save('empty.log', '');
    const empty = await run('replay', '--log', 'empty.log', '--log', 'decisions.jsonl');
    expect(empty.out).toContain('2 decisions replayed with edge.yaml');
  });
});

describe('several logs', () => {
  it('are merged by time, so that rate limits count as they would have', async () => {
    const login = 'POST /login HTTP/1.1';
    save('one.log', [line(1, login), line(5, login), line(9, login)].join(''));
    save('two.log', [line(3, login), line(4, login)].join(''));
    const { out } = await run('replay', '--log', 'one.log', '--log', 'two.log');
    expect(out).toMatch(/\n {7}2 {2}block 429 by rate_limit\/rate/);
    expect(out).toContain(
      'block 429 by rate_limit/rate\n    one.log:2  POST https://example.com/login (answered 200)\n    one.log:3  POST',
    );
  });

  it('of several formats are merged as well', async () => {
    save('one.log', [1, 2, 3].map((second) => line(second, 'POST /login HTTP/1.1')).join(''));
    const fields = { time_iso8601: '2025-10-10T13:55:04Z', remote_addr: '203.0.113.7', host: 'example.com' };
    save('two.json', `${JSON.stringify({ ...fields, request: 'POST /login HTTP/2.0', status: 302 })}\n`);
    const { out } = await run('replay', '--log', 'two.json', '--log', 'one.log');
    expect(out).toContain('two.json:1  POST https://example.com/login (answered 302)\n');
  });

  it('that are out of order beyond the window are replayed, and the lines counted', async () => {
    const early = line(1, 'GET /admin HTTP/1.1').replace('2025', '2024');
    const many = line(2, 'GET / HTTP/1.1').repeat(70_000);
    save('late.log', many + early);
    const { out, err } = await run('replay', '--log', 'late.log');
    expect(out).toContain('late.log:70001  GET https://example.com/admin');
    expect(err).toContain('1 line is out of order of time by more than 65536 lines');
  });
});

describe('hosts', () => {
  const wide = [...RECORDS, { name: 'www', type: 'A', destination: '192.0.2.1', proxied: true }];

  it('of a log without them are named with --host when the rules serve several', async () => {
    edge('wide.yaml', RULES, wide);
    const without = await run('replay', '--log', 'access.log', '-f', 'wide.yaml');
    expect(without.code).toBe(2);
    expect(without.err).toContain(
      'the log has no hosts, and the rules serve `example.com`, `www.example.com`',
    );
    const named = await run('replay', '--log', 'access.log', '-f', 'wide.yaml', '--host', 'www.example.com');
    expect(named.out).toContain('access.log:2  GET https://www.example.com/admin');
  });

  it('that the rules do not serve are skipped and counted', async () => {
    save('hosts.log', `other.test ${LINES[0]}example.com ${LINES[0]}`);
    const { out, err } = await run('replay', '--log', 'hosts.log');
    expect(out).toContain('1 request replayed');
    expect(err).toContain('1 request to hosts that the rules do not serve skipped');
  });
});

describe('wrong inputs', () => {
  it.each([
    [['--log', 'nowhere.log'], 3, 'there is no file `nowhere.log`'],
    [['--log', '.'], 3, '`.` is a folder'],
    [['--log', 'access.log', '--log', 'access.log'], 2, 'a log is given twice'],
    [['--log', 'access.log', '--format', 'nginx'], 2, 'Allowed choices are auto, decision, combined'],
    [['--log', 'access.log', '--format', 'caddy'], 3, 'no line could be read; the first: access.log:1'],
    [['--log', 'access.log', '--host', 'a b'], 2, 'a host is written like'],
    [['--log', 'access.log', '--capture', 'host,,x'], 2, 'is not the name of a header'],
    [['--log', 'access.log', '--countries', 'edge.yaml'], 3, 'this is no database'],
    [['--log', 'access.log', '--host', 'other.test'], 3, 'no request is to a host of `example.com`'],
    [['--log', 'access.log', '--before', 'nowhere.yaml'], 3, 'there is no file `nowhere.yaml`'],
    [['--log', '-', '--before', '-'], 2, 'cannot both be stdin'],
    [['--log', 'edge.yaml'], 3, 'the format of `edge.yaml` is none of those known'],
    [['--log', 'blank.log'], 3, 'the log holds no line'],
    [['--log', 'garbage.log'], 3, 'the log holds no HTTP request'],
    [['--log', 'cut.gz'], 3, 'the gzip data of `cut.gz` cannot be inflated: it is cut short'],
    [['--log', 'access.zst'], 3, '`zstdcat access.zst | edgeplan replay --log -`'],
  ])('%j ends with %d', async (args, code, sentence) => {
    save('blank.log', '\n\n');
    save('garbage.log', LINES[7]!);
    save('cut.gz', gzipSync(LINES.join('').repeat(50)).subarray(0, 200));
    save('access.zst', new Uint8Array([0x28, 0xb5, 0x2f, 0xfd, 1, 2, 3]));
    const result = await run('replay', ...args);
    expect({ code: result.code, out: result.out }).toEqual({ code, out: '' });
    expect(result.err).toContain(sentence);
  });
});
