/** What stands between a node and its control plane may answer in its place: that is no word of the control plane's. */
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type ControlPlaneClient, createControl } from '../../src/edge/following/control-plane.ts';
import { createReports } from '../../src/edge/following/install-state.ts';
import { until } from '../support/until.ts';

interface Answer {
  readonly status: number;
  readonly body: string;
}

let server: Server;
let control: ControlPlaneClient;
let answers: Answer[];
let asked: string[];
const taken: Answer = { status: 200, body: '{"message":"1 reports filed"}' };

beforeEach(async () => {
  answers = [];
  asked = [];
  server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text;
    });
    request.on('end', () => {
      asked.push(body);
      const answer = answers.shift() ?? taken;
      response.writeHead(answer.status).end(answer.body);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  control = createControl({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    token: () => 'x',
  });
});
afterEach(async () => {
  await control.close();
  server.closeAllConnections();
  await new Promise((resolve) => server.close(resolve));
});

test.each([
  ['in trouble, at length', { status: 503, body: 'x'.repeat(200_000) }],
  ['with a page of its own', { status: 200, body: '<html>Please log in to the network</html>' }],
])('a report that a proxy answers %s is told again', async (_, answer) => {
  answers = [answer];
  const errors: string[] = [];
  const log = {
    info: () => undefined,
    warn: () => undefined,
    error: (_fields: object, message: string) => void errors.push(message),
  };
  const reports = createReports(control, log);
  reports.add({ domain: 'shop.test', revision: 1, outcome: 'ack', reason: '' });
  await until(() => asked.length > 0 && reports.queued() === 0, 'the report to be taken');
  await reports.stop();
  expect(errors).toEqual([]);
  expect(asked).toHaveLength(2);
  expect(asked[1]).toBe(asked[0]);
});

test('the start of a long error response is in the reported fault', async () => {
  answers = [{ status: 400, body: `usage[0].minute must be a number; ${'x'.repeat(200_000)}` }];
  await expect(control.report({})).rejects.toMatchObject({
    code: 'answer',
    message: expect.stringMatching(/^\/nodes\/reports was answered with 400: usage\[0\]\.minute must be/),
  });
});
