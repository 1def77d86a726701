/** A step of `npm run build`: writes `openapi.yaml` and `openapi.json`. */
import { writeDocuments } from './documents.ts';

await writeDocuments();
