/** The generated sections of the READMEs: tables of options, and the programs of `fixtures/embed`. */
import { readFileSync } from 'node:fs';
import { nodeCommand } from '../../../src/cli/commands/node.ts';
import { serveCommand } from '../../../src/cli/commands/serve.ts';
import { type Allowances, TIERS } from '../../../src/control/accounts/tiers.ts';
import type { Audience } from '../../../src/control/notices/kind.ts';
import { KIND_NAMES, KINDS } from '../../../src/control/notices/kinds.ts';
import { optionTables } from './options.ts';
import { formatted, withSection } from './sections.ts';

export const NODE_PAPER = 'src/edge/node/README.md';
export const API_PAPER = 'src/control/api/README.md';
export const EMBED_PAPER = 'src/edge/middleware/README.md';

/** The programs, in the order of the document. */
const PROGRAMS = ['http', 'express', 'fastify', 'hono', 'worker'] as const;

export function nodePaper(): string {
  return withSection(NODE_PAPER, 'options of edgeplan node', optionTables(nodeCommand()));
}

export function apiPaper(): string {
  const whole = withSection(API_PAPER, 'options of edgeplan serve', optionTables(serveCommand()));
  const tiered = withSection(API_PAPER, 'tiers', tierTable(), whole);
  return withSection(API_PAPER, 'kinds of notifications', kindTable(), tiered);
}

/** The kinds of notifications that are sent, with their usual channels. */
function kindTable(): string {
  const rows = KIND_NAMES.map((name) => {
    const { audience, meaning, usual } = KINDS[name];
    return `| \`${name}\` | ${meaning} | ${AUDIENCES[audience]} | ${usual.email} | ${usual.sms} | ${usual.webhook} |`;
  });
  return ['| kind | sent when | to | e-mail | SMS | webhook |', `| --- |${' --- |'.repeat(5)}`, ...rows].join(
    '\n',
  );
}

/** Who receives kinds of an audience. */
const AUDIENCES: Readonly<Record<Audience, string>> = {
  domain: 'owner and admins of the domain',
  owner: 'owner of the domain',
  account: 'the account',
  operators: 'accounts of operators',
};

/** What each tier allows, a row for each allowance. */
function tierTable(): string {
  const rows = Object.keys(TIERS[0]!.allowances).map((name) => {
    const cells = TIERS.map(({ allowances }) => allowanceText(allowances[name as keyof Allowances]));
    return `| \`${name}\` | ${cells.join(' | ')} |`;
  });
  const titles = TIERS.map(({ slug }) => `\`${slug}\``).join(' | ');
  return [`| allowance | ${titles} |`, `| --- |${' --- |'.repeat(TIERS.length)}`, ...rows].join('\n');
}

function allowanceText(value: Allowances[keyof Allowances]): string {
  if (value === null) return 'unlimited';
  if (typeof value === 'boolean') return value ? 'yes' : 'no';
  if (typeof value === 'number') return value.toLocaleString('en');
  return value.map((type) => `\`${type}\``).join(', ') || 'none';
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
