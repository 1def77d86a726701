/**
 * Exit codes of commands, the error that ends a command with one, and the messages of file errors. Scripts rely on the
 * codes alone.
 */
import { dirname } from 'node:path';
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

/** Reasons by code of `errno`. */
const REASONS: Readonly<Record<string, string>> = {
  ENOSPC: 'the disk is full',
  EDQUOT: 'the disk quota is used up',
  EFBIG: 'the file is too large',
  EROFS: 'the file system is read-only',
  EACCES: 'permission denied',
  EPERM: 'permission denied',
  ENOENT: 'it is not there',
  ENOTDIR: 'a part of its path is not a folder',
  ENOTSUP: 'its file system takes no new folder there',
  EISDIR: 'it is a folder',
  ENAMETOOLONG: 'the name is too long',
  ELOOP: 'its links lead in a circle',
  EMFILE: 'too many files are open',
  EIO: 'the device failed',
};

/** The reason of a system error in words; its code if no words are defined. */
export function reasonOf(error: unknown): string {
  // Node's system errors have a code; other errors have a message only.
  const { code, message } = error as NodeJS.ErrnoException;
  return code === undefined ? message : (REASONS[code] ?? code);
}

/** The code of a system error. */
function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException | null)?.code;
}

/** The fault for an error while reading a file. */
export function readFault(name: string, cause: unknown): CommandFault {
  switch (codeOf(cause)) {
    case 'ENOENT':
    case 'ENOTDIR':
      return inputFault(`there is no file \`${name}\``, {
        cause,
        // The default file: the user may not have created it yet.
        ...(name === 'edge.yaml' ? { remedy: 'edgeplan init writes one, --file names another' } : {}),
      });
    case 'EISDIR':
      return inputFault(`\`${name}\` is a folder, not a file`, { cause });
    case 'EACCES':
    case 'EPERM':
      return inputFault(`\`${name}\` may not be read: permission denied`, { cause });
    default:
      return inputFault(`\`${name}\` cannot be read: ${reasonOf(cause)}`, { cause });
  }
}

/** The fault for an error while writing a file or creating a folder. */
export function writeFault(name: string, cause: unknown): CommandFault {
  switch (codeOf(cause)) {
    case 'ENOENT':
      return inputFault(`\`${name}\` cannot be written: there is no folder \`${dirname(name)}\``, { cause });
    case 'EISDIR':
      return inputFault(`\`${name}\` cannot be written: it is a folder; name a file`, { cause });
    case 'EACCES':
    case 'EPERM':
    // The reason differs from a missing permission, so it is printed.
    case 'EROFS':
      return inputFault(`\`${name}\` may not be written: ${reasonOf(cause)}`, { cause });
    default:
      return inputFault(`\`${name}\` cannot be written: ${reasonOf(cause)}`, { cause });
  }
}
