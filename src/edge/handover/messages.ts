/**
 * The messages between a process that serves and the one that takes over from it, over Node's IPC channel with structured
 * clones: what serves is the caller's, and so is the form of `state` and `report`.
 */
import type { InheritedSocket, OpenSocket } from './sockets.ts';

/** The variable that marks a process which takes over from the one that started it. */
export const SUCCESSOR = 'EDGEPLAN_SUCCESSOR';

/** A socket that follows in a message of its own. */
export interface SocketNotice extends Pick<OpenSocket, 'name' | 'place'>, Pick<InheritedSocket, 'path'> {
  /** The port that it is bound to; `null`: it is a unix socket. */
  readonly port: number | null;
}

/** From the process that serves. */
export type ToSuccessor =
  /** What only one process may have is released: the sockets follow, one a message, then the successor starts. */
  | {
      readonly kind: 'state';
      readonly state: unknown;
      readonly sockets: readonly SocketNotice[];
      /** Why the predecessor was not ready for traffic itself; `null`: it was. */
      readonly unready: string | null;
    }
  /** With the handle of the socket. */
  | { readonly kind: 'socket'; readonly name: string }
  /** What the predecessor has counted since its state, or what is still to be handed over: a connection has a handle. */
  | { readonly kind: 'report'; readonly report: unknown }
  /** The predecessor serves on: the successor ends its requests and exits. */
  | { readonly kind: 'abort' };

/** From the process that takes over. */
export type ToPredecessor =
  /** Its flags are read and its code is loaded. */
  | { readonly kind: 'loaded' }
  /** It accepts connections and is ready for traffic. */
  | { readonly kind: 'serving' }
  | { readonly kind: 'failed'; readonly reason: string };

/** A command line with its place: what a process is started from. */
export interface ProgramCommand {
  /** Absolute path of the executable. */
  readonly program: string;
  readonly args: readonly string[];
  /** Absolute path of the working folder. */
  readonly folder: string;
  /** Variables that begin with `EDGEPLAN_`; all others are those of the process that starts it. */
  readonly env: Readonly<Record<string, string>>;
}

/** The prefix of the variables that travel with a command. */
export const OWN_VARIABLES = 'EDGEPLAN_';

/** The command line of this process. @param args replaces the arguments behind the entry file */
export function ownCommand(args: readonly string[] = process.argv.slice(2)): ProgramCommand {
  const own = Object.entries(process.env).filter(
    (entry): entry is [string, string] => entry[0].startsWith(OWN_VARIABLES) && entry[0] !== SUCCESSOR,
  );
  return {
    program: process.execPath,
    args: [...process.execArgv, process.argv[1]!, ...args],
    folder: process.cwd(),
    env: Object.fromEntries(own),
  };
}
