/**
 * The files of the repository that are generated from the source, whole or in sections. `npm run generate` writes them;
 * a test compares each with the source.
 */
import { readFileSync } from 'node:fs';
import { clientSchema, SCHEMA_FILE } from './client-schema.ts';
import { FIELDS_FILE, fieldReference } from './field-reference.ts';
import { commandOutput, drawTerminal, PICTURE_FILE } from './picture.ts';
import { formatted } from './sections.ts';

export interface GeneratedFile {
  /** From the project's root. */
  readonly path: string;
  /** The whole content as it should be; needs `dist/`. */
  readonly content: () => string | Promise<string>;
}

export const GENERATED: readonly GeneratedFile[] = [
  { path: SCHEMA_FILE, content: () => clientSchema(readFileSync('dist/api/docs/openapi.yaml', 'utf8')) },
  { path: PICTURE_FILE, content: () => drawTerminal(commandOutput()) },
  { path: FIELDS_FILE, content: () => formatted(FIELDS_FILE, fieldReference()) },
];
