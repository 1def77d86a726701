/** Sets of the greatest size that an honest reading of the limits allows compile in seconds, not minutes. */
import { expect, test } from 'vitest';
import { compile } from '../../../../src/engine/compiler/index.ts';
import { META, SLOT } from '../../../../src/engine/plan/layout.ts';
import { candidateReader } from '../../../support/candidates.ts';
import { dnsRecord, request, rule, ruleSet } from '../../../support/sample-rules.ts';

const COUNT = 10_000;

// With a look at every record for each rule this takes most of a minute.
test('as many scoped rules as records compile in proportionate size', () => {
  const records = Array.from({ length: COUNT }, (_, at) => dnsRecord(at + 1, `h${at}`));
  const rules = records.map(({ id }) => rule('captcha', id, { record_ids: [id, COUNT + 1 - id] }));
  const { plan } = compile(ruleSet({ records, rules }));
  const read = candidateReader(plan);
  const gathered = read(request({ host: 'h41.example.com' }))!;
  const ids = gathered.matching.map((slot) => plan.slots[slot * SLOT.size + SLOT.id]);
  expect(ids).toEqual([42, COUNT - 41]);
  expect(gathered.slots).toEqual(gathered.matching);
});

test('nested addresses compile in proportionate size', () => {
  const quad = (value: number): string => `10.0.${value >> 8}.${value & 255}`;
  const rules = Array.from({ length: COUNT }, (_, at) =>
    rule('drop', at + 1, { ips: [`${quad(at)}-${quad(3 * COUNT - at)}`] }),
  );
  const { plan } = compile(ruleSet({ rules }));
  const read = candidateReader(plan);
  const gathered = read(request({ ip: quad(2 * COUNT + 5) }))!;
  expect(gathered.matching.length).toBe(COUNT - 4);
  expect(read(request({ ip: '192.0.2.1' }))!.matching).toEqual([]);
  expect(plan.meta[META.always]).not.toBe(0xffffffff);
});
