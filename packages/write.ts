/** Builds every package into its folder: a step of the root's `npm run build`. */
import { join } from 'node:path';
import { buildPackage, PACKAGES } from './build.ts';

for (const name of Object.keys(PACKAGES)) await buildPackage(name, join('packages', name));
