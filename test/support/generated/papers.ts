/** The generated sections of the READMEs: tables of options, and the programs of `fixtures/embed`. */
import { readFileSync } from 'node:fs';
import { nodeCommand } from '../../../src/cli/commands/node.ts';
import { serveCommand } from '../../../src/cli/commands/serve.ts';
import { optionTables } from './options.ts';
import { formatted, withSection } from './sections.ts';

export const NODE_PAPER = 'src/node/README.md';
export const API_PAPER = 'src/api/README.md';
export const EMBED_PAPER = 'src/embed/README.md';

/** The programs, in the order of the document. */
const PROGRAMS = ['http', 'express', 'fastify', 'hono', 'worker'] as const;

export function nodePaper(): string {
  return withSection(NODE_PAPER, 'options of edgeplan node', optionTables(nodeCommand()));
}

export function apiPaper(): string {
  return withSection(API_PAPER, 'options of edgeplan serve', optionTables(serveCommand()));
}

/** Each program of `fixtures/embed` in its section. */
export function embedPaper(): string {
  const whole = PROGRAMS.reduce(
    (text, name) => {
      const program = readFileSync(`fixtures/embed/${name}.ts`, 'utf8').trim();
      return withSection(EMBED_PAPER, `embed ${name}`, `\`\`\`ts\n${program}\n\`\`\``, text);
    },
    readFileSync(EMBED_PAPER, 'utf8'),
  );
  return formatted(EMBED_PAPER, whole);
}
