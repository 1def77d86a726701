/**
 * Refuses flags of `edgeplan node` that have no effect without another one. In: the flags, and which of them are on the
 * command line. Out: nothing, or a CommandFault that names both.
 */
import { usageFault } from './exit.ts';
import type { NodeFlags } from './node-options.ts';

/** Flags by their name in `NodeFlags`, the one that they need, and what to do. */
interface Need {
  readonly needed: 'control' | 'certificates' | 'acme' | 'otlp';
  readonly flags: Readonly<Partial<Record<keyof NodeFlags, string>>>;
  readonly remedy: string;
}

const NEEDS: readonly Need[] = [
  {
    needed: 'control',
    flags: {
      token: '--token',
      tokenFile: '--token-file',
      trust: '--trust',
      shipLogs: '--no-ship-logs',
      shipLines: '--ship-lines',
    },
    remedy: 'leave it out with --file, or name the server with --control in place of --file',
  },
  {
    needed: 'certificates',
    flags: {
      acme: '--acme',
      acmeName: '--acme-name',
      acmeEmail: '--acme-email',
      defaultCertificate: '--default-certificate',
    },
    remedy: 'name the folder of certificates, which ACME writes to as well',
  },
  {
    needed: 'acme',
    flags: { acmeName: '--acme-name', acmeEmail: '--acme-email' },
    remedy: 'name the directory of a certificate authority',
  },
  {
    needed: 'otlp',
    flags: { traceRatio: '--trace-ratio' },
    remedy: 'name the OpenTelemetry collector',
  },
];

/**
 * @param isTyped whether a flag is on the command line: a variable of the environment may be meant for other commands
 * @throws CommandFault at the first flag without effect
 */
export function checkUnreadFlags(flags: NodeFlags, isTyped: (name: string) => boolean): void {
  for (const need of NEEDS) {
    if (flags[need.needed] !== undefined) continue;
    for (const [name, flag] of Object.entries(need.flags)) {
      if (isTyped(name)) throw usageFault(`${flag} has no effect without --${need.needed}`, need.remedy);
    }
  }
}
