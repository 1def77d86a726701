/**
 * The documents that a server sends to the page: what a plan was compiled from, the state of a file, findings. Both sides import
 * this file, so it depends on no platform. Field names are snake_case, as in all JSON of this project.
 */
import type { Severity } from '../../base/diagnostics/severity.ts';
import type { RuleType } from '../../base/vocabulary/vocabulary.ts';
import type { RuleSet } from '../../rules/model/types.ts';
import type { SignaturesNote } from '../../workbench/simulation/document.ts';
import type { SimulationSubject } from '../../workbench/simulation/simulate.ts';

/** Names by id; JSON has no maps. */
type Pairs<Value> = readonly (readonly [number, Value])[];

/** A rule set as JSON. */
interface RuleSetDocument extends Omit<RuleSet, 'keys'> {
  readonly keys: { readonly rules: Pairs<string>; readonly records: Pairs<string> } | null;
}

/** What is known of a plan besides its octets. */
export interface SubjectDocument {
  /** `sha256:` and 64 hex digits. */
  readonly digest: string;
  /** The name of its file. */
  readonly name: string;
  readonly sources: Pairs<{ readonly key: string | null; readonly at: string | null }>;
  /** `null` if only the sealed plan is known. */
  readonly rule_set: RuleSetDocument | null;
  /** The signatures that `waf` rules inspect with; `null`: none, or the plan has no such rule. */
  readonly signatures: SignaturesNote | null;
}

/** A mistake or a finding, with its place in a file. */
export interface FindingDocument {
  readonly severity: Severity;
  readonly code: string;
  readonly path: string;
  readonly message: string;
  readonly found: string | null;
  readonly remedy: string | null;
  readonly at: { readonly file: string; readonly line: number; readonly column: number } | null;
  /** The rule's id; `null`: it is about no rule. */
  readonly rule: number | null;
}

/** One plan of a file. */
export interface PlayedPlan {
  /** 1 for the first one, then rising. */
  readonly number: number;
  /** 64 hex digits. */
  readonly digest: string;
  /** When it was compiled: RFC 3339. */
  readonly at: string;
  readonly rules: number;
}

/** The state of a file that `edgeplan play` follows. */
export interface PlayState {
  readonly file: string;
  /** `null`: the file has not compiled yet. */
  readonly domain: string | null;
  /** The newest first; empty: the file has not compiled yet. */
  readonly plans: readonly PlayedPlan[];
  /** Why the file does not compile now; empty: it does, and `plans[0]` is its plan. */
  readonly mistakes: readonly FindingDocument[];
  /** What lint found in the newest plan's file; `null`: it has not ended. */
  readonly findings: readonly FindingDocument[] | null;
}

/** The JSON document of a subject. */
export function subjectDocument(
  { digest, name, sources, ruleSet }: SimulationSubject,
  signatures: SignaturesNote | null,
): SubjectDocument {
  const { keys, ...others } = ruleSet ?? {};
  const pairs = keys === undefined ? null : { rules: [...keys.rules], records: [...keys.records] };
  return {
    digest,
    name,
    sources: [...sources],
    rule_set: ruleSet === null ? null : { ...(others as Omit<RuleSet, 'keys'>), keys: pairs },
    signatures: signatures === null ? null : { name: signatures.name, digest: signatures.digest },
  };
}

/** The subject of a document, without signatures. */
export function subjectOfDocument(document: SubjectDocument, bytes: Uint8Array): SimulationSubject {
  const { digest, name, sources, rule_set } = document;
  return { bytes, digest, name, sources: new Map(sources), ruleSet: ruleSetOf(rule_set) };
}

function ruleSetOf(document: RuleSetDocument | null): RuleSet | null {
  if (document === null) return null;
  const { keys, ...others } = document;
  if (keys === null) return others;
  return { ...others, keys: { rules: new Map(keys.rules), records: new Map(keys.records) } };
}

/** One field of a form over the API. */
export interface FormField {
  readonly name: string;
  /**
   * The control; `choice`: a boolean that may be absent; `scalar`: a text, a number or a boolean; `nullable`: an object or null;
   * `objects`: a list of objects; `map`: values by key.
   */
  readonly kind:
    | 'boolean'
    | 'choice'
    | 'integer'
    | 'text'
    | 'scalar'
    | 'texts'
    | 'integers'
    | 'object'
    | 'nullable'
    | 'objects'
    | 'map';
  /** The fields of the object, or of each object of the list; of a map `key` and `value`; empty for other kinds. */
  readonly fields: readonly FormField[];
  readonly required: boolean;
  /** Whether the field is left out where it is empty: it is not required, and has no default. */
  readonly omitted: boolean;
  /** Whether `null` is a value: the field may be empty. */
  readonly nullable: boolean;
  readonly description: string;
  /** The value where none is given. */
  readonly fallback: unknown;
  readonly example: unknown;
  /** The values, of a list those of its entries; `null`: any. */
  readonly options: readonly (string | number)[] | null;
  readonly minimum: number | null;
  readonly maximum: number | null;
  /** Characters of a text, entries of a list or a map. */
  readonly most: number | null;
  /** What the key of a map matches; `null` for other fields. */
  readonly pattern: string | null;
}

/** The form of one kind of object. */
export interface FormSection {
  /** What the object is for, in one line. */
  readonly summary: string;
  readonly fields: readonly FormField[];
  /** Fields that every rule has. */
  readonly common: readonly FormField[];
}

/** The forms of the page over the API. */
export interface FieldDocument {
  readonly rules: Readonly<Record<RuleType, FormSection>>;
  readonly record: FormSection;
  readonly consumer: FormSection;
  /** A key of a consumer that the server makes. */
  readonly consumer_key: FormSection;
  readonly usage_plan: FormSection;
  readonly token_issuer: FormSection;
}
