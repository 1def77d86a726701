/** A step of `npm run build`: writes `openapi.yaml`, `openapi.json` and `reference.html`. */
import { writeDocuments } from './documents.ts';

await writeDocuments();
