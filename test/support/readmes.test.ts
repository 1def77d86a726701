/** What the test of the READMEs reads from Markdown, and how it fails. */
import { describe, expect, test } from 'vitest';
import { commandsOf, missingLine, portsIn, withoutPlaceholders } from './readmes/commands.ts';
import { type Block, parsePaper, savedAs } from './readmes/markdown.ts';
import { deadLinks, deadNames, deadPaths } from './readmes/references.ts';

const FENCE = '```';

function block(code: string): Block {
  return { language: 'yaml', code, line: 1, notRun: null, stopped: false };
}

describe('a Markdown file', () => {
  test('has its blocks with the remark before each', () => {
    const text = `# A\n\n<!-- not run: it needs root -->\n\n${FENCE}sh\nreboot\n${FENCE}\n\n${FENCE}sh\ndate\n${FENCE}\n`;
    expect(parsePaper('a.md', text).blocks).toMatchObject([
      { language: 'sh', code: 'reboot\n', line: 6, notRun: 'it needs root' },
      { language: 'sh', code: 'date\n', line: 10, notRun: null },
    ]);
  });

  test('has an anchor for each heading', () => {
    const { anchors } = parsePaper('a.md', '# Where is …\n\n## `a` b\n\n## a b\n');
    expect([...anchors]).toEqual(['where-is-', 'a-b', 'a-b-1']);
  });

  test('has no code block without an end', () => {
    expect(() => parsePaper('a.md', `${FENCE}sh\ndate\n`)).toThrow('a.md:1: this code block has no end');
  });

  test('names the file of a block in its first line', () => {
    expect(savedAs(block('# edge.yaml\ndomain: a\n'))).toBe('edge.yaml');
    expect(savedAs(block('// decide.mjs\nimport a;\n'))).toBe('decide.mjs');
    expect(savedAs(block('# a comment\ndomain: a\n'))).toBe(null);
  });

  test('has no link, anchor or path that leads nowhere', () => {
    const text =
      '# A\n[a](no.md) [b](#b) [c](README.md#no) [d](#a) [e](https://a.example) `src/no.ts` `no.ts` `my/own.ts`\n';
    const papers = [parsePaper('a.md', text)];
    expect(deadLinks(papers)).toEqual(['a.md:2: no.md', 'a.md:2: #b', 'a.md:2: README.md#no']);
    expect(deadPaths(papers)).toEqual(['a.md:2: src/no.ts', 'a.md:2: no.ts']);
  });

  test('has no metric, variable or flag that no source has', () => {
    // Put together, so that this source has none of them.
    const [metric, variable, flag] = [`edgeplan_${'none'}`, `EDGEPLAN_${'NONE'}`, `--${'unheard'}`];
    const text = `\`${metric}\` \`${variable}\` \`${flag} 3\` \`--ops-port\` \`EDGEPLAN_KEY\` \`edgeplan_stall_seconds\`\n`;
    expect(deadNames([parsePaper('a.md', text)])).toEqual([
      `a.md:1: ${metric}`,
      `a.md:1: ${variable}`,
      `a.md:1: ${flag} 3`,
    ]);
  });
});

describe('the commands of a block', () => {
  test('are its lines, with what goes on in the next line', () => {
    const code = "# first\na \\\n  b\n\ncat > f <<'EOF'\nc\n\nd\nEOF\ne   # exits with 3\n";
    expect(commandsOf(code)).toEqual([
      { text: 'a \\\n  b', exits: 0 },
      { text: "cat > f <<'EOF'\nc\n\nd\nEOF", exits: 0 },
      { text: 'e   # exits with 3', exits: 3 },
    ]);
  });

  test('get what was printed last for a placeholder', () => {
    const output = 'X-Edgeplan-Id: a-1\nx-edgeplan-id: a-2\n';
    expect(withoutPlaceholders('explain <id>', output)).toBe('explain a-2');
  });

  test('have no placeholder that nothing explains', () => {
    expect(() => withoutPlaceholders('explain <id>', '')).toThrow('nothing before `explain <id>` printed');
    expect(() => withoutPlaceholders('show <name>', '')).toThrow('nothing says what `<name>` is');
    expect(withoutPlaceholders('sort <file.txt', '')).toBe('sort <file.txt');
  });

  test('name their ports in flags and addresses', () => {
    expect(portsIn('node --port 8080 --ops-port 9100\ncurl http://127.0.0.1:8081/ -d 8082')).toEqual([
      '8080',
      '9100',
      '8081',
    ]);
  });

  test('print the lines of the text behind them, in order', () => {
    const output = 'first line\nnoise\n  plan 6c86 of edge.yaml\nlast\n';
    expect(missingLine('first line\nplan … of edge.yaml\n', output)).toBe(null);
    expect(missingLine('last\nfirst line\n', output)).toBe('first line');
  });
});
