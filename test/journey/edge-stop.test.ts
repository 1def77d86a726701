/** Listeners that end while clients are on them. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, test } from 'vitest';
import { createAcceptor, listenWith } from '../../src/edge/listeners/acceptor.ts';

const nothing = (): void => undefined;

test('two concurrent stops of an acceptor both resolve', async () => {
  let begun: () => void = nothing;
  const served = new Promise<void>((resolve) => {
    begun = resolve;
  });
  let closings = 0;
  const acceptor = createAcceptor({
    begin: () => begun(),
    retire: nothing,
    closeIdle: nothing,
    drain: nothing,
    close: () => void closings++,
  });
  const listener = await listenWith(acceptor, { host: '127.0.0.1', port: 0, allowHalfOpen: true });
  const client = connect(listener.address.port, '127.0.0.1');
  client.on('error', nothing);
  await served;
  // The shorter grace holds, whoever gives it.
  const stops = [listener.stop(60_000), listener.stop(1), listener.stop(60_000)];
  await Promise.all([...stops, once(client, 'close')]);
  expect(closings).toBe(1);
});
