/** The input and the finding of a check of `edgeplan doctor`, and the report of all findings as lines and as JSON. */
import { type RenderedLine, span, type Tone, visible } from '../../workbench/simulation/render-text.ts';
import type { SecretsKeyFlags } from '../open-secrets-key.ts';

/** The options that checks read, as commander parses them. */
export interface DoctorFlags extends SecretsKeyFlags {
  /** The address that ports are tried on. */
  readonly host: string;
  /** Ports that must be free; absent: the usual ones. */
  readonly port?: readonly number[];
  /** The port for HTTPS that must be free. */
  readonly tlsPort?: number;
  /** The port of the health and metrics listener that must be free, on loopback. */
  readonly opsPort?: number;
  /** An edge file that a node is to serve. */
  readonly file?: string;
  /** Connections of clients that the node is to serve. */
  readonly maxConnections: number;
  readonly resolver?: readonly string[];
  /** The address of a control plane. */
  readonly control?: string;
  readonly token?: string;
  readonly tokenFile?: string;
  /** The public key of the control plane, in base64. */
  readonly trust?: string;
  /** A folder of certificates. */
  readonly certificates?: string;
}

/**
 * - `fine` nothing to do
 * - `warning` it works, and may not later or not under load
 * - `failure` a server or node that is started like this does not work
 * - `skipped` not checked, for the reason that is found
 */
type FindingState = 'fine' | 'warning' | 'failure' | 'skipped';

/** One line of the report. */
export interface CheckFinding {
  readonly state: FindingState;
  /** What was found, as a sentence. */
  readonly found: string;
  /** What to do; absent where nothing is to be done. */
  readonly remedy?: string;
}

/** A check. It changes nothing, and works beside a running server. */
export interface Check {
  /** The word at the start of its lines. */
  readonly name: string;
  run(flags: DoctorFlags): Promise<readonly CheckFinding[]>;
}

/** A large size, such as `3.2 GiB`. */
export function gibibytes(octets: number): string {
  return `${(octets / 2 ** 30).toFixed(1)} GiB`;
}

/** The reason of an error as a clause. */
export function reasonText(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** A finding with the check that it comes from. */
export interface NamedFinding extends CheckFinding {
  readonly check: string;
}

/** The mark, the word and the tone of each state. */
const STATES: Readonly<Record<FindingState, { mark: string; word: string; tone: Tone }>> = {
  fine: { mark: '✔', word: 'fine', tone: 'good' },
  warning: { mark: '⚠', word: 'warning', tone: 'warn' },
  failure: { mark: '✘', word: 'failure', tone: 'bad' },
  skipped: { mark: '–', word: 'skipped', tone: 'dim' },
};

/** Columns of the state and of the name of a check. */
const WIDTHS = { state: 9, check: 14 } as const;

/** A line for each finding, and one below it for what to do. */
export function findingLines(findings: readonly NamedFinding[]): readonly RenderedLine[] {
  return findings.flatMap(({ state, check, found, remedy }) => {
    const { mark, word, tone } = STATES[state];
    const line: RenderedLine = [
      span(`${mark} `, tone),
      span(word.padEnd(WIDTHS.state), tone),
      span(check.padEnd(WIDTHS.check)),
      span(visible(found)),
    ];
    if (remedy === undefined) return [line];
    return [line, [span(`${' '.repeat(2 + WIDTHS.state + WIDTHS.check)}→ ${visible(remedy)}`, 'dim')]];
  });
}

/** `8 fine, 1 warning, 1 failure`. */
export function summaryText(findings: readonly CheckFinding[]): string {
  const count = (state: FindingState): number => findings.filter((one) => one.state === state).length;
  const plural = (state: 'warning' | 'failure'): string =>
    `${count(state)} ${state}${count(state) === 1 ? '' : 's'}`;
  return `${count('fine')} fine, ${plural('warning')}, ${plural('failure')}, ${count('skipped')} skipped`;
}

/** The fields of the JSON document. */
export function reportFields(findings: readonly NamedFinding[]): object {
  return {
    healthy: findings.every(({ state }) => state !== 'failure'),
    findings: findings.map(({ check, state, found, remedy }) => ({
      check,
      state,
      found,
      remedy: remedy ?? null,
    })),
  };
}
