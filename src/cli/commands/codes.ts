/** `edgeplan codes`: says what the code of a message means and what to do about it. */
import { Argument, Command } from 'commander';
import { type ListedCode, listedCodes } from '../../base/diagnostics/codes/codes.ts';
import { nearest } from '../../rules/model/nearest.ts';
import { paint } from '../../workbench/simulation/paint.ts';
import { type RenderedLine, span } from '../../workbench/simulation/render-text.ts';
import { type Examples, withExamples } from '../examples.ts';
import { usageFault } from '../exit.ts';
import { colourOption } from '../options.ts';
import { type ColourChoice, colourFor, write, writeDocument } from '../output.ts';

interface CodesFlags {
  readonly color: ColourChoice;
  readonly json?: boolean;
}

/** The entries of one code, or all. */
function chosen(code: string | undefined): readonly ListedCode[] {
  const all = listedCodes();
  if (code === undefined) return all;
  const found = all.filter((one) => one.code === code);
  if (found.length > 0) return found;
  const meant = nearest(
    code,
    all.map((one) => one.code),
  );
  const remedy = meant === null ? 'edgeplan codes lists all codes' : `did you mean \`${meant}\`?`;
  if (/^[1-5]\d\d$/.test(code)) {
    const remedy =
      'a code is a word; the table of statuses is in src/edge/node/README.md#troubleshooting, and the fault of a response in the decision log';
    throw usageFault(`\`${code}\` is a status, and no code`, remedy);
  }
  throw usageFault(`there is no code \`${code}\``, remedy);
}

/** The lines of one code: name and severity, meaning, remedy. */
function describe({ code, area, severity, meaning, remedy }: ListedCode): readonly RenderedLine[] {
  return [
    [span(code, 'strong'), span(`  ${severity ?? area}`, 'dim')],
    [span(`  ${meaning}`)],
    [span('  = ', 'dim'), span(remedy)],
  ];
}

/** One line for each code, under the title of its area. */
function list(codes: readonly ListedCode[]): readonly RenderedLine[] {
  const width = Math.max(...codes.map(({ code }) => code.length));
  return codes.flatMap(({ code, area, meaning }, index) => {
    const isFirst = area !== codes[index - 1]?.area;
    const title: readonly RenderedLine[] = isFirst
      ? [...(index === 0 ? [] : [[]]), [span(area, 'strong')]]
      : [];
    return [...title, [span(`  ${code.padEnd(width)}  `), span(meaning, 'dim')]];
  });
}

/** Examples of the help. */
const EXAMPLES: Examples = {
  codes: ['edgeplan codes', 'edgeplan codes unknown_field'],
};

export function codesCommand(): Command {
  const command = new Command('codes')
    .summary('say what the code of a message means')
    .description(
      'Says what a code means and what to do about it: the word in brackets in `error[unknown_field]`, the field `code` ' +
        'of JSON output and of logged errors, the field `fault` of the decision log. Without a code it lists all.',
    )
    .addArgument(new Argument('[code]', 'such as unknown_field'))
    .option('--json', 'print {"format": "edgeplan.codes/v1", "codes": [...]}')
    .addOption(colourOption())
    .action(async (code: string | undefined, flags: CodesFlags) => {
      const codes = chosen(code);
      if (flags.json === true) {
        await writeDocument('codes', { codes });
        return;
      }
      const lines = code === undefined ? list(codes) : codes.flatMap(describe);
      await write(paint(lines, colourFor(process.stdout, flags.color)));
    });
  return withExamples(command, EXAMPLES);
}
