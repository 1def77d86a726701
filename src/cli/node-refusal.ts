/** Translates the error of a start that failed into a sentence with a remedy. */
import { resolve } from 'node:path';
import { StoreFault } from '../base/storage/fault.ts';
import { WorkerFault } from '../edge/workers/events.ts';
import { CommandFault, EXIT, inputFault, usageFault } from './exit.ts';
import { writeFault } from './file-fault.ts';
import { listenFault } from './listen-fault.ts';
import { storeFault } from './open-data.ts';

/** The listener address and the folder of the node, for the sentence. */
export interface NodePlaces {
  readonly host: string;
  readonly port: number;
  readonly tlsPort?: number;
  readonly opsPort?: number;
  readonly data: string;
}

/** The fault to print; an unknown error is returned unchanged. */
export function refusal(error: unknown, options: NodePlaces): unknown {
  if (error instanceof CommandFault) return error;
  if (error instanceof StoreFault) return storeFault(error);
  const { host, port, tlsPort, opsPort, data } = options;
  const ports = { '--port': port, '--tls-port': tlsPort, '--ops-port': opsPort };
  const listening = listenFault(error, { host, ports });
  if (listening !== null) return listening;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const path = error instanceof Error && 'path' in error ? String(error.path) : null;
  if ((code === 'ENOENT' || code === 'ENOTDIR' || code === 'EEXIST') && path !== null) {
    // The system names the absolute path.
    const isData = resolve(path) === resolve(data);
    const remedy = isData ? { remedy: 'name a folder with --data' } : {};
    return inputFault(`\`${isData ? data : path}\` is no folder that can be used`, {
      cause: error,
      ...remedy,
    });
  }
  if (path !== null && error instanceof Error && 'syscall' in error) return writeFault(path, error);
  if (error instanceof Error && error.name === 'TrustFault') {
    return usageFault(
      `--trust: ${error.message}`,
      'edgeplan node-token create prints the key as EDGEPLAN_NODE_TRUST',
    );
  }
  if (error instanceof WorkerFault) {
    const remedy = 'its messages are above; --log-level debug shows more';
    return new CommandFault(EXIT.server, error.message, { cause: error, remedy });
  }
  return error;
}
