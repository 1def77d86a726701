/** Lines to text, with or without colour. */
import pc from 'picocolors';
import type { RenderedLine, Tone } from './render-text.ts';

type Painter = (text: string) => string;

function painters(): Readonly<Record<Tone, Painter>> {
  const colour = pc.createColors(true);
  return {
    plain: (text) => text,
    strong: colour.bold,
    dim: colour.dim,
    good: (text) => colour.bold(colour.green(text)),
    bad: (text) => colour.bold(colour.red(text)),
    warn: colour.yellow,
    accent: colour.cyan,
  };
}

const INKS = painters();

/** The text of lines, each ended by a newline, blanks at line ends dropped. */
export function paint(lines: readonly RenderedLine[], colour: boolean): string {
  return lines
    .map((line) => {
      const plain = line.map((one) => one.text).join('');
      const text = colour
        ? line.map((one) => (one.text.trim() === '' ? one.text : INKS[one.tone](one.text))).join('')
        : plain;
      return `${text.trimEnd()}\n`;
    })
    .join('');
}
