/**
 * Translates the error of a listener that could not be opened into a sentence with a remedy. In: the error, the host and
 * the ports by option. Out: a fault, or `null` for an error that no listener caused.
 */
import { CommandFault, EXIT, usageFault } from './exit.ts';

/** The address of a command's listeners. */
export interface ListenPlaces {
  /** The value of `--host`. */
  readonly host: string;
  /** The port of each option; `undefined`: the option was not given. */
  readonly ports: Readonly<Record<string, number | undefined>>;
}

/** The first port that needs no privilege, unless the system is set up otherwise (`net.ipv4.ip_unprivileged_port_start`). */
const FIRST_FREE_PORT = 1_024;

/** The fault to print; `null` when the error is not one of `listen`. */
export function listenFault(error: unknown, { host, ports }: ListenPlaces): CommandFault | null {
  const { code, port, syscall, address } = error as NodeJS.ErrnoException & {
    port?: number;
    address?: string;
  };
  if (code === 'ENOTFOUND' || code === 'EAI_AGAIN' || code === 'EADDRNOTAVAIL') {
    if (syscall !== 'listen' && syscall !== 'bind' && syscall !== 'getaddrinfo') return null;
    const message = `\`${address ?? host}\` is no address of this machine`;
    const remedy = '--host takes one of its own: 127.0.0.1 for this machine alone, 0.0.0.0 or :: for all';
    return new CommandFault(EXIT.server, message, { cause: error, remedy });
  }
  if ((syscall !== 'listen' && syscall !== 'bind') || port === undefined) return null;
  const options = Object.keys(ports).filter((option) => ports[option] === port);
  const option = options[0] ?? '--port';
  if (code === 'EADDRINUSE') {
    // One port for two options: the second listener finds the first.
    if (options.length > 1) return usageFault(`${options.join(' and ')} are the same port, ${port}`);
    const remedy = `choose another with ${option}, or end the process that listens there`;
    return new CommandFault(EXIT.server, `port ${port} is taken`, { cause: error, remedy });
  }
  if (code !== 'EACCES' && code !== 'EPERM') return null;
  const remedy =
    port < FIRST_FREE_PORT
      ? `choose a port from ${FIRST_FREE_PORT} with ${option}, or give Node the right to this one: setcap cap_net_bind_service=+ep, authbind, or AmbientCapabilities= of systemd`
      : `choose another with ${option}; a security policy of this system forbids it`;
  return new CommandFault(EXIT.server, `this process has no right to port ${port}`, { cause: error, remedy });
}
