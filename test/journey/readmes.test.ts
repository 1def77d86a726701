/**
 * Every Markdown file of the repository: its commands run and exit as the text says, its examples compile, and what it
 * refers to exists. `test/support/readmes/` states the rules.
 */
import { transformSync } from 'esbuild';
import { beforeAll, describe, expect, test } from 'vitest';
import { formatDiagnostic } from '../../src/base/diagnostics/diagnostic.ts';
import { decisionLine } from '../../src/edge/proxy/log/line.ts';
import { compile } from '../../src/engine/compiler/compile.ts';
import { readEdgeFile } from '../../src/rules/files/edge-file.ts';
import { readTestFile } from '../../src/rules/files/test-file.ts';
import { builtCli } from '../support/built.ts';
import { commandsOf, missingLine } from '../support/readmes/commands.ts';
import { type Block, type Paper, readPapers, savedAs } from '../support/readmes/markdown.ts';
import { deadLinks, deadNames, deadPaths, deadRoutes } from '../support/readmes/references.ts';
import { missingShell, openSandbox, type Sandbox } from '../support/readmes/sandbox.ts';
import { requires } from '../support/requires.ts';
import { typecheckExamples } from '../support/type-check-examples.ts';

const PAPERS = readPapers();
/** Octets of `README.md`: two screens and the picture. */
const README_OCTETS = 9_000;
/** Blocks that no test runs; each carries its reason in the text. */
const NOT_RUN_AT_MOST = 19;
/** A file's commands may start servers one after the other on a busy machine. */
const PATIENCE = 900_000;

/** A server with one domain. */
const SERVED = [
  'edgeplan account create shop --data ./edgeplan-data',
  'edgeplan key create shop --data ./edgeplan-data',
  'edgeplan node-token create edge-0 --data ./edgeplan-data',
  'edgeplan serve --data ./edgeplan-data --trust-names',
  `curl -sS --fail -H 'Authorization: Bearer svc_...' -H 'Content-Type: application/json' $EDGEPLAN_SERVER/domains/ -d '{"name":"example.com"}'`,
];
/** What a reader has done before a file's first command. */
const PRELUDES: Readonly<Record<string, readonly string[]>> = {
  'src/control/api/OPERATIONS.md': SERVED,
  'src/edge/node/README.md': SERVED,
};

beforeAll(builtCli, PATIENCE);

function blocksOf(paper: Paper, language: string): readonly Block[] {
  return paper.blocks.filter((block) => block.language === language);
}

function nameOf(paper: Paper, block: Block): string {
  return `${paper.path}:${block.line}`;
}

describe('the commands', () => {
  const withCommands = PAPERS.filter((paper) => blocksOf(paper, 'sh').some(({ notRun }) => notRun === null));

  test.for(withCommands)(
    '$path: each exits as the text says',
    { ...requires(missingShell()), timeout: PATIENCE },
    async (paper) => {
      const sandbox = await openSandbox(paper);
      try {
        await runPaper(sandbox, paper);
      } finally {
        await sandbox.close();
      }
    },
  );

  const notRun = PAPERS.flatMap((paper) =>
    paper.blocks.flatMap((block) => (block.notRun === null ? [] : [{ paper, block, reason: block.notRun }])),
  );

  test(`at most ${NOT_RUN_AT_MOST} blocks are not run`, () => {
    expect(notRun.map(({ paper, block }) => nameOf(paper, block)).length).toBeLessThanOrEqual(
      NOT_RUN_AT_MOST,
    );
  });

  for (const { paper, block, reason } of notRun) {
    test(
      `${nameOf(paper, block)} runs`,
      requires(`a block of a README is not run: ${reason}`),
      () => undefined,
    );
  }
});

/** Saves the files and runs the commands of a paper, in its order. */
async function runPaper(sandbox: Sandbox, paper: Paper): Promise<void> {
  for (const text of PRELUDES[paper.path] ?? []) await runCommand(sandbox, { text, exits: 0 }, paper.path);
  for (const [at, block] of paper.blocks.entries()) {
    const name = savedAs(block);
    if (name !== null) sandbox.save(name, block.language === 'ts' ? withoutTypes(block.code) : block.code);
    if (block.language !== 'sh' || block.notRun !== null) continue;
    if (block.stopped) await sandbox.stopServers();
    const output = await runBlock(sandbox, paper, block);
    const next = paper.blocks[at + 1];
    // A `text` block right behind commands shows what they print.
    if (next?.language === 'text') expect(missingLine(next.code, output), output).toBe(null);
  }
}

