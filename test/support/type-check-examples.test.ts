/** The examples in doc comments of the public entry points compile, and the check finds what does not. */
import { describe, expect, test } from 'vitest';
import { docExamples, markdownExamples, typecheckExamples } from './type-check-examples.ts';

/** Files with examples, and the declarations that have one. */
const DOCUMENTED: Readonly<Record<string, readonly string[]>> = {
  'src/engine/compiler/compile.ts': ['compile'],
  'src/engine/plan/seal.ts': ['seal'],
  'src/engine/evaluator/evaluate.ts': ['evaluate', 'explain', 'rateLimitFields', 'loadPlan'],
  'src/edge/middleware/node/edge.ts': ['createEdge'],
  'src/edge/middleware/fetch/edge.ts': ['createEdge'],
  'src/control/client/client.ts': ['createClient'],
};

describe('the check of examples', () => {
  test('finds the `ts` blocks of a Markdown file', () => {
    const examples = markdownExamples('src/edge/middleware/README.md');
    expect(examples.length).toBeGreaterThan(3);
    for (const { name, code } of examples) {
      expect(name).toMatch(/^src\/edge\/middleware\/README\.md:\d+$/);
      expect(code).not.toContain('```');
    }
  });

  test('names the example, the line and the error', () => {
    const found = typecheckExamples([
      { name: 'fine', code: "import { loadPlan } from 'edgeplan/evaluator';\nloadPlan(new Uint8Array());\n" },
      { name: 'bad', code: "import { seal } from 'edgeplan/compiler';\n\nseal(1);\n" },
      { name: 'typo', code: "import { sale } from 'edgeplan/compiler';\n" },
      { name: 'cut', code: 'const a = (;\n' },
    ]);
    expect(found).toEqual([
      expect.stringMatching(/^bad: line 3: Argument of type 'number'/),
      expect.stringMatching(/^typo: line 1: .*has no exported member/),
      expect.stringMatching(/^cut: line 1: Expression expected/),
    ]);
  });
});

describe('the examples of the public entry points', () => {
  const examples = Object.keys(DOCUMENTED).flatMap(docExamples);

  test('are one for each documented declaration', () => {
    const names = Object.entries(DOCUMENTED).flatMap(([path, list]) =>
      list.map((name) => `${path}, ${name}`),
    );
    expect(examples.map(({ name }) => name)).toEqual(names);
  });

  test('compile', () => {
    expect(typecheckExamples(examples)).toEqual([]);
  });
});
