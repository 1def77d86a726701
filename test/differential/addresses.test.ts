/**
 * Address filters against ipaddr.js, end to end: entries as customers write them, compiled into a sealed drop rule,
 * visitors' addresses as text. Addresses are drawn from the edges of the entries, where mistakes live.
 */
import fc from 'fast-check';
import ipaddr from 'ipaddr.js';
import { expect, test } from 'vitest';
import { parseIpEntry } from '../../src/base/addresses/ip.ts';
import { compile, seal } from '../../src/engine/compiler/index.ts';
import { loadPlan } from '../../src/engine/evaluator/index.ts';
import { loadLinear } from '../support/linear.ts';
import { request, rule, ruleSet } from '../support/sample-rules.ts';

type Family = 4 | 6;

/** What an entry covers, its ends included. */
interface Cover {
  readonly family: Family;
  readonly first: bigint;
  readonly last: bigint;
}

/** An address as the oracle sees it: its family and its value. IPv4-mapped addresses are IPv4 (semantics §1). */
interface Address {
  readonly family: Family;
  readonly value: bigint;
}

const MOST = { 4: 2n ** 32n - 1n, 6: 2n ** 128n - 1n } as const;

function numberOf(octets: readonly number[]): bigint {
  return octets.reduce((sum, octet) => sum * 256n + BigInt(octet), 0n);
}

function addressOf(text: string): Address {
  const parsed = ipaddr.process(text);
  return { family: parsed.kind() === 'ipv4' ? 4 : 6, value: numberOf(parsed.toByteArray()) };
}

function textOf({ family, value }: Address): string {
  const octets = Array.from({ length: family === 4 ? 4 : 16 }, (_, at) =>
    Number((value >> BigInt(((family === 4 ? 3 : 15) - at) * 8)) & 255n),
  );
  return ipaddr.fromByteArray(octets).toString();
}

/** By ipaddr.js alone. */
function coverOf(entry: string): Cover {
  if (entry.includes('-')) {
    const [one, other] = entry.split('-').map((text) => addressOf(text)) as [Address, Address];
    const [first, last] = one.value < other.value ? [one.value, other.value] : [other.value, one.value];
    return { family: one.family, first, last };
  }
  if (!entry.includes('/')) {
    const { family, value } = addressOf(entry);
    return { family, first: value, last: value };
  }
  const [address, length] = ipaddr.parseCIDR(entry);
  const mapped = address.kind() === 'ipv6' && (address as ipaddr.IPv6).isIPv4MappedAddress();
  const { family, value } = addressOf(address.toString());
  const bits = BigInt((family === 4 ? 32 : 128) - (mapped ? length - 96 : length));
  const first = (value >> bits) << bits;
  return { family, first, last: first + (1n << bits) - 1n };
}

const octet = fc.constantFrom(0, 1, 2, 10, 127, 128, 192, 254, 255);
const four = fc.tuple(octet, octet, octet, octet).map((octets) => octets.join('.'));
const group = fc.constantFrom(0, 0, 1, 0x2001, 0xdb8, 0x7fff, 0x8000, 0xffff);
const six = fc
  .array(group, { minLength: 8, maxLength: 8 })
  .map((groups) => ipaddr.fromByteArray(groups.flatMap((one) => [one >> 8, one & 255])).toString())
  // Those that stand for IPv4 are written by `mapped`: a range from one to another that does not is refused.
  .filter((text) => addressOf(text).family === 6);
const mapped = four.map((text) => `::ffff:${text}`);

const entry = fc.oneof(
  four,
  six,
  mapped,
  fc.tuple(four, fc.nat(32)).map(([text, length]) => `${text}/${length}`),
  fc.tuple(six, fc.nat(128)).map(([text, length]) => `${text}/${length}`),
  fc.tuple(mapped, fc.nat(32)).map(([text, length]) => `${text}/${length + 96}`),
  fc.tuple(four, four).map(([one, other]) => `${one}-${other}`),
  fc.tuple(six, six).map(([one, other]) => `${one}-${other}`),
  fc.tuple(mapped, four).map(([one, other]) => `${one}-${other}`),
);

