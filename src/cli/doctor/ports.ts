/** Checks that ports are free, by listening on each for a moment. */
import { once } from 'node:events';
import { createServer } from 'node:net';
import { listenFault } from '../listen-fault.ts';
import { type Check, type CheckFinding, type DoctorFlags, reasonText } from './check.ts';

/** The address of the health and metrics listener. */
const OPERATIONS_HOST = '127.0.0.1';

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

/** A port to try, and the option that it is for. */
interface Wanted {
  readonly host: string;
  readonly port: number;
  readonly user: string;
  /** Whether it is on the command line. */
  readonly given: boolean;
}

/** A port of the command line must be free; a usual one may be taken by the server that runs here. */
async function portFinding({ host, port, user, given }: Wanted): Promise<CheckFinding> {
  try {
    await tryPort(host, port);
    return { state: 'fine', found: `port ${port} of ${host} is free (${user})` };
  } catch (error) {
    const fault = listenFault(error, { host, ports: { [given ? user : '--port']: port } });
    const isTaken = (error as NodeJS.ErrnoException).code === 'EADDRINUSE';
    const reason = isTaken
      ? `port ${port} of ${host} is taken`
      : (fault?.message ?? `port ${port} of ${host}: ${reasonText(error)}`);
    const found = `${reason} (${user})`;
    if (!given) {
      const remedy = `nothing to do if edgeplan runs there; otherwise choose another with ${user}`;
      return { state: 'warning', found, remedy };
    }
    return { state: 'failure', found, ...(fault?.remedy === undefined ? {} : { remedy: fault.remedy }) };
  }
}

/** The ports of the command line; without any, the usual ones. */
function wantedPorts({ host, port = [], tlsPort, opsPort }: DoctorFlags): readonly Wanted[] {
  const given: readonly Wanted[] = [
    ...port.map((one) => ({ host, port: one, user: '--port', given: true })),
    ...(tlsPort === undefined ? [] : [{ host, port: tlsPort, user: '--tls-port', given: true }]),
    ...(opsPort === undefined
      ? []
      : [{ host: OPERATIONS_HOST, port: opsPort, user: '--ops-port', given: true }]),
  ];
  if (given.length > 0) return given;
  return USUAL_PORTS.map(([usual, user]) => ({ host, port: usual, user, given: false }));
}

export const ports: Check = {
  name: 'ports',
  async run(flags) {
    const findings: CheckFinding[] = [];
    // One after the other: two listeners on one port would find each other.
    for (const wanted of wantedPorts(flags)) findings.push(await portFinding(wanted));
    return findings;
  },
};
