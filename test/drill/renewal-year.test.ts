/** Certificates over a simulated year with bad days: no name without one, none issued twice, and no limit of a CA exceeded. */
import { afterEach, describe, expect, test } from 'vitest';
import { requestCertificate } from '../../src/control/certificates/issuance/request.ts';
import { testDatabases } from '../support/databases.ts';
import { type IssuanceRig, openIssuance } from '../support/issuance-rig.ts';
import {
  addName,
  addSimulated,
  deleteSimulated,
  type Episode,
  type Event,
  openYear,
  runYear,
  setSuspended,
  type Year,
} from '../support/renewal-year.ts';
import { T } from '../support/sample-rows.ts';
import { FULL, sizeOf } from '../support/size.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const DOMAINS = sizeOf('EDGEPLAN_RENEWAL_DOMAINS', { usual: 10, full: 100 });

/** Names by kind of domain; the last two with a zone. */
const KINDS = [
  { names: ['@'], zone: false },
  { names: ['@', 'www'], zone: false },
  { names: ['@', 'www', 'blog', 'shop', 'api'], zone: false },
  { names: ['@', 'www', 'api', 'a.b'], zone: true },
  { names: ['www', 'mail'], zone: true },
] as const;

/** The day of the mass revocation. */
const REVOKED = 200;

const no = { at: 'validation', detail: 'connection refused' } as const;
const BLOG_REFUSED: Episode['faults'] = { refuse: (name) => (name.startsWith('blog.') ? no : null) };
const isWindow = (endpoint: string): boolean => endpoint === 'renewalInfo';

/** Every seventh answer to what changes something. */
function everySeventh(): (endpoint: string) => boolean {
  let count = 0;
  return (endpoint) =>
    /^(newOrder|finalize|challenge|certificate|order)$/.test(endpoint) && ++count % 7 === 0;
}

/** Renewals are due on every one of these days, since domains are added on different days. */
const BAD_DAYS: readonly Episode[] = [
  { what: 'the CA is down', from: 62, days: 3, faults: { down: true } },
  {
    what: 'one name of five is refused for a month',
    ...{ from: 65, days: 31 },
    faults: BLOG_REFUSED,
  },
  { what: 'slow', from: 104, days: 1, faults: { slowMs: 20 } },
  {
    what: 'limits',
    ...{ from: 106, days: 1 },
    stepMinutes: 30,
    faults: { rateLimit: { left: 12, retryAfter: 7_200 } },
  },
  { what: 'nonces are rejected', from: 122, days: 3, faults: { rejectNonces: 0.3 } },
  { what: 'answers are lost', from: 126, days: 2, faults: { loseAnswers: everySeventh() }, stepMinutes: 60 },
  { what: 'errors', from: 129, days: 2, faults: { serverError: 0.15 }, stepMinutes: 60 },
  { what: 'a clock is a day ahead', from: 132, days: 1, ahead: 1 },
  { what: 'a clock is a day behind', from: 136, days: 1, ahead: -1 },
  {
    what: 'many are revoked',
    ...{ from: REVOKED, days: 30 },
    faults: {
      renewalWindow: ({ at }) =>
        at < T + REVOKED * DAY ? { start: T + (REVOKED - 1) * DAY, end: T + REVOKED * DAY } : null,
    },
  },
  {
    what: 'no renewal windows are answered',
    ...{ from: 255, days: 35 },
    faults: { loseAnswers: isWindow },
  },
  {
    what: 'nothing of a zone can be proved',
    ...{ from: 310, days: 20 },
    faults: { refuse: (name) => (/^d[38]\./.test(name) ? no : null) },
  },
];

/** Additions, on days of their own, a deletion and a suspension. */
function events(count: number, over: number): readonly Event[] {
  const added = Array.from({ length: count }, (_, index): Event => {
    const kind = KINDS[index % KINDS.length]!;
    const happen = (year: Year) => addSimulated(year, { name: `d${index}.example`, ...kind });
    return { day: (index / count) * over, happen };
  });
  const grown = KINDS.map((_, index): Event => {
    return { day: 95 + index * 7, happen: (year) => addName(year, `d${index}.example`, `new${index}`) };
  });
  return [
    ...added,
    ...grown,
    { day: 150, happen: (year) => deleteSimulated(year, 'd5.example') },
    { day: 100, happen: (year) => setSuspended(year, 'd6.example', true) },
    { day: 240, happen: (year) => setSuspended(year, 'd6.example', false) },
  ];
}

