/**
 * The files of the repository that are generated from the source, whole or in sections. `npm run generate` writes them;
 * a test compares each with the source.
 */
import { readFileSync } from 'node:fs';
import { clientSchema, SCHEMA_FILE } from './client-schema.ts';
import { CODES_FILE, codesMarkdown } from './codes-markdown.ts';
import { FIELDS_FILE, fieldReference } from './field-reference.ts';
import { METRICS_FILE, metricsFile } from './metrics.ts';
import { API_PAPER, apiPaper, EMBED_PAPER, embedPaper, NODE_PAPER, nodePaper } from './papers.ts';
import { commandOutput, drawTerminal, PICTURE_FILE } from './picture.ts';
import { formatted } from './sections.ts';

export interface GeneratedFile {
  /** From the project's root. */
  readonly path: string;
  /** The whole content as it should be; needs `dist/`. */
  readonly content: () => string | Promise<string>;
}

export const GENERATED: readonly GeneratedFile[] = [
  {
    path: SCHEMA_FILE,
    content: () => clientSchema(readFileSync('dist/page/reference/openapi.yaml', 'utf8')),
  },
  { path: CODES_FILE, content: codesMarkdown },
  { path: PICTURE_FILE, content: () => drawTerminal(commandOutput()) },
  { path: NODE_PAPER, content: nodePaper },
  { path: API_PAPER, content: apiPaper },
  { path: EMBED_PAPER, content: embedPaper },
  { path: METRICS_FILE, content: metricsFile },
  { path: FIELDS_FILE, content: () => formatted(FIELDS_FILE, fieldReference()) },
];
