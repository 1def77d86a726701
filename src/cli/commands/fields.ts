/** `edgeplan fields`: prints what each field of rules, records, domains and files means, with bounds and examples. */
import { Command } from 'commander';
import { habitRemedy, habitualType } from '../../rules/model/habits.ts';
import { nearest } from '../../rules/model/nearest.ts';
import {
  type FieldEntry,
  type FieldSection,
  fieldSections,
} from '../../workbench/simulation/field-reference.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { colourOption } from '../options.ts';
import { type ColourChoice, colourFor, outputWidth, write } from '../output.ts';
import { type FieldsOptions, fieldsDocument, fieldText, sectionsText, sectionText } from '../print/fields.ts';

/** The options of the command, as commander parses them. */
interface Flags {
  /** Prints JSON. */
  readonly json?: boolean;
  readonly color: ColourChoice;
}

/** Other names of sections. */
const ALIASES: Readonly<Record<string, string>> = {
  rules: 'rule',
  common: 'rule',
  condition: 'conditions',
  records: 'record',
  dns: 'record',
  settings: 'domain',
  consumers: 'consumer',
  usage_plans: 'usage_plan',
  token_issuers: 'token_issuer',
  edge: 'edge.yaml',
  file: 'edge.yaml',
  test: 'edge.test.yaml',
  tests: 'edge.test.yaml',
  'edge.test': 'edge.test.yaml',
};

/** The section of a name or an alias. @throws CommandFault with the nearest name */
function sectionOf(name: string, sections: readonly FieldSection[]): FieldSection {
  const wanted = ALIASES[name] ?? name;
  const found = sections.find((section) => section.name === wanted);
  if (found !== undefined) return found;
  const names = sections.map((section) => section.name);
  const near = nearest(name, [...names, ...Object.keys(ALIASES)]);
  const having = sections
    .filter(({ fields }) => fields.some((field) => field.name === wanted))
    .map((section) => section.name);
  if (having.length > 0)
    throw usageFault(
      `\`${name}\` is a field of ${having.join(', ')}`,
      `edgeplan fields ${having[0]} ${name}`,
    );
  const meant = habitualType(name) ?? (near === null ? null : (ALIASES[near] ?? near));
  const remedy =
    meant === null ? `there are ${names.join(', ')}` : `did you mean \`edgeplan fields ${meant}\`?`;
  throw usageFault(`\`${name}\` is not a rule type, nor a name of anything else with fields`, remedy);
}

/** The field of a name, in the section or among the fields of every rule. @throws CommandFault */
function fieldOf(
  name: string,
  section: FieldSection,
  sections: readonly FieldSection[],
): { readonly section: FieldSection; readonly field: FieldEntry } {
  const shared = section.common === undefined ? [] : sections.filter((one) => one.name === 'rule');
  const places = [section, ...shared].flatMap((one) =>
    one.fields.filter((field) => isIn(section, field)).map((field) => ({ section: one, field })),
  );
  const last = (path: string): string => path.split('.').at(-1)!;
  const found =
    places.find(({ field }) => field.name === name) ?? places.find(({ field }) => last(field.name) === name);
  if (found !== undefined) return found;
  const known = places.flatMap(({ field }) => [field.name, last(field.name)]);
  const near = habitRemedy(name, known, undefined)?.field ?? nearest(name, known);
  const remedy =
    near === null
      ? `\`edgeplan fields ${section.name}\` lists the fields`
      : `did you mean \`edgeplan fields ${section.name} ${near}\`?`;
  throw usageFault(`\`${section.name}\` has no field \`${name}\``, remedy);
}

/** Whether rules of a type have a field of every rule; the path filter is not in every type. */
function isIn({ common }: FieldSection, { name }: FieldEntry): boolean {
  return common !== 'hosts' || !name.startsWith('path_');
}

/** Prints the list, one section or one field. */
async function run(type: string | undefined, name: string | undefined, flags: Flags): Promise<void> {
  const sections = fieldSections();
  const options: FieldsOptions = { colour: colourFor(process.stdout, flags.color), width: outputWidth() };
  if (type === undefined) {
    await write(flags.json === true ? fieldsDocument(sections) : sectionsText(sections, options));
    return;
  }
  const section = sectionOf(type, sections);
  if (name === undefined) {
    await write(flags.json === true ? fieldsDocument([section]) : sectionText(section, options));
    return;
  }
  const found = fieldOf(name, section, sections);
  const alone = { ...found.section, fields: [found.field] };
  await write(flags.json === true ? fieldsDocument([alone]) : fieldText(found.section, found.field, options));
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  fields: ['edgeplan fields', 'edgeplan fields drop', 'edgeplan fields drop path_includes'],
};

/** Creates the command. */
export function fieldsCommand(): Command {
  const command = new Command('fields')
    .summary('list the fields of a rule type, a record, a domain or a file')
    .description(
      'Prints what each field means, with its type, bounds, default and an example. Without a type it lists the types: ' +
        'those of rules, `rule` for the fields of all of them, `conditions` for those inside that field, record, domain, ' +
        'consumer, usage_plan, token_issuer, edge.yaml and edge.test.yaml.',
    )
    .argument(
      '[type]',
      'a rule type, rule, conditions, record, domain, consumer, usage_plan, token_issuer, edge.yaml or edge.test.yaml',
    )
    .argument('[field]', 'one field, in full')
    .option('--json', 'print an object in the format edgeplan.fields/v1')
    .addOption(colourOption())
    .action(run);
  return withExamples(command, EXAMPLES);
}
