/** The use of gateways over real sockets and real stores: figures equal counts of the requests one by one. */
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startApi, type TestApi } from '../support/api.ts';
import { addSubject, type Subject } from '../support/api-rules-subject.ts';
import { testDatabases } from '../support/databases.ts';
import { type SentRequest, storeTraffic } from '../support/traffic-requests.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;
const AUTH = { api_key: { sources: [{ in: 'header', name: 'X-Api-Key' }] } };
const OPERATIONS = [
  { operation_id: 'listOrders', methods: ['GET'], path: '/orders' },
  { methods: ['GET', 'PUT'], path: '/orders/{id}' },
  { operation_id: 'never', methods: ['GET'], path: '/never' },
];

describe.each(testDatabases())('use of gateways on $kind', (database) => {
  let api: TestApi;
  let subject: Subject;
  let requests: readonly SentRequest[];
  let gateways: readonly number[];
  let consumers: Readonly<Record<string, number>>;

  beforeAll(async () => {
    api = await startApi(database);
    subject = await addSubject(api);
    const made = async (path: string, body: object): Promise<number> => {
      const answer = await subject.ask('POST', path, body);
      expect(answer.status, answer.text).toBe(200);
      return answer.body.id;
    };
    gateways = [
      await made('/gateways/', { base_path: '/v1', auth: AUTH, operations: OPERATIONS }),
      await made('/gateways/', { base_path: '/v2', auth: AUTH }),
    ];
    consumers = {
      acme: await made('/consumers/', { username: 'acme' }),
      beta: await made('/consumers/', { username: 'beta' }),
      idle: await made('/consumers/', { username: 'idle' }),
    };
    requests = Array.from({ length: 600 }, (_, index): SentRequest => {
      const isAdmitted = index % 5 !== 0;
      const gateway = {
        gateway: gateways[index % 3 === 0 ? 1 : 0]!,
        consumer: ['acme', 'acme', 'beta', ''][index % 4]!,
        operation: ['listOrders', 'GET /orders/{id}', 'HEAD /orders/{id}', 'PUT /orders/{id}', ''][
          index % 5
        ]!,
        ...{ isAdmitted, key: null },
      };
      return {
        at: api.now() - index * 300_000,
        status: isAdmitted ? 200 : index % 2 ? 401 : 429,
        gateway: index % 10 === 9 ? null : gateway,
      };
    });
    await storeTraffic(api.store, subject.domain.id, requests);
  });
  afterAll(() => api.close());

  test('each role reads use and discovered operations, editors alone delete a document, and strangers find nothing', async () => {
    const gateway = `/gateways/${gateways[0]}`;
    const reads = [
      `${gateway}/usage`,
      `${gateway}/operations/usage`,
      `${gateway}/operations/discovered`,
      `/consumers/${consumers['acme']}/usage`,
      '/consumers/?include=keys',
    ];
    const people = {
      viewer: await subject.member('usage-viewer', 'viewer'),
      editor: await subject.member('usage-editor', 'editor'),
      admin: await subject.member('usage-admin', 'admin'),
      stranger: await api.person(`usage-stranger-${database.kind}`),
    };
    // 404 of a gateway without a document is not that of a hidden one.
    const NO_DOCUMENT = 'the gateway has no OpenAPI document';
    const outcomes: Record<string, readonly [readonly number[], boolean]> = {};
    for (const [role, person] of Object.entries(people)) {
      const statuses: number[] = [];
      for (const path of reads) statuses.push((await person.call('GET', subject.at(path))).status);
      const removed = await person.call('DELETE', subject.at(`${gateway}/schema`));
      expect(removed.status).toBe(404);
      outcomes[role] = [[...new Set(statuses)], removed.body.error === NO_DOCUMENT];
    }
    expect(outcomes).toEqual({
      viewer: [[200], false],
      editor: [[200], true],
      admin: [[200], true],
      stranger: [[404], false],
    });
  });

  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function good(path: string): Promise<any> {
    const answer = await subject.ask('GET', path);
    expect(answer.status, answer.text).toBe(200);
    return answer.body;
  }
  type Of = (gateway: NonNullable<SentRequest['gateway']>, sent: SentRequest) => boolean;
  /** Sums over the requests in the period of an answer, one by one. */
  function naive({ from, to }: { readonly from: string; readonly to: string }, is: Of) {
    const found = requests.filter(
      (sent) =>
        sent.gateway != null &&
        sent.at >= Date.parse(from) &&
        sent.at < Date.parse(to) &&
        is(sent.gateway, sent),
    );
    const admitted = found.filter(({ gateway }) => gateway!.isAdmitted).length;
    return { requests: found.length, admitted };
  }

  test.each(['hour', 'day'])(
    'of a gateway and of a consumer equal counts of the requests by %s',
    async (step) => {
      const from = new Date(api.now() - 40 * HOUR_MS).toISOString();
      const query = `from=${from}&step=${step}`;
      for (const [place, is] of [
        [`/gateways/${gateways[0]}`, (one) => one.gateway === gateways[0]],
        [`/gateways/${gateways[1]}`, (one) => one.gateway === gateways[1]],
        [`/consumers/${consumers['acme']}`, (one) => one.consumer === 'acme'],
        [`/consumers/${consumers['idle']}`, () => false],
      ] as readonly (readonly [string, Of])[]) {
        const body = await good(`${place}/usage?${query}`);
        expect(body).toMatchObject({ step, by: null, uncounted: { requests: 0, admitted: 0 } });
        expect(body.totals).toEqual(naive(body, is));
        for (const { at, ...sums } of body.points) {
          const to = new Date(Date.parse(at) + (step === 'hour' ? HOUR_MS : DAY_MS)).toISOString();
          expect(sums).toEqual(naive({ from: at, to }, is));
        }
      }
      expect((await good(`/gateways/${gateways[0]}/usage?${query}`)).totals.requests).toBeGreaterThan(100);
    },
  );

  test('values divide the totals, and those beyond `limit` are one sum', async () => {
    const ofGateway: Of = (one) => one.gateway === gateways[0];
    for (const [by, divided] of [
      ['consumer', (one) => one.consumer],
      ['operation', (one) => one.operation],
      ['status', (_, { status }) => String(status)],
    ] as readonly (readonly [string, (...of: Parameters<Of>) => string])[]) {
      const body = await good(`/gateways/${gateways[0]}/usage?by=${by}`);
      for (const { value, ...sums } of body.values)
        expect(sums).toEqual(naive(body, (...of) => ofGateway(...of) && divided(...of) === (value ?? '')));
      expect(body.others).toEqual({ requests: 0, admitted: 0 });
      const cut = await good(`/gateways/${gateways[0]}/usage?by=${by}&limit=1`);
      expect(cut.values).toEqual(body.values.slice(0, 1));
      expect(cut.others.requests).toBe(cut.totals.requests - cut.values[0].requests);
    }
    const body = await good(`/consumers/${consumers['acme']}/usage?by=gateway`);
    expect(body.values.map(({ value }: { value: string }) => Number(value)).sort()).toEqual(
      [...gateways].sort(),
    );
  });

  test('operations have the requests of their methods, HEAD with GET, and one that is never called has none', async () => {
    const { operations, unlisted } = await good(`/gateways/${gateways[0]}/operations/usage`);
    const day = 24 * HOUR_MS - (HOUR_MS - (api.now() % HOUR_MS));
    const since = (ms: number) => ({
      from: new Date(api.now() - ms).toISOString(),
      to: new Date(api.now() + 1).toISOString(),
    });
    const sums = (names: readonly string[]) => {
      const is: Of = (one) => one.gateway === gateways[0] && names.includes(one.operation);
      return [naive(since(day), is).requests, naive(since(29 * DAY_MS), is).requests];
    };
    const shown = ({ requests_24h, requests_30d }: { requests_24h: number; requests_30d: number }) => [
      requests_24h,
      requests_30d,
    ];
    expect(shown(operations[0])).toEqual(sums(['listOrders']));
    expect(shown(operations[1])).toEqual(sums(['GET /orders/{id}', 'HEAD /orders/{id}', 'PUT /orders/{id}']));
    expect(operations[1]).toMatchObject({ methods: ['GET', 'PUT'], path: '/orders/{id}' });
    expect(operations[1].requests_24h).toBeGreaterThan(0);
    expect(operations[2]).toMatchObject({ operation_id: 'never', requests_30d: 0, last_seen_at: null });
    expect(shown(unlisted)).toEqual(sums(['']));
    const last = Math.max(
      ...requests.flatMap(({ at, gateway }) =>
        gateway?.operation === 'listOrders' && gateway.gateway === gateways[0] ? [at] : [],
      ),
    );
    expect(operations[0].last_seen_at).toBe(new Date(last - (last % HOUR_MS)).toISOString());
  });

  test('what is not there is 404, a wrong division 400', async () => {
    for (const [path, status] of [
      ['/gateways/999999/usage', 404],
      ['/gateways/999999/operations/usage', 404],
      ['/consumers/999999/usage', 404],
      [`/gateways/${gateways[0]}/usage?by=gateway`, 400],
      [`/consumers/${consumers['acme']}/usage?by=consumer`, 400],
    ] as const)
      expect((await subject.ask('GET', path)).status, path).toBe(status);
  });

  test('the features of a domain count admitted requests of 30 days', async () => {
    const { domain_usage } = await good('/features');
    const found = domain_usage.find(({ name }: { name: string }) => name === 'max_gateway_requests_30d');
    const all = requests.filter(({ gateway }) => gateway?.isAdmitted === true).length;
    expect(found.used).toBe(all);
  });
});
