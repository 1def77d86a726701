/** Options that several commands share, and readers of option values. */
import { InvalidArgumentError, Option } from 'commander';
import { COLOUR_CHOICES } from './output.ts';

/** The file to work on. */
export function fileOption(): Option {
  return new Option('-f, --file <path>', 'an edge file or a sealed plan; - is stdin')
    .default('edge.yaml')
    .env('EDGEPLAN_FILE');
}

export function colourOption(): Option {
  return new Option('--color <when>', 'colour the output')
    .choices(COLOUR_CHOICES)
    .default('auto')
    .env('EDGEPLAN_COLOR');
}

/** Gathers an option that may be given several times. */
export function gather(value: string, gathered: readonly string[] | undefined): readonly string[] {
  return [...(gathered ?? []), value];
}

export function readNodeId(text: string): number {
  if (!/^\d{1,9}$/.test(text)) throw new InvalidArgumentError('a node id is a whole number.');
  return Number(text);
}

export interface ResponseFlag {
  readonly status: number;
  readonly madeBy: 'edge' | 'origin';
}

/** `502`, or `502:edge` for a status the edge makes itself. */
export function readStatus(text: string): ResponseFlag {
  const parts = /^([45]\d\d)(?::(edge|origin))?$/.exec(text);
  if (parts === null)
    throw new InvalidArgumentError('write a status from 400 to 599, such as 502 or 502:edge.');
  return { status: Number(parts[1]), madeBy: parts[2] === 'edge' ? 'edge' : 'origin' };
}

/** Rules and their lines are what this is about, so a sealed plan will not do. */
export function edgeFileOption(): Option {
  const option = fileOption();
  option.description = 'an edge file; - is stdin';
  return option;
}
