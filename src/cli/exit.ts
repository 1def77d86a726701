/** How a command ends. Scripts tell outcomes apart by these codes alone. */

export const EXIT = {
  fine: 0,
  /** The answer is "no": a failing test, a finding of lint. */
  no: 1,
  usage: 2,
  /** The input cannot be read or does not compile. */
  input: 3,
  server: 4,
} as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Ends the command with a sentence for the person who typed it; never a stack trace. */
export class CommandFault extends Error {
  readonly exitCode: ExitCode;
  /** What to do about it, on a line of its own. */
  readonly remedy: string | undefined;

  constructor(exitCode: ExitCode, message: string, options: { remedy?: string; cause?: unknown } = {}) {
    super(message, { cause: options.cause });
    this.name = 'CommandFault';
    this.exitCode = exitCode;
    this.remedy = options.remedy;
  }
}

/** The command line asks for something that cannot be. */
export function usageFault(message: string, remedy?: string): CommandFault {
  return new CommandFault(EXIT.usage, message, remedy === undefined ? {} : { remedy });
}

/** The input cannot be read or is not what it should be. */
export function inputFault(
  message: string,
  options: { remedy?: string; cause?: unknown } = {},
): CommandFault {
  return new CommandFault(EXIT.input, message, options);
}