/** The addresses at and beside the edges of what an entry covers. */
function edges({ family, first, last }: Cover): readonly string[] {
  const values = [first - 1n, first, (first + last) / 2n, last, last + 1n];
  const inside = values.filter((value) => value >= 0n && value <= MOST[family]);
  return inside.flatMap((value) => {
    const plain = textOf({ family, value });
    return family === 4 ? [plain, `::FFFF:${plain}`] : [plain.toUpperCase()];
  });
}

function covers(list: readonly Cover[], { family, value }: Address): boolean {
  return list.some((one) => one.family === family && one.first <= value && value <= one.last);
}

/** The entry as the model would store it. */
function stored(text: string): string {
  const parsed = parseIpEntry(text);
  if (!parsed.ok) throw new Error(`${text}: ${parsed.reason}`);
  return parsed.canonical;
}

/** One list a rule; the rules differ in path, so that each can be asked alone. */
const lists = fc.record({
  rules: fc.array(
    fc.record({ entries: fc.array(entry, { minLength: 1, maxLength: 5 }), exclude: fc.boolean() }),
    { minLength: 1, maxLength: 4 },
  ),
  others: fc.array(fc.oneof(four, six, mapped), { maxLength: 4 }),
});

test('drop rules hold the addresses that ipaddr.js finds in their entries', () => {
  let inside = 0;
  let outside = 0;
  fc.assert(
    fc.property(lists, ({ rules, others }) => {
      const compiled = rules.map(({ entries, exclude }, index) =>
        rule('drop', index + 1, {
          path_includes: [`/${index}`, '/all'],
          ip_match_type: exclude ? 'exclude' : 'include',
          ips: entries.map(stored),
        }),
      );
      const { plan } = compile(ruleSet({ rules: compiled }));
      const evaluators = [loadPlan(seal(plan)), loadLinear(plan)];
      const listed = rules.map(({ entries, exclude }) => ({ list: entries.map(coverOf), exclude }));
      const visitors = [...others, ...listed.flatMap(({ list }) => list.flatMap(edges))];
      for (const ip of visitors) {
        const address = addressOf(ip);
        const expected = listed.map(({ list, exclude }) => covers(list, address) !== exclude);
        for (const [index, drops] of [...expected, expected.includes(true)].entries()) {
          const target = index < rules.length ? `/${index}` : '/all';
          if (drops) inside++;
          else outside++;
          for (const evaluator of evaluators) {
            const { action } = evaluator.evaluate(request({ target, ip }));
            if ((action === 'block') !== drops) throw new Error(`${ip} at ${target}: ${action}`);
          }
        }
      }
    }),
    { numRuns: 200 },
  );
  expect(inside).toBeGreaterThan(2_000);
  expect(outside).toBeGreaterThan(2_000);
});

test('an entry that covers a whole family ends where the family ends', () => {
  const last = 'ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff';
  for (const whole of ['0.0.0.0/0', '::/0', '255.255.255.255', last]) {
    const rules = [rule('drop', 1, { ips: [whole] })];
    const evaluator = loadPlan(seal(compile(ruleSet({ rules })).plan));
    for (const ip of ['0.0.0.0', '255.255.255.255', '::', last, '8.8.8.8']) {
      const expected = covers([coverOf(whole)], addressOf(ip)) ? 'block' : 'forward';
      expect(evaluator.evaluate(request({ ip })).action, `${ip} in ${whole}`).toBe(expected);
    }
  }
});

test('under exclude a visitor whose address is unknown is dropped, under include never', () => {
  for (const ip_match_type of ['include', 'exclude'] as const) {
    const rules = [rule('drop', 1, { ip_match_type, ips: ['0.0.0.0/0', '::/0'] })];
    const evaluator = loadPlan(seal(compile(ruleSet({ rules })).plan));
    for (const ip of [null, undefined, '', '010.0.0.1', '1', '0x7f.1', '::1%eth0', '[::1]', '1.2.3.4:80']) {
      const expected = ip_match_type === 'exclude' ? 'block' : 'forward';
      expect(evaluator.evaluate(request({ ip })).action, `${ip}`).toBe(expected);
    }
  }
});