/** Validations of a name that failed within an hour, at most. */
function mostFailures({ failedValidations }: IssuanceRig['ca']['records']): number {
  const counts = failedValidations.map(
    ({ name, at }) =>
      failedValidations.filter((other) => other.name === name && other.at >= at && other.at < at + HOUR)
        .length,
  );
  return Math.max(0, ...counts);
}

/** Pairs of certificates for the same names that are less than `apart` from each other, without those that were revoked. */
function tooSoon({ issued }: IssuanceRig['ca']['records'], apart: number): readonly string[] {
  const last = new Map<string, number>();
  return issued.flatMap(({ names, at }) => {
    const before = last.get(names.join());
    last.set(names.join(), at);
    if (before === undefined || at - before >= apart) return [];
    const revoked = T + REVOKED * DAY;
    if (before < revoked && at >= revoked && at < revoked + DAY) return [];
    return [`${names.join()}: ${new Date(before).toISOString()} and ${new Date(at).toISOString()}`];
  });
}

/** Names that had to wait for their first certificate longer than a day. */
function late({ simulated, covered, rig }: Year): readonly string[] {
  return [...simulated.values()].flatMap(({ names }) =>
    [...names].flatMap(([name, since]) => ((covered.get(name) ?? rig.now) - since > DAY ? [name] : [])),
  );
}

