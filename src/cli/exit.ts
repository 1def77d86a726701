/** Exit codes of commands, and the error that ends a command with one. Scripts rely on the codes alone. */
import type { Diagnostic } from '../base/diagnostics/diagnostic.ts';

export const EXIT = {
  /** The command succeeded. */
  fine: 0,
  /** The result is negative: a failing test, a lint finding, an object that does not exist. */
  no: 1,
  /** The command line is wrong. */
  usage: 2,
  /** The input cannot be read or does not compile. */
  input: 3,
  /** The server, the store or the network failed, or the key has no access to the domain. */
  server: 4,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with a message for the user; it is printed without a stack trace. */
export class CommandFault extends Error {
  readonly exitCode: ExitCode;
  /** What to do about it, printed on a line of its own. */
  readonly remedy: string | undefined;

  constructor(exitCode: ExitCode, message: string, options: { remedy?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'CommandFault';
    this.exitCode = exitCode;
    this.remedy = options.remedy;
  }
}

/** A fault of an input with mistakes, which are printed already; reporters repeat them for machines. */
export class DiagnosedFault extends CommandFault {
  readonly diagnostics: readonly Diagnostic[];

  constructor(message: string, diagnostics: readonly Diagnostic[], options: { remedy?: string } = {}) {
    super(EXIT.input, message, options);
    this.diagnostics = diagnostics;
  }
}

/** A fault of the command line; exit code 2. */
export function usageFault(message: string, remedy?: string): CommandFault {
  return new CommandFault(EXIT.usage, message, remedy === undefined ? {} : { remedy });
}

/** A fault of an input that cannot be read or is invalid; exit code 3. */
export function inputFault(
  message: string,
  options: { remedy?: string; cause?: unknown } = {},
): CommandFault {
  return new CommandFault(EXIT.input, message, options);
}
