/** Generated sections of Markdown files that are otherwise written by hand, and Markdown as `npm run format` leaves it. */
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

/**
 * The file with the text between `<!-- generated: name -->` and `<!-- end: name -->` replaced.
 * @param whole the file's content, where several sections are replaced one after the other
 * @throws if the file lacks the pair of markers
 */
export function withSection(
  path: string,
  name: string,
  text: string,
  whole = readFileSync(path, 'utf8'),
): string {
  const start = `<!-- generated: ${name} -->`;
  const end = `<!-- end: ${name} -->`;
  const [before, rest] = whole.split(start);
  const after = rest?.split(end)[1];
  if (before === undefined || after === undefined) throw new Error(`${path}: no section ${name}`);
  return formatted(path, `${before}${start}\n\n${text.trim()}\n\n${end}${after}`);
}

/** The text as the formatter leaves a file of this path. */
export function formatted(path: string, text: string): string {
  const args = ['format', '--config-path=.ci/biome.json', `--stdin-file-path=${path}`];
  return execFileSync('node_modules/.bin/biome', args, { input: text, encoding: 'utf8' });
}
