/** The shipped configurations of proxies set or remove every header of the contract, which visitors could send otherwise. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FACT_HEADERS } from '../../../../src/edge/doors/http/contract.ts';

const FIXTURES = new URL('../../../../fixtures/proxies/', import.meta.url);

test.each(['nginx.conf', 'traefik-dynamic.yml', 'envoy-http.yaml'])('%s names each of them', (name) => {
  const text = readFileSync(new URL(name, FIXTURES), 'utf8').toLowerCase();
  const own = FACT_HEADERS.filter((header) => header.startsWith('x-edgeplan-'));
  expect(own.filter((header) => !text.includes(header))).toEqual([]);
  expect(own).toContain('x-edgeplan-asn');
});
