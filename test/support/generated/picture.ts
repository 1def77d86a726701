/**
 * Draws what the command line prints as an SVG, for the README. The text is the command's own output with colours on;
 * nothing is typed by hand.
 */
import { execFileSync } from 'node:child_process';

/** The command in the picture, as the README shows it. */
export const PICTURED = [
  'simulate',
  'https://shop.example.com/api/orders?id=7',
  '--file',
  'fixtures/shop/edge.yaml',
  '--ip',
  '203.0.113.7',
  '--country',
  'RU',
  '-A',
  'GPTBot/1.2',
] as const;

export const PICTURE_FILE = 'fixtures/shop/simulate.svg';
const COLUMNS = 120;

/** What the command prints, with the colours of a terminal and without the time it took, which no two runs share. */
export function commandOutput(): string {
  const env = { ...process.env, COLUMNS: String(COLUMNS), NO_COLOR: '' };
  const args = ['dist/cli/main.js', ...PICTURED, '--color', 'always'];
  return execFileSync(process.execPath, args, { env, encoding: 'utf8' }).replace(/, [\d.,]+ (?:µs|ms)/, '');
}

const INKS: Readonly<Record<string, string>> = {
  '31': '#f38ba8',
  '32': '#a6e3a1',
  '33': '#f9e2af',
  '36': '#89dceb',
};
const INK = '#cdd6f4';
const DIM = '#7f849c';
const CELL = { width: 8.43, height: 19, top: 24, left: 16 } as const;

interface Style {
  ink: string;
  bold: boolean;
}

/** Applies one escape code to a style. */
function restyle(style: Style, code: string): Style {
  if (code === '1') return { ...style, bold: true };
  if (code === '2') return { ...style, ink: DIM };
  if (code === '22') return { ink: style.ink === DIM ? INK : style.ink, bold: false };
  if (code === '39' || code === '0') return { ...style, ink: INK };
  return { ...style, ink: INKS[code] ?? style.ink };
}

function escapeXml(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
}

/** One line of output as `tspan`s, each placed at its column so that no font can shift it. */
function drawLine(line: string, row: number): string {
  let style: Style = { ink: INK, bold: false };
  let column = 0;
  const spans: string[] = [];
  // The escape character is what starts a colour.
  for (const part of line.split('\u001b[')) {
    const end = column === 0 && spans.length === 0 && !line.startsWith('\u001b[') ? -1 : part.indexOf('m');
    const isText = end < 0 || !/^\d+$/.test(part.slice(0, end));
    if (!isText) style = restyle(style, part.slice(0, end));
    const text = isText ? part : part.slice(end + 1);
    if (text === '') continue;
    const x = (CELL.left + column * CELL.width).toFixed(1);
    const weight = style.bold ? ' font-weight="bold"' : '';
    const length = ([...text].length * CELL.width).toFixed(1);
    const place = `x="${x}" textLength="${length}" lengthAdjust="spacingAndGlyphs"`;
    spans.push(`<tspan ${place} fill="${style.ink}"${weight}>${escapeXml(text)}</tspan>`);
    column += [...text].length;
  }
  return `<text y="${CELL.top + row * CELL.height}" xml:space="preserve">${spans.join('')}</text>`;
}

/** A terminal's text, colours included, as an SVG. */
export function drawTerminal(output: string): string {
  const lines = output.replace(/\n+$/, '').split('\n');
  const width = Math.ceil(COLUMNS * CELL.width + 2 * CELL.left);
  const height = CELL.top * 2 + lines.length * CELL.height;
  const font = 'font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,monospace" font-size="14"';
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" ${font}>`,
    `<rect width="100%" height="100%" rx="8" fill="#1e1e2e"/>`,
    ...lines.map(drawLine),
    '</svg>',
    '',
  ].join('\n');
}
