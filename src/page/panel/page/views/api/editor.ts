/**
 * The editor of a rule, a record or another object: a form from the field reference, checked by the server as it is typed (`validate_only`), and saved
 * against the version that was read.
 */
import type { VNode } from 'preact';
import { useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks';
import type { FormField } from '../../../documents.ts';
import { CallFault, callJson } from '../../api/call.ts';
import { type FormText, type FormTexts, mistakesOf, readForm, textsOf } from '../../api/form-texts.ts';
import { sentence } from '../../api/session.ts';
import { CHANGED, commit, readTagged, type Tagged } from '../../api/writes.ts';
import { html } from '../parts.ts';
import { anyField, type Option } from './form-field.ts';

/** A part of the form with a heading. */
export interface FieldGroup {
  readonly title: string;
  readonly fields: readonly FormField[];
}

/** What is edited. */
export interface EditorProps {
  /** The path of the object; of the list, to which it is added, where `isNew`. */
  readonly path: string;
  readonly isNew: boolean;
  readonly groups: readonly FieldGroup[];
  /** Choices of lists by field, where the page knows them. */
  readonly options: Readonly<Record<string, readonly Option[]>>;
  /** Values that a new object begins with, where the page proposes others than the API. */
  readonly proposed?: FormTexts;
  /** Whether the key may save. */
  readonly editable: boolean;
  /** The sentence after it was saved. */
  readonly done: string;
  /** The word of the button that saves. */
  readonly word?: string;
  /** Whether a new object may be saved as it is at first, with nothing typed. */
  readonly mayBeEmpty?: boolean;
  readonly close: () => void;
  /** Called with the answer of the save, in place of `close`. */
  readonly saved?: (answer: unknown) => void;
}

type Plain = Readonly<Record<string, unknown>>;

/** Milliseconds without a change before the server checks. */
const SETTLE_MS = 400;
/** The texts of an object that does not exist. */
const NOTHING: Plain = {};

/** What the editor has read, and what was typed. */
interface Edited {
  readonly read: Tagged<Plain>;
  readonly before: FormTexts;
  readonly texts: FormTexts;
}

/** Reads the object, or starts an empty one. */
async function open({ path, isNew, groups, proposed }: EditorProps): Promise<Edited> {
  const read = isNew ? { value: NOTHING, tag: '' } : await readTagged<Plain>(path);
  const before = textsOf(fieldsOf(groups), read.value);
  return { read, before, texts: isNew ? { ...before, ...proposed } : before };
}

function fieldsOf(groups: readonly FieldGroup[]): readonly FormField[] {
  return groups.flatMap(({ fields }) => fields);
}

/** Entries of a list of objects; 0 for other fields. */
function entriesIn(text: FormText | undefined): number {
  return Array.isArray(text) ? text.length : 0;
}

/**
 * Asks the server whether it would accept the values; calls `report` with its refusal, or `null`, unless another change came first.
 * @returns ends a check that waits or runs: after a save the server would compare the values with what it has just stored
 */
function useServerCheck(
  { path, isNew, editable }: EditorProps,
  values: Plain | null,
  report: (refusal: CallFault | null) => void,
): () => void {
  const text = values === null ? '' : JSON.stringify(values);
  const end = useRef<() => void>(() => undefined);
  useEffect(() => {
    if (values === null || !editable || text === '{}') return report(null);
    const gone = new AbortController();
    const check = async (): Promise<void> => {
      try {
        const method = isNew ? 'POST' : 'PUT';
        await callJson(`${path}?validate_only=true`, { method, body: values, signal: gone.signal });
        report(null);
      } catch (error) {
        if (!gone.signal.aborted && error instanceof CallFault) report(error);
      }
    };
    const timer = setTimeout(() => void check(), SETTLE_MS);
    end.current = () => {
      clearTimeout(timer);
      gone.abort();
    };
    return end.current;
  }, [text, path]);
  return () => end.current();
}

/** The box of an object that somebody else has changed. */
function changedBox({ theirs, mine }: { readonly theirs: () => void; readonly mine: () => void }): VNode {
  return html`<div class="conflict" role="alert">
    <p><b>Not saved: ${CHANGED}.</b> Their version is on the server; yours is in this form.</p>
    <div class="dialog-end">
      <button type="button" class="quiet" onClick=${theirs}>Show their version</button>
      <button type="button" class="quiet" onClick=${mine}>Save my changed fields over it</button>
    </div>
  </div>`;
}

/** The state and the actions of an editor. */
interface EditorState {
  readonly edited: Edited | null;
  readonly busy: boolean;
  readonly conflict: boolean;
  readonly mistakes: ReadonlyMap<string, string>;
  readonly values: Plain;
  /** Whether there is anything to save, and nothing wrong with it. */
  readonly ready: boolean;
  change(name: string, text: FormText): void;
  /** @param over whether another version is overwritten, once it was shown that there is one */
  save(over: boolean): Promise<void>;
  reload(): Promise<void>;
}

function useEditor(props: EditorProps): EditorState {
  const { path, isNew, groups, done, close, saved = close, mayBeEmpty = false } = props;
  const [edited, setEdited] = useState<Edited | null>(null);
  const [busy, setBusy] = useState(false);
  const [conflict, setConflict] = useState(false);
  const [said, setSaid] = useState<ReadonlyMap<string, string>>(new Map());
  const fields = fieldsOf(groups);
  const refuse = (error: unknown): void => {
    if (error instanceof CallFault && error.status === 412) setConflict(true);
    else if (error instanceof CallFault && (error.status === 400 || error.status === 409))
      setSaid(mistakesOf(error.message, fields, edited?.texts ?? {}));
    else if (error instanceof CallFault && error.status === 404 && !isNew)
      setSaid(new Map([['', 'It was deleted since this page read it, so nothing is saved.']]));
    else setSaid(new Map([['', sentence(error)]]));
  };
  const reload = async (): Promise<void> => {
    setConflict(false);
    try {
      setEdited(await open(props));
    } catch (error) {
      refuse(error);
    }
  };
  useEffect(() => void reload(), [path]);
  const { values, mistakes } =
    edited === null
      ? { values: NOTHING, mistakes: new Map<string, string>() }
      : readForm(fields, edited.texts, edited.before);
  const endCheck = useServerCheck(props, edited === null || mistakes.size > 0 ? null : values, (refusal) =>
    refusal === null ? setSaid(new Map()) : refuse(refusal),
  );
  // Controls are disabled while they are saved, and so lose the focus.
  const focused = useRef<HTMLElement | null>(null);
  useLayoutEffect(() => {
    if (busy || focused.current === null) return;
    const wrong = focused.current.closest('form')?.querySelector<HTMLElement>('[aria-invalid="true"]');
    (wrong ?? focused.current).focus();
    focused.current = null;
  }, [busy]);
  const save = async (over: boolean): Promise<void> => {
    if (edited === null) return;
    focused.current = document.activeElement as HTMLElement | null;
    setBusy(true);
    setConflict(false);
    endCheck();
    try {
      if (isNew) saved(await commit(path, { method: 'POST', body: values, done }));
      else {
        const { tag } = over ? await readTagged(path) : edited.read;
        saved(await commit(path, { method: 'PUT', body: values, ifMatch: tag, done }));
      }
    } catch (error) {
      refuse(error);
    }
    setBusy(false);
  };
  return {
    edited,
    busy,
    conflict,
    values,
    mistakes: mistakes.size > 0 ? mistakes : said,
    ready: (mayBeEmpty || Object.keys(values).length > 0) && mistakes.size === 0 && said.size === 0,
    change: (name, text) => {
      if (edited === null) return;
      // Entries have other numbers now than in the last refusal.
      if (entriesIn(text) !== entriesIn(edited.texts[name]))
        setSaid(new Map([...said].filter(([path]) => !path.startsWith(`${name}[`))));
      setEdited({ ...edited, texts: { ...edited.texts, [name]: text } });
    },
    save,
    reload,
  };
}

/** The editor. */
export function editor(props: EditorProps): VNode {
  const {
    groups,
    options,
    editable,
    isNew,
    close,
    word = isNew ? 'Add and publish' : 'Save and publish',
  } = props;
  const { edited, busy, conflict, mistakes, ready, change, save, reload } = useEditor(props);
  if (edited === null) return html`<p class="note">${mistakes.get('') ?? 'Loading…'}</p>`;
  const submit = (event: Event): void => {
    event.preventDefault();
    if (ready && !busy) void save(false);
  };
  return html`<form class="editor" onSubmit=${submit}>
    ${groups.map(
      ({
        title,
        fields,
      }) => html`<section key=${title} aria-label=${title}><h3 class="editor-title">${title}</h3>
        <div class="form-fields">${fields.map(
          (
            field,
          ) => html`<${anyField} key=${field.name} field=${field} path=${field.name} text=${edited.texts[field.name]} mistakes=${mistakes}
            change=${(text: FormText) => change(field.name, text)} disabled=${!editable || busy} options=${options[field.name]} />`,
        )}</div></section>`,
    )}
    ${conflict && html`<${changedBox} theirs=${() => void reload()} mine=${() => void save(true)} />`}
    <div class="dialog-foot">
      <p class="refused" role="alert">${mistakes.get('')}</p>
      <div class="dialog-end">
        <button type="button" class="quiet" onClick=${close}>${editable ? 'Cancel' : 'Close'}</button>
        ${editable && html`<button type="submit" class="primary" disabled=${!ready || busy}>${busy ? 'Publishing…' : word}</button>`}
      </div>
    </div>
  </form>`;
}
