/** Clients of the counted site: connections that are kept open, and whole responses. */
import { Agent, request } from 'node:http';
import type { SiteRequest } from './counted-site.ts';

/** Sends a request to a port of this machine and reads its whole response. Rejects when the connection breaks. */
export function askSite(
  { agent, port }: { readonly agent: Agent; readonly port: number },
  { host, headers, body, ...sent }: SiteRequest,
): Promise<number> {
  return new Promise((resolve, reject) => {
    const length = body === null ? {} : { 'content-length': Buffer.byteLength(body) };
    const place = { host: '127.0.0.1', port, agent, ...sent };
    const message = request({ ...place, headers: { host, ...headers, ...length } });
    message.on('error', reject);
    message.on('response', (response) => {
      response.on('error', reject);
      response.on('end', () => resolve(response.statusCode!));
      response.resume();
    });
    message.end(body ?? undefined);
  });
}

/** Runs so many clients, each with a connection of its own. */
export async function withClients(
  count: number,
  run: (agent: Agent, client: number) => Promise<void>,
): Promise<void> {
  const clients = Array.from({ length: count }, async (_, client) => {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 });
    await run(agent, client);
    agent.destroy();
  });
  await Promise.all(clients);
}
