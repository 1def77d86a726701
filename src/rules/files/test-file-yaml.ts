/** Converts a YAML file to a tree whose every node carries its path and its place in the file. */
import type { FieldPath, SourcePlace } from '../../base/diagnostics/diagnostic.ts';
import type { YamlFile } from './yaml.ts';

/** What every node carries. */
interface Written {
  /** From the root of the file. */
  readonly path: FieldPath;
  readonly at: SourcePlace;
}

/** A single value. */
export interface ScalarItem extends Written {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
}

/** A sequence. */
export interface ListItem extends Written {
  readonly kind: 'list';
  readonly items: readonly Item[];
}

/** A mapping. */
export interface MapItem extends Written {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, YamlEntry>;
}

/** The value under a key of a mapping. */
export interface YamlEntry {
  /** The place of the key. */
  readonly at: SourcePlace;
  readonly item: Item;
}

/** A node of the tree. */
export type Item = ScalarItem | ListItem | MapItem;

/** Builds the tree of a file that was read without errors. */
export function itemsOf(yaml: YamlFile): Item {
  return toItem(yaml.value, [], yaml);
}

/** Builds the node of one value and, below it, of all values it contains. */
function toItem(value: unknown, path: FieldPath, yaml: YamlFile): Item {
  const at = yaml.at(path);
  if (Array.isArray(value)) {
    return {
      kind: 'list',
      items: value.map((item, index) => toItem(item, [...path, index], yaml)),
      path,
      at,
    };
  }
  if (typeof value === 'object' && value !== null) {
    const entries = new Map<string, YamlEntry>();
    for (const [key, inside] of Object.entries(value)) {
      const inner = [...path, key];
      entries.set(key, { at: yaml.keyAt(inner), item: toItem(inside, inner, yaml) });
    }
    return { kind: 'map', entries, path, at };
  }
  const plain =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
  return { kind: 'scalar', value: plain, path, at };
}
