/** Chooses source and views by the server that served the page. */
import type { FunctionComponent } from 'preact';
import { type PlayState, type SubjectDocument, subjectOfDocument } from '../../documents.ts';
import type { PageSource, SourcePlan, SourceState } from '../source.ts';
import type { PageState } from '../state.ts';
import { app } from '../views/app.ts';

/** Where plans come from, and what draws the page. */
export interface PageParts {
  readonly source: PageSource;
  readonly view: FunctionComponent<{ readonly state: PageState }>;
}

/** The parts of this page; those for the API are a chunk of their own. */
export async function partsOfPage(): Promise<PageParts> {
  if (document.documentElement.dataset['source'] !== 'api') return { source: playSource(), view: app };
  const [{ apiSource }, { shell }] = await Promise.all([import('./api.ts'), import('../views/api/shell.ts')]);
  return { source: apiSource(), view: shell };
}

// The file of `edgeplan play`: its state arrives as server-sent events, its plans by digest.

/** The source of the page that `edgeplan play` serves. */
function playSource(): PageSource {
  let last: SourceState | null = null;
  return {
    follow(report) {
      const tell = (state: SourceState): void => {
        last = state;
        report(state);
      };
      const events = new EventSource('play/events');
      events.addEventListener('message', ({ data }) => tell(stateOf(JSON.parse(String(data)) as PlayState)));
      // The browser connects again by itself.
      events.addEventListener('error', () => {
        if (last !== null) tell({ ...last, live: false });
      });
    },
    plan: readPlan,
  };
}

function stateOf({ file, domain, plans, mistakes, findings }: PlayState): SourceState {
  const entries = plans.map(({ digest, number, at, rules }) => ({ digest, label: `#${number}`, at, rules }));
  return { live: true, title: file, domain, plans: entries, refuses: null, mistakes, findings };
}

async function readPlan(digest: string): Promise<SourcePlan> {
  const [document, bytes] = await Promise.all([
    ask(`play/plans/${digest}.json`).then((answer) => answer.json() as Promise<SubjectDocument>),
    ask(`play/plans/${digest}.bin`).then(octetsOf),
  ]);
  const { signatures: note } = document;
  const sealed =
    note === null ? null : await ask(`play/signatures/${note.digest.slice(7)}.bin`).then(octetsOf);
  const signatures = note === null || sealed === null ? null : { ...note, sealed };
  return { subject: subjectOfDocument(document, bytes), signatures, list: null };
}

async function ask(path: string): Promise<Response> {
  const answer = await fetch(path);
  if (!answer.ok) throw new Error(`the server answers ${answer.status} for ${path}: ${await answer.text()}`);
  return answer;
}

async function octetsOf(answer: Response): Promise<Uint8Array> {
  return new Uint8Array(await answer.arrayBuffer());
}
