/** The commands of an `sh` block, each with the exit code that the text states. */

export interface Command {
  readonly text: string;
  /** 0, or the code of a comment `# … exits with 1`. */
  readonly exits: number;
}

/** A line that ends with `\` and a here-document go on in the next line. */
export function commandsOf(code: string): readonly Command[] {
  const commands: Command[] = [];
  let text = '';
  let end: string | null = null;
  for (const line of code.split('\n')) {
    text = text === '' ? line : `${text}\n${line}`;
    end ??= /<<'?(\w+)'?/.exec(line)?.[1] ?? null;
    if (end !== null && line !== end) continue;
    end = null;
    if (line.endsWith('\\')) continue;
    if (text.trim() !== '' && !text.trim().startsWith('#')) {
      commands.push({ text, exits: Number(/ # .*\bexits with (\d+)/.exec(text)?.[1] ?? 0) });
    }
    text = '';
  }
  if (text !== '') throw new Error(`this command has no end: ${text}`);
  return commands;
}

/** What an earlier command printed takes the place of a placeholder. */
const PLACEHOLDERS: readonly { readonly text: string; readonly printed: RegExp }[] = [
  { text: 'svc_...', printed: /\b(svc_\w{20,})/g },
  { text: 'EDGEPLAN_NODE_TOKEN=...', printed: /\b(EDGEPLAN_NODE_TOKEN=\S+)/g },
  { text: '<id>', printed: /^x-edgeplan-id: ([\w-]+)/gim },
];

/** The command with its placeholders replaced by what was printed last. @throws for a placeholder that nothing explains */
export function withoutPlaceholders(command: string, output: string): string {
  let text = command;
  for (const { text: placeholder, printed } of PLACEHOLDERS) {
    if (!text.includes(placeholder)) continue;
    const value = [...output.matchAll(printed)].at(-1)?.[1];
    if (value === undefined) throw new Error(`nothing before \`${command}\` printed ${printed}`);
    text = text.replaceAll(placeholder, value);
  }
  const left = /<[a-z][a-z '-]*>|(?<!\w)\.\.\.|=…/.exec(text)?.[0];
  if (left !== undefined) throw new Error(`\`${command}\`: nothing says what \`${left}\` is`);
  return text;
}

/**
 * The ports that commands name, as `--port 8080`, `--ops-port 9100` or behind an address of this machine.
 */
export function portsIn(code: string): readonly string[] {
  const named = code.matchAll(/(?:--(?:\w+-)*port |127\.0\.0\.1:|localhost:)(\d{2,5})\b/g);
  return [...named].map(([, port]) => port!);
}

/** The first line of `expected` that no line of the output, in order, equals; `…` matches any text. */
export function missingLine(expected: string, output: string): string | null {
  const lines = output.split('\n');
  let at = 0;
  for (const line of expected.split('\n').filter((one) => one.trim() !== '')) {
    const pattern = new RegExp(`^${line.trim().split('…').map(escaped).join('.*')}$`);
    const found = lines.findIndex((one, index) => index >= at && pattern.test(one.trim()));
    if (found < 0) return line;
    at = found + 1;
  }
  return null;
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
