/** Messages for file errors in place of the system's codes. */
import { dirname } from 'node:path';
import { type CommandFault, inputFault } from './exit.ts';

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