async function runBlock(sandbox: Sandbox, paper: Paper, block: Block): Promise<string> {
  let output = '';
  for (const command of commandsOf(block.code))
    output += await runCommand(sandbox, command, nameOf(paper, block));
  return output;
}

async function runCommand(
  sandbox: Sandbox,
  { text, exits }: { text: string; exits: number },
  place: string,
): Promise<string> {
  const { code, output } = await sandbox.run(text);
  expect(code, `${place}: ${text}\n${output}`).toBe(exits);
  return output;
}

function withoutTypes(code: string): string {
  return transformSync(code, { loader: 'ts', format: 'esm' }).code;
}

describe('the examples', () => {
  test(
    'every `ts` block has the types of the package',
    () => {
      const blocks = PAPERS.flatMap((paper) =>
        blocksOf(paper, 'ts').map((block) => ({ name: nameOf(paper, block), code: block.code })),
      );
      expect(blocks.length).toBeGreaterThan(6);
      expect(typecheckExamples(blocks)).toEqual([]);
    },
    PATIENCE,
  );

  const yaml = PAPERS.flatMap((paper) =>
    blocksOf(paper, 'yaml')
      .filter(({ notRun }) => notRun === null)
      .map((block) => ({ name: nameOf(paper, block), code: block.code })),
  );

  test.each(yaml)('$name: the `yaml` block compiles or is a test file', ({ name, code }) => {
    if (/^(?:tests|invariants):/m.test(code)) {
      const { diagnostics, tests, invariants } = readTestFile(code, name);
      expect(diagnostics.map(formatDiagnostic)).toEqual([]);
      expect(tests.length + invariants.length).toBeGreaterThan(0);
      return;
    }
    const whole = /^domain:/m.test(code) ? code : `domain: example.com\n${code}`;
    const file = readEdgeFile(whole, name);
    expect(file.diagnostics.map(formatDiagnostic)).toEqual([]);
    if (!file.ok) throw new Error(`${name} is no edge file`);
    expect(compile(file.ruleSet).diagnostics.map(formatDiagnostic)).toEqual([]);
  });
});

describe('the references', () => {
  test('every relative link and anchor leads somewhere', () => {
    expect(deadLinks(PAPERS)).toEqual([]);
  });

  test('every path of the repository exists', () => {
    expect(deadPaths(PAPERS)).toEqual([]);
  });

  test('every operation of the API exists', () => {
    expect(deadRoutes(PAPERS)).toEqual([]);
  });

  test('every metric, variable and flag exists', () => {
    expect(deadNames(PAPERS)).toEqual([]);
  });

  test('the table of the decision log has every field of a line', () => {
    const fields = Object.keys(
      decisionLine(
        {
          exchange: null,
          id: '',
          status: 421,
          octets: 0,
          octetsIn: 0,
          durationMs: 0,
          firstOctetMs: null,
          origin: null,
          originMs: null,
          monitored: false,
          cache: null,
          markdown: null,
          fault: null,
        },
        null,
      ),
    );
    const { text } = PAPERS.find(({ path }) => path === 'src/edge/node/README.md')!;
    const [, table = ''] = text.split('## Decision log');
    const named = table
      .split('\n')
      .flatMap((row) => (/^\| (`[^|]*)\|/.exec(row)?.[1] ?? '').match(/\w+/g) ?? []);
    expect(fields.filter((field) => !named.includes(field))).toEqual([]);
  });

  test(`README.md has at most ${README_OCTETS} octets`, () => {
    const readme = PAPERS.find(({ path }) => path === 'README.md');
    expect(Buffer.byteLength(readme?.text ?? '')).toBeLessThanOrEqual(README_OCTETS);
    expect(readme?.links.length).toBeGreaterThan(5);
  });
});
