/** Checks that the edge file of a node compiles. */
import { CommandFault } from '../exit.ts';
import { openSubject } from '../input/open-subject.ts';
import { type Check, reasonText } from './check.ts';

export const edgeFile: Check = {
  name: 'file',
  async run({ file }) {
    if (file === undefined) return [{ state: 'skipped', found: 'no --file was given' }];
    try {
      await openSubject(file, 'never');
      return [{ state: 'fine', found: `\`${file}\` compiles` }];
    } catch (error) {
      const remedy =
        error instanceof CommandFault && error.remedy !== undefined
          ? error.remedy
          : `edgeplan compile -f ${file} shows each mistake with its place`;
      return [{ state: 'failure', found: reasonText(error), remedy }];
    }
  },
};
