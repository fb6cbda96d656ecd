/** Where the boxes of a lineage graph stand: columns by distance from the roots; pure. */
import type { LineageNode } from "@/api/types";

export interface Placed {
  readonly node: LineageNode;
  readonly column: number;
  readonly row: number;
}

export interface Edge {
  readonly from: string;
  readonly to: string;
  /** A reward model scored the run; it is no ancestor by weights. */
  readonly isScore: boolean;
}

/** Edges between models that are in the graph. */
export function edgesOf(nodes: readonly LineageNode[]): Edge[] {
  const known = new Set(nodes.map((node) => node.model_id));
  return nodes.flatMap((node) => [
    ...(node.parent_id !== null && known.has(node.parent_id)
      ? [{ from: node.parent_id, to: node.model_id, isScore: false }]
      : []),
    ...node.reward_model_ids
      .filter((id) => known.has(id))
      .map((id) => ({ from: id, to: node.model_id, isScore: true })),
  ]);
}

/** A model stands one column right of the rightmost model it comes from. */
export function layout(nodes: readonly LineageNode[]): Placed[] {
  const edges = edgesOf(nodes);
  const columns = new Map<string, number>();
  const columnOf = (id: string, above: ReadonlySet<string>): number => {
    const known = columns.get(id);
    if (known !== undefined) return known;
    if (above.has(id)) return 0;
    const path = new Set([...above, id]);
    const parents = edges.filter((edge) => edge.to === id).map((edge) => edge.from);
    const column = Math.max(-1, ...parents.map((parent) => columnOf(parent, path))) + 1;
    columns.set(id, column);
    return column;
  };
  const rows = new Map<number, number>();
  return nodes.map((node) => {
    const column = columnOf(node.model_id, new Set());
    const row = rows.get(column) ?? 0;
    rows.set(column, row + 1);
    return { node, column, row };
  });
}
