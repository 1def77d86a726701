/** A step of `npm run build`: writes `command-list.json`, the lines of `edgeplan --help`. */
import { writeCommandList } from './command-list.ts';
import { createProgram } from './program.ts';

writeCommandList(await createProgram(undefined));
