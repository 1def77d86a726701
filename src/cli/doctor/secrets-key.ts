/** Checks that the secrets key, which private keys of certificates are encrypted with, is there and only its owner's. */
import { existsSync } from 'node:fs';
import { CommandFault } from '../exit.ts';
import { keyFileWarning, locateSecretsKey, openSecretsKey } from '../open-secrets-key.ts';
import { type Check, type CheckFinding, reasonText } from './check.ts';

export const secretsKey: Check = {
  name: 'secrets key',
  async run(flags): Promise<readonly CheckFinding[]> {
    const location = locateSecretsKey(flags);
    if (location.kind === 'none') {
      const remedy = 'name its file with --secrets-key, the same on every server of the database';
      return [
        {
          state: 'skipped',
          found: 'nothing names a secrets key: uploads of certificates are refused',
          remedy,
        },
      ];
    }
    if (location.kind === 'file' && flags.database === undefined && !existsSync(location.file))
      return [
        { state: 'skipped', found: `there is no secrets key in \`${location.file}\` yet; serve makes it` },
      ];
    try {
      const { where } = openSecretsKey(location)!;
      const found = keyFileWarning(location);
      if (found !== null) return [{ state: 'warning', found }];
      return [
        { state: 'fine', found: `the secrets key in ${where} can be read; no backup of the store has it` },
      ];
    } catch (error) {
      const remedy = error instanceof CommandFault ? error.remedy : undefined;
      return [{ state: 'failure', found: reasonText(error), ...(remedy === undefined ? {} : { remedy }) }];
    }
  },
};
