/** Checks that ports are free, by listening on each for a moment. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { listenFault } from '../listen-fault.ts';
import { type Check, type CheckFinding, type DoctorFlags, reasonText } from './check.ts';

/** The default ports of serve and node. */
const USUAL_PORTS: readonly (readonly [number, string])[] = [
  [8787, 'serve --port'],
  [8788, 'serve --ops-port'],
  [8080, 'node --port'],
  [8443, 'node --tls-port'],
];

/** Opens and closes a listener. @throws the system's error */
async function tryPort(host: string, port: number): Promise<void> {
  const server = createServer();
  server.listen({ host, port, exclusive: true });
  await once(server, 'listening');
  server.close();
  await once(server, 'close');
}

/** A port of the command line must be free; a usual one may be taken by the server that runs here. */
async function portFinding(
  { host, port: given }: DoctorFlags,
  port: number,
  user: string,
): Promise<CheckFinding> {
  try {
    await tryPort(host, port);
    return { state: 'fine', found: `port ${port} of ${host} is free (${user})` };
  } catch (error) {
    const fault = listenFault(error, { host, ports: { '--port': port } });
    const found = `${fault?.message ?? `port ${port}: ${reasonText(error)}`} (${user})`;
    if (given === undefined) {
      const remedy = `nothing to do if edgeplan runs there; otherwise choose another with ${user}`;
      return { state: 'warning', found, remedy };
    }
    return { state: 'failure', found, ...(fault?.remedy === undefined ? {} : { remedy: fault.remedy }) };
  }
}

export const ports: Check = {
  name: 'ports',
  async run(flags) {
    const wanted = flags.port?.map((port) => [port, '--port'] as const) ?? USUAL_PORTS;
    const findings: CheckFinding[] = [];
    // One after the other: two listeners on one port would find each other.
    for (const [port, user] of wanted) findings.push(await portFinding(flags, port, user));
    return findings;
  },
};
