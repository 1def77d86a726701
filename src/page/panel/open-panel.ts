/**
 * `/panel/` of the API process: the page, which needs no key to load, and the fields of its forms. In: the built page. Out: routes for
 * its files; a key is sent by the calls that the page makes to the API.
 */
import type { FastifyInstance } from 'fastify';
import {
  addOpen,
  FOREVER,
  FRESH,
  type OpenFile,
  once,
  openFile,
  sendFile,
} from '../../control/api/operation/open-files.ts';
import { notFound } from '../../control/api/operation/refusal.ts';
import { PANEL_HEADERS, PANEL_PATH, readPanel } from './assets.ts';
import { fieldDocument } from './field-document.ts';

/** Chunks have a digest in their name: another content has another name. */
const CHUNK = /-[A-Z0-9]{8}\.js$/;

/** Adds the routes. The files are read at the first request. */
export function addPanel(app: FastifyInstance): void {
  const files = once(openFiles);
  addOpen(app, PANEL_PATH.slice(0, -1), (_request, reply) => reply.redirect(PANEL_PATH, 308));
  addOpen(app, PANEL_PATH, (request, reply) => sendFile(files().get('index.html')!, { request, reply }));
  addOpen(app, `${PANEL_PATH}:file`, (request, reply) => {
    const file = files().get((request.params as { readonly file: string }).file);
    if (file === undefined) throw notFound();
    return sendFile(file, { request, reply });
  });
}

/** The files of the page, and `fields.json`. */
function openFiles(): ReadonlyMap<string, OpenFile> {
  const files = [...readPanel('api')].map(([name, { type, body }]): [string, OpenFile] => {
    const caching = CHUNK.test(name) ? FOREVER : FRESH;
    return [name, openFile(body, type, { ...PANEL_HEADERS, 'cache-control': caching })];
  });
  const headers = { ...PANEL_HEADERS, 'cache-control': FRESH };
  const fields = openFile(JSON.stringify(fieldDocument()), 'application/json; charset=utf-8', headers);
  return new Map([...files, ['fields.json', fields]]);
}
