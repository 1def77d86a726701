/** The reference of every field, as Markdown, from the schemas that the readers of files and the API are made of. */
import {
  describeDefault,
  describeType,
  exampleText,
  type FieldSection,
  fieldSections,
} from '../../../src/workbench/simulation/field-reference.ts';

export const FIELDS_FILE = 'src/rules/model/FIELDS.md';

const HEADER = `# Fields

Every field of rules, records, the domain and the two files. Generated: \`npm run generate\` writes this file from the
schemas; \`edgeplan fields\` prints the same. A field without a default is required or marked optional. Names with \`[]\`
are fields of the entries of a list.
`;

/** The whole reference. */
export function fieldReference(): string {
  const sections = fieldSections();
  const contents = sections.map(
    (section) => `- [${section.title}](#${anchorOf(section)}): ${lowerFirst(section.summary)}`,
  );
  return `${[HEADER, ...contents].join('\n')}\n\n${sections.map(sectionText).join('\n')}`;
}

/** The anchor of a section, stable across its title. */
function anchorOf({ name }: FieldSection): string {
  return name.replaceAll('.', '-');
}

function lowerFirst(text: string): string {
  return /^[A-Z][a-z]/.test(text) ? text.charAt(0).toLowerCase() + text.slice(1) : text;
}

/** One section: a heading with its anchor, and a table of its fields. */
function sectionText(section: FieldSection): string {
  const { title, summary, fields, common } = section;
  const also =
    common === undefined
      ? ''
      : ` Also has the [fields of every rule](#rule)${common === 'path' ? '' : ' but those of paths'}.`;
  const rows = fields.map((field) => {
    const { name, schema } = field;
    const cells = [
      code(name),
      describeType(schema),
      describeDefault(field),
      String(schema['description']),
      code(exampleText(field)),
    ];
    return `| ${cells.map(escaped).join(' | ')} |`;
  });
  return [
    `<a id="${anchorOf(section)}"></a>`,
    '',
    `## ${title}`,
    '',
    `${summary}.${also}`,
    '',
    '| field | type | default | meaning | example |',
    '| --- | --- | --- | --- | --- |',
    ...rows,
    '',
  ].join('\n');
}

/** Text as inline code, with a fence longer than any backtick in it. */
function code(text: string): string {
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``;
}

/** A cell: `|` and line ends would end it, `<` would start HTML outside code. */
function escaped(cell: string): string {
  return cell.replaceAll('|', '\\|').replaceAll('\n', ' ');
}
