/** Two records of one name are found whichever way the name is written, and however many there are. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Candidate, neighboursOf, spellingsOf } from '../../../../../src/control/api/records/write.ts';
import { absoluteName } from '../../../../../src/rules/model/record-name.ts';

const DOMAIN = 'shop.example';
const LABELS = ['www', 'a', 'A', '*', 'shop', 'example', 'shop.example', 'SHOP.example', '@', 'x-1'];
const name = fc
  .tuple(fc.array(fc.constantFrom(...LABELS), { minLength: 1, maxLength: 3 }), fc.constantFrom('', '.'))
  .map(([labels, dot]) => labels.join('.') + dot);

test('every ASCII spelling of a record name is among its spellings', () => {
  fc.assert(
    fc.property(name, name, (one, other) => {
      const same = absoluteName(one, DOMAIN) ?? one;
      fc.pre(same === (absoluteName(other, DOMAIN) ?? other));
      expect(spellingsOf(DOMAIN, [one])).toContain(other.toLowerCase());
    }),
    { numRuns: 2_000 },
  );
});

test('the apex, a relative and an absolute name have the listed spellings', () => {
  expect(spellingsOf(DOMAIN, ['@'])).toEqual(['shop.example', 'shop.example.', '@']);
  expect(spellingsOf(DOMAIN, ['WWW'])).toEqual(['www.shop.example', 'www.shop.example.', 'www']);
  expect(spellingsOf(DOMAIN, ['www.shop.example.'])).toEqual(spellingsOf(DOMAIN, ['www']));
});

const A: Candidate = {
  name: 'a',
  type: 'A',
  destination: '192.0.2.1',
  mx_priority: null,
  proxied: false,
  captcha: false,
  scheme: 'Default',
  port: null,
  host_header: '',
  monitor: false,
  timeout: null,
  comment: '',
};

/** What `judge` says, by looking at every record there is. */
function judgeOneByOne(record: Candidate, there: readonly Candidate[]): string | null {
  const nameOf = ({ name: written }: Candidate): string => absoluteName(written, DOMAIN) ?? written;
  const dataOf = ({ type, destination, mx_priority }: Candidate): string =>
    `${type} ${destination} ${type === 'MX' ? mx_priority : ''}`;
  const isBareAlias = ({ type, proxied }: Candidate): boolean => type === 'CNAME' && !proxied;
  const others = there.filter(
    (other) => nameOf(other) === nameOf(record) && (record.id === undefined || other.id !== record.id),
  );
  if (others.some((other) => dataOf(other) === dataOf(record))) return 'the same';
  if (isBareAlias(record) && nameOf(record) === DOMAIN) return 'at the apex';
  return others.length > 0 && [record, ...others].some(isBareAlias) ? 'stand alone' : null;
}

const SENTENCES = {
  'the same': /^the same record/,
  'at the apex': /the apex/,
  'stand alone': /the only record/,
};

const candidate: fc.Arbitrary<Candidate> = fc
  .record({
    id: fc.option(fc.integer({ min: 1, max: 4 }), { nil: undefined }),
    name: fc.constantFrom('a', 'A.shop.example.', '@', 'b'),
    type: fc.constantFrom('A', 'CNAME', 'MX'),
    destination: fc.constantFrom('x', 'y'),
    mx_priority: fc.constantFrom(null, 5),
    proxied: fc.boolean(),
  })
  .map(({ id, ...fields }) => ({ ...A, ...fields, ...(id === undefined ? {} : { id }) }) as Candidate);

test('a check by counts gives the result of a comparison with each record', () => {
  fc.assert(
    fc.property(fc.array(candidate, { maxLength: 12 }), (records) => {
      const neighbours = neighboursOf(DOMAIN, []);
      let there: Candidate[] = [];
      for (const record of records) {
        const wanted = judgeOneByOne(record, there) as keyof typeof SENTENCES | null;
        const told = neighbours.judge(record);
        if (wanted === null) expect(told).toBeNull();
        else expect(told).toMatch(SENTENCES[wanted]);
        if (told !== null) continue;
        neighbours.put(record);
        there = there.filter(({ id }) => id === undefined || id !== record.id);
        there.push(record);
      }
    }),
    { numRuns: 2_000 },
  );
});

test('a check among thousands of records of one name reads each a few times at most', () => {
  let reads = 0;
  const count = 2_000;
  const records = Array.from({ length: count }, (_, index) => ({
    ...A,
    get destination() {
      reads++;
      return `10.0.${index >> 8}.${index & 255}`;
    },
  }));
  const neighbours = neighboursOf(DOMAIN, []);
  for (const record of records) {
    expect(neighbours.judge(record)).toBeNull();
    neighbours.put(record);
  }
  expect(reads).toBeLessThanOrEqual(4 * count);
});