describe.each(testDatabases())('on $kind', (database) => {
  let rig: IssuanceRig;
  afterEach(() => rig?.close());

  const challenges = async ({ simulated }: Year) => {
    const found: unknown[] = [];
    for (const name of simulated.keys()) {
      found.push(...(await rig.store.latest.zones.challenges(name)));
      found.push((await rig.store.latest.plans.current(name))!.challenges);
    }
    return found.filter((one) => one !== null);
  };

  test('in a year of bad days no name is uncovered for a minute, and no limit of the CA is exceeded', async () => {
    rig = await openIssuance(database, { prompt: true });
    const year = openYear(rig);
    const script = { days: 365, stepMinutes: 6 * 60, episodes: BAD_DAYS, events: events(DOMAINS, 59) };
    await runYear(year, script);
    const { records } = rig.ca;
    expect(year.gaps).toEqual([]);
    expect(late(year)).toEqual([]);
    // One cause, one certificate: two thirds of a life apart, less what renewals are spread over and a wrong clock is ahead.
    expect(tooSoon(records, 54 * DAY)).toEqual([]);
    for (const name of year.covered.keys()) {
      const count = records.issued.filter(({ names }) => names.includes(name)).length;
      expect(count, name).toBeLessThanOrEqual(Math.ceil(365 / 60) + 2);
    }
    expect(records.issued.filter(({ replaces }) => replaces !== null).length).toBeGreaterThan(DOMAINS * 4);
    const refused = [...year.refused.keys()];
    expect(refused.filter((name) => name.startsWith('blog.')).length).toBeGreaterThan(0);
    expect(refused).toEqual(expect.arrayContaining(['d3.example', 'd8.example']));
    expect(mostFailures(records)).toBeLessThan(5);
    const at = (name: string) =>
      records.issued.filter(({ names }) => names.includes(name)).map((one) => (one.at - T) / DAY);
    expect(at('d5.example').filter((day) => day > 150)).toEqual([]);
    expect(at('d6.example').filter((day) => day > 100 && day < 240)).toEqual([]);
    expect(records.accounts.length).toBeLessThanOrEqual(2);
    expect(await challenges(year)).toEqual([]);
  }, 1_200_000);

  test('certificates of six days have no gap either', async () => {
    rig = await openIssuance(database, { prompt: true, lifeMs: 6 * DAY });
    const year = openYear(rig);
    const episodes: readonly Episode[] = [
      { what: 'the CA is down', from: 8, days: 1, faults: { down: true } },
      { what: 'a clock is a day ahead', from: 13, days: 1, ahead: 1 },
      { what: 'one name is refused', from: 16, days: 1, faults: BLOG_REFUSED },
      { what: 'a clock is a day behind', from: 21, days: 1, ahead: -1 },
      { what: 'answers are lost', from: 25, days: 1, faults: { loseAnswers: everySeventh() } },
      { what: 'no renewal windows are answered', from: 30, days: 7, faults: { loseAnswers: isWindow } },
      {
        what: 'limits',
        ...{ from: 40, days: 1 },
        faults: { rateLimit: { left: 9, retryAfter: 14_400 } },
      },
    ];
    const days = FULL ? 365 : 45;
    const count = FULL ? 20 : 5;
    const added = events(count, 4).slice(0, count);
    await runYear(year, { days, stepMinutes: 180, episodes, events: added });
    expect(year.gaps).toEqual([]);
    expect(late(year)).toEqual([]);
    expect(tooSoon(rig.ca.records, 2.6 * DAY)).toEqual([]);
    expect(rig.ca.records.issued.length).toBeGreaterThan((count * days) / 5);
    expect(mostFailures(rig.ca.records)).toBeLessThan(5);
  }, 1_200_000);

  test('two issuers make no more orders than their account has, and everybody has a certificate in the end', async () => {
    rig = await openIssuance(database, { prompt: true });
    const orders = 4;
    const year = openYear(rig, orders);
    const count = 14;
    const episodes: readonly Episode[] = [
      { what: 'answers are lost', from: 0.1, days: 0.1, faults: { loseAnswers: everySeventh() } },
    ];
    const added = events(count, 0.2).slice(0, count);
    await runYear(year, { days: 1.2, stepMinutes: 10, episodes, events: added });
    expect(late(year)).toEqual([]);
    expect(year.covered.size).toBeGreaterThan(count);
    // As Let's Encrypt counts: so many at once, and one more in each share of the three hours.
    const times = rig.ca.records.orders.map(({ at }) => at);
    expect(times.length).toBeGreaterThanOrEqual(count);
    for (const [index, since] of times.entries())
      for (const [other, until] of times.entries())
        if (other >= index)
          expect(other - index + 1).toBeLessThanOrEqual(orders + ((until - since) * orders) / (3 * HOUR));
  }, 600_000);

  test('a domain that has lost its zone has a certificate for each name before that of the zone ends', async () => {
    rig = await openIssuance(database, { prompt: true });
    const year = openYear(rig);
    const name = 'moved.example';
    const add = (one: Year) => addSimulated(one, { name, names: ['www', 'api'], zone: true });
    const move = async () => {
      await rig.store.write(async (tx) => {
        const domain = await tx.domains.byName(name);
        await tx.domains.update(domain!.id, { dns_mode: 'external', updated_at: rig.now });
        await tx.zones.remove(name);
      });
    };
    const events: readonly Event[] = [
      { day: 0, happen: add },
      { day: 20, happen: move },
    ];
    await runYear(year, { days: 160, stepMinutes: 12 * 60, episodes: [], events });
    expect(year.gaps).toEqual([]);
    expect(rig.ca.records.issued.map(({ names }) => names)).toEqual([
      ['*.moved.example'],
      ['api.moved.example', 'www.moved.example'],
      ['api.moved.example', 'www.moved.example'],
    ]);
  });

  test('a customer who requests a refused name again and again causes fewer than five failures an hour', async () => {
    rig = await openIssuance(database, { prompt: true });
    const domain = await rig.addDomain('refused.example', { names: ['@', 'www'], zone: true });
    rig.ca.faults.refuse = () => no;
    for (let minutes = 0; minutes < 180; minutes += 1) {
      await rig.pass();
      const request = { domain, names: null, zones: true, now: rig.now };
      await rig.store.write((tx) => requestCertificate(tx, request));
      rig.now += MINUTE;
    }
    const failures = mostFailures(rig.ca.records);
    expect(failures).toBeLessThan(5);
    expect(failures).toBeGreaterThan(2);
  });

  test('after a clock that was ahead while the CA was away, orders go on at once', async () => {
    rig = await openIssuance(database, { prompt: true });
    let ahead = 365 * DAY;
    const issuer = rig.issuer({ clock: () => rig.now + ahead });
    const { id } = await rig.addDomain('one.example');
    rig.ca.faults.down = true;
    for (let passes = 0; passes < 5; passes += 1) {
      await issuer.pass();
      rig.now += 10 * MINUTE;
    }
    rig.ca.clearFaults();
    ahead = 0;
    const other = await rig.addDomain('other.example');
    await issuer.pass();
    const states = async (domain: number) =>
      (await rig.store.latest.certificates.list(domain)).map(({ status }) => status);
    expect(await states(other.id)).toEqual(['active']);
    expect(await states(id)).toEqual(['pending']);
  });
});
