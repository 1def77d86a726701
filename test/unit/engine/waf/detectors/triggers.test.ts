/** The texts by which the literal index excludes values exclude none that a detector reports. */
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { DETECTORS } from '../../../../../src/engine/waf/detectors/detectors.ts';
import { urlDecodeDeep } from '../../../../../src/engine/waf/transformations/percent-encoding.ts';
import { detectorStrings } from '../../../../support/detector-strings.ts';
import { seeded } from '../../../../support/generate-random.ts';
import { attackTraffic } from '../../../../support/traffic/attacks.ts';

const WRITTEN = new URL('../../../../../fixtures/waf/attacks-open.jsonl', import.meta.url);

/** Values of attacks: the open half, the strings of fixtures, the targets and bodies of the attack traffic. */
function attackValues(): readonly string[] {
  const open = readFileSync(WRITTEN, 'utf8')
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => Buffer.from((JSON.parse(line) as { value: string }).value, 'utf8').toString('latin1'));
  const strings = (['sqli', 'xss', 'ordinary'] as const).flatMap((file) =>
    detectorStrings(file).map(({ value }) => value),
  );
  const sent = attackTraffic().flatMap(({ request: { target, body } }) =>
    typeof body === 'string' ? [target, body] : [target],
  );
  return [...new Set([...open, ...strings, ...sent, ...sent.map(urlDecodeDeep)])];
}

const attacks = attackValues();
const random = seeded(11);

/** Beginnings of one attack before ends of another: what has one trigger less. */
const mixed = random.times(20_000, () => {
  const head = random.pick(attacks);
  const tail = random.pick(attacks);
  return head.slice(random.int(head.length + 1)) + tail.slice(0, random.int(tail.length + 1));
});

const triggered = Object.entries(DETECTORS).filter(([, { triggers }]) => triggers !== undefined);

describe.each(triggered)('%s', (_, { find, triggers = [] }) => {
  test('reports no value without one of its triggers', () => {
    const missed = [...attacks, ...mixed].filter((value) => {
      const lower = value.replace(/[A-Z]+/g, (letters) => letters.toLowerCase());
      return !triggers.some((trigger) => lower.includes(trigger)) && find(value) !== null;
    });
    expect(missed).toEqual([]);
  });

  test('declares triggers in lower case, none of them empty', () => {
    expect(triggers.filter((trigger) => trigger === '' || /[A-Z]/.test(trigger))).toEqual([]);
  });
});
