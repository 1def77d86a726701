import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { loadPlan } from '../../../../src/engine/evaluator/index.ts';
import { seal } from '../../../../src/engine/plan/seal.ts';
import { parseRuleSet } from '../../../../src/rules/model/parse.ts';
import { decisionDocument } from '../../../../src/workbench/simulation/decision-document.ts';
import {
  answerJson,
  answers,
  LONGEST_LINE,
  type RequestResult,
} from '../../../../src/workbench/simulation/requests.ts';

const parsed = parseRuleSet({
  domain: { name: 'example.com', status: 'active' },
  records: [{ id: 1, name: '@', type: 'A', destination: '192.0.2.1', proxied: true }],
  rules: [
    { id: 1, type: 'rate_limit', limit: 1, window_sec: 60, path_includes: ['/limited'] },
    { id: 2, type: 'rate_limit', limit: 1, path_includes: ['/login'], count_statuses: [401] },
  ],
});
if (!parsed.ok) throw new Error(JSON.stringify(parsed.diagnostics));
const bytes = seal(compile(parsed.ruleSet).plan);
const evaluator = () => loadPlan(bytes, { clock: () => 0, random: () => 0 });

const GOOD = JSON.stringify({ scheme: 'https', method: 'GET', host: 'example.com', target: '/', now: 0 });
const LIMITED = JSON.stringify({
  scheme: 'https',
  method: 'GET',
  host: 'example.com',
  target: '/limited',
  now: 0,
});

async function* chunked(chunks: readonly Uint8Array[]): AsyncGenerator<Uint8Array> {
  for (const chunk of chunks) yield chunk;
}

async function all(input: string | Uint8Array, size = 1024): Promise<readonly RequestResult[]> {
  const octets = typeof input === 'string' ? new TextEncoder().encode(input) : input;
  const chunks: Uint8Array[] = [];
  for (let at = 0; at < octets.length; at += size) chunks.push(octets.subarray(at, at + size));
  const found: RequestResult[] = [];
  for await (const batch of answers(chunked(chunks), evaluator())) found.push(...batch);
  return found;
}

const summary = (found: readonly RequestResult[]) =>
  found.map((one) => ('error' in one ? `${one.line} ${one.error}` : `${one.line} ${one.decision.action}`));

describe('a stream of requests', () => {
  it('is answered line by line, in order, by one evaluator', async () => {
    const found = await all(`${GOOD}\n${LIMITED}\n${LIMITED}\n`);
    expect(summary(found)).toEqual(['1 forward', '2 forward', '3 block']);
  });

  it('counts the status of a line, and no forwarded request without one', async () => {
    const login = (status?: unknown): string =>
      JSON.stringify({
        scheme: 'https',
        method: 'GET',
        host: 'example.com',
        target: '/login',
        now: 0,
        status,
      });
    const found = await all([login(), login(200), login(null), login(401), login(401), login(99)].join('\n'));
    expect(summary(found)).toEqual([
      ...['1 forward', '2 forward', '3 forward', '4 forward', '5 block'],
      '6 `status` must be null, or the status of the response, 100 to 599, found 99',
    ]);
  });

  it('prints request and decision as JSON', async () => {
    const [first] = await all(GOOD);
    expect(JSON.parse(answerJson(first!))).toEqual({
      format: 'edgeplan.simulation/v1',
      line: 1,
      request: 'GET https://example.com/',
      decision: decisionDocument(evaluator().evaluate(JSON.parse(GOOD))),
    });
  });

  it('answers a malformed line with an error and continues', async () => {
    const found = await all(`{"host"\n[1]\nnull\n"x"\n${GOOD}\n{}\n`);
    expect(summary(found)).toEqual([
      '1 the line is not JSON; write one request as a JSON object on each line',
      '2 the line is JSON but not an object; write one request as a JSON object on each line',
      '3 the line is JSON but not an object; write one request as a JSON object on each line',
      '4 the line is JSON but not an object; write one request as a JSON object on each line',
      '5 forward',
      '6 refuse',
    ]);
    expect(answerJson(found[0]!)).toBe(
      '{"format":"edgeplan.simulation/v1","line":1,"error":"the line is not JSON; write one request as a JSON object on each line"}',
    );
  });

  it('names the field that is unknown or has a wrong type', async () => {
    const lines = [
      { contry: 'DE' },
      { colour: 'red' },
      { ip: 5 },
      { host: ['a', 1] },
      { headers: { 'user-agent': 5 } },
      { bot: 'gptbot' },
      { bot: { kind: 'gptbot', verifed: true } },
      { now: '2026-01-01' },
      { cleared: 'captcha/9' },
      { asn: 'AS64496' },
      { asn: 0 },
      { scheme: null },
      { ip: 'none', country: null, asn: null, bot: null, ja4: null, headers: { a: ['b'] }, cleared: [] },
    ];
    const found = await all(lines.map((line) => JSON.stringify(line)).join('\n'));
    expect(summary(found)).toEqual([
      '1 `contry` is not a field of a request; did you mean `country`?',
      '2 `colour` is not a field of a request; the fields are scheme, method, id, host, target, protocol, port, headers, ip, country, asn, bot, ja4, ja4h, body, bodyError, bodyTruncated, now, cleared, identity',
      '3 `ip` must be text or null, found 5',
      '4 `host` must be text, or a list of texts, found a list of 2 entries',
      '5 `headers` must be an object of lower-case names, each with a text or a list of texts, found an object',
      '6 `bot` must be null, or an object like {"kind":"gptbot","verified":true}, found `gptbot`',
      '7 `bot` must be null, or an object like {"kind":"gptbot","verified":true}, found an object',
      '8 `now` must be milliseconds since the epoch, a number, found `2026-01-01`',
      '9 `cleared` must be a list of texts such as ["captcha/9"], found `captcha/9`',
      '10 `asn` must be null, or the number of an autonomous system, 1 to 4294967295, found `AS64496`',
      '11 `asn` must be null, or the number of an autonomous system, 1 to 4294967295, found 0',
      '12 `scheme` must be text, found null',
      '13 refuse',
    ]);
  });

  it('reports a line that is not UTF-8 or too long', async () => {
    const bad = new Uint8Array([...new TextEncoder().encode('{"a":"'), 0xff, 0x22, 0x7d, 0x0a]);
    expect(summary(await all(bad))).toEqual(['1 the line is not UTF-8']);
    const long = `${' '.repeat(LONGEST_LINE + 1)}\n${GOOD}`;
    expect(summary(await all(long, 1 << 20))).toEqual([
      `1 the line is longer than 8 MiB (${LONGEST_LINE} octets)`,
      '2 forward',
    ]);
  });

  it('accepts CRLF, a byte order mark, blank lines and a last line without a newline', async () => {
    const found = await all(`\ufeff${GOOD}\r\n\r\n\n${GOOD}`);
    expect(summary(found)).toEqual(['1 forward', '4 forward']);
  });

  it('does not depend on where the chunks end', async () => {
    const line = fc.constantFrom(GOOD, LIMITED, '{', '', '{"host":"exämple.com","target":"/日本"}');
    await fc.assert(
      fc.asyncProperty(
        fc.array(line, { maxLength: 8 }),
        fc.integer({ min: 1, max: 50 }),
        async (lines, size) => {
          const text = lines.join('\n');
          expect(await all(text, size)).toEqual(await all(text, 1 << 20));
        },
      ),
      { numRuns: 50 },
    );
  });
});
