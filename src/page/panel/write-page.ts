/** A step of `npm run build`: removes `dist/page/panel/page`, builds the page and writes it there. */
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { buildPage } from './build-page.ts';

const folder = fileURLToPath(new URL('./page/', import.meta.url));
rmSync(folder, { recursive: true, force: true });
await buildPage(folder, { write: true });
