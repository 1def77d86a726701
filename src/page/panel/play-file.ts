/**
 * What `edgeplan play` knows of its file: the last plans that compiled, the mistakes of the newest text, the findings of lint. In: the
 * results of compilations. Out: the state that browsers show, and plans by digest.
 */
import type { SignaturesNote } from '../../workbench/simulation/document.ts';
import type { SimulationSubject } from '../../workbench/simulation/simulate.ts';
import {
  type FindingDocument,
  type PlayedPlan,
  type PlayState,
  type SubjectDocument,
  subjectDocument,
} from './documents.ts';
import { MAX_PLAYED_OCTETS, MAX_PLAYED_PLANS } from './limits.ts';

/** A plan with all that a browser needs to evaluate it. */
export interface PlayedSubject {
  readonly document: SubjectDocument;
  readonly bytes: Uint8Array;
  /** The sealed signatures; `null`: none. */
  readonly signatures: Uint8Array | null;
}

/** Sealed signatures with their name. */
export interface SourceSignatures extends SignaturesNote {
  readonly sealed: Uint8Array;
}

/** A file that is played. */
export interface PlayedFile {
  /** The state now. */
  state(): PlayState;
  /** Calls `listener` after each change; returns what ends that. */
  subscribe(listener: () => void): () => void;
  /** The plan of a digest in hexadecimal; `null`: it is not in memory. */
  plan(digest: string): PlayedSubject | null;
  /** The sealed signatures of a digest in hexadecimal. */
  signatures(digest: string): Uint8Array | null;
  /** Takes a plan of the file's text; the same plan again, such as after a change of a comment, makes no new one. */
  compiled(subject: SimulationSubject, signatures: SourceSignatures | null): void;
  /** Takes the mistakes of a text that does not compile. */
  refused(mistakes: readonly FindingDocument[]): void;
  /** Takes what lint found in the newest text. */
  linted(findings: readonly FindingDocument[]): void;
}

/** A stored plan. */
interface Stored extends PlayedSubject {
  readonly entry: PlayedPlan;
}

/** The hexadecimal digits of `sha256:…`. */
function hexOf(digest: string): string {
  return digest.slice('sha256:'.length);
}

/** Creates the account of a file, before its first compilation. @param file the name that browsers show */
export function createPlayedFile(file: string): PlayedFile {
  const listeners = new Set<() => void>();
  let plans: readonly Stored[] = [];
  let mistakes: readonly FindingDocument[] = [];
  let findings: readonly FindingDocument[] | null = null;
  const changed = (): void => {
    for (const listener of listeners) listener();
  };
  return {
    state: () => ({
      file,
      domain: plans[0]?.document.rule_set?.domain.name ?? null,
      plans: plans.map(({ entry }) => entry),
      mistakes,
      findings,
    }),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    plan: (digest) => plans.find(({ entry }) => entry.digest === digest) ?? null,
    signatures: (digest) =>
      plans.find(({ document }) => document.signatures?.digest === `sha256:${digest}`)?.signatures ?? null,
    compiled(subject, signatures) {
      mistakes = [];
      findings = null;
      const digest = hexOf(subject.digest);
      const [newest] = plans;
      const number = newest?.entry.digest === digest ? newest.entry.number : (newest?.entry.number ?? 0) + 1;
      const entry = {
        number,
        digest,
        at: new Date().toISOString(),
        rules: subject.ruleSet?.rules.length ?? 0,
      };
      const stored = {
        entry,
        document: subjectDocument(subject, signatures),
        bytes: subject.bytes,
        signatures: signatures?.sealed ?? null,
      };
      // Lines of rules may differ where the plan does not.
      plans = bounded([stored, ...plans.filter((plan) => plan.entry.digest !== digest)]);
      changed();
    },
    refused(found) {
      mistakes = found;
      changed();
    },
    linted(found) {
      findings = found;
      changed();
    },
  };
}

/** The newest plans within the bounds. */
function bounded(plans: readonly Stored[]): readonly Stored[] {
  let octets = 0;
  return plans.slice(0, MAX_PLAYED_PLANS).filter(({ bytes }, index) => {
    octets += bytes.length;
    return index === 0 || octets <= MAX_PLAYED_OCTETS;
  });
}
