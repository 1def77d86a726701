/** Converts rendered lines to text, with or without ANSI colours. */
import pc from 'picocolors';
import type { RenderedLine, Tone } from './render-text.ts';

/** Adds the escape codes of one tone. */
type Painter = (text: string) => string;

/** The colours of every tone. */
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

const PAINTERS = painters();

/** Returns the text of the lines, each ended by a newline, without blanks at line ends. */
export function paint(lines: readonly RenderedLine[], colour: boolean): string {
  return lines
    .map((line) => {
      const plain = line.map((one) => one.text).join('');
      const text = colour
        ? line.map((one) => (one.text.trim() === '' ? one.text : PAINTERS[one.tone](one.text))).join('')
        : plain;
      return `${text.trimEnd()}\n`;
    })
    .join('');
}
