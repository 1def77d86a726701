/** Reads test files: their tests and invariants, with every mistake printed at its line. */
import { type Diagnostic, hasErrors } from '../../base/diagnostics/diagnostic.ts';
import { type RuleTest, readTestBytes, type WrittenInvariant } from '../../rules/files/test-file.ts';
import { DiagnosedFault, usageFault } from '../exit.ts';
import { type ColourChoice, colourFor } from '../output.ts';
import { diagnosticsText, tally } from '../print/diagnostics.ts';
import { readBytes } from './read-file.ts';
import { refuseOutside } from './refuse-outside.ts';
import { testsBeside } from './tests-beside.ts';

/** What test files have. */
export interface TestsOfFiles {
  readonly tests: readonly RuleTest[];
  readonly invariants: readonly WrittenInvariant[];
}

/** Texts of the files read so far by name, to print diagnostics with source lines. */
export type Texts = Map<string, string>;

/** How diagnostics are printed. */
interface DiagnosticStyle {
  readonly texts: Texts;
  readonly colour: ColourChoice;
}

/** Decodes source lines; invalid octets become U+FFFD. */
const LENIENT = new TextDecoder('utf-8');

/** Prints diagnostics on stderr. */
export function printDiagnostics(
  diagnostics: readonly Diagnostic[],
  { texts, colour }: DiagnosticStyle,
): void {
  if (diagnostics.length === 0) return;
  process.stderr.write(diagnosticsText(diagnostics, { colour: colourFor(process.stderr, colour), texts }));
}

/** Reads test files and adds their texts. @throws CommandFault with exit code 3 */
export async function readTests(names: readonly string[], style: DiagnosticStyle): Promise<TestsOfFiles> {
  const { texts } = style;
  const tests: RuleTest[] = [];
  const invariants: WrittenInvariant[] = [];
  const diagnostics: Diagnostic[] = [];
  for (const name of names) {
    refuseOutside(name);
    const octets = await readBytes(name);
    texts.set(name, LENIENT.decode(octets));
    const read = readTestBytes(octets, name);
    tests.push(...read.tests);
    invariants.push(...read.invariants);
    diagnostics.push(...read.diagnostics);
  }
  printDiagnostics(diagnostics, style);
  if (hasErrors(diagnostics)) {
    const edge = names.find((name) => isEdgeFile(texts.get(name) ?? ''));
    const remedy = `\`${edge}\` is an edge file; write: edgeplan test -f ${edge}`;
    throw new DiagnosedFault(
      `the tests cannot be read: ${tally(diagnostics)}`,
      diagnostics,
      edge === undefined ? {} : { remedy },
    );
  }
  return { tests, invariants };
}

/** Whether a text is an edge file in place of tests. */
function isEdgeFile(text: string): boolean {
  return /^domain:/m.test(text) && !/^tests:/m.test(text);
}

/** The test files: those named, else the one beside the edge file. @throws CommandFault for stdin */
export function testFiles(named: readonly string[], file: string): readonly string[] {
  if (named.length > 0) return named;
  if (file === '-') throw usageFault('an edge file from stdin has no tests beside it', 'name the test files');
  return [testsBeside(file)];
}
