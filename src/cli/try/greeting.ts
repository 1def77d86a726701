/** The text that `try` prints: addresses, and commands ready to paste. */
import { accessSync, constants, realpathSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { PANEL_PATH } from '../../page/panel/assets.ts';
import { shellWord } from '../../workbench/simulation/render-text.ts';

/** What the text contains. */
export interface Tried {
  /** The address of the API. */
  readonly url: string;
  /** The address of the health and metrics listener. */
  readonly operationsUrl: string;
  readonly key: string;
  readonly domain: string;
  /** The content of the store, as a clause. */
  readonly content: string;
  readonly folder: string;
  /** Whether the folder remains after the command ends. */
  readonly keptFolder: boolean;
  /** The path of the API reference. */
  readonly reference: string;
}

/** curl with the key that the text exports. */
const AUTHORIZED = 'curl -sS -H "Authorization: Bearer $EDGEPLAN_KEY"';

/** Returns the text. */
export function greeting(tried: Tried): string {
  const { url, operationsUrl, key, folder, keptFolder } = tried;
  const end = keptFolder ? 'kept' : 'removed when this ends';
  return [
    `edgeplan is up: ${tried.content}.`,
    keptFolder ? 'Stop it with Ctrl-C.' : 'All of this is temporary. Stop it with Ctrl-C.',
    '',
    `  API        ${url}`,
    `  page       ${url}${PANEL_PATH}, which asks for the key below`,
    `  reference  ${url}${tried.reference}`,
    `  metrics    ${operationsUrl}/metrics`,
    `  data       ${folder}, ${end}`,
    '',
    'In another terminal:',
    '',
    `export EDGEPLAN_SERVER=${url} EDGEPLAN_KEY=${key}`,
    ...commandsOf(tried).flatMap(([why, command]) => ['', `# ${why}`, command]),
    '',
    '',
  ].join('\n');
}

/** Commands with what each shows. */
function commandsOf({ domain, operationsUrl }: Tried): readonly (readonly [string, string])[] {
  const name = commandName();
  const rules = `"$EDGEPLAN_SERVER/domains/${domain}/rules/drop/`;
  const rule = JSON.stringify({
    path_includes: ['/private/*'],
    country_match_type: 'exclude',
    countries: ['DE'],
  });
  const request = `'https://shop.${domain}/api/orders?id=7' --ip 203.0.113.7 --country RU -A 'GPTBot/1.2'`;
  return [
    ['the rules that drop requests', `${AUTHORIZED} ${rules}"`],
    [
      'what a request would hit, and why',
      `${name} export ${domain} --ids | ${name} simulate -f - ${request}`,
    ],
    [
      'one more rule, published before the answer comes',
      `${AUTHORIZED} -H 'Content-Type: application/json' ${rules}?wait=published" -d ${shellWord(rule)}`,
    ],
    ['what was published, newest first', `${AUTHORIZED} "$EDGEPLAN_SERVER/domains/${domain}/plans/?limit=3"`],
    ['who changed what', `${name} audit ${domain} --limit 5`],
    ['requests, publications, store: for Prometheus', `curl -sS ${operationsUrl}/metrics`],
  ];
}

/** `edgeplan` if PATH contains it, `npx edgeplan` under npx, else the file itself with Node. */
function commandName(): string {
  const main = process.argv[1] ?? 'edgeplan';
  if (process.env['npm_command'] === 'exec') return 'npx edgeplan';
  const found = (process.env['PATH'] ?? '')
    .split(delimiter)
    .some((folder) => isThisProgram(join(folder, 'edgeplan'), main));
  return found ? 'edgeplan' : `${shellWord(process.execPath)} ${shellWord(realpathSync(main))}`;
}

/** Whether an executable file is this program. */
function isThisProgram(file: string, main: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return realpathSync(file) === realpathSync(main);
  } catch {
    return false;
  }
}
