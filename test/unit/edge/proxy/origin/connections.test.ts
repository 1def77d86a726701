/** Write errors of connections to origins, which wait for what the origin has sent before. */
import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { postponeWriteErrors } from '../../../../../src/edge/proxy/origin/connections.ts';

let server: Server;
let client: Socket;
let peer: Socket;
beforeEach(async () => {
  server = createServer({ allowHalfOpen: true }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  client = connect((server.address() as AddressInfo).port, '127.0.0.1');
  [peer] = (await accepted) as [Socket];
  await once(client, 'connect');
});
afterEach(() => {
  client.destroy();
  peer.destroy();
  server.close();
});

/** What is read, and the code of the error that ends the connection. */
async function endOf(socket: Socket): Promise<{ readonly text: string; readonly code: string | undefined }> {
  let text = '';
  let code: string | undefined;
  // As undici reads.
  socket.on('readable', () => {
    for (let chunk = socket.read(); chunk !== null; chunk = socket.read()) text += String(chunk);
  });
  socket.on('error', (error: NodeJS.ErrnoException) => {
    ({ code } = error);
  });
  await once(socket, 'close').catch(() => undefined);
  return { text, code };
}

/** Node makes both calls to the kernel at once, so that the client's next write finds the reset before it reads. */
function respondAndReset(): void {
  peer.write('HTTP/1.1 413 Too Large\r\n\r\n');
  peer.resetAndDestroy();
}

test('a response before a reset is read, though a write has failed', async () => {
  postponeWriteErrors(client);
  respondAndReset();
  client.write('more of the body');
  client.write('and more');
  client.once('end', () => client.destroy());
  expect(await endOf(client)).toEqual({ text: 'HTTP/1.1 413 Too Large\r\n\r\n', code: undefined });
});

test('Node by itself loses it', async () => {
  respondAndReset();
  client.write('more of the body');
  expect(await endOf(client)).toMatchObject({ text: '', code: expect.stringMatching(/EPIPE|ECONNRESET/) });
});

test('writes to a connection that was read to its end fail at once', async () => {
  client = connect({ port: (server.address() as AddressInfo).port, host: '127.0.0.1', allowHalfOpen: true });
  const accepted = once(server, 'connection');
  await once(client, 'connect');
  [peer] = (await accepted) as [Socket];
  postponeWriteErrors(client);
  client.resume();
  peer.end();
  await once(client, 'end');
  peer.resetAndDestroy();
  const ending = endOf(client);
  const writing = setInterval(() => client.write('x'), 1);
  expect((await ending).code).toMatch(/EPIPE|ECONNRESET/);
  clearInterval(writing);
});
