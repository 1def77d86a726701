/** SecLang text as it comes in, and how what is wrong with it is told. */
import type { Diagnostic } from '../../base/diagnostic.ts';
import { quoteValue } from '../../base/diagnostic.ts';
import { MAX_DIAGNOSTICS } from '../../base/limits.ts';

/** One configuration file. `text` is Latin-1: one character an octet, whatever the file's encoding is. */
export interface Source {
  /** As diagnostics name it, and what relative names in it are relative to. */
  readonly file: string;
  readonly text: string;
}

/** What `Include` reads through; paths are resolved against the including file. */
export interface SourceReader {
  /** The file's text as Latin-1; `null`: there is none. */
  readonly read: (path: string) => string | null;
  /** The files that a pattern with `*` or `?` names, sorted. */
  readonly list: (pattern: string) => readonly string[];
}

/** Where in a file; `column` is 1 where only the directive is known. */
export interface At {
  readonly file: string;
  readonly line: number;
  readonly column?: number;
}

/** What is wrong, and what would be right. */
export interface SecLangFinding {
  readonly message: string;
  /** The offending piece as written. */
  readonly found?: string;
  readonly remedy?: string;
}

/** Collects diagnostics up to `MAX_DIAGNOSTICS`. */
export interface SecLangReport {
  readonly diagnostics: readonly Diagnostic[];
  readonly error: (code: string, at: At | null, finding: SecLangFinding) => void;
  readonly warn: (code: string, at: At | null, finding: SecLangFinding) => void;
  readonly inform: (code: string, at: At | null, finding: SecLangFinding) => void;
  readonly add: (diagnostics: readonly Diagnostic[]) => void;
}

/** An empty report. */
export function createReport(): SecLangReport {
  const diagnostics: Diagnostic[] = [];
  const add = (more: readonly Diagnostic[]): void => {
    for (const one of more) if (diagnostics.length < MAX_DIAGNOSTICS) diagnostics.push(one);
  };
  const tell =
    (severity: Diagnostic['severity']) => (code: string, at: At | null, finding: SecLangFinding) => {
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
  return { diagnostics, error: tell('error'), warn: tell('warning'), inform: tell('info'), add };
}
