/** SecLang source files, places in them, and the collection of diagnostics. */
import type { DiagnosticCode } from '../../../base/diagnostics/codes/codes.ts';
import type { Diagnostic } from '../../../base/diagnostics/diagnostic.ts';
import { quoteValue } from '../../../base/diagnostics/diagnostic.ts';
import { MAX_DIAGNOSTICS } from '../../../base/vocabulary/limits.ts';

/** One configuration file. */
export interface Source {
  /** Its name in diagnostics; relative names in it are resolved against this. */
  readonly file: string;
  /** Latin-1: one character an octet, whatever the file's encoding is. */
  readonly text: string;
}

/** Access to included files; paths are resolved against the including file. */
export interface SourceReader {
  /** Returns the file's text as Latin-1; `null`: it does not exist. */
  readonly read: (path: string) => string | null;
  /** Returns the files that match a pattern with `*` or `?`, sorted. */
  readonly list: (pattern: string) => readonly string[];
}

/** A place in a file. Lines and columns count from 1; without `column`, only the directive's line is known. */
export interface At {
  readonly file: string;
  readonly line: number;
  /** Absent: only the directive is known. */
  readonly column?: number;
}

/** The text of a diagnostic: what is wrong, and what would be right. */
export interface SecLangFinding {
  /** A sentence in lower case without full stop. */
  readonly message: string;
  /** The offending text as written. */
  readonly found?: string;
  /** What would be right, in the imperative. */
  readonly remedy?: string;
}

/** The code of a finding, without its prefix. */
export type SecLangCode = DiagnosticCode extends infer Code
  ? Code extends `seclang_${infer Rest}`
    ? Rest
    : never
  : never;

/** Collects diagnostics, at most `MAX_DIAGNOSTICS`; codes get the prefix `seclang_`. */
export interface SecLangReport {
  readonly diagnostics: readonly Diagnostic[];
  /** Adds an error: no program results. */
  readonly error: (code: SecLangCode, at: At | null, finding: SecLangFinding) => void;
  /** Adds a warning: the program results, and may not be what was intended. */
  readonly warn: (code: SecLangCode, at: At | null, finding: SecLangFinding) => void;
  /** Adds an information. */
  readonly inform: (code: SecLangCode, at: At | null, finding: SecLangFinding) => void;
  /** Adds diagnostics of another report. */
  readonly add: (diagnostics: readonly Diagnostic[]) => void;
}

/** Creates an empty report. */
export function createReport(): SecLangReport {
  const diagnostics: Diagnostic[] = [];
  const add = (more: readonly Diagnostic[]): void => {
    for (const one of more) if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push(one);
  };
  const collect =
    (severity: Diagnostic['severity']) => (code: SecLangCode, at: At | null, finding: SecLangFinding) => {
      add([
        {
          code: `seclang_${code}`,
          severity,
          path: [],
          message: finding.message,
          ...(finding.found === undefined ? {} : { found: quoteValue(finding.found) }),
          ...(finding.remedy === undefined ? {} : { remedy: finding.remedy }),
          ...(at === null ? {} : { at: { file: at.file, line: at.line, column: at.column ?? 1 } }),
        },
      ]);
    };
  return { diagnostics, error: collect('error'), warn: collect('warning'), inform: collect('info'), add };
}
