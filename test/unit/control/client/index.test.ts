/** The options of `createClient`, as an unset variable of the environment leaves them. */
import { expect, test } from 'vitest';
import { createClient } from '../../../../src/control/client/index.ts';

test.each([
  [undefined, '`baseUrl` must be the address of the API, like `http://127.0.0.1:8787`'],
  [{ key: 'svc_x' }, '`baseUrl` must be'],
  [{ baseUrl: 'http://127.0.0.1:9' }, '`key` must be an API key, `svc_…`; `edgeplan key create` makes one'],
  [{ baseUrl: 'http://127.0.0.1:9', key: '' }, '`key` must be an API key'],
])('createClient refuses %o', (options, sentence) => {
  expect(() => createClient(options as never)).toThrow(TypeError);
  expect(() => createClient(options as never)).toThrow(sentence);
});
