/** A YAML file as a tree in which every part knows where it was written. */
import type { FieldPath, SourcePlace } from '../base/diagnostic.ts';
import type { YamlFile } from './yaml.ts';

interface Written {
  readonly path: FieldPath;
  readonly at: SourcePlace;
}

export interface ScalarItem extends Written {
  readonly kind: 'scalar';
  readonly value: string | number | boolean | null;
}

export interface ListItem extends Written {
  readonly kind: 'list';
  readonly items: readonly Item[];
}

export interface MapItem extends Written {
  readonly kind: 'map';
  readonly entries: ReadonlyMap<string, YamlEntry>;
}

export interface YamlEntry {
  /** Where the key stands. */
  readonly at: SourcePlace;
  readonly item: Item;
}

export type Item = ScalarItem | ListItem | MapItem;

/** The tree of a file that was read without errors. */
export function itemsOf(yaml: YamlFile): Item {
  return toItem(yaml.value, [], yaml);
}

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
    for (const [key, held] of Object.entries(value)) {
      const inner = [...path, key];
      entries.set(key, { at: yaml.keyAt(inner), item: toItem(held, inner, yaml) });
    }
    return { kind: 'map', entries, path, at };
  }
  const plain =
    typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean' ? value : null;
  return { kind: 'scalar', value: plain, path, at };
}
