/** The list of codes as Markdown, from the lists in `src/base/diagnostics/codes`. */
import { CODE_AREAS, codeAnchor } from '../../../src/base/diagnostics/codes/codes.ts';
import { formatted } from './sections.ts';

export const CODES_FILE = 'src/base/diagnostics/CODES.md';

const HEADER = `# Codes

The code of a message says what is wrong independently of its wording: in brackets in the terminal
(\`edge.yaml:12:7: error[unknown_field]: …\`), as \`code\` in JSON and in the diagnostics of \`edgeplan/compiler\`.
\`edgeplan codes unknown_field\` prints an entry, \`/docs/codes\` of a server shows all. Codes are stable across
releases; wordings are not. Generated from \`src/base/diagnostics/codes\` by \`npm run generate\`.
`;

/** The whole file. */
export function codesMarkdown(): string {
  const areas = CODE_AREAS.map((area) => {
    const { title, prefix, codes } = area;
    const entries = Object.entries(codes).map(
      ([code, { severity, meaning, remedy }]) =>
        `${prefix === '' ? '' : `<a id="${codeAnchor(area, code)}"></a>\n\n`}### ${code}\n\n${severity === null ? '' : `${severity}: `}${meaning}. To do: ${remedy}.`,
    );
    return `## ${title}\n\n${entries.join('\n\n')}`;
  });
  return formatted(CODES_FILE, `${HEADER}\n${areas.join('\n\n')}\n`);
}
