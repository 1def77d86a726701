/** Lines of workers are collected whole, wherever the pipe splits them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { createLineWriter, type LineWriter } from '../../../../src/edge/proxy/log/line-writer.ts';
import { collectLines } from '../../../../src/edge/workers/start-program.ts';

let folder: string;
let file: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'edgeplan-collect-'));
  file = join(folder, 'log');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function open(maxWaiting?: number): LineWriter {
  const gap = (dropped: number): string => `${dropped} missing`;
  const more = maxWaiting === undefined ? {} : { maxWaiting };
  return createLineWriter({ file, gap, onFault: (error) => expect.unreachable(String(error)), ...more });
}

test('lines are collected whole when the pipe splits them, also within a character', async () => {
  const log = open();
  const [first, second] = [new PassThrough(), new PassThrough()];
  const both = Promise.all([collectLines(first, log), collectLines(second, log)]);
  const octets = Buffer.from('eins ü\nzwei\n');
  first.write(octets.subarray(0, 6));
  second.write('three');
  first.write(octets.subarray(6, 10));
  second.end('\n');
  first.end(octets.subarray(10));
  await both;
  await log.close();
  expect(readFileSync(file, 'utf8').trim().split('\n').sort()).toEqual(['eins ü', 'three', 'zwei']);
});

test('an unfinished last line is dropped and counted as missing', async () => {
  const log = open();
  const from = new PassThrough();
  from.end('whole\nhal');
  await collectLines(from, log);
  await log.close();
  expect(readFileSync(file, 'utf8')).toBe('whole\n1 missing\n');
});

test('no line is read or lost while the log is full', async () => {
  const log = open(64);
  const from = new PassThrough();
  const lines = Array.from({ length: 40 }, (_, at) => `line ${at} of many`);
  from.end(`${lines.join('\n')}\n`);
  await collectLines(from, log);
  await log.close();
  expect(readFileSync(file, 'utf8').trim().split('\n')).toEqual(lines);
});
