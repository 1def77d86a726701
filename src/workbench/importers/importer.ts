/** What an importer declares: how the command line offers it, and what translates its files. */
import type { ImportedEdge, ImporterOptions, ImportRefusal, SourceFile } from './report.ts';

/** Opens the files of an `include`, in the order of their names; a mask that matches no file has none. */
export type OpenIncludes = (pattern: string) => readonly SourceFile[] | { readonly reason: string };

/** One product whose rules can be translated. */
export interface Importer {
  /** The word of the command line. */
  readonly name: string;
  /** What its files are. */
  readonly files: string;
  readonly summary: string;
  /** Sentences about what is translated. */
  readonly description: string;
  /** Command lines of the help, each of which works. */
  readonly examples: readonly string[];
  /** Translates the files; `open` reads those that they include. */
  readonly translate: (
    files: readonly SourceFile[],
    options: ImporterOptions,
    open: OpenIncludes,
  ) => ImportedEdge | ImportRefusal;
}
